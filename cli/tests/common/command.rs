//! Runs the `pagepress` command.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// The outcome of a run.
pub struct Run {
    pub code: Option<i32>,
    pub stdout: Vec<u8>,
    pub errors: String,
}

impl Run {
    #[track_caller]
    pub fn succeeds(self) -> Self {
        assert_eq!(self.code, Some(0), "{}", self.errors);
        self
    }

    /// Asserts exit code `code` and a message.
    #[track_caller]
    pub fn fails(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{}", self.errors);
        assert!(!self.errors.is_empty(), "a failure is explained");
        assert!(!self.errors.contains("panicked"), "{}", self.errors);
        self
    }

    /// Standard output as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }
}

impl From<Output> for Run {
    fn from(output: Output) -> Self {
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        Self {
            code: output.status.code(),
            stdout: output.stdout,
            errors,
        }
    }
}

/// Starts the command in `folder` with all streams piped.
pub fn start(folder: &Path, arguments: &[&str]) -> Child {
    start_with(folder, arguments, &[])
}

/// Returns the command in `folder` with all streams piped, for further changes.
pub fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pagepress"));
    command
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn start_with(folder: &Path, arguments: &[&str], environment: &[(&str, &str)]) -> Child {
    command(folder, arguments)
        .envs(environment.iter().copied())
        .spawn()
        .expect("the command starts")
}

/// Runs `script` with a shell in `folder`; `$PAGEPRESS` is the command.
pub fn shell(folder: &Path, script: &str) -> Run {
    let output = Command::new("sh")
        .args(["-c", script])
        .env("PAGEPRESS", env!("CARGO_BIN_EXE_pagepress"))
        .current_dir(folder)
        .stdin(Stdio::null())
        .output();
    output.expect("the shell runs").into()
}

/// Copies the command to `path` in another process: a file that this process, or a child that another test forks
/// meanwhile, has open for writing cannot be executed.
pub fn copy_command(path: &Path) {
    let copied = Command::new("cp")
        .arg(env!("CARGO_BIN_EXE_pagepress"))
        .arg(path)
        .status();
    assert!(copied.expect("cp runs").success());
}

/// Waits until `condition` is true, at most a minute.
#[track_caller]
pub fn wait_for(what: &str, mut condition: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !condition() {
        assert!(begin.elapsed() < Duration::from_secs(60), "no {what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Returns the repetitions of a test: `variable` of the environment, or `default`.
pub fn repetitions(variable: &str, default: usize) -> usize {
    std::env::var(variable).map_or(default, |text| text.parse().expect("a number"))
}

pub fn pagepress(folder: &Path, arguments: &[&str]) -> Run {
    pagepress_with_input(folder, arguments, &[])
}

/// Runs the command with variables added to its environment.
pub fn run_with(folder: &Path, arguments: &[&str], environment: &[(&str, &str)]) -> Run {
    let child = start_with(folder, arguments, environment);
    child.wait_with_output().expect("the command ends").into()
}

pub fn pagepress_with_input(folder: &Path, arguments: &[&str], input: &[u8]) -> Run {
    let mut child = start(folder, arguments);
    let mut stdin = child.stdin.take().expect("stdin is piped");
    std::thread::scope(|scope| {
        // The command may not read its input.
        scope.spawn(move || drop(stdin.write_all(input)));
        child.wait_with_output().expect("the command ends").into()
    })
}

/// A temporary folder in which the command runs.
pub struct Folder(TempDir);

impl Folder {
    pub fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder"))
    }

    pub fn root(&self) -> &Path {
        self.0.path()
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn write(&self, name: &str, content: &[u8]) {
        fs::write(self.path(name), content).expect("writes");
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).expect("reads")
    }

    pub fn run(&self, arguments: &[&str]) -> Run {
        pagepress(self.0.path(), arguments)
    }

    /// Returns the file names in the folder, sorted.
    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).expect("lists");
        let mut names: Vec<_> = entries
            .map(|entry| {
                entry
                    .expect("lists")
                    .file_name()
                    .to_string_lossy()
                    .into_owned()
            })
            .collect();
        names.sort();
        names
    }
}

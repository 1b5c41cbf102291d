//! Runs the `pagepress` command.

use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

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

    /// Fails with `code` and says something.
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

/// Starts the command in `folder` with everything piped.
pub fn start(folder: &Path, arguments: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_pagepress"))
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts")
}

pub fn pagepress(folder: &Path, arguments: &[&str]) -> Run {
    pagepress_with_input(folder, arguments, &[])
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

//! Tests in separate processes.

use std::process::{Command, Output};

/// Environment variable that is set in a process that runs one test.
const CHILD: &str = "PAGEPRESS_TEST_ALONE";

/// Returns true if this process was started to run one test.
pub fn is_child() -> bool {
    std::env::var_os(CHILD).is_some()
}

/// Runs the test `name` of this binary in a new process, with at most `memory_kib` of address space, and with `set` in its
/// environment.
pub fn run(name: &str, memory_kib: Option<u64>, set: &[(&str, String)]) -> Output {
    let own = std::env::current_exe().unwrap();
    let mut command = match memory_kib {
        None => Command::new(own),
        Some(kib) => {
            let mut shell = Command::new("sh");
            let limited = format!("ulimit -v {kib} && exec \"$0\" \"$@\"");
            shell.args(["-c", &limited]).arg(own);
            shell
        }
    };
    command
        .args([name, "--exact", "--nocapture", "--test-threads=1"])
        .env(CHILD, name)
        .env("RUST_BACKTRACE", "1")
        .envs(set.iter().map(|(name, value)| (name, value.as_str())))
        .output()
        .expect("the test starts itself")
}

/// Returns the standard output and the standard error of a process.
pub fn said(output: &Output) -> String {
    let all = [&output.stdout[..], &output.stderr].concat();
    String::from_utf8_lossy(&all).into_owned()
}

/// Runs `test`, whose name is `name`, in a separate process.
pub fn alone(name: &str, memory_kib: Option<u64>, set: &[(&str, String)], test: impl FnOnce()) {
    if is_child() {
        return test();
    }
    let output = run(name, memory_kib, set);
    let said = said(&output);
    assert!(
        output.status.success() && said.contains("1 passed"),
        "{}: {said}",
        output.status
    );
}

//! The real `lz4` command as the oracle.

use std::io::Write;
use std::process::{Command, Output, Stdio};

/// Runs `lz4` with `arguments` on `input` and returns the outcome.
pub fn lz4(arguments: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new("lz4")
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the `lz4` command is needed: install it, for example with `apt-get install lz4`");
    let mut stdin = child.stdin.take().expect("stdin is piped");
    std::thread::scope(|scope| {
        // The command may stop reading early; its status then has the reason.
        scope.spawn(move || drop(stdin.write_all(input)));
        child.wait_with_output().expect("the command ends")
    })
}

/// Returns the output of `lz4`, which must succeed.
pub fn lz4_ok(arguments: &[&str], input: &[u8]) -> Vec<u8> {
    let output = lz4(arguments, input);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "lz4 {arguments:?}: {errors}");
    output.stdout
}

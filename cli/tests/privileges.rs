//! Owners, modes and special bits of outputs, as the superuser and as a user; a small disk; a system without /proc.
//! The cases that only the superuser can set up are reported as ignored where another user runs the tests.

#[cfg(not(target_os = "linux"))]
fn main() {}

#[cfg(target_os = "linux")]
mod common;

#[cfg(target_os = "linux")]
#[path = "privileges/cases.rs"]
mod cases;

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    use libtest_mimic::{Arguments, Trial};

    let superuser = rustix::process::geteuid().is_root();
    let trials = cases::all().map(|(name, needs_superuser, case)| {
        let case = move || {
            case();
            Ok(())
        };
        Trial::test(name, case).with_ignored_flag(needs_superuser && !superuser)
    });
    libtest_mimic::run(&Arguments::from_args(), trials.into()).exit_code()
}

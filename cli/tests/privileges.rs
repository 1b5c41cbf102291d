//! Owners, modes and special bits of outputs, as superuser and as another user; a small disk; a system without /proc.
//! Cases that need the superuser are reported as ignored for other users.

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

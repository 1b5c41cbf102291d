//! Runs the tests of a target with `harness = false`. A test can end as ignored while it runs, which Rust's own harness
//! does not support: only the running test detects that the GPU it needs is missing.
//!
//! Such a target has `use pagepress_test_harness::test;`, and `fn main() -> ExitCode { common::harness::run() }`.

use std::any::Any;
use std::fmt::{Debug, Display};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::process::ExitCode;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

pub use inventory;
use libtest_mimic::{Arguments, Completion, Failed, Trial};

/// Duration after which a running test is named, as in Rust's own harness.
const LONG: Duration = Duration::from_secs(60);
/// Duration from which on the time of a test is printed: these are the tests that make a run long.
const SLOW: Duration = Duration::from_secs(5);

/// A test: a function with the attribute `#[test]`.
pub struct Test {
    /// Its path, including the crate.
    pub path: &'static str,
    pub is_ignored: bool,
    pub run: fn() -> Result<(), String>,
}

inventory::collect!(Test);

/// Return types of tests.
pub struct Outcome;

impl Outcome {
    pub fn of<T: TestResult>(returned: T) -> Result<(), String> {
        returned.into_result()
    }
}

pub trait TestResult {
    fn into_result(self) -> Result<(), String>;
}

impl TestResult for () {
    fn into_result(self) -> Result<(), String> {
        Ok(())
    }
}

impl<E: Debug> TestResult for Result<(), E> {
    fn into_result(self) -> Result<(), String> {
        self.map_err(|error| format!("{error:?}"))
    }
}

/// Carries the reason of `ignore` to the harness.
struct Ignored(String);

/// Ends the running test, which is reported as ignored.
pub fn ignore(reason: impl Display) -> ! {
    // Unlike a panic, this calls no hook, so nothing looks like a failure.
    resume_unwind(Box::new(Ignored(reason.to_string())))
}

/// Runs all tests of this program as its arguments select.
pub fn run() -> ExitCode {
    let mut tests: Vec<&Test> = inventory::iter::<Test>().collect();
    tests.sort_by_key(|test| test.path);
    let trials = tests.into_iter().map(trial).collect();
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn trial(test: &'static Test) -> Trial {
    let name = test
        .path
        .split_once("::")
        .map_or(test.path, |(_, name)| name);
    let runner = move || {
        let outcome = while_watched(name, || catch_unwind(AssertUnwindSafe(test.run)));
        match outcome {
            Ok(Ok(())) => Ok(Completion::Completed),
            Ok(Err(error)) => Err(Failed::from(error)),
            Err(payload) => ignored_or_panicked(payload),
        }
    };
    Trial::ignorable_test(name, runner).with_ignored_flag(test.is_ignored)
}

fn ignored_or_panicked(payload: Box<dyn Any + Send>) -> Result<Completion, Failed> {
    match payload.downcast::<Ignored>() {
        Ok(ignored) => Ok(Completion::ignored_with(ignored.0)),
        Err(panic) => resume_unwind(panic),
    }
}

/// Runs a test, and prints its name and its time if it is slow.
fn while_watched<T>(name: &'static str, run: impl FnOnce() -> T) -> T {
    let (ended, end) = channel::<()>();
    let watch = std::thread::spawn(move || {
        if end.recv_timeout(LONG) == Err(RecvTimeoutError::Timeout) {
            eprintln!(
                "test {name} has been running for over {} seconds",
                LONG.as_secs()
            );
        }
    });
    let begin = Instant::now();
    let outcome = run();
    drop(ended);
    if begin.elapsed() >= SLOW {
        eprintln!("test {name} took {:.1} s", begin.elapsed().as_secs_f64());
    }
    // The thread waits only for the channel that was just closed.
    let _ = watch.join();
    outcome
}

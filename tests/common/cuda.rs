//! Tests that need CUDA, and tests that cannot share a process.

use std::process::Command;
use std::sync::{Mutex, PoisonError};

use pagepress::Error;

use super::harness;

/// Returns true if CUDA finds a GPU. If not, fails if `PAGEPRESS_REQUIRE_CUDA` is set.
///
/// For tests that also check something without CUDA. Others call [`need_cuda`].
pub fn cuda_is_there() -> bool {
    reason_without().is_none()
}

/// Ends the running test as ignored if CUDA finds no GPU, or as failed if `PAGEPRESS_REQUIRE_CUDA` is set.
pub fn need_cuda() {
    if let Some(reason) = reason_without() {
        harness::ignore(reason);
    }
}

fn reason_without() -> Option<Error> {
    let error = pagepress::gpu::cuda::list().err()?;
    let required = std::env::var_os("PAGEPRESS_REQUIRE_CUDA").is_some();
    assert!(!required, "PAGEPRESS_REQUIRE_CUDA is set: {error}");
    Some(error)
}

/// Runs `test`, named `name`, in a new process that runs only this test, and never at the same time as another such
/// test. Ignored if CUDA finds no GPU.
pub fn in_own_process(name: &str, test: impl FnOnce()) {
    const CHILD: &str = "PAGEPRESS_TEST_ALONE";
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    need_cuda();
    if std::env::var_os(CHILD).is_some() {
        test();
        return;
    }
    let child = Command::new(std::env::current_exe().unwrap())
        .args([name, "--exact", "--nocapture"])
        .env(CHILD, name)
        .output()
        .expect("the test starts itself");
    let said = [child.stdout, child.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    assert!(
        child.status.success() && said.contains("1 passed"),
        "{said}"
    );
}

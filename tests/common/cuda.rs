//! Whether there is CUDA to test, and tests that cannot share a process.

use std::process::Command;
use std::sync::{Mutex, PoisonError};

/// Whether CUDA finds a GPU. Without one this says so, and fails if `PAGEPRESS_REQUIRE_CUDA` is set.
pub fn cuda_is_there() -> bool {
    match pagepress::gpu::cuda::list() {
        Ok(_) => true,
        Err(error) => {
            let required = std::env::var_os("PAGEPRESS_REQUIRE_CUDA").is_some();
            assert!(!required, "PAGEPRESS_REQUIRE_CUDA is set: {error}");
            eprintln!("not tested: {error}");
            false
        }
    }
}

/// Runs `test`, which is named `name`, where there is CUDA: in a new process that runs this test and no other, and while
/// no other such test runs.
pub fn in_own_process(name: &str, test: impl FnOnce()) {
    const CHILD: &str = "PAGEPRESS_TEST_ALONE";
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    if !cuda_is_there() {
        return;
    }
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

//! Time limits of single tests in a browser.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

use gloo_timers::future::TimeoutFuture;

/// Time limit of a test, far above its duration on a slow machine: a test that exceeds it hangs.
const LIMIT_SECONDS: u32 = 600;

/// Returns the output of `test`, or fails with its `name` after the limit.
pub async fn within<T>(name: &str, test: impl Future<Output = T>) -> T {
    let mut test = pin!(test);
    let mut limit = pin!(TimeoutFuture::new(1000 * LIMIT_SECONDS));
    poll_fn(|context| {
        if let Poll::Ready(output) = test.as_mut().poll(context) {
            return Poll::Ready(output);
        }
        let late = limit.as_mut().poll(context).is_ready();
        assert!(!late, "{name} has not ended after {LIMIT_SECONDS} s");
        Poll::Pending
    })
    .await
}

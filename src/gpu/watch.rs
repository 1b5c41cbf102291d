//! [`Watch`]: the watchdog of a wait. A device without progress for the limit counts as lost.

use std::time::{Duration, Instant};

use super::choice::DeviceRequest;

/// Limit without progress on hardware; drivers with a display reset the GPU after seconds.
const HARDWARE: Duration = Duration::from_secs(60);

/// Limit without progress on a software adapter, where one launch may take minutes.
const SOFTWARE: Duration = Duration::from_secs(600);

/// Returns the limit for a device.
pub(super) fn limit(request: &DeviceRequest, is_software: bool) -> Duration {
    request.wait_limit.unwrap_or(match is_software {
        true => SOFTWARE,
        false => HARDWARE,
    })
}

/// Returns the reason for the loss of a device that made no progress.
pub(super) fn reason(limit: Duration) -> String {
    format!("no submitted work was done for {limit:?} (`DeviceRequest::wait_limit`)")
}

/// The state of one wait, or of several at once.
#[derive(Debug)]
pub(super) struct Watch {
    limit: Duration,
    /// Number of completed submissions at the last progress, and its time.
    n_done: u64,
    since: Instant,
}

impl Watch {
    /// Starts a wait when `n_done` submissions have completed.
    pub(super) fn new(limit: Duration, n_done: u64) -> Self {
        Self {
            limit,
            n_done,
            since: Instant::now(),
        }
    }

    /// Returns the time that is left until the limit, at least 1 ms.
    #[cfg(feature = "wgpu")]
    pub(super) fn left(&self) -> Duration {
        let left = self.limit.saturating_sub(self.since.elapsed());
        left.max(Duration::from_millis(1))
    }

    /// Returns true if the limit has passed since the number of completed submissions last changed.
    pub(super) fn has_stalled(&mut self, n_done: u64) -> bool {
        if n_done != self.n_done {
            self.n_done = n_done;
            self.since = Instant::now();
        }
        self.since.elapsed() >= self.limit
    }
}

#[cfg(all(test, feature = "wgpu"))]
mod tests {
    use super::*;

    #[test]
    fn progress_restarts_the_wait() {
        let mut watch = Watch::new(Duration::from_millis(200), 0);
        assert!(!watch.has_stalled(0));
        assert!(watch.left() <= Duration::from_millis(200));
        std::thread::sleep(Duration::from_millis(300));
        assert_eq!(watch.left(), Duration::from_millis(1));
        assert!(!watch.has_stalled(1));
        std::thread::sleep(Duration::from_millis(300));
        assert!(watch.has_stalled(1));
        // Polls that end before the limit are what makes wgpu panic.
        assert!(Watch::new(Duration::from_secs(60), 0).left() > Duration::from_secs(59));
        assert!(Watch::new(Duration::ZERO, 0).has_stalled(0));
    }
}

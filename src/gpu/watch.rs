//! How long a wait goes on without progress before the device counts as lost.

use std::time::{Duration, Instant};

use super::choice::DeviceRequest;

/// Without progress on hardware; drivers with a screen give up after seconds.
const HARDWARE: Duration = Duration::from_secs(60);

/// Without progress on a CPU that imitates a GPU, where one launch may well take minutes.
const SOFTWARE: Duration = Duration::from_secs(600);

/// Between two looks at the progress.
pub(super) const LOOK: Duration = Duration::from_secs(1);

/// The limit for a device.
pub(super) fn limit(request: &DeviceRequest, is_software: bool) -> Duration {
    request.wait_limit.unwrap_or(match is_software {
        true => SOFTWARE,
        false => HARDWARE,
    })
}

/// What is said of a device that made no progress.
pub(super) fn reason(limit: Duration) -> String {
    format!("no submitted work was done for {limit:?} (`DeviceRequest::wait_limit`)")
}

/// One wait, or several at once.
#[derive(Debug)]
pub(super) struct Watch {
    limit: Duration,
    /// Work that was done when there was progress last, and when that was.
    n_done: u64,
    since: Instant,
}

impl Watch {
    /// A wait that begins when `n_done` pieces of work are done.
    pub(super) fn new(limit: Duration, n_done: u64) -> Self {
        Self {
            limit,
            n_done,
            since: Instant::now(),
        }
    }

    /// How long to wait before the next look.
    #[cfg(feature = "wgpu")]
    pub(super) fn until_next_look(&self) -> Duration {
        let left = self.limit.saturating_sub(self.since.elapsed());
        left.clamp(Duration::from_millis(1), LOOK)
    }

    /// Whether the limit has passed since the number of pieces done changed last.
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
    fn progress_begins_the_wait_anew() {
        let mut watch = Watch::new(Duration::from_millis(200), 0);
        assert!(!watch.has_stalled(0));
        assert!(watch.until_next_look() <= Duration::from_millis(200));
        std::thread::sleep(Duration::from_millis(300));
        assert_eq!(watch.until_next_look(), Duration::from_millis(1));
        assert!(!watch.has_stalled(1));
        std::thread::sleep(Duration::from_millis(300));
        assert!(watch.has_stalled(1));
        assert!(Watch::new(Duration::from_secs(60), 0).until_next_look() <= LOOK);
        assert!(Watch::new(Duration::ZERO, 0).has_stalled(0));
    }
}

//! The device's own measurements of a submission.

use std::ops::Range;

/// Measurements of one kind of work in one submission.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Busy {
    /// Not measured: the device has no timestamps there.
    #[default]
    Unmeasured,
    /// Total nanoseconds, of a device that runs one operation at a time and reports no start.
    Total(u64),
    /// Start and end of each run of such work, in nanoseconds on the device's clock, whose origin is arbitrary.
    Spans(Vec<Range<u64>>),
}

/// Times of a submission on the device's own clock, without waits of the device for the host or of the host for the
/// device.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct DeviceTimes {
    /// Copies from host to device.
    pub upload: Busy,
    /// Launches.
    pub kernels: Busy,
    /// Copies from device to host.
    pub download: Busy,
}

/// A kind of work that a device measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Activity {
    /// Copies from host to device.
    Upload,
    /// Launches.
    Kernels,
    /// Copies from device to host.
    Download,
}

impl DeviceTimes {
    /// Returns measurements of zero; copies are `Unmeasured` unless `copies`.
    pub(crate) fn measured(copies: bool) -> Self {
        let of_copies = || match copies {
            true => Busy::Spans(Vec::new()),
            false => Busy::Unmeasured,
        };
        Self {
            upload: of_copies(),
            kernels: Busy::Spans(Vec::new()),
            download: of_copies(),
        }
    }

    /// Adds a measured span. A span that ends before it starts, because the clock was reset or wrapped around, makes
    /// its kind unmeasured.
    pub(crate) fn push(&mut self, activity: Activity, span: Range<u64>) {
        let busy = match activity {
            Activity::Upload => &mut self.upload,
            Activity::Kernels => &mut self.kernels,
            Activity::Download => &mut self.download,
        };
        match busy {
            _ if span.end < span.start => *busy = Busy::Unmeasured,
            Busy::Spans(spans) => spans.push(span),
            Busy::Unmeasured | Busy::Total(_) => {}
        }
    }
}

/// The time in which a device was busy with one kind of work, over many submissions. Time in which several ran
/// concurrently is counted once, so it never exceeds the elapsed time.
#[derive(Debug, Default)]
pub(crate) struct BusyTime {
    n_submissions: usize,
    is_unmeasured: bool,
    total_ns: u64,
    spans: Vec<Range<u64>>,
}

impl BusyTime {
    /// Adds the work of one submission.
    pub(crate) fn add(&mut self, busy: Busy) {
        self.n_submissions += 1;
        match busy {
            Busy::Unmeasured => self.is_unmeasured = true,
            Busy::Total(ns) => self.total_ns += ns,
            Busy::Spans(spans) => self.spans.extend(spans),
        }
    }

    /// Adds the work that `other` counted.
    #[cfg(not(target_arch = "wasm32"))]
    pub(crate) fn join(&mut self, other: Self) {
        self.n_submissions += other.n_submissions;
        self.is_unmeasured |= other.is_unmeasured;
        self.total_ns += other.total_ns;
        self.spans.extend(other.spans);
    }

    /// Returns the total in nanoseconds; `None` without submissions, and if one of them was not measured.
    pub(crate) fn ns(&self) -> Option<u64> {
        if self.is_unmeasured || self.n_submissions == 0 {
            return None;
        }
        let mut spans = self.spans.clone();
        spans.sort_unstable_by_key(|span| span.start);
        let mut until = 0;
        let union = spans.iter().map(|span| {
            let new = span.end.saturating_sub(span.start.max(until));
            until = until.max(span.end);
            new
        });
        Some(self.total_ns + union.sum::<u64>())
    }
}

#[cfg(test)]
#[expect(
    clippy::single_range_in_vec_init,
    reason = "a list of spans may have one"
)]
mod tests {
    use super::*;

    fn time_of(all: impl IntoIterator<Item = Busy>) -> Option<u64> {
        let mut time = BusyTime::default();
        all.into_iter().for_each(|busy| time.add(busy));
        time.ns()
    }

    #[test]
    fn concurrent_work_counts_once() {
        let spans = |spans: &[Range<u64>]| Busy::Spans(spans.to_vec());
        assert_eq!(time_of([]), None);
        assert_eq!(time_of([spans(&[])]), Some(0));
        assert_eq!(time_of([spans(&[10..15, 20..21])]), Some(6));
        assert_eq!(
            time_of([spans(&[20..30]), spans(&[0..5, 25..40, 26..28])]),
            Some(25)
        );
        assert_eq!(time_of([Busy::Total(3), Busy::Total(4)]), Some(7));
        assert_eq!(time_of([spans(&[0..5]), Busy::Unmeasured]), None);
    }

    #[test]
    fn a_clock_that_runs_backwards_measures_nothing() {
        let mut times = DeviceTimes::measured(true);
        times.push(Activity::Kernels, 10..15);
        let (start, end) = (21, 20);
        times.push(Activity::Upload, start..end);
        times.push(Activity::Upload, 22..23);
        assert_eq!(times.kernels, Busy::Spans(vec![10..15]));
        assert_eq!(times.upload, Busy::Unmeasured);
        assert_eq!(times.download, Busy::Spans(Vec::new()));
        let mut times = DeviceTimes::measured(false);
        times.push(Activity::Download, 1..2);
        assert_eq!(times.download, Busy::Unmeasured);
    }
}

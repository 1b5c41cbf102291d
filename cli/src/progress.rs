//! The progress bar.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

/// Shorter work shows no bar.
const PATIENCE: Duration = Duration::from_millis(500);
const WITH_LENGTH: &str =
    "{msg} {bar:30} {percent:>3} % {bytes}/{total_bytes} {bytes_per_sec} {eta}";
const WITHOUT_LENGTH: &str = "{msg} {spinner} {bytes} {bytes_per_sec} {elapsed}";

/// Shows the progress of one input on standard error, if that is a terminal.
pub struct Bar {
    bar: Option<ProgressBar>,
    start: Instant,
    name: String,
    length: Option<u64>,
    quiet: bool,
}

impl Bar {
    pub fn new(name: &str, length: Option<u64>, quiet: bool) -> Self {
        Self {
            bar: None,
            start: Instant::now(),
            name: name.to_owned(),
            length,
            quiet,
        }
    }

    pub fn set(&mut self, bytes_in: u64) {
        if self.quiet || self.start.elapsed() < PATIENCE {
            return;
        }
        self.bar
            .get_or_insert_with(|| new_bar(&self.name, self.length))
            .set_position(bytes_in);
    }

    /// Removes the bar and returns the elapsed time.
    pub fn finish(self) -> Duration {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
        self.start.elapsed()
    }
}

fn new_bar(name: &str, length: Option<u64>) -> ProgressBar {
    let (bar, template) = match length {
        Some(length) => (ProgressBar::new(length), WITH_LENGTH),
        None => (ProgressBar::new_spinner(), WITHOUT_LENGTH),
    };
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar.set_message(name.to_owned());
    bar
}

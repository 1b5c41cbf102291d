//! Termination by signals: the command removes its temporary file, then ends by the signal's default action.

use std::io;

#[cfg(unix)]
pub use unix::{clean_up_before_ending, end_by_broken_pipe};

#[cfg(not(unix))]
pub use other::{clean_up_before_ending, end_by_broken_pipe};

#[cfg(unix)]
mod unix {
    use std::thread;

    use signal_hook::consts::{SIGHUP, SIGINT, SIGPIPE, SIGQUIT, SIGTERM};
    use signal_hook::iterator::Signals;
    use signal_hook::low_level::emulate_default_handler;

    use super::io;
    use crate::startup;

    const ENDING: [libc::c_int; 4] = [SIGHUP, SIGINT, SIGQUIT, SIGTERM];

    /// Runs `clean_up` before a signal ends the process. Signals that the process was started to ignore, as by `nohup`,
    /// stay ignored. A write beyond the file size limit becomes an error.
    pub fn clean_up_before_ending(clean_up: fn()) -> io::Result<()> {
        // SAFETY: SIG_IGN is not a handler, so no code of this process runs on the signal.
        unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
        let caught = ENDING
            .into_iter()
            .filter(|signal| !startup::is_ignored(*signal));
        let mut signals = Signals::new(caught)?;
        let wait = move || {
            if let Some(signal) = signals.forever().next() {
                clean_up();
                end_by(signal);
            }
        };
        thread::Builder::new().name("signals".into()).spawn(wait)?;
        Ok(())
    }

    /// Ends the process by SIGPIPE, unless it was started to ignore that signal.
    pub fn end_by_broken_pipe() {
        if !startup::ignores_broken_pipes() {
            end_by(SIGPIPE);
        }
    }

    fn end_by(signal: libc::c_int) -> ! {
        // Returns only for a signal that it does not support.
        let _ = emulate_default_handler(signal);
        std::process::exit(128 + signal)
    }
}

#[cfg(not(unix))]
mod other {
    use super::io;

    /// Exit code after an interrupt, by the convention of shells.
    const INTERRUPTED: i32 = 130;

    /// Runs `clean_up` before an interrupt ends the process.
    pub fn clean_up_before_ending(clean_up: fn()) -> io::Result<()> {
        let set = ctrlc::set_handler(move || {
            clean_up();
            std::process::exit(INTERRUPTED);
        });
        set.map_err(io::Error::other)
    }

    /// Does nothing: there is no SIGPIPE here.
    pub fn end_by_broken_pipe() {}
}

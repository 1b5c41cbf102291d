//! Termination by signals: the command removes its temporary file, then ends by the signal's default action. Without a
//! temporary file signals have their default action from the start.

use std::io;
use std::sync::{Mutex, PoisonError};

/// Runs `clean_up` before a signal ends the process, from the first call on.
pub fn clean_up_before_ending(clean_up: fn()) -> io::Result<()> {
    static IS_READY: Mutex<bool> = Mutex::new(false);
    let mut is_ready = IS_READY.lock().unwrap_or_else(PoisonError::into_inner);
    if !*is_ready {
        catch(clean_up)?;
        *is_ready = true;
    }
    Ok(())
}

#[cfg(unix)]
use unix::catch;
#[cfg(unix)]
pub use unix::{end_by_broken_pipe, ignore_file_size_limit};

#[cfg(not(unix))]
use other::catch;
#[cfg(not(unix))]
pub use other::{end_by_broken_pipe, ignore_file_size_limit};

#[cfg(unix)]
mod unix {
    use std::thread;

    use signal_hook::consts::{SIGHUP, SIGINT, SIGPIPE, SIGQUIT, SIGTERM};
    use signal_hook::iterator::Signals;
    use signal_hook::low_level::emulate_default_handler;

    use super::io;
    use crate::startup;

    const ENDING: [libc::c_int; 4] = [SIGHUP, SIGINT, SIGQUIT, SIGTERM];

    /// Makes a write beyond the file size limit an error instead of a signal.
    pub fn ignore_file_size_limit() {
        // SAFETY: SIG_IGN is not a handler, so no code of this process runs on the signal.
        unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
    }

    /// Runs `clean_up` before a signal ends the process. Signals that the process was started to ignore, as by `nohup`,
    /// stay ignored.
    pub(super) fn catch(clean_up: fn()) -> io::Result<()> {
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

    /// Does nothing: there is no such signal here.
    pub fn ignore_file_size_limit() {}

    /// Runs `clean_up` before an interrupt ends the process.
    pub(super) fn catch(clean_up: fn()) -> io::Result<()> {
        let set = ctrlc::set_handler(move || {
            clean_up();
            std::process::exit(INTERRUPTED);
        });
        set.map_err(io::Error::other)
    }

    /// Does nothing: there is no SIGPIPE here.
    pub fn end_by_broken_pipe() {}
}

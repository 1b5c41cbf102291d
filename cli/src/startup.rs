//! The state in which the process was started. Rust's runtime changes it before `main`: it reopens closed standard
//! streams on `/dev/null` and ignores SIGPIPE.

use std::io;

/// A standard stream, by its descriptor.
#[derive(Debug, Clone, Copy)]
pub enum Stream {
    Stdin = 0,
    Stdout = 1,
}

/// Fails if the process was started with `stream` closed, as by `>&-` in a shell.
pub fn require(stream: Stream) -> io::Result<()> {
    if was_closed(stream) {
        #[cfg(unix)]
        return Err(rustix::io::Errno::BADF.into());
        #[cfg(not(unix))]
        return Err(io::ErrorKind::NotConnected.into());
    }
    Ok(())
}

#[cfg(unix)]
pub use unix::{ignores_broken_pipes, is_ignored, was_closed};

#[cfg(not(unix))]
fn was_closed(_stream: Stream) -> bool {
    false
}

#[cfg(unix)]
mod unix {
    use std::mem::MaybeUninit;
    use std::ptr;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::Stream;

    static CLOSED: [AtomicBool; 2] = [AtomicBool::new(false), AtomicBool::new(false)];
    static IGNORES_BROKEN_PIPES: AtomicBool = AtomicBool::new(false);

    /// The loader calls this function before the runtime starts.
    #[used]
    #[cfg_attr(
        target_vendor = "apple",
        // SAFETY: the section holds pointers to functions with the C ABI, which `record` is.
        unsafe(link_section = "__DATA,__mod_init_func")
    )]
    #[cfg_attr(
        not(target_vendor = "apple"),
        // SAFETY: the section holds pointers to functions with the C ABI, which `record` is.
        unsafe(link_section = ".init_array")
    )]
    static RECORD: extern "C" fn() = record;

    extern "C" fn record() {
        for (descriptor, closed) in (0..).zip(&CLOSED) {
            // SAFETY: F_GETFD accepts any number as a descriptor, and accesses no memory of this process.
            let flags = unsafe { libc::fcntl(descriptor, libc::F_GETFD) };
            closed.store(flags == -1, Ordering::Relaxed);
        }
        IGNORES_BROKEN_PIPES.store(is_ignored(libc::SIGPIPE), Ordering::Relaxed);
    }

    /// Returns true if the process was started with `stream` closed.
    pub fn was_closed(stream: Stream) -> bool {
        CLOSED[stream as usize].load(Ordering::Relaxed)
    }

    /// Returns true if the process was started with SIGPIPE ignored.
    pub fn ignores_broken_pipes() -> bool {
        IGNORES_BROKEN_PIPES.load(Ordering::Relaxed)
    }

    /// Returns true if `signal` is ignored now.
    pub fn is_ignored(signal: libc::c_int) -> bool {
        let mut action = MaybeUninit::<libc::sigaction>::zeroed();
        // SAFETY: `action` is a `sigaction` that may be written; without a new action nothing else is accessed.
        let code = unsafe { libc::sigaction(signal, ptr::null(), action.as_mut_ptr()) };
        // SAFETY: all bytes are zero or written by `sigaction`, and any bytes are valid integers and an optional pointer.
        let action = unsafe { action.assume_init() };
        code == 0 && action.sa_sigaction == libc::SIG_IGN
    }
}

//! Copies that may go past what is asked for, in steps of a vector.

/// Bytes that are copied at once.
pub(super) const STEP: usize = 16;

/// Copies the bytes of a step.
///
/// # Safety
/// They may be read at `from` and written at `to`.
#[inline(always)]
pub(super) unsafe fn copy_step(from: *const u8, to: *mut u8) {
    // SAFETY: as the caller says.
    unsafe {
        let bytes = from.cast::<[u8; STEP]>().read_unaligned();
        to.cast::<[u8; STEP]>().write_unaligned(bytes);
    }
}

/// Copies bytes in steps, at least one.
///
/// # Safety
/// A step may be read and written at `from` and `to`, and behind `length` bytes if they are more; nothing of what is read
/// is written less than a step before.
#[inline(always)]
pub(super) unsafe fn copy_steps(from: *const u8, to: *mut u8, length: usize) {
    let mut done = 0;
    loop {
        // SAFETY: as the caller says; the last step begins before the end.
        unsafe { copy_step(from.add(done), to.add(done)) };
        done += STEP;
        if done >= length {
            return;
        }
    }
}

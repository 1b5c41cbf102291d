//! Copies that may go past what is asked for, in steps of a vector.

/// Bytes that are copied at once.
pub(super) const STEP: usize = 16;

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
        unsafe {
            let bytes = from.add(done).cast::<[u8; STEP]>().read_unaligned();
            to.add(done).cast::<[u8; STEP]>().write_unaligned(bytes);
        }
        done += STEP;
        if done >= length {
            return;
        }
    }
}

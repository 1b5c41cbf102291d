//! Copies that may go past what is asked for, in steps of a vector.

/// Bytes that are copied at once.
pub(super) const STEP: usize = 16;

/// Copies the bytes of a step.
///
/// # Safety
/// [`STEP`] bytes may be read at `from` and written at `to`; the two may overlap.
#[inline(always)]
pub(super) unsafe fn copy_16(from: *const u8, to: *mut u8) {
    // SAFETY: the bytes may be read and written by this function's contract, and are in a register in between.
    unsafe {
        let bytes = from.cast::<[u8; STEP]>().read_unaligned();
        to.cast::<[u8; STEP]>().write_unaligned(bytes);
    }
}

/// Copies bytes in steps, at least one.
///
/// # Safety
/// `length` rounded up to a multiple of [`STEP`], at least one, is how many bytes may be read at `from` and written at `to`.
/// For the bytes to be right, `to` is not less than a step behind `from`.
#[inline(always)]
pub(super) unsafe fn wild_copy(from: *const u8, to: *mut u8, length: usize) {
    let mut done = 0;
    loop {
        // SAFETY: the step begins at a multiple of STEP that is 0 or below `length`, so it ends within what may be read and
        // written by this function's contract.
        unsafe { copy_16(from.add(done), to.add(done)) };
        done += STEP;
        if done >= length {
            return;
        }
    }
}

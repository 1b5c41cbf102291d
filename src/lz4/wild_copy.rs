//! Wild copies: 16-byte steps that may overrun the requested length.

/// Bytes of a step: one vector register.
pub(super) const STEP: usize = 16;

/// Copies one step of 16 bytes.
///
/// # Safety
/// [`STEP`] bytes may be read at `from` and written at `to`; the two may overlap.
#[inline(always)]
pub(super) unsafe fn copy_16(from: *const u8, to: *mut u8) {
    // An array of bytes passes through memory on its way in WebAssembly, and costs two more stores.
    #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
    // SAFETY: this function's contract; all bytes are in a register between the read and the write.
    unsafe {
        use std::arch::wasm32::{v128_load, v128_store};
        v128_store(to.cast(), v128_load(from.cast()));
    }
    #[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
    // SAFETY: as above.
    unsafe {
        let bytes = from.cast::<[u8; STEP]>().read_unaligned();
        to.cast::<[u8; STEP]>().write_unaligned(bytes);
    }
}

/// Copies `length` bytes in whole steps, at least one.
///
/// # Safety
/// `length` rounded up to a multiple of [`STEP`], at least one step, is readable at `from` and writable at `to`. The
/// bytes are correct only if `to` is before `from` or at least a step after it.
#[inline(always)]
pub(super) unsafe fn wild_copy(from: *const u8, to: *mut u8, length: usize) {
    let mut done = 0;
    loop {
        // SAFETY: `done` is a multiple of STEP, and 0 or below `length`, so the step ends inside the bytes of this
        // function's contract.
        unsafe { copy_16(from.add(done), to.add(done)) };
        done += STEP;
        if done >= length {
            return;
        }
    }
}

//! Looks up a window of positions in the index of a dictionary, with SIMD.

use super::WINDOW;
use super::dictionary::{BUCKET_BITS, Dictionary, Latest};
use super::lanes::Lanes;
use super::match_finder::{COUNT, rolled};
use super::parse::{FIFTH_MULTIPLIER, HASH_MULTIPLIER};

/// Stands for no position in a dictionary.
pub(super) const NOWHERE: u32 = u32::MAX;

/// Buckets, then entries, and keys of a window in the index of a dictionary.
#[repr(align(64))]
struct Looked {
    entries: [u32; WINDOW],
    keys: [u32; WINDOW],
}

/// Looks up the window at `start`, whose first byte is at `from`, in the index of a dictionary: writes the positions in it that
/// positions may match, or [`NOWHERE`], to `found`; returns the bit mask of those that may.
///
/// # Safety
/// The machine has the instructions of `L`; `WINDOW + 16` bytes are readable from `from` on; [`WINDOW`] values are
/// writable at `found`.
#[inline(always)]
pub(super) unsafe fn look_up<L: Lanes>(
    dictionary: &Dictionary,
    from: *const u8,
    start: usize,
    found: *mut u32,
) -> u64 {
    let mut looked = Looked {
        entries: [0; _],
        keys: [0; _],
    };
    let (entries, keys) = (looked.entries.as_mut_ptr(), looked.keys.as_mut_ptr());
    let index = dictionary.fast().entries().as_ptr();
    // SAFETY: reads end at byte WINDOW + 16 from `from` on: 60 + 4 + 16 with four lanes, 48 + 4 + 24 with sixteen. The arrays have WINDOW values, and L::N
    // divides WINDOW. The index has an entry for each value of BUCKET_BITS bits.
    unsafe {
        for i in (0..WINDOW).step_by(L::N) {
            let fifth = L::words(from.add(i + 4)).and(L::splat(255));
            let product = L::words(from.add(i))
                .mul(L::splat(HASH_MULTIPLIER))
                .add(fifth.mul(L::splat(FIFTH_MULTIPLIER)));
            product.shift_right(32 - BUCKET_BITS).store(entries.add(i));
            product
                .mul(L::splat(1 << Latest::KEY_SHIFT))
                .and(L::splat(Latest::KEY_MASK))
                .or(L::splat(Latest::KEY_SET))
                .store(keys.add(i));
        }
        for i in 0..rolled(WINDOW) {
            let bucket = entries.add(i).read() as usize;
            entries.add(i).write(index.add(bucket).read());
        }
        let mut bits = 0;
        for i in (0..WINDOW).step_by(L::N) {
            let p = L::add(L::splat((start + i) as u32), L::load(COUNT.as_ptr()));
            let q = L::load(entries.add(i)).xor(L::load(keys.add(i)));
            let zero = L::splat(0);
            let offset = p.add(L::splat(dictionary.as_bytes().len() as u32)).sub(q);
            let agrees = q.shift_right(16).equal(zero);
            let agrees = agrees.and(offset.shift_right(16).equal(zero));
            q.select(L::splat(NOWHERE), agrees).store(found.add(i));
            bits |= u64::from(agrees.bits()) << i;
        }
        bits
    }
}

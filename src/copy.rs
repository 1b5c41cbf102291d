//! Copying much memory on several cores: one core is slower than the bus.

use std::mem::MaybeUninit;
#[cfg(cuda_engine)]
use std::ops::Range;

use crate::{Result, memory};

/// Bytes that one core copies at a time.
#[cfg(not(target_arch = "wasm32"))]
const SHARE_BYTES: usize = 1 << 20;

/// From this many bytes on, a copy goes past the caches where the processor can do that. It then moves a third less, since
/// lines that are overwritten are not read first: measured 77 instead of 60 GB/s beside the bus at work.
#[cfg(not(target_arch = "wasm32"))]
const STREAMED_BYTES: usize = 4 << 20;

/// Returns whether a thread pool is available. Where the system starts no threads, rayon panics at its first use, and at every
/// later one.
#[cfg(not(target_arch = "wasm32"))]
pub(crate) fn has_threads() -> bool {
    use std::error::Error;
    use std::sync::OnceLock;
    static HAS_THREADS: OnceLock<bool> = OnceLock::new();
    *HAS_THREADS.get_or_init(|| match rayon::ThreadPoolBuilder::new().build_global() {
        Ok(()) => true,
        // Without a cause the pool is there already.
        Err(error) => error.source().is_none(),
    })
}

/// Copies `bytes` to `out`, which is as long.
pub(crate) fn copy(out: &mut [u8], bytes: &[u8]) {
    // SAFETY: `fill` writes only initialised bytes.
    fill(unsafe { memory::as_uninit(out) }, bytes);
}

/// Parts that one core copies at a time: some 256 KiB of blocks.
#[cfg(not(target_arch = "wasm32"))]
pub(crate) const PARTS_PER_SHARE: usize = 128;

/// Copies ranges of `from` to offsets in `out`, in ascending order; both have them.
#[cfg(cuda_engine)]
pub(crate) fn copy_parts(out: &mut [u8], from: &[u8], parts: &[(u64, Range<usize>)]) {
    use rayon::prelude::*;
    /// Bytes from an offset on, and the parts for them.
    type Share<'a> = (&'a mut [u8], u64, &'a [(u64, Range<usize>)]);
    let copy = |(out, start, parts): Share<'_>| {
        for (at, part) in parts {
            let at = (at - start) as usize;
            out[at..at + part.len()].copy_from_slice(&from[part.clone()]);
        }
    };
    if parts.len() <= PARTS_PER_SHARE || rayon::current_thread_index().is_some() || !has_threads() {
        return copy((out, 0, parts));
    }
    let (mut rest, mut end) = (out, 0);
    let mut shares = Vec::with_capacity(parts.len() / PARTS_PER_SHARE + 1);
    for share in parts.chunks(PARTS_PER_SHARE) {
        let start = end;
        end = share
            .last()
            .map_or(end, |(at, part)| at + part.len() as u64);
        let (room, behind) = rest.split_at_mut((end - start) as usize);
        rest = behind;
        shares.push((room, start, share));
    }
    shares.into_par_iter().for_each(copy);
}

/// Returns a copy of `bytes`, as a result.
pub(crate) fn copied(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    append(&mut out, bytes)?;
    Ok(out)
}

/// Appends `bytes` to `out`, a result. Memory is touched once, when it is written.
pub(crate) fn append(out: &mut Vec<u8>, bytes: &[u8]) -> Result<()> {
    memory::reserve_result(out, bytes.len())?;
    let end = out.len() + bytes.len();
    fill(&mut out.spare_capacity_mut()[..bytes.len()], bytes);
    // SAFETY: `fill` has written all of the range that was cut from the spare capacity, which begins at the length and ends
    // at `end`; it panics before this if the lengths differ.
    unsafe { out.set_len(end) };
    Ok(())
}

/// Writes `bytes` to `room`, which is as long.
#[cfg(not(target_arch = "wasm32"))]
pub(crate) fn fill(room: &mut [MaybeUninit<u8>], bytes: &[u8]) {
    use rayon::prelude::*;
    assert_eq!(
        room.len(),
        bytes.len(),
        "a copy between ranges of one length"
    );
    let copy = match bytes.len() >= STREAMED_BYTES {
        true => stream,
        false => |room: &mut [MaybeUninit<u8>], bytes: &[u8]| {
            room.write_copy_of_slice(bytes);
        },
    };
    // A thread of the pool copies alone: the others are at work too.
    let alone = rayon::current_thread_index().is_some();
    if bytes.len() <= SHARE_BYTES || alone || !has_threads() {
        return copy(room, bytes);
    }
    room.par_chunks_mut(SHARE_BYTES)
        .zip(bytes.par_chunks(SHARE_BYTES))
        .for_each(|(room, bytes)| copy(room, bytes));
}

/// Writes `bytes` to `room`, which is as long.
#[cfg(target_arch = "wasm32")]
pub(crate) fn fill(room: &mut [MaybeUninit<u8>], bytes: &[u8]) {
    room.write_copy_of_slice(bytes);
}

/// Copies past the caches; the lengths are equal.
#[cfg(target_arch = "x86_64")]
fn stream(room: &mut [MaybeUninit<u8>], bytes: &[u8]) {
    use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_sfence, _mm_stream_si128};
    // SAFETY: `align_to_mut` makes units of 16 bytes of bytes that may be uninitialised, which both types allow.
    let (head, body, tail) = unsafe { room.align_to_mut::<MaybeUninit<__m128i>>() };
    let (first, rest) = bytes.split_at(head.len());
    let (chunks, last) = rest.as_chunks::<16>();
    head.write_copy_of_slice(first);
    for (room, chunk) in body.iter_mut().zip(chunks) {
        // SAFETY: every x86-64 has SSE2; `room` is aligned by its type, and `chunk` has 16 bytes.
        unsafe { _mm_stream_si128(room.as_mut_ptr(), _mm_loadu_si128(chunk.as_ptr().cast())) };
    }
    tail.write_copy_of_slice(last);
    // SAFETY: every x86-64 has SSE2. Stores past the caches are seen in order after the fence.
    unsafe { _mm_sfence() };
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "wasm32")))]
fn stream(room: &mut [MaybeUninit<u8>], bytes: &[u8]) {
    room.write_copy_of_slice(bytes);
}

#[cfg(test)]
mod tests {
    use super::{append, copy};

    #[cfg(cuda_engine)]
    #[test]
    fn parts_are_copied_to_their_offsets_alone() {
        let from: Vec<u8> = (0..400_000u32).map(|i| (i % 251) as u8).collect();
        for n_parts in [0, 1, 127, 128, 129, 1000] {
            let (mut parts, mut at) = (Vec::new(), 0_usize);
            for i in 0..n_parts {
                let start = i * 7 % 1000;
                let part = start..start + i * 13 % 300;
                parts.push((at as u64, part.clone()));
                at = (at + part.len()).next_multiple_of(8);
            }
            let mut expected = vec![0xee; at + 5];
            for (at, part) in &parts {
                expected[*at as usize..][..part.len()].copy_from_slice(&from[part.clone()]);
            }
            let mut out = vec![0xee; at + 5];
            super::copy_parts(&mut out, &from, &parts);
            assert!(out == expected, "{n_parts}");
        }
    }

    #[test]
    fn copies_are_exact_at_every_alignment_and_size() {
        let bytes: Vec<u8> = (0..9_000_000u32).map(|i| (i % 251) as u8).collect();
        for n_bytes in [0, 1, 15, 16, 17, 4096, (4 << 20) - 1, 4 << 20, 8_388_625] {
            for (to, from) in [(0, 0), (1, 0), (3, 7), (16, 5)] {
                let bytes = &bytes[from..from + n_bytes];
                let mut out = vec![0xff; to + n_bytes + 9];
                copy(&mut out[to..to + n_bytes], bytes);
                assert!(out[to..to + n_bytes] == *bytes, "{n_bytes} {to} {from}");
                assert!(out[..to].iter().all(|&byte| byte == 0xff));
                assert!(out[to + n_bytes..].iter().all(|&byte| byte == 0xff));
                let mut appended = vec![1; to];
                append(&mut appended, bytes).unwrap();
                assert!(appended[to..] == *bytes && appended[..to].iter().all(|&byte| byte == 1));
            }
        }
    }
}

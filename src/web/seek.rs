//! Parts of the content of a file, which JavaScript has, as plain functions; `seek.ts` of the package is the other side.
//! What they take and give is as in `plain`; ranges are given as two `f64`.

use std::ops::Range;

use crate::lz4::frame::{ContentRead, FrameMap};
use crate::web::memory::{NOTHING, give, object, settle, settle_empty, taken};

/// The map of a file of `n_bytes`. Of a remote file, where each read is a request, sizes of blocks that are not read are
/// believed.
#[unsafe(no_mangle)]
extern "C" fn begin_map(n_bytes: f64, is_remote: bool) -> *mut FrameMap {
    let new = if is_remote {
        FrameMap::trusting
    } else {
        FrameMap::new
    };
    object(Ok(new(n_bytes as u64)))
}

/// Gives the range of bytes to be supplied next for the content up to `end` to be mapped; nothing if it is.
///
/// # Safety
/// The object is there.
#[unsafe(no_mangle)]
unsafe extern "C" fn map_wants(map: *const FrameMap, end: f64) -> u32 {
    // SAFETY: this function's contract.
    give_range(unsafe { &*map }.wanted(end as u64))
}

/// Takes the bytes that were wanted.
///
/// # Safety
/// The object is there; the memory is the call's.
#[unsafe(no_mangle)]
unsafe extern "C" fn supply_map(map: *mut FrameMap, bytes: *mut u8, n_bytes: usize) -> u32 {
    // SAFETY: this function's contract.
    let (map, bytes) = unsafe { (&mut *map, taken(bytes, n_bytes)) };
    settle_empty(map.supply(&bytes))
}

/// Bytes of content that are mapped.
///
/// # Safety
/// The object is there.
#[unsafe(no_mangle)]
unsafe extern "C" fn mapped_bytes(map: *const FrameMap) -> f64 {
    // SAFETY: this function's contract.
    unsafe { &*map }.mapped_bytes() as f64
}

/// Whether an index was found.
///
/// # Safety
/// The object is there.
#[unsafe(no_mangle)]
unsafe extern "C" fn has_index(map: *const FrameMap) -> bool {
    // SAFETY: this function's contract.
    unsafe { &*map }.has_index()
}

/// # Safety
/// The object is there, and is not used after.
#[unsafe(no_mangle)]
unsafe extern "C" fn free_map(map: *mut FrameMap) {
    // SAFETY: this function's contract.
    drop(unsafe { Box::from_raw(map) });
}

/// Begins to read content that is mapped.
///
/// # Safety
/// The map is there.
#[unsafe(no_mangle)]
unsafe extern "C" fn begin_read(map: *const FrameMap, start: f64, end: f64) -> *mut ContentRead {
    // SAFETY: this function's contract.
    object(Ok(unsafe { &*map }.read(start as u64..end as u64)))
}

/// Gives the range of bytes to be supplied next; nothing if all is read.
///
/// # Safety
/// Both objects are there.
#[unsafe(no_mangle)]
unsafe extern "C" fn read_wants(read: *const ContentRead, map: *const FrameMap) -> u32 {
    // SAFETY: this function's contract.
    give_range(unsafe { (*read).wanted(&*map) })
}

/// Gives the content of the bytes that were wanted.
///
/// # Safety
/// Both objects are there; the memory is the call's.
#[unsafe(no_mangle)]
unsafe extern "C" fn supply_read(
    read: *mut ContentRead,
    map: *const FrameMap,
    bytes: *mut u8,
    n_bytes: usize,
) -> u32 {
    // SAFETY: this function's contract.
    let (read, map, bytes) = unsafe { (&mut *read, &*map, taken(bytes, n_bytes)) };
    let mut content = Vec::new();
    settle(read.supply(map, &bytes, &mut content).map(|()| content))
}

/// # Safety
/// The object is there, and is not used after.
#[unsafe(no_mangle)]
unsafe extern "C" fn free_read(read: *mut ContentRead) {
    // SAFETY: this function's contract.
    drop(unsafe { Box::from_raw(read) });
}

fn give_range(range: Option<Range<u64>>) -> u32 {
    let Some(range) = range else {
        return NOTHING;
    };
    let ends = [range.start, range.end].map(|end| (end as f64).to_le_bytes());
    give(ends.concat())
}

//! Batches of blocks at any addresses of host memory, on all cores of the CPU.

use std::ffi::c_void;

use rayon::prelude::*;

use crate::block;
use crate::call::{Failure, call};
use crate::memory::{elements, elements_mut, give, input, output};
use crate::status::pp_status;

/// Addresses and sizes of one block's input and output. The addresses cross threads, which the caller of the C interface permits.
struct Item<'a> {
    source: &'a [u8],
    target: &'a mut [u8],
    size: &'a mut usize,
    status: &'a mut i32,
}

/// The arrays of a call, in the caller's memory.
struct Arrays {
    sources: *const *const c_void,
    source_sizes: *const usize,
    targets: *const *mut c_void,
    target_sizes: *const usize,
    written: *mut usize,
    statuses: *mut i32,
    n: usize,
}

impl Arrays {
    /// Checks all arrays, and returns their items. Items whose addresses are invalid have their status set, and are left out.
    ///
    /// # Safety
    /// The guarantees of the caller of [`pp_compress_blocks`].
    unsafe fn items<'a>(&self) -> Result<Vec<Item<'a>>, Failure> {
        // SAFETY: the caller's guarantees for the arrays.
        let (sources, source_sizes, targets, target_sizes, written, statuses) = unsafe {
            (
                elements(self.sources, self.n, "sources")?,
                elements(self.source_sizes, self.n, "source_sizes")?,
                elements(self.targets, self.n, "targets")?,
                elements(self.target_sizes, self.n, "target_sizes")?,
                elements_mut(self.written, self.n, "written")?,
                elements_mut(self.statuses, self.n, "statuses")?,
            )
        };
        let mut items = Vec::new();
        let inputs = sources.iter().zip(source_sizes);
        let outputs = targets.iter().zip(target_sizes);
        let results = written.iter_mut().zip(statuses);
        for (((&from, &from_size), (&to, &to_size)), (size, status)) in
            inputs.zip(outputs).zip(results)
        {
            (*size, *status) = (0, pp_status::PP_OK as i32);
            // SAFETY: the caller's guarantees for each block.
            let views = unsafe {
                input(from, from_size, "source")
                    .and_then(|source| Ok((source, output(to, to_size, "target")?)))
            };
            match views {
                Ok((source, target)) => items.push(Item {
                    source,
                    target,
                    size,
                    status,
                }),
                Err(failure) => *status = failure.report() as i32,
            }
        }
        Ok(items)
    }

    /// Runs `work` for each item on all cores. Fails with the first error, after all of them ran.
    ///
    /// # Safety
    /// As [`items`](Self::items).
    unsafe fn run(
        &self,
        work: impl Fn(&mut Item<'_>) -> Result<(), Failure> + Sync,
    ) -> Result<(), Failure> {
        // SAFETY: the guarantees of the function's caller.
        let items = unsafe { self.items() }?;
        let n_left_out = self.n - items.len();
        let failures = items.into_par_iter().filter_map(|mut item| {
            let failure = work(&mut item).err()?;
            *item.status = failure.status() as i32;
            Some(failure)
        });
        // Unlike a search, a reduction runs all items.
        match failures.reduce_with(|first, _| first) {
            Some(failure) => Err(failure),
            None if n_left_out > 0 => Err(Failure::argument(format!(
                "{n_left_out} blocks have a null address and a size above 0; statuses says which"
            ))),
            None => Ok(()),
        }
    }
}

/// Compresses `n` blocks from any addresses to any addresses, on all cores. `written[i]` and `statuses[i]` are the size of block `i` and its
/// `pp_status`; one that fails does not affect others. Returns the first status that is not `PP_OK`.
///
/// # Safety
/// All arrays have `n` elements; `sources[i]` has `source_sizes[i]` bytes and `targets[i]` has `capacities[i]`; no target overlaps
/// anything else.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pp_compress_blocks(
    sources: *const *const c_void,
    source_sizes: *const usize,
    n: usize,
    level: u32,
    targets: *const *mut c_void,
    capacities: *const usize,
    written: *mut usize,
    statuses: *mut i32,
) -> pp_status {
    let arrays = Arrays {
        sources,
        source_sizes,
        targets,
        target_sizes: capacities,
        written,
        statuses,
        n,
    };
    call(|| {
        let compress = |item: &mut Item<'_>| {
            give(
                &block::compress(item.source, level, None)?,
                item.target,
                item.size,
            )
        };
        // SAFETY: the guarantees of this function's caller.
        unsafe { arrays.run(compress) }
    })
}

/// Decompresses `n` blocks, whose contents have exactly `content_sizes[i]` bytes, on all cores. Else as `pp_compress_blocks`; `written[i]` is
/// `content_sizes[i]`, or 0 after an error.
///
/// # Safety
/// As `pp_compress_blocks`, with `content_sizes` in place of `capacities`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pp_decompress_blocks(
    sources: *const *const c_void,
    source_sizes: *const usize,
    n: usize,
    targets: *const *mut c_void,
    content_sizes: *const usize,
    written: *mut usize,
    statuses: *mut i32,
) -> pp_status {
    let arrays = Arrays {
        sources,
        source_sizes,
        targets,
        target_sizes: content_sizes,
        written,
        statuses,
        n,
    };
    call(|| {
        let decompress = |item: &mut Item<'_>| {
            block::decompress(item.source, None, item.target)?;
            *item.size = item.target.len();
            Ok(())
        };
        // SAFETY: the guarantees of this function's caller.
        unsafe { arrays.run(decompress) }
    })
}

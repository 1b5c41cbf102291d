//! Memory whose size an input decides: there may be too little, which is an error and not the end of the process.

use std::alloc::{Layout, alloc_zeroed};

use crate::{Error, Result};

/// `n_bytes` zeros. Large memory comes from the system as zeros, so it costs nothing until it is touched.
pub(crate) fn zeroed(n_bytes: usize) -> Result<Vec<u8>> {
    if n_bytes == 0 {
        return Ok(Vec::new());
    }
    let layout = Layout::array::<u8>(n_bytes).map_err(|_| out_of_memory(n_bytes))?;
    // SAFETY: the layout is of one byte or more.
    let start = unsafe { alloc_zeroed(layout) };
    if start.is_null() {
        return Err(out_of_memory(n_bytes));
    }
    // SAFETY: the global allocator has just given this memory, of `n_bytes` bytes with an alignment of 1, all of them zeros;
    // nothing else has the pointer.
    Ok(unsafe { Vec::from_raw_parts(start, n_bytes, n_bytes) })
}

/// Makes room for `n_more` values behind those of `values`.
pub(crate) fn reserve<T>(values: &mut Vec<T>, n_more: usize) -> Result<()> {
    let n_bytes = n_more.saturating_mul(size_of::<T>());
    values
        .try_reserve(n_more)
        .map_err(|_| out_of_memory(n_bytes))
}

/// Appends `bytes` to `out`.
pub(crate) fn append(out: &mut Vec<u8>, bytes: &[u8]) -> Result<()> {
    reserve(out, bytes.len())?;
    out.extend_from_slice(bytes);
    Ok(())
}

fn out_of_memory(n_bytes: usize) -> Error {
    Error::OutOfMemory {
        requested: n_bytes as u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_much_is_an_error() {
        let too_much = isize::MAX as usize;
        let error = Err(Error::OutOfMemory {
            requested: too_much as u64,
        });
        assert_eq!(zeroed(too_much), error);
        assert!(zeroed(usize::MAX).is_err());
        assert_eq!(
            reserve::<u8>(&mut Vec::new(), too_much).map(|()| Vec::new()),
            error
        );
        assert!(reserve::<u64>(&mut Vec::new(), usize::MAX).is_err());
        assert_eq!(zeroed(0), Ok(Vec::new()));
        assert_eq!(zeroed(3), Ok(vec![0; 3]));
    }
}

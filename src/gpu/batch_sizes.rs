//! Batch sizes that were measured in this process, by adapter.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Pages of 4 KiB in a batch, by `GpuDeviceInfo::key`.
static MEASURED: Mutex<Option<HashMap<String, usize>>> = Mutex::new(None);

fn measured() -> MutexGuard<'static, Option<HashMap<String, usize>>> {
    MEASURED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the batch size that was measured on this adapter, if one was.
pub(crate) fn known_batch_size(adapter: &str) -> Option<usize> {
    measured().as_ref()?.get(adapter).copied()
}

/// Stores `size` for this adapter unless another thread was faster, and returns the stored size.
pub(crate) fn remember_batch_size(adapter: &str, size: usize) -> usize {
    let mut measured = measured();
    let sizes = measured.get_or_insert_with(HashMap::new);
    *sizes.entry(adapter.to_owned()).or_insert(size)
}

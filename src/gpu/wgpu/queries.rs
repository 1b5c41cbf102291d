//! Timestamp queries, and those of a device that are not in use.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::allocation::Charged;
use super::staging::Staging;

/// Queries with the buffers that their results pass through.
#[derive(Debug)]
pub(super) struct Queries {
    pub set: wgpu::QuerySet,
    pub resolved: Charged,
    pub host: Staging,
}

/// Queries not in use. The device owns them, so they must not own the device: a reference cycle would leak it, with its
/// memory and threads.
#[derive(Debug, Default)]
pub(super) struct FreeQueries(Mutex<Vec<Queries>>);

impl FreeQueries {
    pub(super) fn take(&self) -> Option<Queries> {
        self.lock().pop()
    }

    pub(super) fn keep(&self, queries: Queries) {
        self.lock().push(queries);
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Queries>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

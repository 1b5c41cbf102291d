//! [`DeviceId`]: identifies the open device that a handle belongs to.

use std::sync::atomic::{AtomicU64, Ordering};

/// Identity of an open device: unique in the process, the same for all clones of a device, and never reused.
///
/// Every handle has the id of the device that created it. Recording work on handles of another device fails with
/// [`InvalidArgument`](crate::Error::InvalidArgument).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct DeviceId(u64);

impl DeviceId {
    /// Returns an id that no other device has.
    pub(super) fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// A handle that belongs to a device.
pub(super) trait Owned {
    /// Returns the id of the device that created this handle.
    fn device_id(&self) -> DeviceId;
}

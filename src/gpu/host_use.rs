//! The use of a staging buffer.

/// The direction of transfers through a staging buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum HostUse {
    /// The host writes, the device copies from it.
    Upload,
    /// The device copies to it, the host reads.
    Download,
}

impl HostUse {
    pub(super) const fn text(self) -> &'static str {
        match self {
            Self::Upload => "upload",
            Self::Download => "download",
        }
    }
}

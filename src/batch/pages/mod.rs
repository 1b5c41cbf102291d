//! Batches of 4 KiB pages on GPUs: in host memory, in pinned memory and in GPU memory.

pub(crate) mod calibrate;
#[cfg(cuda_engine)]
pub(crate) mod chunks;
pub(crate) mod compressor;
pub(crate) mod pinned;
pub(crate) mod pooled;
pub(crate) mod resident;
pub(crate) mod results;

//! Kernels for chunks in device memory, in builds with the CUDA engine; in others, none opens.

#[cfg(feature = "cuda")]
mod cuda;
#[cfg(not(feature = "cuda"))]
mod none;

#[cfg(feature = "cuda")]
pub(crate) use cuda::{Chunks, CompressCall, DecompressCall};
#[cfg(not(feature = "cuda"))]
pub(crate) use none::{Chunks, CompressCall, DecompressCall};

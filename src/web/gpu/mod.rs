//! `GpuCodec`: compression on a GPU, of pages in arrays and of pages in GPU memory.

mod codec;
mod convert;
mod dictionary;
mod frames;
mod pages;
mod resident;

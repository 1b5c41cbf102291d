//! The class that JavaScript drives a GPU with: pages in arrays, and pages in GPU memory.

mod codec;
mod convert;
mod frames;
mod pages;
mod resident;

//! Tensors on a GPU, and operations on arrays on the CPU or the GPU, as JavaScript classes.
//!
//! Errors are those of the methods of the same names in [`gpu`](crate::gpu) and [`tensor`](crate::tensor), as an
//! `Error` with the property `code`. Arrays are read before a method returns, except by a backend.

mod backend;
mod batch;
mod convert;
mod device;
mod kernel;
mod layer;
mod names;
mod op;
mod resident;

//! Tensors on a GPU, and operations on arrays wherever they are faster, as classes of JavaScript.
//!
//! Errors are those of the methods of the same names in [`gpu`](crate::gpu) and [`tensor`](crate::tensor), as an `Error`
//! with the property `code`. Arrays are read before a method returns, but for those of a backend.

mod backend;
mod batch;
mod convert;
mod device;
mod kernel;
mod names;
mod op;
mod resident;

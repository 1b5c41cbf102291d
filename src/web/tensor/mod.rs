//! Tensors on a GPU, and operations on arrays wherever they are faster, as plain functions.
//!
//! Objects are references and boxes here, addresses for JavaScript, which gives back what it was given and nothing that
//! it has freed; a null pointer of an object stands for an error, which is the answer. Lists, texts and elements come as
//! arrays of bytes by their numbers in `crate::js`, the module's from then on. What takes time is a call; nothing is wrong
//! with its arguments before its first poll.

mod arrays;
mod backend;
mod batch;
mod convert;
mod device;
mod kernel;
mod resident;

//! The codec that drives a GPU, as plain functions.
//!
//! It takes one call at a time, and calls are driven from outside; `gpu.ts` of the package does both. What it takes and
//! gives is as in [`plain`](super::plain); values of JavaScript are numbers of `crate::js`, the module's from then on.

mod codec;
mod pages;
mod resident;

//! What needs no GPU, as plain functions over numbers and memory: no imports, no generated JavaScript, every call is done
//! when it returns. `plain.ts` of the package is the other side of this.
//!
//! Bytes come in memory from [`super::memory::take_memory`], which the call owns from then on; bytes, and the text of an error,
//! go out in the [`super::memory::answer`]. Objects are pointers; the functions that make one give null where they fail.

mod blocks;
mod frames;
mod pages;

//! DLPack: a structure in C that describes an array in the memory of a device, in a capsule of Python.
//! <https://dmlc.github.io/dlpack/latest/>

mod abi;
mod export;
mod import;

pub(super) use abi::CUDA;
pub(super) use export::export;
pub(super) use import::{Imported, import};

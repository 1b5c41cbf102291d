//! The native module of the Python package `pagepress`, under its Python sources in `pagepress/`. [docs/python.md](../../docs/python.md)
//! describes it.
//!
//! Work runs without Python's global lock. Errors are the exceptions of `pagepress/errors.py`; pyo3 turns a panic into an exception
//! too.
#![cfg(not(target_arch = "wasm32"))]

mod block;
mod buffers;
mod codec;
mod cuda;
mod dictionary;
mod errors;
mod frame;
mod options;
mod pages;
mod seek;
mod stream;
mod threads;

use pyo3::prelude::*;

#[pymodule]
fn _pagepress(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<codec::Codec>()?;
    module.add_class::<cuda::Blocks>()?;
    module.add_class::<cuda::Chunks>()?;
    module.add_class::<cuda::DeviceArray>()?;
    module.add_class::<dictionary::Dictionary>()?;
    module.add_class::<pages::Pages>()?;
    module.add_class::<seek::SeekableReader>()?;
    module.add_class::<stream::Compressor>()?;
    module.add_class::<stream::Decompressor>()?;
    module.add_function(wrap_pyfunction!(block::compress_block, module)?)?;
    module.add_function(wrap_pyfunction!(block::decompress_block, module)?)?;
    module.add_function(wrap_pyfunction!(block::compress_blocks, module)?)?;
    module.add_function(wrap_pyfunction!(block::decompress_blocks, module)?)?;
    module.add_function(wrap_pyfunction!(dictionary::train_dictionary, module)?)?;
    module.add_function(wrap_pyfunction!(frame::frame_info, module)?)?;
    module.add_function(wrap_pyfunction!(frame::frame_size, module)?)?;
    module.add_function(wrap_pyfunction!(threads::after_fork_in_child, module)?)?;
    Ok(())
}

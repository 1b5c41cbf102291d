//! Copies an array of bytes-to-bytes codec `numcodecs.lz4`: copy-array FROM TO. Its metadata stays, its chunks are decoded and encoded.

use std::path::PathBuf;
use std::sync::Arc;

use pagepress_zarrs as _;
use zarrs::array::{Array, ArrayBytes};
use zarrs::filesystem::FilesystemStore;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let [from, to] = arguments.as_slice() else {
        return Err("usage: copy-array FROM TO".into());
    };
    let source = Array::open(Arc::new(FilesystemStore::new(from)?), "/")?;
    let target = Array::new_with_metadata(
        Arc::new(FilesystemStore::new(to)?),
        "/",
        source.metadata().clone(),
    )?;
    target.store_metadata()?;
    let all = source.subset_all();
    let content: ArrayBytes<'static> = source.retrieve_array_subset(&all)?;
    target.store_array_subset(&all, content)?;
    Ok(())
}

//! Arrays in a folder: round trips, and damaged chunks.

use std::sync::Arc;

use pagepress::lz4::Level;
use pagepress_zarrs::PagepressLz4Codec;
use zarrs::array::{Array, ArrayBuilder, data_type};
use zarrs::filesystem::FilesystemStore;

#[test]
fn round_trip_and_damage() {
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(FilesystemStore::new(folder.path()).unwrap());
    let numbers: Vec<u32> = (0..10_000).map(|n| n / 3).collect();
    for level in [Level::Fast, Level::High, Level::Sequential] {
        let array = ArrayBuilder::new(vec![10_000], vec![1001], data_type::uint32(), 0_u32)
            .bytes_to_bytes_codecs(vec![Arc::new(PagepressLz4Codec::new(level))])
            .build(store.clone(), "/array")
            .unwrap();
        array.store_metadata().unwrap();
        let all = array.subset_all();
        array.store_array_subset(&all, numbers.clone()).unwrap();
        // The codec of the opened array is made from its metadata.
        let array = Array::open(store.clone(), "/array").unwrap();
        let back: Vec<u32> = array.retrieve_array_subset(&all).unwrap();
        assert_eq!(back, numbers);
    }
    let chunk = folder.path().join("array/c/3");
    let bytes = std::fs::read(&chunk).unwrap();
    let array = Array::open(store, "/array").unwrap();
    for damaged in [
        &bytes[..bytes.len() - 5],
        &bytes[..2],
        b"\xff\xff\xff\x7f\x00",
    ] {
        std::fs::write(&chunk, damaged).unwrap();
        let all = array.subset_all();
        assert!(array.retrieve_array_subset::<Vec<u32>>(&all).is_err());
        let first: Vec<u32> = array.retrieve_chunk(&[0]).unwrap();
        assert_eq!(first, numbers[..1001]);
    }
}

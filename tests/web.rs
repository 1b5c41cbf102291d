//! The asynchronous API in a real browser on WebGPU. `npm test -- browser` runs it in a window and in a worker.

#![cfg(all(feature = "wgpu", target_arch = "wasm32"))]
#![expect(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a test that cannot go on fails"
)]

mod common;

use std::ops::ControlFlow;

use common::pages;
use pagepress::Error;
use pagepress::batch::{BackendRequest, Codec, CodecOptions, gpu_available_async};
use pagepress::lz4::frame::FrameOptions;
use pagepress::lz4::{self, Level};
use pagepress_test_harness::wasm_bindgen_test;

/// Opens a codec on the browser's GPU, which is SwiftShader in tests.
async fn gpu() -> Codec {
    let options = CodecOptions {
        backend: BackendRequest::Wgpu,
        allow_software: true,
        ..CodecOptions::default()
    };
    Codec::new_async(options)
        .await
        .expect("these tests need a browser with WebGPU, as webdriver.json starts it")
}

#[wasm_bindgen_test]
async fn pages_are_those_of_the_cpu() {
    let mut codec = gpu().await;
    for page_size in [4096, 65_536] {
        let bytes = pages::mixed(5 * 65_536 + 123, 7);
        for level in [Level::Fast, Level::High] {
            let expected = lz4::compress_pages(&bytes, page_size, level).unwrap();
            let (packed, report) = codec
                .compress_pages_async(&bytes, page_size, level)
                .await
                .unwrap();
            assert_eq!(report.engine, "wgpu");
            assert!(packed == expected, "{page_size} {level:?} differs");
            let (back, report) = codec.decompress_pages_async(&packed).await.unwrap();
            assert_eq!(report.engine, "wgpu");
            assert!(back == bytes, "{page_size} {level:?} does not come back");
        }
    }
}

#[wasm_bindgen_test]
async fn a_frame_is_read_by_the_cpu() {
    let mut codec = gpu().await;
    let content = pages::text(300_001, 3);
    let go_on = |_| ControlFlow::Continue(());
    let (frame, report) = codec
        .compress_frame_async(&content, &FrameOptions::default(), go_on)
        .await
        .unwrap();
    assert_eq!(report.engine, "wgpu");
    assert!(lz4::frame::decompress(&frame, None).unwrap() == content);
    let (back, _) = codec
        .decompress_frame_async(&frame, None, go_on)
        .await
        .unwrap();
    assert!(back == content);
}

#[wasm_bindgen_test]
async fn a_broken_page_leaves_the_others_intact() {
    let mut codec = gpu().await;
    let bytes = pages::text(8 * 4096, 5);
    let mut packed = lz4::compress_pages(&bytes, 4096, Level::Fast).unwrap();
    let broken = packed.table[3];
    let start = usize::try_from(broken.offset).unwrap();
    packed.packed[start..][..broken.length as usize].fill(0xff);
    let ((back, status), _) = codec.decompress_pages_status_async(&packed).await.unwrap();
    for (page, error) in status.iter().enumerate() {
        let range = page * 4096..(page + 1) * 4096;
        assert_eq!(error.is_some(), page == 3, "page {page}");
        if page != 3 {
            assert!(back[range.clone()] == bytes[range], "page {page} differs");
        }
    }
    let error = codec.decompress_pages_async(&packed).await.unwrap_err();
    assert!(
        matches!(error, Error::CorruptPage { page: 3, .. }),
        "{error}"
    );
}

#[wasm_bindgen_test]
async fn software_adapters_are_taken_only_on_request() {
    assert!(!gpu_available_async().await);
    let codec = Codec::new_async(CodecOptions::default()).await.unwrap();
    assert!(codec.device().is_none());
    assert!(!codec.choice().rejected.is_empty());
}

/// The example of the document; only the path of the crate and the type of the error are changed.
mod process_data {
    use pagepress::gpu::GpuDevice;
    use wasm_bindgen::prelude::*;

    // In WASM context, use async API
    #[wasm_bindgen]
    pub async fn process_data(input: &[f32]) -> Result<Vec<f32>, JsValue> {
        let device = GpuDevice::new_async()
            .await
            .map_err(|e| JsValue::from_str(&String::from(e)))?;

        let mut output = vec![0.0; input.len()];
        device.relu_async(input, &mut output).await?;

        Ok(output)
    }
}

#[wasm_bindgen_test]
async fn the_documents_example_works() {
    let found = process_data::process_data(&[-1.0, 2.0]).await;
    match pagepress::gpu::GpuDevice::is_available_async().await {
        true => assert_eq!(found.unwrap(), [0.0, 2.0]),
        false => assert!(
            found
                .unwrap_err()
                .as_string()
                .unwrap()
                .contains("available")
        ),
    }
}

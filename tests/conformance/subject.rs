//! The engine under test.

use pagepress::batch::Codec;
#[cfg(cuda_engine)]
use pagepress::gpu::EngineChoice;
use pagepress::gpu::runtime::block_on;
use pagepress::gpu::{DeviceRequest, GpuDevice};

use crate::common::devices::shared;

/// Default amount of generated content for each page size and level, in pages of 4 KiB.
const DEFAULT_PAGES: usize = 256;

/// Page sizes that the kernels support.
pub const PAGE_SIZES: [u32; 5] = [4096, 8192, 16_384, 32_768, 65_536];

/// An engine opened in one way, and the amount of content to test it with.
pub struct Subject {
    pub name: &'static str,
    pub device: GpuDevice,
    pub codec: Codec,
    /// Bytes of generated pages for each page size and level.
    pub n_bytes: usize,
}

impl Subject {
    /// Opens the device of `request`, which may be a software adapter, for one `share`-th of the pages. Ends the
    /// running test as ignored if `request` is for CUDA and CUDA finds no GPU.
    pub fn open(name: &'static str, request: &DeviceRequest, share: usize) -> [Self; 1] {
        #[cfg(cuda_engine)]
        if request.engine == EngineChoice::Cuda {
            crate::common::cuda::need_cuda();
        }
        let request = DeviceRequest {
            allow_software: true,
            ..request.clone()
        };
        let device = block_on(shared(&request)).expect(
            "conformance needs a GPU, a software one will do: apt-get install mesa-vulkan-drivers, or set \
             VK_ICD_FILENAMES",
        );
        let pages = std::env::var("PAGEPRESS_CONFORMANCE_PAGES")
            .map(|text| text.parse().expect("a number of pages"));
        let n_bytes = pages.unwrap_or(DEFAULT_PAGES) * 4096 / share;
        let codec = Codec::with_device(device.clone()).expect("a codec");
        [Self {
            name,
            device,
            codec,
            n_bytes: n_bytes.max(4 * 65_536),
        }]
    }

    /// Returns true for the main way to open an engine, which is tested with more than the others.
    pub fn is_main(&self) -> bool {
        ["wgpu", "cuda"].contains(&self.name)
    }
}

//! The engine that the user requests.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use pagepress::batch::{BackendRequest, Codec, CodecOptions, Report};
use pagepress::lz4::Dictionary;

use crate::failure::Failure;

/// Minimum input for a GPU in automatic mode. Loading the driver and opening a GPU takes 0.1 to 0.5 s, in which two cores
/// process as much. The length of a pipe is unknown, and its throughput is below that of a few cores.
const AUTO_GPU_BYTES: u64 = 1 << 30;

#[derive(Debug, Args)]
pub struct EngineArguments {
    /// Engine to use. Auto selects a hardware GPU for files of 1 GiB and more where it is measured to be faster than the CPU
    #[arg(long, value_enum, default_value_t = Backend::Auto)]
    pub backend: Backend,
    /// Allow software adapters (lavapipe, SwiftShader, WARP) for --backend wgpu
    #[arg(long)]
    pub allow_software: bool,
    /// Use the adapter with this index in `pagepress devices`, for --backend cuda or wgpu
    #[arg(long, value_name = "INDEX")]
    pub adapter: Option<usize>,
    /// Put the last 65536 bytes of this file before each block, as lz4 -D does. `pagepress train` makes such files
    #[arg(short = 'D', long, value_name = "FILE")]
    pub dictionary: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Backend {
    Auto,
    Cpu,
    /// A GPU through Vulkan, Metal or DirectX 12
    Wgpu,
    /// An NVIDIA GPU through CUDA
    Cuda,
}

impl Backend {
    /// Returns true if the user requested a GPU.
    pub const fn forces_gpu(self) -> bool {
        matches!(self, Self::Wgpu | Self::Cuda)
    }
}

impl EngineArguments {
    /// Opens the engine for inputs of `n_bytes` in total, 0 if that is unknown.
    ///
    /// # Errors
    /// [`Failure::Open`] for the dictionary, [`Failure::Engine`].
    pub fn open(&self, n_bytes: u64) -> Result<Codec, Failure> {
        let backend = match self.backend {
            Backend::Auto if n_bytes < AUTO_GPU_BYTES => BackendRequest::Cpu,
            Backend::Auto => BackendRequest::Auto,
            Backend::Cpu => BackendRequest::Cpu,
            Backend::Wgpu => BackendRequest::Wgpu,
            Backend::Cuda => BackendRequest::Cuda,
        };
        let dictionary = self.dictionary.as_deref().map(read).transpose()?;
        Codec::new(CodecOptions {
            backend,
            allow_software: self.allow_software,
            adapter_index: self.adapter,
            dictionary: dictionary.map(|bytes| Dictionary::new(&bytes)),
            ..CodecOptions::default()
        })
        .map_err(|source| Failure::Engine { source })
    }
}

/// Reads a whole file.
///
/// # Errors
/// [`Failure::Open`].
pub fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    std::fs::read(path).map_err(|source| Failure::Open {
        input: path.display().to_string(),
        source,
    })
}

/// Describes the engine of `report`, with the reason if the choice was automatic.
pub fn describe(codec: &Codec, report: &Report) -> String {
    match report.engine {
        "cpu" if codec.options().backend == BackendRequest::Auto => {
            format!("the CPU ({})", report.reason)
        }
        "cpu" => "the CPU".to_owned(),
        engine => format!("{engine}: {}", codec.choice().adapter),
    }
}

//! The engine that the user asks for.

use clap::{Args, ValueEnum};
use pagepress::Result;
use pagepress::batch::{BackendRequest, Codec, CodecOptions, Report};

/// With less input than this, starting a GPU takes longer than the CPU takes for the work.
const AUTO_GPU_BYTES: u64 = 32 << 20;

#[derive(Debug, Args)]
pub struct EngineArguments {
    /// What does the work. Auto takes a hardware GPU where it is measured to be faster than the CPU
    #[arg(long, value_enum, default_value_t = Backend::Auto)]
    pub backend: Backend,
    /// Let --backend wgpu take a CPU that imitates a GPU
    #[arg(long)]
    pub allow_software: bool,
    /// Have --backend cuda or wgpu take this one of its GPUs in `pagepress devices`
    #[arg(long, value_name = "INDEX")]
    pub adapter: Option<usize>,
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
    /// Whether the user asked for a GPU by name.
    pub const fn forces_gpu(self) -> bool {
        matches!(self, Self::Wgpu | Self::Cuda)
    }
}

impl EngineArguments {
    /// Opens the engine for inputs of `n_bytes` in all, if that is known.
    pub fn open(&self, n_bytes: Option<u64>) -> Result<Codec> {
        let small = n_bytes.is_some_and(|n_bytes| n_bytes < AUTO_GPU_BYTES);
        let backend = match self.backend {
            Backend::Auto if small => BackendRequest::Cpu,
            Backend::Auto => BackendRequest::Auto,
            Backend::Cpu => BackendRequest::Cpu,
            Backend::Wgpu => BackendRequest::Wgpu,
            Backend::Cuda => BackendRequest::Cuda,
        };
        Codec::new(CodecOptions {
            backend,
            allow_software: self.allow_software,
            adapter_index: self.adapter,
            ..CodecOptions::default()
        })
    }
}

/// What did the work of `report`, and why where the user left the choice to us.
pub fn describe(codec: &Codec, report: &Report) -> String {
    match report.engine {
        "cpu" if codec.options().backend == BackendRequest::Auto => {
            format!("the CPU ({})", report.reason)
        }
        "cpu" => "the CPU".to_owned(),
        engine => format!("{engine}: {}", codec.choice().adapter),
    }
}

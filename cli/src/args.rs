//! The command line.

use std::path::PathBuf;

use crate::bench::BenchArguments;
use crate::engine::EngineArguments;
use crate::level::LevelRequest;
use crate::output::SparseMode;
use crate::range::{ContentRange, InputFormat};
use crate::train::{TRAIN_HELP, TrainArguments};
use clap::error::ErrorKind;
use clap::{Args, CommandFactory, Parser, Subcommand};
use pagepress::lz4::{MAX_BLOCK_SIZE, MAX_PAGE_SIZE, MIN_PAGE_SIZE};

const EXIT_CODES: &str = "Exit codes: 0 success, 1 at least one input failed, 2 wrong usage. A signal ends the command by its \
     default action, which shells report as 130 for an interrupt, 143 for a termination.";

/// Compresses and decompresses LZ4 files on any GPU and without one.
#[derive(Debug, Parser)]
#[command(name = "pagepress", version, after_help = EXIT_CODES)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

impl Arguments {
    /// Parses the arguments of this process; wrong usage ends it with exit code 2.
    pub fn of_process() -> Self {
        let arguments = Self::parse();
        if let Err(message) = arguments.check() {
            Self::command()
                .error(ErrorKind::ArgumentConflict, message)
                .exit();
        }
        arguments
    }

    /// Rejects arguments that exclude each other.
    fn check(&self) -> Result<(), &'static str> {
        let files = match &self.command {
            Command::Compress(arguments) => {
                let gpu_supports_it =
                    arguments.block_size.is_power_of_two() && arguments.block_size <= MAX_PAGE_SIZE;
                if arguments.engine.backend.forces_gpu() && !gpu_supports_it {
                    return Err(
                        "on a GPU --block-size must be 4096, 8192, 16384, 32768 or 65536; choose one of these or --backend cpu",
                    );
                }
                &arguments.files
            }
            Command::Decompress(arguments) => {
                if arguments.engine.dictionary.is_some() && arguments.format != InputFormat::Frame {
                    return Err("--dictionary applies to LZ4 frames; omit it or --format");
                }
                &arguments.files
            }
            Command::Devices | Command::Bench(_) | Command::Train(_) => return Ok(()),
            #[cfg(feature = "cuda-c")]
            Command::Cuda(_) => return Ok(()),
            #[cfg(feature = "cuda")]
            Command::Ptx(_) => return Ok(()),
        };
        if files.output.is_some() && files.inputs.len() > 1 {
            return Err(
                "-o OUT needs exactly one FILE; omit it to give each FILE its own output, or use -c to concatenate them",
            );
        }
        Ok(())
    }
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Compress files to .lz4 files, which every LZ4 program reads. Inputs are kept.
    #[command(visible_alias = "c", after_help = EXIT_CODES)]
    Compress(CompressArguments),
    /// Decompress .lz4 files of any LZ4 program. Inputs are kept.
    #[command(visible_alias = "d", after_help = EXIT_CODES)]
    Decompress(DecompressArguments),
    /// List CPUs and GPUs, and the one that --backend auto selects, with the reason
    #[command(after_help = EXIT_CODES)]
    Devices,
    /// Compress files in pages on one engine, verify the result, and time it
    #[command(after_help = EXIT_CODES)]
    Bench(BenchArguments),
    /// Train a dictionary on samples of small files or pages, which `lz4 -D` takes
    #[command(after_help = TRAIN_HELP)]
    Train(TrainArguments),
    /// Translate a kernel in CUDA C to WGSL, PTX, SPIR-V, MSL or HLSL, for GPUs of every kind
    #[cfg(feature = "cuda-c")]
    #[command(after_help = EXIT_CODES)]
    Cuda(crate::cuda::CudaArguments),
    /// Print a kernel of a WGSL file as PTX, for NVIDIA GPUs.
    #[cfg(feature = "cuda")]
    #[command(after_help = EXIT_CODES)]
    Ptx(crate::ptx::PtxArguments),
}

#[derive(Debug, Args)]
pub struct CompressArguments {
    #[command(flatten)]
    pub files: FileArguments,
    #[command(flatten)]
    pub engine: EngineArguments,
    /// Bytes of content in a block, 4096 to 4194304
    #[arg(long, value_name = "BYTES", default_value_t = 65_536, value_parser = block_size())]
    pub block_size: u32,
    /// Effort of the encoder
    #[arg(long, value_enum, default_value_t = LevelRequest::Auto)]
    pub level: LevelRequest,
    /// Make --level auto the same level, fast, on every engine, so that all write the same bytes
    #[arg(long)]
    pub deterministic: bool,
    /// Append an index of the blocks, with which --range reads only the blocks it needs. Other LZ4 programs skip it
    #[arg(long)]
    pub index: bool,
}

#[derive(Debug, Args)]
pub struct DecompressArguments {
    #[command(flatten)]
    pub files: FileArguments,
    #[command(flatten)]
    pub engine: EngineArguments,
    /// Fail instead of writing more than this many bytes for one input
    #[arg(long, value_name = "BYTES")]
    pub limit: Option<u64>,
    /// Decompress only this byte range of the content, and decode only the blocks that it needs. Reads less of a file
    /// that was compressed with --index
    #[arg(long, value_name = "OFFSET+LENGTH", conflicts_with_all = ["limit", "format"])]
    pub range: Option<ContentRange>,
    /// Write runs of zeros as holes (sparse files): by default in new files only, with this option also to standard
    /// output
    #[arg(long, overrides_with = "no_sparse")]
    pub sparse: bool,
    /// Write zeros like other bytes, without holes
    #[arg(long, overrides_with = "sparse")]
    pub no_sparse: bool,
    /// Format of the inputs. Blocks without a frame are read only if this names their format
    #[arg(long, value_enum, default_value_t = InputFormat::Frame)]
    pub format: InputFormat,
}

impl DecompressArguments {
    /// Returns the outputs that are written as sparse files.
    pub const fn sparse_mode(&self) -> SparseMode {
        match (self.sparse, self.no_sparse) {
            (true, _) => SparseMode::Everywhere,
            (false, true) => SparseMode::Never,
            (false, false) => SparseMode::NewFiles,
        }
    }
}

/// Arguments of both compress and decompress.
#[derive(Debug, Args)]
pub struct FileArguments {
    /// Input files; - is standard input
    #[arg(value_name = "FILE", default_value = "-")]
    pub inputs: Vec<PathBuf>,
    /// Output file, for one input; - is standard output [default: the input's name with .lz4 added or removed]
    #[arg(short, long, value_name = "OUT", conflicts_with = "stdout")]
    pub output: Option<PathBuf>,
    /// Write to standard output, one input after the other
    #[arg(short = 'c', long)]
    pub stdout: bool,
    /// Overwrite outputs, and write compressed data to a terminal
    #[arg(short, long)]
    pub force: bool,
    /// Print nothing unless something fails
    #[arg(short, long)]
    pub quiet: bool,
}

fn block_size() -> clap::builder::RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(i64::from(MIN_PAGE_SIZE)..=i64::from(MAX_BLOCK_SIZE))
}

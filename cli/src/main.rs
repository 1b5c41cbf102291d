//! The `pagepress` command: LZ4 files, interchangeable with those of `lz4`, on any engine.

#[cfg(not(target_arch = "wasm32"))]
mod args;
#[cfg(not(target_arch = "wasm32"))]
mod bench;
#[cfg(not(target_arch = "wasm32"))]
mod convert;
#[cfg(all(feature = "cuda-c", not(target_arch = "wasm32")))]
mod cuda;
#[cfg(not(target_arch = "wasm32"))]
mod devices;
#[cfg(not(target_arch = "wasm32"))]
mod end_to_end;
#[cfg(not(target_arch = "wasm32"))]
mod engine;
#[cfg(not(target_arch = "wasm32"))]
mod failure;
#[cfg(not(target_arch = "wasm32"))]
mod input;
#[cfg(not(target_arch = "wasm32"))]
mod level;
#[cfg(not(target_arch = "wasm32"))]
mod output;
#[cfg(not(target_arch = "wasm32"))]
mod progress;
#[cfg(all(feature = "cuda", not(target_arch = "wasm32")))]
mod ptx;
#[cfg(not(target_arch = "wasm32"))]
mod range;
#[cfg(all(any(feature = "wgpu", feature = "cuda"), not(target_arch = "wasm32")))]
mod resident;
#[cfg(not(target_arch = "wasm32"))]
mod signals;
#[cfg(not(target_arch = "wasm32"))]
mod speeds;
#[cfg(not(target_arch = "wasm32"))]
mod startup;
#[cfg(not(target_arch = "wasm32"))]
mod train;

#[cfg(not(target_arch = "wasm32"))]
fn main() -> std::process::ExitCode {
    use args::{Arguments, Command};
    use std::process::ExitCode;

    let arguments = Arguments::of_process();
    silence_default_adapter_layer();
    signals::ignore_file_size_limit();
    let all_done = match arguments.command {
        Command::Compress(arguments) => convert::compress_files(&arguments),
        Command::Decompress(arguments) => convert::decompress_files(&arguments),
        Command::Devices => devices::print().map_err(|failure| failure.report()).is_ok(),
        Command::Bench(arguments) => bench::run(&arguments),
        Command::Train(arguments) => train::run(&arguments)
            .map_err(|failure| failure.report())
            .is_ok(),
        #[cfg(feature = "cuda-c")]
        Command::Cuda(arguments) => cuda::print(&arguments)
            .map_err(|failure| failure.report())
            .is_ok(),
        #[cfg(feature = "cuda")]
        Command::Ptx(arguments) => ptx::print(&arguments)
            .map_err(|failure| failure.report())
            .is_ok(),
    };
    if all_done {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Disables Mesa's Vulkan layer that selects a default adapter: it connects to a display server and complains on
/// standard error where there is none, as over ssh. Adapters are chosen here anyway.
#[cfg(not(target_arch = "wasm32"))]
fn silence_default_adapter_layer() {
    // SAFETY: no other thread runs yet that could read the environment.
    unsafe { std::env::set_var("NODEVICE_SELECT", "1") };
}

/// In a browser there is the library, but no command.
#[cfg(target_arch = "wasm32")]
fn main() {}

//! `cuda`: translates a kernel in CUDA C to WGSL, PTX, SPIR-V, MSL or HLSL.

use std::io::{Read, Write};
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use cuda_c::{CompiledCuda, CudaOptions, compile_cuda, kernels};

use crate::failure::Failure;
use crate::input::Input;
use crate::output::{Output, SparseMode, stdout_is_terminal};

#[derive(Debug, Args)]
pub struct CudaArguments {
    /// CUDA source; - is standard input
    #[arg(value_name = "FILE")]
    pub input: PathBuf,
    /// The kernel: a __global__ function or an instantiation such as "scale<float, 4>"; may be omitted if it is the only one
    #[arg(long, value_name = "NAME")]
    pub entry: Option<String>,
    /// Threads per block along x, y and z
    #[arg(long, value_name = "X[,Y[,Z]]", default_value = "256", value_parser = block)]
    pub block: [u32; 3],
    /// Language of the output
    #[arg(long, value_enum, default_value_t = Language::Wgsl)]
    pub emit: Language,
    /// Define a macro; may be repeated
    #[arg(short = 'D', value_name = "NAME[=VALUE]", value_parser = definition)]
    pub defines: Vec<(String, String)>,
    /// Bytes of dynamic shared memory
    #[arg(long, value_name = "BYTES", default_value_t = 0)]
    pub shared: u32,
    /// Treat double as float
    #[arg(long)]
    pub narrow_f64: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Language {
    Wgsl,
    Ptx,
    Spirv,
    Msl,
    Hlsl,
}

fn block(text: &str) -> Result<[u32; 3], String> {
    let mut block = [1; 3];
    let parts: Vec<&str> = text.split(',').collect();
    if parts.len() > 3 {
        return Err("expected X, X,Y or X,Y,Z".to_owned());
    }
    for (size, part) in block.iter_mut().zip(parts) {
        *size = part
            .parse()
            .ok()
            .filter(|n| *n > 0)
            .ok_or_else(|| format!("{part:?} is not a number of threads"))?;
    }
    Ok(block)
}

fn definition(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').unwrap_or((text, "1"));
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if !is_name {
        return Err(format!(
            "{name:?} is not a name; expected NAME or NAME=VALUE"
        ));
    }
    Ok((name.to_owned(), value.to_owned()))
}

/// Formats an error with its line of the source and a caret.
fn located(input: &str, source: &str, error: &cuda_c::Error) -> Failure {
    let space = if error.line == 0 { " " } else { "" };
    let message = format!("{input}:{space}{}", error.with_line(source));
    Failure::Kernel { message }
}

/// Prints the translated kernel.
pub fn print(arguments: &CudaArguments) -> Result<(), Failure> {
    let mut input = Input::open(&arguments.input)?;
    let name = input.name.clone();
    let mut source = String::new();
    input
        .file
        .read_to_string(&mut source)
        .map_err(|error| Failure::Read {
            input: name.clone(),
            source: error,
        })?;
    let defines: Vec<(&str, &str)> = arguments
        .defines
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    let entry = match &arguments.entry {
        Some(entry) => entry.clone(),
        None => only_kernel(&name, &source, &defines)?,
    };
    let options = CudaOptions::new(&entry)
        .block(arguments.block)
        .shared_bytes(arguments.shared)
        .defines(&defines)
        .narrow_f64(arguments.narrow_f64)
        .float16(true)
        // WebGPU has none.
        .int64(arguments.emit != Language::Wgsl)
        // PTX has subgroups of 32.
        .subgroups(arguments.emit == Language::Ptx);
    let compiled =
        compile_cuda(&source, &options).map_err(|error| located(&name, &source, &error))?;
    if arguments.emit == Language::Spirv && stdout_is_terminal() {
        return Err(Failure::Kernel {
            message: "standard output is a terminal, and SPIR-V is binary; redirect it".to_owned(),
        });
    }
    let bytes = written(&compiled, arguments.emit).map_err(|message| Failure::Kernel {
        message: format!("{name}: {message}"),
    })?;
    let mut output = Output::stdout(SparseMode::Never)?;
    output.write_all(&bytes).map_err(Failure::stdout)?;
    output.commit(None)
}

/// Returns the name of the only kernel; else the error lists the kernels.
fn only_kernel(input: &str, source: &str, defines: &[(&str, &str)]) -> Result<String, Failure> {
    let found = kernels(source, defines).map_err(|error| located(input, source, &error))?;
    if let [only] = &found[..]
        && only.template.is_empty()
    {
        return Ok(only.name.clone());
    }
    let list = |kernel: &cuda_c::KernelSignature| match &kernel.template[..] {
        [] => format!("\n{input}:{}: {}", kernel.line, kernel.name),
        template => format!(
            "\n{input}:{}: {}<{}>",
            kernel.line,
            kernel.name,
            template.join(", ")
        ),
    };
    let listed: String = found.iter().map(list).collect();
    let message = match found.len() {
        0 => format!("{input} has no __global__ function"),
        n => format!("{input} has {n} kernels; select one with --entry:{listed}"),
    };
    Err(Failure::Kernel { message })
}

fn written(compiled: &CompiledCuda, language: Language) -> Result<Vec<u8>, String> {
    let text = match language {
        Language::Wgsl => compiled.wgsl(),
        Language::Msl => compiled.msl(),
        Language::Hlsl => compiled.hlsl(),
        Language::Spirv => {
            let words = compiled.spirv().map_err(|error| error.message)?;
            return Ok(words.iter().flat_map(|word| word.to_le_bytes()).collect());
        }
        Language::Ptx => compiled.ptx(),
    };
    text.map(String::into_bytes).map_err(|error| error.message)
}

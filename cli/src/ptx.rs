//! `ptx`: compiles a kernel of a WGSL file to PTX.

use std::io::{Read, Write};
use std::path::PathBuf;

use clap::Args;
use pagepress::ptx::{Bounds, PtxOptions, compile_wgsl};

use crate::failure::Failure;
use crate::input::Input;
use crate::output::{Output, SparseMode};

#[derive(Debug, Args)]
pub struct PtxArguments {
    /// WGSL source; - is standard input
    #[arg(value_name = "FILE")]
    pub input: PathBuf,
    /// The @compute function to compile
    #[arg(long, value_name = "NAME")]
    pub entry: String,
    /// Compute capability times ten of the oldest GPU to support
    #[arg(long, value_name = "SM", default_value_t = 75, value_parser = clap::value_parser!(u32).range(70..=999))]
    pub sm: u32,
    /// Value of an override constant; may be repeated
    #[arg(long = "override", value_name = "NAME=VALUE", value_parser = override_constant)]
    pub overrides: Vec<(String, f64)>,
    /// Omit bounds checks, for a source whose indices are always in bounds
    #[arg(long)]
    pub unchecked: bool,
}

fn override_constant(text: &str) -> Result<(String, f64), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE")?;
    let number = match value {
        "true" => 1.0,
        "false" => 0.0,
        value => value
            .parse()
            .map_err(|_| format!("{value:?} is not a number, true or false"))?,
    };
    Ok((name.to_owned(), number))
}

/// Prints the compiled module.
pub fn print(arguments: &PtxArguments) -> Result<(), Failure> {
    let mut input = Input::open(&arguments.input)?;
    let name = input.name.clone();
    let mut wgsl = String::new();
    input
        .file
        .read_to_string(&mut wgsl)
        .map_err(|source| Failure::Read {
            input: name.clone(),
            source,
        })?;
    let overrides: Vec<(&str, f64)> = arguments
        .overrides
        .iter()
        .map(|(name, value)| (name.as_str(), *value))
        .collect();
    let options = PtxOptions {
        overrides: &overrides,
        sm: arguments.sm,
        bounds: if arguments.unchecked {
            Bounds::Unchecked
        } else {
            Bounds::Clamp
        },
        ..PtxOptions::new(&arguments.entry)
    };
    let compiled = compile_wgsl(&wgsl, &options).map_err(|error| Failure::Codec {
        input: name,
        source: error.into(),
    })?;
    let mut output = Output::stdout(SparseMode::Never)?;
    let written = output.write_all(compiled.text.as_bytes());
    written.map_err(Failure::stdout)?;
    output.commit(None)
}

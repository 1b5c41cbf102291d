//! `train`: makes a dictionary from samples.

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use pagepress::Error;
use pagepress::lz4::{MAX_PAGE_SIZE, train_dictionary};

use crate::failure::Failure;
use crate::input::{Input, is_dash};
use crate::output::{Output, SparseMode, stdout_is_terminal};

pub const TRAIN_HELP: &str = "\
Example: small files, compressed with what they share
  pagepress train records/*.json -o records.dict
  lz4 -D records.dict new.json
  lz4 -d -D records.dict new.json.lz4

Samples of a hundred times the dictionary's bytes are enough. The dictionary has parts of the samples: it is as secret as they are.";

/// Most bytes that are read: one more than the trainer takes.
const MOST_BYTES: u64 = (1 << 32) + 1;

#[derive(Debug, Args)]
pub struct TrainArguments {
    /// Files of samples; - is standard input
    #[arg(value_name = "FILE", required = true)]
    inputs: Vec<PathBuf>,
    /// The dictionary; - is standard output
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
    /// Bytes of the dictionary, 1 to 65536
    #[arg(long, value_name = "BYTES", default_value_t = MAX_PAGE_SIZE, value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_PAGE_SIZE)))]
    size: u32,
    /// Cut each file into samples of so many bytes, 8 to 65536, such as pages [default: each file is a sample; one above 65536 bytes is cut]
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u32).range(8..=i64::from(MAX_PAGE_SIZE)))]
    sample: Option<u32>,
    /// Overwrite the output, and write a dictionary to a terminal
    #[arg(short, long)]
    force: bool,
    /// Print nothing unless something fails
    #[arg(short, long)]
    quiet: bool,
}

/// Writes the dictionary.
pub fn run(arguments: &TrainArguments) -> Result<(), Failure> {
    let begin = Instant::now();
    let mut output = create_output(arguments)?;
    let mut files = Vec::new();
    let mut room = MOST_BYTES;
    for path in &arguments.inputs {
        let content = read(path, room)?;
        room -= content.len() as u64;
        files.push(content);
    }
    let name = match arguments.inputs.as_slice() {
        [input] => input.display().to_string(),
        inputs => format!("{} files", inputs.len()),
    };
    let fail = |source| Failure::Codec {
        input: name.clone(),
        source,
    };
    let samples = cut(&files, arguments.sample.unwrap_or(MAX_PAGE_SIZE)).map_err(fail)?;
    let dictionary = train_dictionary(&samples, arguments.size as usize).map_err(fail)?;
    let output_name = output.name.clone();
    let written = output.write_all(dictionary.as_bytes());
    written.map_err(|source| Failure::Write {
        output: output_name.clone(),
        source,
    })?;
    output.commit(None)?;
    if !arguments.quiet {
        let (n_bytes, n_samples) = (MOST_BYTES - room, samples.len());
        let (size, seconds) = (dictionary.as_bytes().len(), begin.elapsed().as_secs_f64());
        // The output is complete, whether or not this message can be written.
        let _ = writeln!(
            io::stderr(),
            "{name} -> {output_name}: {n_bytes} bytes in {n_samples} samples -> {size} bytes in {seconds:.2} s"
        );
    }
    Ok(())
}

/// Prepares the output before the work, so that a wrong name fails at once.
fn create_output(arguments: &TrainArguments) -> Result<Output, Failure> {
    if !is_dash(&arguments.output) {
        let inputs: Vec<&Path> = arguments.inputs.iter().map(PathBuf::as_path).collect();
        let (path, force) = (&arguments.output, arguments.force);
        return Output::create(path, &inputs, force, false, SparseMode::Never);
    }
    if stdout_is_terminal() && !arguments.force {
        return Err(Failure::TerminalOutput);
    }
    Output::stdout(SparseMode::Never)
}

/// Returns samples of at most `n_bytes`.
fn cut(files: &[Vec<u8>], n_bytes: u32) -> Result<Vec<&[u8]>, Error> {
    let parts = |file: &Vec<u8>| file.len().div_ceil(n_bytes as usize);
    let n_samples: usize = files.iter().map(parts).sum();
    let requested = n_samples as u64 * size_of::<&[u8]>() as u64;
    let mut samples = Vec::new();
    let reserved = samples.try_reserve_exact(n_samples);
    reserved.map_err(|_| Error::OutOfMemory { requested })?;
    samples.extend(files.iter().flat_map(|file| file.chunks(n_bytes as usize)));
    Ok(samples)
}

/// Returns the content of a file, of which at most `room` bytes are read.
fn read(path: &Path, room: u64) -> Result<Vec<u8>, Failure> {
    let input = Input::open(path)?;
    let mut content = Vec::new();
    let read = input.file.take(room).read_to_end(&mut content);
    let checked = read.and_then(|n| match input.opened {
        Some(opened) => opened.check_length(Some(n as u64)),
        None => Ok(()),
    });
    checked.map_err(|source| Failure::Read {
        input: input.name,
        source,
    })?;
    Ok(content)
}

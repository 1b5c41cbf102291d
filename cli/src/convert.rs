//! `compress` and `decompress`: converts one input after the other, each to its output.

use std::ffi::OsStr;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pagepress::batch::{Codec, Progress};
use pagepress::lz4::frame::{FrameOptions, StreamError};

use crate::args::{CompressArguments, DecompressArguments, FileArguments};
use crate::engine::{self, EngineArguments};
use crate::failure::Failure;
use crate::input::{Input, is_dash, stdin_is_terminal};
use crate::output::{Output, SparseMode, stdout_is_terminal};
use crate::progress::Bar;
use crate::range::{self, InputFormat};

const SUFFIX: &str = "lz4";
/// Name of the engine of work that is never offered to a GPU.
const CPU: &str = "the CPU";

/// Compresses all inputs; returns false if one failed.
pub fn compress_files(arguments: &CompressArguments) -> bool {
    let files = &arguments.files;
    for_each_input(files, &arguments.engine, |codec, path| {
        let output = compressed_path(files, path);
        if output.is_none() && stdout_is_terminal() && !files.force {
            return Err(Failure::TerminalOutput);
        }
        let options = FrameOptions {
            block_size: arguments.block_size,
            level: arguments.level.resolve(codec, arguments.deterministic),
            index: arguments.index,
            ..FrameOptions::default()
        };
        let target = (output.as_deref(), SparseMode::Never);
        convert(files, path, target, |input, output, progress| {
            let (total, report) = codec.compress_stream(input.file, output, &options, progress)?;
            Ok((total, engine::describe(codec, &report)))
        })
    })
}

/// Decompresses all inputs; returns false if one failed.
pub fn decompress_files(arguments: &DecompressArguments) -> bool {
    let files = &arguments.files;
    for_each_input(files, &arguments.engine, |codec, path| {
        if is_dash(path) && stdin_is_terminal() {
            return Err(Failure::TerminalInput);
        }
        if arguments.range.is_some() && is_dash(path) {
            return Err(Failure::RangeOfStream);
        }
        let output = decompressed_path(files, path)?;
        let target = (output.as_deref(), arguments.sparse_mode());
        convert(files, path, target, |mut input, output, progress| {
            if let Some(part) = arguments.range {
                let dictionary = codec.options().dictionary.clone();
                return Ok((
                    range::copy(input, part, dictionary, output)?,
                    CPU.to_owned(),
                ));
            }
            let limit = arguments.limit;
            if arguments.format != InputFormat::Frame {
                let format = arguments.format.into();
                let done = range::decompress_block(&mut input, output, format, limit)?;
                return Ok((done, CPU.to_owned()));
            }
            let (total, report) = codec.decompress_stream(input.file, output, limit, progress)?;
            Ok((total, engine::describe(codec, &report)))
        })
    })
}

/// Converts every input on one engine, even if others fail.
fn for_each_input(
    files: &FileArguments,
    engine: &EngineArguments,
    convert: impl Fn(&mut Codec, &Path) -> Result<(), Failure>,
) -> bool {
    let mut codec = match engine.open(total_length(&files.inputs).unwrap_or(0)) {
        Ok(codec) => codec,
        Err(failure) => {
            failure.report();
            return false;
        }
    };
    let mut all_done = true;
    for path in &files.inputs {
        if let Err(failure) = convert(&mut codec, path) {
            failure.report();
            all_done = false;
        }
    }
    all_done
}

/// Returns the bytes of all inputs, if they are files.
fn total_length(inputs: &[PathBuf]) -> Option<u64> {
    let lengths = inputs.iter().map(|path| match path.metadata() {
        Ok(metadata) if metadata.is_file() => Some(metadata.len()),
        // A missing input is reported when it is opened.
        Err(_) if !is_dash(path) => Some(0),
        _ => None,
    });
    lengths.sum()
}

/// Runs `stream` from the input at `path` to an output; `None` is standard output.
fn convert(
    files: &FileArguments,
    path: &Path,
    (output, holes): (Option<&Path>, SparseMode),
    stream: impl FnOnce(
        Input,
        &mut Output,
        &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<(Progress, String), StreamError>,
) -> Result<(), Failure> {
    let mut input = Input::open(path)?;
    let opened = input.opened.take();
    let mut output = match output {
        Some(output) => {
            let private = input.metadata.is_some();
            Output::create(output, &[path], files.force, private, holes)?
        }
        None => Output::stdout(holes)?,
    };
    let (name, metadata) = (input.name.clone(), input.metadata.clone());
    let mut bar = Bar::new(&name, input.length(), files.quiet);
    let result = stream(input, &mut output, &mut |progress| {
        bar.set(progress.bytes_in);
        ControlFlow::Continue(())
    });
    let elapsed = bar.finish();
    if let Some(opened) = opened {
        let n_read = result.as_ref().ok().map(|(total, _)| total.bytes_in);
        let checked = opened.check_length(n_read);
        checked.map_err(|source| Failure::Read {
            input: name.clone(),
            source,
        })?;
    }
    let (total, engine) =
        result.map_err(|error| Failure::from_stream(error, &name, &output.name))?;
    let output_name = output.name.clone();
    output.commit(metadata.as_ref())?;
    if !files.quiet {
        let line = summary(&name, &output_name, total, elapsed, &engine);
        // The output is complete, whether or not this message can be written.
        let _ = writeln!(io::stderr(), "{line}");
    }
    Ok(())
}

/// Formats the result of one input as a line.
fn summary(input: &str, output: &str, total: Progress, elapsed: Duration, engine: &str) -> String {
    let Progress {
        bytes_in,
        bytes_out,
    } = total;
    let smaller = bytes_in.min(bytes_out).max(1);
    let ratio = bytes_in.max(bytes_out) as f64 / smaller as f64;
    let seconds = elapsed.as_secs_f64();
    format!(
        "{input} -> {output}: {bytes_in} -> {bytes_out} bytes ({ratio:.3}x) in {seconds:.2} s on {engine}"
    )
}

/// Returns the path of the compressed form of `input`; `None` is standard output.
fn compressed_path(files: &FileArguments, input: &Path) -> Option<PathBuf> {
    explicit_path(files, input).unwrap_or_else(|| {
        let mut name = input.as_os_str().to_owned();
        name.push(".");
        name.push(SUFFIX);
        Some(name.into())
    })
}

/// Returns the path of the content of `input`; `None` is standard output.
fn decompressed_path(files: &FileArguments, input: &Path) -> Result<Option<PathBuf>, Failure> {
    if let Some(path) = explicit_path(files, input) {
        return Ok(path);
    }
    if input.extension() == Some(OsStr::new(SUFFIX)) {
        return Ok(Some(input.with_extension("")));
    }
    Err(Failure::NoSuffix {
        input: input.display().to_string(),
    })
}

/// Returns the output that the user named, if any; the inner `None` is standard output.
fn explicit_path(files: &FileArguments, input: &Path) -> Option<Option<PathBuf>> {
    match &files.output {
        Some(output) => Some((!is_dash(output)).then(|| output.clone())),
        None if files.stdout || is_dash(input) => Some(None),
        None => None,
    }
}

//! Errors of one file: the message has its name and the remedy.

use std::io::{self, Write};

use pagepress::Error;
use pagepress::lz4::frame::{DetectedFormat, StreamError};

use crate::signals;

/// The reason why a file was not converted. Inputs and outputs have the names that the user gave.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    #[error("{input}: {source}")]
    Open { input: String, source: io::Error },
    #[error("{input} is a directory; name the files in it")]
    Directory { input: String },
    #[error("standard input is a terminal; name a FILE or redirect standard input")]
    TerminalInput,
    #[error(
        "standard output is a terminal; redirect it, name the output with -o OUT, or use -f to write compressed data there"
    )]
    TerminalOutput,
    #[error("--range needs random access, which standard input lacks; name a FILE")]
    RangeOfStream,
    #[error("{input} does not end in .lz4; name the output with -o OUT or use -c")]
    NoSuffix { input: String },
    #[error("{output} exists; use -f to overwrite it")]
    Exists { output: String },
    #[error("{output} is a directory; name a file with -o OUT")]
    DirectoryOutput { output: String },
    #[error("{output} is also the input; name another output")]
    SameFile { output: String },
    #[error("reading {input}: {source}")]
    Read { input: String, source: io::Error },
    #[error("writing {output}: {source}{}", write_remedy(.source))]
    Write { output: String, source: io::Error },
    #[error("{input}: {source}{}", remedy(.source))]
    Codec { input: String, source: Error },
    #[error("{source}{}", engine_remedy(.source))]
    Engine { source: Error },
    #[error(
        "{input}: {engine} gave wrong output; please report this with the file and the output of `pagepress devices`"
    )]
    Unverified { input: String, engine: &'static str },
    #[cfg(feature = "cuda-c")]
    #[error("{message}")]
    Kernel { message: String },
    #[error("cannot start a thread: {0}")]
    Thread(io::Error),
}

impl Failure {
    /// Returns the error of a write to standard output.
    pub fn stdout(source: io::Error) -> Self {
        Self::Write {
            output: "standard output".to_owned(),
            source,
        }
    }

    /// Returns the error of a stream between two named files.
    pub fn from_stream(error: StreamError, input: &str, output: &str) -> Self {
        let (input, output) = (input.to_owned(), output.to_owned());
        match error {
            StreamError::Read(source) => Self::Read { input, source },
            StreamError::Write(source) => Self::Write { output, source },
            StreamError::Codec(source) => Self::Codec { input, source },
            StreamError::Thread(source) => Self::Thread(source),
            other => Self::Thread(io::Error::other(other)),
        }
    }

    /// Prints the error. If the reader of standard output is gone, SIGPIPE ends the process instead.
    pub fn report(&self) {
        if matches!(self, Self::Write { source, .. } if source.kind() == io::ErrorKind::BrokenPipe)
        {
            signals::end_by_broken_pipe();
        }
        // If standard error is closed too, there is no place to report it.
        let _ = writeln!(io::stderr(), "pagepress: {self}");
    }
}

fn write_remedy(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::StorageFull => "; free some space, or write elsewhere with -o OUT",
        io::ErrorKind::PermissionDenied => "; write elsewhere with -o OUT",
        _ => "",
    }
}

fn engine_remedy(error: &Error) -> &'static str {
    match error {
        Error::BackendUnavailable { .. } => "; see `pagepress devices`, or use --backend auto",
        _ => "; try --backend cpu",
    }
}

fn remedy(error: &Error) -> &'static str {
    match error {
        Error::NotLz4 {
            detected: DetectedFormat::Unknown,
            ..
        } => {
            "; use `pagepress compress` to compress it, or --format if it is an LZ4 block without a frame"
        }
        Error::TruncatedFrame { .. } => "; the file is incomplete: fetch it again",
        Error::CorruptPage { .. }
        | Error::ChecksumMismatch { .. }
        | Error::ContentSizeMismatch { .. }
        | Error::InvalidFrame { .. } => "; the file is damaged: fetch it again",
        Error::DeviceLost { .. } | Error::OutOfMemory { .. } => "; try --backend cpu",
        Error::OutputLimit { .. } => "; raise --limit if you trust the file",
        Error::DictionaryNeeded { .. } | Error::WrongDictionary { .. } => ": -D FILE",
        _ => "",
    }
}

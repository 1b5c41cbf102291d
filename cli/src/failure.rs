//! What can go wrong with one file, told with the file's name and what to do.

use std::io::{self, Write};

use pagepress::Error;
use pagepress::lz4::frame::{DetectedFormat, StreamError};

use crate::signals;

/// Why a file was not converted. Inputs and outputs go by the names that the user gave.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    #[error("{input}: {source}")]
    Open { input: String, source: io::Error },
    #[error("{input} is a directory; give the files in it")]
    Directory { input: String },
    #[error(
        "cannot read a compressed file from a terminal; give a FILE or redirect standard input"
    )]
    TerminalInput,
    #[error(
        "will not write compressed data to a terminal; redirect it, give -o OUT, or force it with -f"
    )]
    TerminalOutput,
    #[error("--range needs a file that can be read at any place; give a FILE")]
    RangeOfStream,
    #[error("{input} does not end in .lz4; name the output with -o OUT or give -c")]
    NoSuffix { input: String },
    #[error("{output} exists; give -f to overwrite it")]
    Exists { output: String },
    #[error("{output} is a directory; give -o a file")]
    DirectoryOutput { output: String },
    #[error("{output} is the input too; choose another output")]
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
        "{input}: the output of {engine} is wrong; please report this with the file and `pagepress devices`"
    )]
    Unverified { input: String, engine: &'static str },
    #[error("{0}")]
    Thread(io::Error),
    #[error("cannot start: {source}")]
    Start { source: io::Error },
}

impl Failure {
    /// A failure to write to standard output.
    pub fn stdout(source: io::Error) -> Self {
        Self::Write {
            output: "standard output".to_owned(),
            source,
        }
    }

    /// A failure of a stream between two named places.
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

    /// Prints the failure. If the reader of our output has gone, SIGPIPE ends the process instead.
    pub fn report(&self) {
        if matches!(self, Self::Write { source, .. } if source.kind() == io::ErrorKind::BrokenPipe)
        {
            signals::end_by_broken_pipe();
        }
        // Without standard error there is nobody to tell.
        let _ = writeln!(io::stderr(), "pagepress: {self}");
    }
}

fn write_remedy(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::StorageFull => "; free some space or write elsewhere with -o OUT",
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
            "; to make an LZ4 file of it, use `pagepress compress`; if it is an LZ4 block without a frame, give --format"
        }
        Error::TruncatedFrame { .. } => "; the file is incomplete, get it again",
        Error::CorruptPage { .. }
        | Error::ChecksumMismatch { .. }
        | Error::ContentSizeMismatch { .. }
        | Error::InvalidFrame { .. } => "; the file is damaged, get it again",
        Error::DeviceLost { .. } | Error::OutOfMemory { .. } => "; try --backend cpu",
        Error::OutputLimit { .. } => " (--limit)",
        _ => "",
    }
}

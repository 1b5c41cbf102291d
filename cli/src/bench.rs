//! `bench`: verifies one engine on the user's files, then times it.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use pagepress::batch::Codec;
use pagepress::lz4::frame::FrameOptions;
use pagepress::lz4::{self, Level};
use serde_json::{Value, json};

use crate::end_to_end;
use crate::engine::{self, EngineArguments};
use crate::failure::Failure;
use crate::level::LevelRequest;
use crate::output::{Output, SparseMode};
#[cfg(any(feature = "wgpu", feature = "cuda"))]
use crate::resident;
use crate::speeds::{Resident, Speeds};

#[derive(Debug, Args)]
pub struct BenchArguments {
    /// Files to compress in pages
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    #[command(flatten)]
    engine: EngineArguments,
    /// Bytes of a page: 4096, 8192, 16384, 32768 or 65536
    #[arg(long, value_name = "BYTES", default_value_t = 4096)]
    page_size: u32,
    /// Bytes of content of a block of frames, 4096 to 4194304 [default: those of a page]
    #[arg(long, value_name = "BYTES")]
    block_size: Option<u32>,
    /// Leave the checksum of the content out of frames
    #[arg(long)]
    no_content_checksum: bool,
    /// Effort of the encoder
    #[arg(long, value_enum, default_value_t = LevelRequest::Fast)]
    level: LevelRequest,
    /// Also time the kernels on pages that stay in GPU memory
    #[arg(long)]
    resident: bool,
    /// Repeat a smaller file up to this many bytes of resident pages [default: 1 GiB; the file once on a software
    /// adapter]
    #[arg(long, value_name = "BYTES", requires = "resident")]
    resident_bytes: Option<u64>,
    /// Number of timed runs; the median is reported
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    /// Print one JSON object per line
    #[arg(long)]
    json: bool,
}

impl BenchArguments {
    fn level(&self, codec: &Codec) -> Level {
        self.level.resolve(codec, false)
    }

    fn frame(&self, codec: &Codec) -> FrameOptions {
        FrameOptions {
            block_size: self.block_size.unwrap_or(self.page_size),
            level: self.level(codec),
            content_checksum: !self.no_content_checksum,
            dictionary: codec.options().dictionary.clone(),
            ..FrameOptions::default()
        }
    }
}

/// Benchmarks every file; returns false if one failed.
pub fn run(arguments: &BenchArguments) -> bool {
    let mut codec = match arguments.engine.open(u64::MAX) {
        Ok(codec) => codec,
        Err(failure) => {
            failure.report();
            return false;
        }
    };
    let mut all_done = true;
    for path in &arguments.files {
        if let Err(failure) = bench_file(&mut codec, arguments, path) {
            failure.report();
            all_done = false;
        }
    }
    all_done
}

fn bench_file(codec: &mut Codec, arguments: &BenchArguments, path: &Path) -> Result<(), Failure> {
    let name = path.display().to_string();
    let bytes = engine::read(path)?;
    let fail = |source| Failure::Codec {
        input: name.clone(),
        source,
    };
    let verified = verify(codec, arguments, &bytes, &name)?;
    let (level, frame) = (arguments.level(codec), arguments.frame(codec));
    let mut run = end_to_end::Run {
        codec,
        bytes: &bytes,
        page_size: arguments.page_size,
        level,
        frame: frame.clone(),
        runs: arguments.runs,
    };
    let end_to_end = run.measure().map_err(fail)?;
    let resident = time_resident(codec, arguments, &bytes, &name)?;
    let mut line = json!({
        "file": name,
        "n_bytes": bytes.len(),
        "page_size": arguments.page_size,
        "block_size": frame.block_size,
        "content_checksum": frame.content_checksum,
        "engine": verified.engine,
        "adapter": codec.choice().adapter,
        "level": format!("{level:?}").to_lowercase(),
        "dictionary_bytes": dictionary_bytes(codec),
        "ratio": rounded(verified.ratio),
        "n_pages": verified.n_pages,
        "n_identical_pages": verified.n_identical_pages,
        "resident_bytes": resident.n_bytes,
        "runs": arguments.runs,
        "verified": true,
    });
    let rows = [
        (
            "end_to_end_",
            "pages, results in fresh memory",
            end_to_end.pages,
        ),
        (
            "into_",
            "pages, results in used memory",
            end_to_end.pages_into,
        ),
        ("frame_", "frame, results in fresh memory", end_to_end.frame),
        (
            "frame_into_",
            "frame, results in used memory",
            end_to_end.frame_into,
        ),
        ("", "kernels, pages in GPU memory", resident.speeds),
    ];
    for (prefix, _, speeds) in &rows {
        line[format!("{prefix}compress_gbps")] = json!(speeds.compress.map(rounded));
        line[format!("{prefix}decompress_gbps")] = json!(speeds.decompress.map(rounded));
    }
    let text = if arguments.json {
        format!("{line}\n")
    } else {
        table(&line, &rows)
    };
    let mut output = Output::stdout(SparseMode::Never)?;
    let written = output.write_all(text.as_bytes());
    written.map_err(Failure::stdout)?;
    output.commit(None)
}

/// Pages of the engine under test, after they were verified.
struct Verified {
    engine: &'static str,
    ratio: f64,
    n_pages: usize,
    /// Pages that are equal to an earlier one.
    n_identical_pages: usize,
}

/// Compares pages and frame of the engine under test with those of the CPU, and decompresses them.
fn verify(
    codec: &mut Codec,
    arguments: &BenchArguments,
    bytes: &[u8],
    name: &str,
) -> Result<Verified, Failure> {
    let fail = |source| Failure::Codec {
        input: name.to_owned(),
        source,
    };
    let level = arguments.level(codec);
    let expected = match &codec.options().dictionary {
        Some(dictionary) => dictionary.compress_pages(bytes, arguments.page_size, level),
        None => lz4::compress_pages(bytes, arguments.page_size, level),
    };
    let expected = expected.map_err(fail)?;
    let (pages, report) = codec
        .compress_pages(bytes, arguments.page_size, level)
        .map_err(fail)?;
    let (content, _) = codec.decompress_pages(&pages).map_err(fail)?;
    let options = arguments.frame(codec);
    let expected_frame = lz4::frame::compress(bytes, &options).map_err(fail)?;
    let (frame, _) = codec.compress_frame(bytes, &options).map_err(fail)?;
    let (frame_content, _) = codec.decompress_frame(&frame, None).map_err(fail)?;
    if pages != expected || content != bytes || frame != expected_frame || frame_content != bytes {
        return Err(Failure::Unverified {
            input: name.to_owned(),
            engine: report.engine,
        });
    }
    Ok(Verified {
        engine: report.engine,
        ratio: pages.ratio(),
        n_pages: pages.table.len(),
        n_identical_pages: pages.n_identical_pages().map_err(fail)?,
    })
}

#[cfg(any(feature = "wgpu", feature = "cuda"))]
fn time_resident(
    codec: &Codec,
    arguments: &BenchArguments,
    bytes: &[u8],
    name: &str,
) -> Result<Resident, Failure> {
    let Some(device) = codec
        .device()
        .filter(|_| arguments.resident && !bytes.is_empty())
    else {
        return Ok(Resident::default());
    };
    let run = resident::Run {
        device,
        page_size: arguments.page_size,
        level: arguments.level(codec),
        dictionary: codec.options().dictionary.as_ref(),
        runs: arguments.runs,
    };
    let verified = pagepress::gpu::runtime::block_on(run.measure(bytes, arguments.resident_bytes))
        .map_err(|source| Failure::Codec {
            input: name.to_owned(),
            source,
        })?;
    verified.ok_or_else(|| Failure::Unverified {
        input: name.to_owned(),
        engine: pagepress::gpu::Backend::name(device),
    })
}

#[cfg(not(any(feature = "wgpu", feature = "cuda")))]
fn time_resident(
    _codec: &Codec,
    _arguments: &BenchArguments,
    _bytes: &[u8],
    _name: &str,
) -> Result<Resident, Failure> {
    Ok(Resident::default())
}

/// Returns the bytes of the dictionary of a codec; 0 for none.
fn dictionary_bytes(codec: &Codec) -> usize {
    let dictionary = codec.options().dictionary.as_ref();
    dictionary.map_or(0, |dictionary| dictionary.as_bytes().len())
}

fn rounded(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}

/// Formats a line of results as text, a row for each pair of speeds that was measured.
fn table(line: &Value, rows: &[(&str, &str, Speeds)]) -> String {
    let text = |key: &str| match &line[key] {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let mut lines = format!(
        "{}: page {}, block {}{}, {} {} {}{}, ratio {}, {} of {} pages equal to an earlier one, verified\n{:<32}{:>10}{:>12}  GB/s, median of {}\n",
        text("file"),
        text("page_size"),
        text("block_size"),
        match line["content_checksum"] == true {
            true => "",
            false => " without content checksum",
        },
        text("engine"),
        text("adapter"),
        text("level"),
        match line["dictionary_bytes"].as_u64() {
            Some(n_bytes) if n_bytes > 0 => format!(", dictionary of {n_bytes} bytes"),
            _ => String::new(),
        },
        text("ratio"),
        text("n_identical_pages"),
        text("n_pages"),
        "",
        "compress",
        "decompress",
        text("runs"),
    );
    for (_, name, speeds) in rows {
        if let Speeds {
            compress: Some(compress),
            decompress: Some(decompress),
        } = speeds
        {
            lines += &format!("{name:<32}{compress:>10.2}{decompress:>12.2}\n");
        }
    }
    lines
}

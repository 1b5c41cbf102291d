//! Compresses a file to a `.lz4` file and decompresses it again, on the fastest engine, in bounded memory.
//!
//! `cargo run --release --example compress -- FILE` writes FILE.lz4, which `lz4 -d` restores, and compares its content with FILE.

#[cfg(not(target_arch = "wasm32"))]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    use std::fs::File;
    use std::io::{self, BufReader, Read};

    use pagepress::batch::{Codec, CodecOptions, CompressWriter, DecompressReader};
    use pagepress::lz4::frame::FrameOptions;

    let input = std::env::args().nth(1).ok_or("give a file")?;
    let output = format!("{input}.lz4");

    let codec = Codec::new(CodecOptions::default())?;
    let mut writer = CompressWriter::new(File::create(&output)?, codec, &FrameOptions::default())?;
    let n_bytes = io::copy(&mut File::open(&input)?, &mut writer)?;
    let (_, report) = writer.finish()?;
    let compressed = std::fs::metadata(&output)?.len();
    println!(
        "{n_bytes} bytes to {compressed} in {output} by {}: {}",
        report.engine, report.reason
    );

    let codec = Codec::new(CodecOptions::default())?;
    let content = DecompressReader::new(File::open(&output)?, codec, None);
    let (content, original) = (BufReader::new(content), BufReader::new(File::open(&input)?));
    for (there, back) in original.bytes().zip(content.bytes()) {
        if there? != back? {
            return Err(format!("{output} does not restore {input}").into());
        }
    }
    println!("{output} restores {input}");
    Ok(())
}

#[cfg(target_arch = "wasm32")]
fn main() {}

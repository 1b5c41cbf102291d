//! Compares the speed of the CPU codec with that of the C library on the same pages, on one core and on all, after
//! checking that both restore the pages.
//!
//! ```sh
//! cargo bench --bench lz4 -- [PAGE_SIZE FILE...]
//! ```
//! The default is generated records in pages of 4 KiB. `cargo test` runs it once on little data, only for the checks.
//!
//! Prints one JSON object per line, with speeds in GB/s of pages. `compress_gbps` and `decompress_gbps` are of calls
//! for single pages, made in the same way for both; `batch_` are our calls for many pages, whose results are in fresh
//! memory, and `batch_into_` those that write to memory used before. `faults_per_mb` are minor page faults for each
//! 10^6 bytes of pages (Linux, else 0): what fresh memory costs.

use std::error::Error;
use std::time::Instant;

use pagepress::lz4::{self, Encoder, Level, PackedPages, Parse};
use rayon::prelude::*;

/// Bytes of generated content.
const GENERATED_BYTES: usize = 4 << 20;
/// Bytes of a table entry for each block, added for the ratio as in our batches.
const ENTRY_BYTES: usize = 8;

type Blocks = Vec<Vec<u8>>;
type Failure = Box<dyn Error + Send + Sync>;

/// Amount of measurement.
#[derive(Clone, Copy)]
struct Effort {
    /// Number of timed runs; the median is reported.
    n_runs: usize,
    /// Minimum bytes of content, which is repeated as needed to occupy all cores for long enough to measure.
    at_least_bytes: usize,
}

fn main() -> Result<(), Failure> {
    let (options, arguments): (Vec<String>, Vec<String>) = std::env::args()
        .skip(1)
        .partition(|argument| argument.starts_with("--"));
    let effort = match options.iter().any(|option| option == "--bench") {
        true => Effort {
            n_runs: 5,
            at_least_bytes: 256 << 20,
        },
        false => Effort {
            n_runs: 1,
            at_least_bytes: 0,
        },
    };
    let [page_size, paths @ ..] = arguments.as_slice() else {
        return on_all_cores("generated", &generated(), 4096, effort);
    };
    let page_size: usize = page_size.parse()?;
    for path in paths {
        on_all_cores(path, &std::fs::read(path)?, page_size, effort)?;
    }
    Ok(())
}

/// Returns records of 24 bytes, half of which repeat: neither noise nor a single run.
fn generated() -> Vec<u8> {
    let mut state = 1u64;
    let mut content = Vec::with_capacity(GENERATED_BYTES);
    while content.len() < GENERATED_BYTES {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        content.extend_from_slice(b"record, next");
        content.extend_from_slice(&(state >> 40).to_le_bytes());
        content.extend_from_slice(&(state >> 60).to_le_bytes()[..4]);
    }
    content.truncate(GENERATED_BYTES);
    content
}

/// Measures with one thread and with one per core.
fn on_all_cores(
    name: &str,
    content: &[u8],
    page_size: usize,
    effort: Effort,
) -> Result<(), Failure> {
    let whole = content.len().checked_div(page_size).unwrap_or(0) * page_size;
    if whole == 0 {
        return Err(format!("{name}: less than a page").into());
    }
    let pages = content[..whole].repeat(effort.at_least_bytes.div_ceil(whole).max(1));
    for threads in [1, std::thread::available_parallelism()?.get()] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        let pool = pool.build()?;
        pool.install(|| bench(name, &pages, page_size, threads, effort))?;
    }
    Ok(())
}

fn bench(
    path: &str,
    pages: &[u8],
    page_size: usize,
    threads: usize,
    effort: Effort,
) -> Result<(), Failure> {
    let time = |work: &mut dyn FnMut()| measured(effort.n_runs, pages.len(), work);
    let theirs = compress(pages, page_size);
    let mut back = vec![0; pages.len()];
    decompress(&theirs, &mut back, page_size);
    if back != pages {
        return Err(format!("{path} does not come back").into());
    }
    let packed: usize = theirs.iter().map(|block| block.len() + ENTRY_BYTES).sum();
    let head = format!(r#""file":"{path}","page_size":{page_size},"threads":{threads}"#);
    println!(
        r#"{{{head},"engine":"C lz4","ratio":{:.3},"compress_gbps":{:.2},"decompress_gbps":{:.2},"verified":true}}"#,
        pages.len() as f64 / packed as f64,
        time(&mut || drop(compress(pages, page_size))).gbps,
        time(&mut || decompress(&theirs, &mut back, page_size)).gbps,
    );
    for level in [Level::Fast, Level::Sequential] {
        let parse = Parse::new(page_size as u32, level)?;
        let ours = lz4::compress_pages(pages, page_size as u32, level)?;
        if lz4::decompress_pages(&ours)? != pages {
            return Err(format!("{path} does not come back").into());
        }
        let mut again = PackedPages::default();
        // Touches the memory that the calls below use again.
        lz4::compress_pages_into(pages, page_size as u32, level, &mut again)?;
        if again != ours {
            return Err(format!("{path}: other blocks in given memory").into());
        }
        let mut into = || {
            drop(lz4::compress_pages_into(
                pages,
                page_size as u32,
                level,
                &mut again,
            ))
        };
        let rows = [
            ("compress", time(&mut || drop(compress_ours(pages, &parse)))),
            (
                "decompress",
                time(&mut || decompress_ours(&ours, &mut back)),
            ),
            (
                "batch_compress",
                time(&mut || drop(lz4::compress_pages(pages, page_size as u32, level))),
            ),
            ("batch_into_compress", time(&mut into)),
            (
                "batch_decompress",
                time(&mut || drop(lz4::decompress_pages(&ours))),
            ),
            (
                "batch_into_decompress",
                time(&mut || drop(lz4::decompress_pages_into(&ours, &mut back))),
            ),
        ];
        print!(
            r#"{{{head},"engine":"pagepress, {level:?}","ratio":{:.3}"#,
            ours.ratio()
        );
        for (
            name,
            Measured {
                gbps,
                faults_per_mb,
            },
        ) in rows
        {
            print!(r#","{name}_gbps":{gbps:.2},"{name}_faults_per_mb":{faults_per_mb:.1}"#);
        }
        println!(r#","verified":true}}"#);
    }
    Ok(())
}

/// Compresses with the C library at its default level.
fn compress(pages: &[u8], page_size: usize) -> Blocks {
    let block = |page: &[u8]| {
        let mut out = vec![0; lzzzz::lz4::max_compressed_size(page.len())];
        let length = lzzzz::lz4::compress(page, &mut out, lzzzz::lz4::ACC_LEVEL_DEFAULT);
        out.truncate(length.unwrap_or(0));
        out
    };
    pages.par_chunks(page_size).map(block).collect()
}

fn decompress(blocks: &Blocks, out: &mut [u8], page_size: usize) {
    let pages = out.par_chunks_mut(page_size);
    pages.zip(blocks).for_each(|(page, block)| {
        // A block that fails leaves the page unchanged, which the comparison detects.
        let _ = lzzzz::lz4::decompress(block, page);
    });
}

/// Compresses each page with our encoder to a block in its own memory.
fn compress_ours(pages: &[u8], parse: &Parse) -> Blocks {
    let block = |encoder: &mut Encoder, page: &[u8]| {
        let mut out = Vec::with_capacity(page.len());
        // A page that fails has no block, which shows in the ratio.
        let _ = encoder.compress_page(page, &mut out);
        out
    };
    let page_size = parse.page_size() as usize;
    let pages = pages.par_chunks(page_size);
    pages.map_init(|| Encoder::new(parse), block).collect()
}

fn decompress_ours(pages: &PackedPages, out: &mut [u8]) {
    let places = out.par_chunks_mut(pages.page_size as usize);
    places.zip(&pages.table).for_each(|(page, entry)| {
        // A block that fails leaves the page unchanged.
        let _ = entry.decompress(&pages.packed, page);
    });
}

/// Speed and page faults of some runs.
struct Measured {
    /// By the median of the times.
    gbps: f64,
    faults_per_mb: f64,
}

/// Runs `work` on `n_bytes` of pages `n_runs` times.
fn measured(n_runs: usize, n_bytes: usize, work: &mut dyn FnMut()) -> Measured {
    let before = n_faults();
    let mut times: Vec<f64> = (0..n_runs)
        .map(|_| {
            let begin = Instant::now();
            work();
            begin.elapsed().as_secs_f64()
        })
        .collect();
    let faults = n_faults() - before;
    times.sort_by(f64::total_cmp);
    Measured {
        gbps: n_bytes as f64 / times[n_runs / 2] / 1e9,
        faults_per_mb: faults as f64 / (n_runs * n_bytes) as f64 * 1e6,
    }
}

/// Returns the minor page faults of this process so far, of all its threads; 0 where the system does not tell.
fn n_faults() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The second field is the name in parentheses, which may have spaces; minor faults are the tenth.
    let (_, fields) = stat.rsplit_once(')').unwrap_or_default();
    let field = fields.split_whitespace().nth(7);
    field.and_then(|field| field.parse().ok()).unwrap_or(0)
}

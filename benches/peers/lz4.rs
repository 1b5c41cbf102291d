//! Times the CPU codec beside the C library, on one core and on all, on the same pages, after checking that both restore them.
//!
//! ```sh
//! cargo bench --bench lz4 -- [PAGE_SIZE FILE...]
//! ```
//! Without arguments: generated records in pages of 4 KiB. `cargo test` runs it once on little data, for the checks alone.
//!
//! Prints one JSON object a line: GB/s of pages. `compress_gbps` and `decompress_gbps` are page by page in the same manner for
//! both; `batch_` are our calls for many pages, whose results are in fresh memory.

use std::error::Error;
use std::time::Instant;

use pagepress::lz4::{self, Encoder, Level, PackedPages, Parse};
use rayon::prelude::*;

/// Bytes of generated content.
const GENERATED_BYTES: usize = 4 << 20;
/// Bytes of a block's entry in a table, as in ours.
const ENTRY_BYTES: usize = 8;

type Blocks = Vec<Vec<u8>>;
type Failure = Box<dyn Error + Send + Sync>;

/// How much is measured.
#[derive(Clone, Copy)]
struct Effort {
    /// Timed runs, of which the median counts.
    n_runs: usize,
    /// Content is repeated to this many bytes, so that all cores have work for a while.
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

/// Records of 24 bytes, half of which repeat: neither noise nor one run.
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

/// Measures with one thread and with as many as there are cores.
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
    let time = |work: &mut dyn FnMut()| median_seconds(effort.n_runs, work);
    let theirs = compress(pages, page_size);
    let mut back = vec![0; pages.len()];
    decompress(&theirs, &mut back, page_size);
    if back != pages {
        return Err(format!("{path} does not come back").into());
    }
    let packed: usize = theirs.iter().map(|block| block.len() + ENTRY_BYTES).sum();
    let speed = |seconds: f64| format!("{:.2}", pages.len() as f64 / seconds / 1e9);
    println!(
        r#"{{"file":"{path}","page_size":{page_size},"threads":{threads},"engine":"C lz4","ratio":{:.3},"compress_gbps":{},"decompress_gbps":{},"verified":true}}"#,
        pages.len() as f64 / packed as f64,
        speed(time(&mut || drop(compress(pages, page_size)))),
        speed(time(&mut || decompress(&theirs, &mut back, page_size))),
    );
    for level in [Level::Fast, Level::Sequential] {
        let parse = Parse::new(page_size as u32, level)?;
        let ours = lz4::compress_pages(pages, page_size as u32, level)?;
        if lz4::decompress_pages(&ours)? != pages {
            return Err(format!("{path} does not come back").into());
        }
        let mut batch = || drop(lz4::compress_pages(pages, page_size as u32, level));
        println!(
            r#"{{"file":"{path}","page_size":{page_size},"threads":{threads},"engine":"pagepress, {level:?}","ratio":{:.3},"compress_gbps":{},"decompress_gbps":{},"batch_compress_gbps":{},"batch_decompress_gbps":{},"verified":true}}"#,
            ours.ratio(),
            speed(time(&mut || drop(compress_ours(pages, &parse)))),
            speed(time(&mut || decompress_ours(&ours, &mut back))),
            speed(time(&mut batch)),
            speed(time(&mut || drop(lz4::decompress_pages(&ours)))),
        );
    }
    Ok(())
}

/// Blocks of the C library at its default level.
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
        // A block that fails leaves the page as it was; the comparison finds that.
        let _ = lzzzz::lz4::decompress(block, page);
    });
}

/// The same of ours: a block in memory of its own for each page.
fn compress_ours(pages: &[u8], parse: &Parse) -> Blocks {
    let block = |encoder: &mut Encoder, page: &[u8]| {
        let mut out = Vec::with_capacity(page.len());
        // A page that fails gives no block; the comparison of ratios would show that.
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
        // As above.
        let _ = entry.decompress(&pages.packed, page);
    });
}

/// Returns the median of the times of `n_runs` runs.
fn median_seconds(n_runs: usize, work: &mut dyn FnMut()) -> f64 {
    let mut times: Vec<f64> = (0..n_runs)
        .map(|_| {
            let begin = Instant::now();
            work();
            begin.elapsed().as_secs_f64()
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[n_runs / 2]
}

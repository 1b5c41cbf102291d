//! Times the C library on all cores beside our CPU path, on the same pages, verified first.
//!
//! ```sh
//! cargo run --release --example peer_lz4 -- PAGE_SIZE FILE...
//! ```
//! Prints one JSON object a line: GB/s of pages, on one core and on all. `compress_gbps` and `decompress_gbps` are page by
//! page in the same manner for both; `batch_` are our calls for many pages, whose results are in fresh memory.

use std::error::Error;
use std::time::Instant;

use pagepress::lz4::{self, Encoder, Level, PackedPages, Parse};
use rayon::prelude::*;

const RUNS: usize = 5;
/// A file is repeated to this many bytes, so that all cores have work for a while.
const AT_LEAST_BYTES: usize = 256 << 20;
/// What finding a block takes in a table, as ours does.
const ENTRY_BYTES: usize = 8;

type Blocks = Vec<Vec<u8>>;
type Failure = Box<dyn Error + Send + Sync>;

fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let page_size: usize = arguments.next().ok_or("give a page size")?.parse()?;
    let n_cores = std::thread::available_parallelism()?.get();
    for path in arguments {
        let content = std::fs::read(&path)?;
        let whole = content.len() / page_size * page_size;
        if whole == 0 {
            return Err(format!("{path}: less than a page").into());
        }
        let pages = content[..whole].repeat(AT_LEAST_BYTES.div_ceil(whole));
        for threads in [1, n_cores] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
            let pool = pool.build()?;
            pool.install(|| bench(&path, &pages, page_size, threads))?;
        }
    }
    Ok(())
}

fn bench(path: &str, pages: &[u8], page_size: usize, threads: usize) -> Result<(), Failure> {
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
        speed(time(|| drop(compress(pages, page_size)))),
        speed(time(|| decompress(&theirs, &mut back, page_size))),
    );
    for level in [Level::Fast, Level::Sequential] {
        let parse = Parse::new(page_size as u32, level)?;
        let ours = lz4::compress_pages(pages, page_size as u32, level)?;
        if lz4::decompress_pages(&ours)? != pages {
            return Err(format!("{path} does not come back").into());
        }
        let batch = || drop(lz4::compress_pages(pages, page_size as u32, level));
        println!(
            r#"{{"file":"{path}","page_size":{page_size},"threads":{threads},"engine":"pagepress, {level:?}","ratio":{:.3},"compress_gbps":{},"decompress_gbps":{},"batch_compress_gbps":{},"batch_decompress_gbps":{},"verified":true}}"#,
            ours.ratio(),
            speed(time(|| drop(compress_ours(pages, &parse)))),
            speed(time(|| decompress_ours(&ours, &mut back))),
            speed(time(batch)),
            speed(time(|| drop(lz4::decompress_pages(&ours)))),
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

/// The median of several runs in seconds.
fn time(mut work: impl FnMut()) -> f64 {
    let mut times: Vec<f64> = (0..RUNS)
        .map(|_| {
            let begin = Instant::now();
            work();
            begin.elapsed().as_secs_f64()
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[RUNS / 2]
}

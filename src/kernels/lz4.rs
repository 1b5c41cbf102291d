//! LZ4 compression and decompression of pages as [`Job`]s.

use super::codec::{
    BEGIN, CHEAPEST, COPY, COPY_WIDE, EMIT, LONGEST, PARSE, PLACE_SUMS, PLACE_TILES, SORT, TOKENS,
    TOKENS_MANY,
};
use super::decoder::{Reader, copy_lanes};
use super::dictionary;
use super::parser::Parser;
use super::{Arg, ComputeUnits, Job, Launch, Limits, MAX_GRID, Registers, Slot};
use crate::lz4::{Level, Parse, check_page_size};
use crate::{Error, Result};

/// Maximum number of pages of a job: the exclusive scan of block sizes has two levels of 1024.
pub const MAX_PAGES_PER_JOB: u32 = 1 << 20;

/// Maximum size of the packed buffer of a job that decompresses: `lz4_copy` counts its words, and the few that it reads behind
/// the last one, in 31 bits. Devices with smaller bindings refuse less.
const MAX_PACKED_BYTES: u64 = (8 << 30) - 64;

/// Buckets of one share of `lz4_sort`, and pages whose words follow each other in columns, as in the sources.
const TABLE: u32 = 2048;
const COLUMN: u32 = 32;
/// Positions of one piece of `lz4_longest`, where there are several for each invocation; those on devices whose compute units are known;
/// and those where it stages the page, without a dictionary, which takes the cache: what workgroup memory leaves.
const PIECE: u32 = 256;
const LARGE_PIECE: u32 = 512;
const STAGED_PIECE: u32 = 1024;
/// Invocations of a workgroup of `lz4_longest`, and of one of `lz4_emit`, on devices that allow as many.
const LONGEST_WIDTH: u32 = 128;
pub(super) const EMIT_WIDTH: u32 = 128;
/// Bytes of the pages that the kernels of level High stage in workgroup memory, and the memory of a workgroup and of a compute unit from
/// which on they do. The latter is that of nine workgroups of `lz4_longest` and of twelve of `lz4_sort`.
const STAGED_PAGE: u32 = 4096;
const STAGED_BYTES: u32 = 20 << 10;
const STAGING_BYTES: u32 = 160 << 10;

/// Number of pages in one tile of the exclusive scan of block sizes, and first word of [`Slot::Places`] that belongs to a page.
const PAGES_PER_TILE: u32 = 1024;
const FIRST_PLACE: u64 = 1025;

/// Returns the launches that compress `n_bytes` of pages in [`Slot::Pages`] into `Packed` and `Table`.
/// Afterwards, `Places[0]` is the number of words used in `Packed`.
///
/// `page_size` is 4096, 8192, 16384, 32768 or 65536; the last page may be shorter. `n_bytes > 0`, at most
/// `MAX_PAGES_PER_JOB` pages and less than 4 GiB. [`Sequential`](Level::Sequential), which only the CPU can write, is
/// compressed as Fast. `limits` are those of the device. A dictionary of `dictionary_bytes`, at most 65,536, is in
/// [`Slot::Dictionary`]; 0 stands for none.
///
/// # Errors
/// [`Error::InvalidArgument`] for other page sizes and numbers of bytes.
pub fn compress_job(
    n_bytes: u64,
    page_size: u32,
    level: Level,
    limits: Limits,
    dictionary_bytes: u32,
) -> Result<Job> {
    let n_pages = count_pages(n_bytes, page_size)?;
    let dictionary = dictionary::buffer_bytes(dictionary_bytes)?;
    let n_tiles = n_pages.div_ceil(PAGES_PER_TILE);
    let (scratch, mut launches) = match level {
        Level::High => cheapest_launches(n_bytes, n_pages, page_size, limits, dictionary_bytes)?,
        Level::Fast | Level::Sequential => {
            let parser = Parser::new(page_size, limits, dictionary_bytes > 0);
            parse_launches(n_bytes, n_pages, parser, dictionary_bytes)
        }
    };
    let a_word_each = 4 * u64::from(n_pages);
    let page_words = n_bytes.next_multiple_of(4);
    let mut buffers = vec![
        (Slot::Pages, page_words),
        (
            Slot::Sequences,
            u64::from(n_pages) * u64::from(page_size) * 2,
        ),
        (Slot::Sizes, a_word_each),
        (Slot::Places, 4 * FIRST_PLACE + a_word_each),
        (Slot::Table, 2 * a_word_each),
        // A page that does not shrink is stored.
        (Slot::Packed, page_words),
    ];
    buffers.extend(scratch);
    buffers.extend(dictionary.map(|n_bytes| (Slot::Dictionary, n_bytes)));
    let params = |last| Arg::Params(vec![n_bytes as u32, n_pages, last, 0]);
    let place = |kernel, grid| Launch {
        kernel,
        overrides: vec![("THREADS", limits.width(256))],
        grid: [grid, 1, 1],
        args: with_params(&[Slot::Sizes, Slot::Places], params(n_tiles)),
    };
    let width = limits.width(EMIT_WIDTH);
    let lanes = emit_lanes(page_size).min(width);
    let emit = Launch {
        kernel: &EMIT,
        overrides: vec![
            ("PAGE_SIZE", page_size),
            ("WIDTH", width),
            ("LANES", lanes),
            limits.registers.ahead(),
        ],
        grid: [n_pages.div_ceil(width / lanes).min(MAX_GRID), 1, 1],
        args: with_params(
            &[
                Slot::Pages,
                Slot::Sequences,
                Slot::Sizes,
                Slot::Places,
                Slot::Table,
                Slot::Packed,
            ],
            params(0),
        ),
    };
    launches.insert(0, place(&BEGIN, 1));
    launches.extend([place(&PLACE_TILES, n_tiles), place(&PLACE_SUMS, 1), emit]);
    Ok(Job { buffers, launches })
}

/// Sizes in bytes of the scratch buffers that depend on the level, and the launches that write the sequences.
type Search = (Vec<(Slot, u64)>, Vec<Launch>);

/// Returns the search of level Fast.
fn parse_launches(n_bytes: u64, n_pages: u32, parser: Parser, dictionary_bytes: u32) -> Search {
    let n_parsers = n_pages.min(parser.most);
    let per_parser = pages_per_parser(n_pages, n_parsers);
    let slots = [
        Slot::Pages,
        Slot::Candidates,
        Slot::Sequences,
        Slot::Sizes,
        Slot::Places,
    ];
    let params = vec![n_bytes as u32, n_pages, per_parser, dictionary_bytes];
    let mut parse = Launch {
        kernel: &PARSE,
        overrides: parser.overrides,
        grid: [n_parsers, 1, 1],
        args: with_params(&slots, Arg::Params(params)),
    };
    add_dictionary(&mut parse, dictionary_bytes, Slot::Pages);
    let candidates = u64::from(n_parsers) * parser.candidate_bytes;
    (vec![(Slot::Candidates, candidates)], vec![parse])
}

/// Returns the search of level High: positions in the order of their hashes, the longest match of each, and the cheapest
/// sequences. The costs take the place of the order.
fn cheapest_launches(
    n_bytes: u64,
    n_pages: u32,
    page_size: u32,
    limits: Limits,
    dictionary_bytes: u32,
) -> Result<Search> {
    let bucket_bits = Parse::new(page_size, Level::High)?.bucket_bits();
    let stages = has_room_for_pages(page_size, limits);
    let width = limits.width(LONGEST_WIDTH);
    let piece = match limits.registers {
        _ if stages && dictionary_bytes == 0 => STAGED_PIECE,
        _ if limits.compute_units.is_some() => LARGE_PIECE,
        Registers::Fewest => width,
        _ => PIECE,
    };
    let n_pieces = n_bytes.div_ceil(piece.into()) as u32;
    let n_shares = n_pages * ((1 << bucket_bits) / TABLE);
    let launch = |kernel, n_workgroups: u32, slots: &[Slot]| Launch {
        kernel,
        overrides: vec![("PAGE_SIZE", page_size)],
        grid: [n_workgroups.min(MAX_GRID), 1, 1],
        args: with_params(
            slots,
            Arg::Params(vec![n_bytes as u32, n_pages, n_pieces, dictionary_bytes]),
        ),
    };
    let sorted = [Slot::Pages, Slot::Order, Slot::Sizes];
    let mut sort = launch(&SORT, n_shares, &sorted);
    sort.overrides.extend([
        ("BUCKET_BITS", bucket_bits),
        ("STAGES", stages.into()),
        limits.registers.ahead(),
    ]);
    let mut longest = launch(
        &LONGEST,
        n_pieces,
        &[&sorted[..], &[Slot::Matches]].concat(),
    );
    longest.overrides.extend([
        ("BUCKET_BITS", bucket_bits),
        ("PIECE", piece),
        ("WIDTH", width),
        ("STAGES", stages.into()),
        limits.registers.ahead(),
    ]);
    add_dictionary(&mut longest, dictionary_bytes, Slot::Pages);
    let slots = [
        Slot::Pages,
        Slot::Order,
        Slot::Matches,
        Slot::Sequences,
        Slot::Sizes,
    ];
    let width = limits.subgroup_width();
    let mut cheapest = launch(&CHEAPEST, n_pages.div_ceil(width), &slots);
    cheapest
        .overrides
        .extend([("WIDTH", width), limits.registers.ahead()]);
    add_dictionary(&mut cheapest, dictionary_bytes, Slot::Pages);
    // The words of 32 pages, of which the last may not exist, follow each other in columns.
    let in_columns = 4 * u64::from(n_pages.next_multiple_of(COLUMN)) * u64::from(page_size);
    let scratch = vec![(Slot::Order, in_columns), (Slot::Matches, in_columns)];
    Ok((scratch, vec![sort, longest, cheapest]))
}

/// Returns the launches that decompress `Packed` and `Table` into `Pages` (`n_bytes`), and write one word per page to
/// `Status`. A page that fails is filled with zeros and does not affect others. `Sequences` is scratch.
///
/// `packed_bytes` is the size of the packed buffer, above 0 and at most 8 GiB less 64 bytes; the kernel rejects table entries that
/// exceed it. `n_bytes`, `page_size`, `limits` and `dictionary_bytes` are as for [`compress_job`].
///
/// # Errors
/// [`Error::InvalidArgument`] for other page sizes and numbers of bytes.
pub fn decompress_job(
    n_bytes: u64,
    page_size: u32,
    packed_bytes: u64,
    limits: Limits,
    dictionary_bytes: u32,
) -> Result<Job> {
    let width = limits.subgroup_width();
    let n_pages = count_pages(n_bytes, page_size)?;
    let dictionary = dictionary::buffer_bytes(dictionary_bytes)?;
    if !(1..=MAX_PACKED_BYTES).contains(&packed_bytes) {
        let expected = "give 1 to 8589934528 bytes";
        return Err(Error::invalid("packed bytes", packed_bytes, expected));
    }
    let packed_words = packed_bytes.div_ceil(4) as u32;
    let params = || {
        Arg::Params(vec![
            n_bytes as u32,
            n_pages,
            packed_words,
            dictionary_bytes,
        ])
    };
    let tokens = {
        let reader = Reader::new(n_pages, page_size, limits.registers);
        let slots = [Slot::Packed, Slot::Table, Slot::Sequences, Slot::Status];
        let mut overrides = reader.overrides(page_size, width);
        overrides.extend(dictionary.map(|_| HAS_DICTIONARY));
        Launch {
            kernel: reader.kernel(&TOKENS, &TOKENS_MANY),
            overrides,
            grid: [n_pages.div_ceil(reader.pages(width)), 1, 1],
            args: with_params(&slots, params()),
        }
    };
    let copy = {
        let lanes = copy_lanes(n_pages, page_size, limits.registers);
        let slots = [
            Slot::Packed,
            Slot::Table,
            Slot::Sequences,
            Slot::Pages,
            Slot::Status,
        ];
        let mut launch = Launch {
            kernel: if width == 64 { &COPY_WIDE } else { &COPY },
            overrides: vec![
                ("PAGE_SIZE", page_size),
                ("LANES", lanes),
                ("WIDTH", width),
                limits.registers.ahead(),
            ],
            grid: [n_pages.div_ceil(width / lanes).min(MAX_GRID), 1, 1],
            args: with_params(&slots, params()),
        };
        add_dictionary(&mut launch, dictionary_bytes, Slot::Packed);
        launch
    };
    // A match from the dictionary may begin a page, which then has an entry more; entries are stored eight at a time.
    let entries = page_size / 4 + if dictionary.is_some() { 8 } else { 0 };
    let mut buffers = vec![
        (Slot::Packed, 4 * u64::from(packed_words)),
        (Slot::Table, 8 * u64::from(n_pages)),
        (Slot::Sequences, 8 * u64::from(n_pages) * u64::from(entries)),
        (Slot::Pages, n_bytes.next_multiple_of(4)),
        (Slot::Status, 4 * u64::from(n_pages)),
    ];
    buffers.extend(dictionary.map(|n_bytes| (Slot::Dictionary, n_bytes)));
    Ok(Job {
        buffers,
        launches: vec![tokens, copy],
    })
}

/// Returns the number of pages of a job.
fn count_pages(n_bytes: u64, page_size: u32) -> Result<u32> {
    check_page_size(page_size)?;
    let n_pages = n_bytes.div_ceil(page_size.into());
    if n_bytes == 0 || n_pages > MAX_PAGES_PER_JOB.into() || n_bytes > u32::MAX.into() {
        let expected = "give more than 0 and less than 4 GiB, of 1048576 pages at most";
        return Err(Error::invalid("bytes of pages", n_bytes, expected));
    }
    Ok(n_pages as u32)
}

/// The override of kernels that use a dictionary.
const HAS_DICTIONARY: (&str, u32) = ("DICTIONARY", 1);

/// Adds the binding of the dictionary to a launch, and the override if there is one. Without one the binding is that of `spare` again,
/// which the kernel only reads.
fn add_dictionary(launch: &mut Launch, dictionary_bytes: u32, spare: Slot) {
    let slot = match dictionary_bytes {
        0 => spare,
        _ => {
            launch.overrides.push(HAS_DICTIONARY);
            Slot::Dictionary
        }
    };
    launch.args.push(Arg::Buffer(slot));
}

pub(super) fn with_params(slots: &[Slot], params: Arg) -> Vec<Arg> {
    let buffers = slots.iter().map(|&slot| Arg::Buffer(slot));
    buffers.chain([params]).collect()
}

/// Returns the maximum number of pages that one workgroup of `lz4_parse` processes. Workgroups take pages from a shared
/// queue, so resident ones may process several times their share; the bound keeps each one short on devices with few
/// resident workgroups.
pub(super) fn pages_per_parser(n_pages: u32, n_parsers: u32) -> u32 {
    if n_pages <= n_parsers {
        1
    } else {
        4 * n_pages.div_ceil(n_parsers)
    }
}

/// Returns true if enough workgroups are resident at once when the kernels of level High stage pages, or their order, in workgroup memory.
fn has_room_for_pages(page_size: u32, limits: Limits) -> bool {
    let has_memory = |units: ComputeUnits| units.workgroup_bytes >= STAGING_BYTES;
    page_size == STAGED_PAGE
        && limits.workgroup_bytes >= STAGED_BYTES
        && limits.compute_units.is_some_and(has_memory)
}

/// Returns the number of invocations of `lz4_emit` that encode one page. With few sequences in a page, more of them would be
/// idle.
pub(super) fn emit_lanes(page_size: u32) -> u32 {
    match page_size {
        0..=8192 => 32,
        _ => 128,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_packed_have_indexes_of_31_bits() {
        assert!(decompress_job(4096, 4096, MAX_PACKED_BYTES, Limits::WEBGPU, 0).is_ok());
        for packed_bytes in [0, MAX_PACKED_BYTES + 1, 16 << 30, u64::MAX] {
            assert!(decompress_job(4096, 4096, packed_bytes, Limits::WEBGPU, 0).is_err());
        }
    }

    #[test]
    fn every_page_is_in_a_workgroup_of_each_launch() {
        let wide = Limits {
            subgroup: 64,
            ..Limits::WEBGPU
        };
        let counts = [1, 7, 8, 9, 0x2001, 0xffff, 0x10000, MAX_PAGES_PER_JOB].into_iter();
        let all = counts.flat_map(|n| [Limits::WEBGPU, wide].map(|limits| (n, limits)));
        for (n_pages, limits) in all {
            let job = decompress_job(u64::from(n_pages) * 4096 - 5, 4096, 1 << 30, limits, 0);
            let [tokens, copy] = &job.expect("sizes of a job").launches[..] else {
                panic!("two launches decompress");
            };
            let value = |launch: &Launch, name| {
                let found = launch.overrides.iter().find(|o| o.0 == name);
                found.map(|o| o.1)
            };
            let width = value(copy, "WIDTH").expect("invocations of a workgroup");
            let pages = value(tokens, "PAGES").unwrap_or(width);
            assert!(tokens.grid[0] * pages >= n_pages && tokens.grid[0] <= MAX_GRID);
            assert!((tokens.grid[0] - 1) * pages < n_pages);
            // A workgroup of `lz4_copy` takes more pages where there are more than the grid has room for.
            let lanes = value(copy, "LANES").expect("lanes of a page");
            let n_workgroups = n_pages.div_ceil(width / lanes);
            assert_eq!(copy.grid[0], n_workgroups.min(MAX_GRID));
        }
    }
}

//! Compression and decompression of chunks at addresses of device memory, to and from plain LZ4 blocks, as [`Job`]s. The kernels are
//! those of pages, with a length for each chunk, between one that gathers from the addresses and one that scatters to them.

use super::codec::{R, U, W};
use super::decoder::{Reader, copy_lanes};
use super::lz4::{EMIT_WIDTH, emit_lanes, pages_per_parser, with_params};
use super::parser::Parser;
use super::{Access, Arg, Job, KernelInfo, Launch, Limits, MAX_GRID, Registers, Slot};
use crate::{Error, Result};

/// Invocations of a workgroup of the kernels that decompress.
const WIDTH: u32 = 32;
/// Maximum bytes of a chunk: offsets have 16 bits.
pub const MAX_CHUNK_BYTES: u32 = 65_536;

/// Maximum bytes of the pages of one job; scratch memory is four times as much.
const MAX_JOB_BYTES: u32 = 512 << 20;

static GATHER_CHUNKS: KernelInfo = addressing(
    "lz4_gather_chunks",
    shader!("lz4_gather_chunks.wgsl"),
    &[W, R, R, W, W, W, U],
);
static GATHER_BLOCKS: KernelInfo = addressing(
    "lz4_gather_blocks",
    shader!("lz4_gather_blocks.wgsl"),
    &[W, R, R, R, W, W, W, U],
);
static SCATTER_BLOCKS: KernelInfo = addressing(
    "lz4_scatter_blocks",
    shader!("lz4_scatter_blocks.wgsl"),
    &[W, R, R, R, R, W, U],
);
static SCATTER_CHUNKS: KernelInfo = addressing(
    "lz4_scatter_chunks",
    shader!("lz4_scatter_chunks.wgsl"),
    &[W, R, R, R, R, W, W, U],
);
static COPY_PIECES: KernelInfo =
    addressing("copy_pieces", shader!("copy_pieces.wgsl"), &[W, R, R, R, U]);
static PARSE: KernelInfo = of_chunks(
    "lz4_parse",
    shader!("lz4_parse.chunks.wgsl"),
    &[R, W, W, W, W, U, R, W],
    false,
);
static EMIT: KernelInfo = of_chunks(
    "lz4_emit",
    shader!("lz4_emit.chunks.wgsl"),
    &[R, R, R, R, W, W, U, W],
    false,
);
static TOKENS: KernelInfo = of_chunks(
    "lz4_tokens",
    shader!("lz4_tokens.chunks.wgsl"),
    &[R, R, W, W, U, W],
    true,
);
static TOKENS_MANY: KernelInfo = of_chunks(
    "lz4_tokens_many",
    shader!("lz4_tokens_many.chunks.wgsl"),
    &[R, R, W, W, U, W],
    false,
);
static COPY: KernelInfo = of_chunks(
    "lz4_copy",
    shader!("lz4_copy.chunks.wgsl"),
    &[R, R, R, W, W, U, R, W],
    false,
);

const fn addressing(
    name: &'static str,
    wgsl: &'static str,
    bindings: &'static [Access],
) -> KernelInfo {
    // SAFETY: the kernels process chunks below `n_chunks`, and compare lengths with the room of a chunk before they copy to it. They
    // scatter as many bytes as the kernels before them counted: a block is shorter than its chunk, or the chunk and the head of a run
    // of literals, and a chunk has at most its capacity. Pieces are copied as long as they are given. Loops count chunks or bytes of one. Who runs such a job guarantees the
    // addresses and what lies there, as `KernelInfo::with_addresses` says.
    unsafe { KernelInfo::trusted(name, wgsl, bindings, true).with_addresses() }
}

const fn of_chunks(
    name: &'static str,
    wgsl: &'static str,
    bindings: &'static [Access],
    fills_workgroup: bool,
) -> KernelInfo {
    // SAFETY: as `super::lz4` says of the kernels of pages. Lengths are at most PAGE_SIZE: the gathering kernel wrote them, and
    // the kernel that reads tokens replaces them by lengths of at most these. Each chunk and each block has the room of a page.
    unsafe { KernelInfo::trusted(name, wgsl, bindings, fills_workgroup) }
}

/// Returns the page size whose kernels process chunks of up to `max_bytes`.
///
/// # Errors
/// [`Error::InvalidArgument`] for 0 and for more than [`MAX_CHUNK_BYTES`].
pub fn page_size_for(max_bytes: u32) -> Result<u32> {
    if max_bytes == 0 || max_bytes > MAX_CHUNK_BYTES {
        let expected = "1 to 65536; cut larger chunks";
        return Err(Error::invalid(
            "maximum bytes of a chunk",
            max_bytes.into(),
            expected,
        ));
    }
    Ok(max_bytes.next_power_of_two().max(4096))
}

/// Returns the bytes of the longest block of a chunk of `n_bytes`, at most [`MAX_CHUNK_BYTES`].
#[must_use]
pub const fn max_block_bytes(n_bytes: u32) -> u32 {
    n_bytes + n_bytes / 255 + 16
}

/// Returns the maximum number of chunks of one job.
///
/// # Errors
/// [`Error::InvalidArgument`] for 0 and for more bytes than the largest page has.
pub fn max_chunks_per_job(max_bytes: u32) -> Result<u32> {
    Ok(MAX_JOB_BYTES / page_size_for(max_bytes)?)
}

/// Returns the words that a block has in the packed buffer, as in `lz4_gather_blocks.wgsl`.
const fn block_words(page_size: u32) -> u32 {
    max_block_bytes(page_size).div_ceil(4)
}

/// Number and sizes of the chunks of a job.
struct Chunks {
    n: u32,
    max_bytes: u32,
    page_size: u32,
}

impl Chunks {
    fn new(n: u32, max_bytes: u32) -> Result<Self> {
        let most = max_chunks_per_job(max_bytes)?;
        if n == 0 || n > most {
            let expected = "at least 1, and 512 MiB of pages at most";
            return Err(Error::invalid("chunks of a job", n.into(), expected));
        }
        let page_size = page_size_for(max_bytes)?;
        Ok(Self {
            n,
            max_bytes,
            page_size,
        })
    }

    /// Returns the size of a buffer with some words for each chunk.
    fn words(&self, words: u32) -> u64 {
        4 * u64::from(self.n) * u64::from(words)
    }

    /// Returns the buffers that only jobs of chunks have.
    fn buffers(&self) -> Vec<(Slot, u64)> {
        let mut buffers = vec![(Slot::Memory, 4), (Slot::Lengths, self.words(1))];
        for slot in [
            Slot::Inputs,
            Slot::InputBytes,
            Slot::Outputs,
            Slot::OutputBytes,
        ] {
            buffers.push((slot, self.words(2)));
        }
        buffers
    }

    /// Returns the launch of a kernel that gathers or scatters.
    fn addressing(&self, kernel: &'static KernelInfo, slots: &[Slot]) -> Launch {
        let slots = [&[Slot::Memory], slots].concat();
        Launch {
            kernel,
            overrides: vec![("PAGE_SIZE", self.page_size)],
            grid: [self.n.min(MAX_GRID), 1, 1],
            args: with_params(&slots, Arg::Params(vec![self.n, self.max_bytes, 0, 0])),
        }
    }

    /// Returns the launch of a kernel of pages. Behind its parameters stand, where it has a dictionary, pages that it does not read,
    /// and the lengths.
    fn of_pages(
        &self,
        kernel: &'static KernelInfo,
        (n_workgroups, overrides): (u32, Vec<(&'static str, u32)>),
        (slots, dictionary): (&[Slot], Option<Slot>),
        third: u32,
    ) -> Launch {
        let n_bytes = self.n * self.page_size;
        let mut args = with_params(slots, Arg::Params(vec![n_bytes, self.n, third, 0]));
        args.extend(dictionary.map(Arg::Buffer));
        args.push(Arg::Buffer(Slot::Lengths));
        Launch {
            kernel,
            overrides,
            grid: [n_workgroups.min(MAX_GRID), 1, 1],
            args,
        }
    }
}

/// Returns the launches that compress `n` chunks of at most `max_bytes` each, at the addresses in `Inputs` and with the sizes in
/// `InputBytes`, to blocks at the addresses in `Outputs`, and write their sizes to `OutputBytes`. Addresses and sizes have 64 bits. A
/// chunk of more bytes has a block of 0 bytes. The level is Fast.
///
/// # Errors
/// [`Error::InvalidArgument`] for sizes that [`max_chunks_per_job`] rejects, and for 0 or more chunks than that.
pub fn compress_chunks_job(n: u32, max_bytes: u32, limits: Limits) -> Result<Job> {
    let chunks = Chunks::new(n, max_bytes)?;
    let page_size = chunks.page_size;
    let parser = Parser::new(page_size, limits, false);
    let n_parsers = n.min(parser.most);
    let page_words = page_size / 4;
    let mut buffers = chunks.buffers();
    buffers.extend([
        (Slot::Pages, chunks.words(page_words)),
        (
            Slot::Candidates,
            u64::from(n_parsers) * parser.candidate_bytes,
        ),
        (Slot::Sequences, chunks.words(2 * page_words)),
        (Slot::Sizes, chunks.words(1)),
        (Slot::Places, 4),
        (Slot::Table, chunks.words(2)),
        (Slot::Packed, chunks.words(page_words)),
    ]);
    let gather = chunks.addressing(
        &GATHER_CHUNKS,
        &[
            Slot::Inputs,
            Slot::InputBytes,
            Slot::Pages,
            Slot::Lengths,
            Slot::Places,
        ],
    );
    let parse = chunks.of_pages(
        &PARSE,
        (n_parsers, parser.overrides),
        (
            &[
                Slot::Pages,
                Slot::Candidates,
                Slot::Sequences,
                Slot::Sizes,
                Slot::Places,
            ],
            Some(Slot::Pages),
        ),
        pages_per_parser(n, n_parsers),
    );
    let lanes = emit_lanes(page_size);
    // The sizes stand for places, which are those of pages here.
    let emit = chunks.of_pages(
        &EMIT,
        (
            n.div_ceil(EMIT_WIDTH / lanes),
            vec![
                ("PAGE_SIZE", page_size),
                ("WIDTH", EMIT_WIDTH),
                ("LANES", lanes),
            ],
        ),
        (
            &[
                Slot::Pages,
                Slot::Sequences,
                Slot::Sizes,
                Slot::Sizes,
                Slot::Table,
                Slot::Packed,
            ],
            None,
        ),
        0,
    );
    let scatter = chunks.addressing(
        &SCATTER_BLOCKS,
        &[
            Slot::Outputs,
            Slot::InputBytes,
            Slot::Sizes,
            Slot::Packed,
            Slot::OutputBytes,
        ],
    );
    Ok(Job {
        buffers,
        launches: vec![gather, parse, emit, scatter],
    })
}

/// Returns the launches that decompress `n` blocks at the addresses in `Inputs` and with the sizes in `InputBytes`, to chunks at the
/// addresses in `Outputs`, which have room for the bytes in `Capacities`, and at most for `max_bytes`. `OutputBytes` gets the size of each, 64 bits,
/// and `Statuses` 0 or the code of a [`BlockError`](crate::lz4::BlockError), 32 bits. A chunk with an error has 0 bytes.
///
/// # Errors
/// As [`compress_chunks_job`].
pub fn decompress_chunks_job(n: u32, max_bytes: u32) -> Result<Job> {
    let chunks = Chunks::new(n, max_bytes)?;
    let page_size = chunks.page_size;
    let page_words = page_size / 4;
    let packed_words = n * block_words(page_size);
    let mut buffers = chunks.buffers();
    buffers.extend([
        (Slot::Capacities, chunks.words(2)),
        (Slot::Statuses, chunks.words(1)),
        (Slot::Packed, 4 * u64::from(packed_words)),
        (Slot::Table, chunks.words(2)),
        (Slot::Sequences, chunks.words(2 * page_words)),
        (Slot::Pages, chunks.words(page_words)),
        (Slot::Status, chunks.words(1)),
    ]);
    let gather = chunks.addressing(
        &GATHER_BLOCKS,
        &[
            Slot::Inputs,
            Slot::InputBytes,
            Slot::Capacities,
            Slot::Packed,
            Slot::Table,
            Slot::Lengths,
        ],
    );
    let reader = Reader::new(n, page_size, Registers::Many);
    let tokens = chunks.of_pages(
        reader.kernel(&TOKENS, &TOKENS_MANY),
        (
            n.div_ceil(reader.pages(WIDTH)),
            reader.overrides(page_size, WIDTH),
        ),
        (
            &[Slot::Packed, Slot::Table, Slot::Sequences, Slot::Status],
            None,
        ),
        packed_words,
    );
    let lanes = copy_lanes(n, page_size, Registers::Many);
    let copy = chunks.of_pages(
        &COPY,
        (
            n.div_ceil(WIDTH / lanes),
            vec![("PAGE_SIZE", page_size), ("LANES", lanes)],
        ),
        (
            &[
                Slot::Packed,
                Slot::Table,
                Slot::Sequences,
                Slot::Pages,
                Slot::Status,
            ],
            Some(Slot::Packed),
        ),
        packed_words,
    );
    let scatter = chunks.addressing(
        &SCATTER_CHUNKS,
        &[
            Slot::Outputs,
            Slot::Lengths,
            Slot::Status,
            Slot::Pages,
            Slot::OutputBytes,
            Slot::Statuses,
        ],
    );
    Ok(Job {
        buffers,
        launches: vec![gather, tokens, copy, scatter],
    })
}

/// Returns the launch that copies `n` pieces of memory from the addresses in `Inputs`, with the sizes in `InputBytes`, to the addresses in
/// `Outputs`. Addresses and sizes have 64 bits; a size is below 2^32. No piece overlaps the target of another.
///
/// # Errors
/// [`Error::InvalidArgument`] for 0 pieces.
pub fn copy_pieces_job(n: u32) -> Result<Job> {
    if n == 0 {
        return Err(Error::invalid("pieces of a job", 0, "at least 1"));
    }
    let addresses = 8 * u64::from(n);
    let slots = [Slot::Memory, Slot::Inputs, Slot::InputBytes, Slot::Outputs];
    let bytes = [4, addresses, addresses, addresses];
    let copy = Launch {
        kernel: &COPY_PIECES,
        overrides: Vec::new(),
        grid: [n.min(MAX_GRID), 1, 1],
        args: with_params(&slots, Arg::Params(vec![n, 0, 0, 0])),
    };
    Ok(Job {
        buffers: slots.into_iter().zip(bytes).collect(),
        launches: vec![copy],
    })
}

//! Many damaged pages in large batches: statuses and bytes equal those of the CPU's decoder, and nothing is written
//! outside the pages.
//!
//! `PAGEPRESS_MUTATED_PAGES` is the number of pages, 100,000 by default; every way to open an engine but the main one
//! tests an eighth of them, and at least 12,500. `PAGEPRESS_MUTATED_SEED` is the seed, 1 by default.

use pagepress::batch::{ResidentPages, ResidentPart, decompress_resident_async};
use pagepress::gpu::runtime::block_on;
use pagepress::gpu::{Backend, Buffer, GpuDevice, Place, Recorder, Sized64};
use pagepress::lz4::{self, BlockError, Level, PackedPages, PageEntry, PageKind};

use crate::common::pages::{Random, every_generator};
use crate::guarded::{self, CANARY, GUARD, assert_canaries, download, table_bytes, upload};
use crate::subject::{PAGE_SIZES, Subject};

/// Period, in batches, of the launches with canaries on both sides of every buffer.
const GUARDED: usize = 8;

fn number(name: &str, default: usize) -> usize {
    std::env::var(name).map_or(default, |text| text.parse().expect("a number"))
}

pub fn mutated_pages_have_the_twins_status(subject: &Subject) {
    let n_pages = number("PAGEPRESS_MUTATED_PAGES", 100_000);
    let n_pages = match subject.is_main() {
        true => n_pages,
        false => (n_pages / 8).max(n_pages.min(12_500)),
    };
    let batch_bytes = if n_pages > 500_000 { 64 << 20 } else { 8 << 20 };
    let mut random = Random::new(number("PAGEPRESS_MUTATED_SEED", 1) as u64);
    // lavapipe ends the loops of an invocation after 65,535 iterations; a sequence takes about seven.
    let is_software = subject.device.info().is_software();
    let most_sequences = if is_software { 4000 } else { usize::MAX };
    let pools = PAGE_SIZES.map(|page_size| Pool::new(page_size, most_sequences));
    let mut device = Regions::new(&subject.device);
    let (mut n_done, mut n_damaged) = (0, 0);
    for batch in 0.. {
        if n_done >= n_pages {
            break;
        }
        let pool = &pools[match batch % 10 {
            0..=5 => 0,
            larger => larger - 5,
        }];
        let n = (batch_bytes / pool.page_size as usize).min(n_pages - n_done);
        let pages = pool.mutated(n, &mut random);
        let (expected, statuses) = lz4::decompress_pages_status(&pages).unwrap();
        let (found, errors) = match batch % GUARDED {
            0 => guarded::decompress(&subject.device, &pages, None, batch / GUARDED),
            _ => device.decompress(&pages, pool),
        };
        let what = format!(
            "{}: batch {batch} of pages of {}",
            subject.name, pool.page_size
        );
        for (page, (found, expected)) in errors.iter().zip(&statuses).enumerate() {
            let entry = &pages.table[page];
            assert_eq!(found, expected, "{what}: status of page {page}, {entry:?}");
        }
        if let Some(byte) = (found != expected)
            .then(|| found.iter().zip(&expected).position(|(a, b)| a != b))
            .flatten()
        {
            panic!(
                "{what}: byte {byte}, page {}",
                byte / pool.page_size as usize
            );
        }
        n_damaged += statuses.iter().flatten().count();
        n_done += n;
    }
    println!(
        "{}: {n_done} mutated pages, {n_damaged} of them damaged",
        subject.name
    );
    assert!(n_damaged > n_done / 3, "the mutations do no harm");
}

/// Valid blocks of pages of one size.
struct Pool {
    page_size: u32,
    blocks: Vec<Vec<u8>>,
    /// A valid page and its content.
    sound: (PackedPages, Vec<u8>),
}

impl Pool {
    /// Creates a pool of blocks with at most `most_sequences` sequences.
    fn new(page_size: u32, most_sequences: usize) -> Self {
        let length = page_size as usize;
        let mut blocks = Vec::new();
        for (i, (_, make)) in every_generator().enumerate() {
            for seed in 0..4 {
                let content = make(length, 100 * seed + i as u64);
                let mut block = Vec::new();
                if seed == 0 {
                    lzzzz::lz4::compress_to_vec(&content, &mut block, 1).unwrap();
                } else {
                    let level = [Level::Fast, Level::High, Level::Sequential][seed as usize - 1];
                    let parse = lz4::Parse::new(page_size, level).unwrap();
                    lz4::compress_block(&content, &parse, &mut block).unwrap();
                }
                blocks.push(block);
            }
        }
        blocks.retain(|block| n_sequences(block) <= most_sequences);
        let content = crate::common::pages::text(length, 1);
        let packed = lz4::compress_pages(&content, page_size, Level::Fast).unwrap();
        Self {
            page_size,
            blocks,
            sound: (packed, content),
        }
    }

    /// Returns `n` pages, most of them damaged; the last one may be short.
    fn mutated(&self, n: usize, random: &mut Random) -> PackedPages {
        let page_size = self.page_size as usize;
        let mut packed = Vec::with_capacity(n * page_size / 2);
        let mut table = Vec::with_capacity(n);
        let mut block = Vec::new();
        for _ in 0..n {
            block.clear();
            block.extend_from_slice(&self.blocks[random.below(self.blocks.len())]);
            self.damage(&mut block, random);
            table.push(PageEntry {
                offset: packed.len() as u64,
                length: block.len() as u32,
                kind: PageKind::Lz4,
            });
            packed.extend_from_slice(&block);
            packed.resize(packed.len().next_multiple_of(4).max(4), 0);
        }
        // One entry in eight is wrong.
        for entry in &mut table {
            if random.below(8) == 0 {
                lie(entry, packed.len(), page_size, random);
            }
        }
        let tail = if random.below(2) == 0 {
            0
        } else {
            random.below(page_size)
        };
        PackedPages {
            packed,
            table,
            page_size: self.page_size,
            n_bytes: (n * page_size - tail) as u64,
            dictionary_id: 0,
        }
    }

    /// Damages a block, or leaves it unchanged.
    fn damage(&self, block: &mut Vec<u8>, random: &mut Random) {
        const NASTY: [u8; 6] = [0, 1, 0x0f, 0xf0, 0xfe, 0xff];
        let at = random.below(block.len());
        match random.below(12) {
            0 => block[at] = random.byte(),
            1 => (0..1 + random.below(8)).for_each(|_| {
                let at = random.below(block.len());
                block[at] ^= 1 << random.below(8);
            }),
            2 => block[at] = NASTY[random.below(6)],
            // In the first sequences, on which all later ones depend.
            3 => {
                let at = random.below(block.len().min(16));
                block[at] = NASTY[random.below(6)];
            }
            // In the last sequences, whose lengths must reach exactly the end.
            4 => {
                let at = block.len() - 1 - random.below(block.len().min(16));
                block[at] ^= 1 << random.below(8);
            }
            5 => block.truncate(1 + at),
            6 => block.extend((0..1 + random.below(40)).map(|_| random.byte())),
            7 => drop(block.drain(at..(at + 1 + random.below(4)).min(block.len()))),
            8 => {
                let run = vec![NASTY[random.below(6)]; 1 + random.below(300)];
                block.splice(at..at, run);
            }
            // The start of one block with the end of another.
            9 => {
                let other = &self.blocks[random.below(self.blocks.len())];
                block.truncate(at);
                block.extend_from_slice(&other[random.below(other.len())..]);
            }
            10 => block
                .iter_mut()
                .skip(at)
                .take(64)
                .for_each(|byte| *byte = random.byte()),
            _ => {}
        }
        if block.is_empty() {
            block.push(NASTY[random.below(6)]);
        }
    }
}

/// Returns the number of sequences of a valid block.
fn n_sequences(block: &[u8]) -> usize {
    let mut at = 0;
    for n in 1.. {
        let token = block[at];
        at += 1;
        let length = |half: u8, at: &mut usize| {
            let mut length = usize::from(half);
            let mut last = if half == 15 { 255 } else { 0 };
            while last == 255 {
                last = block[*at];
                length += usize::from(last);
                *at += 1;
            }
            length
        };
        let n_literals = length(token >> 4, &mut at);
        at += n_literals;
        if at >= block.len() {
            return n;
        }
        at += 2;
        length(token & 15, &mut at);
    }
    0
}

/// Changes an entry to a wrong one that the table format can represent.
fn lie(entry: &mut PageEntry, packed_bytes: usize, page_size: usize, random: &mut Random) {
    let kinds = [PageKind::Lz4, PageKind::Stored, PageKind::Fill(0)];
    let anywhere = 4 * random.below(packed_bytes / 4 + 2) as u64;
    match random.below(10) {
        0 => entry.offset = anywhere,
        1 => entry.offset = 4 * u64::from(random.next() as u32),
        2 => entry.offset = packed_bytes as u64 - 4 * random.below(3).min(packed_bytes / 4) as u64,
        3 => entry.length = random.below(2 * page_size) as u32,
        4 => entry.length = (1 << 30) - 1 - random.below(9) as u32,
        5 => entry.length = random.below(3) as u32,
        6 => entry.kind = kinds[random.below(3)],
        7 => (entry.kind, entry.length) = (PageKind::Fill(0), 8),
        8 => (entry.kind, entry.length) = (PageKind::Stored, page_size as u32),
        _ => (entry.offset, entry.length) = (4 * u64::from(u32::MAX), random.next() as u32 >> 2),
    }
}

/// Device memory for the resident calls, reused from batch to batch. A valid page precedes the damaged pages and is
/// decompressed before them; canaries follow them.
struct Regions<'a> {
    device: &'a GpuDevice,
    canaries: Option<Buffer>,
    pages: Option<Buffer>,
}

impl<'a> Regions<'a> {
    fn new(device: &'a GpuDevice) -> Self {
        Self {
            device,
            canaries: None,
            pages: None,
        }
    }

    /// Returns memory for pages, filled with canaries.
    fn pages(&mut self, n_bytes: usize) -> Buffer {
        let large = |held: &Option<Buffer>| held.clone().filter(|b| b.n_bytes() >= n_bytes as u64);
        let (canaries, pages) = match (large(&self.canaries), large(&self.pages)) {
            (Some(canaries), Some(pages)) => (canaries, pages),
            _ => (
                upload(self.device, &vec![CANARY; n_bytes]),
                self.device.allocate_memory(n_bytes as u64).unwrap(),
            ),
        };
        let mut stream = self.device.stream();
        let (to, from) = (Place::Device(&pages, 0), Place::Device(&canaries, 0));
        stream.copy(to, from, n_bytes as u64).unwrap();
        stream.submit_untimed().unwrap();
        (self.canaries, self.pages) = (Some(canaries), Some(pages.clone()));
        pages
    }

    fn decompress(
        &mut self,
        pages: &PackedPages,
        pool: &Pool,
    ) -> (Vec<u8>, Vec<Option<BlockError>>) {
        let (sound, content) = &pool.sound;
        let n_bytes = pages.n_bytes as usize;
        let end = content.len() + n_bytes;
        let written = content.len() + n_bytes.next_multiple_of(4);
        let out = self.pages(written + GUARD);
        let [first, second] = [sound, pages].map(|pages| {
            let canaries = [CANARY; GUARD];
            let packed = [&pages.packed[..], &canaries].concat();
            let table = [&table_bytes(pages)[..], &canaries].concat();
            let buffers = [&packed, &table].map(|bytes| upload(self.device, bytes));
            (buffers, [packed, table])
        });
        let part = |([packed, table], _): &([Buffer; 2], _), pages: &PackedPages| {
            let n_packed = pages.packed.len() as u64;
            ResidentPart::new(packed.clone(), n_packed, table.clone(), pages.n_bytes)
        };
        let parts = vec![part(&first, sound), part(&second, pages)];
        let resident = ResidentPages::new(parts, pool.page_size);
        let outcome = block_on(decompress_resident_async(self.device, &resident, &out)).unwrap();
        let mut found = download(self.device, &out, written + GUARD);
        assert_canaries(&found[written..], "behind the pages");
        assert!(
            found[..content.len()] == content[..],
            "the page before was written"
        );
        for (buffer, bytes) in second.0.iter().zip(&second.1) {
            let now = download(self.device, buffer, bytes.len());
            assert!(
                now == *bytes,
                "blocks, table or canaries behind them were written"
            );
        }
        found.truncate(end);
        found.drain(..content.len());
        assert_eq!(outcome.errors[0], None);
        (found, outcome.errors[1..].to_vec())
    }
}

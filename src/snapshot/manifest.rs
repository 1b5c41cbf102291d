//! The manifest of a version, in a skippable frame at the end of its file.
//!
//! All numbers are little-endian. The frame has the magic number [`MAGIC`], the length of what follows in four bytes, and then:
//!
//! | bytes | content |
//! |---|---|
//! | 8 | [`SIGNATURE`] |
//! | 4 | bytes of a page |
//! | 16 | id of the version |
//! | 16 | id of the base; zeros if there is none |
//! | 4 | number of regions; for each its length (8), the length of its name (1), its name in UTF-8 |
//! | 4 | number of runs; for each four bytes: the number of pages, with their origin in the upper three bits (0 filled, 1 added, 2 equal to an earlier page of this version, 3 unchanged, 4 equal to another page of the base) |
//! | 8 | the word of each filled page |
//! | 4 | for each page of origin 2 or 4, the index of the page that it equals |
//! | 16 | the hash of each added page |
//! | 2 | for each added page, the length of its block less 1 |
//! | 16 | XXH3, 128 bits, of the frame up to here |
//! | 4 | bytes of the whole frame |
//! | 4 | [`FOOT_SIGNATURE`] |
//!
//! A block with the length of its page is not compressed. Positions of blocks follow from their lengths, see `file.rs`.

use super::file::{Frames, HEADER_BYTES, SIZE_BYTES, block_bytes};
use super::hash::ContentHash;
use super::pages::Layout;
use super::version::{Block, Counts, Origin, Page, Region, Table, Version};
use crate::lz4::fill_word;
use crate::lz4::frame::{SKIPPABLE_MAGIC, put, put_word};
use crate::memory::{reserve, with_room};
use crate::{Error, Result};

/// Magic number of the skippable frame.
const MAGIC: u32 = SKIPPABLE_MAGIC + 5;
/// First bytes in the frame: the name and the version of the format.
const SIGNATURE: [u8; 8] = *b"pgsnap\0\x01";
/// Last bytes of the frame.
const FOOT_SIGNATURE: [u8; 4] = *b"PGSN";
/// Bytes of the last fields, by which the frame is found from the end of a file.
pub(super) const FOOT_BYTES: usize = 16 + 4 + 4;
/// Bytes before the fields: magic number and length.
const FRAME_HEADER: usize = 8;

const FILL: u32 = 0;
const ADDED: u32 = 1;
const SAME: u32 = 2;
const UNCHANGED: u32 = 3;
const MOVED: u32 = 4;
/// Bytes of the word of a filled page, of the index of an equal page, and of the hash and length of an added page.
const FILL_BYTES: u64 = 8;
const INDEX_BYTES: u64 = 4;
const ADDED_BYTES: u64 = 16 + 2;
/// Bits of the number of pages of a run.
const RUN_BITS: u32 = 29;
const MAX_RUN: u32 = (1 << RUN_BITS) - 1;

const fn kind_of(origin: Origin) -> u32 {
    match origin {
        Origin::Fill => FILL,
        Origin::Added => ADDED,
        Origin::Same(_) => SAME,
        Origin::Unchanged => UNCHANGED,
        Origin::Moved(_) => MOVED,
    }
}

/// Appends the manifest of `version`.
pub(super) fn write(version: &Version, out: &mut Vec<u8>) -> Result<()> {
    let table = &*version.0;
    let start = out.len();
    let regions = &table.layout.regions;
    let names: usize = regions.iter().map(|region| 9 + region.name.len()).sum();
    reserve(out, 128 + names)?;
    put_word(out, MAGIC);
    put_word(out, 0);
    put(out, &SIGNATURE);
    put_word(out, table.layout.page_size);
    put(out, &table.id.to_le_bytes());
    put(out, &table.base.map_or([0; 16], ContentHash::to_le_bytes));
    put_word(out, regions.len() as u32);
    for region in regions {
        put(out, &region.n_bytes.to_le_bytes());
        put(out, &[region.name.len() as u8]);
        put(out, region.name.as_bytes());
    }
    write_runs(&table.origins, out)?;
    let Counts {
        filled,
        copied,
        added,
        ..
    } = version.counts();
    let n_bytes = filled * FILL_BYTES + copied * INDEX_BYTES + added * ADDED_BYTES;
    reserve(out, n_bytes as usize + FOOT_BYTES)?;
    let pages = || table.pages.iter().zip(&table.origins);
    for (page, &origin) in pages() {
        match (page.block, origin) {
            (Block::Fill(word), Origin::Fill) => put(out, &word.to_le_bytes()),
            _ => {}
        }
    }
    for &origin in &table.origins {
        if let Origin::Same(page) | Origin::Moved(page) = origin {
            put_word(out, page);
        }
    }
    for (page, _) in pages().filter(|(_, origin)| **origin == Origin::Added) {
        put(out, &page.hash.to_le_bytes());
    }
    for (page, &origin) in pages() {
        match (page.block, origin) {
            (Block::At { length, .. }, Origin::Added) => {
                put(out, &((length - 1) as u16).to_le_bytes())
            }
            _ => {}
        }
    }
    let n_bytes = out.len() - start + FOOT_BYTES;
    let Ok(length) = u32::try_from(n_bytes) else {
        let expected = "take larger pages: a manifest has at most 4 GiB";
        return Err(Error::invalid(
            "number of pages",
            table.pages.len() as u64,
            expected,
        ));
    };
    out[start + 4..start + 8].copy_from_slice(&(length - FRAME_HEADER as u32).to_le_bytes());
    put(out, &ContentHash::of(&out[start..]).to_le_bytes());
    put_word(out, length);
    put(out, &FOOT_SIGNATURE);
    Ok(())
}

/// Appends the runs of pages with one kind of origin.
fn write_runs(origins: &[Origin], out: &mut Vec<u8>) -> Result<()> {
    let at = out.len();
    put_word(out, 0);
    let mut n_runs = 0_u32;
    for run in origins.chunk_by(|a, b| kind_of(*a) == kind_of(*b)) {
        for part in run.chunks(MAX_RUN as usize) {
            reserve(out, 4)?;
            put_word(out, kind_of(part[0]) << RUN_BITS | part.len() as u32);
            n_runs += 1;
        }
    }
    out[at..at + 4].copy_from_slice(&n_runs.to_le_bytes());
    Ok(())
}

impl Version {
    /// Bytes at the end of a file that [`manifest_range`](Self::manifest_range) needs.
    pub const FOOT_BYTES: usize = FOOT_BYTES;

    /// Returns the bytes of the manifest in a file, given the last [`FOOT_BYTES`](Self::FOOT_BYTES) of it.
    ///
    /// # Errors
    /// [`Error::InvalidSnapshot`] if the file does not end with a manifest.
    pub fn manifest_range(foot: &[u8], file_bytes: u64) -> Result<std::ops::Range<u64>> {
        let mut fields = Fields(foot);
        fields.take(ContentHash::N_BYTES)?;
        let n_bytes = u64::from(fields.word()?);
        if fields.0 != FOOT_SIGNATURE {
            return Err(invalid("the end is no manifest"));
        }
        if n_bytes > file_bytes || n_bytes < (FRAME_HEADER + FOOT_BYTES) as u64 {
            return Err(invalid("the manifest is longer than the file"));
        }
        Ok(file_bytes - n_bytes..file_bytes)
    }

    /// Returns the id of the base that a manifest names.
    ///
    /// # Errors
    /// [`Error::InvalidSnapshot`].
    pub fn base_of(manifest: &[u8]) -> Result<Option<ContentHash>> {
        Ok(Head::read(&mut fields_of(manifest)?)?.base)
    }

    /// Reads the version of a file of `file_bytes` from its manifest. `base` is the version that it continues, if it does.
    ///
    /// # Errors
    /// [`Error::InvalidSnapshot`] for a damaged manifest or a file of another length, [`Error::WrongBase`] if `base` is not the
    /// version that the manifest names, [`Error::OutputLimit`] if the image has more than `max_bytes`, [`Error::OutOfMemory`].
    pub fn read(
        manifest: &[u8],
        file_bytes: u64,
        base: Option<&Self>,
        max_bytes: u64,
    ) -> Result<Self> {
        let mut fields = fields_of(manifest)?;
        let head = Head::read(&mut fields)?;
        let base = match head.base {
            None => None,
            Some(needed) => Some(base.filter(|base| base.id() == needed).ok_or(
                Error::WrongBase {
                    needed: needed.to_string(),
                    given: base.map(|base| base.id().to_string()),
                },
            )?),
        };
        let layout = read_layout(&mut fields, head.page_size)?;
        if layout.n_bytes() > max_bytes {
            return Err(Error::OutputLimit { limit: max_bytes });
        }
        let kinds = read_runs(&mut fields, layout.n_pages())?;
        let pages = Pages::read(&mut fields, &layout, &kinds, base)?;
        let version = pages.place(layout, base, file_bytes - manifest.len() as u64)?;
        match version.id() == head.id {
            true => Ok(version),
            false => Err(invalid("the id is that of another content")),
        }
    }
}

/// The first fields of a manifest.
struct Head {
    page_size: u32,
    id: ContentHash,
    base: Option<ContentHash>,
}

impl Head {
    fn read(fields: &mut Fields<'_>) -> Result<Self> {
        if fields.take(SIGNATURE.len())? != SIGNATURE {
            return Err(invalid("the format is of another version"));
        }
        let (page_size, id, base) = (fields.word()?, fields.hash()?, fields.hash()?);
        let base = Some(base).filter(|base| base.to_le_bytes() != [0; 16]);
        Ok(Self {
            page_size,
            id,
            base,
        })
    }
}

fn read_layout(fields: &mut Fields<'_>, page_size: u32) -> Result<Layout> {
    let mut regions = Vec::new();
    for _ in 0..fields.word()? {
        let n_bytes = fields.long()?;
        let n_name: usize = fields.take(1)?.iter().map(|&byte| usize::from(byte)).sum();
        let name =
            str::from_utf8(fields.take(n_name)?).map_err(|_| invalid("a name is not UTF-8"))?;
        reserve(&mut regions, 1)?;
        regions.push(Region {
            name: name.to_owned(),
            n_bytes,
        });
    }
    Layout::new(page_size, regions).map_err(|_| invalid("the regions cannot be"))
}

/// Returns the kind of origin of each page.
fn read_runs(fields: &mut Fields<'_>, n_pages: usize) -> Result<Vec<u8>> {
    let mut kinds = with_room(n_pages)?;
    for _ in 0..fields.word()? {
        let run = fields.word()?;
        let end = kinds.len() + (run & MAX_RUN) as usize;
        if end > n_pages {
            return Err(invalid("the runs have more pages than the image"));
        }
        kinds.resize(end, (run >> RUN_BITS) as u8);
    }
    match kinds.len() == n_pages {
        true => Ok(kinds),
        false => Err(invalid("the runs have fewer pages than the image")),
    }
}

/// The entries of a manifest.
struct Pages {
    pages: Vec<Page>,
    origins: Vec<Origin>,
}

impl Pages {
    fn read(
        fields: &mut Fields<'_>,
        layout: &Layout,
        kinds: &[u8],
        base: Option<&Version>,
    ) -> Result<Self> {
        let count = |kind: u32| {
            kinds
                .iter()
                .filter(|&&other| u32::from(other) == kind)
                .count()
        };
        let n_added = count(ADDED);
        let mut words = Fields(fields.take(count(FILL) * FILL_BYTES as usize)?);
        let mut indexes = Fields(fields.take((count(SAME) + count(MOVED)) * INDEX_BYTES as usize)?);
        let mut hashes = Fields(fields.take(n_added * ContentHash::N_BYTES)?);
        let mut lengths = Fields(fields.take(n_added * 2)?);
        if !fields.0.is_empty() {
            return Err(invalid("bytes follow the entries"));
        }
        let base = base.map(|base| &*base.0);
        let mut fills = FillHash::default();
        let (mut pages, mut origins): (Vec<Page>, Vec<Origin>) =
            (with_room(kinds.len())?, with_room(kinds.len())?);
        for (i, &kind) in kinds.iter().enumerate() {
            let n_bytes = layout.page_bytes(i);
            let (origin, page) = match kind.into() {
                FILL => (Origin::Fill, fills.page(words.long()?, n_bytes)?),
                ADDED => {
                    let length = u32::from(lengths.short()?) + 1;
                    if length as usize > n_bytes {
                        return Err(invalid("a block is longer than its page"));
                    }
                    let layer = base.map_or(0, |base| base.n_layers);
                    let block = Block::At {
                        layer,
                        length,
                        offset: 0,
                    };
                    (
                        Origin::Added,
                        Page {
                            hash: hashes.hash()?,
                            block,
                        },
                    )
                }
                SAME => {
                    let earlier = indexes.word()?;
                    let is_added = origins.get(earlier as usize) == Some(&Origin::Added);
                    let page = pages
                        .get(earlier as usize)
                        .filter(|_| is_added && layout.page_bytes(earlier as usize) == n_bytes);
                    (
                        Origin::Same(earlier),
                        *page.ok_or(invalid("a page equals none"))?,
                    )
                }
                UNCHANGED | MOVED => {
                    let (there, origin) = match kind.into() {
                        MOVED => {
                            let there = indexes.word()?;
                            (Some(there as usize), Origin::Moved(there))
                        }
                        _ => (
                            base.and_then(|base| page_in(base, layout, i)),
                            Origin::Unchanged,
                        ),
                    };
                    let page = base.zip(there).and_then(|(base, there)| {
                        let page = base.pages.get(there)?;
                        (base.layout.page_bytes(there) == n_bytes).then_some(*page)
                    });
                    (origin, page.ok_or(invalid("a page is not in the base"))?)
                }
                _ => return Err(invalid("the origin of a page is unknown")),
            };
            pages.push(page);
            origins.push(origin);
        }
        Ok(Self { pages, origins })
    }

    /// Returns the version with the positions that blocks have in a file whose frames have `n_bytes`.
    fn place(mut self, layout: Layout, base: Option<&Version>, n_bytes: u64) -> Result<Version> {
        let frames = Frames::of(&layout, &self.origins, base.is_some())?;
        let mut at = 0;
        for (pages, _) in frames.frames {
            at += HEADER_BYTES;
            for &page in &frames.pages[pages] {
                at += SIZE_BYTES;
                let page = page as usize;
                let start = at;
                at += block_bytes(self.pages[page].block, layout.page_bytes(page));
                match (self.origins[page], &mut self.pages[page].block) {
                    (Origin::Added, Block::At { offset, .. }) => *offset = start,
                    _ => {}
                }
            }
            at += SIZE_BYTES;
        }
        if at != n_bytes {
            return Err(invalid("the file has another length"));
        }
        for page in 0..self.pages.len() {
            if let Origin::Same(earlier) = self.origins[page] {
                self.pages[page].block = self.pages[earlier as usize].block;
            }
        }
        Version::new(layout, self.pages, self.origins, base)
    }
}

/// Returns the page of `base` with the region and the place of page `i` of `layout`.
fn page_in(base: &Table, layout: &Layout, i: usize) -> Option<usize> {
    let region = layout.region_of(i);
    let there = base.layout.find(&layout.regions[region].name)?;
    let mut pages = base.layout.pages_of(there);
    pages.nth(i - layout.pages_of(region).start)
}

/// Hashes of filled pages. Most have the same word.
#[derive(Default)]
struct FillHash(Option<(u64, usize, ContentHash)>);

impl FillHash {
    fn page(&mut self, word: u64, n_bytes: usize) -> Result<Page> {
        let hash = match self.0 {
            Some((known, length, hash)) if (known, length) == (word, n_bytes) => hash,
            _ => {
                let mut content = with_room(n_bytes)?;
                content.extend(word.to_le_bytes().into_iter().cycle().take(n_bytes));
                if fill_word(&content) != Some(word) {
                    return Err(invalid("a page cannot be filled with a word"));
                }
                ContentHash::of(&content)
            }
        };
        self.0 = Some((word, n_bytes, hash));
        Ok(Page {
            hash,
            block: Block::Fill(word),
        })
    }
}

/// Returns the fields of a manifest after a check of the frame around them.
fn fields_of(manifest: &[u8]) -> Result<Fields<'_>> {
    let Some(n_fields) = manifest.len().checked_sub(FRAME_HEADER + FOOT_BYTES) else {
        return Err(invalid("the manifest is too short"));
    };
    let mut fields = Fields(manifest);
    let (magic, length) = (fields.word()?, fields.word()?);
    let found = fields.take(n_fields)?;
    let (hash, n_bytes) = (fields.hash()?, fields.word()?);
    if magic != MAGIC
        || n_bytes as usize != manifest.len()
        || length as usize != manifest.len() - FRAME_HEADER
    {
        return Err(invalid("the end is no manifest"));
    }
    match ContentHash::of(&manifest[..FRAME_HEADER + n_fields]) == hash {
        true => Ok(Fields(found)),
        false => Err(invalid("the manifest is damaged")),
    }
}

/// Fields that are left to read. Its methods are not inlined, since the package needs small code more than speed here.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    #[inline(never)]
    fn take(&mut self, n_bytes: usize) -> Result<&'a [u8]> {
        let (taken, rest) = self
            .0
            .split_at_checked(n_bytes)
            .ok_or_else(|| invalid("the manifest is too short"))?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    #[inline(never)]
    fn short(&mut self) -> Result<u16> {
        self.array().map(u16::from_le_bytes)
    }

    #[inline(never)]
    fn word(&mut self) -> Result<u32> {
        self.array().map(u32::from_le_bytes)
    }

    #[inline(never)]
    fn long(&mut self) -> Result<u64> {
        self.array().map(u64::from_le_bytes)
    }

    #[inline(never)]
    fn hash(&mut self) -> Result<ContentHash> {
        self.array().map(ContentHash::from_le_bytes)
    }
}

#[cold]
#[inline(never)]
const fn invalid(what: &'static str) -> Error {
    Error::InvalidSnapshot { what }
}

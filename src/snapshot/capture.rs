//! [`Capture`]: takes the next version of an image.

use std::ops::Range;

use super::hash::{ContentHash, PagesByHash, insert};
use super::pages::{Layout, Region};
use super::version::{Block, Origin, Page, Version};
use crate::lz4::{PageEntry, PageKind, fill_word};
use crate::memory::{reserve, with_room};
use crate::{Error, Result};

#[cfg(not(target_arch = "wasm32"))]
use rayon::prelude::*;

/// Bytes of pages that one task of the thread pool hashes.
#[cfg(not(target_arch = "wasm32"))]
const TASK_BYTES: usize = 256 << 10;

/// Largest offset of a block in a layer, so that no sum of offset and length overflows.
const MAX_OFFSET: u64 = 1 << 62;

/// A version in the making: [`add`](Self::add) takes the image in parts and tells which pages to compress, and
/// [`store`](Self::store) takes the places of their blocks.
#[derive(Debug)]
pub struct Capture {
    layout: Layout,
    base: Option<Base>,
    pages: Vec<Page>,
    origins: Vec<Origin>,
    /// The pages that this version adds, in order, and how many of them have a block.
    added: Vec<u32>,
    n_stored: usize,
    /// The first page with each hash among those that this version adds.
    seen: PagesByHash,
}

/// The version that a capture continues.
#[derive(Debug)]
struct Base {
    version: Version,
    /// The first page with each hash, once it is needed.
    by_hash: Option<PagesByHash>,
    /// The pages of the base for each region of the capture.
    regions: Vec<Range<usize>>,
}

impl Capture {
    /// Starts a version of an image with these regions. Pages are compared with those of `base`.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for an unsupported page size or one that differs from that of the base, for regions of one name,
    /// and for a base with 4,096 layers, which must be flattened before.
    pub fn new(page_size: u32, regions: Vec<Region>, base: Option<&Version>) -> Result<Self> {
        let layout = Layout::new(page_size, regions)?;
        let base = base.map(|base| Base::new(base, &layout)).transpose()?;
        Ok(Self {
            pages: with_room(layout.n_pages())?,
            origins: with_room(layout.n_pages())?,
            layout,
            base,
            added: Vec::new(),
            n_stored: 0,
            seen: PagesByHash::default(),
        })
    }

    /// Returns the bytes of a page.
    #[must_use]
    pub fn page_size(&self) -> u32 {
        self.layout.page_size
    }

    /// Takes the next bytes of the image: whole pages of one region, or the rest of a region. Returns the ranges of `bytes` that
    /// are the pages to compress, in order. Only the last page of a region can be shorter than a page.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for bytes that are no whole pages of one region, [`Error::OutOfMemory`].
    pub fn add(&mut self, bytes: &[u8]) -> Result<Vec<Range<usize>>> {
        let page_size = self.layout.page_size as usize;
        self.check(bytes)?;
        let mut ranges: Vec<Range<usize>> = Vec::new();
        let starts = (0..bytes.len()).step_by(page_size);
        for (start, (hash, word)) in starts.zip(hashes(bytes, page_size)?) {
            let (origin, block) = self.find(hash, word)?;
            if origin == Origin::Added {
                reserve(&mut self.added, 1)?;
                self.added.push(self.pages.len() as u32);
                let end = bytes.len().min(start + page_size);
                match ranges.last_mut().filter(|last| last.end == start) {
                    Some(last) => last.end = end,
                    None => {
                        reserve(&mut ranges, 1)?;
                        ranges.push(start..end);
                    }
                }
            }
            self.pages.push(Page { hash, block });
            self.origins.push(origin);
        }
        Ok(ranges)
    }

    /// Sets the places of the blocks of the next pages that [`add`](Self::add) has returned. `at` is the position in the layer of
    /// the batch that `table` describes.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for more entries than pages, and for an entry that does not fit its page.
    pub fn store(&mut self, table: &[PageEntry], at: u64) -> Result<()> {
        for entry in table {
            let Some(&page) = self.added.get(self.n_stored) else {
                let expected = "give one entry for each page that was to be compressed";
                return Err(Error::invalid("table length", table.len() as u64, expected));
            };
            let page = page as usize;
            let n_bytes = self.layout.page_bytes(page) as u32;
            let is_sound = match entry.kind {
                PageKind::Lz4 => (1..n_bytes).contains(&entry.length),
                PageKind::Stored => entry.length == n_bytes,
                PageKind::Fill(_) => false,
            };
            if !is_sound {
                let expected = "give the entries of compressed pages in their order";
                return Err(Error::invalid(
                    "length of a block",
                    entry.length.into(),
                    expected,
                ));
            }
            let offset = at
                .checked_add(entry.offset)
                .filter(|&start| start <= MAX_OFFSET);
            let Some(offset) = offset else {
                let expected = "give offsets below 2^62";
                return Err(Error::invalid("offset of a block", entry.offset, expected));
            };
            self.pages[page].block = Block::At {
                layer: self.layer(),
                length: entry.length,
                offset,
            };
            self.n_stored += 1;
        }
        Ok(())
    }

    /// Returns the version.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`] unless all bytes were added and all blocks stored.
    pub fn finish(mut self) -> Result<Version> {
        let counts = [
            ("image", self.layout.n_pages(), self.pages.len()),
            ("table", self.added.len(), self.n_stored),
        ];
        for (name, expected, actual) in counts {
            if expected != actual {
                return Err(Error::LengthMismatch {
                    name,
                    expected: expected as u64,
                    actual: actual as u64,
                });
            }
        }
        for page in 0..self.pages.len() {
            if let Origin::Same(earlier) = self.origins[page] {
                self.pages[page].block = self.pages[earlier as usize].block;
            }
        }
        let base = self.base.as_ref().map(|base| &base.version);
        Version::new(self.layout, self.pages, self.origins, base)
    }

    fn layer(&self) -> u16 {
        self.base.as_ref().map_or(0, |base| base.version.0.n_layers)
    }

    /// Fails unless `bytes` are the next whole pages of a region, or the rest of it.
    fn check(&self, bytes: &[u8]) -> Result<()> {
        let next = self.pages.len();
        let is_inside = next < self.layout.n_pages() && {
            let region = self.layout.region_of(next);
            let page_size = u64::from(self.layout.page_size);
            let done = (next - self.layout.pages_of(region).start) as u64 * page_size;
            let left = self.layout.regions[region].n_bytes - done;
            let n_bytes = bytes.len() as u64;
            n_bytes == left || (n_bytes < left && n_bytes.is_multiple_of(page_size))
        };
        match is_inside || bytes.is_empty() {
            true => Ok(()),
            false => Err(Error::invalid(
                "length of a part",
                bytes.len() as u64,
                "give whole pages of one region, or the rest of it",
            )),
        }
    }

    /// Returns the origin and the block of the next page, given its hash and the word that fills it. A page to be added gets its
    /// block later.
    fn find(&mut self, hash: ContentHash, word: Option<u64>) -> Result<(Origin, Block)> {
        let page = self.pages.len();
        if let Some(base) = &mut self.base {
            let region = self.layout.region_of(page);
            let from_first = page - self.layout.pages_of(region).start;
            let pages = &base.version.0.pages;
            let there = base.regions[region].clone().nth(from_first);
            if let Some(there) = there.filter(|&there| pages[there].hash == hash) {
                return Ok((Origin::Unchanged, pages[there].block));
            }
        }
        if let Some(word) = word {
            return Ok((Origin::Fill, Block::Fill(word)));
        }
        let unknown = Block::Fill(0);
        if let Some(&earlier) = self.seen.get(&hash) {
            return Ok((Origin::Same(earlier), unknown));
        }
        if let Some(base) = &mut self.base
            && let Some(there) = base.find(hash)?
        {
            return Ok((
                Origin::Moved(there),
                base.version.0.pages[there as usize].block,
            ));
        }
        insert(&mut self.seen, hash, page)?;
        Ok((Origin::Added, unknown))
    }
}

impl Base {
    fn new(version: &Version, layout: &Layout) -> Result<Self> {
        let table = &*version.0;
        if table.layout.page_size != layout.page_size {
            return Err(Error::InvalidArgument {
                name: "page size",
                value: layout.page_size.to_string(),
                expected: "give that of the previous version",
            });
        }
        version.check_chain()?;
        let pages_of = |region: &Region| {
            let found = table.layout.find(&region.name);
            found.map_or(0..0, |found| table.layout.pages_of(found))
        };
        Ok(Self {
            version: version.clone(),
            by_hash: None,
            regions: layout.regions.iter().map(pages_of).collect(),
        })
    }

    /// Returns the first page with a hash. Filled pages are not among them.
    fn find(&mut self, hash: ContentHash) -> Result<Option<u32>> {
        if self.by_hash.is_none() {
            let mut by_hash = PagesByHash::default();
            for (i, page) in self.version.0.pages.iter().enumerate() {
                if matches!(page.block, Block::At { .. }) {
                    insert(&mut by_hash, page.hash, i)?;
                }
            }
            self.by_hash = Some(by_hash);
        }
        Ok(self
            .by_hash
            .as_ref()
            .and_then(|pages| pages.get(&hash).copied()))
    }
}

/// The hash of each page and, if one word fills it, that word.
fn hashes(bytes: &[u8], page_size: usize) -> Result<Vec<(ContentHash, Option<u64>)>> {
    let look = |page: &[u8]| (ContentHash::of(page), fill_word(page));
    let mut all = with_room(bytes.len().div_ceil(page_size))?;
    #[cfg(not(target_arch = "wasm32"))]
    if bytes.len() > TASK_BYTES {
        let pages = bytes.par_chunks(page_size);
        pages
            .with_min_len(TASK_BYTES / page_size)
            .map(look)
            .collect_into_vec(&mut all);
        return Ok(all);
    }
    all.extend(bytes.chunks(page_size).map(look));
    Ok(all)
}

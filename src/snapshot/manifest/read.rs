//! Reads manifests. They are untrusted input.

use super::{
    ADDED, FILL, FILL_BYTES, FOOT_BYTES, FOOT_SIGNATURE, FRAME_HEADER, INDEX_BYTES, MAGIC, MAX_RUN,
    MOVED, RUN_BITS, SAME, SIGNATURE, UNCHANGED,
};
use crate::lz4::fill_word;
use crate::lz4::frame::{HEADER_BYTES, SIZE_BYTES};
use crate::memory::{reserve, with_room};
use crate::snapshot::frames::{Frames, block_bytes};
use crate::snapshot::hash::ContentHash;
use crate::snapshot::pages::{Layout, Region};
use crate::snapshot::version::{Block, Origin, Page, Table, Version};
use crate::{Error, Result};

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
        let before = file_bytes.checked_sub(manifest.len() as u64);
        let before = before.ok_or_else(|| invalid("the manifest is longer than the file"))?;
        let version = pages.place(layout, base, before)?;
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
        let mut columns = Columns::read(fields, kinds)?;
        let base = base.map(|base| &*base.0);
        let mut read = Self {
            pages: with_room(kinds.len())?,
            origins: with_room(kinds.len())?,
        };
        for (i, region) in layout.regions.iter().enumerate() {
            let mut there = base
                .and_then(|base| Some(base.layout.pages_of(base.layout.find(&region.name)?)))
                .unwrap_or_default();
            for page in layout.pages_of(i) {
                let kind = kinds[page].into();
                let (origin, page) = read.page(&mut columns, layout, kind, base, there.next())?;
                read.pages.push(page);
                read.origins.push(origin);
            }
        }
        Ok(read)
    }

    /// Reads the next page, whose origin has this `kind`. `same_place` is the page of the base in its place, if there is one.
    fn page(
        &self,
        columns: &mut Columns<'_>,
        layout: &Layout,
        kind: u32,
        base: Option<&Table>,
        same_place: Option<usize>,
    ) -> Result<(Origin, Page)> {
        let n_bytes = layout.page_bytes(self.pages.len());
        Ok(match kind {
            FILL => (
                Origin::Fill,
                columns.fills.page(columns.words.long()?, n_bytes)?,
            ),
            ADDED => {
                let length = u32::from(columns.lengths.short()?) + 1;
                if length as usize > n_bytes {
                    return Err(invalid("a block is longer than its page"));
                }
                let layer = base.map_or(0, |base| base.n_layers);
                let block = Block::At {
                    layer,
                    length,
                    offset: 0,
                };
                let hash = columns.hashes.hash()?;
                (Origin::Added, Page { hash, block })
            }
            SAME => {
                let earlier = columns.indexes.word()?;
                let is_same =
                    |i: usize| self.origins[i] == Origin::Added && layout.page_bytes(i) == n_bytes;
                let page = self
                    .pages
                    .get(earlier as usize)
                    .filter(|_| is_same(earlier as usize));
                (
                    Origin::Same(earlier),
                    *page.ok_or_else(|| invalid("a page equals none"))?,
                )
            }
            UNCHANGED => (Origin::Unchanged, page_of(base, same_place, n_bytes)?),
            MOVED => {
                let there = columns.indexes.word()?;
                (
                    Origin::Moved(there),
                    page_of(base, Some(there as usize), n_bytes)?,
                )
            }
            _ => return Err(invalid("the origin of a page is unknown")),
        })
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
                if let Origin::Added = self.origins[page]
                    && let Block::At { offset, .. } = &mut self.pages[page].block
                {
                    *offset = start;
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

/// Returns a page of the base, which has `n_bytes`.
fn page_of(base: Option<&Table>, page: Option<usize>, n_bytes: usize) -> Result<Page> {
    let found = base.zip(page).and_then(|(base, page)| {
        let found = base.pages.get(page)?;
        (base.layout.page_bytes(page) == n_bytes).then_some(*found)
    });
    found.ok_or_else(|| invalid("a page is not in the base"))
}

/// The columns of the entries.
struct Columns<'a> {
    words: Fields<'a>,
    indexes: Fields<'a>,
    hashes: Fields<'a>,
    lengths: Fields<'a>,
    fills: FillHash,
}

impl<'a> Columns<'a> {
    fn read(fields: &mut Fields<'a>, kinds: &[u8]) -> Result<Self> {
        let count = |kind: u32| {
            kinds
                .iter()
                .filter(|&&other| u32::from(other) == kind)
                .count()
        };
        let n_added = count(ADDED);
        let columns = Self {
            words: Fields(fields.take(count(FILL) * FILL_BYTES as usize)?),
            indexes: Fields(fields.take((count(SAME) + count(MOVED)) * INDEX_BYTES as usize)?),
            hashes: Fields(fields.take(n_added * ContentHash::N_BYTES)?),
            lengths: Fields(fields.take(n_added * 2)?),
            fills: FillHash::default(),
        };
        match fields.0.is_empty() {
            true => Ok(columns),
            false => Err(invalid("bytes follow the entries")),
        }
    }
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

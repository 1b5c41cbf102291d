//! [`Version`]: the pages of an image at one time.

use std::ops::Range;
use std::sync::Arc;

use super::hash::ContentHash;
use super::pages::{Layout, Region};
use crate::lz4::frame::{put, put_word};
use crate::memory::with_room;
use crate::{Error, Result};

/// Most layers of a version.
const MAX_LAYERS: u16 = 4096;

/// The place of a page's content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Block {
    /// One 64-bit word (little-endian) that is repeated over the page.
    Fill(u64),
    /// Bytes of a layer: an LZ4 block, or the page itself if `length` is that of the page.
    At {
        layer: u16,
        length: u32,
        offset: u64,
    },
}

/// A page of a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Page {
    pub hash: ContentHash,
    pub block: Block,
}

/// How a version got the content of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// The page is filled with a word.
    Fill,
    /// The version added a block.
    Added,
    /// The block is that of a page before this one in the same version, which added it.
    Same(u32),
    /// The page of the same region and place in the base.
    Unchanged,
    /// Another page of the base.
    Moved(u32),
}

/// Numbers of pages of a version, by the origin of their content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Counts {
    /// All pages of the image.
    pub pages: u64,
    /// Pages that equal the page of the same place in the base.
    pub unchanged: u64,
    /// Pages that are filled with one 64-bit word, zero pages among them.
    pub filled: u64,
    /// Pages that equal another page, of this version or of the base.
    pub copied: u64,
    /// Pages whose blocks this version added.
    pub added: u64,
    /// Bytes of these blocks.
    pub added_bytes: u64,
}

/// The state of an image at one time: hashes and places of its pages, without their content. Clones share memory.
#[derive(Debug, Clone)]
pub struct Version(pub(super) Arc<Table>);

/// The contents of a [`Version`].
#[derive(Debug)]
pub(super) struct Table {
    pub layout: Layout,
    pub pages: Vec<Page>,
    pub origins: Vec<Origin>,
    pub id: ContentHash,
    /// Id of the version whose layers this one needs.
    pub base: Option<ContentHash>,
    /// Number of layers; the last one is this version's own.
    pub n_layers: u16,
}

impl Version {
    /// Makes a version of pages whose hashes and blocks are known.
    pub(super) fn new(
        layout: Layout,
        pages: Vec<Page>,
        origins: Vec<Origin>,
        base: Option<&Self>,
    ) -> Result<Self> {
        if let Some(base) = base {
            base.check_chain()?;
        }
        let id = id_of(&layout, &pages)?;
        Ok(Self(Arc::new(Table {
            layout,
            pages,
            origins,
            id,
            base: base.map(Self::id),
            n_layers: base.map_or(1, |base| base.0.n_layers + 1),
        })))
    }

    /// Fails if no version can continue this one.
    pub(super) fn check_chain(&self) -> Result<()> {
        match self.0.n_layers < MAX_LAYERS {
            true => Ok(()),
            false => Err(Error::invalid(
                "number of layers",
                self.0.n_layers.into(),
                "flatten the previous version",
            )),
        }
    }

    /// Returns the id, which depends on nothing but the page size and the names, lengths and contents of the regions.
    #[must_use]
    pub fn id(&self) -> ContentHash {
        self.0.id
    }

    /// Returns the id of the version whose layers this one needs.
    #[must_use]
    pub fn base(&self) -> Option<ContentHash> {
        self.0.base
    }

    /// Returns the number of layers whose blocks the pages may refer to: those of the base, then this version's own.
    #[must_use]
    pub fn n_layers(&self) -> usize {
        self.0.n_layers.into()
    }

    /// Returns the bytes of a page.
    #[must_use]
    pub fn page_size(&self) -> u32 {
        self.0.layout.page_size
    }

    /// Returns the regions of the image.
    #[must_use]
    pub fn regions(&self) -> &[Region] {
        &self.0.layout.regions
    }

    /// Returns the bytes of all regions.
    #[must_use]
    pub fn n_bytes(&self) -> u64 {
        self.0.layout.n_bytes()
    }

    /// Returns the region with a name.
    #[must_use]
    pub fn find_region(&self, name: &str) -> Option<usize> {
        self.0.layout.find(name)
    }

    /// Counts the pages by the origin of their content.
    #[must_use]
    pub fn counts(&self) -> Counts {
        let mut counts = Counts {
            pages: self.0.pages.len() as u64,
            ..Counts::default()
        };
        for (origin, page) in self.0.origins.iter().zip(&self.0.pages) {
            match origin {
                Origin::Fill => counts.filled += 1,
                Origin::Same(_) | Origin::Moved(_) => counts.copied += 1,
                Origin::Unchanged => counts.unchanged += 1,
                Origin::Added => {
                    counts.added += 1;
                    if let Block::At { length, .. } = page.block {
                        counts.added_bytes += u64::from(length);
                    }
                }
            }
        }
        counts
    }

    /// Returns the pages that hold a range of bytes of a region.
    pub(super) fn pages_at(&self, region: usize, range: &Range<u64>) -> Range<usize> {
        let page_size = u64::from(self.page_size());
        let first = self.0.layout.pages_of(region).start;
        let (start, end) = (range.start / page_size, range.end.div_ceil(page_size));
        first + start as usize..first + end as usize
    }
}

/// Returns the id of a version.
fn id_of(layout: &Layout, pages: &[Page]) -> Result<ContentHash> {
    let names: usize = layout
        .regions
        .iter()
        .map(|region| 12 + region.name.len())
        .sum();
    let mut bytes = with_room(8 + names + pages.len() * ContentHash::N_BYTES)?;
    put_word(&mut bytes, layout.page_size);
    put_word(&mut bytes, layout.regions.len() as u32);
    for region in &layout.regions {
        put(&mut bytes, &region.n_bytes.to_le_bytes());
        put_word(&mut bytes, region.name.len() as u32);
        put(&mut bytes, region.name.as_bytes());
    }
    for page in pages {
        put(&mut bytes, &page.hash.to_le_bytes());
    }
    Ok(ContentHash::of(&bytes))
}

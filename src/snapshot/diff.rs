//! [`Diff`]: the parts of an image that differ between two versions.

use super::version::Version;
use crate::memory::reserve;
use crate::{Error, Result};

/// A range of a region whose pages changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChangedRange {
    /// Index of the region in the later version.
    pub region: usize,
    /// Offset in the region of the first byte.
    pub start: u64,
    /// Offset after the last byte.
    pub end: u64,
}

/// The differences between two versions, page by page.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diff {
    /// Changed pages, in order; neighbouring pages are one range. A page that the earlier version lacks is changed.
    pub changed: Vec<ChangedRange>,
    /// Number of changed pages.
    pub n_pages: u64,
    /// Names of regions that only the earlier version has.
    pub removed: Vec<String>,
}

impl Version {
    /// Compares this version with an earlier one, or any other of the same page size, by the hashes of pages.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if the page sizes differ; [`Error::OutOfMemory`].
    pub fn diff(&self, earlier: &Self) -> Result<Diff> {
        let (new, old) = (&self.0.layout, &earlier.0.layout);
        if new.page_size != old.page_size {
            let (value, expected) = (old.page_size.into(), "give versions of one page size");
            return Err(Error::invalid("page size", value, expected));
        }
        let mut diff = Diff {
            changed: Vec::new(),
            n_pages: 0,
            removed: Vec::new(),
        };
        for (region, here) in new.regions.iter().enumerate() {
            let pages = &self.0.pages[new.pages_of(region)];
            let before = old
                .find(&here.name)
                .map_or(&[][..], |there| &earlier.0.pages[old.pages_of(there)]);
            for (i, page) in pages.iter().enumerate() {
                if before.get(i).is_some_and(|before| before.hash == page.hash) {
                    continue;
                }
                diff.n_pages += 1;
                let start = i as u64 * u64::from(new.page_size);
                let end = (start + u64::from(new.page_size)).min(here.n_bytes);
                match diff.changed.last_mut() {
                    Some(last) if last.region == region && last.end == start => last.end = end,
                    _ => {
                        reserve(&mut diff.changed, 1)?;
                        diff.changed.push(ChangedRange { region, start, end });
                    }
                }
            }
        }
        let is_gone = |name: &&String| new.find(name).is_none();
        diff.removed = old
            .regions
            .iter()
            .map(|region| &region.name)
            .filter(is_gone)
            .cloned()
            .collect();
        Ok(diff)
    }
}

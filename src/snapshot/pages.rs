//! [`Region`] and [`Layout`]: the division of an image into regions and pages.

use std::ops::Range;

use crate::lz4::check_page_size;
use crate::memory::reserve;
use crate::{Error, Result};

/// A part of an image with a name of its own, such as a linear memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Region {
    /// The name, by which regions of two versions are matched; at most 255 bytes.
    pub name: String,
    /// Length in bytes.
    pub n_bytes: u64,
}

/// The regions of an image and the pages of each. Every region starts with a page of its own, and its last page may be shorter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Layout {
    pub page_size: u32,
    pub regions: Vec<Region>,
    /// The first page of each region, and the number of all pages.
    starts: Vec<usize>,
}

impl Layout {
    /// Returns the layout of `regions`.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for an unsupported page size, two regions of one name, no region, or more than 2^32 - 1 pages.
    pub fn new(page_size: u32, regions: Vec<Region>) -> Result<Self> {
        check_page_size(page_size)?;
        if regions.is_empty() || regions.len() > MAX_REGIONS {
            let expected = "give 1 to 1,024";
            let n_regions = regions.len() as u64;
            return Err(Error::invalid("number of regions", n_regions, expected));
        }
        let mut starts = Vec::new();
        reserve(&mut starts, regions.len() + 1)?;
        let mut n_pages = 0_u64;
        for (i, region) in regions.iter().enumerate() {
            starts.push(n_pages as usize);
            n_pages = n_pages.saturating_add(region.n_bytes.div_ceil(page_size.into()));
            if n_pages > u32::MAX.into() {
                return Err(Error::invalid(
                    "length of the regions",
                    region.n_bytes,
                    "give less than 2^32 pages",
                ));
            }
            let is_repeated = regions[..i].iter().any(|other| other.name == region.name);
            if is_repeated || region.name.len() > MAX_NAME_BYTES {
                return Err(Error::InvalidArgument {
                    name: "region",
                    value: region.name.clone(),
                    expected: "give each region a name of its own with at most 255 bytes",
                });
            }
        }
        starts.push(n_pages as usize);
        Ok(Self {
            page_size,
            regions,
            starts,
        })
    }

    pub fn n_pages(&self) -> usize {
        *self.starts.last().unwrap_or(&0)
    }

    /// Returns the bytes of all regions.
    pub fn n_bytes(&self) -> u64 {
        self.regions.iter().map(|region| region.n_bytes).sum()
    }

    /// Returns the pages of a region.
    pub fn pages_of(&self, region: usize) -> Range<usize> {
        self.starts[region]..self.starts[region + 1]
    }

    /// Returns the region of a page.
    pub fn region_of(&self, page: usize) -> usize {
        self.starts.partition_point(|&start| start <= page) - 1
    }

    /// Returns the bytes of a page.
    pub fn page_bytes(&self, page: usize) -> usize {
        let region = self.region_of(page);
        let from_page = (page - self.starts[region]) as u64 * u64::from(self.page_size);
        (self.regions[region].n_bytes - from_page).min(self.page_size.into()) as usize
    }

    /// Returns the region with a name.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.regions.iter().position(|region| region.name == name)
    }
}

/// Most bytes of the name of a region.
pub(super) const MAX_NAME_BYTES: usize = 255;
/// Most regions of an image: each name is compared with all others.
const MAX_REGIONS: usize = 1024;

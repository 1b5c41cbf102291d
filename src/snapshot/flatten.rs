//! Versions that need no base.

use super::hash::{PagesByHash, insert};
use super::staging::Piece;
use super::version::{Block, Origin, Page, Version};
use crate::Result;
use crate::memory::with_room;

impl Version {
    /// Returns a version of the same image and id that needs no base, and the parts of this version's layers whose bytes, one after the
    /// other, are its layer. Blocks that no page needs are left out.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub fn flatten(&self) -> Result<(Self, Vec<Piece>)> {
        let table = &*self.0;
        let n_pages = table.pages.len();
        let mut seen = PagesByHash::default();
        let mut origins = with_room(n_pages)?;
        for (i, page) in table.pages.iter().enumerate() {
            origins.push(match (page.block, seen.get(&page.hash)) {
                (Block::Fill(_), _) => Origin::Fill,
                (_, Some(&earlier)) => Origin::Same(earlier),
                (_, None) => {
                    insert(&mut seen, page.hash, i)?;
                    Origin::Added
                }
            });
        }
        let is_added = |&page: &usize| origins[page] == Origin::Added;
        let staged = self.stage((0..n_pages).filter(is_added))?;
        let mut pages = with_room(n_pages)?;
        let mut offsets = staged.positions.into_iter();
        for (page, origin) in table.pages.iter().zip(&origins) {
            let block = match (page.block, origin) {
                (Block::At { length, .. }, Origin::Added) => Block::At {
                    layer: 0,
                    length,
                    offset: offsets.next().unwrap_or_default(),
                },
                (_, Origin::Same(earlier)) => {
                    let earlier: &Page = &pages[*earlier as usize];
                    earlier.block
                }
                (block, _) => block,
            };
            pages.push(Page { block, ..*page });
        }
        let flat = Self::new(table.layout.clone(), pages, origins, None)?;
        Ok((flat, staged.pieces))
    }
}

//! [`Names`]: finds entries of a list by their names.

use crate::Result;
use crate::memory::with_room;

/// Positions of the entries of a list, in the order of their names. Unlike a hash table it needs no second copy of the names.
#[derive(Debug, Clone)]
pub(super) struct Names {
    order: Vec<usize>,
}

impl Names {
    /// Sorts `n` entries, of which `name` returns the names.
    ///
    /// # Errors
    /// [`OutOfMemory`](crate::Error::OutOfMemory).
    pub(super) fn new<'a>(n: usize, name: impl Fn(usize) -> &'a str) -> Result<Self> {
        let mut order = with_room(n)?;
        order.extend(0..n);
        order.sort_unstable_by(|&a, &b| name(a).cmp(name(b)).then(a.cmp(&b)));
        Ok(Self { order })
    }

    /// Returns the position of an entry whose name an earlier one has.
    pub(super) fn duplicate<'a>(&self, name: impl Fn(usize) -> &'a str) -> Option<usize> {
        let mut pairs = self.order.windows(2);
        pairs.find_map(|pair| (name(pair[0]) == name(pair[1])).then_some(pair[1]))
    }

    /// Returns the position of the entry with this name.
    pub(super) fn find<'a>(&self, wanted: &str, name: impl Fn(usize) -> &'a str) -> Option<usize> {
        let found = self.order.binary_search_by(|&i| name(i).cmp(wanted)).ok()?;
        Some(self.order[found])
    }
}

//! Parts of attention: batches, heads, queries and keys of one launch.

use super::attention_launch::{AttentionSize, Heads, KEYS, MAX_SPLIT};
use super::{how_many, span};

/// Queries of the largest tile.
const QUERIES: u64 = 64;

/// The most that a launch may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Most {
    /// Elements of a slice.
    pub(super) elements: u64,
    /// Multiply-adds.
    pub(super) terms: u64,
}

/// Sizes of a part. Its heads are whole groups that share a head of keys, or some heads of one group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) batch: u64,
    pub(super) heads: u64,
    pub(super) n_q: u64,
    pub(super) n_k: u64,
}

impl Part {
    pub(super) fn key_heads(self, what: &AttentionSize) -> u64 {
        (self.heads * what.key_heads / what.heads).max(1)
    }

    /// Returns the numbers of elements from the first to the last of queries, keys, values and results.
    pub(super) fn spans(self, what: &AttentionSize, [q, k, v]: &[Heads; 3]) -> [u64; 4] {
        let of = |place: &Heads, heads, rows| {
            span([
                (self.batch, place.batch),
                (heads, place.head),
                (rows, place.row),
                (what.dim, 1),
            ])
        };
        let key_heads = self.key_heads(what);
        let pitch = what.heads * what.dim;
        [
            of(q, self.heads, self.n_q),
            of(k, key_heads, self.n_k),
            of(v, key_heads, self.n_k),
            (self.batch - 1) * what.n_q * pitch + (self.n_q - 1) * pitch + self.heads * what.dim,
        ]
    }

    /// Returns the number of splits of all keys. One binding has the keys of one or more splits.
    fn splits(self, what: &AttentionSize) -> u64 {
        what.n_k.div_ceil(self.n_k) * self.n_k.div_ceil(MAX_SPLIT)
    }

    /// Returns the number of elements of the partial results of all splits.
    pub(super) fn n_partials(self, what: &AttentionSize) -> u64 {
        match self.splits(what) {
            1 => 0,
            splits => splits * self.batch * self.heads * self.n_q * (what.dim + 2),
        }
    }

    /// Returns the sizes of the part's attention to all of its keys.
    pub(super) fn size(self, what: &AttentionSize) -> AttentionSize {
        AttentionSize {
            batch: self.batch,
            heads: self.heads,
            key_heads: self.key_heads(what),
            n_q: self.n_q,
            n_k: self.n_k,
            ..*what
        }
    }

    fn fits(self, what: &AttentionSize, places: &[Heads; 3], launch: Most) -> bool {
        let spans = self.spans(what, places);
        let most = launch.elements;
        spans.iter().all(|&n| n <= most)
            && self.n_partials(what) <= most
            && self.size(what).terms() <= launch.terms
    }

    /// Returns the largest part within the limits; `None` if there is none.
    pub(super) fn choose(what: &AttentionSize, places: &[Heads; 3], launch: Most) -> Option<Self> {
        let most = launch.elements;
        let whole = Self {
            batch: what.batch,
            heads: what.heads,
            n_q: what.n_q,
            n_k: what.n_k,
        };
        let fits = |part: &Self| part.fits(what, places, launch);
        // Prefers whole batches, so that many small batches do not need many launches.
        let batches = |batch| Self { batch, ..whole };
        if fits(&batches(1)) {
            return Some(batches(largest(what.batch, |batch| fits(&batches(batch)))));
        }
        // As many heads as leave half a binding for their rows.
        let group = what.heads / what.key_heads;
        let one_row = |heads| {
            let part = Self {
                batch: 1,
                heads,
                n_q: 1,
                n_k: 1,
            };
            part.spans(what, places).iter().all(|&n| n <= most / 2)
        };
        let mut heads = match one_row(group) {
            true => group * largest(what.key_heads, |n| one_row(group * n)),
            false if one_row(1) => largest(group, one_row),
            false => return None,
        };
        // Fewer heads, if the partial results of the splits do not fit in a binding.
        loop {
            let part = Self::of_heads(what, places, heads, launch);
            if fits(&part) {
                return Some(part);
            }
            heads = match heads / group {
                _ if heads == 1 => return None,
                0 | 1 => heads / 2,
                groups => groups / 2 * group,
            };
        }
    }

    /// Returns a part with this many heads of one batch, and as many queries and keys as fit.
    fn of_heads(what: &AttentionSize, places: &[Heads; 3], heads: u64, launch: Most) -> Self {
        let most = launch.elements;
        let lengths = |n_q, n_k| Self {
            batch: 1,
            heads,
            n_q,
            n_k,
        };
        let [q, k, v] = places;
        let [q_row, k_row, v_row, out_row] = lengths(1, 1).spans(what, places);
        let n_k = how_many(what.n_k, k.row, k_row, most);
        let n_k = n_k.min(how_many(what.n_k, v.row, v_row, most));
        // Whole tiles of keys, if the keys are divided.
        let n_k = match n_k {
            n if n < what.n_k && n > KEYS => n / KEYS * KEYS,
            n => n.max(1),
        };
        let n_q = how_many(what.n_q, q.row, q_row, most);
        let n_q = n_q.min(how_many(what.n_q, what.heads * what.dim, out_row, most));
        let fits = |n_q| lengths(n_q, n_k).fits(what, places, launch);
        // Whole tiles of queries, if the queries are divided.
        let n_q = match largest(n_q, fits) {
            n if n < what.n_q && n > QUERIES => n / QUERIES * QUERIES,
            n => n,
        };
        lengths(n_q, n_k)
    }
}

/// Returns the largest number from 1 to `most` that passes, by binary search; 1 if none does. If a number passes, all
/// smaller ones must.
fn largest(most: u64, passes: impl Fn(u64) -> bool) -> u64 {
    let (mut low, mut high) = (1, most.max(1));
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        match passes(middle) {
            true => low = middle,
            false => high = middle - 1,
        }
    }
    low
}

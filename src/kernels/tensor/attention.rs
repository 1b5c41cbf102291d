//! Attention.

use super::{R, U, W, grid, kernel, padded_bytes};
use crate::kernels::{Arg, Job, KernelInfo, Launch, Slot};

pub(super) static ATTENTION: KernelInfo = kernel(
    "tensor_attention",
    shader!("tensor_attention.wgsl"),
    &[R, R, R, W, U],
);
pub(super) static MERGE: KernelInfo = kernel(
    "tensor_attention_merge",
    shader!("tensor_attention_merge.wgsl"),
    &[R, W, U],
);

/// Queries of a workgroup, and keys that it takes at a time.
const QUERIES: u64 = 32;
const KEYS: u64 = 64;
/// Workgroups that keep a large device busy.
const ENOUGH_GROUPS: u64 = 256;
/// Fewest and most keys of a workgroup: software GPUs stop long loops.
const MIN_SPLIT: u64 = 256;
const MAX_SPLIT: u64 = 8192;

/// How heads of rows lie in their buffer. Distances are in elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Heads {
    /// Place of the first element.
    pub offset: u64,
    /// From one batch to the next.
    pub batch: u64,
    /// From one head to the next.
    pub head: u64,
    /// From one row to the next.
    pub row: u64,
    /// Elements of the buffer.
    pub n: u64,
}

impl Heads {
    fn is_aligned(&self) -> bool {
        let places = [self.offset, self.batch, self.head, self.row];
        places.iter().all(|n| n.is_multiple_of(4))
    }

    fn words(&self) -> [u32; 4] {
        [self.offset, self.batch, self.head, self.row].map(|n| n as u32)
    }
}

/// Queries that look at keys and take values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AttentionSize {
    /// Batches.
    pub batch: u64,
    /// Heads of queries; a multiple of `key_heads`.
    pub heads: u64,
    /// Heads of keys and values.
    pub key_heads: u64,
    /// Queries.
    pub n_q: u64,
    /// Keys and values; if `causal`, as many as there are queries at least.
    pub n_k: u64,
    /// Elements of a head, at most 256.
    pub dim: u64,
    /// The last query sees all keys, each query before it one less.
    pub causal: bool,
    /// What products of queries and keys are multiplied by.
    pub scale: f32,
}

/// Launches that make [`Slot::Out`], `[batch, n_q, heads, dim]`, of queries in `A`, keys in `B` and values in `Values`.
/// Nothing is 0.
#[must_use]
pub fn attention_job(what: &AttentionSize, places: [Heads; 3]) -> Job {
    let groups = what.n_q.div_ceil(QUERIES) * what.batch * what.heads;
    let wanted = ENOUGH_GROUPS.div_ceil(groups).min(what.n_k / MIN_SPLIT);
    let splits = wanted.max(what.n_k.div_ceil(MAX_SPLIT)).max(1);
    let split_len = what.n_k.div_ceil(splits).next_multiple_of(KEYS);
    let splits = what.n_k.div_ceil(split_len);
    let rows = what.batch * what.heads * what.n_q;
    let n_out = rows * what.dim;
    let [q, k, v] = places;
    let mut job = Job {
        buffers: vec![
            (Slot::A, padded_bytes(q.n)),
            (Slot::B, padded_bytes(k.n)),
            (Slot::Values, padded_bytes(v.n)),
            (Slot::Out, padded_bytes(n_out)),
        ],
        launches: vec![attention_launch(what, places, splits, split_len)],
    };
    if splits > 1 {
        job.buffers
            .push((Slot::Partials, padded_bytes(splits * (n_out + 2 * rows))));
        job.launches.push(Launch {
            kernel: &MERGE,
            overrides: Vec::new(),
            grid: grid(n_out.div_ceil(256)),
            args: vec![
                Arg::Buffer(Slot::Partials),
                Arg::Buffer(Slot::Out),
                Arg::Params([n_out, what.dim, splits, rows].map(|n| n as u32).to_vec()),
            ],
        });
    }
    job
}

/// The launch that goes over the keys, in splits of a multiple of 64.
pub(in crate::kernels) fn attention_launch(
    what: &AttentionSize,
    [q, k, v]: [Heads; 3],
    splits: u64,
    split_len: u64,
) -> Launch {
    let tiles = what.n_q.div_ceil(QUERIES);
    let n_groups = tiles * what.batch * what.heads * splits;
    let aligned = what.dim.is_multiple_of(4) && q.is_aligned() && k.is_aligned() && v.is_aligned();
    let first = if what.causal { what.n_k - what.n_q } else { 0 };
    let words = [
        what.n_q,
        what.n_k,
        what.heads,
        what.heads / what.key_heads,
        what.dim,
        splits,
        split_len,
        tiles,
        n_groups,
        first,
        what.batch * what.heads * what.n_q * what.dim,
    ];
    let mut params = words.map(|n| n as u32).to_vec();
    params.push(what.scale.to_bits());
    params.extend([q, k, v].iter().flat_map(Heads::words));
    let out = if splits == 1 {
        Slot::Out
    } else {
        Slot::Partials
    };
    let groups = what.dim.div_ceil(64).next_power_of_two();
    Launch {
        kernel: &ATTENTION,
        overrides: vec![
            ("DIM_GROUPS", groups as u32),
            ("CAUSAL", what.causal.into()),
            ("SPLIT", (splits > 1).into()),
            ("ALIGNED", aligned.into()),
        ],
        grid: grid(n_groups),
        args: vec![
            Arg::Buffer(Slot::A),
            Arg::Buffer(Slot::B),
            Arg::Buffer(Slot::Values),
            Arg::Buffer(out),
            Arg::Params(params),
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_rows_of_keys_are_split() {
        let splits = |n_q, n_k| {
            let what = AttentionSize {
                batch: 1,
                heads: 8,
                key_heads: 8,
                n_q,
                n_k,
                dim: 64,
                causal: false,
                scale: 1.0,
            };
            let heads = |n: u64| Heads {
                offset: 0,
                batch: 0,
                head: 64,
                row: 512,
                n: 512 * n,
            };
            let job = attention_job(&what, [heads(n_q), heads(n_k), heads(n_k)]);
            let Arg::Params(words) = &job.launches[0].args[4] else {
                panic!("no parameters");
            };
            assert!(words[5] * words[6] >= words[1] && (words[5] - 1) * words[6] < words[1]);
            words[5]
        };
        assert_eq!(splits(4096, 4096), 1);
        assert_eq!(splits(4096, 100_000), 13);
        assert_eq!(splits(1, 255), 1);
        assert_eq!(splits(1, 4096), 16);
    }
}

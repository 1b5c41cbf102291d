//! Launches of attention, and the sizes that describe them.

use super::attention_form::Form;
use super::{R, THREADS, U, W, check_sizes, grid, kernel, parts, span};
use crate::kernels::{Arg, KernelInfo, Launch, Limits, Slot};
use crate::ops::DType;
use crate::{Error, Result};

pub(super) static ATTENTION: KernelInfo = kernel(
    "tensor_attention",
    shader!("tensor_attention.wgsl"),
    &[R, R, R, W, U],
);
pub(super) static ATTENTION_MANY: KernelInfo = kernel(
    "tensor_attention_many",
    shader!("tensor_attention_many.wgsl"),
    &[R, R, R, W, U],
);
pub(super) static ATTENTION_DECODE: KernelInfo = kernel(
    "tensor_attention_decode",
    shader!("tensor_attention_decode.wgsl"),
    &[R, R, R, W, U],
);
pub(super) static MERGE: KernelInfo = kernel(
    "tensor_attention_merge",
    shader!("tensor_attention_merge.wgsl"),
    &[R, W, U],
);

/// Number of keys of a step, of most forms.
pub(super) const KEYS: u64 = 64;
/// Columns that a workgroup merges.
const MERGED_COLUMNS: u64 = 32;
/// Maximum number of keys of a workgroup, since software GPUs stop long loops.
pub(super) const MAX_SPLIT: u64 = 8192;

/// Layout of heads of rows in their buffer. Strides are in elements.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Heads {
    /// Position of the first element.
    pub offset: u64,
    /// Stride of batches.
    pub batch: u64,
    /// Stride of heads.
    pub head: u64,
    /// Stride of rows.
    pub row: u64,
    /// Number of elements of the buffer.
    pub n: u64,
}

impl Heads {
    /// Returns true if all rows begin at multiples of `unit` elements.
    fn is_aligned(&self, unit: u64) -> bool {
        let places = [self.offset, self.batch, self.head, self.row];
        places.iter().all(|n| n.is_multiple_of(unit))
    }

    fn words(&self) -> [u32; 4] {
        [self.offset, self.batch, self.head, self.row].map(|n| n as u32)
    }
}

/// Sizes and parameters of attention.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AttentionSize {
    /// Number of batches.
    pub batch: u64,
    /// Number of heads of queries, a multiple of `key_heads`.
    pub heads: u64,
    /// Number of heads of keys and values.
    pub key_heads: u64,
    /// Number of queries.
    pub n_q: u64,
    /// Number of keys and values; if `causal`, at least `n_q`.
    pub n_k: u64,
    /// Number of elements of a head, at most 256.
    pub dim: u64,
    /// True for a causal mask: the last query sees all keys, and each query before it one key less.
    pub causal: bool,
    /// Number of keys that a query sees at most, if `causal`: the last one that it sees and those before it. At least 1;
    /// `None` for all.
    pub window: Option<u64>,
    /// Factor of the products of queries and keys.
    pub scale: f32,
}

impl AttentionSize {
    /// Returns the number of queries of all batches and heads.
    pub(super) const fn rows(&self) -> u64 {
        self.batch * self.heads * self.n_q
    }

    /// Returns the number of multiply-adds, those of keys behind a causal mask included.
    #[must_use]
    pub const fn terms(&self) -> u64 {
        let keys = match self.window {
            Some(window) if window.saturating_add(self.n_q) < self.n_k => window + self.n_q,
            _ => self.n_k,
        };
        let rows = self
            .batch
            .saturating_mul(self.heads)
            .saturating_mul(self.n_q);
        rows.saturating_mul(keys).saturating_mul(2 * self.dim)
    }

    /// Returns the largest number of keys that a tile of `queries` queries sees.
    pub(super) fn seen_by(&self, queries: u64) -> u64 {
        let more = queries.min(self.n_q) - 1;
        self.window
            .map_or(self.n_k, |n| n.saturating_add(more).min(self.n_k))
    }

    /// Returns the same sizes without a window that hides no key.
    #[must_use]
    pub(in crate::kernels) fn without_idle_window(self) -> Self {
        Self {
            window: self.window.filter(|&n| n < self.n_k),
            ..self
        }
    }

    /// Returns the same sizes without a causal mask that hides no key.
    pub(super) fn without_idle_mask(self) -> Self {
        Self {
            causal: self.causal && (self.n_q > 1 || self.window.is_some()),
            ..self
        }
    }

    /// Returns the window as the kernels take it; 0 if there is none.
    pub(super) fn window_word(&self) -> u64 {
        self.window.unwrap_or_default()
    }

    /// Checks that the sizes are consistent and the heads are inside their buffers.
    pub(super) fn check(&self, places: &[Heads; 3]) -> Result<()> {
        let Self {
            batch,
            heads,
            key_heads,
            n_q,
            n_k,
            dim,
            ..
        } = *self;
        check_sizes(&[&[batch, heads, n_q, dim], &[batch, key_heads, n_k, dim]])?;
        let lengths = [(heads, n_q), (key_heads, n_k), (key_heads, n_k)];
        let is_inside = places.iter().zip(lengths).all(|(place, (heads, rows))| {
            let axes = [
                (batch, place.batch),
                (heads, place.head),
                (rows, place.row),
                (dim, 1),
            ];
            place.n < 1 << 58 && place.offset.saturating_add(span(axes)) <= place.n
        });
        let is_window = self.window.is_none_or(|n| n > 0 && self.causal);
        let fits = heads.is_multiple_of(key_heads) && dim <= 256 && (!self.causal || n_q <= n_k);
        let fits = fits && is_window;
        if is_inside && fits {
            return Ok(());
        }
        Err(Error::InvalidArgument {
            name: "attention",
            value: format!(
                "[{batch}, {heads}, {n_q}, {dim}] over [{batch}, {key_heads}, {n_k}, {dim}]"
            ),
            expected: "heads of at most 256 elements inside their buffers, a multiple of the heads of keys, a key for each query, and a window only with a mask",
        })
    }
}

/// Arguments of a launch, and the part of the result that it computes.
#[derive(Debug, Clone)]
pub(super) struct Args {
    /// Queries, keys and values.
    pub(super) inputs: [Arg; 3],
    /// Types of queries, and of keys and values; those of 16 bits are for `tensor_attention_decode`.
    pub(super) types: [DType; 2],
    /// Destination, its first element to write, and the number of heads per query in it.
    pub(super) out: Arg,
    pub(super) out_from: u64,
    pub(super) out_heads: u64,
    /// First key, and number of keys of a split, a multiple of the keys of a step. With a window, splits begin at the first key that a tile sees.
    pub(super) first_key: u64,
    pub(super) split_len: u64,
    /// Number of splits of this launch, of the launches before it, and in total; `None` if there is only one.
    pub(super) splits: Option<[u64; 3]>,
    /// Last key that the first query sees, if attention is causal.
    pub(super) first: u64,
}

impl Args {
    /// Returns arguments of whole buffers. Splits have `split_len` keys each; `None` for one that writes the result.
    pub(super) fn whole(
        what: &AttentionSize,
        types: [DType; 2],
        (splits, split_len): (Option<u64>, u64),
    ) -> Self {
        Self {
            inputs: [Slot::A, Slot::B, Slot::Values].map(Arg::Buffer),
            types,
            out: Arg::Buffer(splits.map_or(Slot::Out, |_| Slot::Partials)),
            out_from: 0,
            out_heads: what.heads,
            first_key: 0,
            split_len,
            splits: splits.map(|n| [n, 0, n]),
            first: if what.causal { what.n_k - what.n_q } else { 0 },
        }
    }
}

/// Returns the launch that merges splits of the keys and writes the result, of a type, to `out`, from an element on, with
/// `out_heads` heads per row. For a type of 16 bits, heads have an even number of elements, and the element is the first.
pub(super) fn merge_launch(
    what: &AttentionSize,
    splits: u64,
    dtype: DType,
    (out, out_from): (Arg, u64),
    out_heads: u64,
    limits: Limits,
) -> Launch {
    let rows = what.rows();
    let n_groups = rows * what.dim.div_ceil(MERGED_COLUMNS);
    let words = [
        rows * what.dim,
        what.dim,
        splits,
        rows,
        what.heads,
        out_heads,
        out_from,
        n_groups,
    ];
    Launch {
        kernel: &MERGE,
        overrides: vec![("THREADS", limits.width(THREADS)), ("TO", dtype.code())],
        grid: grid(n_groups),
        args: vec![
            Arg::Buffer(Slot::Partials),
            out,
            Arg::Params(words.map(|n| n as u32).to_vec()),
        ],
    }
}

/// Returns the launch over all keys, from queries, and keys and values, of these types. Splits have `split_len` keys each; `None` for
/// one that writes the result and not a part that is to be merged.
pub(in crate::kernels) fn attention_launch(
    what: &AttentionSize,
    form: Form,
    types: [DType; 2],
    places: [Heads; 3],
    (splits, split_len): (Option<u64>, u64),
) -> Launch {
    let args = Args::whole(what, types, (splits, split_len));
    launch(what, form, places, what.dim, args)
}

/// Returns the launches over the keys from `first_key` to `n_k`, each of as many columns of values as the form takes.
pub(super) fn launches(
    what: &AttentionSize,
    form: Form,
    [q, k, v]: [Heads; 3],
    args: &Args,
) -> impl Iterator<Item = Launch> {
    parts(what.dim, form.columns).map(move |(first, columns)| {
        let v = Heads {
            // The offset of keys that are not in the buffer may have wrapped around.
            offset: v.offset.wrapping_add(first),
            ..v
        };
        let args = Args {
            out_from: args.out_from + first,
            ..args.clone()
        };
        launch(what, form, [q, k, v], columns, args)
    })
}

/// Returns a launch over the keys from `first_key` to `n_k`.
fn launch(
    what: &AttentionSize,
    form: Form,
    [q, k, v]: [Heads; 3],
    columns: u64,
    args: Args,
) -> Launch {
    let [splits, splits_before, all_splits] = args.splits.unwrap_or([1, 0, 1]);
    let tiles = what.n_q.div_ceil(form.queries);
    let n_groups = tiles * what.batch * what.heads * splits;
    let [q_type, type_of_keys] = args.types;
    // Elements of keys and values in 16 bytes.
    let unit = 4 * type_of_keys.per_word();
    let is_whole = what.dim.is_multiple_of(unit) && q.is_aligned(4);
    let aligned = is_whole && k.is_aligned(unit) && v.is_aligned(unit);
    let words = [
        what.n_q,
        what.n_k,
        what.heads,
        what.heads / what.key_heads,
        what.dim,
        splits,
        args.split_len,
        tiles,
        n_groups,
        args.first,
        what.rows() * what.dim,
    ];
    let mut params = words.map(|n| n as u32).to_vec();
    params.push(what.scale.to_bits());
    params.extend([q, k, v].iter().flat_map(Heads::words));
    let words = [
        args.first_key,
        splits_before,
        all_splits,
        args.out_from,
        args.out_heads,
        what.batch * what.heads,
        what.window_word(),
        columns,
    ];
    params.extend(words.map(|n| n as u32));
    let mut overrides = form.overrides(columns);
    overrides.extend([
        ("CAUSAL", what.causal.into()),
        ("WINDOW", what.window.is_some().into()),
        ("SPLIT", args.splits.is_some().into()),
        ("ALIGNED", aligned.into()),
    ]);
    if form.takes_types() {
        overrides.extend([("FROM", type_of_keys.code()), ("FROM_Q", q_type.code())]);
    }
    let [a, b, values] = args.inputs;
    Launch {
        kernel: form.kernel(),
        overrides,
        grid: grid(n_groups),
        args: vec![a, b, values, args.out, Arg::Params(params)],
    }
}

//! Launches of attention, and the sizes that describe them.

use super::{R, U, W, check_sizes, grid, kernel, span};
use crate::kernels::{Arg, ComputeUnits, KernelInfo, Launch, Slot};
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

/// The tiles of attention that a device can keep in its registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttentionTiles {
    /// Only those for few queries.
    Few,
    /// All; queries stay in workgroup memory if the compute units are known to have room for them.
    Any(Option<ComputeUnits>),
}

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
    fn is_aligned(&self) -> bool {
        let places = [self.offset, self.batch, self.head, self.row];
        places.iter().all(|n| n.is_multiple_of(4))
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

/// Kernel of attention, and what it computes in a workgroup.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tiles {
    /// `tensor_attention`.
    Few,
    /// `tensor_attention_many` with overrides `LANES_N`, `KEY_GROUPS` and `COL_GROUPS`.
    Many([u32; 3]),
    /// `tensor_attention_decode`.
    Decode,
}

/// Tiles of a workgroup.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::kernels) struct Form {
    /// Number of queries of a workgroup.
    pub(super) queries: u64,
    /// Number of keys that a workgroup processes per step.
    pub(super) keys: u64,
    /// Number of workgroups that keeps a large device busy.
    pub(super) enough_groups: u64,
    /// Number of keys that a workgroup processes at least where keys are split.
    pub(super) min_split: u64,
    tiles: Tiles,
}

impl Form {
    pub(super) const FEW: Self = Self {
        queries: 32,
        keys: KEYS,
        enough_groups: 256,
        min_split: 256,
        tiles: Tiles::Few,
    };
    pub(super) const MANY_OF_64: Self = Self::many(64, [16, 1, 1]);
    pub(super) const MANY_OF_128: Self = Self::many(64, [16, 1, 2]);
    pub(super) const KEPT_OF_64: Self = Self::many(128, [8, 2, 2]);
    pub(super) const KEPT_OF_128: Self = Self::many(64, [16, 2, 2]);
    /// Four workgroups fit on a multiprocessor of an H200, which has 132.
    pub(super) const DECODE: Self = Self {
        queries: 4,
        keys: 128,
        enough_groups: 512,
        min_split: 128,
        tiles: Tiles::Decode,
    };
    /// Bytes of workgroup memory of a form that keeps its queries there, and what a device reserves besides.
    const KEPT_BYTES: u32 = 47 << 10;
    /// Minimum number of workgroups of [`Self::KEPT_OF_64`]; twice as many with a causal mask, where half of them
    /// are short.
    const MIN_GROUPS: u64 = 256;

    const fn many(queries: u64, overrides: [u32; 3]) -> Self {
        Self {
            queries,
            tiles: Tiles::Many(overrides),
            ..Self::FEW
        }
    }

    /// Returns the fastest form on a device.
    pub(in crate::kernels) fn choose(what: &AttentionSize, tiles: AttentionTiles) -> Self {
        if Self::decodes(what.n_q, what.dim) && what.window.is_none() {
            return Self::DECODE;
        }
        let AttentionTiles::Any(compute_units) = tiles else {
            return Self::FEW;
        };
        // With fewer queries most of a tile would be empty.
        if what.n_q < 64 || what.dim > 128 {
            return Self::FEW;
        }
        let keeps =
            compute_units.is_some_and(|units| units.workgroup_bytes / 2 >= Self::KEPT_BYTES);
        let groups = what.n_q.div_ceil(Self::KEPT_OF_64.queries) * what.batch * what.heads;
        // With a window most workgroups are of one length.
        let is_uneven = what.causal && what.window.is_none();
        let fills = groups >= Self::MIN_GROUPS << u32::from(is_uneven);
        match (what.dim > 64, keeps) {
            (true, true) => Self::KEPT_OF_128,
            (true, false) => Self::MANY_OF_128,
            (false, true) if fills => Self::KEPT_OF_64,
            (false, _) => Self::MANY_OF_64,
        }
    }

    /// Returns true if `tensor_attention_decode` computes attention of `n_q` queries of `dim` elements.
    pub(super) const fn decodes(n_q: u64, dim: u64) -> bool {
        n_q <= Self::DECODE.queries && dim <= 128
    }

    const fn kernel(self) -> &'static KernelInfo {
        match self.tiles {
            Tiles::Few => &ATTENTION,
            Tiles::Many(_) => &ATTENTION_MANY,
            Tiles::Decode => &ATTENTION_DECODE,
        }
    }

    fn overrides(self, dim: u64) -> Vec<(&'static str, u32)> {
        match self.tiles {
            Tiles::Few => vec![("DIM_GROUPS", dim.div_ceil(64).next_power_of_two() as u32)],
            Tiles::Many([lanes, key_groups, col_groups]) => vec![
                ("LANES_N", lanes),
                ("KEY_GROUPS", key_groups),
                ("COL_GROUPS", col_groups),
            ],
            Tiles::Decode => vec![("COLUMNS4", if dim > 64 { 32 } else { 16 })],
        }
    }
}

/// Arguments of a launch, and the part of the result that it computes.
pub(super) struct Args {
    /// Queries, keys and values.
    pub(super) inputs: [Arg; 3],
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

/// Returns the launch that merges splits of the keys and writes the result, of a type, to `out`, from an element on, with
/// `out_heads` heads per row. For a type of 16 bits, heads have an even number of elements, and the element is the first.
pub(super) fn merge_launch(
    what: &AttentionSize,
    splits: u64,
    dtype: DType,
    (out, out_from): (Arg, u64),
    out_heads: u64,
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
        overrides: vec![("TO", dtype.code())],
        grid: grid(n_groups),
        args: vec![
            Arg::Buffer(Slot::Partials),
            out,
            Arg::Params(words.map(|n| n as u32).to_vec()),
        ],
    }
}

/// Returns the launch over all keys, in splits of `split_len` keys.
pub(in crate::kernels) fn attention_launch(
    what: &AttentionSize,
    form: Form,
    places: [Heads; 3],
    splits: u64,
    split_len: u64,
) -> Launch {
    let out = if splits == 1 {
        Slot::Out
    } else {
        Slot::Partials
    };
    let args = Args {
        inputs: [Slot::A, Slot::B, Slot::Values].map(Arg::Buffer),
        out: Arg::Buffer(out),
        out_from: 0,
        out_heads: what.heads,
        first_key: 0,
        split_len,
        splits: (splits > 1).then_some([splits, 0, splits]),
        first: if what.causal { what.n_k - what.n_q } else { 0 },
    };
    launch(what, form, places, args)
}

/// Returns a launch over the keys from `first_key` to `n_k`.
pub(super) fn launch(
    what: &AttentionSize,
    form: Form,
    [q, k, v]: [Heads; 3],
    args: Args,
) -> Launch {
    let [splits, splits_before, all_splits] = args.splits.unwrap_or([1, 0, 1]);
    let tiles = what.n_q.div_ceil(form.queries);
    let n_groups = tiles * what.batch * what.heads * splits;
    let aligned = what.dim.is_multiple_of(4) && q.is_aligned() && k.is_aligned() && v.is_aligned();
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
        0,
    ];
    params.extend(words.map(|n| n as u32));
    let mut overrides = form.overrides(what.dim);
    overrides.extend([
        ("CAUSAL", what.causal.into()),
        ("WINDOW", what.window.is_some().into()),
        ("SPLIT", args.splits.is_some().into()),
        ("ALIGNED", aligned.into()),
    ]);
    let [a, b, values] = args.inputs;
    Launch {
        kernel: form.kernel(),
        overrides,
        grid: grid(n_groups),
        args: vec![a, b, values, args.out, Arg::Params(params)],
    }
}

//! Jobs of attention of 16-bit heads on matrix units.

use super::attention_launch::{AttentionSize, Heads, KEYS, merge_launch};
use super::{MatrixUnits, R, U, W, grid, padded_bytes, padded_bytes_of};
use crate::kernels::{Arg, Job, KernelInfo, Launch, Slot};
use crate::ops::DType;
use crate::{Error, Result};

/// The kernel. Only CUDA runs it: it computes with the registers of matrices, which other compilers keep in workgroup memory.
const KERNEL: KernelInfo = super::kernel(
    "tensor_attention_half",
    shader!("tensor_attention_half.wgsl"),
    &[R, R, R, W, U],
);

static HALF: KernelInfo = KERNEL;

/// The same for numbers of type bfloat16.
static BFLOAT16: KernelInfo = KERNEL.of_bfloat16();

/// Elements of the units that the kernel copies: 16 bytes.
const UNIT: u64 = 8;
/// Rows of a matrix.
const ROWS: u64 = 16;
/// Largest head.
const MAX_DIM: u64 = 128;
/// Minimum numbers of keys of a workgroup, and of one with few rows, which takes long for each.
const MIN_SPLIT: u64 = 256;
const MIN_SPLIT_OF_FEW: u64 = KEYS;

/// Returns true if the kernel can read heads of `dim` elements at a place: rows start at multiples of 16 bytes and end there.
#[must_use]
pub fn takes_heads(place: &Heads, dim: u64) -> bool {
    let words = [place.offset, place.batch, place.head, place.row];
    dim.is_multiple_of(UNIT) && dim <= MAX_DIM && words.iter().all(|n| n.is_multiple_of(UNIT))
}

/// Returns the launches that compute [`Slot::Out`], `[batch, n_q, heads, dim]`, on matrix units, from queries in `A`, keys in `B`
/// and values in `Values` of the 16-bit type `dtype`; the result has type `to`. `None` if a buffer exceeds a binding, if the device has
/// too little workgroup memory, or if the scale is not above 0.
///
/// # Errors
/// [`Error::InvalidArgument`] for a length of 0, for heads that do not match each other or exceed their buffers, and for heads that
/// [`takes_heads`] refuses.
pub fn attention_half_job(
    what: &AttentionSize,
    [dtype, to]: [DType; 2],
    places: [Heads; 3],
    units: MatrixUnits,
    max_binding_bytes: u64,
) -> Result<Option<Job>> {
    what.check(&places)?;
    let what = &what.without_idle_window();
    let is_taken = places.iter().all(|place| takes_heads(place, what.dim));
    if !is_taken || dtype == DType::F32 {
        return Err(Error::InvalidArgument {
            name: "attention",
            value: format!("heads of {} elements of {dtype:?}", what.dim),
            expected: "16-bit elements in rows of whole units of 8, at most 128",
        });
    }
    let form = Form::of(what, units).filter(|_| what.scale > 0.0 && what.scale < f32::INFINITY);
    let Some(form) = form else {
        return Ok(None);
    };
    let n_out = what.rows() * what.dim;
    let n_partials = match form.splits {
        1 => 0,
        splits => splits * (n_out + 2 * what.rows()),
    };
    let [q, k, v] = places;
    let mut buffers = vec![
        (Slot::A, padded_bytes_of(dtype, q.n)),
        (Slot::B, padded_bytes_of(dtype, k.n)),
        (Slot::Values, padded_bytes_of(dtype, v.n)),
        (Slot::Out, padded_bytes_of(to, n_out)),
    ];
    buffers.extend((n_partials > 0).then(|| (Slot::Partials, padded_bytes(n_partials))));
    // The kernel counts in 32 bits, in units of the inputs and in elements of the result.
    let is_bound = buffers.iter().all(|(_, n)| *n <= max_binding_bytes);
    let n_largest = [q.n, k.n, v.n, n_out, n_partials].into_iter().max();
    if !is_bound || n_largest.is_none_or(|n| n > u64::from(u32::MAX)) {
        return Ok(None);
    }
    let mut launches = vec![launch(what, [dtype, to], places, form)];
    if form.splits > 1 {
        let out = (Arg::Buffer(Slot::Out), 0);
        launches.push(merge_launch(what, form.splits, to, out, what.heads));
    }
    Ok(Some(Job { buffers, launches }))
}

/// Configuration of a launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Form {
    tile: Tile,
    splits: u64,
    split_len: u64,
}

/// Configuration of a workgroup.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Tile {
    subgroups: u64,
    /// Matrices of 16 rows of a subgroup.
    matrices: u64,
    /// Columns that are staged.
    dim: u64,
    /// Number of workgroups on a multiprocessor, by their registers and memory.
    resident: u64,
}

/// Configurations for heads of at most 64 and of at most 128 elements: the one with most rows first, that for few rows last.
const TILES: [[Tile; 3]; 2] = [
    [
        Tile::new(4, 1, 64, 4),
        Tile::new(4, 1, 64, 4),
        Tile::new(1, 1, 64, 5),
    ],
    [
        Tile::new(4, 2, 128, 2),
        Tile::new(4, 1, 128, 2),
        Tile::new(1, 1, 128, 3),
    ],
];

impl Tile {
    const fn new(subgroups: u64, matrices: u64, dim: u64, resident: u64) -> Self {
        Self {
            subgroups,
            matrices,
            dim,
            resident,
        }
    }

    const fn rows(self) -> u64 {
        ROWS * self.matrices * self.subgroups
    }

    /// Returns the number of workgroups over all rows.
    const fn groups(self, what: &AttentionSize) -> u64 {
        rows_of(what).div_ceil(self.rows()) * what.batch * what.key_heads
    }

    /// Returns the number of bytes of workgroup memory: queries and two steps of keys and values, in rows padded by a unit, and two
    /// words for each column.
    const fn workgroup_bytes(self) -> u64 {
        (self.rows() + 2 * 2 * KEYS) * 2 * (self.dim + UNIT) + 8 * self.dim
    }
}

impl Form {
    /// Returns the configuration for a device; `None` if it has too little workgroup memory.
    fn of(what: &AttentionSize, units: MatrixUnits) -> Option<Self> {
        let [large, middle, small] = TILES[usize::from(what.dim > 64)];
        let fits = |tile: &Tile| tile.workgroup_bytes() <= units.workgroup_bytes;
        let tile = match rows_of(what) {
            0..=ROWS => small,
            _ if fits(&large) && large.groups(what) >= units.n_units => large,
            _ if fits(&middle) => middle,
            _ => small,
        };
        if !fits(&tile) {
            return None;
        }
        // Merging costs more than it saves where most multiprocessors have a workgroup already.
        let groups = tile.groups(what);
        let min_split = if tile == small {
            MIN_SPLIT_OF_FEW
        } else {
            MIN_SPLIT
        };
        // The rows of a tile may begin and end within those of a query.
        let n_shared = what.heads / what.key_heads;
        let seen = what.seen_by(tile.rows().div_ceil(n_shared) + 1);
        let wanted = match 2 * groups > units.n_units {
            true => 1,
            false => (tile.resident * units.n_units / groups).min(seen / min_split),
        };
        let wanted = wanted.max(1);
        let split_len = seen.div_ceil(wanted).next_multiple_of(KEYS);
        Some(Self {
            tile,
            splits: seen.div_ceil(split_len),
            split_len,
        })
    }
}

/// Returns the number of rows that share keys: the queries of their heads.
const fn rows_of(what: &AttentionSize) -> u64 {
    what.n_q * (what.heads / what.key_heads)
}

fn launch(
    what: &AttentionSize,
    [dtype, to]: [DType; 2],
    [q, k, v]: [Heads; 3],
    form: Form,
) -> Launch {
    let rows = rows_of(what);
    let tiles = rows.div_ceil(form.tile.rows());
    let n_groups = tiles * what.batch * what.key_heads * form.splits;
    let first = if what.causal { what.n_k - what.n_q } else { 0 };
    let words = [
        rows,
        what.heads / what.key_heads,
        what.n_k,
        what.key_heads,
        what.dim,
        form.splits,
        form.split_len,
        tiles,
        n_groups,
        first,
        what.rows() * what.dim,
    ];
    let mut params = words.map(|n| n as u32).to_vec();
    params.push((what.scale * std::f32::consts::LOG2_E).to_bits());
    let places = [q, k, v].map(|place| [place.offset, place.batch, place.head, place.row]);
    params.extend(places.iter().flatten().map(|n| (n / UNIT) as u32));
    params.extend([f32::NEG_INFINITY.to_bits(), what.window_word() as u32, 0, 0]);
    let out = match form.splits {
        1 => Slot::Out,
        _ => Slot::Partials,
    };
    let args = [Slot::A, Slot::B, Slot::Values, out].map(Arg::Buffer);
    Launch {
        kernel: match dtype {
            DType::BF16 => &BFLOAT16,
            _ => &HALF,
        },
        overrides: vec![
            ("SUBGROUPS", form.tile.subgroups as u32),
            ("MATRICES", form.tile.matrices as u32),
            ("DIM", form.tile.dim as u32),
            ("CAUSAL", what.causal.into()),
            ("WINDOW", what.window.is_some().into()),
            ("SPLIT", (form.splits > 1).into()),
            ("BFLOAT", (dtype == DType::BF16).into()),
            ("TO", to.code()),
        ],
        grid: grid(n_groups),
        args: args.into_iter().chain([Arg::Params(params)]).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const H100: MatrixUnits = MatrixUnits {
        n_units: 132,
        workgroup_bytes: 227 << 10,
        has_warpgroups: true,
    };

    fn size(n_q: u64, n_k: u64) -> AttentionSize {
        AttentionSize {
            batch: 1,
            heads: 32,
            key_heads: 8,
            n_q,
            n_k,
            dim: 128,
            causal: true,
            window: None,
            scale: 1.0,
        }
    }

    #[test]
    fn few_rows_have_small_workgroups_and_many_splits() {
        let form = |n_q, n_k, units| {
            let form = Form::of(&size(n_q, n_k), units)?;
            Some((form.tile.rows(), form.splits))
        };
        assert_eq!(form(8192, 8192, H100), Some((128, 1)));
        assert_eq!(form(8, 8192, H100), Some((64, 32)));
        assert_eq!(form(1, 8192, H100), Some((16, 43)));
        assert_eq!(form(1, 514, H100), Some((16, 5)));
        let of = |workgroup_bytes| MatrixUnits {
            workgroup_bytes,
            ..H100
        };
        assert_eq!(form(8192, 8192, of(99 << 10)), Some((64, 1)));
        assert_eq!(form(8192, 8192, of(48 << 10)), None);
        let windowed = AttentionSize {
            window: Some(512),
            ..size(8, 8192)
        };
        // The eight queries share a workgroup, which sees seven more keys than the window has.
        assert!(Form::of(&windowed, H100).is_some_and(|form| form.splits == 2));
    }

    #[test]
    fn rows_start_at_units() {
        let heads = |row, n| Heads {
            offset: 0,
            batch: 0,
            head: 128,
            row,
            n,
        };
        let job = |row| {
            let keys = heads(row, 64 * row);
            let places = [heads(4096, 64 * 4096), keys, keys];
            attention_half_job(&size(64, 64), [DType::F16; 2], places, H100, 1 << 30)
        };
        assert!(job(1024).is_ok_and(|job| job.is_some()));
        assert!(job(1028).is_err());
    }
}

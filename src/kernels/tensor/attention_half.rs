//! Jobs of attention of 16-bit heads on matrix units.

use super::attention_launch::{AttentionSize, Heads, KEYS, merge_launch};
use super::{MatrixUnits, R, U, W, grid, padded_bytes, padded_bytes_of};
use crate::kernels::{Arg, Job, KernelInfo, Launch, Limits, Slot};
use crate::ops::DType;
use crate::{Error, Result};

/// The kernel of subgroups, for CUDA.
const KERNEL: KernelInfo = super::kernel(
    "tensor_attention_half",
    shader!("tensor_attention_half.wgsl"),
    &[R, R, R, W, U],
);

/// The kernel for GPUs whose warpgroups multiply matrices in workgroup memory.
const GROUPS: KernelInfo = super::kernel(
    "tensor_attention_warpgroup",
    shader!("tensor_attention_warpgroup.wgsl"),
    &[R, R, R, W, U],
);

/// The kernel for engines without asynchronous copies, and with little workgroup memory.
const AHEAD: KernelInfo = super::kernel(
    "tensor_attention_half_ahead",
    shader!("tensor_attention_half_ahead.wgsl"),
    &[R, R, R, W, U],
);

static HALF: KernelInfo = KERNEL;
static HALF_GROUPS: KernelInfo = GROUPS;
static HALF_AHEAD: KernelInfo = AHEAD;

/// The same for numbers of type bfloat16.
static BFLOAT16: KernelInfo = KERNEL.of_bfloat16();
static BFLOAT16_GROUPS: KernelInfo = GROUPS.of_bfloat16();
static BFLOAT16_AHEAD: KernelInfo = AHEAD.of_bfloat16();

/// Elements of the units that the kernel copies: 16 bytes.
const UNIT: u64 = 8;
/// Rows of a matrix, and of a warpgroup.
const ROWS: u64 = 16;
const GROUP_ROWS: u64 = 64;
/// Rows of a workgroup without asynchronous copies.
const AHEAD_ROWS: u64 = 128;
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
/// too little workgroup memory, if there are few rows for a device without asynchronous copies, or if the scale is not above 0.
///
/// # Errors
/// [`Error::InvalidArgument`] for a length of 0, for heads that do not match each other or exceed their buffers, for heads of more
/// than 128 elements, and for rows that do not start and end at multiples of 16 bytes.
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
        launches.push(merge_launch(
            what,
            form.splits,
            to,
            out,
            what.heads,
            Limits::WEBGPU,
        ));
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

/// The invocations that compute a part of a workgroup's rows together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Computers {
    /// This number of subgroups, with this number of matrices of 16 rows each.
    Subgroups(u64, u64),
    /// This number of warpgroups, with 64 rows each.
    Warpgroups(u64),
    /// A subgroup for each 16 columns, without asynchronous copies.
    Ahead,
}

/// Configuration of a workgroup.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Tile {
    computers: Computers,
    /// Columns that are staged.
    dim: u64,
    /// Keys of a step.
    keys: u64,
    /// Number of workgroups on a multiprocessor, by their registers and memory.
    resident: u64,
}

/// Configurations for heads of at most 64 and of at most 128 elements: that of warpgroups first, then the others from most rows to those for
/// few rows.
const TILES: [[Tile; 4]; 2] = [
    [
        Tile::new(Computers::Warpgroups(2), 64, 64, 2),
        Tile::new(Computers::Subgroups(4, 1), 64, KEYS, 4),
        Tile::new(Computers::Subgroups(4, 1), 64, KEYS, 4),
        Tile::new(Computers::Subgroups(1, 1), 64, KEYS, 5),
    ],
    [
        Tile::new(Computers::Warpgroups(2), 128, 128, 1),
        Tile::new(Computers::Subgroups(4, 2), 128, KEYS, 2),
        Tile::new(Computers::Subgroups(4, 1), 128, KEYS, 2),
        Tile::new(Computers::Subgroups(1, 1), 128, KEYS, 3),
    ],
];

/// Configurations without asynchronous copies, for heads of at most 64 and of at most 128 elements.
const AHEAD_TILES: [Tile; 2] = [
    Tile::new(Computers::Ahead, 64, KEYS, 2),
    Tile::new(Computers::Ahead, 128, KEYS, 1),
];

impl Tile {
    const fn new(computers: Computers, dim: u64, keys: u64, resident: u64) -> Self {
        Self {
            computers,
            dim,
            keys,
            resident,
        }
    }

    const fn rows(self) -> u64 {
        match self.computers {
            Computers::Ahead => AHEAD_ROWS,
            Computers::Subgroups(subgroups, matrices) => ROWS * matrices * subgroups,
            Computers::Warpgroups(groups) => GROUP_ROWS * groups,
        }
    }

    /// Returns the number of workgroups over all rows.
    const fn groups(self, what: &AttentionSize) -> u64 {
        rows_of(what).div_ceil(self.rows()) * what.batch * what.key_heads
    }

    /// Returns the number of bytes of workgroup memory: queries and two steps of keys and values, in rows that are padded by a unit unless
    /// warpgroups read them, and two words for each column; without asynchronous copies, one step of keys and values.
    const fn workgroup_bytes(self) -> u64 {
        let pad = match self.computers {
            Computers::Subgroups(..) | Computers::Ahead => UNIT,
            Computers::Warpgroups(..) => 0,
        };
        let lines = match self.computers {
            Computers::Ahead => 2 * self.keys,
            _ => self.rows() + 2 * 2 * self.keys,
        };
        lines * 2 * (self.dim + pad) + 8 * self.dim
    }

    /// Returns true if a device can run the configuration.
    fn fits(self, units: MatrixUnits) -> bool {
        let is_known = match self.computers {
            Computers::Subgroups(..) => units.copies_asynchronously,
            Computers::Warpgroups(..) => units.has_warpgroups,
            Computers::Ahead => !units.copies_asynchronously,
        };
        is_known && self.workgroup_bytes() <= units.workgroup_bytes
    }

    /// Returns the overrides that the kernels do not share, for heads of `dim` elements.
    fn overrides(self, dim: u64) -> Vec<(&'static str, u32)> {
        let all = match self.computers {
            Computers::Subgroups(subgroups, matrices) => {
                vec![("SUBGROUPS", subgroups), ("MATRICES", matrices)]
            }
            Computers::Warpgroups(groups) => vec![("GROUPS", groups), ("KEYS", self.keys)],
            Computers::Ahead => vec![("WHOLE", (dim == self.dim).into())],
        };
        all.into_iter().map(|(name, n)| (name, n as u32)).collect()
    }
}

impl Form {
    /// Returns the configuration for a device; `None` if it has too little workgroup memory, or none for so few rows.
    fn of(what: &AttentionSize, units: MatrixUnits) -> Option<Self> {
        let size = usize::from(what.dim > 64);
        let [of_warpgroups, large, middle, small] = TILES[size];
        let fits = |tile: &Tile| tile.fits(units);
        let tile = match rows_of(what) {
            0..=ROWS => small,
            _ if !units.copies_asynchronously => AHEAD_TILES[size],
            _ if fits(&of_warpgroups) && occupies_half(of_warpgroups.groups(what), units) => {
                of_warpgroups
            }
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
        let wanted = match occupies_half(groups, units) {
            true => 1,
            false => (tile.resident * units.n_units / groups).min(seen / min_split),
        };
        let wanted = wanted.max(1);
        let split_len = seen.div_ceil(wanted).next_multiple_of(tile.keys);
        Some(Self {
            tile,
            splits: seen.div_ceil(split_len),
            split_len,
        })
    }
}

/// Returns true if more than half of the multiprocessors have one of the workgroups.
const fn occupies_half(groups: u64, units: MatrixUnits) -> bool {
    2 * groups > units.n_units
}

/// Returns the number of rows that share keys: the queries of their heads.
const fn rows_of(what: &AttentionSize) -> u64 {
    what.n_q * (what.heads / what.key_heads)
}

const fn kernel_of(tile: Tile, dtype: DType) -> &'static KernelInfo {
    match (tile.computers, dtype) {
        (Computers::Subgroups(..), DType::BF16) => &BFLOAT16,
        (Computers::Subgroups(..), _) => &HALF,
        (Computers::Warpgroups(..), DType::BF16) => &BFLOAT16_GROUPS,
        (Computers::Warpgroups(..), _) => &HALF_GROUPS,
        (Computers::Ahead, DType::BF16) => &BFLOAT16_AHEAD,
        (Computers::Ahead, _) => &HALF_AHEAD,
    }
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
    let (masked, window) = (f32::NEG_INFINITY.to_bits(), what.window_word() as u32);
    params.extend([masked, window, f32::NAN.to_bits(), 0]);
    let out = match form.splits {
        1 => Slot::Out,
        _ => Slot::Partials,
    };
    let args = [Slot::A, Slot::B, Slot::Values, out].map(Arg::Buffer);
    let mut overrides = form.tile.overrides(what.dim);
    overrides.extend([
        ("DIM", form.tile.dim as u32),
        ("CAUSAL", what.causal.into()),
        ("WINDOW", what.window.is_some().into()),
        ("SPLIT", (form.splits > 1).into()),
        ("BFLOAT", (dtype == DType::BF16).into()),
        ("TO", to.code()),
    ]);
    Launch {
        kernel: kernel_of(form.tile, dtype),
        overrides,
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
        copies_asynchronously: true,
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
        let kernel = |n_q, units| {
            let form = Form::of(&size(n_q, 8192), units)?;
            Some(kernel_of(form.tile, DType::F16).name)
        };
        let of = |workgroup_bytes, has_warpgroups| MatrixUnits {
            workgroup_bytes,
            has_warpgroups,
            ..H100
        };
        assert_eq!(kernel(8192, H100), Some("tensor_attention_warpgroup"));
        assert_eq!(kernel(512, H100), Some("tensor_attention_warpgroup"));
        assert_eq!(kernel(128, H100), Some("tensor_attention_half"));
        assert_eq!(
            kernel(8192, of(227 << 10, false)),
            Some("tensor_attention_half")
        );
        assert_eq!(form(8192, 8192, H100), Some((128, 1)));
        assert_eq!(form(8, 8192, H100), Some((64, 32)));
        assert_eq!(form(1, 8192, H100), Some((16, 43)));
        assert_eq!(form(1, 514, H100), Some((16, 5)));
        assert_eq!(form(8192, 8192, of(99 << 10, true)), Some((64, 1)));
        assert_eq!(form(8192, 8192, of(48 << 10, true)), None);
        let vulkan = MatrixUnits {
            copies_asynchronously: false,
            ..of(48 << 10, false)
        };
        assert_eq!(kernel(8192, vulkan), Some("tensor_attention_half_ahead"));
        assert_eq!(form(8192, 8192, vulkan), Some((128, 1)));
        assert_eq!(form(64, 8192, vulkan), Some((128, 8)));
        assert_eq!(form(4, 8192, vulkan), None);
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

//! Estimated times of matrix products, by which tiles and slices of k are chosen.

use super::Product;

/// Multiprocessors of the GPU on which speeds were measured.
const MEASURED_UNITS: u64 = 132;
/// Numbers of slices of k.
pub(super) const SLICES: [u64; 5] = [1, 2, 4, 8, 16];
/// Minimum length of a slice of k.
pub(super) const MIN_SLICE: u64 = 256;

/// Returns the estimated time in ns of a product in slices of k, each computed in tiles of these columns and rows. `speed` is that
/// of large products in TFLOP/s, on [`MEASURED_UNITS`].
pub(super) fn time(
    what: &Product,
    [cols, rows]: [u64; 2],
    speed: u64,
    k_slice: u64,
    n_units: u64,
) -> u64 {
    let slices = what.k.div_ceil(k_slice);
    let n_tiles = slices * what.batch * what.m.div_ceil(rows) * what.n.div_ceil(cols);
    let turns = n_tiles.div_ceil(n_units.max(1));
    let operations = (2 * rows * cols).saturating_mul(k_slice);
    let of_tile = operations.saturating_mul(MEASURED_UNITS) / (1000 * speed);
    let of_sum = match slices {
        1 => 0,
        // A launch, and slices that are written and read at 2 TB/s.
        _ => 3000 + slices * what.batch * what.m * what.n * 8 / 2000,
    };
    turns.saturating_mul(of_tile).saturating_add(of_sum)
}

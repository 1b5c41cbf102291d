//! Attention; the twin of `shaders/tensor_attention.wgsl` and `shaders/tensor_attention_many.wgsl`.

use super::functions::exp;
use super::parallel::for_shares;
use super::sum::short_dot;
use crate::Result;
use crate::tensor::layer::{Attention, MAX_HEAD_DIM};
use crate::tensor::{Shape, check_dims};

/// Number of values of a block, and of blocks of a group. Values are summed by block, blocks by group, and groups in
/// total, which keeps the rounding error of long sums small.
const BLOCK: usize = 64;

/// Computes the attention of queries, `[heads, queries, elements]` or `[batch, heads, queries, elements]`, to keys and
/// values. The result of a query is the mean of the values, weighted by the softmax of the query's products with the
/// keys. Keys and values have one shape, which may have fewer heads than the queries; consecutive heads of queries then
/// share one (grouped-query attention). `out` has the shape of the queries.
///
/// # Errors
/// [`ShapeMismatch`](crate::Error::ShapeMismatch), [`LengthMismatch`](crate::Error::LengthMismatch);
/// [`InvalidArgument`](crate::Error::InvalidArgument) for heads of more than 256 elements, or for a window of 0 or
/// without a causal mask.
pub fn attention(
    what: Attention,
    (queries, q_shape): (&[f32], &Shape),
    (keys, values, k_shape): (&[f32], &[f32], &Shape),
    out: &mut [f32],
) -> Result<()> {
    let size = what.size(q_shape, k_shape, k_shape)?;
    check_dims("queries", queries.len(), q_shape.dims())?;
    check_dims("keys", keys.len(), k_shape.dims())?;
    check_dims("values", values.len(), k_shape.dims())?;
    check_dims("result", out.len(), q_shape.dims())?;
    if out.is_empty() {
        return Ok(());
    }
    for_shares(out, size.dim, |start, out| {
        let row = start / size.dim;
        let (product, query) = (row / size.n_q, row % size.n_q);
        let (batch, head) = (product / size.heads, product % size.heads);
        let key_head = batch * size.key_heads + head / (size.heads / size.key_heads);
        let seen = what.seen(query, size.n_q, size.n_k);
        let of_keys = (key_head * size.n_k + seen.start) * size.dim;
        let query = &queries[start..start + size.dim];
        let rows = [&keys[of_keys..], &values[of_keys..]];
        one_query(
            query,
            rows,
            (seen.len(), size.dim),
            what.scale_of(size.dim),
            out,
        );
    });
    Ok(())
}

/// Computes the attention of one query to the first `n` keys and values, which are `pitch` elements apart.
#[inline(always)]
pub(super) fn one_query(
    query: &[f32],
    [keys, values]: [&[f32]; 2],
    (n, pitch): (usize, usize),
    scale: f32,
    out: &mut [f32],
) {
    let dim = query.len();
    let mut most = f32::MIN;
    // Sums of weights: of the current block, of its group of blocks, and of all groups.
    let mut totals = [0.0; 3];
    let (mut block, mut blocks) = ([0.0; MAX_HEAD_DIM], [0.0; MAX_HEAD_DIM]);
    let (block, blocks) = (&mut block[..dim], &mut blocks[..dim]);
    out.fill(0.0);
    let rows = keys.chunks(pitch).zip(values.chunks(pitch)).take(n);
    for (i, (key, value)) in rows.enumerate() {
        if i.is_multiple_of(BLOCK) {
            join(block, blocks);
            (totals[0], totals[1]) = (0.0, totals[1] + totals[0]);
        }
        if i.is_multiple_of(BLOCK * BLOCK) {
            join(blocks, out);
            (totals[1], totals[2]) = (0.0, totals[2] + totals[1]);
        }
        let score = short_dot(query, &key[..dim]) * scale;
        // The comparison is false for NaN. The weight below is NaN then, and so is the result.
        if score > most {
            let kept = exp(most - score);
            let sums = block.iter_mut().chain(&mut *blocks).chain(&mut *out);
            sums.chain(&mut totals).for_each(|sum| *sum *= kept);
            most = score;
        }
        let weight = exp(score - most);
        totals[0] += weight;
        for (sum, x) in block.iter_mut().zip(value) {
            *sum += weight * x;
        }
    }
    join(block, blocks);
    join(blocks, out);
    let scale = 1.0 / (totals[0] + totals[1] + totals[2]);
    out.iter_mut().for_each(|x| *x *= scale);
}

/// Adds sums to others, and clears them.
#[inline(always)]
fn join(from: &mut [f32], to: &mut [f32]) {
    for (from, to) in from.iter_mut().zip(to) {
        *to += *from;
        *from = 0.0;
    }
}

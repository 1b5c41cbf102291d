//! Attention; the twin of `shaders/tensor_attention.wgsl`.

use super::functions::exp;
use super::parallel::for_shares;
use crate::Result;
use crate::tensor::layer::Attention;
use crate::tensor::{Shape, check_len};

/// What queries of a shape, `[heads, queries, elements]` or `[batch, heads, queries, elements]`, find in `values` by
/// `keys`: for each query the values' mean, weighted by the softmax of its products with the keys. Keys and values are of
/// one shape, which may have fewer heads, each for as many heads of queries. `out` is as the queries.
///
/// # Errors
/// [`ShapeMismatch`](crate::Error::ShapeMismatch), [`LengthMismatch`](crate::Error::LengthMismatch);
/// [`InvalidArgument`](crate::Error::InvalidArgument) for heads of more than 256 elements.
pub fn attention(
    what: Attention,
    (queries, q_shape): (&[f32], &Shape),
    (keys, values, k_shape): (&[f32], &[f32], &Shape),
    out: &mut [f32],
) -> Result<()> {
    let size = what.size(q_shape, k_shape, k_shape)?;
    check_len("queries", queries.len(), q_shape.n_elements() as u64)?;
    check_len("keys", keys.len(), k_shape.n_elements() as u64)?;
    check_len("values", values.len(), k_shape.n_elements() as u64)?;
    check_len("result", out.len(), q_shape.n_elements() as u64)?;
    if out.is_empty() {
        return Ok(());
    }
    for_shares(out, size.dim, |start, out| {
        let row = start / size.dim;
        let (product, query) = (row / size.n_q, row % size.n_q);
        let (batch, head) = (product / size.heads, product % size.heads);
        let key_head = batch * size.key_heads + head / (size.heads / size.key_heads);
        let of_keys = key_head * size.n_k * size.dim;
        let seen = match what.causal {
            true => query + size.n_k - size.n_q + 1,
            false => size.n_k,
        };
        let query = &queries[start..start + size.dim];
        let rows = [&keys[of_keys..], &values[of_keys..]];
        one_query(query, rows, (seen, size.dim), what.scale_of(size.dim), out);
    });
    Ok(())
}

/// What one query finds in the first `n` keys and values, which are `pitch` apart.
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
    let mut total = 0.0;
    out.fill(0.0);
    let rows = keys.chunks(pitch).zip(values.chunks(pitch)).take(n);
    for (key, value) in rows {
        let products = query.iter().zip(&key[..dim]).map(|(x, y)| x * y);
        let score = products.sum::<f32>() * scale;
        // NaN gets lost here; it comes back by the weight.
        let next = if score > most { score } else { most };
        let (weight, kept) = (exp(score - next), exp(most - next));
        most = next;
        total = total * kept + weight;
        for (out, x) in out.iter_mut().zip(&value[..dim]) {
            *out = *out * kept + weight * x;
        }
    }
    let scale = 1.0 / total;
    out.iter_mut().for_each(|x| *x *= scale);
}

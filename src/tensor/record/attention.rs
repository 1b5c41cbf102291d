//! Records attention.

use super::{AnyOperand, Operand, Recording};
use crate::Result;
use crate::gpu::{Buffer, Sized64};
use crate::kernels::tensor::{AttentionSize, Heads, attention_decode_job, attention_job};
use crate::kernels::{Slot, pace};
use crate::tensor::layer::Attention;
use crate::tensor::{DType, TensorView};

/// Returns the layout of heads, `[.., heads, rows, elements]`, in a buffer of `n` elements if the kernels support it: the
/// elements of a row must be contiguous.
pub(super) fn heads(view: &TensorView, n: u64) -> Option<Heads> {
    let (dims, strides) = (view.shape().dims(), view.strides());
    let &[head, row, element] = strides.last_chunk()?;
    let is_dense = element == 1 || dims.last() == Some(&1);
    is_dense.then(|| Heads {
        offset: view.offset() as u64,
        batch: if dims.len() == 4 {
            strides[0] as u64
        } else {
            0
        },
        head: head as u64,
        row: row as u64,
        n,
    })
}

/// Returns the sizes of attention to views of queries, keys and values; `None` if its result is empty.
pub(super) fn size_of(
    what: Attention,
    [q, k, v]: [&TensorView; 3],
) -> Result<Option<AttentionSize>> {
    let dims = what.size(q.shape(), k.shape(), v.shape())?;
    let size = AttentionSize {
        batch: dims.batch as u64,
        heads: dims.heads as u64,
        key_heads: dims.key_heads as u64,
        n_q: dims.n_q as u64,
        n_k: dims.n_k as u64,
        dim: dims.dim as u64,
        causal: what.causal,
        window: what.window.map(|n| n as u64),
        scale: what.scale_of(dims.dim),
    };
    let is_empty = dims.batch * dims.heads * dims.n_q * dims.dim == 0;
    Ok((!is_empty).then_some(size))
}

/// Returns the views of the keys and values that a query sees: without those before the first query's window. The result
/// of the queries is the same with them.
pub(super) fn seen_keys(
    what: Attention,
    [q, k, v]: [&TensorView; 3],
) -> Result<Option<[TensorView; 2]>> {
    let dims = what.size(q.shape(), k.shape(), v.shape())?;
    let first = match dims.n_q {
        0 => 0,
        n_q => what.seen(0, n_q, dims.n_k).start,
    };
    if first == 0 {
        return Ok(None);
    }
    let seen = first..dims.n_k;
    let axis = k.shape().rank() - 2;
    Ok(Some([k.slice(axis, seen.clone())?, v.slice(axis, seen)?]))
}

impl Recording {
    /// Records the attention of few queries to keys and values of 16 bits, `[.., heads, rows, elements]`, into `out`,
    /// `[.., queries, heads, elements]`, in f32, without converting the keys and values in memory. Records nothing and returns false
    /// if keys and values are not of one 16-bit type, if queries are neither of that type nor of f32, if elements of a row are not
    /// adjacent, or for sizes that [`attention_decode_job`] does not take.
    pub(super) async fn decoding_attention(
        &mut self,
        what: Attention,
        inputs: [AnyOperand<'_>; 3],
        out: AnyOperand<'_>,
    ) -> Result<bool> {
        let [q, k, v] = inputs;
        let takes_queries = q.dtype == DType::F32 || q.dtype == k.dtype;
        if k.dtype != v.dtype || k.dtype == DType::F32 || !takes_queries {
            return Ok(false);
        }
        let Some(size) = size_of(what, inputs.map(|input| input.view))? else {
            return Ok(false);
        };
        let places = inputs.map(|input| {
            let n = input.buffer.n_bytes() / 4 * input.dtype.per_word();
            heads(input.view, n)
        });
        let [Some(q_place), Some(k_place), Some(v_place)] = places else {
            return Ok(false);
        };
        let types = [q.dtype, k.dtype, out.dtype];
        let places = [q_place, k_place, v_place];
        let job = attention_decode_job(&size, types, places, self.limits())?;
        let Some(job) = job else {
            return Ok(false);
        };
        let given = [
            (Slot::A, q.buffer, 0),
            (Slot::B, k.buffer, 0),
            (Slot::Values, v.buffer, 0),
            (Slot::Out, out.buffer, 0),
        ];
        self.run(&job, &given).await?;
        Ok(true)
    }

    /// Records the attention of queries to keys and values, `[.., heads, rows, elements]`. The result is written to
    /// `out`, `[.., queries, heads, elements]`. Operands with an unsupported layout are copied first.
    pub(crate) async fn attention(
        &mut self,
        what: Attention,
        [q, k, v]: [Operand<'_>; 3],
        out: &Buffer,
    ) -> Result<()> {
        let Some(size) = size_of(what, [q, k, v].map(|operand| operand.view))? else {
            return Ok(());
        };
        let mut buffers = Vec::with_capacity(3);
        let mut places = Vec::with_capacity(3);
        for operand in [q, k, v] {
            let n = operand.buffer.n_bytes() / 4;
            if let Some(found) = heads(operand.view, n) {
                buffers.push(operand.buffer.clone());
                places.push(found);
                continue;
            }
            let shape = operand.view.shape();
            let buffer = self.allocate(shape.n_elements())?;
            self.elementwise(&[], operand, None, shape, &buffer).await?;
            let view = TensorView::new(shape.clone());
            places.extend(heads(&view, buffer.n_bytes() / 4));
            buffers.push(buffer);
        }
        let (&[q, k, v], [q_buffer, k_buffer, v_buffer]) = (&places[..], &buffers[..]) else {
            return Ok(());
        };
        let given = [
            (Slot::A, q_buffer, 0),
            (Slot::B, k_buffer, 0),
            (Slot::Values, v_buffer, 0),
            (Slot::Out, out, 0),
        ];
        let job = attention_job(&size, [q, k, v], self.limits())?;
        let terms = pace::of_attention(size.terms());
        self.run_long(&job, &given, terms).await
    }
}

//! Attention on the device.

use super::layer::Attention;
use super::resident::GpuTensor;
use super::run::{Operand, Recording};
use super::shape::Shape;
use super::view::TensorView;
use crate::Result;
use crate::gpu::{Backend, Buffer, Sized64};
use crate::kernels::Slot;
use crate::kernels::tensor::{AttentionSize, Heads, attention_job};

/// How heads lie in their buffer, if the kernel can take them so; `[.., heads, rows, elements]`.
fn heads(operand: &Operand<'_>) -> Option<Heads> {
    let (dims, strides) = (operand.view.shape().dims(), operand.view.strides());
    let &[head, row, element] = strides.last_chunk()?;
    let is_dense = element == 1 || dims.last() == Some(&1);
    is_dense.then(|| Heads {
        offset: operand.view.offset() as u64,
        batch: if dims.len() == 4 {
            strides[0] as u64
        } else {
            0
        },
        head: head as u64,
        row: row as u64,
        n: operand.buffer.n_bytes() / 4,
    })
}

impl Recording {
    /// Makes `out`, `[.., queries, heads, elements]`, of queries, keys and values, `[.., heads, rows, elements]`, which
    /// fit.
    pub(super) async fn attention(
        &mut self,
        what: Attention,
        [q, k, v]: [Operand<'_>; 3],
        out: &Buffer,
    ) -> Result<()> {
        let size = what.size(q.view.shape(), k.view.shape(), v.view.shape())?;
        if size.batch * size.heads * size.n_q * size.dim == 0 {
            return Ok(());
        }
        let mut buffers = Vec::with_capacity(3);
        let mut places = Vec::with_capacity(3);
        for operand in [q, k, v] {
            if let Some(found) = heads(&operand) {
                buffers.push(operand.buffer.clone());
                places.push(found);
                continue;
            }
            let shape = operand.view.shape();
            let buffer = self.allocate(shape.n_elements())?;
            self.elementwise(&[], operand, None, shape, &buffer).await?;
            let view = TensorView::new(shape.clone());
            let copy = Operand {
                buffer: &buffer,
                view: &view,
            };
            places.extend(heads(&copy));
            buffers.push(buffer);
        }
        let (&[q, k, v], [q_buffer, k_buffer, v_buffer]) = (&places[..], &buffers[..]) else {
            return Ok(());
        };
        let size = AttentionSize {
            batch: size.batch as u64,
            heads: size.heads as u64,
            key_heads: size.key_heads as u64,
            n_q: size.n_q as u64,
            n_k: size.n_k as u64,
            dim: size.dim as u64,
            causal: what.causal,
            scale: what.scale_of(size.dim),
        };
        let given = [
            (Slot::A, q_buffer, 0),
            (Slot::B, k_buffer, 0),
            (Slot::Values, v_buffer, 0),
            (Slot::Out, out, 0),
        ];
        let most = self.device().capabilities().max_binding_bytes;
        let job = attention_job(&size, [q, k, v], most)?;
        self.run(&job, &given).await
    }
}

impl GpuTensor {
    /// What these queries, `[heads, queries, elements]` or `[batch, heads, queries, elements]`, find in `values` by
    /// `keys`: for each query the values' mean, weighted by the softmax of its products with the keys. The matrix of
    /// products is never stored. `keys` and `values` may have fewer heads, each for as many heads of queries.
    ///
    /// The result has the shape of the queries. In memory its rows hold all heads of a query side by side, so that joining
    /// them is `permute`, `contiguous_async` without a copy, and `reshape`.
    ///
    /// # Errors
    /// [`ShapeMismatch`](crate::Error::ShapeMismatch); [`InvalidArgument`](crate::Error::InvalidArgument) for heads of
    /// more than 256 elements, or a tensor of another device; [`OutOfMemory`](crate::Error::OutOfMemory),
    /// [`DeviceLost`](crate::Error::DeviceLost).
    pub async fn attention_async(
        &self,
        keys: &Self,
        values: &Self,
        what: Attention,
    ) -> Result<Self> {
        what.size(self.shape(), keys.shape(), values.shape())?;
        let rank = self.shape().rank();
        let mut dims = self.shape().dims().to_vec();
        dims.swap(rank - 3, rank - 2);
        let operands = [self.operand(), keys.operand(), values.operand()];
        let made = self.made(Shape::new(&dims)?, async |recording, out| {
            recording.attention(what, operands, out).await
        });
        made.await?.transpose(rank - 3, rank - 2)
    }
}

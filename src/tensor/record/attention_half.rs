//! Records attention of 16-bit tensors on matrix units.

use super::attention::{heads, size_of};
use super::{AnyOperand, Recording};
use crate::Result;
use crate::gpu::{Backend, Sized64};
use crate::kernels::Slot;
use crate::kernels::tensor::{Heads, attention_half_job, takes_heads};
use crate::tensor::TensorView;
use crate::tensor::layer::Attention;

impl Recording {
    /// Records the attention of queries to keys and values, `[.., heads, rows, elements]`, into `out`, `[.., queries, heads, elements]`, on
    /// matrix units. Records nothing and returns false if the device has none that the kernel is made for, if the inputs are not of the
    /// same 16-bit type, or if rows cannot be read in units of 16 bytes.
    pub(super) async fn attention_on_matrix_units(
        &mut self,
        what: Attention,
        inputs: [AnyOperand<'_>; 3],
        out: AnyOperand<'_>,
    ) -> Result<bool> {
        let [q, k, v] = inputs;
        let Some(units) = self.attention_units(q.dtype) else {
            return Ok(false);
        };
        let Some(size) = size_of(what, inputs.map(|input| input.view))? else {
            return Ok(false);
        };
        if k.dtype != q.dtype || v.dtype != q.dtype {
            return Ok(false);
        }
        let most = self.device().capabilities().max_binding_bytes;
        // Their places, and whether those are places in a copy.
        let places = inputs.map(|input| {
            let n = input.buffer.n_bytes() / 2;
            match heads(input.view, n).filter(|place| takes_heads(place, size.dim)) {
                Some(heads) => (heads, false),
                None => (dense_heads(input.view), true),
            }
        });
        let heads = places.map(|(heads, _)| heads);
        if !heads.iter().all(|place| takes_heads(place, size.dim)) {
            return Ok(false);
        }
        let Some(job) = attention_half_job(&size, [q.dtype, out.dtype], heads, units, most)? else {
            return Ok(false);
        };
        let q = self.packed(q, places[0].1).await?;
        let k = self.packed(k, places[1].1).await?;
        let v = self.packed(v, places[2].1).await?;
        let given = [
            (Slot::A, &q, 0),
            (Slot::B, &k, 0),
            (Slot::Values, &v, 0),
            (Slot::Out, out.buffer, 0),
        ];
        self.run(&job, &given).await?;
        Ok(true)
    }
}

/// Returns the place of heads in a row-major copy.
fn dense_heads(view: &TensorView) -> Heads {
    let [.., heads, rows, dim] = *view.shape().dims() else {
        return Heads::default();
    };
    let [heads, rows, dim] = [heads, rows, dim].map(|n| n as u64);
    Heads {
        offset: 0,
        batch: heads * rows * dim,
        head: rows * dim,
        row: dim,
        n: (view.shape().n_elements() as u64).next_multiple_of(8),
    }
}

//! Records rotary positions.

use super::{Operand, Recording};
use crate::Result;
use crate::gpu::Buffer;
use crate::kernels::Slot;
use crate::kernels::tensor::{Rotary, rotary_job};

impl Recording {
    /// Records the rotation of the heads of `a`, `[rows, heads, elements]`, at positions from `first` on, into `out`.
    /// `turns`, `[positions, elements]`, has cosine and sine of each angle.
    pub(crate) async fn rotary(
        &mut self,
        first: usize,
        a: Operand<'_>,
        turns: Operand<'_>,
        out: &Buffer,
    ) -> Result<()> {
        let &[rows, heads, elements] = a.view.shape().dims() else {
            return Ok(());
        };
        if a.view.shape().n_elements() == 0 {
            return Ok(());
        }
        let mut dense = Vec::with_capacity(2);
        for (slot, operand) in [(Slot::A, a), (Slot::B, turns)] {
            let (buffer, start) = self.dense(operand).await?;
            dense.push((slot, buffer, start));
        }
        let what = Rotary {
            rows: rows as u64,
            heads: heads as u64,
            half: elements as u64 / 2,
            first: first as u64,
            to: 0,
        };
        let job = rotary_job(&what, self.limits())?;
        let mut given = vec![(Slot::Out, out, 0)];
        given.extend(
            dense
                .iter()
                .map(|(slot, buffer, start)| (*slot, buffer, *start)),
        );
        self.run(&job, &given).await
    }
}

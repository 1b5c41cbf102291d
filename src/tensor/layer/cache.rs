//! Key-value cache and rotary positions of a layer.

use super::config::LayerConfig;
use super::projection::Rows;
use crate::gpu::{Backend, Buffer, GpuDevice, Sized64};
use crate::kernels::Slot;
use crate::kernels::tensor::{Rotary, rotary_job};
use crate::tensor::record::Recording;
use crate::tensor::{Shape, TensorView};
use crate::{Error, Result};

/// Cosines and sines of the rotary angles of all positions, on the device.
#[derive(Debug)]
pub(super) struct Turns {
    pub(super) buffer: Buffer,
    pub(super) half: usize,
}

impl Turns {
    /// Records the rotation of rows of heads, at positions from `first` on. The result is written to `to`, from element
    /// `start` on.
    pub(super) async fn turn(
        &self,
        recording: &mut Recording,
        rows: &Rows,
        first: usize,
        (to, start): (&Buffer, usize),
    ) -> Result<()> {
        let &[n, width] = rows.view.shape().dims() else {
            return Ok(());
        };
        let what = Rotary {
            rows: n as u64,
            heads: (width / (2 * self.half)) as u64,
            half: self.half as u64,
            first: first as u64,
            to: start as u64,
        };
        let job = rotary_job(&what, recording.device().capabilities().max_binding_bytes)?;
        let given = [
            (Slot::A, &rows.buffer, 0),
            (Slot::B, &self.buffer, 0),
            (Slot::Out, to, 0),
        ];
        recording.run(&job, &given).await
    }
}

/// Key-value cache of a sequence.
#[derive(Debug)]
pub(super) struct Cache {
    pub(super) keys: Buffer,
    pub(super) values: Buffer,
    /// Number of cached rows.
    pub(super) n: usize,
    n_max: usize,
}

impl Cache {
    pub(super) fn new(device: &GpuDevice, config: &LayerConfig) -> Result<Self> {
        let shape = Shape::new(&[config.max_positions, config.kv_width()])?;
        let recording = Recording::new(device);
        Ok(Self {
            keys: recording.allocate(shape.n_elements())?,
            values: recording.allocate(shape.n_elements())?,
            n: 0,
            n_max: config.max_positions,
        })
    }

    pub(super) fn n_bytes(&self) -> u64 {
        self.keys.n_bytes() + self.values.n_bytes()
    }

    /// Checks that `n` more rows fit.
    pub(super) fn check_room(&self, n: usize) -> Result<()> {
        if n <= self.n_max - self.n {
            return Ok(());
        }
        Err(Error::InvalidArgument {
            name: "input",
            value: format!("{n} rows after {}", self.n),
            expected: "at most max_positions in all; reset begins a new sequence",
        })
    }
}

/// Returns a view of rows of heads in the shape that attention expects: `[heads, n, head_dim]`.
pub(super) fn heads_of(n: usize, n_heads: usize, head_dim: usize) -> Result<TensorView> {
    TensorView::new(Shape::new(&[n, n_heads, head_dim])?).transpose(0, 1)
}

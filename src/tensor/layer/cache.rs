//! Key-value cache and rotary positions of a layer.

use super::config::LayerConfig;
use super::projection::Rows;
use crate::gpu::{Buffer, GpuDevice, Sized64};
use crate::kernels::Slot;
use crate::kernels::tensor::{Rotary, rotary_job};
use crate::tensor::record::Recording;
use crate::tensor::{DType, Shape, TensorView};
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
        let job = rotary_job(&what, recording.limits())?;
        let given = [
            (Slot::A, &rows.buffer, 0),
            (Slot::B, &self.buffer, 0),
            (Slot::Out, to, 0),
        ];
        recording.run(&job, &given).await
    }

    /// Records the rotation of rows of heads, at positions from `first` on, to new rows.
    pub(super) async fn turned(
        &self,
        recording: &mut Recording,
        rows: &Rows,
        first: usize,
    ) -> Result<Rows> {
        let shape = rows.view.shape();
        let out = Rows {
            buffer: recording.allocate(shape.n_elements())?,
            view: TensorView::new(shape.clone()),
        };
        self.turn(recording, rows, first, (&out.buffer, 0)).await?;
        Ok(out)
    }
}

/// Key-value cache of a sequence.
#[derive(Debug)]
pub(super) struct Cache {
    pub(super) keys: Buffer,
    pub(super) values: Buffer,
    dtype: DType,
    /// Number of elements of a row.
    width: usize,
    /// Number of cached rows.
    pub(super) n: usize,
    n_max: usize,
}

impl Cache {
    pub(super) fn new(device: &GpuDevice, config: &LayerConfig) -> Result<Self> {
        let shape = Shape::new(&[config.max_positions, config.kv_width()])?;
        let recording = Recording::new(device);
        let dtype = config.kv_type;
        Ok(Self {
            keys: recording.allocate_of(dtype, shape.n_elements())?,
            values: recording.allocate_of(dtype, shape.n_elements())?,
            dtype,
            width: config.kv_width(),
            n: 0,
            n_max: config.max_positions,
        })
    }

    /// Records that new keys, rotated if there are `turns`, and new values follow the cached ones.
    pub(super) async fn append(
        &self,
        recording: &mut Recording,
        turns: Option<&Turns>,
        keys: &Rows,
        values: &Rows,
    ) -> Result<()> {
        let start = self.n * self.width;
        match turns {
            Some(turns) if self.dtype == DType::F32 => {
                let to = (&self.keys, start);
                turns.turn(recording, keys, self.n, to).await?;
            }
            Some(turns) => {
                let turned = turns.turned(recording, keys, self.n).await?;
                self.store(recording, &turned, &self.keys).await?;
            }
            None => self.store(recording, keys, &self.keys).await?,
        }
        self.store(recording, values, &self.values).await
    }

    /// Records that rows, rounded to the type of the cache, follow the cached ones of `to`.
    async fn store(&self, recording: &mut Recording, rows: &Rows, to: &Buffer) -> Result<()> {
        let (start, n) = (self.n * self.width, rows.view.shape().n_elements());
        if self.dtype == DType::F32 {
            return recording.copy((&rows.buffer, 0), (to, start), n);
        }
        recording
            .round_into(rows.operand(), self.dtype, (to, start))
            .await
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
            expected: "at most as many rows in all as the layer has positions; reset begins a new sequence",
        })
    }
}

/// Returns a view of rows of heads in the shape that attention expects: `[heads, n, head_dim]`.
pub(super) fn heads_of(n: usize, n_heads: usize, head_dim: usize) -> Result<TensorView> {
    TensorView::new(Shape::new(&[n, n_heads, head_dim])?).transpose(0, 1)
}

//! [`WgslForwardPass`]: a transformer layer whose weights stay on the device.

use super::cache::{Cache, Turns, heads_of};
use super::config::{LayerConfig, Mlp};
use super::lora::QkvLoRA;
use super::parts::{Columns, Parts};
use super::projection::{Rows, upload};
use super::weights::LayerWeights;
use crate::gpu::{Buffer, GpuDevice, Sized64};
use crate::tensor::op::Op;
use crate::tensor::record::{AnyOperand, Operand, Recording};
use crate::tensor::{Activation, DType, Epilogue, GpuTensor, Shape, Step, TensorView};
use crate::{Error, Result};

/// A layer of a transformer on a device. [The module](crate::tensor::layer) defines what it computes.
///
/// Weights are uploaded once, and keys and values of earlier rows stay on the device. A call transfers only the input
/// rows and the output rows; consecutive layers need no transfers at all ([`apply_async`](Self::apply_async)). Each
/// call is one submission.
///
/// A causal layer continues where the last call ended: passing rows one by one computes the same as passing them all at
/// once.
///
/// ```no_run
/// use pagepress::gpu::{GpuDevice, WgslForwardPass};
/// use pagepress::tensor::layer::{LayerConfig, LayerWeights};
/// # async fn run(weights: &LayerWeights<'_>) -> pagepress::Result<()> {
/// let config = LayerConfig::decoder(4096, 32, 11_008);
/// let device = GpuDevice::new_async().await?;
/// let mut layer = WgslForwardPass::new_async(device, config, weights).await?;
/// let (input, mut output) = (vec![0.1; 4096], vec![0.0; 4096]);
/// layer.forward_async(&input, &mut output).await?;
/// assert_eq!(layer.position(), 1);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct WgslForwardPass {
    device: GpuDevice,
    config: LayerConfig,
    parts: Parts,
    turns: Option<Turns>,
    cache: Option<Cache>,
    lora: Option<QkvLoRA>,
}

impl WgslForwardPass {
    /// Uploads the weights of a layer, and allocates the key-value cache of a causal one.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`] for weights whose sizes do not match the configuration; [`Error::InvalidArgument`] for
    /// an invalid configuration; [`Error::OutOfMemory`], [`Error::DeviceLost`].
    pub async fn new_async(
        device: GpuDevice,
        config: LayerConfig,
        weights: &LayerWeights<'_>,
    ) -> Result<Self> {
        weights.check(&config)?;
        let parts = Parts::upload(&device, &config, weights).await?;
        Self::of_parts(device, config, parts).await
    }

    /// Creates the layer of parts whose sizes were checked, and its rotary table and cache.
    pub(super) async fn of_parts(
        device: GpuDevice,
        config: LayerConfig,
        parts: Parts,
    ) -> Result<Self> {
        Ok(Self {
            parts,
            turns: match config.rotary_base {
                Some(_) => Some(Turns {
                    buffer: upload(&device, &config.turns(config.max_positions)?).await?,
                    half: config.head_dim / 2,
                }),
                None => None,
            },
            cache: match config.causal {
                true => Some(Cache::new(&device, &config)?),
                false => None,
            },
            lora: None,
            config,
            device,
        })
    }

    /// Returns the device.
    #[must_use]
    pub const fn device(&self) -> &GpuDevice {
        &self.device
    }

    /// Returns the configuration.
    #[must_use]
    pub const fn config(&self) -> &LayerConfig {
        &self.config
    }

    /// Returns the number of rows of the sequence so far; always 0 for a layer that is not causal.
    #[must_use]
    pub fn position(&self) -> usize {
        self.cache.as_ref().map_or(0, |cache| cache.n)
    }

    /// Starts a new sequence: discards cached keys and values.
    pub fn reset(&mut self) {
        if let Some(cache) = &mut self.cache {
            cache.n = 0;
        }
    }

    /// Sets the low-rank updates of queries, keys and values for subsequent calls; `None` removes them. Returns the
    /// previous ones.
    pub fn set_lora(&mut self, lora: Option<QkvLoRA>) -> Option<QkvLoRA> {
        std::mem::replace(&mut self.lora, lora)
    }

    /// Returns the number of bytes of weights, rotary tables and the key-value cache on the device, without low-rank
    /// updates.
    #[must_use]
    pub fn device_bytes(&self) -> u64 {
        let turns = self
            .turns
            .as_ref()
            .map_or(0, |turns| turns.buffer.n_bytes());
        let cache = self.cache.as_ref().map_or(0, Cache::n_bytes);
        self.parts.n_bytes() + turns + cache
    }

    /// Runs the layer on the rows of `input` and writes the result to `output`, which has the same length.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`] unless `input` is a whole number of rows and `output` has its length;
    /// [`Error::InvalidArgument`] if the sequence exceeds `max_positions`; [`Error::OutOfMemory`],
    /// [`Error::DeviceLost`].
    pub async fn forward_async(&mut self, input: &[f32], output: &mut [f32]) -> Result<()> {
        let n = input.len() / self.config.hidden;
        let whole = (n * self.config.hidden) as u64;
        crate::tensor::check_len("input", input.len(), whole)?;
        crate::tensor::check_len("output", output.len(), whole)?;
        let mut recording = Recording::new(&self.device);
        let view = TensorView::new(Shape::new(&[n, self.config.hidden])?);
        self.check_room(n)?;
        if n == 0 {
            return Ok(());
        }
        let buffer = recording.upload(input).await?;
        let rows = Operand {
            buffer: &buffer,
            view: &view,
        };
        let out = self.record(&mut recording, rows).await?;
        let download = recording.download(&out.buffer, 0..output.len())?;
        recording.submit_untimed()?;
        self.advance(n);
        download.read_into(output).await
    }

    /// Runs the layer on rows, `[rows, hidden]`, that are on the device. The result, of the same shape and type, stays
    /// on the device. Rows of 16 bits are converted first, and the result is rounded to their type.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`]; [`Error::InvalidArgument`] if the sequence exceeds `max_positions`, or for a tensor of
    /// another device; [`Error::OutOfMemory`], [`Error::DeviceLost`].
    pub async fn apply_async(&mut self, input: &GpuTensor) -> Result<GpuTensor> {
        let n = match *input.shape().dims() {
            [n, hidden] if hidden == self.config.hidden => n,
            _ => {
                let weights = Shape::new(&[self.config.q_width(), self.config.hidden])?;
                let expected = "rows are as long as the layer's weights have inputs";
                return Err(input.shape().mismatch(&weights, "layer", expected));
            }
        };
        self.check_room(n)?;
        if n == 0 {
            return Ok(input.clone());
        }
        let mut recording = Recording::new(&self.device);
        let rows = recording.widened(input.operand()).await?;
        let out = self.record(&mut recording, rows.operand()).await?;
        let buffer = recording
            .rounded(&out.buffer, &out.view, input.dtype())
            .await?;
        recording.submit_untimed()?;
        self.advance(n);
        Ok(GpuTensor::of(&self.device, buffer, input.dtype(), out.view))
    }

    fn check_room(&self, n: usize) -> Result<()> {
        match &self.cache {
            Some(cache) => cache.check_room(n),
            None if n <= self.config.max_positions => Ok(()),
            None => Err(Error::InvalidArgument {
                name: "input",
                value: format!("{n} rows"),
                expected: "at most as many rows as the layer has positions",
            }),
        }
    }

    fn advance(&mut self, n: usize) {
        if let Some(cache) = &mut self.cache {
            cache.n += n;
        }
    }

    async fn record(&self, recording: &mut Recording, input: Operand<'_>) -> Result<Rows> {
        let normal = self
            .normal(recording, input, &self.parts.attention_norm)
            .await?;
        let found = self.attention(recording, normal.operand()).await?;
        let plus = |rows| Epilogue {
            residual: Some(rows),
            ..Epilogue::default()
        };
        let middle = self
            .parts
            .o
            .apply(recording, found.operand(), None, plus(input))
            .await?;
        let rows = middle.operand();
        let normal = self.normal(recording, rows, &self.parts.mlp_norm).await?;
        self.mlp(recording, normal.operand(), plus(rows)).await
    }

    async fn normal(
        &self,
        recording: &mut Recording,
        rows: Operand<'_>,
        columns: &Columns,
    ) -> Result<Rows> {
        let out = Rows::new(recording, rows.view.shape().dims()[0], self.config.hidden)?;
        let norm = self.config.norm;
        recording
            .norm(norm, rows, columns.buffers(), &out.buffer)
            .await?;
        Ok(out)
    }

    /// Returns the result of attention: `[n, n_heads * head_dim]`.
    async fn attention(&self, recording: &mut Recording, rows: Operand<'_>) -> Result<Rows> {
        let config = &self.config;
        let (n, first) = (rows.view.shape().dims()[0], self.position());
        let lora = self.lora.as_ref();
        let q_lora = lora.and_then(|lora| lora.q.as_ref());
        let k_lora = lora.and_then(|lora| lora.k.as_ref());
        let v_lora = lora.and_then(|lora| lora.v.as_ref());
        let plain = Epilogue::default();
        let q = self.parts.q.apply(recording, rows, q_lora, plain).await?;
        let k = self.parts.k.apply(recording, rows, k_lora, plain).await?;
        let v = self.parts.v.apply(recording, rows, v_lora, plain).await?;
        let q = self.turned(recording, q).await?;
        let q = self.narrowed(recording, q).await?;
        let [keys, values] = self.seen(recording, k, v).await?;
        let out = Rows::new(recording, n, config.q_width())?;
        let query_view = heads_of(n, config.n_heads, config.head_dim)?;
        let key_view = heads_of(first + n, config.n_kv_heads, config.head_dim)?;
        let operand = |buffer, view| AnyOperand {
            buffer,
            view,
            dtype: config.kv_type,
        };
        let operands = [
            operand(&q, &query_view),
            operand(&keys, &key_view),
            operand(&values, &key_view),
        ];
        let to = AnyOperand {
            buffer: &out.buffer,
            view: &out.view,
            dtype: DType::F32,
        };
        let op = Op::Attention(config.attention());
        recording.operation(&op, &operands, to).await?;
        Ok(out)
    }

    /// Returns the elements of rows, as the type of keys and values.
    async fn narrowed(&self, recording: &mut Recording, rows: Rows) -> Result<Buffer> {
        let dtype = self.config.kv_type;
        recording.rounded(&rows.buffer, &rows.view, dtype).await
    }

    /// Applies the rotary positions, if the layer has them.
    async fn turned(&self, recording: &mut Recording, rows: Rows) -> Result<Rows> {
        match &self.turns {
            Some(turns) => turns.turned(recording, &rows, self.position()).await,
            None => Ok(rows),
        }
    }

    /// Returns the buffers of all visible keys and values. `k` and `v` are those of the new rows; a causal layer
    /// appends them to its cache.
    async fn seen(&self, recording: &mut Recording, k: Rows, v: Rows) -> Result<[Buffer; 2]> {
        let Some(cache) = &self.cache else {
            let k = self.turned(recording, k).await?;
            let k = self.narrowed(recording, k).await?;
            return Ok([k, self.narrowed(recording, v).await?]);
        };
        cache.append(recording, self.turns.as_ref(), &k, &v).await?;
        Ok([cache.keys.clone(), cache.values.clone()])
    }

    /// Returns the outputs of the feed-forward part, and of the epilogue of its last projection.
    async fn mlp(
        &self,
        recording: &mut Recording,
        rows: Operand<'_>,
        after: Epilogue<Operand<'_>>,
    ) -> Result<Rows> {
        let of_up = Epilogue {
            activation: match self.config.mlp {
                Mlp::SwiGlu => None,
                Mlp::Gelu => Some(Activation::Gelu),
                Mlp::GeluTanh => Some(Activation::GeluTanh),
            },
            ..Epilogue::default()
        };
        let mut wide = self.parts.up.apply(recording, rows, None, of_up).await?;
        if let Some(gate) = &self.parts.gate {
            let plain = Epilogue::default();
            let gate = gate.apply(recording, rows, None, plain).await?;
            let steps = [Step::Swish, Step::Mul];
            wide = gate.by(recording, &steps, Some(wide.operand())).await?;
        }
        self.parts
            .down
            .apply(recording, wide.operand(), None, after)
            .await
    }
}

/// Blocking forms, native only.
#[cfg(not(target_arch = "wasm32"))]
impl WgslForwardPass {
    /// [`new_async`](Self::new_async), blocking.
    ///
    /// # Errors
    /// As [`new_async`](Self::new_async).
    pub fn new(device: GpuDevice, config: LayerConfig, weights: &LayerWeights<'_>) -> Result<Self> {
        crate::gpu::runtime::block_on(Self::new_async(device, config, weights))
    }

    /// [`forward_async`](Self::forward_async), blocking.
    ///
    /// # Errors
    /// As [`forward_async`](Self::forward_async).
    pub fn forward(&mut self, input: &[f32], output: &mut [f32]) -> Result<()> {
        crate::gpu::runtime::block_on(self.forward_async(input, output))
    }

    /// [`apply_async`](Self::apply_async), blocking.
    ///
    /// # Errors
    /// As [`apply_async`](Self::apply_async).
    pub fn apply(&mut self, input: &GpuTensor) -> Result<GpuTensor> {
        crate::gpu::runtime::block_on(self.apply_async(input))
    }
}

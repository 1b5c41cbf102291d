//! Layers from weights that are on the device already: JavaScript uploads them without a copy in the module's memory.

use super::config::LayerConfig;
use super::forward::WgslForwardPass;
use super::lora::QkvLoRA;
use super::matrix::Matrix;
use super::parts::{Columns, Parts};
use super::projection::{LowRankPair, Projection};
use super::weights::{Form, LOW_RANK_NAMES, check_gate, check_rank};
use crate::gpu::{Buffer, GpuDevice};
use crate::memory::reserve;
use crate::tensor::{DType, GpuTensor, Precision, check_len};
use crate::{Error, Result};

/// A name of weights in JavaScript, and that of their bias.
type Names = [&'static str; 2];

/// Weights on a device, by the names that they have in JavaScript.
#[derive(Debug, Default)]
pub(crate) struct ResidentWeights(Vec<(String, Values)>);

/// Values of a matrix, or of a vector of f32.
#[derive(Debug)]
struct Values {
    form: Form,
    /// Number of values; for packed weights of bytes.
    len: usize,
    /// The values as words, of which the last is padded with zeros.
    words: GpuTensor,
}

impl ResidentWeights {
    /// Adds `len` values in a form; packed ones are counted in bytes. `words` are all words of a buffer.
    pub(crate) fn add(
        &mut self,
        name: String,
        form: Form,
        len: usize,
        words: GpuTensor,
    ) -> Result<()> {
        reserve(&mut self.0, 1)?;
        self.0.push((name, Values { form, len, words }));
        Ok(())
    }

    /// Returns the buffer of values of this name, if there are any, and their form.
    fn find(&self, name: &'static str, size: [usize; 2]) -> Result<Option<(Form, Buffer)>> {
        let Some((_, values)) = self.0.iter().find(|(given, _)| given == name) else {
            return Ok(None);
        };
        values.form.check(name, values.len, size)?;
        // The upload is shorter if the array was detached after it was measured.
        let per_word = match values.form {
            Form::As(DType::F32) => 1,
            Form::As(_) => 2,
            Form::Packed(_) => 4,
        };
        let n_words = values.words.shape().n_elements();
        check_len(name, n_words, values.len.div_ceil(per_word) as u64)?;
        Ok(Some((values.form, values.words.buffer().clone())))
    }

    fn vector(&self, name: &'static str, len: usize) -> Result<Option<Buffer>> {
        let found = self.find(name, [1, len])?;
        Ok(found.map(|(_, buffer)| buffer))
    }

    fn matrix(&self, name: &'static str, size: [usize; 2]) -> Result<Option<Matrix>> {
        let found = self.find(name, size)?;
        Ok(found.map(|(form, buffer)| Matrix::of(buffer, form, size, Precision::F32)))
    }

    fn columns(&self, [name, bias]: Names, len: usize) -> Result<Columns> {
        Ok(Columns {
            weight: self.vector(name, len)?.ok_or_else(|| missing(name))?,
            bias: self.vector(bias, len)?,
        })
    }

    fn projection(&self, [name, bias]: Names, size: [usize; 2]) -> Result<Projection> {
        Ok(Projection {
            matrix: self.matrix(name, size)?.ok_or_else(|| missing(name))?,
            bias: self.vector(bias, size[0])?,
        })
    }

    fn parts(&self, config: &LayerConfig) -> Result<Parts> {
        config.check()?;
        let (hidden, width) = (config.hidden, config.mlp_width);
        let (q, kv) = (config.q_width(), config.kv_width());
        let gate = self.0.iter().any(|(name, _)| name == "gate");
        check_gate(config, gate)?;
        Ok(Parts {
            attention_norm: self.columns(["attentionNorm", "attentionNorm.bias"], hidden)?,
            q: self.projection(["q", "q.bias"], [q, hidden])?,
            k: self.projection(["k", "k.bias"], [kv, hidden])?,
            v: self.projection(["v", "v.bias"], [kv, hidden])?,
            o: self.projection(["o", "o.bias"], [hidden, q])?,
            mlp_norm: self.columns(["mlpNorm", "mlpNorm.bias"], hidden)?,
            gate: match gate {
                true => Some(self.projection(["gate", "gate.bias"], [width, hidden])?),
                false => None,
            },
            up: self.projection(["up", "up.bias"], [width, hidden])?,
            down: self.projection(["down", "down.bias"], [hidden, width])?,
        })
    }
}

fn missing(name: &'static str) -> Error {
    Error::InvalidArgument {
        name,
        value: "nothing".into(),
        expected: "give its values",
    }
}

impl WgslForwardPass {
    /// [`new_async`](Self::new_async) of weights that are on the device, which share their memory.
    ///
    /// # Errors
    /// As [`new_async`](Self::new_async); [`Error::InvalidArgument`] for a missing matrix.
    pub(crate) async fn from_resident_async(
        device: GpuDevice,
        config: LayerConfig,
        weights: &ResidentWeights,
    ) -> Result<Self> {
        let parts = weights.parts(&config)?;
        Self::of_parts(device, config, parts).await
    }
}

impl QkvLoRA {
    /// [`upload_async`](Self::upload_async) of matrices that are on the device, named `q.a` and so on.
    ///
    /// # Errors
    /// As [`upload_async`](Self::upload_async).
    pub(crate) fn from_resident(
        config: &LayerConfig,
        rank: usize,
        scale: f32,
        weights: &ResidentWeights,
    ) -> Result<Self> {
        check_rank(config, rank)?;
        let pair = |i: usize, outputs| {
            let (a, b) = LOW_RANK_NAMES[i];
            let a = weights.matrix(a, [rank, config.hidden])?;
            let b = weights.matrix(b, [outputs, rank])?;
            Ok(a.zip(b).map(|(a, b)| LowRankPair { a, b, scale }))
        };
        Ok(Self {
            q: pair(0, config.q_width())?,
            k: pair(1, config.kv_width())?,
            v: pair(2, config.kv_width())?,
            rank,
        })
    }
}

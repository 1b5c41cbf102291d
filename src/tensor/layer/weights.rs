//! Weights of a layer in host memory, in the layout of model files.

use super::config::{LayerConfig, Mlp};
use crate::tensor::{DType, Quantization, check_dims, check_len};
use crate::{Error, Result};

/// Values of a matrix, row-major, in the form in which they are stored and multiplied. A device keeps them as they are, and
/// computes sums in f32.
#[derive(Debug, Clone, Copy)]
pub enum Weights<'a> {
    /// 32-bit floats.
    F32(&'a [f32]),
    /// Bits of numbers of a type of 16 bits. Through CUDA, and for f16 through Vulkan where subgroups have 32 invocations, products of more
    /// than 8 rows run on matrix units, for which the rows are rounded to that type.
    Bits(DType, &'a [u16]),
    /// Blocks of quantized numbers, in the layout of GGUF files. A row is a whole number of blocks, and at most 131,072
    /// numbers.
    Packed(Quantization, &'a [u8]),
}

/// Form of the values of a matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// Numbers of a type.
    As(DType),
    /// Blocks of quantized numbers.
    Packed(Quantization),
}

impl Form {
    /// Checks that `len` values are `outputs` rows of `inputs` values. Lengths are in elements, of packed weights in bytes.
    pub(super) fn check(
        self,
        name: &'static str,
        len: usize,
        [outputs, inputs]: [usize; 2],
    ) -> Result<()> {
        match self {
            Self::As(_) => check_dims(name, len, &[outputs, inputs]),
            Self::Packed(quantization) => {
                if quantization.check_row(inputs).is_err() {
                    return Err(Error::InvalidArgument {
                        name,
                        value: format!("{quantization:?}, [{outputs}, {inputs}]"),
                        expected: "rows of a multiple of 256 weights, of Q8_0 of 32, of F16 of 4, and at most 131,072",
                    });
                }
                check_len(name, len, quantization.bytes_of(outputs, inputs)?)
            }
        }
    }
}

impl Weights<'_> {
    /// Returns the form, and the number of elements, of packed weights of bytes.
    pub(super) const fn form(&self) -> (Form, usize) {
        match *self {
            Self::F32(values) => (Form::As(DType::F32), values.len()),
            Self::Bits(dtype, bits) => (Form::As(dtype), bits.len()),
            Self::Packed(quantization, bytes) => (Form::Packed(quantization), bytes.len()),
        }
    }

    /// Checks that there are `outputs` rows of `inputs` values.
    fn check(self, name: &'static str, outputs: usize, inputs: usize) -> Result<()> {
        match self {
            Self::Bits(dtype, _) if !dtype.is_half() => Err(Error::InvalidArgument {
                name,
                value: format!("bits of {dtype:?}"),
                expected: "a type of 16 bits: F16 or BF16",
            }),
            _ => {
                let (form, len) = self.form();
                form.check(name, len, [outputs, inputs])
            }
        }
    }
}

/// A matrix and an optional bias of its outputs.
#[derive(Debug, Clone, Copy)]
pub struct Linear<'a> {
    /// `[outputs, inputs]`
    pub weights: Weights<'a>,
    /// One element per output.
    pub bias: Option<&'a [f32]>,
}

impl Linear<'_> {
    fn check(&self, name: &'static str, outputs: usize, inputs: usize) -> Result<()> {
        self.weights.check(name, outputs, inputs)?;
        match self.bias {
            Some(bias) => check_dims(name, bias.len(), &[outputs]),
            None => Ok(()),
        }
    }
}

impl<'a> From<Weights<'a>> for Linear<'a> {
    fn from(weights: Weights<'a>) -> Self {
        Self {
            weights,
            bias: None,
        }
    }
}

impl<'a> From<&'a [f32]> for Linear<'a> {
    fn from(weights: &'a [f32]) -> Self {
        Self::from(Weights::F32(weights))
    }
}

impl<'a> From<&'a Vec<f32>> for Linear<'a> {
    fn from(weights: &'a Vec<f32>) -> Self {
        Self::from(&weights[..])
    }
}

impl<'a> From<Parameters<'a>> for Linear<'a> {
    fn from(parameters: Parameters<'a>) -> Self {
        Self {
            weights: Weights::F32(parameters.weights),
            bias: parameters.bias,
        }
    }
}

/// The weight and the bias of a norm, or of a matrix of f32.
#[derive(Debug, Clone, Copy)]
pub struct Parameters<'a> {
    /// For a norm, one weight per element; a matrix, `[outputs, inputs]`, row-major.
    pub weights: &'a [f32],
    /// For a norm, one element per element; for a matrix, one per output.
    pub bias: Option<&'a [f32]>,
}

impl<'a> From<&'a [f32]> for Parameters<'a> {
    fn from(weights: &'a [f32]) -> Self {
        Self {
            weights,
            bias: None,
        }
    }
}

impl<'a> From<&'a Vec<f32>> for Parameters<'a> {
    fn from(weights: &'a Vec<f32>) -> Self {
        Self::from(&weights[..])
    }
}

impl Parameters<'_> {
    /// Checks the lengths of a norm's weight and bias.
    fn check(&self, name: &'static str, n: usize) -> Result<()> {
        check_dims(name, self.weights.len(), &[n])?;
        match self.bias {
            Some(bias) => check_dims(name, bias.len(), &[n]),
            None => Ok(()),
        }
    }
}

/// All weights of a layer.
#[derive(Debug, Clone, Copy)]
pub struct LayerWeights<'a> {
    /// Norm before attention.
    pub attention_norm: Parameters<'a>,
    /// `[n_heads head_dim, hidden]`
    pub q: Linear<'a>,
    /// `[n_kv_heads head_dim, hidden]`
    pub k: Linear<'a>,
    /// `[n_kv_heads head_dim, hidden]`
    pub v: Linear<'a>,
    /// `[hidden, n_heads head_dim]`
    pub o: Linear<'a>,
    /// Norm before the MLP.
    pub mlp_norm: Parameters<'a>,
    /// `[mlp_width, hidden]`; required for [`Mlp::SwiGlu`], absent for the other variants.
    pub gate: Option<Linear<'a>>,
    /// `[mlp_width, hidden]`
    pub up: Linear<'a>,
    /// `[hidden, mlp_width]`
    pub down: Linear<'a>,
}

impl LayerWeights<'_> {
    /// Checks that the sizes of all weights match a configuration.
    pub(crate) fn check(&self, config: &LayerConfig) -> Result<()> {
        config.check()?;
        let (hidden, width) = (config.hidden, config.mlp_width);
        let (q, kv) = (config.q_width(), config.kv_width());
        self.attention_norm.check("attention_norm", hidden)?;
        self.q.check("q", q, hidden)?;
        self.k.check("k", kv, hidden)?;
        self.v.check("v", kv, hidden)?;
        self.o.check("o", hidden, q)?;
        self.mlp_norm.check("mlp_norm", hidden)?;
        self.up.check("up", width, hidden)?;
        self.down.check("down", hidden, width)?;
        check_gate(config, self.gate.is_some())?;
        match &self.gate {
            Some(gate) => gate.check("gate", width, hidden),
            None => Ok(()),
        }
    }
}

/// Checks that there is a gate if the variant of the MLP has one, and only then.
pub(super) fn check_gate(config: &LayerConfig, is_given: bool) -> Result<()> {
    if is_given == (config.mlp == Mlp::SwiGlu) {
        return Ok(());
    }
    Err(Error::InvalidArgument {
        name: "gate",
        value: (if is_given { "a matrix" } else { "nothing" }).into(),
        expected: "a matrix for SwiGLU, nothing for others",
    })
}

/// A matrix of low rank, the product b a, that is added to another.
#[derive(Debug, Clone, Copy)]
pub struct LowRank<'a> {
    /// `[rank, inputs]`
    pub a: &'a [f32],
    /// `[outputs, rank]`
    pub b: &'a [f32],
}

/// Low-rank updates of q, k and v of a layer. `None` leaves a matrix unchanged.
#[derive(Debug, Clone, Copy)]
pub struct LowRankQkv<'a> {
    /// Rank of the matrices, from 1 to `hidden`.
    pub rank: usize,
    /// Factor of the updates: usually alpha divided by rank.
    pub scale: f32,
    /// Update of q.
    pub q: Option<LowRank<'a>>,
    /// Update of k.
    pub k: Option<LowRank<'a>>,
    /// Update of v.
    pub v: Option<LowRank<'a>>,
}

impl LowRankQkv<'_> {
    /// Checks that the sizes of all matrices match a configuration.
    pub(crate) fn check(&self, config: &LayerConfig) -> Result<()> {
        config.check()?;
        check_rank(config, self.rank)?;
        let outputs = [config.q_width(), config.kv_width(), config.kv_width()];
        let all = [&self.q, &self.k, &self.v];
        for ((pair, outputs), (a, b)) in all.into_iter().zip(outputs).zip(LOW_RANK_NAMES) {
            if let Some(pair) = pair {
                check_dims(a, pair.a.len(), &[self.rank, config.hidden])?;
                check_dims(b, pair.b.len(), &[outputs, self.rank])?;
            }
        }
        Ok(())
    }
}

/// Names of the matrices a and b of the updates of q, k and v.
pub(super) const LOW_RANK_NAMES: [(&str, &str); 3] =
    [("q.a", "q.b"), ("k.a", "k.b"), ("v.a", "v.b")];

/// Checks the rank of low-rank updates.
pub(super) fn check_rank(config: &LayerConfig, rank: usize) -> Result<()> {
    if (1..=config.hidden).contains(&rank) {
        return Ok(());
    }
    Err(Error::InvalidArgument {
        name: "rank",
        value: rank.to_string(),
        expected: "from 1 to the elements of a row",
    })
}

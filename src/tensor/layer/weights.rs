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
    /// Bits of numbers of a type of 16 bits. Through CUDA, products of more than 8 rows run on matrix units, for which the
    /// rows are rounded to that type.
    Bits(DType, &'a [u16]),
    /// Blocks of quantized numbers, in the layout of GGUF files. A row is a whole number of blocks, and at most 131,072
    /// numbers.
    Packed(Quantization, &'a [u8]),
}

impl Weights<'_> {
    /// Checks that there are `outputs` rows of `inputs` values. Lengths are in elements, of packed weights in bytes.
    fn check(self, name: &'static str, outputs: usize, inputs: usize) -> Result<()> {
        match self {
            Self::F32(values) => check_dims(name, values.len(), &[outputs, inputs]),
            Self::Bits(dtype, bits) if dtype.is_half() => {
                check_dims(name, bits.len(), &[outputs, inputs])
            }
            Self::Bits(dtype, _) => Err(Error::InvalidArgument {
                name,
                value: format!("bits of {dtype:?}"),
                expected: "a type of 16 bits: F16 or BF16",
            }),
            Self::Packed(quantization, bytes) => {
                if quantization.check_row(inputs).is_err() {
                    return Err(Error::InvalidArgument {
                        name,
                        value: format!("{quantization:?}, [{outputs}, {inputs}]"),
                        expected: "rows of a multiple of 256 weights, of Q8_0 of 32, of F16 of 4, and at most 131,072",
                    });
                }
                check_len(name, bytes.len(), quantization.bytes_of(outputs, inputs)?)
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
        match (config.mlp, &self.gate) {
            (Mlp::SwiGlu, Some(gate)) => gate.check("gate", width, hidden),
            (Mlp::Gelu | Mlp::GeluTanh, None) => Ok(()),
            (_, gate) => Err(Error::InvalidArgument {
                name: "gate",
                value: (if gate.is_some() {
                    "a matrix"
                } else {
                    "nothing"
                })
                .into(),
                expected: "a matrix for SwiGLU, nothing for others",
            }),
        }
    }
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
        if !(1..=config.hidden).contains(&self.rank) {
            return Err(Error::InvalidArgument {
                name: "rank",
                value: self.rank.to_string(),
                expected: "from 1 to the elements of a row",
            });
        }
        let outputs = [config.q_width(), config.kv_width(), config.kv_width()];
        let names = [("q.a", "q.b"), ("k.a", "k.b"), ("v.a", "v.b")];
        let all = [&self.q, &self.k, &self.v];
        for ((pair, outputs), (a, b)) in all.into_iter().zip(outputs).zip(names) {
            if let Some(pair) = pair {
                check_dims(a, pair.a.len(), &[self.rank, config.hidden])?;
                check_dims(b, pair.b.len(), &[outputs, self.rank])?;
            }
        }
        Ok(())
    }
}

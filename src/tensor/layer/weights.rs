//! Weights of a layer in host memory, in the layout of model files.

use super::config::{LayerConfig, Mlp};
use crate::tensor::check_dims;
use crate::{Error, Result};

/// A matrix and an optional bias, or the weight and the bias of a norm.
#[derive(Debug, Clone, Copy)]
pub struct Parameters<'a> {
    /// A matrix, `[outputs, inputs]`, row-major; for a norm, one weight per element.
    pub weights: &'a [f32],
    /// One element per output; for a norm, one per element.
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
    fn check(&self, name: &'static str, outputs: usize, inputs: usize) -> Result<()> {
        check_dims(name, self.weights.len(), &[outputs, inputs])?;
        match self.bias {
            Some(bias) => check_dims(name, bias.len(), &[outputs]),
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
    pub q: Parameters<'a>,
    /// `[n_kv_heads head_dim, hidden]`
    pub k: Parameters<'a>,
    /// `[n_kv_heads head_dim, hidden]`
    pub v: Parameters<'a>,
    /// `[hidden, n_heads head_dim]`
    pub o: Parameters<'a>,
    /// Norm before the MLP.
    pub mlp_norm: Parameters<'a>,
    /// `[mlp_width, hidden]`; required for [`Mlp::SwiGlu`], absent for the other variants.
    pub gate: Option<Parameters<'a>>,
    /// `[mlp_width, hidden]`
    pub up: Parameters<'a>,
    /// `[hidden, mlp_width]`
    pub down: Parameters<'a>,
}

impl LayerWeights<'_> {
    /// Checks that the sizes of all weights match a configuration.
    pub(crate) fn check(&self, config: &LayerConfig) -> Result<()> {
        config.check()?;
        let (hidden, width) = (config.hidden, config.mlp_width);
        let (q, kv) = (config.q_width(), config.kv_width());
        self.attention_norm.check("attention_norm", hidden, 1)?;
        self.q.check("q", q, hidden)?;
        self.k.check("k", kv, hidden)?;
        self.v.check("v", kv, hidden)?;
        self.o.check("o", hidden, q)?;
        self.mlp_norm.check("mlp_norm", hidden, 1)?;
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

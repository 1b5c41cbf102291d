//! A layer of a transformer; the twin of `WgslForwardPass`.

use super::attention::one_query;
use super::elementwise::elementwise;
use super::matmul::matmul_by_rows;
use super::norm::norm;
use super::parallel::for_shares;
use super::rotary::turn;
use crate::Result;
use crate::memory::zeros;
use crate::tensor::layer::{LayerConfig, LayerWeights, LowRank, LowRankQkv, Mlp, Parameters};
use crate::tensor::{Step, check_len};

/// Runs a layer on a whole sequence, rows of `hidden` elements, and writes the result to `output`, which has the length
/// of `input`. `low_rank` is added to the matrices of queries, keys and values.
///
/// # Errors
/// [`LengthMismatch`](crate::Error::LengthMismatch) for weights whose sizes do not match the configuration, or an
/// `input` that is not a whole number of rows; [`InvalidArgument`](crate::Error::InvalidArgument) for an invalid
/// configuration; [`OutOfMemory`](crate::Error::OutOfMemory).
pub fn layer_forward(
    config: &LayerConfig,
    weights: &LayerWeights<'_>,
    low_rank: Option<&LowRankQkv<'_>>,
    input: &[f32],
    output: &mut [f32],
) -> Result<()> {
    weights.check(config)?;
    if let Some(low_rank) = low_rank {
        low_rank.check(config)?;
    }
    let n = input.len() / config.hidden;
    check_len("input", input.len(), (n * config.hidden) as u64)?;
    check_len("output", output.len(), input.len() as u64)?;
    let layer = Layer {
        config,
        weights,
        low_rank,
        n,
    };
    let found = layer.attention(&layer.normal(&weights.attention_norm, input)?)?;
    let middle = sum(layer.apply(&weights.o, &found, config.q_width())?, input)?;
    let made = layer.mlp(&layer.normal(&weights.mlp_norm, &middle)?)?;
    elementwise(&[Step::Add], &made, Some(&middle), output)
}

struct Layer<'a> {
    config: &'a LayerConfig,
    weights: &'a LayerWeights<'a>,
    low_rank: Option<&'a LowRankQkv<'a>>,
    n: usize,
}

fn by(steps: &[Step], a: &[f32], b: Option<&[f32]>) -> Result<Vec<f32>> {
    let mut out = zeros(a.len())?;
    elementwise(steps, a, b, &mut out)?;
    Ok(out)
}

fn sum(a: Vec<f32>, b: &[f32]) -> Result<Vec<f32>> {
    by(&[Step::Add], &a, Some(b))
}

/// Computes the product of rows and the transpose of a matrix.
fn product(matrix: &[f32], rows: &[f32], inputs: usize) -> Result<Vec<f32>> {
    let (n, outputs) = (rows.len() / inputs, matrix.len() / inputs);
    let mut out = zeros(n.saturating_mul(outputs))?;
    matmul_by_rows(rows, matrix, &mut out, [n, inputs, outputs])?;
    Ok(out)
}

impl Layer<'_> {
    fn normal(&self, columns: &Parameters<'_>, rows: &[f32]) -> Result<Vec<f32>> {
        let mut out = zeros(rows.len())?;
        let config = self.config;
        let both = [Some(columns.weights), columns.bias];
        norm(config.norm, rows, config.hidden, both, &mut out)?;
        Ok(out)
    }

    fn apply(&self, of: &Parameters<'_>, rows: &[f32], inputs: usize) -> Result<Vec<f32>> {
        let mut out = product(of.weights, rows, inputs)?;
        if let Some(bias) = of.bias {
            for row in out.chunks_mut(bias.len()) {
                row.iter_mut().zip(bias).for_each(|(x, y)| *x += y);
            }
        }
        Ok(out)
    }

    fn with_low_rank(
        &self,
        of: &Parameters<'_>,
        low_rank: Option<&LowRank<'_>>,
        rows: &[f32],
    ) -> Result<Vec<f32>> {
        let out = self.apply(of, rows, self.config.hidden)?;
        let (Some(all), Some(pair)) = (self.low_rank, low_rank) else {
            return Ok(out);
        };
        let low = product(pair.a, rows, self.config.hidden)?;
        let more = product(pair.b, &low, all.rank)?;
        by(&[Step::Scale(all.scale), Step::Add], &more, Some(&out))
    }

    fn attention(&self, rows: &[f32]) -> Result<Vec<f32>> {
        let (config, low_rank) = (self.config, self.low_rank);
        let weights = self.weights;
        let mut q = self.with_low_rank(&weights.q, low_rank.and_then(|l| l.q.as_ref()), rows)?;
        let mut k = self.with_low_rank(&weights.k, low_rank.and_then(|l| l.k.as_ref()), rows)?;
        let v = self.with_low_rank(&weights.v, low_rank.and_then(|l| l.v.as_ref()), rows)?;
        let turns = config.turns(self.n)?;
        if config.rotary_base.is_some() {
            turn(&mut q, config.q_width(), config.head_dim / 2, &turns);
            turn(&mut k, config.kv_width(), config.head_dim / 2, &turns);
        }
        let (dim, kv_width) = (config.head_dim, config.kv_width());
        let scale = config.attention().scale_of(dim);
        let mut out = zeros(q.len())?;
        for_shares(&mut out, dim, |start, out| {
            let (row, head) = (start / config.q_width(), start % config.q_width() / dim);
            let at = head / (config.n_heads / config.n_kv_heads) * dim;
            let seen = if config.causal { row + 1 } else { self.n };
            let query = &q[start..start + dim];
            one_query(query, [&k[at..], &v[at..]], (seen, kv_width), scale, out);
        });
        Ok(out)
    }

    fn mlp(&self, rows: &[f32]) -> Result<Vec<f32>> {
        let (config, weights) = (self.config, self.weights);
        let up = self.apply(&weights.up, rows, config.hidden)?;
        let wide = match (config.mlp, &weights.gate) {
            (Mlp::SwiGlu, Some(gate)) => {
                let gate = self.apply(gate, rows, config.hidden)?;
                by(&[Step::Swish, Step::Mul], &gate, Some(&up))?
            }
            (Mlp::GeluTanh, _) => by(&[Step::GeluTanh], &up, None)?,
            _ => by(&[Step::Gelu], &up, None)?,
        };
        self.apply(&weights.down, &wide, config.mlp_width)
    }
}

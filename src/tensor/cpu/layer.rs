//! A layer of a transformer; the twin of `WgslForwardPass`.

use super::attention::one_query;
use super::elementwise::elementwise;
use super::halves::{from_bits, to_bits};
use super::matmul::matmul_by_rows;
use super::norm::norm;
use super::parallel::for_shares;
use super::quantized::matmul_quantized;
use super::rotary::turn;
use crate::Result;
use crate::memory::zeros;
use crate::tensor::layer::{
    LayerConfig, LayerWeights, Linear, LowRank, LowRankQkv, Mlp, Parameters, Weights,
};
use crate::tensor::{DType, Step, check_len};

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
    let middle = sum(
        layer.apply(&weights.o, &found, [config.hidden, config.q_width()])?,
        input,
    )?;
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

/// Computes the product of rows and the transpose of a matrix, `[outputs, inputs]`. Weights of 16 bits become f32 first.
fn product(matrix: Weights<'_>, rows: &[f32], [outputs, inputs]: [usize; 2]) -> Result<Vec<f32>> {
    let n = rows.len() / inputs;
    let mut out = zeros(n.saturating_mul(outputs))?;
    let size = [n, inputs, outputs];
    match matrix {
        Weights::F32(values) => matmul_by_rows(rows, values, &mut out, size)?,
        Weights::Bits(dtype, bits) => {
            let mut values = zeros(bits.len())?;
            from_bits(dtype, bits, &mut values)?;
            matmul_by_rows(rows, &values, &mut out, size)?;
        }
        Weights::Packed(quantization, bytes) => {
            matmul_quantized(quantization, rows, bytes, &mut out, size)?;
        }
    }
    Ok(out)
}

/// Rounds numbers to the type of keys and values.
fn round(dtype: DType, values: &mut [f32]) -> Result<()> {
    if dtype.is_half() {
        let mut bits = zeros(values.len())?;
        to_bits(dtype, values, &mut bits)?;
        from_bits(dtype, &bits, values)?;
    }
    Ok(())
}

impl Layer<'_> {
    fn normal(&self, columns: &Parameters<'_>, rows: &[f32]) -> Result<Vec<f32>> {
        let mut out = zeros(rows.len())?;
        let config = self.config;
        let both = [Some(columns.weights), columns.bias];
        norm(config.norm, rows, config.hidden, both, &mut out)?;
        Ok(out)
    }

    fn apply(&self, of: &Linear<'_>, rows: &[f32], size: [usize; 2]) -> Result<Vec<f32>> {
        let mut out = product(of.weights, rows, size)?;
        if let Some(bias) = of.bias {
            for row in out.chunks_mut(bias.len()) {
                row.iter_mut().zip(bias).for_each(|(x, y)| *x += y);
            }
        }
        Ok(out)
    }

    fn with_low_rank(
        &self,
        (of, outputs): (&Linear<'_>, usize),
        low_rank: Option<&LowRank<'_>>,
        rows: &[f32],
    ) -> Result<Vec<f32>> {
        let hidden = self.config.hidden;
        let out = self.apply(of, rows, [outputs, hidden])?;
        let (Some(all), Some(pair)) = (self.low_rank, low_rank) else {
            return Ok(out);
        };
        let low = product(Weights::F32(pair.a), rows, [all.rank, hidden])?;
        let more = product(Weights::F32(pair.b), &low, [outputs, all.rank])?;
        by(&[Step::Scale(all.scale), Step::Add], &more, Some(&out))
    }

    fn attention(&self, rows: &[f32]) -> Result<Vec<f32>> {
        let (config, low_rank) = (self.config, self.low_rank);
        let weights = self.weights;
        let [q_lora, k_lora, v_lora] = match low_rank {
            Some(all) => [&all.q, &all.k, &all.v].map(Option::as_ref),
            None => [None; 3],
        };
        let (q_width, kv_width) = (config.q_width(), config.kv_width());
        let mut q = self.with_low_rank((&weights.q, q_width), q_lora, rows)?;
        let mut k = self.with_low_rank((&weights.k, kv_width), k_lora, rows)?;
        let mut v = self.with_low_rank((&weights.v, kv_width), v_lora, rows)?;
        let turns = config.turns(self.n)?;
        if config.rotary_base.is_some() {
            turn(&mut q, q_width, config.head_dim / 2, &turns);
            turn(&mut k, kv_width, config.head_dim / 2, &turns);
        }
        for values in [&mut q, &mut k, &mut v] {
            round(config.kv_type, values)?;
        }
        let dim = config.head_dim;
        let what = config.attention();
        let scale = what.scale_of(dim);
        let mut out = zeros(q.len())?;
        for_shares(&mut out, dim, |start, out| {
            let (row, head) = (start / q_width, start % q_width / dim);
            let seen = what.seen(row, self.n, self.n);
            let at = seen.start * kv_width + head / (config.n_heads / config.n_kv_heads) * dim;
            let query = &q[start..start + dim];
            let size = (seen.len(), kv_width);
            one_query(query, [&k[at..], &v[at..]], size, scale, out);
        });
        Ok(out)
    }

    fn mlp(&self, rows: &[f32]) -> Result<Vec<f32>> {
        let (config, weights) = (self.config, self.weights);
        let wide_from = [config.mlp_width, config.hidden];
        let up = self.apply(&weights.up, rows, wide_from)?;
        let wide = match (config.mlp, &weights.gate) {
            (Mlp::SwiGlu, Some(gate)) => {
                let gate = self.apply(gate, rows, wide_from)?;
                by(&[Step::Swish, Step::Mul], &gate, Some(&up))?
            }
            (Mlp::GeluTanh, _) => by(&[Step::GeluTanh], &up, None)?,
            _ => by(&[Step::Gelu], &up, None)?,
        };
        self.apply(&weights.down, &wide, [config.hidden, config.mlp_width])
    }
}

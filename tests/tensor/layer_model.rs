//! A transformer layer in double precision, as plain loops.

use pagepress::tensor::Step;
use pagepress::tensor::layer::{
    LayerConfig, LayerWeights, Linear, LowRank, LowRankQkv, Mlp, Parameters,
};

use crate::naive::{self, numbers};
use crate::stored::Stored;

/// A layer with its weights, with or without biases.
pub struct Model {
    pub config: LayerConfig,
    pub matrices: Vec<Vec<f32>>,
    biases: Option<Vec<Vec<f32>>>,
}

/// Returns the numbers of outputs and inputs of q, k, v, o, gate, up, down and both normalisations.
fn sizes(config: &LayerConfig) -> [[usize; 2]; 9] {
    let (q, kv) = (
        config.n_heads * config.head_dim,
        config.n_kv_heads * config.head_dim,
    );
    let (hidden, width) = (config.hidden, config.mlp_width);
    [
        [q, hidden],
        [kv, hidden],
        [kv, hidden],
        [hidden, q],
        [width, hidden],
        [width, hidden],
        [hidden, width],
        [hidden, 1],
        [hidden, 1],
    ]
}

impl Model {
    pub fn new(config: LayerConfig, has_biases: bool) -> Self {
        let matrices = sizes(&config).into_iter().zip(100..);
        let matrices = matrices
            .map(|([outputs, inputs], seed)| {
                numbers(outputs * inputs, seed, 1.5 / (inputs as f32).sqrt())
            })
            .collect();
        let biases = sizes(&config).into_iter().zip(120..);
        let biases = biases.map(|([outputs, _], seed)| numbers(outputs, seed, 0.5));
        Self {
            matrices,
            biases: has_biases.then(|| biases.collect()),
            config,
        }
    }

    fn parameters(&self, i: usize) -> Parameters<'_> {
        Parameters {
            weights: &self.matrices[i],
            bias: self.biases.as_ref().map(|biases| &biases[i][..]),
        }
    }

    pub fn weights(&self) -> LayerWeights<'_> {
        let of = |i| self.parameters(i);
        LayerWeights {
            attention_norm: of(7),
            q: of(0).into(),
            k: of(1).into(),
            v: of(2).into(),
            o: of(3).into(),
            mlp_norm: of(8),
            gate: (self.config.mlp == Mlp::SwiGlu).then(|| of(4).into()),
            up: of(5).into(),
            down: of(6).into(),
        }
    }

    /// Returns the weights with other values of the matrices q, k, v, o, gate, up and down.
    pub fn weights_of<'a>(&'a self, matrices: &'a [Stored]) -> LayerWeights<'a> {
        let of = |i: usize| Linear {
            weights: matrices[i].weights(),
            bias: self.parameters(i).bias,
        };
        LayerWeights {
            q: of(0),
            k: of(1),
            v: of(2),
            o: of(3),
            gate: (self.config.mlp == Mlp::SwiGlu).then(|| of(4)),
            up: of(5),
            down: of(6),
            ..self.weights()
        }
    }

    /// Computes the layer in double precision.
    pub fn exact(&self, low_rank: Option<&LowRankQkv<'_>>, input: &[f32]) -> Vec<f64> {
        let config = &self.config;
        let rows: Vec<Vec<f64>> = input
            .chunks(config.hidden)
            .map(|row| row.iter().map(|&x| x.into()).collect())
            .collect();
        let (hidden, dim) = (config.hidden, config.head_dim);
        let normal: Vec<_> = rows.iter().map(|row| self.normal(7, row)).collect();
        let projected = |i: usize, pair: Option<LowRank<'_>>| -> Vec<Vec<f64>> {
            let of_row = |row: &Vec<f64>| {
                let mut out = self.linear(i, row);
                if let (Some(all), Some(pair)) = (low_rank, pair) {
                    let more = product(pair.b, &product(pair.a, row));
                    let scale = f64::from(all.scale);
                    out.iter_mut().zip(more).for_each(|(x, y)| *x += scale * y);
                }
                out
            };
            normal.iter().map(of_row).collect()
        };
        let mut q = projected(0, low_rank.and_then(|all| all.q));
        let mut k = projected(1, low_rank.and_then(|all| all.k));
        let v = projected(2, low_rank.and_then(|all| all.v));
        if let Some(base) = config.rotary_base {
            for rows in [&mut q, &mut k] {
                for (position, row) in rows.iter_mut().enumerate() {
                    row.chunks_mut(dim)
                        .for_each(|head| turn(head, position, base.into()));
                }
            }
        }
        let mut out = Vec::with_capacity(rows.len() * hidden);
        for (i, row) in rows.iter().enumerate() {
            let end = if config.causal { i + 1 } else { rows.len() };
            let begin = end.saturating_sub(config.window.unwrap_or(end));
            let mut found = Vec::new();
            for head in 0..config.n_heads {
                let key_head = head / (config.n_heads / config.n_kv_heads);
                let of_head = |rows: &'_ [Vec<f64>]| -> Vec<Vec<f64>> {
                    rows[begin..end]
                        .iter()
                        .map(|row| row[key_head * dim..][..dim].to_vec())
                        .collect()
                };
                let (keys, values) = (of_head(&k), of_head(&v));
                let keys: Vec<&[f64]> = keys.iter().map(Vec::as_slice).collect();
                let values: Vec<&[f64]> = values.iter().map(Vec::as_slice).collect();
                let query = &q[i][head * dim..][..dim];
                let scale = 1.0 / (dim as f64).sqrt();
                let heads = naive::attention(query, &keys, &values, scale);
                found.extend(heads.into_iter().map(|(x, _)| x));
            }
            let middle = sum(&self.linear(3, &found), row);
            let normal = self.normal(8, &middle);
            let up = self.linear(5, &normal);
            let by = |step, x: &[f64]| -> Vec<f64> {
                x.iter()
                    .map(|&x| naive::step(step, x as f32, 0.0))
                    .collect()
            };
            let wide = match config.mlp {
                Mlp::SwiGlu => {
                    let gate = by(Step::Swish, &self.linear(4, &normal));
                    gate.iter().zip(up).map(|(x, y)| x * y).collect()
                }
                Mlp::Gelu => by(Step::Gelu, &up),
                Mlp::GeluTanh => by(Step::GeluTanh, &up),
            };
            out.extend(sum(&self.linear(6, &wide), &middle));
        }
        out
    }

    fn linear(&self, i: usize, row: &[f64]) -> Vec<f64> {
        let out = product(&self.matrices[i], row);
        match &self.biases {
            Some(biases) => {
                let bias: Vec<f64> = biases[i].iter().map(|&x| x.into()).collect();
                sum(&out, &bias)
            }
            None => out,
        }
    }

    fn normal(&self, i: usize, row: &[f64]) -> Vec<f64> {
        let normal = naive::norm(self.config.norm, row);
        let weights = self.matrices[i].iter().enumerate();
        let bias = |at: usize| self.biases.as_ref().map_or(0.0, |all| all[i][at].into());
        weights
            .map(|(at, &weight)| normal[at] * f64::from(weight) + bias(at))
            .collect()
    }
}

fn sum(x: &[f64], y: &[f64]) -> Vec<f64> {
    x.iter().zip(y).map(|(x, y)| x + y).collect()
}

fn product(matrix: &[f32], row: &[f64]) -> Vec<f64> {
    let rows = matrix.chunks(row.len());
    rows.map(|weights| {
        weights
            .iter()
            .zip(row)
            .map(|(&x, y)| f64::from(x) * y)
            .sum()
    })
    .collect()
}

fn turn(head: &mut [f64], position: usize, base: f64) {
    let half = head.len() / 2;
    for i in 0..half {
        let angle = position as f64 * base.powf(-2.0 * i as f64 / head.len() as f64);
        let (x, y) = (head[i], head[i + half]);
        head[i] = x * angle.cos() - y * angle.sin();
        head[i + half] = y * angle.cos() + x * angle.sin();
    }
}

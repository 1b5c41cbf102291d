//! Layers of transformers, against plain loops in double precision.

use pagepress::Error;
use pagepress::gpu::runtime::block_on;
use pagepress::gpu::{GpuDevice, QkvLoRA, WgslForwardPass};
use pagepress::tensor::layer::{
    LayerConfig, LayerWeights, LowRank, LowRankQkv, Mlp, Norm, Parameters,
};
use pagepress::tensor::{GpuTensor, Shape, Step, cpu};

use crate::naive::{self, numbers};
use crate::subject::Subject;
use crate::tolerance::{LAYER, assert_near};

/// Weights, with biases or without.
struct Model {
    config: LayerConfig,
    matrices: Vec<Vec<f32>>,
    biases: Option<Vec<Vec<f32>>>,
}

/// Sizes of q, k, v, o, gate, up, down and both normalisations: outputs and inputs.
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
    fn new(config: LayerConfig, has_biases: bool) -> Self {
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

    fn weights(&self) -> LayerWeights<'_> {
        let of = |i| self.parameters(i);
        LayerWeights {
            attention_norm: of(7),
            q: of(0),
            k: of(1),
            v: of(2),
            o: of(3),
            mlp_norm: of(8),
            gate: (self.config.mlp == Mlp::SwiGlu).then(|| of(4)),
            up: of(5),
            down: of(6),
        }
    }

    /// The layer in double precision.
    fn exact(&self, low_rank: Option<&LowRankQkv<'_>>, input: &[f32]) -> Vec<f64> {
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
            let seen = if config.causal { i + 1 } else { rows.len() };
            let mut found = Vec::new();
            for head in 0..config.n_heads {
                let key_head = head / (config.n_heads / config.n_kv_heads);
                let of_head = |rows: &'_ [Vec<f64>]| -> Vec<Vec<f64>> {
                    rows[..seen]
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

fn kinds() -> Vec<(LayerConfig, bool)> {
    let decoder = LayerConfig::decoder(48, 4, 70);
    vec![
        (decoder.clone(), false),
        (
            LayerConfig {
                n_kv_heads: 2,
                head_dim: 20,
                mlp: Mlp::GeluTanh,
                ..decoder.clone()
            },
            true,
        ),
        (
            LayerConfig {
                rotary_base: None,
                ..decoder.clone()
            },
            true,
        ),
        (LayerConfig::encoder(48, 3, 100), true),
        (
            LayerConfig {
                rotary_base: Some(500.0),
                norm: Norm::Rms { epsilon: 1e-6 },
                ..LayerConfig::encoder(34, 1, 5)
            },
            false,
        ),
        (
            LayerConfig {
                head_dim: 1,
                ..LayerConfig::encoder(5, 5, 1)
            },
            false,
        ),
    ]
}

fn forward(
    subject: &Subject,
    model: &Model,
    low_rank: Option<&LowRankQkv<'_>>,
    input: &[f32],
) -> Vec<f32> {
    let mut output = vec![f32::NAN; input.len()];
    match subject {
        Subject::Cpu => {
            cpu::layer_forward(
                &model.config,
                &model.weights(),
                low_rank,
                input,
                &mut output,
            )
            .unwrap();
        }
        Subject::Gpu(device) => {
            let mut layer = on(device, model);
            let lora = low_rank.map(|all| QkvLoRA::upload(device, &model.config, all).unwrap());
            layer.set_lora(lora);
            layer.forward(input, &mut output).unwrap();
        }
    }
    output
}

fn on(device: &GpuDevice, model: &Model) -> WgslForwardPass {
    WgslForwardPass::new(device.clone(), model.config.clone(), &model.weights()).unwrap()
}

pub fn layers_of_any_kind_work(subject: &Subject) {
    for (config, has_biases) in kinds() {
        let model = Model::new(config, has_biases);
        for n in [1, 2, 37, 0] {
            let input = numbers(n * model.config.hidden, 90, 1.0);
            let found = forward(subject, &model, None, &input);
            let exact = model.exact(None, &input);
            assert_near(
                &format!("{n} rows of {:?}", model.config),
                &found,
                &exact,
                LAYER,
            );
        }
    }
}

pub fn rows_one_by_one_give_what_they_give_at_once(subject: &Subject) {
    let Subject::Gpu(device) = subject else {
        return;
    };
    for (config, has_biases) in kinds() {
        if !config.causal {
            continue;
        }
        let hidden = config.hidden;
        let model = Model::new(config, has_biases);
        let input = numbers(40 * hidden, 91, 1.0);
        let exact = model.exact(None, &input);
        let mut layer = on(device, &model);
        for _ in 0..2 {
            let mut found = vec![f32::NAN; input.len()];
            let mut from = 0;
            for n in [1, 1, 30, 1, 7] {
                assert_eq!(layer.position(), from);
                let rows = from * hidden..(from + n) * hidden;
                layer
                    .forward(&input[rows.clone()], &mut found[rows])
                    .unwrap();
                from += n;
            }
            assert_near("one by one", &found, &exact, LAYER);
            layer.reset();
        }
    }
    let config = LayerConfig {
        max_positions: 3,
        ..LayerConfig::decoder(8, 2, 4)
    };
    let mut layer = on(device, &Model::new(config, false));
    let mut output = [0.0; 32];
    layer.forward(&[1.0; 16], &mut output[..16]).unwrap();
    let error = layer.forward(&[1.0; 16], &mut output[..16]).unwrap_err();
    assert_eq!(error.code(), "INVALID_ARGUMENT");
    assert!(error.to_string().contains("2 rows after 2"), "{error}");
    assert_eq!(layer.position(), 2);
}

pub fn matrices_of_low_rank_are_added(subject: &Subject) {
    let config = LayerConfig {
        n_kv_heads: 2,
        ..LayerConfig::decoder(48, 4, 70)
    };
    let model = Model::new(config, true);
    let (a, b) = (numbers(3 * 48, 92, 0.5), numbers(48 * 3, 93, 0.5));
    let pair = |outputs: usize| LowRank {
        a: &a,
        b: &b[..3 * outputs],
    };
    let input = numbers(9 * 48, 94, 1.0);
    let none = model.exact(None, &input);
    for (q, k, v) in [
        (true, true, true),
        (true, false, true),
        (false, true, false),
    ] {
        let all = LowRankQkv {
            rank: 3,
            scale: 2.0,
            q: q.then(|| pair(48)),
            k: k.then(|| pair(24)),
            v: v.then(|| pair(24)),
        };
        let exact = model.exact(Some(&all), &input);
        assert!(exact.iter().zip(&none).any(|(x, y)| (x - y).abs() > 0.01));
        assert_near(
            "low rank",
            &forward(subject, &model, Some(&all), &input),
            &exact,
            LAYER,
        );
    }
    let wrong = LowRankQkv {
        rank: 3,
        scale: 1.0,
        q: Some(pair(47)),
        k: None,
        v: None,
    };
    let error = match subject {
        Subject::Cpu => {
            let mut output = vec![0.0; input.len()];
            let weights = model.weights();
            cpu::layer_forward(&model.config, &weights, Some(&wrong), &input, &mut output).err()
        }
        Subject::Gpu(device) => QkvLoRA::upload(device, &model.config, &wrong).err(),
    };
    assert!(matches!(
        error,
        Some(Error::LengthMismatch {
            name: "q.b",
            expected: 144,
            actual: 141
        })
    ));
}

pub fn layers_follow_each_other_on_the_device(subject: &Subject) {
    let Subject::Gpu(device) = subject else {
        return;
    };
    let model = Model::new(LayerConfig::decoder(48, 4, 70), false);
    let input = numbers(5 * 48, 95, 1.0);
    let (mut first, mut second) = (on(device, &model), on(device, &model));
    assert!(first.device_bytes() > 4 * model.matrices.iter().map(Vec::len).sum::<usize>() as u64);
    let found = block_on(async {
        // Rows that begin inside of a buffer.
        let more = [&[0.0; 48][..], &input].concat();
        let rows = GpuTensor::from_slice_async(device, &more, Shape::new(&[6, 48])?).await?;
        let middle = first.apply_async(&rows.slice(0, 1..6)?).await?;
        second.apply_async(&middle).await?.to_vec_async().await
    });
    let middle: Vec<f32> = model
        .exact(None, &input)
        .iter()
        .map(|&x| x as f32)
        .collect();
    let exact = model.exact(None, &middle);
    assert_near("two layers", &found.unwrap(), &exact, LAYER);
    let error = block_on(async {
        let rows = GpuTensor::from_slice_async(device, &input, Shape::new(&[48, 5])?).await?;
        first.apply_async(&rows).await
    });
    assert!(matches!(
        error,
        Err(Error::ShapeMismatch { left, right, .. }) if left.dims() == [48, 5] && right.dims() == [48, 48]
    ));
}

pub fn wrong_weights_are_typed_errors(subject: &Subject) {
    let model = Model::new(LayerConfig::decoder(48, 4, 70), true);
    let input = [0.0; 48];
    let code = |config: &LayerConfig, weights: &LayerWeights<'_>| match subject {
        Subject::Cpu => {
            cpu::layer_forward(config, weights, None, &input, &mut [0.0; 48]).unwrap_err()
        }
        Subject::Gpu(device) => {
            WgslForwardPass::new(device.clone(), config.clone(), weights).unwrap_err()
        }
    };
    let short = &model.matrices[0][1..];
    let weights = LayerWeights {
        q: short.into(),
        ..model.weights()
    };
    let error = code(&model.config, &weights);
    let expected = Error::LengthMismatch {
        name: "q",
        expected: 48 * 48,
        actual: 48 * 48 - 1,
    };
    assert_eq!(error, expected);
    let weights = LayerWeights {
        gate: None,
        ..model.weights()
    };
    assert_eq!(code(&model.config, &weights).code(), "INVALID_ARGUMENT");
    let wrong: [fn(&mut LayerConfig); 5] = [
        |config| config.hidden = 0,
        |config| config.n_kv_heads = 3,
        |config| config.head_dim = 257,
        |config| config.head_dim = 7,
        |config| config.max_positions = usize::MAX,
    ];
    for change in wrong {
        let mut config = model.config.clone();
        change(&mut config);
        assert_eq!(
            code(&config, &model.weights()).code(),
            "INVALID_ARGUMENT",
            "{config:?}"
        );
    }
}

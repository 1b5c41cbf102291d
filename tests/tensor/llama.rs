//! A small Llama of three layers gives the logits of PyTorch. `llama/reference.py` makes them, from the same formula of
//! weights.

use pagepress::gpu::runtime::block_on;
use pagepress::gpu::{GpuDevice, WgslForwardPass};
use pagepress::tensor::layer::{LayerConfig, LayerWeights, Linear, Norm};
use pagepress::tensor::{DType, GpuTensor, Quantization, Shape, cpu};

use crate::stored::{Form, Stored, hashed, numbers};
use crate::subject::Subject;
use crate::tolerance::{Tolerance, assert_near};

const HIDDEN: usize = 256;
const KV_WIDTH: usize = 128;
const WIDTH: usize = 512;
const VOCABULARY: usize = 512;
const N_LAYERS: u32 = 3;
const N_TOKENS: usize = 16;
const NORM: Norm = Norm::Rms { epsilon: 1e-5 };

/// Tolerance of logits, which are up to 7, with keys and values of f32. The results of PyTorch in f32 and in f64 differ by
/// 1e-5 at most.
const WIDE: Tolerance = Tolerance {
    relative: 1e-4,
    absolute: 1e-4,
};
/// Tolerance of logits with queries, keys and values of f16, which PyTorch's model does not round.
const NARROW: Tolerance = Tolerance {
    relative: 4e-3,
    absolute: 4e-3,
};

/// Returns the weights of a norm.
fn columns(seed: u32) -> Vec<f32> {
    numbers(seed, HIDDEN, 0.25)
        .iter()
        .map(|x| 1.0 + x)
        .collect()
}

fn matrix(form: Form, seed: u32, [outputs, inputs]: [usize; 2], scale: f32) -> Stored {
    Stored::new(form, seed, numbers(seed, outputs * inputs, scale))
}

/// Weights of a layer in host memory.
struct LayerValues {
    matrices: Vec<Stored>,
    norms: [Vec<f32>; 2],
}

impl LayerValues {
    fn new(form: Form, layer: u32) -> Self {
        let sizes = [
            ([HIDDEN, HIDDEN], 0.125),
            ([KV_WIDTH, HIDDEN], 0.125),
            ([KV_WIDTH, HIDDEN], 0.0625),
            ([HIDDEN, HIDDEN], 0.0625),
            ([WIDTH, HIDDEN], 0.0625),
            ([WIDTH, HIDDEN], 0.0625),
            ([HIDDEN, WIDTH], 0.0625),
        ];
        let seeded = sizes.into_iter().zip(16 * layer..);
        Self {
            matrices: seeded
                .map(|((size, scale), seed)| matrix(form, seed, size, scale))
                .collect(),
            norms: [columns(16 * layer + 7), columns(16 * layer + 8)],
        }
    }

    fn weights(&self) -> LayerWeights<'_> {
        let of = |i: usize| Linear::from(self.matrices[i].weights());
        LayerWeights {
            attention_norm: (&self.norms[0]).into(),
            q: of(0),
            k: of(1),
            v: of(2),
            o: of(3),
            mlp_norm: (&self.norms[1]).into(),
            gate: Some(of(4)),
            up: of(5),
            down: of(6),
        }
    }
}

/// The model in host memory.
struct Llama {
    config: LayerConfig,
    layers: Vec<LayerValues>,
    /// Weights of the last norm.
    norm: Vec<f32>,
    head: Stored,
}

impl Llama {
    fn new(form: Form, kv_type: DType) -> Self {
        Self {
            config: LayerConfig {
                n_kv_heads: 4,
                max_positions: N_TOKENS,
                kv_type,
                ..LayerConfig::decoder(HIDDEN, 8, WIDTH)
            },
            layers: (0..N_LAYERS).map(|i| LayerValues::new(form, i)).collect(),
            norm: columns(1001),
            head: matrix(form, 1002, [VOCABULARY, HIDDEN], 0.0625),
        }
    }

    /// Computes the logits of all rows on the CPU.
    fn on_cpu(&self, embedded: &[f32]) -> Vec<f32> {
        let mut rows = embedded.to_vec();
        for layer in &self.layers {
            let input = rows.clone();
            cpu::layer_forward(&self.config, &layer.weights(), None, &input, &mut rows).unwrap();
        }
        let mut normal = vec![0.0; rows.len()];
        cpu::norm(NORM, &rows, HIDDEN, [Some(&self.norm), None], &mut normal).unwrap();
        let head = self.head.values();
        let turned: Vec<f32> = (0..head.len())
            .map(|i| head[i % VOCABULARY * HIDDEN + i / VOCABULARY])
            .collect();
        let mut logits = vec![0.0; rows.len() / HIDDEN * VOCABULARY];
        let n = rows.len() / HIDDEN;
        cpu::matmul(&normal, &turned, &mut logits, n, HIDDEN, VOCABULARY).unwrap();
        logits
    }

    fn on(&self, device: &GpuDevice) -> DeviceLlama {
        let layer = |layer: &LayerValues| {
            WgslForwardPass::new(device.clone(), self.config.clone(), &layer.weights()).unwrap()
        };
        let tensor = |values: &[f32], dims: &[usize]| {
            let shape = Shape::new(dims).unwrap();
            block_on(GpuTensor::from_slice_async(device, values, shape)).unwrap()
        };
        let head = tensor(&self.head.values(), &[VOCABULARY, HIDDEN]);
        DeviceLlama {
            layers: self.layers.iter().map(layer).collect(),
            norm: tensor(&self.norm, &[HIDDEN]),
            head: head.transpose(0, 1).unwrap(),
        }
    }
}

/// The model on a device.
struct DeviceLlama {
    layers: Vec<WgslForwardPass>,
    norm: GpuTensor,
    head: GpuTensor,
}

impl DeviceLlama {
    /// Computes the logits of rows that follow the earlier ones.
    fn logits(&mut self, embedded: &[f32]) -> Vec<f32> {
        block_on(async {
            let device = self.norm.device().clone();
            let shape = Shape::new(&[embedded.len() / HIDDEN, HIDDEN])?;
            let mut rows = GpuTensor::from_slice_async(&device, embedded, shape).await?;
            for layer in &mut self.layers {
                rows = layer.apply_async(&rows).await?;
            }
            let normal = rows.norm_async(NORM, Some(&self.norm), None).await?;
            let logits = normal.matmul_async(&self.head).await?;
            logits.to_vec_async().await
        })
        .unwrap()
    }
}

/// Compares logits of all rows with those of PyTorch, of which there are some rows, and of these every 16th element.
fn check(what: &str, name: &str, logits: &[f32], tolerance: Tolerance) {
    let mut n_rows = 0;
    for line in include_str!("llama/logits.txt").lines() {
        let mut words = line.split(' ');
        if words.next() != Some(name) {
            continue;
        }
        let position: usize = words.next().unwrap().parse().unwrap();
        let exact: Vec<f64> = words.map(|word| word.parse().unwrap()).collect();
        let row = logits[position * VOCABULARY..][..VOCABULARY].iter();
        let found: Vec<f32> = row.step_by(16).copied().collect();
        assert_near(
            &format!("{what}, row {position}"),
            &found,
            &exact,
            tolerance,
        );
        n_rows += 1;
    }
    assert_eq!(n_rows, 5, "{name}");
}

pub fn a_small_llama_gives_the_logits_of_pytorch(subject: &Subject) {
    let table = numbers(1000, VOCABULARY * HIDDEN, 1.0);
    let tokens = (0..N_TOKENS as u32).map(|i| hashed(2000, i) as usize % VOCABULARY);
    let embedded: Vec<f32> = tokens
        .flat_map(|token| &table[token * HIDDEN..][..HIDDEN])
        .copied()
        .collect();
    let wide = match subject.rounds_rows(DType::F16) {
        true => NARROW,
        false => WIDE,
    };
    for (name, form, kv_type, tolerance) in [
        ("f32", Form::As(DType::F32), DType::F32, WIDE),
        ("f16", Form::As(DType::F16), DType::F32, wide),
        ("f16", Form::As(DType::F16), DType::F16, NARROW),
        ("q4_k", Form::Packed(Quantization::Q4K), DType::F32, WIDE),
        ("q4_k", Form::Packed(Quantization::Q4K), DType::F16, NARROW),
        ("q8_0", Form::Packed(Quantization::Q8_0), DType::F32, WIDE),
    ] {
        let what = format!("{name}, keys and values of {kv_type:?}");
        let llama = Llama::new(form, kv_type);
        let Subject::Gpu(device) = subject else {
            check(&what, name, &llama.on_cpu(&embedded), tolerance);
            continue;
        };
        let mut on_device = llama.on(device);
        // The prompt at once and further rows one by one, then all one by one.
        for prompt in [12, 1] {
            let (first, rest) = embedded.split_at(prompt * HIDDEN);
            let mut logits = on_device.logits(first);
            for row in rest.chunks(HIDDEN) {
                logits.extend(on_device.logits(row));
            }
            check(&what, name, &logits, tolerance);
            on_device.layers.iter_mut().for_each(WgslForwardPass::reset);
        }
    }
}

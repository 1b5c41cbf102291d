//! Times decoding with the shapes of Llama 3 and weights of Q4_K: layers, the last norm and the output head.
//!
//! `cargo run --release --all-features --example llama -- --shape 8b --engine cuda` (or `wgpu`, `cpu`). `--shape` is `tiny`,
//! `1b` or `8b`; `--prompt` is the number of rows before those that are timed; `--wide` keeps keys and values in f32 instead of
//! f16; `--tf32` rounds the factors of products of many rows to TF32; `--software` allows a software GPU. Weights are random, so that tokens mean nothing. The first layer is compared with
//! the CPU's before anything is timed. The CPU keeps no keys and values: its figure is that of the first row of a sequence.

mod bench;

use std::time::Instant;

use bench::{Arguments, Outcome, numbers, random};
use pagepress::gpu::runtime::block_on;
use pagepress::gpu::{EngineChoice, GpuDevice, WgslForwardPass};
use pagepress::tensor::layer::{LayerConfig, LayerWeights, Norm, Weights};
use pagepress::tensor::{DType, GpuTensor, Precision, Quantization, QuantizedWeights, Shape, cpu};

const NORM: Norm = Norm::Rms { epsilon: 1e-5 };
const N_TOKENS: usize = 64;

struct Model {
    config: LayerConfig,
    n_layers: usize,
    vocabulary: usize,
}

fn main() -> Outcome {
    let arguments = Arguments::new();
    let [hidden, n_heads, n_kv_heads, width, n_layers, vocabulary] =
        match arguments.value("--shape").unwrap_or("1b") {
            "tiny" => [256, 4, 2, 512, 2, 1024],
            "1b" => [2048, 32, 8, 8192, 16, 128_256],
            "8b" => [4096, 32, 8, 14_336, 32, 128_256],
            other => return Err(format!("--shape {other}: tiny, 1b or 8b").into()),
        };
    let n_prompt = arguments
        .value("--prompt")
        .unwrap_or("512")
        .parse::<usize>()?
        .max(2);
    let config = LayerConfig {
        n_kv_heads,
        norm: NORM,
        rotary_base: Some(500_000.0),
        max_positions: n_prompt + N_TOKENS + 1,
        kv_type: if arguments.has("--wide") {
            DType::F32
        } else {
            DType::F16
        },
        precision: if arguments.has("--tf32") {
            Precision::Tf32
        } else {
            Precision::F32
        },
        ..LayerConfig::decoder(hidden, n_heads, width)
    };
    let model = Model {
        config,
        n_layers,
        vocabulary,
    };
    let engine = match arguments.value("--engine").unwrap_or("wgpu") {
        "cpu" => return on_cpu(&model),
        "cuda" => EngineChoice::Cuda,
        "wgpu" => EngineChoice::Wgpu,
        other => return Err(format!("--engine {other}: cuda, wgpu or cpu").into()),
    };
    let device = arguments.open(engine)?;
    block_on(on_device(&model, device, n_prompt))
}

async fn on_device(model: &Model, device: GpuDevice, n_prompt: usize) -> Outcome {
    let (config, hidden) = (&model.config, model.config.hidden);
    let ones = vec![1.0; hidden];
    let mut layers = Vec::with_capacity(model.n_layers);
    for i in 0..model.n_layers {
        let matrices = matrices(config, i as u64);
        let weights = weights(&matrices, &ones);
        layers.push(WgslForwardPass::new_async(device.clone(), config.clone(), &weights).await?);
        if i == 0 {
            check(&mut layers[0], &weights).await?;
        }
    }
    let (head, size) = (
        blocks(model.vocabulary * hidden, u64::MAX),
        [model.vocabulary, hidden],
    );
    let head_bytes = head.len() as u64;
    let head = QuantizedWeights::upload_async(&device, Quantization::Q4K, &head, size).await?;
    let norm = GpuTensor::from_slice_async(&device, &ones, Shape::vector(hidden)).await?;
    let n_bytes = head_bytes + layers.iter().map(|layer| layer.device_bytes()).sum::<u64>();
    // Returns the token of the largest logit of the last row. Several tokens begin a sequence.
    let mut step = async |tokens: &[usize]| -> Outcome<usize> {
        if tokens.len() > 1 {
            layers.iter_mut().for_each(WgslForwardPass::reset);
        }
        let embedded = tokens.iter().map(|&token| numbers(hidden, token as u64));
        let rows: Vec<f32> = embedded.flatten().collect();
        let shape = Shape::new(&[tokens.len(), hidden])?;
        let mut rows = GpuTensor::from_slice_async(&device, &rows, shape).await?;
        for layer in &mut layers {
            rows = layer.apply_async(&rows).await?;
        }
        let last = rows.slice(0, tokens.len() - 1..tokens.len())?;
        let normal = last.norm_async(NORM, Some(&norm), None).await?;
        let logits = head.matmul_async(&normal).await?.to_vec_async().await?;
        let best = logits.iter().enumerate().max_by(|x, y| x.1.total_cmp(y.1));
        Ok(best.map_or(0, |(token, _)| token))
    };
    let prompt: Vec<usize> = (0..n_prompt).collect();
    let mut token = 0;
    for note in [", with compilation of kernels", ""] {
        let started = Instant::now();
        token = step(&prompt).await?;
        let per_second = n_prompt as f64 / started.elapsed().as_secs_f64();
        println!("prompt: {per_second:.1} tokens per second{note}");
    }
    token = step(&[token]).await?;
    let started = Instant::now();
    for _ in 1..N_TOKENS {
        token = step(&[token]).await?;
    }
    let per_second = (N_TOKENS - 1) as f64 / started.elapsed().as_secs_f64();
    let gigabytes = n_bytes as f64 / 1e9;
    println!("decoding after {n_prompt} rows: {per_second:.1} tokens per second");
    println!(
        "{gigabytes:.2} GB of layers and head, {:.0} GB/s",
        per_second * gigabytes
    );
    Ok(())
}

/// Compares three rows, at once and one by one, with those of the CPU, and discards them.
async fn check(layer: &mut WgslForwardPass, weights: &LayerWeights<'_>) -> Outcome {
    let hidden = layer.config().hidden;
    let input = numbers(3 * hidden, 1);
    let mut exact = vec![0.0; input.len()];
    cpu::layer_forward(layer.config(), weights, None, &input, &mut exact)?;
    let squares = exact.iter().map(|x| x * x).sum::<f32>();
    let deviation = (squares / exact.len() as f32).sqrt();
    for n in [3, 1] {
        let mut found = vec![f32::NAN; input.len()];
        let places = found.chunks_mut(n * hidden);
        for (rows, place) in input.chunks(n * hidden).zip(places) {
            layer.forward_async(rows, place).await?;
        }
        layer.reset();
        let mut both = found.iter().zip(&exact);
        // NaN is not near.
        if !both.all(|(found, exact)| (found - exact).abs() <= 2e-3 * deviation) {
            return Err(format!("{n} rows at once differ from those of the CPU").into());
        }
    }
    println!("a layer gives the rows of the CPU, of deviation {deviation:.2}");
    Ok(())
}

fn on_cpu(model: &Model) -> Outcome {
    let (config, hidden) = (&model.config, model.config.hidden);
    let ones = vec![1.0; hidden];
    let layers = (0..model.n_layers as u64).map(|i| matrices(config, i));
    let layers: Vec<_> = layers.collect();
    let head = blocks(model.vocabulary * hidden, u64::MAX);
    let (mut rows, mut logits) = (numbers(hidden, 1), vec![0.0; model.vocabulary]);
    let started = Instant::now();
    for matrices in &layers {
        let input = rows.clone();
        cpu::layer_forward(config, &weights(matrices, &ones), None, &input, &mut rows)?;
    }
    let input = rows.clone();
    cpu::norm(NORM, &input, hidden, [Some(&ones), None], &mut rows)?;
    let size = [1, hidden, model.vocabulary];
    cpu::matmul_quantized(Quantization::Q4K, &rows, &head, &mut logits, size)?;
    let per_second = 1.0 / started.elapsed().as_secs_f64();
    println!("first row: {per_second:.2} per second");
    Ok(())
}

/// Returns random weights of q, k, v, o, gate, up and down of a layer.
fn matrices(config: &LayerConfig, layer: u64) -> [Vec<u8>; 7] {
    let (hidden, width) = (config.hidden, config.mlp_width);
    let kv = config.n_kv_heads * config.head_dim;
    let outputs = [hidden, kv, kv, hidden, width, width, width];
    std::array::from_fn(|i| blocks(outputs[i] * hidden, 7 * layer + i as u64))
}

fn weights<'a>(matrices: &'a [Vec<u8>; 7], norm: &'a [f32]) -> LayerWeights<'a> {
    let packed = |bytes| Weights::Packed(Quantization::Q4K, bytes).into();
    let [q, k, v, o, gate, up, down] = matrices.each_ref().map(|bytes| packed(bytes));
    LayerWeights {
        attention_norm: norm.into(),
        q,
        k,
        v,
        o,
        mlp_norm: norm.into(),
        gate: Some(gate),
        up,
        down,
    }
}

/// Returns blocks of `n` random weights, whose fixed exponents keep sums small.
fn blocks(n: usize, seed: u64) -> Vec<u8> {
    let (block_len, block_bytes) = (
        Quantization::Q4K.block_len(),
        Quantization::Q4K.block_bytes(),
    );
    let n_words = n / block_len * block_bytes / 8;
    let mut next = random(seed);
    let mut bytes = Vec::with_capacity(8 * n_words);
    (0..n_words).for_each(|_| bytes.extend(next().to_le_bytes()));
    for block in bytes.chunks_exact_mut(block_bytes) {
        (block[1], block[3]) = (0x04, 0x0f);
    }
    bytes
}

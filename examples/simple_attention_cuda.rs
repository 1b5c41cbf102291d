//! Attention of one head on CUDA by its steps, each a kernel of its own: layer norm, scores, softmax, and the sum of values. Compared with the
//! one kernel that never stores the scores.
//!
//! `cargo run --release --features cuda --example simple_attention_cuda`

mod bench;

use bench::{Arguments, Outcome, numbers};
use pagepress::gpu::EngineChoice;
use pagepress::tensor::layer::{Attention, Norm};
use pagepress::tensor::{GpuTensor, Shape, Step};

const ROWS: usize = 512;
const DIM: usize = 64;

/// Returns softmax(q kᵀ / sqrt(dim)) v.
fn simple_attention(q: &GpuTensor, k: &GpuTensor, v: &GpuTensor) -> pagepress::Result<GpuTensor> {
    let scores = q.matmul(&k.transpose(0, 1)?)?;
    let scaled = scores.apply(&[Step::Scale(1.0 / (DIM as f32).sqrt())])?;
    scaled.softmax()?.matmul(v)
}

fn main() -> Outcome {
    let device = match Arguments::new().open(EngineChoice::Cuda) {
        Ok(device) => device,
        Err(error) => {
            println!("No CUDA device: {error}");
            return Ok(());
        }
    };
    let upload = |rows, columns, seed| {
        // Small, so that sums of 64 terms are.
        let mut values = numbers(rows * columns, seed);
        values.iter_mut().for_each(|x| *x /= 8.0);
        GpuTensor::from_slice(&device, &values, Shape::new(&[rows, columns])?)
    };
    // Rows are normalised, then multiplied by the matrices of queries, keys and values.
    let rows = upload(ROWS, DIM, 1)?.norm(Norm::Layer { epsilon: 1e-5 }, None, None)?;
    let [q, k, v] = [2, 3, 4].map(|seed| rows.matmul(&upload(DIM, DIM, seed)?));
    let (q, k, v) = (q?, k?, v?);
    let found = simple_attention(&q, &k, &v)?.to_vec()?;
    let head = |rows: &GpuTensor| rows.reshape(Shape::new(&[1, ROWS, DIM])?);
    let at_once = head(&q)?.attention(&head(&k)?, &head(&v)?, Attention::default())?;
    let at_once = at_once.to_vec()?;
    let pairs = found.iter().zip(&at_once);
    let off = pairs.map(|(x, y)| (x - y).abs()).fold(0.0, f32::max);
    println!("{ROWS} rows of {DIM}: off by {off:e} at most from the one kernel");
    println!("stored scores: {} KiB", (4 * ROWS * ROWS) >> 10);
    if off.is_nan() || off > 1e-4 {
        return Err("the two differ".into());
    }
    Ok(())
}

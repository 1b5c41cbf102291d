//! Measures the duration of operations on the CPU and on a device, when first needed.
//!
//! The cost model of an engine: each [`Class`] has a fixed cost and a cost per unit, and all classes share one cost per
//! byte of input and output. It is fitted to operations of growing size, which take a few milliseconds in total on the
//! CPU and a few tens of milliseconds on a GPU. The first run of each class, which compiles the kernel, is not counted.

use super::arrays::Array;
use crate::Result;
use crate::clock::Clock;
use crate::cost::Cost;
use crate::gpu::GpuDevice;
use crate::memory::zeros;
use crate::tensor::op::Op;
use crate::tensor::op::work::{Class, Work};
use crate::tensor::record::Download;
use crate::tensor::{Shape, Step};

/// Nanoseconds after which no larger sizes are measured.
const ENOUGH_NS: u64 = if cfg!(target_arch = "wasm32") {
    10_000_000
} else {
    3_000_000
};

/// Number of runs of each size. The fastest counts.
const N_RUNS: usize = 2;

/// Number of rows and columns of the measured matrices, smallest first.
const STREAM_EDGES: [usize; 4] = [32, 256, 512, 1024];
const PRODUCT_EDGES: [usize; 5] = [16, 128, 256, 512, 1024];

/// Rows and columns of a convolution's kernel.
const KERNEL_EDGE: usize = 7;

/// An engine to measure.
#[derive(Debug, Clone, Copy)]
pub(super) enum Engine<'a> {
    Cpu,
    Gpu(&'a GpuDevice),
}

/// Measurements of one engine.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Speed {
    /// Costs by class. The cost per unit of [`Class::Stream`] is the cost per byte of all classes.
    costs: [Option<Cost>; Class::ALL.len()],
}

impl Speed {
    fn stream(&self) -> Option<Cost> {
        self.costs[Class::Stream as usize]
    }

    /// Estimates the duration in nanoseconds; `None` if the class has not been measured.
    pub(super) fn ns(&self, work: Work) -> Option<f64> {
        let (stream, own) = (self.stream()?, self.costs[work.class as usize]?);
        Some(match work.class {
            Class::Stream => stream.ns(work.n_bytes),
            _ => own.ns(work.n_units) + stream.ns_per_unit * work.n_bytes,
        })
    }

    /// Measures the classes that [`ns`](Self::ns) needs for `class`, unless they have been measured.
    pub(super) async fn measure(&mut self, engine: Engine<'_>, class: Class) -> Result<()> {
        for class in [Class::Stream, class] {
            if self.costs[class as usize].is_none() {
                let samples = samples(engine, class).await?;
                self.costs[class as usize] = self.fit(class, &samples);
            }
        }
        Ok(())
    }

    /// Fits the cost of a class. The cost of bytes is subtracted first, except for [`Class::Stream`].
    fn fit(&self, class: Class, samples: &[(Work, u64)]) -> Option<Cost> {
        let sample = |&(work, ns): &(Work, u64)| match class {
            Class::Stream => [work.n_bytes, ns as f64],
            _ => {
                let per_byte = self.stream().unwrap_or_default().ns_per_unit;
                // At least a tenth of the time counts as the operation's own.
                let ns = ns as f64;
                [
                    work.n_units,
                    (ns - per_byte * work.n_bytes).max(0.1 * ns).max(1.0),
                ]
            }
        };
        Cost::fit(&samples.iter().map(sample).collect::<Vec<_>>())
    }
}

/// Times operations of a class in growing sizes.
async fn samples(engine: Engine<'_>, class: Class) -> Result<Vec<(Work, u64)>> {
    let edges = match class {
        Class::Stream | Class::Functions => &STREAM_EDGES[..],
        Class::Products | Class::Convolutions => &PRODUCT_EDGES,
    };
    let mut found = Vec::new();
    for &edge in edges {
        let sample = Sample::new(class, edge)?;
        if found.is_empty() {
            sample.run(engine).await?;
        }
        let mut ns = u64::MAX;
        for _ in 0..N_RUNS {
            let clock = Clock::start();
            sample.run(engine).await?;
            ns = ns.min(clock.elapsed_ns());
        }
        found.push((sample.work, ns));
        if ns >= ENOUGH_NS {
            break;
        }
    }
    Ok(found)
}

/// An operation to measure, with its inputs.
struct Sample {
    work: Work,
    op: Op,
    /// Square matrices, each with its number of rows.
    inputs: Vec<(Vec<f32>, usize)>,
}

impl Sample {
    fn new(class: Class, edge: usize) -> Result<Self> {
        let n = edge * edge;
        let a = (0..n).map(|i| (i % 61) as f32 / 61.0 - 0.5).collect();
        let (op, b) = match class {
            Class::Stream => (Op::Elementwise(vec![Step::Add]), Some((1.0, edge))),
            Class::Functions => (Op::Elementwise(vec![Step::Gelu]), None),
            Class::Products => (Op::product(), Some((0.5, edge))),
            Class::Convolutions => (Op::Convolve2d, Some((0.5, KERNEL_EDGE))),
        };
        let mut inputs = vec![(a, edge)];
        inputs.extend(b.map(|(value, edge)| (vec![value; edge * edge], edge)));
        let arrays = arrays(&inputs)?;
        let shapes: Vec<&Shape> = arrays.iter().map(|array| array.view.shape()).collect();
        let work = op.work(&shapes, op.result_of(&arrays)?.shape());
        Ok(Self { work, op, inputs })
    }

    /// Runs the operation, transfers and the allocation of the result included, as a backend does.
    async fn run(&self, engine: Engine<'_>) -> Result<()> {
        let inputs = arrays(&self.inputs)?;
        let result = self.op.result_of(&inputs)?;
        let n = result.shape().n_elements();
        match engine {
            Engine::Cpu => self.op.on_cpu_of(&inputs, &mut zeros(n)?),
            Engine::Gpu(device) => {
                let made = device.compute_async(&self.op, &inputs, &result).await?;
                received(made, n).await
            }
        }
    }
}

/// Downloads a result to a new JavaScript array, as operations on such arrays do.
#[cfg(web_tensor)]
async fn received(made: Download, _: usize) -> Result<()> {
    made.into_js_async().await.map(drop)
}

/// Downloads a result of `n` elements to newly allocated memory.
#[cfg(not(web_tensor))]
async fn received(made: Download, n: usize) -> Result<()> {
    made.read_into(&mut zeros(n)?).await
}

/// Returns the inputs as square arrays.
fn arrays(inputs: &[(Vec<f32>, usize)]) -> Result<Vec<Array<'_>>> {
    let arrays = inputs.iter().map(|(values, edge)| {
        let shape = Shape::new(&[*edge; 2])?;
        Ok(Array::new(values, shape))
    });
    arrays.collect()
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use super::*;

    /// Returns the time of a model engine: 2 per byte, plus 1000 for a stream, or 500 and 3 per unit for other classes.
    fn known(work: Work) -> u64 {
        let own = match work.class {
            Class::Stream => 1000.0,
            _ => 500.0 + 3.0 * work.n_units,
        };
        (own + 2.0 * work.n_bytes) as u64
    }

    fn dot(n: usize) -> Work {
        Work::new(Class::Stream, 2 * n, 0.0)
    }

    fn softmax(n: usize) -> Work {
        Work::new(Class::Functions, 2 * n, n as f64)
    }

    #[test]
    fn costs_are_fitted_by_class() {
        let mut speed = Speed::default();
        for class in Class::ALL {
            let samples = [16, 64, 256].map(|edge| {
                let work = Sample::new(class, edge).unwrap().work;
                (work, known(work))
            });
            speed.costs[class as usize] = speed.fit(class, &samples);
        }
        for work in [
            dot(5000),
            softmax(100_000),
            Work::matmul(100, 200, 300),
            Work::new(Class::Convolutions, 19_241, 25.0 * 9216.0),
        ] {
            let (found, exact) = (speed.ns(work).unwrap(), known(work) as f64);
            assert!(
                (found / exact - 1.0).abs() < 0.01,
                "{work:?}: {found}, {exact}"
            );
        }
    }

    #[test]
    fn measuring_a_class_also_measures_streams() {
        let mut speed = Speed::default();
        assert_eq!(speed.ns(dot(10)), None);
        let future = speed.measure(Engine::Cpu, Class::Products);
        crate::gpu::runtime::block_on(future).unwrap();
        let (small, large) = (Work::matmul(8, 8, 8), Work::matmul(512, 512, 512));
        assert!(speed.ns(small).unwrap() < speed.ns(large).unwrap());
        assert!(speed.ns(dot(10)).is_some());
        assert_eq!(speed.ns(softmax(10)), None);
    }
}

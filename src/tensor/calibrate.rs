//! How long operations take on the CPU and on a device, measured when they are first needed.
//!
//! Each engine and each [`Class`] has a fixed cost and a cost a unit, beside the engine's cost a byte in and out. They
//! are fitted to short operations of growing size, which take a few milliseconds in all on the CPU and a few tens on a
//! GPU; the first one on a GPU, which compiles the kernel, does not count.

use super::cpu;
use super::step::Step;
use super::work::{Class, Work};
use crate::Result;
use crate::clock::Clock;
use crate::cost::Cost;
use crate::gpu::GpuDevice;

/// Nanoseconds after which no larger operation is measured.
const ENOUGH_NS: u64 = if cfg!(target_arch = "wasm32") {
    10_000_000
} else {
    3_000_000
};

/// Runs of each size, of which the quickest counts.
const N_RUNS: usize = 2;

/// Edges that grow fourfold in work from one to the next.
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

/// What was measured of one engine.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Speed {
    /// By class; the cost a unit of [`Class::Stream`] is that of a byte, which all classes share.
    costs: [Option<Cost>; Class::ALL.len()],
}

impl Speed {
    fn stream(&self) -> Option<Cost> {
        self.costs[Class::Stream as usize]
    }

    /// Expected nanoseconds; `None` for a class that is not measured.
    pub(super) fn ns(&self, work: Work) -> Option<f64> {
        let (stream, own) = (self.stream()?, self.costs[work.class as usize]?);
        Some(match work.class {
            Class::Stream => stream.ns(work.n_bytes),
            _ => own.ns(work.n_units) + stream.ns_per_unit * work.n_bytes,
        })
    }

    /// Measures what [`ns`](Self::ns) needs for `class`, if it is not measured yet.
    pub(super) async fn measure(&mut self, engine: Engine<'_>, class: Class) -> Result<()> {
        for class in [Class::Stream, class] {
            if self.costs[class as usize].is_none() {
                let samples = samples(engine, class).await?;
                self.costs[class as usize] = self.fit(class, &samples);
            }
        }
        Ok(())
    }

    /// The cost that fits, of classes other than `Stream` without their bytes.
    fn fit(&self, class: Class, samples: &[(Work, u64)]) -> Option<Cost> {
        let sample = |&(work, ns): &(Work, u64)| match class {
            Class::Stream => [work.n_bytes, ns as f64],
            _ => {
                let per_byte = self.stream().unwrap_or_default().ns_per_unit;
                // Of what the bytes leave at least a tenth is the operation's own.
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

/// Operations of a class in growing sizes, and their times.
async fn samples(engine: Engine<'_>, class: Class) -> Result<Vec<(Work, u64)>> {
    let edges = match class {
        Class::Stream | Class::Functions => &STREAM_EDGES[..],
        Class::Products | Class::Convolutions => &PRODUCT_EDGES,
    };
    let mut found = Vec::new();
    for &edge in edges {
        let sample = Sample::new(class, edge);
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

/// An operation to time, with its arguments.
struct Sample {
    work: Work,
    edge: usize,
    a: Vec<f32>,
    b: Vec<f32>,
}

impl Sample {
    fn new(class: Class, edge: usize) -> Self {
        let n = edge * edge;
        let a = (0..n).map(|i| (i % 61) as f32 / 61.0 - 0.5).collect();
        let n_kernel = KERNEL_EDGE * KERNEL_EDGE;
        let (work, b) = match class {
            Class::Stream => (Work::elementwise(&[Step::Add], n, 2 * n), vec![1.0; n]),
            Class::Functions => (Work::elementwise(&[Step::Gelu], n, n), Vec::new()),
            Class::Products => (Work::matmul(edge, edge, edge), vec![0.5; n]),
            Class::Convolutions => {
                let n_out = (edge + 1 - KERNEL_EDGE).pow(2);
                (Work::convolve2d(n, n_kernel, n_out), vec![0.5; n_kernel])
            }
        };
        Self { work, edge, a, b }
    }

    async fn run(&self, engine: Engine<'_>) -> Result<()> {
        match engine {
            Engine::Cpu => self.run_on_cpu(),
            Engine::Gpu(device) => self.run_on_gpu(device).await,
        }
    }

    fn run_on_cpu(&self) -> Result<()> {
        let (a, b, edge) = (&self.a, &self.b, self.edge);
        let mut out = self.out();
        match self.work.class {
            Class::Stream => cpu::elementwise(&[Step::Add], a, Some(b), &mut out),
            Class::Functions => cpu::elementwise(&[Step::Gelu], a, None, &mut out),
            Class::Products => cpu::matmul(a, b, &mut out, edge, edge, edge),
            Class::Convolutions => cpu::convolve2d(a, b, &mut out, [edge; 2], [KERNEL_EDGE; 2]),
        }
    }

    /// In and out of the device, as operations on slices go.
    #[cfg(not(web_tensor))]
    async fn run_on_gpu(&self, device: &GpuDevice) -> Result<()> {
        let (a, b, edge) = (&self.a, &self.b, self.edge);
        let mut out = self.out();
        match self.work.class {
            Class::Stream => {
                let sum = device.elementwise_async(&[Step::Add], a, Some(b), &mut out);
                sum.await
            }
            Class::Functions => {
                let made = device.elementwise_async(&[Step::Gelu], a, None, &mut out);
                made.await
            }
            Class::Products => device.matmul_async(a, b, &mut out, edge, edge, edge).await,
            Class::Convolutions => {
                let k = KERNEL_EDGE;
                let made = device.convolve2d_async(a, b, &mut out, edge, edge, k, k);
                made.await
            }
        }
    }

    /// In and out of the device, as operations on arrays of JavaScript go.
    #[cfg(web_tensor)]
    async fn run_on_gpu(&self, device: &GpuDevice) -> Result<()> {
        use super::{GpuTensor, Shape};
        let square = |edge: usize| Shape::new(&[edge; 2]);
        let a = GpuTensor::from_slice_async(device, &self.a, square(self.edge)?).await?;
        let b_edge = match self.work.class {
            Class::Functions => 0,
            Class::Convolutions => KERNEL_EDGE,
            Class::Stream | Class::Products => self.edge,
        };
        let b = GpuTensor::from_slice_async(device, &self.b, square(b_edge)?).await?;
        let made = match self.work.class {
            Class::Stream => a.combine_async(&[Step::Add], &b).await,
            Class::Functions => a.apply_async(&[Step::Gelu]).await,
            Class::Products => a.matmul_async(&b).await,
            Class::Convolutions => a.convolve2d_async(&b).await,
        };
        made?.to_js_async().await.map(drop)
    }

    /// Fresh memory for a result each time, as the operations of the backend have it.
    fn out(&self) -> Vec<f32> {
        match self.work.class {
            Class::Convolutions => vec![0.0; (self.edge + 1 - KERNEL_EDGE).pow(2)],
            _ => vec![0.0; self.a.len()],
        }
    }
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use super::*;

    /// An engine with a fixed cost of 1000, 2 a byte, and 3 a unit with 500 more.
    fn known(work: Work) -> u64 {
        let own = match work.class {
            Class::Stream => 1000.0,
            _ => 500.0 + 3.0 * work.n_units,
        };
        (own + 2.0 * work.n_bytes) as u64
    }

    #[test]
    fn speeds_are_fitted_by_class() {
        let mut speed = Speed::default();
        for class in Class::ALL {
            let samples = [16, 64, 256].map(|edge| {
                let work = Sample::new(class, edge).work;
                (work, known(work))
            });
            speed.costs[class as usize] = speed.fit(class, &samples);
        }
        for work in [
            Work::dot(5000),
            Work::softmax(100_000),
            Work::matmul(100, 200, 300),
            Work::convolve2d(10_000, 25, 9216),
        ] {
            let (found, exact) = (speed.ns(work).unwrap(), known(work) as f64);
            assert!(
                (found / exact - 1.0).abs() < 0.01,
                "{work:?}: {found}, {exact}"
            );
        }
    }

    #[test]
    fn a_class_is_measured_once_and_with_it_the_memory() {
        let mut speed = Speed::default();
        assert_eq!(speed.ns(Work::dot(10)), None);
        let future = speed.measure(Engine::Cpu, Class::Products);
        crate::gpu::runtime::block_on(future).unwrap();
        let (small, large) = (Work::matmul(8, 8, 8), Work::matmul(512, 512, 512));
        assert!(speed.ns(small).unwrap() < speed.ns(large).unwrap());
        assert!(speed.ns(Work::dot(10)).is_some());
        assert_eq!(speed.ns(Work::softmax(10)), None);
    }
}

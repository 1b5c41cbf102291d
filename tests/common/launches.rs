//! All kernel launches of the crate.

#[path = "launches/attention.rs"]
mod attention;
#[path = "launches/matrix_units.rs"]
mod matrix_units;

use std::collections::BTreeMap;

use attention::{attention_half_jobs, attention_jobs};
use matrix_units::jobs_on_matrix_units;
use pagepress::internals::lz4::{
    compress_chunks_job, compress_job, copy_pieces_job, decompress_chunks_job, decompress_job,
    max_chunks_per_job,
};
use pagepress::internals::tensor::{
    Cast, Convolution, CopyAxis, Elementwise, Matrix, Product, QuantizedProduct, Rotary, Source,
    Strided, cast_job, convolve2d_job, copy_job, elementwise_job, epilogue_job,
    matmul_epilogue_job, matmul_job, matmul_naive_job, matmul_quantized_job, norm_job,
    reduce_columns_job, reduce_rows_job, rotary_job, softmax_job,
};
use pagepress::internals::{Job, Limits, Registers};
use pagepress::kernels::{ComputeUnits, Launch};
use pagepress::lz4::Level;
use pagepress::tensor::layer::Norm;
use pagepress::tensor::{Activation, DType, Epilogue, Quantization, Reduction, Step};

/// Limits of a device whose compute units have enough shared memory to stage small pages in it.
const ROOMY: Limits = Limits {
    binding_bytes: LARGE,
    invocations: 1024,
    workgroup_bytes: 48 << 10,
    subgroup: 32,
    registers: Registers::Many,
    compute_units: Some(ComputeUnits {
        n: 16,
        workgroup_bytes: 228 << 10,
    }),
    longest_submission: None,
};

/// Binding size in bytes that is enough for all tensors here.
pub const LARGE: u64 = 1 << 30;

/// The default limits of WebGPU, with such bindings.
pub const USUAL: Limits = Limits::of_bindings(LARGE);

/// The same limits, with subgroups of 64 invocations.
pub const WIDE: Limits = Limits {
    subgroup: 64,
    ..USUAL
};

/// Returns every launch of LZ4, and those of tensors for shapes of all kinds, once for each kernel and set of
/// overrides, by name.
#[allow(dead_code, reason = "not every program uses all of them")]
pub fn launches() -> BTreeMap<String, Launch> {
    let mut found = launches_on(&[USUAL, WIDE, ROOMY]);
    let on_units = jobs_on_matrix_units()
        .into_iter()
        .chain(attention_half_jobs());
    for launch in on_units.flat_map(|job| job.launches) {
        let kernel = launch.kernel;
        let ty = match (kernel.is_of_bfloat16(), kernel.is_of_tf32()) {
            (true, _) => "bfloat16",
            (_, true) => "tf32",
            _ => "f16",
        };
        found.insert(
            format!("{} {ty} {:?}", launch.kernel.name, launch.overrides),
            launch,
        );
    }
    for launch in chunk_jobs().into_iter().flat_map(|job| job.launches) {
        // Other texts of the kernels of pages have the same names.
        let name = format!("{} {:?} of chunks", launch.kernel.name, launch.overrides);
        found.insert(name, launch);
    }
    found
}

/// Returns the launches on devices with these limits, without those of chunks, which only CUDA runs. wgpu reports no compute units.
pub fn launches_on(devices: &[Limits]) -> BTreeMap<String, Launch> {
    let mut found = BTreeMap::new();
    let by_limits = |limits: &Limits| {
        let products = product_jobs(*limits).into_iter();
        let others = [tensor_jobs, layer_jobs, attention_jobs].map(|jobs| jobs(*limits));
        products
            .chain(others.into_iter().flatten())
            .collect::<Vec<_>>()
    };
    let jobs = devices.iter().flat_map(by_limits);
    for launch in jobs.flat_map(|job| job.launches) {
        let name = format!("{} {:?}", launch.kernel.name, launch.overrides);
        found.insert(name, launch);
    }
    for page_size in [4096, 8192, 16_384, 32_768, 65_536] {
        let n_bytes = 3000 * u64::from(page_size) - 5;
        // Workgroups of 8, 16 and 32 pages.
        let mut jobs = [3000, 40_000, 65_536]
            .map(|n_pages| n_pages * u64::from(page_size) - 5)
            .into_iter()
            .filter(|&n_bytes| n_bytes <= u32::MAX.into())
            .flat_map(|n_bytes| {
                devices.iter().flat_map(move |&limits| {
                    let of = |size| decompress_job(n_bytes, page_size, n_bytes / 2, limits, size);
                    [0, 65_536].map(of)
                })
            })
            .collect::<Vec<_>>();
        for level in [Level::Fast, Level::High] {
            for size in [0, 65_536] {
                let of = |limits| compress_job(n_bytes, page_size, level, limits, size);
                jobs.extend(devices.iter().map(|&limits| of(limits)));
            }
        }
        assert!(jobs.iter().all(Result::is_ok), "sizes of jobs");
        for launch in jobs.into_iter().flatten().flat_map(|job| job.launches) {
            let name = format!("{} {:?}", launch.kernel.name, launch.overrides);
            found.insert(name, launch);
        }
    }
    found
}

/// Formats of packed weights, and whether 16 bits are of bfloat16.
const PACKED: [(Quantization, bool); 6] = [
    (Quantization::Q4K, false),
    (Quantization::Q5K, false),
    (Quantization::Q6K, false),
    (Quantization::Q8_0, false),
    (Quantization::F16, false),
    (Quantization::F16, true),
];

/// Returns no epilogue, and one with all parts.
fn epilogues() -> [Epilogue<()>; 2] {
    let all = Epilogue {
        bias: Some(()),
        activation: Some(Activation::Gelu),
        residual: Some(()),
    };
    [Epilogue::default(), all]
}

/// Returns epilogues with each activation, alone and with all other parts.
fn activations() -> Vec<Epilogue<()>> {
    let all = [
        Activation::Relu,
        Activation::Sigmoid,
        Activation::Tanh,
        Activation::Swish,
        Activation::Gelu,
        Activation::GeluTanh,
    ];
    let of = |activation, other| Epilogue {
        bias: other,
        activation,
        residual: other,
    };
    let each = all.into_iter().map(Some).chain([None]);
    each.flat_map(|activation| [None, Some(())].map(|other| of(activation, other)))
        .filter(|epilogue| !epilogue.is_none())
        .collect()
}

/// Returns the jobs of chunks at addresses.
#[allow(dead_code, reason = "as `launches`")]
fn chunk_jobs() -> Vec<Job> {
    let sizes = [4096, 5000, 16_384, 20_000, 65_536];
    let jobs = sizes.into_iter().flat_map(|max_bytes| {
        let most = max_chunks_per_job(max_bytes).unwrap();
        [
            compress_chunks_job(most.min(3000), max_bytes, USUAL),
            compress_chunks_job(most.min(3000), max_bytes, ROOMY),
            decompress_chunks_job(most.min(3000), max_bytes),
            decompress_chunks_job(most, max_bytes),
            copy_pieces_job(most),
        ]
    });
    jobs.collect::<Result<_, _>>().unwrap()
}

/// Returns every step of tensors, with numbers where it has parameters.
pub const STEPS: [Step; 23] = [
    Step::Relu,
    Step::LeakyRelu(0.1),
    Step::Elu(1.5),
    Step::Sigmoid,
    Step::Tanh,
    Step::Swish,
    Step::Gelu,
    Step::GeluTanh,
    Step::Clip(-1.0, 1.0),
    Step::Scale(2.0),
    Step::Offset(1.0),
    Step::Exp,
    Step::Log,
    Step::Log1p,
    Step::Sqrt,
    Step::Abs,
    Step::Reciprocal,
    Step::Add,
    Step::Sub,
    Step::Mul,
    Step::Div,
    Step::Max,
    Step::Min,
];

/// Returns the jobs of a transformer layer.
fn layer_jobs(limits: Limits) -> Vec<Job> {
    let mut jobs = Vec::new();
    for norm in [Norm::Rms { epsilon: 1e-5 }, Norm::Layer { epsilon: 1e-5 }] {
        for (rows, cols) in [(3, 7), (1000, 768), (2, 20_000), (2, 100_000)] {
            for (has_weight, has_bias) in [(false, false), (true, false), (true, true)] {
                let columns = [has_weight, has_bias];
                let types = [DType::F32, DType::F16, DType::BF16];
                let takes = |dtype: &DType| *dtype == DType::F32 || cols % 2 == 0;
                for dtype in types.into_iter().filter(takes) {
                    let job = norm_job(norm, dtype, [rows, cols], columns, limits);
                    jobs.push(job.unwrap());
                }
            }
        }
    }
    let rotary = Rotary {
        rows: 1000,
        heads: 32,
        half: 64,
        first: 7,
        to: 0,
    };
    jobs.push(rotary_job(&rotary, limits).unwrap());
    jobs
}

/// Returns matrix products: in square tiles on devices that report no compute units, in wide ones on others.
fn product_jobs(limits: Limits) -> Vec<Job> {
    let all = match limits.registers {
        Registers::Many => vec![24 << 10, 48 << 10],
        _ => vec![limits.workgroup_bytes],
    };
    let mut jobs = Vec::new();
    for (m, n, k) in [
        (4096, 4096, 4096),
        (1000, 1000, 1000),
        (64, 64, 5000),
        (67, 5, 3),
    ] {
        let layouts = [(false, false), (true, false), (false, true)];
        for (layout, &workgroup_bytes) in layouts
            .iter()
            .flat_map(|layout| all.iter().map(move |it| (layout, it)))
        {
            let matrix = |rows, cols, transposed| Matrix {
                transposed,
                pitch: if transposed { rows } else { cols },
                ..Matrix::dense(rows, cols, rows * cols)
            };
            let what = Product {
                batch: 1,
                m,
                n,
                k,
                a: matrix(m, k, layout.0),
                b: matrix(k, n, layout.1),
            };
            let limits = Limits {
                workgroup_bytes,
                ..limits
            };
            let in_parts = Limits {
                binding_bytes: 1 << 20,
                ..limits
            };
            jobs.push(matmul_job(&what, limits).unwrap());
            jobs.push(matmul_job(&what, in_parts).unwrap());
            if *layout == (false, true) {
                let [_, all] = epilogues();
                jobs.extend(matmul_epilogue_job(&what, all, limits).unwrap());
            }
        }
    }
    jobs
}

fn tensor_jobs(limits: Limits) -> Vec<Job> {
    let with_bindings = |binding_bytes| Limits {
        binding_bytes,
        ..limits
    };
    let strided = || {
        Source::Strided(Strided {
            offset: 3,
            strides: vec![5, 1],
            n: 80_000_000,
        })
    };
    let mut jobs = Vec::new();
    let mut elementwise = |a: Source, b: Option<Source>, steps: &[Step]| {
        for dtype in [DType::F32, DType::F16, DType::BF16] {
            let what = Elementwise {
                n: 70_000_000,
                dims: &[7, 10_000_000],
                a: a.clone(),
                b: b.clone(),
                dtype,
                steps,
            };
            if dtype == DType::F32 || what.fits(limits.binding_bytes) {
                jobs.push(elementwise_job(&what, limits).unwrap());
            }
        }
    };
    for step in STEPS {
        elementwise(
            Source::Dense,
            step.takes_two().then_some(Source::Dense),
            &[step],
        );
    }
    let chain = [Step::Scale(2.0), Step::Add, Step::Gelu, Step::Relu];
    elementwise(strided(), Some(Source::Dense), &chain);
    elementwise(Source::Dense, Some(strided()), &chain);
    elementwise(strided(), Some(strided()), &chain);
    elementwise(strided(), None, &[]);
    for reduction in [
        Reduction::Sum,
        Reduction::Max,
        Reduction::Min,
        Reduction::Dot,
        Reduction::SumOfSquares,
    ] {
        for (rows, cols) in [(1, 70_000_000), (3, 1001), (1_000_000, 10)] {
            for dtype in [DType::F32, DType::F16, DType::BF16] {
                let limits = with_bindings(128 << 20);
                jobs.push(reduce_rows_job(reduction, dtype, [rows, cols], limits).unwrap());
            }
        }
        if reduction != Reduction::Dot {
            let job = reduce_columns_job(reduction, [3, 100_000, 70], limits);
            jobs.push(job.unwrap());
        }
    }
    jobs.push(matmul_naive_job([100, 70, 33], limits).unwrap());
    let dense = |rows, cols| Matrix::dense(rows, cols, rows * cols);
    let what = Product {
        batch: 1,
        m: 67,
        n: 5,
        k: 3,
        a: dense(67, 3),
        b: dense(3, 5),
    };
    for epilogue in activations() {
        jobs.extend(matmul_epilogue_job(&what, epilogue, limits).unwrap());
        jobs.extend(epilogue_job([67, 5], epilogue, limits));
    }
    for (quantization, is_bfloat) in PACKED {
        let what = QuantizedProduct {
            quantization,
            is_bfloat,
            m: 70,
            n: 1000,
            k: 4096,
        };
        for m in [1, 2, 4, 5, 70] {
            let what = QuantizedProduct { m, ..what };
            jobs.push(matmul_quantized_job(&what, limits).unwrap());
            // Products that are cut into parts, some of which are summed: of few columns, as each has thousands of launches.
            let what = QuantizedProduct { n: 10, ..what };
            jobs.push(matmul_quantized_job(&what, with_bindings(4096)).unwrap());
        }
    }
    for kernel in [[3, 3], [300, 200]] {
        let input = [1000, 2000];
        jobs.push(convolve2d_job(&Convolution { input, kernel }, limits).unwrap());
    }
    let axis = |n, from, to| CopyAxis { n, from, to };
    let turned = [axis(3000, 4000, 1), axis(4000, 1, 3000)];
    jobs.push(copy_job(&turned, 0, 12_000_000, with_bindings(1 << 20)).unwrap());
    let types = [DType::F32, DType::F16, DType::BF16];
    for (from, to) in types
        .into_iter()
        .flat_map(|from| types.map(|to| (from, to)))
    {
        if (from, to) != (DType::F32, DType::F32) {
            let axes = vec![(3000, 4000), (4000, 1)];
            let what = Cast {
                axes,
                offset: 3,
                from,
                to,
            };
            jobs.push(cast_job(&what, limits).unwrap());
        }
    }
    for cols in [1, 10, 100, 1000, 8192, 100_000] {
        for log in [false, true] {
            for dtype in [DType::F32, DType::F16, DType::BF16] {
                if dtype == DType::F32 || cols % 2 == 0 {
                    let job = softmax_job(dtype, [1000, cols], log, limits);
                    jobs.push(job.unwrap());
                }
            }
        }
    }
    jobs
}

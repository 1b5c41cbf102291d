//! Launches of products on matrix units.

use pagepress::internals::Job;
use pagepress::internals::tensor::{
    Matrix, MatrixUnits, Product, QuantizedProduct, matmul_half_job, matmul_tf32_job, unpack_job,
};
use pagepress::tensor::DType;

use super::{LARGE, PACKED, epilogues};

/// Returns products on matrix units, with factors in either order.
pub fn jobs_on_matrix_units() -> Vec<Job> {
    let mut jobs = Vec::new();
    let subgroups = MatrixUnits {
        n_units: 132,
        workgroup_bytes: 227 << 10,
        has_warpgroups: false,
        copies_asynchronously: true,
    };
    let warpgroups = MatrixUnits {
        has_warpgroups: true,
        ..subgroups
    };
    let ahead = MatrixUnits {
        workgroup_bytes: 48 << 10,
        copies_asynchronously: false,
        ..subgroups
    };
    let with = |workgroup_bytes| MatrixUnits {
        workgroup_bytes,
        ..subgroups
    };
    // Sizes and devices for each configuration.
    for (units, size) in [
        (subgroups, 4096),
        (subgroups, 1024),
        (subgroups, 768),
        (subgroups, 704),
        (subgroups, 512),
        (with(163 << 10), 4096),
        (with(48 << 10), 4096),
        (warpgroups, 4096),
        (warpgroups, 1408),
        (warpgroups, 1024),
        (warpgroups, 896),
        (warpgroups, 512),
        (ahead, 4096),
        (ahead, 4072),
        (ahead, 1024),
        (ahead, 512),
    ] {
        for transposed in [[false, false], [false, true], [true, false], [true, true]] {
            let [a, b] = transposed.map(|transposed| Matrix {
                transposed,
                ..Matrix::dense(size, size, size * size)
            });
            let what = Product {
                batch: 1,
                m: size,
                n: size,
                k: size,
                a,
                b,
            };
            // The epilogue does not depend on the order of the factors: one is enough.
            let n_epilogues = if transposed == [false, true] { 2 } else { 1 };
            for epilogue in epilogues().into_iter().take(n_epilogues) {
                for dtype in [DType::F16, DType::BF16] {
                    jobs.extend(matmul_half_job(&what, dtype, epilogue, units, LARGE).unwrap());
                }
                if units.copies_asynchronously {
                    jobs.extend(matmul_tf32_job(&what, epilogue, units, LARGE).unwrap());
                }
            }
        }
    }
    for (quantization, is_bfloat) in PACKED {
        let what = QuantizedProduct {
            quantization,
            is_bfloat,
            m: 70,
            n: 1000,
            k: 4096,
        };
        jobs.extend(unpack_job(&what, LARGE));
    }
    jobs
}

//! Jobs of attention.

use pagepress::internals::Job;
use pagepress::internals::Limits;
use pagepress::internals::tensor::{
    AttentionSize, Heads, MatrixUnits, attention_decode_job, attention_half_job, attention_job,
};
use pagepress::tensor::DType;

use super::LARGE;

/// The keys that queries see: all, those up to theirs, or at most 700 of these.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mask {
    None,
    Causal,
    Window,
}

/// Returns sizes and places of row-major heads, four of which share keys.
fn attention([n_q, n_k]: [u64; 2], dim: u64, mask: Mask) -> (AttentionSize, [Heads; 3]) {
    let size = AttentionSize {
        batch: 2,
        heads: 8,
        key_heads: 2,
        n_q,
        n_k,
        dim,
        causal: mask != Mask::None,
        window: (mask == Mask::Window).then_some(700),
        scale: 0.125,
    };
    let heads = |n_heads, rows| Heads {
        offset: 0,
        batch: n_heads * rows * dim,
        head: rows * dim,
        row: dim,
        n: 2 * n_heads * rows * dim,
    };
    (size, [heads(8, n_q), heads(2, n_k), heads(2, n_k)])
}

/// Returns attention on matrix units, of warpgroups, of subgroups, and without asynchronous copies: of many rows, of few, and split along the
/// keys.
#[allow(dead_code, reason = "as `launches`")]
pub fn attention_half_jobs() -> Vec<Job> {
    let mut jobs = Vec::new();
    let units_of = |has_warpgroups, copies_asynchronously| MatrixUnits {
        n_units: 132,
        workgroup_bytes: if copies_asynchronously { 227 } else { 48 } << 10,
        has_warpgroups,
        copies_asynchronously,
    };
    let all = [
        units_of(true, true),
        units_of(false, true),
        units_of(false, false),
    ];
    let all = all.map(|units| [DType::F16, DType::BF16].map(|dtype| (dtype, units)));
    for (dtype, units) in all.into_iter().flatten() {
        for (dim, n_q, mask) in [
            (64, 2000, Mask::None),
            (64, 2000, Mask::Causal),
            (64, 2000, Mask::Window),
            (128, 2000, Mask::Causal),
            (128, 2000, Mask::Window),
            (128, 16, Mask::Causal),
            (128, 16, Mask::Window),
            (128, 1, Mask::None),
        ] {
            let (size, places) = attention([n_q, 2048], dim, mask);
            for to in [dtype, DType::F32] {
                let job = attention_half_job(&size, [dtype, to], places, units, LARGE);
                jobs.extend(job.unwrap());
            }
        }
    }
    jobs
}

/// Returns attention of many rows, of few, and split along the keys.
pub fn attention_jobs(limits: Limits) -> Vec<Job> {
    let mut jobs = Vec::new();
    for dim in [64, 128, 256, 63] {
        for (n_q, n_k, mask) in [
            (5000, 5000, Mask::Causal),
            (5000, 5000, Mask::Window),
            (5000, 6000, Mask::None),
            (100, 5000, Mask::Causal),
            (100, 5000, Mask::Window),
            (2, 5000, Mask::Causal),
            (3, 5000, Mask::Window),
            (1, 5000, Mask::None),
        ] {
            // For one dimension all forms are launched; of few queries for all.
            let is_other = (mask == Mask::Causal) == (dim == 128) && mask != Mask::Window;
            let is_few = n_q < 5 && mask != Mask::Window;
            if dim != 64 && !is_few && (n_q < 200 || is_other) {
                continue;
            }
            let (size, places) = attention([n_q, n_k], dim, mask);
            jobs.push(attention_job(&size, places, limits).unwrap());
        }
    }
    jobs.extend(attention_decode_jobs(limits));
    jobs
}

/// Returns attention of few rows to keys and values of 16 bits.
fn attention_decode_jobs(limits: Limits) -> Vec<Job> {
    let mut jobs = Vec::new();
    for dtype in [DType::F16, DType::BF16] {
        for (dim, n_q, n_k, mask) in [
            (64, 1, 5000, Mask::None),
            (64, 4, 5000, Mask::Causal),
            (64, 3, 5000, Mask::Window),
            (128, 1, 5000, Mask::None),
            (128, 4, 5000, Mask::Causal),
            (128, 2, 100, Mask::Causal),
            (63, 2, 5000, Mask::Causal),
        ] {
            let (size, places) = attention([n_q, n_k], dim, mask);
            for q_type in [dtype, DType::F32] {
                let types = [q_type, dtype, DType::F32];
                let job = attention_decode_job(&size, types, places, limits).unwrap();
                jobs.extend(job);
            }
        }
    }
    jobs
}

//! Jobs of the normalisation of rows.

use super::row_workgroup::RowWorkgroup;
use super::{
    R, U, W, check_row, check_sizes, indexable_bytes, kernel, padded_bytes, rows_in_parts,
};
use crate::Result;
use crate::kernels::{Arg, Job, KernelInfo, Launch, Limits, Slot};
use crate::ops::{DType, Norm};

const WGSL: &str = shader!("tensor_norm.wgsl");
pub(super) static NORM: KernelInfo = kernel("tensor_norm", WGSL, &[R, R, R, W, U]);
pub(super) static NORM_LONG: KernelInfo = kernel("tensor_norm_long", WGSL, &[R, R, R, W, U]);
const OF_HALVES: &str = shader!("tensor_norm.halves.wgsl");
pub(super) static HALVES: KernelInfo = kernel("tensor_norm", OF_HALVES, &[R, R, R, W, U]);
pub(super) static HALVES_LONG: KernelInfo = kernel("tensor_norm_long", OF_HALVES, &[R, R, R, W, U]);

/// Returns the launches that normalise the rows of `A`, `[rows, cols]` of `dtype`, into [`Slot::Out`], with a weight per
/// column in `B` and a bias per column in `Bias`, of f32, if present. There are several if all rows together are larger
/// than a binding.
///
/// # Errors
/// [`Error::InvalidArgument`](crate::Error::InvalidArgument) for a length of 0, for a row that is larger than a binding,
/// and for rows of 16 bits that are not whole words, see `takes_row`.
pub fn norm_job(
    norm: Norm,
    dtype: DType,
    [rows, cols]: [u64; 2],
    [has_weight, has_bias]: [bool; 2],
    limits: Limits,
) -> Result<Job> {
    let max_binding_bytes = indexable_bytes(dtype, limits.binding_bytes);
    check_sizes(&[&[rows, cols]])?;
    check_row(cols, dtype, max_binding_bytes)?;
    let n_words = cols / dtype.per_word();
    let n_bytes = padded_bytes(rows * n_words);
    let mut buffers = vec![(Slot::A, n_bytes), (Slot::Out, n_bytes)];
    buffers.extend(has_weight.then(|| (Slot::B, padded_bytes(cols))));
    buffers.extend(has_bias.then(|| (Slot::Bias, padded_bytes(cols))));
    let parts = rows_in_parts([rows, n_words], max_binding_bytes);
    let launch = |(rows, args, offset)| {
        norm_launch(
            norm,
            dtype,
            [rows, cols],
            [has_weight, has_bias],
            limits,
            args,
            offset * dtype.per_word(),
        )
    };
    Ok(Job {
        buffers,
        launches: parts.map(launch).collect(),
    })
}

/// Returns one launch over rows that start at element `offset` of both arguments.
pub(in crate::kernels) fn norm_launch(
    norm: Norm,
    dtype: DType,
    [rows, cols]: [u64; 2],
    [has_weight, has_bias]: [bool; 2],
    limits: Limits,
    [a, out]: [Arg; 2],
    offset: u64,
) -> Launch {
    let rows_of = RowWorkgroup::new(cols, limits);
    let given = |slot, is_there| match is_there {
        true => Arg::Buffer(slot),
        false => a.clone(),
    };
    let (weight, bias) = (given(Slot::B, has_weight), given(Slot::Bias, has_bias));
    let params = vec![
        rows as u32,
        cols as u32,
        norm.epsilon().to_bits(),
        offset as u32,
    ];
    Launch {
        kernel: match (dtype, rows_of.is_held) {
            (DType::F32, true) => &NORM,
            (DType::F32, false) => &NORM_LONG,
            (_, true) => &HALVES,
            (_, false) => &HALVES_LONG,
        },
        overrides: rows_of.overrides(
            dtype,
            [
                ("RMS", matches!(norm, Norm::Rms { .. }).into()),
                ("HAS_WEIGHT", has_weight.into()),
                ("HAS_BIAS", has_bias.into()),
            ],
        ),
        grid: rows_of.grid(rows),
        args: vec![a, weight, bias, out, Arg::Params(params)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Kernels count elements in 32 bits, and look a little beyond the last one.
    #[test]
    fn launches_index_fewer_than_half_of_all_elements_of_32_bits() {
        let limits = Limits::of_bindings(1 << 40);
        for dtype in [DType::F32, DType::F16, DType::BF16] {
            let (rows, cols) = (1 << 20, 1 << 13);
            let norm = Norm::Rms { epsilon: 1e-5 };
            let job = norm_job(norm, dtype, [rows, cols], [false; 2], limits).unwrap();
            let mut n_rows = 0;
            for launch in &job.launches {
                let Some(Arg::Params(words)) = launch.args.last() else {
                    panic!("{launch:?}");
                };
                let end = u64::from(words[3]) + u64::from(words[0]) * cols;
                assert!(end <= 1 << 31, "{dtype:?}: {end} elements");
                n_rows += u64::from(words[0]);
            }
            assert_eq!(n_rows, rows);
        }
    }
}

//! Jobs of matrix products.

use super::matmul_launch::{Args, Product, fused_launch, launch, naive_launch};
use super::matmul_parts::in_parts;
use super::matmul_tiling::TileLimits;
use super::{check_sizes, elements_of_binding, padded_bytes, reduce_columns_job};
use crate::Result;
use crate::kernels::{Arg, Job, Limits, Slot};
use crate::ops::{Epilogue, Reduction};

/// Returns the launches that compute [`Slot::Out`], `[batch, m, n]`, from `A` and `B`. Buffers larger than a
/// binding, and more multiply-adds than a launch may have, are processed in parts.
///
/// # Errors
/// [`Error::InvalidArgument`](crate::Error::InvalidArgument) for a length of 0, and for matrices that exceed their
/// buffers.
pub fn matmul_job(what: &Product, limits: Limits) -> Result<Job> {
    what.check()?;
    let most = elements_of_binding(limits.binding_bytes);
    let tiles = TileLimits::of(limits);
    let n_out = what.batch * what.m * what.n;
    let (tiling, k_slice) = tiles.choose(what);
    let slices = what.k.div_ceil(k_slice);
    let buffers = vec![
        (Slot::A, padded_bytes(what.a.n)),
        (Slot::B, padded_bytes(what.b.n)),
        (Slot::Out, padded_bytes(n_out)),
    ];
    if what.a.n.max(what.b.n).max(slices * n_out) > most || what.terms() > tiles.most_terms {
        return Ok(Job {
            buffers,
            launches: in_parts(what, tiles, most),
        });
    }
    let out = if slices == 1 { Slot::Out } else { Slot::Slices };
    let mut job = Job {
        buffers,
        launches: vec![launch(
            what,
            tiling,
            tiles,
            k_slice,
            Args::whole(what.n, out),
        )],
    };
    if slices > 1 {
        job.buffers
            .push((Slot::Slices, padded_bytes(slices * n_out)));
        let size = [what.batch, slices, what.m * what.n];
        append_sum(&mut job, size, limits)?;
    }
    Ok(job)
}

/// Returns the launches that compute [`Slot::Out`], `[batch, m, n]`, from `A` and `B`, with an epilogue; `None` if a buffer exceeds a
/// binding, or the product a launch.
///
/// # Errors
/// [`Error::InvalidArgument`](crate::Error::InvalidArgument) for a length of 0, and for matrices that exceed their
/// buffers.
pub fn matmul_epilogue_job(
    what: &Product,
    epilogue: Epilogue<()>,
    limits: Limits,
) -> Result<Option<Job>> {
    what.check()?;
    let most = elements_of_binding(limits.binding_bytes);
    let tiles = TileLimits::of(limits);
    let n_out = what.batch * what.m * what.n;
    let (tiling, k_slice) = tiles.choose(what);
    let slices = what.k.div_ceil(k_slice);
    if what.a.n.max(what.b.n).max(slices * n_out) > most || what.terms() > tiles.most_terms {
        return Ok(None);
    }
    let mut buffers = vec![
        (Slot::A, padded_bytes(what.a.n)),
        (Slot::B, padded_bytes(what.b.n)),
        (Slot::Out, padded_bytes(n_out)),
    ];
    let finish = what.finish(epilogue);
    buffers.extend(finish.buffers());
    let launches = if slices == 1 {
        vec![fused_launch(what, tiling, tiles, k_slice, epilogue)]
    } else {
        buffers.push((Slot::Slices, padded_bytes(slices * n_out)));
        let args = Args::whole(what.n, Slot::Slices);
        vec![
            launch(what, tiling, tiles, k_slice, args),
            finish.sum(Slot::Slices, slices, limits),
        ]
    };
    Ok(Some(Job { buffers, launches }))
}

/// Returns the launch that computes [`Slot::Out`], `[m, n]`, from dense `A` and `B`, one element per invocation.
///
/// # Errors
/// [`Error::InvalidArgument`](crate::Error::InvalidArgument) for a length of 0.
pub fn matmul_naive_job([m, n, k]: [u64; 3], limits: Limits) -> Result<Job> {
    check_sizes(&[&[m, k], &[k, n], &[m, n]])?;
    Ok(Job {
        buffers: vec![
            (Slot::A, padded_bytes(m * k)),
            (Slot::B, padded_bytes(k * n)),
            (Slot::Out, padded_bytes(m * n)),
        ],
        launches: vec![naive_launch([m, n, k], limits)],
    })
}

/// Appends launches that add the slices of each product.
pub(super) fn append_sum(job: &mut Job, size: [u64; 3], limits: Limits) -> Result<()> {
    let sum = reduce_columns_job(Reduction::Sum, size, limits)?;
    // The input of the reduction is [`Slot::Slices`] instead of `A`.
    let scratch = |(slot, _): &(Slot, u64)| matches!(slot, Slot::Partials | Slot::FewerPartials);
    job.buffers.extend(sum.buffers.into_iter().filter(scratch));
    for mut launch in sum.launches {
        for arg in &mut launch.args {
            if *arg == Arg::Buffer(Slot::A) {
                *arg = Arg::Buffer(Slot::Slices);
            }
        }
        job.launches.push(launch);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_sums_of_small_products_are_split() {
        let limits = Limits::of_bindings(1 << 30);
        assert_eq!(
            matmul_job(&Product::dense(1, 4096, 4096, 4096), limits)
                .unwrap()
                .launches
                .len(),
            1
        );
        let job = matmul_job(&Product::dense(1, 16, 16, 65_536), limits).unwrap();
        assert!(job.launches.len() >= 2);
        let partials = job.buffers.iter().find(|(slot, _)| *slot == Slot::Slices);
        assert_eq!(partials.map(|p| p.1), Some(256 * 1024));
    }
}

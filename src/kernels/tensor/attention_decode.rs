//! Jobs of attention of few queries to keys and values of 16 bits.

use super::attention_form::Form;
use super::attention_launch::{AttentionSize, Heads, attention_launch, merge_launch};
use super::{padded_bytes, padded_bytes_of};
use crate::Result;
use crate::kernels::{Arg, Job, Limits, Slot};
use crate::ops::DType;

/// Returns the launches that compute [`Slot::Out`], `[batch, n_q, heads, dim]` of type `to`, from queries in `A` of type `q_type`,
/// and keys in `B` and values in `Values` of type `dtype`, 16 bits wide, which are read in that type; arithmetic is in f32. `None` for
/// more than four queries that share keys, devices with less than WebGPU's limits for workgroups, heads of more than 128 elements, a result of 16 bits with heads of an odd number of elements,
/// and buffers that exceed a binding.
///
/// # Errors
/// [`Error::InvalidArgument`](crate::Error::InvalidArgument) for a length of 0, and for heads that do not match each other or exceed
/// their buffers.
pub fn attention_decode_job(
    what: &AttentionSize,
    [q_type, dtype, to]: [DType; 3],
    places: [Heads; 3],
    limits: Limits,
) -> Result<Option<Job>> {
    what.check(&places)?;
    let what = what.without_idle_window().without_idle_mask();
    let (what, places) = one_query(&what, places, limits).unwrap_or((what, places));
    // The merge writes results of 16 bits in pairs.
    let takes_result = to == DType::F32 || what.dim.is_multiple_of(2);
    if !Form::decodes([what.n_q, what.n_k, what.dim], limits)
        || dtype == DType::F32
        || !takes_result
    {
        return Ok(None);
    }
    let form = Form::decode_halves(limits);
    let [splits, split_len] = form.splits(&what);
    let n_out = what.rows() * what.dim;
    // Merging rounds the result, even that of one split.
    let is_merged = splits > 1 || to != DType::F32;
    let n_partials = match is_merged {
        true => splits * (n_out + 2 * what.rows()),
        false => 0,
    };
    let [q, k, v] = places;
    let mut buffers = vec![
        (Slot::A, padded_bytes_of(q_type, q.n)),
        (Slot::B, padded_bytes_of(dtype, k.n)),
        (Slot::Values, padded_bytes_of(dtype, v.n)),
        (Slot::Out, padded_bytes_of(to, n_out)),
    ];
    buffers.extend(is_merged.then(|| (Slot::Partials, padded_bytes(n_partials))));
    // The kernels count elements in 32 bits.
    let is_bound = buffers.iter().all(|&(_, n)| n <= limits.binding_bytes);
    let n_largest = [q.n, k.n, v.n, n_out, n_partials].into_iter().max();
    if !is_bound || n_largest.is_none_or(|n| n > u64::from(u32::MAX)) {
        return Ok(None);
    }
    let types = [q_type, dtype];
    let divided = (is_merged.then_some(splits), split_len);
    let mut launches = vec![attention_launch(&what, form, types, places, divided)];
    if is_merged {
        let out = (Arg::Buffer(Slot::Out), 0);
        let merge = merge_launch(&what, splits, to, out, what.heads, limits);
        launches.push(merge);
    }
    Ok(Some(Job { buffers, launches }))
}

/// Returns the same attention with heads that share keys as queries of one head, so that each key is read once for them;
/// `None` unless there is one query, and it sees all keys.
pub(super) fn one_query(
    what: &AttentionSize,
    [q, k, v]: [Heads; 3],
    limits: Limits,
) -> Option<(AttentionSize, [Heads; 3])> {
    let sees_all = what.n_q == 1 && what.window.is_none();
    // Heads of keys become batches, so that their distance must be the same within a batch and between batches.
    let adjoin = |place: &Heads, heads| what.batch == 1 || place.batch == heads * place.head;
    let of_keys = [&k, &v]
        .into_iter()
        .all(|place| adjoin(place, what.key_heads));
    let are_batches = adjoin(&q, what.heads) && of_keys;
    let is_one = are_batches && sees_all && what.heads > what.key_heads;
    is_one.then(|| {
        let n_shared = what.heads / what.key_heads;
        // As many as `tensor_attention_decode` takes, if it takes the columns.
        let together = match Form::decodes([1, what.n_k, what.dim], limits) {
            true => (1..=Form::DECODE.queries)
                .rev()
                .find(|&n| n_shared.is_multiple_of(n)),
            false => None,
        };
        let n_q = together.unwrap_or(n_shared);
        let size = AttentionSize {
            batch: what.batch * what.key_heads,
            heads: n_shared / n_q,
            key_heads: 1,
            n_q,
            causal: false,
            ..*what
        };
        let queries = Heads {
            batch: n_shared * q.head,
            head: q.head,
            row: size.heads * q.head,
            ..q
        };
        let [k, v] = [k, v].map(|place| Heads {
            batch: place.head,
            ..place
        });
        (size, [queries, k, v])
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::Registers;

    const LARGE: u64 = 1 << 31;

    fn size(n_q: u64, n_k: u64, dim: u64) -> AttentionSize {
        AttentionSize {
            batch: 2,
            heads: 8,
            key_heads: 2,
            n_q,
            n_k,
            dim,
            causal: true,
            window: None,
            scale: 1.0,
        }
    }

    /// Returns the job over row-major heads.
    fn job(what: &AttentionSize, types: [DType; 3], most: u64) -> Option<Job> {
        let place = |heads: u64, rows: u64| Heads {
            offset: 0,
            batch: heads * rows * what.dim,
            head: rows * what.dim,
            row: what.dim,
            n: what.batch * heads * rows * what.dim,
        };
        let keys = place(what.key_heads, what.n_k);
        let places = [place(what.heads, what.n_q), keys, keys];
        attention_decode_job(what, types, places, Limits::of_bindings(most)).unwrap()
    }

    #[test]
    fn results_of_16_bits_are_merged() {
        for (to, n_k, n_launches) in [
            (DType::F32, 100, 1),
            (DType::F16, 100, 2),
            (DType::F32, 5000, 2),
            (DType::F16, 5000, 2),
        ] {
            let types = [DType::F32, DType::F16, to];
            let job = job(&size(2, n_k, 64), types, LARGE).unwrap();
            assert_eq!(job.launches.len(), n_launches, "{to:?}, {n_k} keys");
            let overrides = &job.launches[0].overrides;
            for (name, value) in [("FROM", 1), ("FROM_Q", 0), ("ALIGNED", 1), ("COLUMNS4", 16)] {
                assert!(overrides.contains(&(name, value)), "{name}");
            }
        }
    }

    #[test]
    fn heads_that_share_keys_are_queries_of_all_batches() {
        let types = [DType::BF16, DType::BF16, DType::F32];
        let job = job(&size(1, 100, 128), types, LARGE).unwrap();
        let Some(Arg::Params(words)) = job.launches[0].args.last() else {
            panic!("no parameters");
        };
        // Four queries, and a workgroup for each batch and head of keys.
        assert_eq!([words[0], words[8]], [4, 4]);
    }

    #[test]
    fn other_sizes_are_left_to_other_kernels() {
        let types = [DType::F16, DType::F16, DType::F32];
        assert!(job(&size(4, 100, 64), types, LARGE).is_some());
        assert!(job(&size(5, 100, 64), types, LARGE).is_none());
        assert!(job(&size(1, 100, 136), types, LARGE).is_none());
        assert!(job(&size(1, 5000, 64), types, 1 << 20).is_none());
        assert!(job(&size(1, 100, 63), types, LARGE).is_some());
        assert!(job(&size(1, 100, 63), [DType::F16; 3], LARGE).is_none());
        assert!(job(&size(1, 100, 64), [DType::F32; 3], LARGE).is_none());
        // The kernel tells keys behind a query by distances of 2^31 and more.
        assert!(Form::decodes([4, (1 << 31) - 1, 1], Limits::WEBGPU));
        assert!(!Form::decodes([4, 1 << 31, 1], Limits::WEBGPU));
    }

    #[test]
    fn devices_with_the_fewest_registers_take_four_columns() {
        for (registers, n) in [(Registers::Fewest, 1), (Registers::Few, 2)] {
            let limits = Limits {
                registers,
                ..Limits::WEBGPU
            };
            let form = Form::decode_halves(limits);
            assert!(form.overrides(64).contains(&("FOURS", n)), "{registers:?}");
        }
    }
}

//! Jobs of attention.

use super::attention_decode::one_query;
use super::attention_form::Form;
use super::attention_launch::{Args, AttentionSize, Heads, launches, merge_launch};
use super::attention_parts::in_parts;
use super::{elements_of_binding, padded_bytes};
use crate::Result;
use crate::kernels::{Arg, Job, Limits, Slot, pace};
use crate::ops::DType;

/// Returns the launches that compute [`Slot::Out`], `[batch, n_q, heads, dim]`, from queries in `A`, keys in `B` and
/// values in `Values`. Buffers larger than a binding, and more than `most_terms` multiply-adds, are processed in parts.
///
/// # Errors
/// [`Error::InvalidArgument`](crate::Error::InvalidArgument) for a length of 0, for heads that do not match each other or
/// exceed their buffers, and for so many keys that the partial results of one query do not fit in a binding.
pub fn attention_job(what: &AttentionSize, places: [Heads; 3], limits: Limits) -> Result<Job> {
    what.check(&places)?;
    let what = what.without_idle_window().without_idle_mask();
    let (what, places) = &one_query(&what, places, limits).unwrap_or((what, places));
    let places = *places;
    let form = Form::choose(what, limits);
    let [splits, split_len] = form.splits(what);
    let rows = what.rows();
    let n_out = rows * what.dim;
    let [q, k, v] = places;
    let mut buffers = vec![
        (Slot::A, padded_bytes(q.n)),
        (Slot::B, padded_bytes(k.n)),
        (Slot::Values, padded_bytes(v.n)),
        (Slot::Out, padded_bytes(n_out)),
    ];
    let most = elements_of_binding(limits.binding_bytes);
    let n_partials = match splits {
        1 => 0,
        _ => splits * (n_out + 2 * rows),
    };
    let is_long = what.terms() > pace::attention_terms(limits.longest_submission);
    if is_long || [q.n, k.n, v.n, n_out, n_partials].iter().any(|&n| n > most) {
        let (launches, n_partials) = in_parts(what, places, limits)?;
        buffers.extend((n_partials > 0).then(|| (Slot::Partials, padded_bytes(n_partials))));
        return Ok(Job { buffers, launches });
    }
    let types = [DType::F32; 2];
    let divided = ((splits > 1).then_some(splits), split_len);
    let args = Args::whole(what, types, divided);
    let mut launches: Vec<_> = launches(what, form, places, &args).collect();
    if splits > 1 {
        buffers.push((Slot::Partials, padded_bytes(n_partials)));
        let out = (Arg::Buffer(Slot::Out), 0);
        let merge = merge_launch(what, splits, DType::F32, out, what.heads, limits);
        launches.push(merge);
    }
    Ok(Job { buffers, launches })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::{ComputeUnits, Registers};

    #[test]
    fn long_rows_of_keys_are_split() {
        let splits = |n_q, n_k, window: Option<u64>| {
            let what = AttentionSize {
                batch: 1,
                heads: 8,
                key_heads: 8,
                n_q,
                n_k,
                dim: 64,
                causal: window.is_some(),
                window,
                scale: 1.0,
            };
            let heads = |n: u64| Heads {
                offset: 0,
                batch: 0,
                head: 64,
                row: 512,
                n: 512 * n,
            };
            let places = [heads(n_q), heads(n_k), heads(n_k)];
            let job = attention_job(&what, places, Limits::of_bindings(1 << 31)).unwrap();
            let Arg::Params(words) = &job.launches[0].args[4] else {
                panic!("no parameters");
            };
            // Splits cover all keys; with a window, the keys that a tile sees.
            let seen = window.map_or(words[1], |n| n as u32 + n_q.min(64) as u32 - 1);
            assert!(words[5] * words[6] >= seen && (words[5] - 1) * words[6] < seen);
            words[5]
        };
        assert_eq!(splits(4096, 4096, None), 1);
        assert_eq!(splits(4096, 100_000, None), 13);
        assert_eq!(splits(1, 255, None), 1);
        assert_eq!(splits(1, 4096, None), 32);
        assert_eq!(splits(1, 32_768, None), 64);
        assert_eq!(splits(4096, 100_000, Some(4096)), 1);
        assert_eq!(splits(64, 100_000, Some(2000)), 7);
    }

    #[test]
    fn tiles_are_as_large_as_the_device_and_the_work_allow() {
        let roomy = Some(ComputeUnits {
            n: 132,
            workgroup_bytes: 228 << 10,
        });
        let small = Some(ComputeUnits {
            n: 40,
            workgroup_bytes: 64 << 10,
        });
        let of = |units, heads, n_q, dim, causal, window: Option<u64>| {
            let what = AttentionSize {
                batch: 1,
                heads,
                key_heads: heads,
                n_q,
                n_k: n_q,
                dim,
                causal,
                window,
                scale: 1.0,
            };
            let few = Limits {
                registers: Registers::Few,
                ..Limits::WEBGPU
            };
            assert_eq!(Form::choose(&what, few), Form::FEW_OF_128);
            assert_eq!(Form::choose(&what, Limits::LEAST), Form::FEWER);
            let limits = Limits {
                compute_units: units,
                ..Limits::WEBGPU
            };
            Form::choose(&what, limits)
        };
        assert_eq!(of(roomy, 32, 63, 64, true, None), Form::FEW);
        assert_eq!(of(roomy, 32, 4096, 129, true, None), Form::FEW);
        assert_eq!(of(None, 32, 4096, 64, true, None), Form::MANY_OF_64);
        assert_eq!(of(small, 32, 4096, 128, true, None), Form::MANY_OF_128);
        assert_eq!(of(roomy, 16, 2048, 64, true, None), Form::MANY_OF_64);
        assert_eq!(of(roomy, 16, 2048, 64, false, None), Form::KEPT_OF_64);
        assert_eq!(of(roomy, 16, 4096, 64, true, None), Form::KEPT_OF_64);
        assert_eq!(of(roomy, 1, 64, 128, true, None), Form::KEPT_OF_128);
        // With a window no tile is much shorter than the others.
        let window = Some(256);
        assert_eq!(of(roomy, 16, 2048, 64, true, window), Form::KEPT_OF_64);
    }
}

//! Attention over buffers that are larger than a binding, or longer than a launch may be: batches, heads, queries or keys are processed in parts.

use super::attention_form::Form;
use super::attention_launch::{
    Args, AttentionSize, Heads, KEYS, MAX_SPLIT, launches as of_columns, merge_launch,
};
use super::attention_part::{Most, Part};
use super::{around, beyond_binding, elements_of_slice, parts};
use crate::Result;
use crate::kernels::{Arg, Launch, Limits, Slot, pace};
use crate::ops::DType;

/// Returns launches whose bindings are within the limit of bytes, of at most so many multiply-adds where that is possible, and the number of elements of [`Slot::Partials`].
pub(super) fn in_parts(
    what: &AttentionSize,
    places: [Heads; 3],
    limits: Limits,
) -> Result<(Vec<Launch>, u64)> {
    let choose = |terms| {
        let elements = elements_of_slice(limits.binding_bytes);
        Part::choose(what, &places, Most { elements, terms })
    };
    let terms = pace::attention_terms(limits.longest_submission);
    let part = choose(terms).or_else(|| choose(u64::MAX));
    let part =
        part.ok_or_else(|| beyond_binding("keys", what.n_k * what.dim, limits.binding_bytes))?;
    let whole = Whole {
        what,
        places,
        part,
        limits,
    };
    let mut launches = Vec::new();
    // A part with heads of several groups has all heads of these groups.
    let group = what.heads / what.key_heads;
    let together = part.heads.max(group);
    let heads = parts(what.heads, together).flat_map(|(first, n)| {
        parts(n, part.heads).map(move |(head, heads)| (first + head, heads))
    });
    for (batch, batches) in parts(what.batch, part.batch) {
        for (head, heads) in heads.clone() {
            for (query, n_q) in parts(what.n_q, part.n_q) {
                let part = Part {
                    batch: batches,
                    heads,
                    n_q,
                    ..part
                };
                whole.push_launches(part, [batch, head, query], &mut launches);
            }
        }
    }
    Ok((launches, part.n_partials(what)))
}

/// Attention that is computed in parts.
struct Whole<'a> {
    what: &'a AttentionSize,
    places: [Heads; 3],
    part: Part,
    limits: Limits,
}

impl Whole<'_> {
    /// Returns the first key and the number of keys of each launch for `n_q` queries from `query` on: together all keys
    /// or, if there is a window, those that one of the queries sees.
    fn keys_of(&self, query: u64, n_q: u64) -> impl Iterator<Item = (u64, u64)> {
        let what = self.what;
        let (start, end) = match what.window {
            Some(window) => {
                let end = what.n_k - what.n_q + query + 1;
                (end.saturating_sub(window), end + n_q - 1)
            }
            None => (0, what.n_k),
        };
        parts(end - start, self.part.n_k).map(move |(first, n)| (start + first, n))
    }

    /// Appends the launches over all keys for some queries.
    fn push_launches(&self, part: Part, first: [u64; 3], launches: &mut Vec<Launch>) {
        let what = self.what;
        let [batch, head, query] = first;
        let size = AttentionSize {
            n_k: what.n_k,
            ..part.size(what)
        };
        let out_at = ((batch * what.n_q + query) * what.heads + head) * what.dim;
        let [q_span, _, _, out_span] = part.spans(what, &self.places);
        let out = around(Slot::Out, out_at, out_at + out_span);
        let split_len = self.part.n_k.min(MAX_SPLIT).next_multiple_of(KEYS);
        let lists: Vec<(u64, u64)> = self.keys_of(query, part.n_q).collect();
        let splits_of = |n: u64| n.div_ceil(split_len);
        let all_splits: u64 = lists.iter().map(|&(_, n)| splits_of(n)).sum();
        let mut splits_before = 0;
        for (key, n_k) in lists {
            let part = Part { n_k, ..part };
            let [_, k_span, v_span, _] = part.spans(what, &self.places);
            let key_head = head * what.key_heads / what.heads;
            let starts = [
                [batch, head, query],
                [batch, key_head, key],
                [batch, key_head, key],
            ];
            let spans = [q_span, k_span, v_span];
            let slots = [Slot::A, Slot::B, Slot::Values];
            let mut inputs = Vec::with_capacity(3);
            let mut heads = self.places;
            for i in 0..3 {
                let place = &mut heads[i];
                let [batch, head, row] = starts[i];
                let from = place.offset + batch * place.batch + head * place.head + row * place.row;
                let (arg, offset) = around(slots[i], from, from + spans[i]);
                // The kernel counts rows of keys from the first of all, but the slice starts later.
                let before = if i == 0 { 0 } else { row * place.row };
                place.offset = offset.wrapping_sub(before);
                inputs.push(arg);
            }
            let splits = splits_of(n_k);
            let is_split = all_splits > 1;
            let (bound, out_from, out_heads) = match is_split {
                true => (Arg::Buffer(Slot::Partials), 0, part.heads),
                false => (out.0.clone(), out.1, what.heads),
            };
            let Ok(inputs) = <[Arg; 3]>::try_from(inputs) else {
                return;
            };
            let args = Args {
                inputs,
                types: [DType::F32; 2],
                out: bound,
                out_from,
                out_heads,
                first_key: key,
                split_len,
                splits: is_split.then_some([splits, splits_before, all_splits]),
                first: match what.causal {
                    true => what.n_k - what.n_q + query,
                    false => 0,
                },
            };
            let size = AttentionSize {
                n_k: key + n_k,
                ..size
            };
            let form = Form::choose(&size, self.limits);
            launches.extend(of_columns(&size, form, heads, &args));
            splits_before += splits;
        }
        if all_splits > 1 {
            let merge = merge_launch(&size, all_splits, DType::F32, out, what.heads, self.limits);
            launches.push(merge);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// Checks that the launches cover all products once, and that no binding is too large or exceeds its buffer.
    fn check(what: &AttentionSize, side_by_side: bool, most: u64, time: Option<Duration>) {
        let most_terms = pace::attention_terms(time);
        let place = |n_heads: u64, rows: u64| {
            let n = what.batch * n_heads * rows * what.dim;
            let (head, row) = match side_by_side {
                true => (what.dim, n_heads * what.dim),
                false => (rows * what.dim, what.dim),
            };
            Heads {
                offset: 0,
                batch: n_heads * rows * what.dim,
                head,
                row,
                n,
            }
        };
        let of_keys = place(what.key_heads, what.n_k);
        let places = [place(what.heads, what.n_q), of_keys, of_keys];
        let limits = Limits {
            longest_submission: time,
            ..Limits::of_bindings(4 * most)
        };
        let (launches, n_partials) = in_parts(what, places, limits).unwrap();
        assert!(n_partials <= most);
        let n_out = what.rows() * what.dim;
        let mut made = 0;
        for launch in &launches {
            let is_merge = launch.args.len() == 3;
            let sizes = match is_merge {
                true => vec![n_partials, n_out],
                false => vec![places[0].n, of_keys.n, of_keys.n, n_out],
            };
            for (arg, n) in launch.args.iter().zip(sizes) {
                if let Arg::Slice(_, range) = arg {
                    assert!(range.start % 256 == 0 && range.end <= 16 * n.div_ceil(4));
                    assert!(range.end - range.start <= 4 * most, "{what:?}");
                }
            }
            let Some(Arg::Params(words)) = launch.args.last() else {
                panic!("no parameters");
            };
            if !is_merge {
                let [n_q, heads, dim] = [words[0], words[2], words[4]].map(u64::from);
                let batches = u64::from(words[10]) / (n_q * heads * dim);
                let n_k = u64::from(words[1] - words[24]);
                assert!(u64::from(words[5] * words[6]) >= n_k);
                let terms = 2 * batches * n_q * heads * n_k * dim;
                // No launch has less than a query of a head.
                assert!(most_terms == 1 || terms <= most_terms, "{what:?} {terms}");
                made += batches * n_q * heads * n_k;
            }
        }
        assert_eq!(made, what.rows() * what.n_k, "{what:?} {side_by_side}");
    }

    #[test]
    fn parts_have_the_keys_that_their_queries_see() {
        let what = AttentionSize {
            batch: 1,
            heads: 1,
            key_heads: 1,
            n_q: 300,
            n_k: 1000,
            dim: 64,
            causal: true,
            window: Some(100),
            scale: 1.0,
        };
        let place = |rows: u64| Heads {
            offset: 0,
            batch: 0,
            head: 0,
            row: 64,
            n: 64 * rows,
        };
        let places = [place(300), place(1000), place(1000)];
        let (launches, _) = in_parts(&what, places, Limits::of_bindings(4 * (8 << 10))).unwrap();
        let mut n_keys = 0;
        for launch in &launches {
            let Some(Arg::Params(words)) = launch.args.last() else {
                panic!("no parameters");
            };
            if launch.args.len() == 5 {
                let [n_q, end, first, begin] = [0, 1, 9, 24].map(|i| words[i]);
                assert!(begin + 100 > first && end <= first + n_q, "{words:?}");
                n_keys += u64::from(n_q * (end - begin));
            }
        }
        // At least those that each query sees, and not much more than tiles of 100 queries do.
        assert!((300 * 100..300 * 230).contains(&n_keys), "{n_keys}");
    }

    #[test]
    fn parts_fit_and_process_each_key_once() {
        for [batch, heads, key_heads, n_q, n_k, dim] in [
            [1, 4, 2, 300, 500, 64],
            [50, 2, 1, 40, 50, 32],
            [2, 6, 2, 90, 100, 63],
            [1, 1, 1, 3, 9000, 64],
            [1, 80, 40, 5, 5, 256],
            [3, 64, 1, 200, 200, 128],
            [1, 96, 2, 1000, 1000, 16],
        ] {
            for side_by_side in [false, true] {
                let what = AttentionSize {
                    batch,
                    heads,
                    key_heads,
                    n_q,
                    n_k,
                    dim,
                    causal: false,
                    window: None,
                    scale: 1.0,
                };
                check(&what, side_by_side, 16 << 10, None);
                check(
                    &what,
                    side_by_side,
                    1 << 30,
                    Some(Duration::from_micros(80)),
                );
                check(&what, side_by_side, 16 << 10, Some(Duration::ZERO));
            }
        }
    }
}

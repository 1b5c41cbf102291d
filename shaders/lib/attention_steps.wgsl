// Steps of 64 keys and values on their way from storage through registers to workgroup memory: parts of tensor_attention_half_ahead.
//
// A workgroup has twice as many invocations as rows have elements, so that each copies four units of the keys and four of the values.
//
// import: lib/attention_rows, lib/attention_staging

/// Heads have DIM elements.
override WHOLE: bool = false;

// An invocation's units of a step.
struct Step {
    k0: Unit,
    k1: Unit,
    k2: Unit,
    k3: Unit,
    v0: Unit,
    v1: Unit,
    v2: Unit,
    v3: Unit,
}

// Returns a unit of a key or a value. The last key takes the place of those behind it, which are masked, and zeros that of columns behind the
// end of heads.
fn key_unit(work: Work, key: u32, column: u32) -> Unit {
    let start = work.start_k + min(key, params.n_k - 1u) * params.k.w;
    if WHOLE {
        return left[start + column];
    }
    let unit = left[start + min(column, params.dim / 8u - 1u)];
    let is_inside = 8u * column < params.dim;
    return Unit(select(Part(), unit.first, is_inside), select(Part(), unit.second, is_inside));
}

fn value_unit(work: Work, key: u32, column: u32) -> Unit {
    let start = work.start_v + min(key, params.n_k - 1u) * params.v.w;
    if WHOLE {
        return right[start + column];
    }
    let unit = right[start + min(column, params.dim / 8u - 1u)];
    let is_inside = 8u * column < params.dim;
    return Unit(select(Part(), unit.first, is_inside), select(Part(), unit.second, is_inside));
}

// Loads an invocation's units of the step at `key`. Lines are 16 apart.
fn load_keys_and_values(i: u32, work: Work, key: u32) -> Step {
    let line = key + i / UNITS;
    let column = i % UNITS;
    return Step(
        key_unit(work, line, column),
        key_unit(work, line + 16u, column),
        key_unit(work, line + 32u, column),
        key_unit(work, line + 48u, column),
        value_unit(work, line, column),
        value_unit(work, line + 16u, column),
        value_unit(work, line + 32u, column),
        value_unit(work, line + 48u, column),
    );
}

fn store_unit(to: u32, unit: Unit) {
    sh_staged[to] = unit.first;
    sh_staged[to + 1u] = unit.second;
}

fn store_keys_and_values(i: u32, step: Step) {
    let to = i / UNITS * STRIDE + 2u * (i % UNITS);
    store_unit(to, step.k0);
    store_unit(to + 16u * STRIDE, step.k1);
    store_unit(to + 32u * STRIDE, step.k2);
    store_unit(to + 48u * STRIDE, step.k3);
    store_unit(to + 64u * STRIDE, step.v0);
    store_unit(to + 80u * STRIDE, step.v1);
    store_unit(to + 96u * STRIDE, step.v2);
    store_unit(to + 112u * STRIDE, step.v3);
}

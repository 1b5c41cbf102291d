//! Tests of translations to SPIR-V.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::HashMap;

use super::edits::*;
use super::*;
use crate::kernels::tensor::{
    AttentionSize, Heads, Matrix, MatrixUnits, Product, attention_half_job, matmul_half_job,
};
use crate::ops::{DType, Epilogue};

const WGSL: &str = "
    override N: u32 = 1u;
    @group(0) @binding(0) var<storage, read_write> data: array<u32>;
    var<workgroup> shared_words: array<u32, 64>;
    @compute @workgroup_size(64)
    fn barriers(@builtin(local_invocation_index) i: u32) {
        data[i] = N;
        storageBarrier();
        shared_words[i] = data[63u - i];
        workgroupBarrier();
        data[i] = shared_words[i ^ 1u];
    }";

/// The matrix units of a device of Vulkan.
const UNITS: MatrixUnits = MatrixUnits {
    n_units: 1,
    workgroup_bytes: 48 << 10,
    has_warpgroups: false,
    copies_asynchronously: false,
};

/// Translates a kernel without cooperative matrices.
fn translated(source: &KernelSource<'_>, wide_shift: bool) -> Result<Vec<u32>, String> {
    translate(source, translation(wide_shift, false))
}

const fn translation(wide_shift: bool, cooperative: bool) -> Translation {
    Translation {
        wide_shift,
        subgroup: None,
        clears_workgroups: false,
        cooperative,
        ordered_elements: false,
    }
}

/// Returns the words of every instruction, after checking that they are all words behind the header.
fn split(words: &[u32]) -> Vec<&[u32]> {
    let all = instructions(words);
    let n_words: usize = all.iter().map(|&(_, n)| n).sum();
    assert_eq!(n_words + HEADER_WORDS, words.len());
    all.iter().map(|&(at, n)| &words[at..at + n]).collect()
}

fn scopes(words: &[u32]) -> Vec<(u32, u32)> {
    let all = instructions(words);
    let constants: HashMap<u32, u32> = all
        .iter()
        .filter(|&&(at, n)| n == 4 && words[at] & 0xffff == OP_CONSTANT)
        .map(|&(at, _)| (words[at + 2], words[at + 3]))
        .collect();
    let barriers = all
        .iter()
        .filter(|&&(at, _)| words[at] & 0xffff == OP_CONTROL_BARRIER);
    barriers
        .map(|&(at, _)| (constants[&words[at + 2]], constants[&words[at + 3]]))
        .collect()
}

#[test]
fn storage_barriers_get_workgroup_scope_and_nothing_else_changes() {
    let source =
        KernelSource::new(WGSL, "barriers", &[Access::ReadWrite]).with_overrides(&[("N", 7.0)]);
    let words = translated(&source, false).unwrap();
    let found = scopes(&words);
    assert!(
        found
            .iter()
            .any(|&(_, semantics)| semantics & UNIFORM_MEMORY != 0)
    );
    assert!(
        found.iter().all(|&(scope, _)| scope == SCOPE_WORKGROUP),
        "{found:?}"
    );
    split(&words);
}

#[test]
fn funnel_becomes_64_bit_arithmetic_in_the_kernels_that_have_it() {
    const OP_TYPE_INT: u32 = 21;
    let has_int64 = |words: &[u32]| {
        instructions(words)
            .iter()
            .any(|&(at, _)| words[at] & 0xffff == OP_TYPE_INT && words[at + 2] == 64)
    };
    for kernel in crate::kernels::codec::KERNELS {
        let source = KernelSource::of(kernel, &[]);
        let has_funnel = matches!(
            kernel.name,
            "lz4_parse"
                | "lz4_sort"
                | "lz4_longest"
                | "lz4_cheapest"
                | "lz4_emit"
                | "lz4_tokens"
                | "lz4_tokens_many"
                | "lz4_copy"
        );
        assert_eq!(has_funnel, kernel.wgsl.contains("fn funnel("));
        assert!(!has_int64(&translated(&source, false).unwrap()));
        let words = translated(&source, true).unwrap();
        assert_eq!(has_int64(&words), has_funnel, "{}", kernel.name);
    }
}

#[test]
fn workgroup_memory_is_cleared_by_the_driver_if_it_can() {
    const OP_VARIABLE: u32 = 59;
    const OP_STORE: u32 = 62;
    const STORAGE_WORKGROUP: u32 = 4;
    const WGSL: &str = "
        var<workgroup> sh_words: array<u32, 1000>;
        @group(0) @binding(0) var<storage, read_write> data: array<u32>;
        @compute @workgroup_size(32)
        fn main(@builtin(local_invocation_index) i: u32) {
            sh_words[i] += 1u;
            data[i] = sh_words[i];
        }";
    let counts = |clears_workgroups| {
        let translation = Translation {
            clears_workgroups,
            ..translation(false, false)
        };
        let source = KernelSource::new(WGSL, "main", &[Access::ReadWrite]);
        let words = translate(&source, translation).unwrap();
        let all = split(&words);
        let n_stores = all.iter().filter(|one| one[0] & 0xffff == OP_STORE).count();
        // An initializer is a fifth word.
        let n_initialized = all.iter().filter(|one| {
            one[0] & 0xffff == OP_VARIABLE && one[3] == STORAGE_WORKGROUP && one.len() == 5
        });
        (n_stores, n_initialized.count())
    };
    let (n_stores, n_initialized) = counts(true);
    assert_eq!(n_initialized, 1);
    // Zeros are one store of an array, which drivers make one of each word.
    assert_eq!(counts(false), (n_stores + 1, 0));
}

#[test]
fn a_function_named_funnel_with_another_body_stays() {
    const WGSL: &str = "
        @group(0) @binding(0) var<storage, read_write> data: array<u32>;
        fn funnel(a: u32, b: u32, s: u32) -> u32 {
            return (a << s) | ((b >> 1) >> (31 - s));
        }
        @compute @workgroup_size(1)
        fn main() {
            data[0] = funnel(data[1], data[2], data[3]);
        }";
    let source = KernelSource::new(WGSL, "main", &[Access::ReadWrite]);
    let [narrow, wide] = [false, true].map(|wide_shift| translated(&source, wide_shift).unwrap());
    assert_eq!(narrow, wide);
}

#[test]
fn operations_of_subgroups_replace_words_and_branches() {
    const OP_ATOMIC_MAX: u32 = 239;
    const OP_BALLOT: u32 = 339;
    const OP_GROUP_MAX: u32 = 357;
    let counts = |name: &str, overrides: &[(&str, f64)], subgroup| {
        let mut kernels = crate::kernels::codec::KERNELS.into_iter();
        let kernel = kernels.find(|kernel| kernel.name == name).unwrap();
        let translation = Translation {
            subgroup,
            ..translation(false, false)
        };
        let words = translate(&KernelSource::of(kernel, overrides), translation).unwrap();
        [OP_ATOMIC_MAX, OP_BALLOT, OP_GROUP_MAX].map(|opcode| {
            let all = split(&words);
            all.iter().filter(|one| one[0] & 0xffff == opcode).count()
        })
    };
    let parse = |width, subgroup| counts("lz4_parse", &[("WIDTH", width)], subgroup);
    // One operation in workgroups of a subgroup, two in larger ones, and the maxima of the search and of exits remain.
    let [maxima, ..] = parse(32.0, None);
    assert_eq!(parse(32.0, Some(32)), [maxima - 1, 0, 1]);
    assert_eq!(parse(64.0, Some(32)), [maxima - 1, 0, 2]);
    assert_eq!(parse(128.0, Some(32)), [maxima - 1, 0, 2]);
    // Not enough words for 8 subgroups, and no whole subgroup.
    assert_eq!(parse(64.0, Some(8)), [maxima, 0, 0]);
    assert_eq!(parse(32.0, Some(64)), [maxima, 0, 0]);
    let sort = |subgroup| counts("lz4_sort", &[], subgroup);
    assert_eq!(sort(None)[1..], [0, 0]);
    assert_eq!(sort(Some(32))[1..], [1, 0]);
    assert_eq!(sort(Some(8))[1..], [0, 0]);
}

#[test]
fn kernels_of_cooperative_matrices_declare_no_buffer_read_only() {
    const WGSL: &str = "
        @group(0) @binding(0) var<storage, read> given: array<u32>;
        @group(0) @binding(1) var<storage, read_write> made: array<u32>;
        @compute @workgroup_size(1)
        fn main() {
            made[0] = given[0];
        }";
    let bindings = [Access::Read, Access::ReadWrite];
    let source = KernelSource::new(WGSL, "main", &bindings);
    let n_read_only = |cooperative| {
        let wide_shift = false;
        let words = translate(&source, translation(wide_shift, cooperative)).unwrap();
        let is_read_only = |one: &&[u32]| {
            matches!(one[0] & 0xffff, OP_DECORATE | OP_MEMBER_DECORATE)
                && one.last() == Some(&NON_WRITABLE)
        };
        split(&words).into_iter().filter(is_read_only).count()
    };
    assert_eq!((n_read_only(false), n_read_only(true)), (1, 0));
}

#[test]
fn matrices_of_halves_become_those_of_bfloat16_and_nothing_else_changes() {
    let what = Product {
        batch: 1,
        m: 128,
        n: 128,
        k: 64,
        a: Matrix::dense(128, 64, 128 * 64),
        b: Matrix::dense(64, 128, 64 * 128),
    };
    let of = |dtype| {
        let none = Epilogue::default();
        let job = matmul_half_job(&what, dtype, none, UNITS, 1 << 30);
        let job = job.unwrap().unwrap();
        // SAFETY: the kernel is translated, not run.
        let source = unsafe { KernelSource::of_launch(&job.launches[0], &[]) };
        let (wide_shift, cooperative) = (false, true);
        translate(&source, translation(wide_shift, cooperative)).unwrap()
    };
    let [halves, bfloat16] = [DType::F16, DType::BF16].map(of);
    let id = halves[BOUND];
    assert_eq!(bfloat16[BOUND], id + 1);
    let [halves, mut found] = [split(&halves), split(&bfloat16)];
    let added = [
        &[2 << 16 | OP_CAPABILITY, 5116][..],
        &[2 << 16 | OP_CAPABILITY, 5118],
        &extension("SPV_KHR_bfloat16"),
        &[4 << 16 | OP_TYPE_FLOAT, id, 16, 0],
    ];
    for one in added {
        let at = found.iter().position(|words| *words == one);
        found.remove(at.unwrap());
    }
    let changed: Vec<_> = halves.iter().zip(&found).filter(|(a, b)| a != b).collect();
    assert_eq!((halves.len(), changed.len()), (found.len(), 2));
    for (was, is) in changed {
        assert_eq!((was[0] & 0xffff, is[2]), (OP_TYPE_COOPERATIVE_MATRIX, id));
        assert_eq!((&was[..2], &was[3..]), (&is[..2], &is[3..]));
    }
}

#[test]
fn elements_of_matrices_become_components() {
    const OP_NAME: u32 = 5;
    const OP_VARIABLE: u32 = 59;
    const OP_COMPOSITE_INSERT: u32 = 82;
    const WORKGROUP: u32 = 4;
    let size = AttentionSize {
        batch: 1,
        heads: 1,
        key_heads: 1,
        n_q: 256,
        n_k: 256,
        dim: 64,
        causal: true,
        window: None,
        scale: 1.0,
    };
    let heads = Heads {
        offset: 0,
        batch: 0,
        head: 0,
        row: 64,
        n: 256 * 64,
    };
    for dtype in [DType::F16, DType::BF16] {
        let job = attention_half_job(&size, [dtype; 2], [heads; 3], UNITS, 1 << 30);
        let job = job.unwrap().unwrap();
        // SAFETY: the kernel is translated, not run.
        let source = unsafe { KernelSource::of_launch(&job.launches[0], &[]) };
        let of = |ordered_elements| {
            let translation = Translation {
                ordered_elements,
                ..translation(false, true)
            };
            translate(&source, translation).unwrap()
        };
        let [portable, ordered] = [false, true].map(of);
        let count = |words: &[u32], is_counted: &dyn Fn(&[u32]) -> bool| {
            split(words)
                .into_iter()
                .filter(|one| is_counted(one))
                .count()
        };
        let opcode = |one: &[u32]| one[0] & 0xffff;
        let inserted = |one: &[u32]| opcode(one) == OP_COMPOSITE_INSERT;
        let named = |one: &[u32]| opcode(one) == OP_NAME;
        let shared = |one: &[u32]| opcode(one) == OP_VARIABLE && one[3] == WORKGROUP;
        // Eight components of a matrix of sums, and of a left factor. Three arrays less in workgroup memory.
        let [before, after] = [&portable, &ordered].map(|words| count(words, &inserted));
        assert_eq!(after - before, 16);
        let [before, after] = [&portable, &ordered].map(|words| count(words, &shared));
        assert_eq!(before - after, 3);
        assert_eq!(count(&ordered, &named), 0);
    }
}

#[test]
fn elements_of_other_matrices_are_refused() {
    let sums = |sum: &str| {
        let wgsl = [
            "enable wgpu_cooperative_matrix;
            struct Elements { first: vec4<f32>, second: vec4<f32> }
            var<workgroup> sh_elements: array<f32, 256>;
            @group(0) @binding(0) var<storage, read_write> data: array<f32>;
            @compute @workgroup_size(32)
            fn main(@builtin(local_invocation_index) i: u32) {
                var sum: Sum;
                data[i] = elements_of(sum, 0, i).first.x;
            }
            alias Sum = ",
            sum,
            ";\n",
            wgsl_ptx::intrinsics::ELEMENTS_OF,
        ]
        .concat();
        let source = KernelSource::new(&wgsl, "main", &[Access::ReadWrite]);
        let translation = Translation {
            ordered_elements: true,
            ..translation(false, true)
        };
        translate(&source, translation).map(|_| ())
    };
    assert_eq!(sums("coop_mat16x16<f32, C>"), Ok(()));
    let small = sums("coop_mat8x8<f32, C>").unwrap_err();
    assert_eq!(
        small,
        "elements_of needs matrices of 16x16: sums of f32, left factors of halves"
    );
}

#[test]
fn errors_carry_the_line() {
    let source = KernelSource::new(
        "@compute @workgroup_size(1)\nfn broken() { oops(); }",
        "broken",
        &[],
    );
    assert!(translated(&source, false).unwrap_err().starts_with("2:"));
}

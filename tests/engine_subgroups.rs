//! Intrinsics that become operations of subgroups: the same results as without them, for workgroups of one subgroup and of several.
#![cfg(all(feature = "wgpu", not(target_arch = "wasm32")))]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

mod common;

use common::engine::{open, run_on_words, unchecked_if};
use pagepress::gpu::{Backend, EngineChoice, KernelSource};
use pagepress::kernels::Access;
use wgsl_ptx::intrinsics::{AGREE, PEERS};

const ROUNDS: u32 = 9;
const BINDINGS: [Access; 2] = [Access::Read, Access::ReadWrite];

/// Each invocation passes codes, one a round, and publishes one word in workgroup memory before each call.
const AGREED: &str = "
    override WIDTH: u32 = 1u;
    @group(0) @binding(0) var<storage, read> codes: array<u32>;
    @group(0) @binding(1) var<storage, read_write> found: array<u32>;
    var<private> lane: u32;
    const AGREED_WORDS: u32 = 4;
    const AGREED: u32 = 1u;
    var<workgroup> sh_words: array<atomic<u32>, 5>;
    var<workgroup> sh_codes: array<u32, WIDTH>;
    @compute @workgroup_size(WIDTH)
    fn agreed(@builtin(local_invocation_index) i: u32) {
        lane = i;
        if i == 0u { atomicStore(&sh_words[AGREED], 0u); }
        workgroupBarrier();
        var round = 0u;
        for (var k = 0u; k < 9u; k++) {
            let code = codes[k * WIDTH + i];
            sh_codes[i] = code;
            let all = agree(&round, code);
            found[k * WIDTH + i] = (all << 8) | sh_codes[WIDTH - 1u - i];
            workgroupBarrier();
        }
    }
    ";

const PEERS_OF: &str = "
    @group(0) @binding(0) var<storage, read> values: array<u32>;
    @group(0) @binding(1) var<storage, read_write> found: array<u32>;
    var<workgroup> sh_values: array<u32, 32>;
    @compute @workgroup_size(32)
    fn peers_of(@builtin(local_invocation_index) i: u32) {
        for (var k = 0u; k < 9u; k++) {
            found[k * 32u + i] = peers(i, values[k * 32u + i]);
        }
    }
    ";

/// Codes of `ROUNDS` rounds: none, then one invocation's, then those of several.
fn codes(width: u32) -> Vec<u32> {
    let code = |round: u32, i: u32| match round {
        0 | 4 => 0,
        1..=3 => u32::from(i == (round * 7 + width - 1) % width) * (255 - round),
        _ => (i * 37 + round * 91) % 256 * u32::from(i.is_multiple_of(round)),
    };
    (0..ROUNDS)
        .flat_map(|round| (0..width).map(move |i| code(round, i)))
        .collect()
}

#[test]
fn invocations_agree_in_workgroups_of_one_and_of_several_subgroups() {
    let device = open(EngineChoice::Wgpu);
    let wgsl = [AGREED, AGREE].concat();
    let size = device.info().subgroup_size.0.max(1);
    for width in [size, 2 * size, 4 * size, 8 * size] {
        if width > device.capabilities().max_workgroup_invocations {
            continue;
        }
        let codes = codes(width);
        let expected: Vec<u32> = codes
            .chunks(width as usize)
            .flat_map(|round| {
                let most = round.iter().max().unwrap() << 8;
                round.iter().rev().map(move |code| most | code)
            })
            .collect();
        let overrides = [("WIDTH", f64::from(width))];
        for is_unchecked in [false, true] {
            let source = KernelSource::new(&wgsl, "agreed", &BINDINGS).with_overrides(&overrides);
            let source = unchecked_if(is_unchecked, source);
            let found = run_on_words(&device, &source, 1, &codes, None).unwrap();
            assert_eq!(found, expected, "{width} invocations, {is_unchecked}");
        }
    }
}

#[test]
fn peers_are_the_invocations_with_the_same_value() {
    let device = open(EngineChoice::Wgpu);
    let wgsl = [PEERS_OF, PEERS].concat();
    let values: Vec<u32> = (0..ROUNDS)
        .flat_map(|round| (0..32).map(move |i| i * i % (round + 1) + 0x1000 * i + 4095 * (i & 1)))
        .collect();
    let expected: Vec<u32> = values
        .chunks(32)
        .flat_map(|round| {
            round.iter().map(move |own| {
                let is_peer = |i: usize| (round[i] ^ own) & 0xfff == 0;
                (0..32).map(|i| u32::from(is_peer(i)) << i).sum()
            })
        })
        .collect();
    for is_unchecked in [false, true] {
        let source = KernelSource::new(&wgsl, "peers_of", &BINDINGS);
        let source = unchecked_if(is_unchecked, source);
        let found = run_on_words(&device, &source, 1, &values, None).unwrap();
        assert_eq!(found, expected, "{is_unchecked}");
    }
}

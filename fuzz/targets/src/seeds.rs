//! The seed files of the corpus.

use pagepress::lz4::formats::blosc::{self, BloscOptions, Shuffle};
use pagepress::lz4::formats::hdf5;
use pagepress::lz4::frame::{FrameOptions, compress};
use pagepress::lz4::{Encoder, Level, Parse};

use super::random::Random;

/// Returns target, name and bytes of each seed.
pub fn seeds() -> Vec<(&'static str, String, Vec<u8>)> {
    let mut all = Vec::new();
    for (i, content) in contents().into_iter().enumerate() {
        for (level, name) in [(Level::Fast, "fast"), (Level::Sequential, "sequential")] {
            let parse = Parse::new(4096, level).expect("in range");
            let mut block = Vec::new();
            let piece = &content[..content.len().min(4096)];
            let encoded = Encoder::new(&parse).compress_block(piece, &mut block);
            encoded.expect("fits");
            for target in ["block", "dictionary", "pages", "raw_blocks"] {
                all.push((target, format!("seed_{i}_{name}"), block.clone()));
            }
        }
        for (name, bytes) in containers(&content[..content.len().min(2000)]) {
            all.push(("containers", format!("seed_{i}_{name}"), bytes));
        }
        let start = content[..content.len().min(600)].to_vec();
        all.push(("round_trip", format!("seed_{i}"), start.clone()));
        all.push(("snapshots", format!("seed_{i}"), start.clone()));
        all.push(("seek", format!("seed_{i}"), start));
        for options in 0..8u32 {
            let file = frame(&content, options);
            // Each kind of content with some of the options; one kind with all.
            if i == 1 || options as usize == i {
                for target in ["dictionary", "frame", "reader", "seek"] {
                    all.push((target, format!("seed_{i}_frame_{options}"), file.clone()));
                }
            }
        }
        let linked = lzzzz::lz4f::PreferencesBuilder::new().build();
        let mut theirs = Vec::new();
        lzzzz::lz4f::compress_to_vec(&content, &mut theirs, &linked).expect("compresses");
        for target in ["dictionary", "frame", "reader"] {
            all.push((target, format!("seed_{i}_linked"), theirs.clone()));
        }
    }
    for (name, file) in gguf_files() {
        all.push(("gguf", format!("seed_{name}"), file));
    }
    let mut random = Random::of(b"programs");
    for i in 0..12 {
        let bytes = (0..40 + 20 * i).map(|_| random.next() as u8).collect();
        all.push(("wgsl_ptx", format!("seed_bytes_{i}"), bytes));
    }
    for (i, text) in CUDA_TEXTS.iter().enumerate() {
        all.push(("cuda_c", format!("seed_text_{i}"), text.as_bytes().to_vec()));
    }
    for i in 0..4 {
        let bytes = (0..8 + 4 * i).map(|_| random.next() as u8).collect();
        all.push(("cuda_c", format!("seed_bytes_{i}"), bytes));
    }
    for (i, text) in TEXTS.iter().enumerate() {
        all.push((
            "wgsl_ptx",
            format!("seed_text_{i}"),
            text.as_bytes().to_vec(),
        ));
    }
    all
}

const CUDA_TEXTS: [&str; 4] = [
    "__global__ void k(int n, const float *x, float *y) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] += x[i]; }",
    "template<typename T> __device__ T twice(T v) { return v + v; }\ntemplate<> __device__ int twice<int>(int v) { return v << 1; }\n__global__ void k(int *o) { o[0] = twice(3) + int(twice(1.5f)); }",
    "#define N 8\nstruct S { int a = N; float b[2]; };\n__global__ void k(S *s, unsigned char *c) { __shared__ S t[N]; t[threadIdx.x % N] = s[0]; __syncthreads(); c[threadIdx.x] = t[0].a; }",
    "#include <cuda_fp16.h>\n#include <cooperative_groups.h>\n__global__ void k(half *h) { auto b = cooperative_groups::this_thread_block(); h[b.thread_rank()] = __hadd(h[0], __float2half(1.0f)); b.sync(); }",
];

const TEXTS: [&str; 4] = [
    "@group(0) @binding(0) var<storage, read_write> o: array<u32>;\n@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) i: vec3<u32>) { o[i.x] = o[i.x] * 3u + 1u; }",
    "override N: u32 = 4u; const M = N_; alias A = array<vec2<f32>, 8>; var<private> p: A; const N_ = 3;\n@compute @workgroup_size(N) fn main() { for (var i = 0; i < 8; i++) { p[i] = vec2(f32(i)); } }",
    "struct S { a: vec3<f32>, @size(32) b: u32, c: array<i32> } @group(0) @binding(1) var<storage> s: S; var<workgroup> w: array<atomic<u32>, 32>;\n@compute @workgroup_size(32) fn main() { atomicAdd(&w[u32(s.c[0])], s.b); workgroupBarrier(); loop { if atomicLoad(&w[0]) > 2u { break; } } }",
    "enable f16; @compute @workgroup_size(1) fn main() { var x = 1.0h; switch u32(x) { case 0, 1u: { return; } default { x = -x; } } }",
];

/// Returns a GGUF file with keys of several types and tensors of several, and one with arrays inside arrays.
fn gguf_files() -> [(&'static str, Vec<u8>); 2] {
    let string = |text: &str| [&(text.len() as u64).to_le_bytes(), text.as_bytes()].concat();
    let words = |words: &[u32]| -> Vec<u8> { words.iter().flat_map(|x| x.to_le_bytes()).collect() };
    let head = |n_tensors: u64, n_keys: u64| {
        let counts = [n_tensors, n_keys].map(u64::to_le_bytes).concat();
        [b"GGUF".as_slice(), &words(&[3]), &counts].concat()
    };
    let tensor = |name: &str, dims: &[u64], kind: u32, offset: u64| {
        let dims_bytes: Vec<u8> = dims.iter().flat_map(|x| x.to_le_bytes()).collect();
        let name = string(name);
        [
            &name,
            &words(&[dims.len() as u32]),
            &dims_bytes,
            &words(&[kind]),
            &offset.to_le_bytes()[..],
        ]
        .concat()
    };
    let mut tensors = [
        head(4, 3),
        [string("general.alignment"), words(&[4, 64])].concat(),
        [string("name"), words(&[8]), string("words of a model")].concat(),
        [
            string("numbers"),
            words(&[9, 6, 2, 0]),
            words(&[0x3f80_0000, 7]),
        ]
        .concat(),
        tensor("norm", &[5], 0, 0),
        tensor("half", &[3, 2], 1, 64),
        tensor("bytes", &[32, 2], 8, 128),
        tensor("packed", &[256], 12, 256),
    ]
    .concat();
    tensors.resize(tensors.len().next_multiple_of(64), 0);
    tensors.extend((0..400u32).map(|i| (i * 7 % 61) as u8));
    let nested = [
        head(0, 1),
        [string("lists"), words(&[9, 9, 2, 0])].concat(),
        [words(&[8, 2, 0]), string("a"), string("")].concat(),
        [words(&[9, 1, 0]), words(&[7, 3, 0]), vec![0, 1, 0]].concat(),
    ];
    [("tensors", tensors), ("nested", nested.concat())]
}

/// Returns a container of each kind.
fn containers(content: &[u8]) -> [(&'static str, Vec<u8>); 4] {
    let chunk = |shuffle| {
        let options = BloscOptions {
            element_size: 4,
            shuffle,
            block_size: 1024,
            ..BloscOptions::default()
        };
        blosc::compress(content, &options).expect("fits")
    };
    let whole = &content[..content.len() / 4 * 4];
    let level = Level::Sequential;
    let lz4 = hdf5::compress_lz4(content, Some(1000), level).expect("fits");
    let bits = hdf5::compress_bitshuffle(whole, 4, Some(64), level).expect("fits");
    [
        ("blosc_byte", chunk(Shuffle::Byte)),
        ("blosc_bit", chunk(Shuffle::Bit)),
        ("hdf5_lz4", lz4),
        ("hdf5_bitshuffle", bits),
    ]
}

fn contents() -> Vec<Vec<u8>> {
    let mut random = Random::of(b"contents");
    let noise: Vec<u8> = (0..700).map(|_| random.next() as u8).collect();
    let text = b"the pages of a process, and what they have in common with each other; ".repeat(90);
    let words: Vec<u8> = (0..1500u32).flat_map(|i| (i / 7).to_le_bytes()).collect();
    let mut mixed = text[..900].to_vec();
    mixed.extend_from_slice(&noise[..300]);
    mixed.extend(vec![0; 5000]);
    vec![
        Vec::new(),
        text,
        noise,
        vec![7; 9000],
        words,
        mixed,
        vec![1],
        vec![0; 13],
    ]
}

fn frame(content: &[u8], bits: u32) -> Vec<u8> {
    let options = FrameOptions {
        block_size: if bits & 1 == 0 { 4096 } else { 65_536 },
        level: Level::Sequential,
        content_checksum: bits & 2 != 0,
        block_checksums: bits & 4 != 0,
        content_size: (bits & 1 != 0).then_some(content.len() as u64),
        index: bits & 2 == 0,
        dictionary: None,
    };
    compress(content, &options).expect("compresses")
}

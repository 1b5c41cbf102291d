//! The front end of CUDA C.

use cuda_c::{CudaOptions, compile_cuda, kernels};

use super::random::Random;

/// Sources per execution: the input, and a kernel with words changed.
pub const INPUTS: u64 = 2;

/// Kernels that are changed.
const KERNELS: [&str; 12] = [
    include_str!("../../../cuda-c/tests/in/saxpy.cu"),
    include_str!("../../../tests/cuda_c/kernels/atomic_shared.cu"),
    include_str!("../../../tests/cuda_c/kernels/cooperative_groups.cu"),
    include_str!("../../../tests/cuda_c/kernels/half_words.cu"),
    include_str!("../../../tests/cuda_c/kernels/inlined_returns.cu"),
    include_str!("../../../tests/cuda_c/kernels/macros.cu"),
    include_str!("../../../tests/cuda_c/kernels/matmul_tiled.cu"),
    include_str!("../../../tests/cuda_c/kernels/member_values.cu"),
    include_str!("../../../tests/cuda_c/kernels/pointer_walk.cu"),
    include_str!("../../../tests/cuda_c/kernels/specialisations.cu"),
    include_str!("../../../tests/cuda_c/kernels/unions.cu"),
    include_str!("../../../tests/cuda_c/kernels/warp_loop.cu"),
];

/// Compiles text and a changed kernel: the result is WGSL, or an error that is no defect.
pub fn cuda_c(data: &[u8]) -> u64 {
    let mut random = Random::of(data);
    compile(&String::from_utf8_lossy(data), &mut random);
    compile(&changed(data, &mut random), &mut random);
    INPUTS
}

fn compile(source: &str, random: &mut Random) {
    let Ok(found) = kernels(source, &[]) else {
        return;
    };
    for kernel in found.iter().take(2) {
        let entry = match kernel.template.len() {
            0 => kernel.name.clone(),
            _ => format!("{}<float>", kernel.name),
        };
        let options = CudaOptions::new(&entry)
            .block([32, 2, 1])
            .shared_bytes(256)
            .narrow_f64(random.below(2) == 0)
            .subgroups(random.below(2) == 0)
            .float16(random.below(2) == 0)
            .int64(random.below(2) == 0);
        match compile_cuda(source, &options) {
            Ok(compiled) => drop(compiled.wgsl().expect("what compiles is written")),
            Err(error) => assert!(!error.message.contains("defect"), "{error}\n{source}"),
        }
    }
}

/// Splits a source into words, numbers and single other characters.
fn words(source: &str) -> Vec<&str> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut words = Vec::new();
    let mut rest = source;
    while let Some(first) = rest.chars().next() {
        let length = match is_word(first) {
            true => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
            false => first.len_utf8(),
        };
        let (word, after) = rest.split_at(length);
        words.push(word);
        rest = after;
    }
    words
}

/// Returns a kernel with some words changed, as the bytes select.
fn changed(data: &[u8], random: &mut Random) -> String {
    let mut source = words(KERNELS[random.below(KERNELS.len())]);
    let other = words(KERNELS[random.below(KERNELS.len())]);
    for change in data.chunks(4).take(6) {
        let byte = |index: usize| change.get(index).map_or(0, |&byte| usize::from(byte));
        let at = (byte(0) << 8 | byte(1)) % source.len();
        let from = (byte(2) << 8 | byte(3)).wrapping_mul(31);
        match byte(3) % 5 {
            0 => drop(source.remove(at)),
            1 => source.insert(at, other[from % other.len()]),
            2 => source[at] = other[from % other.len()],
            3 => source[at] = source[from % source.len()],
            _ => {
                let to = from % source.len();
                source.swap(at, to);
            }
        }
        if source.is_empty() {
            break;
        }
    }
    source.concat()
}

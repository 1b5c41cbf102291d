//! Edits of SPIR-V modules.

use std::collections::HashMap;

pub(super) const HEADER_WORDS: usize = 5;
pub(super) const BOUND: usize = 3;
const OP_EXTENSION: u32 = 10;
pub(super) const OP_CAPABILITY: u32 = 17;
pub(super) const OP_TYPE_FLOAT: u32 = 22;
pub(super) const OP_CONSTANT: u32 = 43;
pub(super) const OP_DECORATE: u32 = 71;
pub(super) const OP_MEMBER_DECORATE: u32 = 72;
pub(super) const NON_WRITABLE: u32 = 24;
pub(super) const OP_CONTROL_BARRIER: u32 = 224;
const OP_MEMORY_BARRIER: u32 = 225;
pub(super) const OP_TYPE_COOPERATIVE_MATRIX: u32 = 4456;
const CAPABILITY_BFLOAT16: u32 = 5116;
const CAPABILITY_BFLOAT16_MATRICES: u32 = 5118;
const ENCODING_BFLOAT16: u32 = 0;
const SCOPE_DEVICE: u32 = 1;
pub(super) const SCOPE_WORKGROUP: u32 = 2;
pub(super) const UNIFORM_MEMORY: u32 = 0x40;

/// Returns position and length, in words, of every instruction.
pub(super) fn instructions(words: &[u32]) -> Vec<(usize, usize)> {
    let mut at = HEADER_WORDS;
    let mut found = Vec::new();
    while at < words.len() {
        let n_words = (words[at] >> 16) as usize;
        if n_words == 0 || at + n_words > words.len() {
            break;
        }
        found.push((at, n_words));
        at += n_words;
    }
    found
}

/// Gives barriers over storage memory workgroup scope instead of device scope. Scopes are ids of constants.
pub(super) fn set_workgroup_scope(words: &mut Vec<u32>) {
    let all = instructions(words);
    let opcode = |at: usize, words: &[u32]| words[at] & 0xffff;
    let constants: HashMap<u32, (usize, u32)> = all
        .iter()
        .filter(|&&(at, n)| n == 4 && opcode(at, words) == OP_CONSTANT)
        .map(|&(at, _)| (words[at + 2], (at, words[at + 3])))
        .collect();
    let value = |id: u32| constants.get(&id).map(|&(_, value)| value);
    let barriers: Vec<usize> = all
        .iter()
        .filter_map(|&(at, _)| match opcode(at, words) {
            OP_CONTROL_BARRIER => Some(at + 2),
            OP_MEMORY_BARRIER => Some(at + 1),
            _ => None,
        })
        .filter(|&scope| {
            value(words[scope]) == Some(SCOPE_DEVICE)
                && value(words[scope + 1]).is_some_and(|semantics| semantics & UNIFORM_MEMORY != 0)
        })
        .collect();
    let Some(&first) = barriers.first() else {
        return;
    };
    let Some(&(device_at, _)) = constants.get(&words[first]) else {
        return;
    };
    let workgroup = words[BOUND];
    for scope in barriers {
        words[scope] = workgroup;
    }
    words[BOUND] += 1;
    let constant = [
        words[device_at],
        words[device_at + 1],
        workgroup,
        SCOPE_WORKGROUP,
    ];
    words.splice(device_at..device_at, constant);
}

/// Removes the decorations that declare buffers read-only.
pub(super) fn leave_out_non_writable(words: &mut Vec<u32>) {
    for (at, n) in instructions(words).into_iter().rev() {
        let decoration = match words[at] & 0xffff {
            OP_DECORATE if n == 3 => words[at + 2],
            OP_MEMBER_DECORATE if n == 4 => words[at + 3],
            _ => continue,
        };
        if decoration == NON_WRITABLE {
            words.drain(at..at + n);
        }
    }
}

/// Returns a module whose cooperative matrices of halves are of bfloat16. Matrices are loaded and stored as they lie in memory, where the
/// elements stay halves: their bits are those of bfloat16.
pub(super) fn with_bfloat16(words: &[u32]) -> Vec<u32> {
    let all = instructions(words);
    let opcode = |at: usize| words[at] & 0xffff;
    let half = all
        .iter()
        .find(|&&(at, n)| n == 3 && opcode(at) == OP_TYPE_FLOAT && words[at + 2] == 16)
        .map(|&(at, _)| words[at + 1]);
    let is_of_halves =
        |at: usize| opcode(at) == OP_TYPE_COOPERATIVE_MATRIX && Some(words[at + 2]) == half;
    let bfloat16 = words[BOUND];
    let mut made = words[..HEADER_WORDS].to_vec();
    made[BOUND] += 1;
    for capability in [CAPABILITY_BFLOAT16, CAPABILITY_BFLOAT16_MATRICES] {
        made.extend([2 << 16 | OP_CAPABILITY, capability]);
    }
    let mut is_declared = false;
    let mut is_extended = false;
    for (at, n) in all {
        // Extensions follow all capabilities, and types precede their first use.
        if !is_extended && opcode(at) != OP_CAPABILITY {
            made.extend(extension("SPV_KHR_bfloat16"));
            is_extended = true;
        }
        if !is_declared && is_of_halves(at) {
            made.extend([4 << 16 | OP_TYPE_FLOAT, bfloat16, 16, ENCODING_BFLOAT16]);
            is_declared = true;
        }
        let start = made.len();
        made.extend(&words[at..at + n]);
        if is_of_halves(at) {
            made[start + 2] = bfloat16;
        }
    }
    made
}

/// Returns the instruction that declares an extension: its name in UTF-8, which ends in zeros.
pub(super) fn extension(name: &str) -> Vec<u32> {
    let n_words = name.len() / 4 + 1;
    let mut bytes = name.as_bytes().to_vec();
    bytes.resize(4 * n_words, 0);
    let words = bytes.chunks_exact(4).map(|four| {
        four.iter()
            .rev()
            .fold(0, |word, &byte| word << 8 | u32::from(byte))
    });
    let first = (n_words as u32 + 1) << 16 | OP_EXTENSION;
    std::iter::once(first).chain(words).collect()
}

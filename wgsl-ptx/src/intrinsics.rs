//! Functions that the compiler lowers to one instruction instead of inlining their bodies.
//!
//! WGSL has no imports, and portable WGSL no built-in for these instructions. A source that contains the text of one of these
//! constants at module scope is valid for every compiler of WGSL, and becomes the instruction here. A function is an
//! intrinsic if both its name and its text, apart from layout and comments, are those of a constant; a function with the
//! same name and another body is compiled like any other.
//!
//! The texts stand here and not in files of a program that uses them, so that this crate builds from its package alone and
//! recognises the same functions for everyone. A program that keeps copies of them in its own shaders should have a test
//! that compares the two.
//!
//! ```
//! use wgsl_ptx::{PtxOptions, compile_wgsl, intrinsics};
//!
//! let wgsl = [intrinsics::FUNNEL, "
//!     @group(0) @binding(0) var<storage, read_write> words: array<u32, 3>;
//!     @compute @workgroup_size(1) fn main() { words[0] = funnel(words[0], words[1], words[2]); }",
//! ].concat();
//! let ptx = compile_wgsl(&wgsl, &PtxOptions::new("main"))?.text;
//! assert!(ptx.contains("shf.r.wrap.b32"));
//! # Ok::<(), wgsl_ptx::Error>(())
//! ```

mod warpgroup;

pub use warpgroup::{
    AWAIT_PRODUCTS, BEGIN_TURN, END_TURN, GROUP_LEFT, MULTIPLY_LEFT, MULTIPLY_SINGLES,
    MULTIPLY_STAGED, STAGED_HALF, STAGED_SINGLE,
};

/// Returns the low word of the 64-bit pair (a, b), `a` being the low half, shifted right by `s` bits, from 0 to 31. Becomes
/// one `shf.r.wrap`.
pub const FUNNEL: &str = "fn funnel(a: u32, b: u32, s: u32) -> u32 {
    return (a >> s) | ((b << 1) << (31 - s));
}";

/// Returns the largest code, from 0 to 255, that an invocation of the workgroup passes, and synchronises the workgroup. In a
/// workgroup of one warp it becomes one `redux.sync`, from `sm_80` on.
///
/// The source declares `sh_words`, an array of `atomic<u32>` in workgroup memory, and the constant `AGREED`, the index of a
/// word in it that is at most `*round << 8` before a call. `round` points to the number of calls so far, so that the word
/// needs no clearing between them.
pub const AGREE: &str = "fn agree(round: ptr<function, u32>, code: u32) -> u32 {
    *round += 1u;
    if code != 0 {
        atomicMax(&sh_words[AGREED], (*round << 8) | code);
    }
    let all = workgroupUniformLoad(&sh_words[AGREED]);
    return select(0u, all & 255, (all >> 8) == *round);
}";

/// Returns the bitwise OR of the bits that the invocations of the workgroup pass, and synchronises the workgroup. In a
/// workgroup of one warp it becomes one `redux.sync`, from `sm_80` on, without the words in workgroup memory.
///
/// The source declares `var<workgroup> sh_merged: array<atomic<u32>, 2>`, which no other function may name. `round` points to
/// the parity of the number of calls so far, which is 0 before the first one; only calls of `merge` may use it.
pub const MERGE: &str = "fn merge(round: ptr<function, u32>, bits: u32) -> u32 {
    let now = *round;
    *round = now ^ 1u;
    if bits != 0 {
        atomicOr(&sh_merged[now], bits);
    }
    atomicStore(&sh_merged[now ^ 1u], 0u);
    return workgroupUniformLoad(&sh_merged[now]);
}";

/// Returns the invocations of a workgroup of 32 that pass a value with the same low 12 bits, one bit each, and synchronises the
/// workgroup. Becomes a `vote.sync.ballot` of each of the 12 bits, without the words in workgroup memory: `match.any.sync` takes a step for
/// each different value.
///
/// The source declares `var<workgroup> sh_values: array<u32, 32>`, which no other function may name, and passes the local invocation
/// index as `lane`.
pub const PEERS: &str = "fn peers(lane: u32, value: u32) -> u32 {
    sh_values[lane] = value & 0xfff;
    workgroupBarrier();
    var lanes = 0u;
    for (var i = 0u; i < 32; i++) {
        lanes |= select(0u, 1u << i, sh_values[i] == (value & 0xfff));
    }
    workgroupBarrier();
    return lanes;
}";

/// Returns the word at an address, a multiple of 4. With [`PtxOptions::raw_addresses`](crate::PtxOptions::raw_addresses) it becomes one
/// `ld.global.b32`, and else it reads `memory`, as the other three functions do.
///
/// The source declares `memory`, an array of `atomic<u32>` in a storage buffer. Addresses are vectors of a low and a high word.
pub const LOAD_WORD: &str = "fn load_word(address: vec2<u32>) -> u32 {
    return atomicLoad(&memory[address.x >> 2]);
}";

/// Returns the byte at an address. See [`LOAD_WORD`]; becomes one `ld.global.u8`.
pub const LOAD_BYTE: &str = "fn load_byte(address: vec2<u32>) -> u32 {
    return (atomicLoad(&memory[address.x >> 2]) >> (8 * (address.x & 3))) & 255;
}";

/// Stores a word at an address, a multiple of 4. See [`LOAD_WORD`]; becomes one `st.global.b32`.
pub const STORE_WORD: &str = "fn store_word(address: vec2<u32>, word: u32) {
    atomicStore(&memory[address.x >> 2], word);
}";

/// Stores the low byte of a word at an address. See [`LOAD_WORD`]; becomes one `st.global.u8`.
pub const STORE_BYTE: &str = "fn store_byte(address: vec2<u32>, byte: u32) {
    let shift = 8 * (address.x & 3);
    atomicAnd(&memory[address.x >> 2], ~(255u << shift));
    atomicOr(&memory[address.x >> 2], (byte & 255) << shift);
}";

/// Copies 16 bytes, element `place` of `left`, to elements `to` and `to + 1` of `sh_staged`, or clears these if `inside` is false.
/// Becomes one asynchronous copy (`cp.async`), from `sm_80` on, without bounds checks: element `to` must lie at a multiple of 16
/// bytes, and the copy is complete after [`AWAIT_STAGED`].
///
/// The source declares `Part`, an alias of a vector of 8 bytes such as `vec4<f16>`, `left` as an array of a struct with the members
/// `first` and `second` of type `Part` in a storage buffer, and `sh_staged` as an array of `Part` in workgroup memory.
pub const STAGE_LEFT: &str = "fn stage_left(to: u32, place: u32, inside: bool) {
    if inside {
        sh_staged[to] = left[place].first;
        sh_staged[to + 1] = left[place].second;
    } else {
        sh_staged[to] = Part();
        sh_staged[to + 1] = Part();
    }
}";

/// Copies 16 bytes of `right`. See [`STAGE_LEFT`].
pub const STAGE_RIGHT: &str = "fn stage_right(to: u32, place: u32, inside: bool) {
    if inside {
        sh_staged[to] = right[place].first;
        sh_staged[to + 1] = right[place].second;
    } else {
        sh_staged[to] = Part();
        sh_staged[to + 1] = Part();
    }
}";

/// Ends the invocation's group of asynchronous copies. Without them it does nothing. See [`STAGE_LEFT`].
pub const END_STAGE: &str = "fn end_stage() {
}";

/// Waits until at most `n_pending` groups of each invocation's asynchronous copies, those ended last, are incomplete, and
/// synchronises the workgroup. `n_pending` is a constant. See [`STAGE_LEFT`].
pub const AWAIT_STAGED: &str = "fn await_staged(n_pending: u32) {
    workgroupBarrier();
}";

/// Returns 2 to the power of `x`, 0 where that is no normal number. Becomes one `ex2.approx.ftz`, without the instructions that
/// results below the normal numbers take.
pub const NORMAL_EXP2: &str = "fn normal_exp2(x: f32) -> f32 {
    return select(exp2(x), 0.0, x < -126.0);
}";

/// Returns the number whose f16 the low 16 bits of `bits` are. Becomes one `cvt.f32.f16`.
pub const HALF: &str = "fn half(bits: u32) -> f32 {
    let scaled = bitcast<f32>(((bits & 0x7fff) << 13) + 0x70000000);
    let magnitude = select(scaled * 0x1p-112, (scaled - 0x1p97) * 0x1p-111, (bits & 0x7c00) == 0);
    return bitcast<f32>(bitcast<u32>(magnitude) | ((bits & 0x8000) << 16));
}";

/// Returns a word with two numbers rounded to f16, to nearest, ties to even, the first in its low half. A NaN becomes the quiet NaN of its
/// sign. Becomes one `cvt.rn.f16x2.f32` and the instructions that give a NaN its sign, from `sm_80` on.
pub const TWO_HALVES: &str = "fn two_halves(x: vec2<f32>) -> u32 {
    let bits = bitcast<vec2<u32>>(x);
    let magnitude = bits & vec2(0x7fffffffu);
    let rest = magnitude - 0x38000000u;
    let normal = min((rest + 0xfffu + ((rest >> vec2(13u)) & vec2(1u))) >> vec2(13u), vec2(0x7c00u));
    let subnormal = bitcast<vec2<u32>>(bitcast<vec2<f32>>(magnitude) + 0.5) - 0x3f000000u;
    let number = select(normal, subnormal, magnitude < vec2(0x38800000u));
    let signs = (bits >> vec2(16u)) & vec2(0x8000u);
    let halves = signs | select(number, vec2(0x7e00u), magnitude > vec2(0x7f800000u));
    return halves.x | (halves.y << 16u);
}";

/// Returns an invocation's eight elements of a matrix of 16 by 16 sums: with `lane`, of 32, those of row `lane / 4` in `xy`, and of the
/// row 8 further down in `zw`, from column `2 * (lane % 4)` on in `first` and 8 columns further right in `second`. Becomes no
/// instruction: these are the registers that hold the matrix.
///
/// The source declares `struct Elements { first: vec4<f32>, second: vec4<f32> }`, `alias Sum = coop_mat16x16<f32, C>`, and
/// `sh_elements` as an array of `f32` in workgroup memory, which no other function may name, with 256 elements for each subgroup from
/// element `own` on.
pub const ELEMENTS_OF: &str = "fn elements_of(sum: Sum, own: u32, lane: u32) -> Elements {
    let at = own + 16 * (lane / 4) + 2 * (lane % 4);
    coopStoreT(sum, &sh_elements[own], 16);
    workgroupBarrier();
    let first = vec4(sh_elements[at], sh_elements[at + 1], sh_elements[at + 128], sh_elements[at + 129]);
    let second = vec4(sh_elements[at + 8], sh_elements[at + 9], sh_elements[at + 136], sh_elements[at + 137]);
    workgroupBarrier();
    return Elements(first, second);
}";

/// Returns the matrix of sums that has these elements. See [`ELEMENTS_OF`]; here the array is `sh_sums`.
pub const MATRIX_OF: &str = "fn matrix_of(elements: Elements, own: u32, lane: u32) -> Sum {
    let at = own + 16 * (lane / 4) + 2 * (lane % 4);
    sh_sums[at] = elements.first.x;
    sh_sums[at + 1] = elements.first.y;
    sh_sums[at + 128] = elements.first.z;
    sh_sums[at + 129] = elements.first.w;
    sh_sums[at + 8] = elements.second.x;
    sh_sums[at + 9] = elements.second.y;
    sh_sums[at + 136] = elements.second.z;
    sh_sums[at + 137] = elements.second.w;
    workgroupBarrier();
    let sum = coopLoadT<Sum>(&sh_sums[own], 16);
    workgroupBarrier();
    return sum;
}";

/// Returns the left factor that has these elements, rounded to halves, or to bfloat16 with
/// [`PtxOptions::halves_as_bfloat16`](crate::PtxOptions::halves_as_bfloat16). Becomes four conversions. See [`ELEMENTS_OF`].
///
/// The source declares `alias Left = coop_mat16x16<f16, A>`, and `sh_left`, an array like `sh_elements`, but of `f16`.
pub const LEFT_OF: &str = "fn left_of(elements: Elements, own: u32, lane: u32) -> Left {
    let at = own + 16 * (lane / 4) + 2 * (lane % 4);
    sh_left[at] = f16(elements.first.x);
    sh_left[at + 1] = f16(elements.first.y);
    sh_left[at + 128] = f16(elements.first.z);
    sh_left[at + 129] = f16(elements.first.w);
    sh_left[at + 8] = f16(elements.second.x);
    sh_left[at + 9] = f16(elements.second.y);
    sh_left[at + 136] = f16(elements.second.z);
    sh_left[at + 137] = f16(elements.second.w);
    workgroupBarrier();
    let left = coopLoadT<Left>(&sh_left[own], 16);
    workgroupBarrier();
    return left;
}";

/// A function with a lowering of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Intrinsic {
    /// [`FUNNEL`]
    Funnel,
    /// [`AGREE`]
    Agree,
    /// [`MERGE`]
    Merge,
    /// [`PEERS`]
    Peers,
    /// [`LOAD_WORD`]
    LoadWord,
    /// [`LOAD_BYTE`]
    LoadByte,
    /// [`STORE_WORD`]
    StoreWord,
    /// [`STORE_BYTE`]
    StoreByte,
    /// [`STAGE_LEFT`]
    StageLeft,
    /// [`STAGE_RIGHT`]
    StageRight,
    /// [`END_STAGE`]
    EndStage,
    /// [`AWAIT_STAGED`]
    AwaitStaged,
    /// [`NORMAL_EXP2`]
    NormalExp2,
    /// [`HALF`]
    Half,
    /// [`TWO_HALVES`]
    TwoHalves,
    /// [`ELEMENTS_OF`]
    ElementsOf,
    /// [`MATRIX_OF`]
    MatrixOf,
    /// [`LEFT_OF`]
    LeftOf,
    /// [`MULTIPLY_STAGED`]
    MultiplyStaged,
    /// [`MULTIPLY_SINGLES`]
    MultiplySingles,
    /// [`GROUP_LEFT`]
    GroupLeft,
    /// [`MULTIPLY_LEFT`]
    MultiplyLeft,
    /// [`AWAIT_PRODUCTS`]
    AwaitProducts,
    /// [`BEGIN_TURN`]
    BeginTurn,
    /// [`END_TURN`]
    EndTurn,
}

impl Intrinsic {
    /// Returns true if the lowering does without the workgroup memory that the text names.
    pub(crate) const fn replaces_memory(self) -> bool {
        matches!(
            self,
            Self::Merge
                | Self::Peers
                | Self::ElementsOf
                | Self::MatrixOf
                | Self::LeftOf
                | Self::MultiplyLeft
        )
    }

    /// Returns true if the lowering multiplies factors in workgroup memory.
    pub(crate) const fn multiplies_in_groups(self) -> bool {
        matches!(
            self,
            Self::MultiplyStaged | Self::MultiplySingles | Self::MultiplyLeft
        )
    }

    /// Returns true if the lowering has no more than a few instructions.
    pub(crate) const fn is_free(self) -> bool {
        matches!(
            self,
            Self::NormalExp2
                | Self::Half
                | Self::TwoHalves
                | Self::ElementsOf
                | Self::MatrixOf
                | Self::LeftOf
                | Self::MultiplyStaged
                | Self::MultiplySingles
                | Self::GroupLeft
                | Self::MultiplyLeft
                | Self::AwaitProducts
                | Self::BeginTurn
                | Self::EndTurn
        )
    }
}

/// Intrinsics with the names and texts of their functions.
const ALL: [(Intrinsic, &str, &str); 25] = [
    (Intrinsic::Funnel, "funnel", FUNNEL),
    (Intrinsic::Agree, "agree", AGREE),
    (Intrinsic::Merge, "merge", MERGE),
    (Intrinsic::Peers, "peers", PEERS),
    (Intrinsic::LoadWord, "load_word", LOAD_WORD),
    (Intrinsic::LoadByte, "load_byte", LOAD_BYTE),
    (Intrinsic::StoreWord, "store_word", STORE_WORD),
    (Intrinsic::StoreByte, "store_byte", STORE_BYTE),
    (Intrinsic::StageLeft, "stage_left", STAGE_LEFT),
    (Intrinsic::StageRight, "stage_right", STAGE_RIGHT),
    (Intrinsic::EndStage, "end_stage", END_STAGE),
    (Intrinsic::AwaitStaged, "await_staged", AWAIT_STAGED),
    (Intrinsic::NormalExp2, "normal_exp2", NORMAL_EXP2),
    (Intrinsic::Half, "half", HALF),
    (Intrinsic::TwoHalves, "two_halves", TWO_HALVES),
    (Intrinsic::ElementsOf, "elements_of", ELEMENTS_OF),
    (Intrinsic::MatrixOf, "matrix_of", MATRIX_OF),
    (Intrinsic::LeftOf, "left_of", LEFT_OF),
    (
        Intrinsic::MultiplyStaged,
        "multiply_staged",
        MULTIPLY_STAGED,
    ),
    (
        Intrinsic::MultiplySingles,
        "multiply_singles",
        MULTIPLY_SINGLES,
    ),
    (Intrinsic::GroupLeft, "group_left", GROUP_LEFT),
    (Intrinsic::MultiplyLeft, "multiply_left", MULTIPLY_LEFT),
    (Intrinsic::AwaitProducts, "await_products", AWAIT_PRODUCTS),
    (Intrinsic::BeginTurn, "begin_turn", BEGIN_TURN),
    (Intrinsic::EndTurn, "end_turn", END_TURN),
];

/// Returns the intrinsic that a function with this name and text is.
pub(crate) fn find(name: &str, text: &str) -> Option<Intrinsic> {
    let (intrinsic, _, known) = ALL.iter().find(|(_, known, _)| *known == name)?;
    (normalized(text) == normalized(known)).then_some(*intrinsic)
}

/// Returns a source without line comments and without whitespace except between words.
fn normalized(text: &str) -> String {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut normal = String::with_capacity(text.len());
    let mut gap = false;
    let lines = text
        .lines()
        .map(|line| line.split("//").next().unwrap_or_default());
    for c in lines.flat_map(|line| line.chars().chain(['\n'])) {
        if c.is_whitespace() {
            gap = true;
            continue;
        }
        if gap && is_word(c) && normal.ends_with(is_word) {
            normal.push(' ');
        }
        gap = false;
        normal.push(c);
    }
    normal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_intrinsic_is_found_by_its_name_and_text() {
        for (intrinsic, name, text) in ALL {
            assert!(text.starts_with(&format!("fn {name}(")) && text.ends_with("\n}"));
            assert_eq!(find(name, text), Some(intrinsic));
        }
    }

    #[test]
    fn name_and_body_count_and_layout_does_not() {
        let known = "fn funnel(a: u32, b: u32, s: u32) -> u32 {
            return (a >> s) | ((b << 1) << (31 - s));
        }";
        assert_eq!(find("funnel", known), Some(Intrinsic::Funnel));
        let laid_out = known
            .replace("return", "// shifts\n  return")
            .replace(" | ", "|");
        assert_eq!(find("funnel", &laid_out), Some(Intrinsic::Funnel));
        assert_eq!(find("funnel", &known.replace("31", "30")), None);
        let no_space = known.replace("return (", "return(");
        assert_eq!(find("funnel", &no_space), Some(Intrinsic::Funnel));
        assert_eq!(find("other", &known.replace("funnel", "other")), None);
        assert_eq!(find("merge", &known.replace("funnel", "merge")), None);
    }
}

//! Elements of cooperative matrices as values of an invocation: functions whose WGSL goes through workgroup memory become accesses to the
//! components that SPIR-V gives an invocation. See `docs/decisions/058`.

use std::collections::HashMap;

use wgsl_ptx::intrinsics::{ELEMENTS_OF, LEFT_OF, MATRIX_OF};

use super::edits::{
    BOUND, HEADER_WORDS, OP_CONSTANT, OP_TYPE_COOPERATIVE_MATRIX, OP_TYPE_FLOAT, instructions,
};

/// A function that returns the bits of two halves. naga has no `bitcast` of them to a word, and conversions alter NaN, whose bits are those
/// of numbers of type bfloat16, too.
const BITS_OF_PAIR: &str = "fn bits_of_pair(values: vec2<f16>) -> u32 {
    return pack2x16float(vec2<f32>(values));
}";

const OP_UNDEF: u32 = 1;
const OP_NAME: u32 = 5;
const OP_MEMBER_NAME: u32 = 6;
const OP_TYPE_STRUCT: u32 = 30;
const OP_FUNCTION: u32 = 54;
const OP_FUNCTION_PARAMETER: u32 = 55;
const OP_FUNCTION_END: u32 = 56;
const OP_COMPOSITE_CONSTRUCT: u32 = 80;
const OP_COMPOSITE_EXTRACT: u32 = 81;
const OP_COMPOSITE_INSERT: u32 = 82;
const OP_FLOAT_CONVERT: u32 = 115;
const OP_BITCAST: u32 = 124;
const OP_LABEL: u32 = 248;
const OP_RETURN_VALUE: u32 = 254;

/// Components of a matrix of 16x16 that each of 32 invocations has.
const COMPONENTS: u32 = 8;

/// A function whose body is replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Replaced {
    ElementsOf,
    MatrixOf,
    LeftOf,
    BitsOfPair,
}

/// Replaces [`LEFT_OF`] for halves, which their conversion rounds.
const LEFT_OF_HALVES: &str = "fn left_of(elements: Elements, own: u32, lane: u32) -> Left {
    return left_of_nearest(elements);
}
fn left_of_nearest(elements: Elements) -> Left {
    var made: Left;
    return made;
}";

/// The same for bfloat16, to which NVIDIA's driver truncates. Numbers that are not NaN are rounded to the nearest with as many bits, of two
/// to the even one.
const LEFT_OF_BFLOAT16: &str = "fn left_of(elements: Elements, own: u32, lane: u32) -> Left {
    return left_of_nearest(Elements(nearest_bfloat16(elements.first), nearest_bfloat16(elements.second)));
}
fn left_of_nearest(elements: Elements) -> Left {
    var made: Left;
    return made;
}
fn nearest_bfloat16(x: vec4<f32>) -> vec4<f32> {
    let bits = bitcast<vec4<u32>>(x);
    let nearest = bits + 0x7fff + ((bits >> vec4(16)) & vec4(1));
    return bitcast<vec4<f32>>(select(nearest, bits, (bits & vec4(0x7fffffff)) > vec4(0x7f800000)));
}";

/// The functions, their names once they use no workgroup memory, and their texts.
const ALL: [(Replaced, &str, &str); 4] = [
    (Replaced::ElementsOf, "elements_of", ELEMENTS_OF),
    (Replaced::MatrixOf, "matrix_of", MATRIX_OF),
    (Replaced::LeftOf, "left_of_nearest", LEFT_OF),
    (Replaced::BitsOfPair, "bits_of_pair", BITS_OF_PAIR),
];

/// Returns the member of `Elements`, and the element of its vector, that component `n` of a matrix is.
const fn place_of(n: u32) -> (u32, u32) {
    (n / 2 % 2, n % 2 + 2 * (n / 4))
}

/// Returns true if a text has functions whose bodies [`with_components`] replaces.
pub(super) fn has_elements(wgsl: &str) -> bool {
    [ELEMENTS_OF, MATRIX_OF, LEFT_OF]
        .iter()
        .any(|text| wgsl.contains(text))
}

/// Returns the text with functions that use no workgroup memory, to be replaced later. They have as many lines, so that the places in
/// messages hold.
pub(super) fn without_workgroup_memory(wgsl: &str, is_of_bfloat16: bool) -> String {
    let left_of = match is_of_bfloat16 {
        true => LEFT_OF_BFLOAT16,
        false => LEFT_OF_HALVES,
    };
    let short = [
        (ELEMENTS_OF, empty(ELEMENTS_OF, "Elements")),
        (MATRIX_OF, empty(MATRIX_OF, "Sum")),
        (LEFT_OF, left_of.to_owned()),
    ];
    let mut out = wgsl.to_owned();
    for (text, short) in short {
        let n_lines = text.lines().count() - short.lines().count();
        out = out.replace(text, &(short + &"\n".repeat(n_lines)));
    }
    out
}

/// Returns a function like that of a text, which returns zeros.
fn empty(text: &str, result: &str) -> String {
    let first = text.lines().next().unwrap_or_default();
    format!("{first}\n    var made: {result};\n    return made;\n}}")
}

/// Types of a module, as far as the replaced functions have them.
#[derive(Debug, Default)]
struct Types {
    /// The type of single precision.
    float: Option<u32>,
    /// Constants of 32 bits.
    constants: HashMap<u32, u32>,
    /// Component types of cooperative matrices of 16x16.
    matrices: HashMap<u32, u32>,
    /// Types of the first members of structures.
    structures: HashMap<u32, u32>,
    /// Types of parameters.
    parameters: HashMap<u32, u32>,
}

/// Returns the name of an instruction that names something.
fn name_of(words: &[u32]) -> String {
    let bytes = words.iter().flat_map(|word| word.to_le_bytes());
    let bytes: Vec<u8> = bytes.take_while(|&byte| byte != 0).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Returns the module with the bodies of the functions replaced, and without names. `wgsl` is its text.
///
/// # Errors
/// The name of a function whose matrices are others.
pub(super) fn with_components(words: &[u32], wgsl: &str) -> Result<Vec<u32>, String> {
    let all = instructions(words);
    let opcode = |at: usize| words[at] & 0xffff;
    let mut types = Types::default();
    let mut functions = HashMap::new();
    for &(at, n) in &all {
        match opcode(at) {
            OP_NAME => {
                let name = name_of(&words[at + 2..at + n]);
                let known = ALL.iter().find(|one| one.1 == name && wgsl.contains(one.2));
                functions.extend(known.map(|one| (words[at + 1], *one)));
            }
            OP_CONSTANT if n == 4 => {
                types.constants.insert(words[at + 2], words[at + 3]);
            }
            OP_TYPE_FLOAT if n == 3 && words[at + 2] == 32 => types.float = Some(words[at + 1]),
            OP_TYPE_COOPERATIVE_MATRIX => {
                let sizes = [words[at + 4], words[at + 5]].map(|id| types.constants.get(&id));
                if sizes == [Some(&16); 2] {
                    types.matrices.insert(words[at + 1], words[at + 2]);
                }
            }
            OP_TYPE_STRUCT if n > 2 => {
                types.structures.insert(words[at + 1], words[at + 2]);
            }
            OP_FUNCTION_PARAMETER => {
                types.parameters.insert(words[at + 2], words[at + 1]);
            }
            _ => {}
        }
    }
    let mut made = Module {
        words: words[..HEADER_WORDS].to_vec(),
        types,
    };
    let mut own = None;
    let mut parameter = None;
    let mut is_written = false;
    for (at, n) in all {
        let instruction = &words[at..at + n];
        match (opcode(at), own) {
            (OP_NAME | OP_MEMBER_NAME, _) => continue,
            (OP_FUNCTION, _) => {
                own = functions
                    .get(&instruction[2])
                    .map(|one| (*one, instruction[1]));
                parameter = None;
                is_written = false;
            }
            (OP_FUNCTION_PARAMETER, Some(_)) => parameter = parameter.or(Some(instruction[2])),
            (OP_LABEL, Some(((function, name, _), result))) if !is_written => {
                is_written = true;
                made.words.extend(instruction);
                let body = parameter.and_then(|given| made.body(function, given, result));
                body.ok_or_else(|| {
                    format!("{name} needs matrices of 16x16: sums of f32, left factors of halves")
                })?;
                continue;
            }
            (OP_FUNCTION_END, _) => own = None,
            (_, Some(_)) => continue,
            _ => {}
        }
        made.words.extend(instruction);
    }
    Ok(made.words)
}

/// A module as it is written.
struct Module {
    words: Vec<u32>,
    types: Types,
}

impl Module {
    /// Writes an instruction that has a result of a type; returns the result.
    fn write(&mut self, opcode: u32, ty: u32, operands: &[u32]) -> u32 {
        let id = self.words[BOUND];
        self.words[BOUND] += 1;
        self.words
            .extend([(operands.len() as u32 + 3) << 16 | opcode, ty, id]);
        self.words.extend(operands);
        id
    }

    /// Writes the body of a function, from its first parameter to a result of a type.
    fn body(&mut self, function: Replaced, given: u32, ty: u32) -> Option<()> {
        let given_ty = *self.types.parameters.get(&given)?;
        let result = match function {
            Replaced::BitsOfPair => self.write(OP_BITCAST, ty, &[given]),
            Replaced::ElementsOf => {
                let float = self.component(given_ty, true)?;
                let vector = *self.types.structures.get(&ty)?;
                let mut members = [[0; 4]; 2];
                for n in 0..COMPONENTS {
                    let (member, element) = place_of(n);
                    members[member as usize][element as usize] =
                        self.write(OP_COMPOSITE_EXTRACT, float, &[given, n]);
                }
                let vectors = members.map(|four| self.write(OP_COMPOSITE_CONSTRUCT, vector, &four));
                self.write(OP_COMPOSITE_CONSTRUCT, ty, &vectors)
            }
            Replaced::MatrixOf | Replaced::LeftOf => {
                let component = self.component(ty, function == Replaced::MatrixOf)?;
                let float = self.types.float?;
                let mut matrix = self.write(OP_UNDEF, ty, &[]);
                for n in 0..COMPONENTS {
                    let (member, element) = place_of(n);
                    let mut value =
                        self.write(OP_COMPOSITE_EXTRACT, float, &[given, member, element]);
                    if function == Replaced::LeftOf {
                        value = self.write(OP_FLOAT_CONVERT, component, &[value]);
                    }
                    matrix = self.write(OP_COMPOSITE_INSERT, ty, &[value, matrix, n]);
                }
                matrix
            }
        };
        self.words.extend([2 << 16 | OP_RETURN_VALUE, result]);
        Some(())
    }

    /// Returns the type of a matrix's components, if it is single precision or, if not `is_single`, another.
    fn component(&self, matrix: u32, is_single: bool) -> Option<u32> {
        let component = *self.types.matrices.get(&matrix)?;
        let is_of_float = self.types.float == Some(component);
        (is_of_float == is_single).then_some(component)
    }
}

//! The compiler from WGSL to PTX.

use std::fmt::Write;

use pagepress::gpu::shaders;
use pagepress::ptx::{Bounds, Error, PtxOptions, compile_wgsl};

use super::random::Random;

/// Sources per execution: the input, mutations of a shader, and a program generated from the bytes.
pub const INPUTS: u64 = 4;

/// Kernels of the crate whose shaders are mutated.
const KERNELS: [&str; 18] = [
    "lz4_tokens",
    "lz4_copy",
    "lz4_emit",
    "lz4_parse",
    "lz4_sort",
    "lz4_longest",
    "lz4_cheapest",
    "lz4_place_tiles",
    "tensor_attention",
    "tensor_attention_many",
    "tensor_elementwise",
    "tensor_matmul",
    "tensor_matmul_quantized",
    "tensor_matvec_quantized",
    "tensor_norm",
    "tensor_reduce_rows",
    "tensor_rotary",
    "tensor_softmax",
];

/// Programs of the compiler's tests.
const PROGRAMS: [&str; 16] = [
    include_str!("../../../wgsl-ptx/tests/in/control.wgsl"),
    include_str!("../../../wgsl-ptx/tests/in/atomics_workgroup.wgsl"),
    include_str!("../../../wgsl-ptx/tests/in/conversions.wgsl"),
    include_str!("../../../wgsl-ptx/tests/in/division.wgsl"),
    include_str!("../../../wgsl-ptx/tests/in/functions.wgsl"),
    include_str!("../../../wgsl-ptx/tests/in/functions_64.wgsl"),
    include_str!("../../../wgsl-ptx/tests/in/half.wgsl"),
    include_str!("../../../wgsl-ptx/tests/in/large_values.wgsl"),
    include_str!("../../../wgsl-ptx/tests/in/matrices.wgsl"),
    include_str!("../../../wgsl-ptx/tests/in/overrides.wgsl"),
    include_str!("../../../wgsl-ptx/tests/in/packing.wgsl"),
    include_str!("../../../wgsl-ptx/tests/in/pointers.wgsl"),
    include_str!("../../../wgsl-ptx/tests/in/subgroups.wgsl"),
    include_str!("../../../wgsl-ptx/tests/in/uniforms.wgsl"),
    include_str!("../../../wgsl-ptx/tests/in/unrolling.wgsl"),
    include_str!("../../../wgsl-ptx/tests/in/variables.wgsl"),
];

/// Compiles sources of three kinds: the result is PTX or a typed error, within the time limit.
pub fn wgsl_ptx(data: &[u8]) -> u64 {
    let mut random = Random::of(data);
    let text = String::from_utf8_lossy(data);
    compile(&text, &mut random);
    compile(&program(data), &mut random);
    for _ in 2..INPUTS {
        compile(&mutated(data, &mut random), &mut random);
    }
    INPUTS
}

fn compile(wgsl: &str, random: &mut Random) {
    // The name of an entry point, if the source has one.
    let entry = wgsl
        .split("@compute")
        .nth(1 + random.below(2))
        .and_then(|rest| rest.split("fn ").nth(1))
        .and_then(|rest| rest.split('(').next())
        .unwrap_or("main");
    let options = PtxOptions {
        sm: [75, 80, 90, 100][random.below(4)],
        bounds: [Bounds::Clamp, Bounds::Unchecked][random.below(2)],
        clear_workgroup: random.below(2) == 0,
        ..PtxOptions::new(entry)
    };
    match compile_wgsl(wgsl, &options) {
        Ok(compiled) => assert!(compiled.text.contains(".visible .entry ")),
        Err(Error::KernelCompile { message, .. }) => {
            // A panic of the parser is caught by the compiler, but still counts as a bug.
            assert!(!message.contains("panicked"), "{message}\n{wgsl}");
            assert!(message.len() < 8192);
        }
        Err(other) => panic!("{other}"),
    }
}

/// Returns the source of a kernel or a program.
fn source(random: &mut Random) -> &'static str {
    let index = random.below(KERNELS.len() + PROGRAMS.len());
    match index.checked_sub(KERNELS.len()) {
        Some(program) => PROGRAMS[program],
        None => shaders::named(KERNELS[index]).unwrap().wgsl,
    }
}

/// Returns a shader with some tokens replaced, as the bytes select.
fn mutated(data: &[u8], random: &mut Random) -> String {
    let mut tokens = split(source(random));
    let words = split(source(random));
    const TELLING: [&str; 24] = [
        "4294967295u",
        "-2147483648",
        "0",
        "1",
        "0u",
        "1e38",
        "0x1p-149",
        "array<u32, 4294967295>",
        "vec4<f32>",
        "mat4x4<f32>",
        "(",
        ")",
        "{",
        "}",
        "<",
        ">",
        ";",
        "&",
        "*",
        "atomic<u32>",
        "bool",
        "f16",
        "u64",
        "override",
    ];
    let n = 1 + data.first().map_or(0, |&byte| usize::from(byte) % 4);
    for i in 0..n {
        // The bytes select, so that a fuzzer can steer.
        let byte = |j: usize| data.get(1 + 4 * i + j).map_or(0, |&byte| usize::from(byte));
        let at = (byte(0) << 8 | byte(1)).wrapping_add(random.below(7)) % tokens.len();
        let other = (byte(3) << 8 | byte(2))
            .wrapping_mul(31)
            .wrapping_add(random.below(97));
        match byte(2) % 8 {
            0 => {
                tokens.remove(at);
            }
            1 => tokens.insert(at, tokens[at]),
            2 => tokens.insert(at, words[other % words.len()]),
            3 => {
                let other = other % tokens.len();
                tokens.swap(at, other);
            }
            4 | 5 => tokens[at] = TELLING[other % TELLING.len()],
            6 => tokens[at] = words[other % words.len()],
            _ => {
                let end = (at + 1 + other % 40).min(tokens.len());
                let piece = tokens[at..end].to_vec();
                let to = other % tokens.len();
                tokens.splice(to..to, piece);
            }
        }
        if tokens.is_empty() {
            break;
        }
    }
    tokens.concat()
}

/// Splits a source into words, numbers, blanks and single punctuation characters.
fn split(source: &str) -> Vec<&str> {
    let kind = |c: char| {
        if c.is_alphanumeric() || c == '_' || c == '.' {
            0
        } else if c.is_whitespace() {
            1
        } else {
            2
        }
    };
    let mut tokens = Vec::new();
    let mut rest = source;
    while let Some(first) = rest.chars().next() {
        let same = |c: char| kind(c) == kind(first) && kind(first) != 2;
        let n = rest
            .find(|c| !same(c))
            .unwrap_or(rest.len())
            .max(first.len_utf8());
        let (token, after) = rest.split_at(n);
        tokens.push(token);
        rest = after;
    }
    tokens
}

/// Generates a mostly valid program: statements over a few variables, each from some bytes.
fn program(data: &[u8]) -> String {
    let mut made = Program {
        rest: data,
        text: String::new(),
        depth: 0,
    };
    made.text += "@group(0) @binding(0) var<storage, read_write> o: array<u32>;
@group(0) @binding(1) var<storage, read> i: array<vec4<f32>>;
var<workgroup> w: array<atomic<u32>, 64>; var<private> p: array<i32, 9>;
struct S { a: u32, b: vec3<f32>, c: array<i32, 5> }
fn g(x: u32, y: ptr<function, u32>) -> u32 { *y += x; return *y * 3u; }
@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) l: u32) {
    var u = l; var n = i32(l) - 7; var f = f32(l) * 0.5; var v = i[l]; var s: S; var m = mat2x2<f32>(1, 2, 3, 4); var b = l > 3u;\n";
    for _ in 0..40 {
        if made.rest.is_empty() {
            break;
        }
        made.statement();
    }
    made.text +=
        "o[l] = u + u32(n) + bitcast<u32>(f + v.x + s.b.y + m[1][0]) + select(0u, 1u, b); }\n";
    made.text
}

struct Program<'a> {
    rest: &'a [u8],
    text: String,
    depth: usize,
}

impl Program<'_> {
    fn byte(&mut self) -> usize {
        let Some((&first, rest)) = self.rest.split_first() else {
            return 0;
        };
        self.rest = rest;
        usize::from(first)
    }

    fn block(&mut self) {
        self.depth += 1;
        for _ in 0..1 + self.byte() % 3 {
            self.statement();
        }
        self.depth -= 1;
    }

    fn statement(&mut self) {
        let kind = self.byte() % if self.depth > 5 { 8 } else { 13 };
        let a = self.byte();
        match kind {
            0 | 1 => self.line("u", 0, a),
            2 => self.line("n", 1, a),
            3 => self.line("f", 2, a),
            4 => self.line(["v.x", "v[u & 3u]", "s.b.z", "m[0][1]"][a % 4], 2, a),
            5 => self.line(["s.a", "o[u]", "o[l + 1u]"][a % 3], 0, a),
            6 => self.line(["p[u % 9u]", "s.c[n]", "p[3]"][a % 3], 1, a),
            7 => {
                let functions = [
                    "atomicAdd",
                    "atomicMax",
                    "atomicXor",
                    "atomicExchange",
                    "atomicAnd",
                ];
                let _ = write!(self.text, "u += {}(&w[u % 64u], ", functions[a % 5]);
                self.expression(0, 0);
                self.text += ");\n";
            }
            8 => {
                self.text += "if ";
                self.expression(3, 0);
                self.text += " {";
                self.block();
                self.text += "} else {";
                self.block();
                self.text += "}\n";
            }
            9 => {
                let d = self.depth;
                let _ = write!(
                    self.text,
                    "for (var k{d} = {}u; k{d} < {}u; k{d} += {}u) {{ u += k{d};",
                    a % 3,
                    a % 19,
                    1 + a % 4
                );
                self.block();
                self.text += [
                    "}\n",
                    "if u > 9u { break; } }\n",
                    "if b { continue; } n += 1; }\n",
                ][a % 3];
            }
            10 => {
                let _ = write!(self.text, "switch u {{ case {}u, {}u {{", a % 5, 5 + a % 5);
                self.block();
                self.text += "} default {";
                self.block();
                self.text += "} }\n";
            }
            11 => {
                self.text += "loop { if u > 100u { break; } u += 1u;";
                self.block();
                self.text += "continuing { u += 3u; } }\n";
            }
            _ => {
                self.text += "u = g(";
                self.expression(0, 0);
                self.text += ", &u);\n";
            }
        }
    }

    fn line(&mut self, to: &str, kind: usize, a: usize) {
        let operators: &[&str] = match kind {
            0 | 1 => &["=", "+=", "*=", "/=", "%=", "^=", "-="],
            _ => &["=", "+=", "*=", "/=", "-="],
        };
        let _ = write!(self.text, "{to} {} ", operators[a / 4 % operators.len()]);
        self.expression(kind, 0);
        self.text += ";\n";
    }

    /// Generates an expression of a kind: 0 `u32`, 1 `i32`, 2 `f32`, 3 `bool`.
    fn expression(&mut self, kind: usize, depth: usize) {
        let a = self.byte();
        let n = self.byte();
        let leaf = depth > 4 || a.is_multiple_of(3);
        let leaves: [&[&str]; 4] = [
            &[
                "u",
                "l",
                "7u",
                "4294967295u",
                "o[u]",
                "s.a",
                "arrayLength(&o)",
                "0u",
                "o[0]",
                "31u",
            ],
            &[
                "n",
                "-1",
                "2147483647",
                "p[n]",
                "s.c[2]",
                "0",
                "(-2147483647 - 1)",
                "p[8]",
            ],
            &[
                "f", "v.y", "0.0", "1e30", "m[1][1]", "s.b.x", "i[0].w", "-0.5",
            ],
            &["b", "true", "(u < 5u)", "(n >= 0)", "(f != f)", "false"],
        ];
        if leaf {
            self.text += leaves[kind][n % leaves[kind].len()];
            return;
        }
        let numbers = ["+", "-", "*", "/", "%"];
        let bits = ["&", "|", "^"];
        self.text.push('(');
        match (kind, n % 4) {
            (0 | 1, 0) => {
                self.expression(kind, depth + 1);
                let _ = write!(self.text, " {} ", bits[a % 3]);
                self.expression(kind, depth + 1);
            }
            (0 | 1, 1) => {
                self.expression(kind, depth + 1);
                self.text += ["<< (", ">> ("][a % 2];
                self.expression(0, depth + 1);
                self.text += " & 31u)";
            }
            (0, 2) => {
                self.text += [
                    "u32",
                    "countOneBits",
                    "firstLeadingBit",
                    "reverseBits",
                    "abs",
                ][a % 5];
                self.text.push('(');
                self.expression(if a.is_multiple_of(5) { 1 + a % 2 } else { 0 }, depth + 1);
                self.text.push(')');
            }
            (1, 2) => {
                self.text += ["i32", "abs", "sign", "-"][a % 4];
                self.text.push('(');
                self.expression(if a.is_multiple_of(4) { 2 } else { 1 }, depth + 1);
                self.text.push(')');
            }
            (2, 0 | 2) => {
                self.text += ["sqrt", "floor", "abs", "exp2", "sin", "fract", "f32", "-"][a % 8];
                self.text.push('(');
                self.expression(if a % 8 == 6 { a % 2 } else { 2 }, depth + 1);
                self.text.push(')');
            }
            (3, _) => {
                let kind = n / 4 % 3;
                self.expression(kind, depth + 1);
                let _ = write!(self.text, " {} ", ["==", "<", ">=", "!="][a % 4]);
                self.expression(kind, depth + 1);
            }
            (_, 3) => {
                self.text += "select(";
                self.expression(kind, depth + 1);
                self.text.push(',');
                self.expression(kind, depth + 1);
                self.text.push(',');
                self.expression(3, depth + 1);
                self.text.push(')');
            }
            _ => {
                self.expression(kind, depth + 1);
                let _ = write!(self.text, " {} ", numbers[a % 5]);
                self.expression(kind, depth + 1);
            }
        }
        self.text.push(')');
    }
}

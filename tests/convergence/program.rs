//! Random programs: invocations that diverge in nested loops and conditions between barriers, as WGSL and as an interpreter.

use std::fmt::Write as _;

use crate::common::pages::Random;

/// Words of an invocation in the input and in the output.
pub const WORDS: usize = 4;
/// Words of workgroup memory that only one invocation uses.
const OWN: usize = 2;
const MAX_ROUNDS: u32 = 6;
/// Invocation whose word another one reads between two barriers, as a distance.
const DISTANCE: usize = 5;
const MULTIPLIER: u32 = 0x9e37_79b1;

type Block = Vec<Statement>;

enum Statement {
    /// `x[to] = (x[to] ^ (x[from] >> shift)) * MULTIPLIER + add`.
    Mix {
        to: usize,
        from: usize,
        shift: u32,
        add: u32,
    },
    /// Exchanges a value with a word of workgroup memory of the invocation's own.
    Swap {
        word: usize,
        slot: usize,
    },
    If {
        condition: Condition,
        accept: Block,
        reject: Block,
    },
    Loop {
        most: u32,
        body: Block,
    },
    Leave(Exit),
}

/// True if some bits of `x[word]` have a value.
struct Condition {
    word: usize,
    shift: u32,
    mask: u32,
    value: u32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Exit {
    Continue,
    Break,
    Return,
}

/// A kernel whose workgroups run `first`, then rounds with `again`, until no invocation asks for another one.
pub struct Program {
    pub width: usize,
    first: Block,
    again: Block,
}

/// State of one invocation.
#[derive(Clone)]
struct Invocation {
    x: [u32; WORDS],
    own: [u32; OWN],
}

impl Program {
    pub fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let width = [32, 32, 32, 64, 128, 20][random.below(6)];
        Self {
            width,
            first: block(&mut random, 0, false),
            again: block(&mut random, 0, false),
        }
    }

    pub fn wgsl(&self) -> String {
        let width = self.width;
        let mut text = format!(
            "@group(0) @binding(0) var<storage, read> input: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> output: array<vec4<u32>>;
var<workgroup> sh_own: array<u32, {}>;
var<workgroup> sh_x: array<u32, {width}>;
var<workgroup> sh_wish: atomic<u32>;
var<private> x: array<u32, {WORDS}>;
",
            OWN * width
        );
        for (name, block) in [("first", &self.first), ("again", &self.again)] {
            let _ = writeln!(text, "fn {name}(lane: u32) {{");
            write_block(&mut text, block, width, 1);
            text.push_str("}\n");
        }
        let _ = write!(
            text,
            "@compute @workgroup_size({width})
fn main(@builtin(local_invocation_index) lane: u32, @builtin(global_invocation_id) id: vec3<u32>) {{
    let given = input[id.x];
    x[0] = given.x; x[1] = given.y; x[2] = given.z; x[3] = given.w;
    first(lane);
    for (var round = 1u; round <= {MAX_ROUNDS}u; round++) {{
        sh_x[lane] = x[0];
        workgroupBarrier();
        let other = sh_x[(lane + {DISTANCE}u) % {width}u];
        workgroupBarrier();
        x[1] ^= other;
        var wish = 0u;
        if ((other >> 3) & 1u) != 0 {{
            again(lane);
            wish = x[2] & 7u;
        }}
        if wish != 0 {{
            atomicMax(&sh_wish, (round << 8) | wish);
        }}
        let all = workgroupUniformLoad(&sh_wish);
        workgroupBarrier();
        let left = select(0u, all & 255u, (all >> 8) == round);
        x[3] += left;
        if left == 0 {{
            break;
        }}
    }}
    output[id.x] = vec4(x[0], x[1], x[2], x[3]);
}}
"
        );
        text
    }

    /// Returns the output for an input of whole workgroups.
    pub fn expected(&self, input: &[u32]) -> Vec<u32> {
        let workgroups = input.chunks_exact(WORDS * self.width);
        workgroups.flat_map(|input| self.workgroup(input)).collect()
    }

    fn workgroup(&self, input: &[u32]) -> Vec<u32> {
        let (given, _) = input.as_chunks::<WORDS>();
        let mut all: Vec<Invocation> = given
            .iter()
            .map(|&x| Invocation { x, own: [0; OWN] })
            .collect();
        for one in &mut all {
            run(&self.first, one);
        }
        for _ in 0..MAX_ROUNDS {
            let first_words: Vec<u32> = all.iter().map(|one| one.x[0]).collect();
            let mut left = 0;
            for (lane, one) in all.iter_mut().enumerate() {
                let other = first_words[(lane + DISTANCE) % self.width];
                one.x[1] ^= other;
                if (other >> 3) & 1 != 0 {
                    run(&self.again, one);
                    left = left.max(one.x[2] & 7);
                }
            }
            for one in &mut all {
                one.x[3] = one.x[3].wrapping_add(left);
            }
            if left == 0 {
                break;
            }
        }
        all.iter().flat_map(|one| one.x).collect()
    }
}

/// Returns a random block at a depth of nested statements.
fn block(random: &mut Random, depth: u32, in_loop: bool) -> Block {
    let n = 2 + random.below(3);
    let mut statements: Block = (0..n).map(|_| statement(random, depth, in_loop)).collect();
    if depth > 0 && random.below(3) == 0 {
        statements.push(Statement::Leave(match (in_loop, random.below(4)) {
            (false, _) | (true, 0) => Exit::Return,
            (true, 1) => Exit::Break,
            (true, _) => Exit::Continue,
        }));
    }
    statements
}

fn statement(random: &mut Random, depth: u32, in_loop: bool) -> Statement {
    match random.below(if depth < 4 { 8 } else { 4 }) {
        0..3 => Statement::Mix {
            to: random.below(WORDS),
            from: random.below(WORDS),
            shift: random.below(32) as u32,
            add: random.below(1 << 16) as u32,
        },
        3 => Statement::Swap {
            word: random.below(WORDS),
            slot: random.below(OWN),
        },
        4..7 => {
            let mask = [1, 1, 3, 7][random.below(4)];
            Statement::If {
                condition: Condition {
                    word: random.below(WORDS),
                    shift: random.below(29) as u32,
                    mask,
                    value: random.below(mask as usize + 1) as u32,
                },
                accept: block(random, depth + 1, in_loop),
                reject: if random.below(3) == 0 {
                    block(random, depth + 1, in_loop)
                } else {
                    Vec::new()
                },
            }
        }
        _ => Statement::Loop {
            most: 1 + random.below(if in_loop { 4 } else { 24 }) as u32,
            body: block(random, depth + 1, true),
        },
    }
}

fn write_block(text: &mut String, block: &Block, width: usize, depth: usize) {
    let indent = "    ".repeat(depth);
    for statement in block {
        let _ = match statement {
            Statement::Mix {
                to,
                from,
                shift,
                add,
            } => writeln!(
                text,
                "{indent}x[{to}] = (x[{to}] ^ (x[{from}] >> {shift}u)) * {MULTIPLIER}u + {add}u;"
            ),
            Statement::Swap { word, slot } => {
                let own = format!("sh_own[{} + lane]", slot * width);
                writeln!(
                    text,
                    "{indent}{{ let kept = {own}; {own} = x[{word}]; x[{word}] += kept; }}"
                )
            }
            Statement::If {
                condition,
                accept,
                reject,
            } => {
                let Condition {
                    word,
                    shift,
                    mask,
                    value,
                } = condition;
                let _ = writeln!(
                    text,
                    "{indent}if ((x[{word}] >> {shift}u) & {mask}u) == {value}u {{"
                );
                write_block(text, accept, width, depth + 1);
                if !reject.is_empty() {
                    let _ = writeln!(text, "{indent}}} else {{");
                    write_block(text, reject, width, depth + 1);
                }
                writeln!(text, "{indent}}}")
            }
            Statement::Loop { most, body } => {
                let _ = writeln!(
                    text,
                    "{indent}for (var i{depth} = 0u; i{depth} < {most}u; i{depth}++) {{"
                );
                write_block(text, body, width, depth + 1);
                writeln!(text, "{indent}}}")
            }
            Statement::Leave(exit) => {
                let word = match exit {
                    Exit::Continue => "continue",
                    Exit::Break => "break",
                    Exit::Return => "return",
                };
                writeln!(text, "{indent}{word};")
            }
        };
    }
}

/// Runs a block; returns the way in which it was left early.
fn run(block: &Block, one: &mut Invocation) -> Option<Exit> {
    for statement in block {
        let left = match statement {
            Statement::Mix {
                to,
                from,
                shift,
                add,
            } => {
                let mixed = one.x[*to] ^ (one.x[*from] >> shift);
                one.x[*to] = mixed.wrapping_mul(MULTIPLIER).wrapping_add(*add);
                None
            }
            Statement::Swap { word, slot } => {
                let kept = std::mem::replace(&mut one.own[*slot], one.x[*word]);
                one.x[*word] = one.x[*word].wrapping_add(kept);
                None
            }
            Statement::If {
                condition,
                accept,
                reject,
            } => {
                let bits = (one.x[condition.word] >> condition.shift) & condition.mask;
                run(
                    if bits == condition.value {
                        accept
                    } else {
                        reject
                    },
                    one,
                )
            }
            Statement::Loop { most, body } => (0..*most)
                .map(|_| run(body, one))
                .find(|left| matches!(left, Some(Exit::Break | Exit::Return)))
                .flatten()
                .filter(|&left| left == Exit::Return),
            Statement::Leave(exit) => Some(*exit),
        };
        if left.is_some() {
            return left;
        }
    }
    None
}

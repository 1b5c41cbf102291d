//! The preprocessor's directives.

use std::rc::Rc;

use super::condition::evaluate;
use super::headers::Header;
use super::lexer::{Tok, Token, tokens};
use super::macros::{Macro, Macros};
use super::{MAX_SOURCE_BYTES, MAX_TOKENS};
use crate::error::{NO_PLACE, Outcome, fault};

/// Macros that nvcc and its headers define.
const PREDEFINED: [(&str, &str); 45] = [
    ("__CUDACC__", "1"),
    ("__CUDA_ARCH__", "800"),
    ("__NVCC__", "1"),
    ("__cplusplus", "201703"),
    ("INT_MAX", "2147483647"),
    ("INT_MIN", "(-2147483647-1)"),
    ("UINT_MAX", "4294967295u"),
    ("CHAR_BIT", "8"),
    ("SHRT_MAX", "32767"),
    ("SHRT_MIN", "(-32768)"),
    ("USHRT_MAX", "65535"),
    ("UCHAR_MAX", "255"),
    ("INT32_MAX", "2147483647"),
    ("INT32_MIN", "(-2147483647-1)"),
    ("UINT32_MAX", "4294967295u"),
    ("LONG_MAX", "9223372036854775807L"),
    ("LONG_MIN", "(-9223372036854775807L-1)"),
    ("ULONG_MAX", "18446744073709551615UL"),
    ("LLONG_MAX", "9223372036854775807LL"),
    ("LLONG_MIN", "(-9223372036854775807LL-1)"),
    ("ULLONG_MAX", "18446744073709551615ULL"),
    ("INT64_MAX", "9223372036854775807L"),
    ("INT64_MIN", "(-9223372036854775807L-1)"),
    ("UINT64_MAX", "18446744073709551615UL"),
    ("FLT_MAX", "3.402823466e+38f"),
    ("FLT_MIN", "1.175494351e-38f"),
    ("FLT_EPSILON", "1.192092896e-07f"),
    ("HUGE_VALF", "__cuda_c_infinity"),
    ("INFINITY", "__cuda_c_infinity"),
    ("CUDART_INF_F", "__cuda_c_infinity"),
    ("NAN", "__cuda_c_nan"),
    ("CUDART_NAN_F", "__cuda_c_nan"),
    ("CUDART_PI_F", "3.141592654f"),
    ("M_PI", "3.14159265358979323846"),
    ("M_PI_2", "1.57079632679489661923"),
    ("M_PI_4", "0.78539816339744830962"),
    ("M_1_PI", "0.31830988618379067154"),
    ("M_2_PI", "0.63661977236758134308"),
    ("M_E", "2.7182818284590452354"),
    ("M_LN2", "0.69314718055994530942"),
    ("M_LOG2E", "1.4426950408889634074"),
    ("M_2_SQRTPI", "1.12837916709551257390"),
    ("M_LN10", "2.30258509299404568402"),
    ("M_SQRT2", "1.41421356237309504880"),
    ("M_SQRT1_2", "0.70710678118654752440"),
];

/// Nested conditions that are allowed.
const MAX_CONDITIONS: usize = 64;

/// One `#if`.
struct Branch {
    at: u32,
    /// True while the text of the current branch is kept.
    active: bool,
    /// True if an earlier branch was kept.
    taken: bool,
    /// True if the text around it is kept.
    outer: bool,
}

struct Preprocessor<'a> {
    source: &'a str,
    macros: Macros,
    branches: Vec<Branch>,
    /// Headers whose declarations are in the output.
    included: Vec<Header>,
    text: Vec<Token>,
    out: Vec<Token>,
}

/// Returns the tokens of a source with directives followed and macros expanded, and an end token last.
pub(crate) fn preprocess(source: &str, defines: &[(&str, &str)]) -> Outcome<Vec<Token>> {
    if source.len() > MAX_SOURCE_BYTES {
        return fault(
            NO_PLACE,
            format!(
                "the source has {} bytes, more than {MAX_SOURCE_BYTES}; split it",
                source.len()
            ),
        );
    }
    let mut macros = Macros::default();
    for (name, value) in PREDEFINED.iter().chain(defines) {
        macros
            .define_text(name, value)
            .map_err(|fault| fault.in_option(&format!("the macro {name}")))?;
    }
    let mut preprocessor = Preprocessor {
        source,
        macros,
        branches: Vec::new(),
        included: Vec::new(),
        text: Vec::new(),
        out: Vec::new(),
    };
    preprocessor.run(tokens(source)?)?;
    let mut out = preprocessor.out;
    out.push(Token {
        tok: Tok::End,
        at: source.len() as u32,
        starts_line: true,
        spaced: true,
    });
    Ok(out)
}

impl Preprocessor<'_> {
    fn run(&mut self, tokens: Vec<Token>) -> Outcome<()> {
        let mut next = 0;
        while next < tokens.len() {
            let end = tokens[next + 1..]
                .iter()
                .position(|token| token.starts_line)
                .map_or(tokens.len(), |length| next + 1 + length);
            let line = &tokens[next..end];
            next = end;
            if line[0].tok == Tok::Punct("#") {
                self.directive(line)?;
            } else if self.is_active() {
                self.text.extend_from_slice(line);
            }
        }
        if let Some(branch) = self.branches.last() {
            return fault(branch.at, "the condition has no #endif; add it");
        }
        self.flush()
    }

    fn is_active(&self) -> bool {
        self.branches.last().is_none_or(|branch| branch.active)
    }

    /// Expands the text since the last directive.
    fn flush(&mut self) -> Outcome<()> {
        let text = std::mem::take(&mut self.text);
        let expanded = self.macros.expand(text)?;
        self.out.extend(expanded);
        match self.out.get(MAX_TOKENS) {
            Some(token) => fault(
                token.at,
                format!("macros expand to more than {MAX_TOKENS} tokens; use functions"),
            ),
            None => Ok(()),
        }
    }

    fn directive(&mut self, line: &[Token]) -> Outcome<()> {
        let at = line[0].at;
        let Some(Tok::Name(name)) = line.get(1).map(|token| &token.tok) else {
            return Ok(());
        };
        let rest = &line[2..];
        match &**name {
            "if" | "ifdef" | "ifndef" => return self.open(name, rest, at),
            "elif" | "else" | "endif" => return self.branch(name, rest, at),
            _ => {}
        }
        if !self.is_active() {
            return Ok(());
        }
        match &**name {
            "define" => {
                self.flush()?;
                self.define(rest, at)
            }
            "undef" => {
                self.flush()?;
                if let Some(Tok::Name(name)) = rest.first().map(|token| &token.tok) {
                    self.macros.defined.remove(name);
                }
                Ok(())
            }
            "include" => self.include(at),
            "error" => fault(at, format!("#error: {}", self.line_text(at))),
            // Hints: unrolling is the compilers' decision here.
            "pragma" | "warning" | "line" => Ok(()),
            other => fault(at, format!("#{other} is not a directive of C; remove it")),
        }
    }

    fn line_text(&self, at: u32) -> &str {
        let rest = &self.source[at as usize..];
        rest.lines().next().unwrap_or("").trim()
    }

    fn include(&mut self, at: u32) -> Outcome<()> {
        let line = self.line_text(at);
        let name = line
            .split_once(['<', '"'])
            .and_then(|(_, rest)| rest.split_once(['>', '"']))
            .map_or("", |(name, _)| name);
        let Some(header) = Header::of(name) else {
            return fault(
                at,
                format!(
                    "#include of {name}: files are not read; paste what the kernel needs of it into the source"
                ),
            );
        };
        self.declare(header, at)
    }

    /// Adds the declarations of a header, once. Their place is that of the directive.
    fn declare(&mut self, header: Header, at: u32) -> Outcome<()> {
        if header == Header::BuiltIn || self.included.contains(&header) {
            return Ok(());
        }
        if header == Header::CooperativeReduce {
            self.declare(Header::CooperativeGroups, at)?;
        }
        self.included.push(header);
        self.flush()?;
        let declarations = tokens(header.source())?;
        self.out
            .extend(declarations.into_iter().map(|token| Token { at, ..token }));
        Ok(())
    }

    fn open(&mut self, name: &str, rest: &[Token], at: u32) -> Outcome<()> {
        if self.branches.len() >= MAX_CONDITIONS {
            return fault(
                at,
                format!("conditions nest more than {MAX_CONDITIONS} deep; flatten them"),
            );
        }
        let outer = self.is_active();
        let holds = match name {
            _ if !outer => false,
            "if" => self.holds(rest, at)?,
            _ => {
                let Some(Tok::Name(symbol)) = rest.first().map(|token| &token.tok) else {
                    return fault(at, format!("#{name} lacks a name"));
                };
                self.flush()?;
                self.macros.defined.contains_key(symbol) == (name == "ifdef")
            }
        };
        self.branches.push(Branch {
            at,
            active: holds,
            taken: holds,
            outer,
        });
        Ok(())
    }

    fn branch(&mut self, name: &str, rest: &[Token], at: u32) -> Outcome<()> {
        let Some(mut branch) = self.branches.pop() else {
            return fault(at, format!("#{name} has no #if before it; remove it"));
        };
        if name == "endif" {
            return Ok(());
        }
        let open = branch.outer && !branch.taken;
        branch.active = open && (name == "else" || self.holds(rest, at)?);
        branch.taken |= branch.active;
        self.branches.push(branch);
        Ok(())
    }

    fn holds(&mut self, rest: &[Token], at: u32) -> Outcome<bool> {
        self.flush()?;
        let mut text = Vec::new();
        let mut tokens = rest.iter().peekable();
        while let Some(token) = tokens.next() {
            if token.tok != Tok::Name(Rc::from("defined")) {
                text.push(token.clone());
                continue;
            }
            let parenthesis = tokens
                .next_if(|token| token.tok == Tok::Punct("("))
                .is_some();
            let Some(Tok::Name(symbol)) = tokens.next().map(|token| &token.tok) else {
                return fault(at, "defined lacks a name");
            };
            if parenthesis {
                tokens.next_if(|token| token.tok == Tok::Punct(")"));
            }
            let value = u64::from(self.macros.defined.contains_key(symbol));
            text.push(Token {
                tok: Tok::Int {
                    value,
                    unsigned: false,
                    long: false,
                    decimal: true,
                },
                ..token.clone()
            });
        }
        let text = self.macros.expand(text)?;
        evaluate(&text, at)
    }

    fn define(&mut self, rest: &[Token], at: u32) -> Outcome<()> {
        let Some(Tok::Name(name)) = rest.first().map(|token| token.tok.clone()) else {
            return fault(at, "#define lacks a name");
        };
        let mut body = &rest[1..];
        let mut variadic = false;
        let mut parameters = None;
        if body
            .first()
            .is_some_and(|token| token.tok == Tok::Punct("(") && !token.spaced)
        {
            let Some(end) = body.iter().position(|token| token.tok == Tok::Punct(")")) else {
                return fault(at, "the parameters of the macro have no end; add )");
            };
            let mut names = Vec::new();
            for token in &body[1..end] {
                match &token.tok {
                    Tok::Name(name) => names.push(name.clone()),
                    Tok::Punct("...") => variadic = true,
                    Tok::Punct(",") => {}
                    _ => return fault(at, "a parameter of the macro is not a name"),
                }
            }
            parameters = Some(names);
            body = &body[end + 1..];
        }
        let definition = Macro {
            parameters,
            variadic,
            body: body.to_vec(),
        };
        self.macros.defined.insert(name, definition);
        Ok(())
    }
}

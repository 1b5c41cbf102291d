//! The lexer. Characters that C does not have become tokens too: skipped host code may contain them.

use std::rc::Rc;

use super::MAX_TOKENS;
use crate::error::{Outcome, fault};

/// The kind of a token.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Tok {
    Name(Rc<str>),
    Int {
        value: u64,
        unsigned: bool,
        long: bool,
        /// Written in decimal: then the type is signed unless a suffix says otherwise.
        decimal: bool,
    },
    Float {
        value: f64,
    },
    Char(i32),
    Text(Rc<[u8]>),
    Punct(&'static str),
    Unknown(char),
    End,
}

/// A token with its place.
#[derive(Debug, Clone)]
pub(crate) struct Token {
    pub(crate) tok: Tok,
    pub(crate) at: u32,
    /// True for the first token of a line.
    pub(crate) starts_line: bool,
    /// True if white space precedes it.
    pub(crate) spaced: bool,
}

/// Longest first.
const PUNCTUATION: [&str; 50] = [
    "<<<", ">>>", "<<=", ">>=", "...", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&",
    "||", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "::", "##", "{", "}", "(", ")", "[", "]",
    ";", ",", "<", ">", "=", "+", "-", "*", "/", "%", "&", "|", "^", "!", "~", "?", ":", ".",
];

struct Lexer<'a> {
    text: &'a [u8],
    source: &'a str,
    at: usize,
    tokens: Vec<Token>,
    starts_line: bool,
    spaced: bool,
}

/// Splits a source into tokens.
pub(crate) fn tokens(source: &str) -> Outcome<Vec<Token>> {
    let mut lexer = Lexer {
        text: source.as_bytes(),
        source,
        at: 0,
        tokens: Vec::new(),
        starts_line: true,
        spaced: false,
    };
    while lexer.skip_space()? {
        lexer.token()?;
        if lexer.tokens.len() > MAX_TOKENS {
            return fault(
                lexer.at as u32,
                format!("the source has more than {MAX_TOKENS} tokens; split it"),
            );
        }
    }
    Ok(lexer.tokens)
}

impl Lexer<'_> {
    fn byte(&self, ahead: usize) -> u8 {
        self.text.get(self.at + ahead).copied().unwrap_or(0)
    }

    /// Skips white space, comments and spliced lines. Returns false at the end.
    fn skip_space(&mut self) -> Outcome<bool> {
        while self.at < self.text.len() {
            match (self.byte(0), self.byte(1)) {
                (b'\n', _) => {
                    self.starts_line = true;
                    self.at += 1;
                }
                (b' ' | b'\t' | b'\r' | 0x0b | 0x0c, _) => self.at += 1,
                (b'\\', b'\n') => self.at += 2,
                (b'\\', b'\r') if self.byte(2) == b'\n' => self.at += 3,
                (b'/', b'/') => {
                    while self.at < self.text.len() && self.byte(0) != b'\n' {
                        self.at += if self.byte(0) == b'\\' { 2 } else { 1 };
                    }
                    self.at = self.at.min(self.text.len());
                }
                (b'/', b'*') => {
                    let start = self.at;
                    match self.source.as_bytes()[start + 2..]
                        .windows(2)
                        .position(|pair| pair == b"*/")
                    {
                        Some(length) => self.at = start + 2 + length + 2,
                        None => return fault(start as u32, "the comment has no end; add */"),
                    }
                }
                _ => return Ok(true),
            }
            self.spaced = true;
        }
        Ok(false)
    }

    fn push(&mut self, tok: Tok, at: usize) {
        self.tokens.push(Token {
            tok,
            at: at as u32,
            starts_line: self.starts_line,
            spaced: self.spaced,
        });
        self.starts_line = false;
        self.spaced = false;
    }

    fn token(&mut self) -> Outcome<()> {
        let start = self.at;
        let first = self.byte(0);
        match first {
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => {
                while matches!(self.byte(0), b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'0'..=b'9') {
                    self.at += 1;
                }
                let name = Rc::from(&self.source[start..self.at]);
                self.push(Tok::Name(name), start);
            }
            b'0'..=b'9' => self.number()?,
            b'.' if self.byte(1).is_ascii_digit() => self.number()?,
            b'"' if self.ends_with_raw_prefix() => self.raw_string()?,
            b'"' | b'\'' => self.quoted(first)?,
            b'#' if self.byte(1) != b'#' => {
                self.at += 1;
                self.push(Tok::Punct("#"), start);
            }
            _ => {
                let rest = &self.text[start..];
                if let Some(punct) = PUNCTUATION
                    .iter()
                    .find(|punct| rest.starts_with(punct.as_bytes()))
                {
                    self.at += punct.len();
                    self.push(Tok::Punct(punct), start);
                } else {
                    let unknown = self.source[start..].chars().next().unwrap_or(' ');
                    self.at += unknown.len_utf8();
                    self.push(Tok::Unknown(unknown), start);
                }
            }
        }
        Ok(())
    }

    fn quoted(&mut self, quote: u8) -> Outcome<()> {
        let start = self.at;
        self.at += 1;
        while self.byte(0) != quote {
            if self.at >= self.text.len() || self.byte(0) == b'\n' {
                // An apostrophe in skipped text, such as a message after #error.
                let unknown = if quote == b'"' { '"' } else { '\'' };
                self.at = start + 1;
                self.push(Tok::Unknown(unknown), start);
                return Ok(());
            }
            self.at += if self.byte(0) == b'\\' { 2 } else { 1 };
        }
        let inside = &self.text[(start + 1).min(self.at)..self.at.min(self.text.len())];
        self.at = (self.at + 1).min(self.text.len());
        let tok = if quote == b'"' {
            Tok::Text(unescaped(inside))
        } else {
            match *inside {
                [byte] => Tok::Char(i32::from(byte as i8)),
                [b'\\', escaped] => Tok::Char(match escaped {
                    b'0' => 0,
                    other => i32::from(escape(other) as i8),
                }),
                _ => Tok::Text(unescaped(inside)),
            }
        };
        self.push(tok, start);
        Ok(())
    }

    /// Returns true if the token before, without space between, is the `R` of a raw string.
    fn ends_with_raw_prefix(&self) -> bool {
        let is_prefix = |token: &Token| {
            token.at as usize + 1 == self.at && token.tok == Tok::Name(Rc::from("R"))
        };
        self.tokens.last().is_some_and(is_prefix)
    }

    fn raw_string(&mut self) -> Outcome<()> {
        let start = self.at;
        let rest = &self.source[start + 1..];
        let open = rest.find('(').filter(|length| *length <= 16);
        let end = open.and_then(|open| {
            let close = format!("){}\"", &rest[..open]);
            let length = rest[open..].find(&close)?;
            Some((open + 1, open + length, open + length + close.len()))
        });
        let Some((first, last, length)) = end else {
            return fault(start as u32, "the raw string has no end; close it");
        };
        let text: Rc<[u8]> = Rc::from(&rest.as_bytes()[first..last]);
        self.at = start + 1 + length;
        if let Some(prefix) = self.tokens.last_mut() {
            prefix.tok = Tok::Text(text);
        }
        Ok(())
    }

    fn number(&mut self) -> Outcome<()> {
        let start = self.at;
        let hex = self.byte(0) == b'0' && matches!(self.byte(1), b'x' | b'X');
        let binary = self.byte(0) == b'0' && matches!(self.byte(1), b'b' | b'B');
        let mut float = false;
        while self.at < self.text.len() {
            match self.byte(0) {
                b'.' => float = true,
                b'e' | b'E' if !hex => {
                    float = true;
                    if matches!(self.byte(1), b'+' | b'-') {
                        self.at += 1;
                    }
                }
                b'p' | b'P' if hex => {
                    float = true;
                    if matches!(self.byte(1), b'+' | b'-') {
                        self.at += 1;
                    }
                }
                b'\'' if self.byte(1).is_ascii_alphanumeric() => {}
                other if other.is_ascii_alphanumeric() || other == b'_' => {}
                _ => break,
            }
            self.at += 1;
        }
        let text: String = self.source[start..self.at].replace('\'', "");
        let tok = if float {
            float_value(&text, hex)
        } else {
            integer_value(&text, hex, binary)
        };
        match tok {
            Some(tok) => {
                self.push(tok, start);
                Ok(())
            }
            None => fault(
                start as u32,
                format!("{text} is not a number of C; check its digits and suffix"),
            ),
        }
    }
}

fn escape(letter: u8) -> u8 {
    match letter {
        b'n' => b'\n',
        b't' => b'\t',
        b'r' => b'\r',
        b'0' => 0,
        other => other,
    }
}

/// Returns the bytes of a string, with escapes of one letter replaced.
fn unescaped(text: &[u8]) -> Rc<[u8]> {
    let mut bytes = Vec::new();
    let mut rest = text.iter();
    while let Some(byte) = rest.next() {
        match (byte, rest.as_slice().first()) {
            (b'\\', Some(letter)) => {
                bytes.push(escape(*letter));
                rest.next();
            }
            _ => bytes.push(*byte),
        }
    }
    Rc::from(bytes)
}

fn float_value(text: &str, hex: bool) -> Option<Tok> {
    let digits = text.trim_end_matches(['f', 'F', 'l', 'L']);
    if text.len() - digits.len() > 1 {
        return None;
    }
    let value = if hex {
        let (mantissa, exponent) = digits[2..].split_once(['p', 'P'])?;
        let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let exponent: i32 = exponent.parse().ok()?;
        let mut value = 0.0f64;
        for digit in whole.chars().chain(part.chars()) {
            value = value * 16.0 + f64::from(digit.to_digit(16)?);
        }
        value * 2f64.powi(exponent.checked_sub(4 * i32::try_from(part.len()).ok()?)?)
    } else {
        digits.parse().ok()?
    };
    Some(Tok::Float { value })
}

fn integer_value(text: &str, hex: bool, binary: bool) -> Option<Tok> {
    let suffix_at = text
        .char_indices()
        .find(|(at, c)| {
            matches!(c, 'u' | 'U' | 'l' | 'L') || (*at > 0 && !hex && matches!(c, 'f' | 'F'))
        })
        .map_or(text.len(), |(at, _)| at);
    let (digits, suffix) = text.split_at(suffix_at);
    let suffix = suffix.to_ascii_lowercase();
    if !matches!(
        suffix.as_str(),
        "" | "u" | "l" | "ul" | "lu" | "ll" | "ull" | "llu"
    ) {
        return None;
    }
    let octal = digits.len() > 1 && digits.starts_with('0');
    let value = if hex {
        u64::from_str_radix(&digits[2..], 16)
    } else if binary {
        u64::from_str_radix(&digits[2..], 2)
    } else if octal {
        u64::from_str_radix(&digits[1..], 8)
    } else {
        digits.parse()
    };
    Some(Tok::Int {
        value: value.ok()?,
        unsigned: suffix.contains('u'),
        long: suffix.contains('l'),
        decimal: !(hex || binary || octal),
    })
}

//! Constant expressions of `#if`.

use super::lexer::{Tok, Token};
use crate::error::{Outcome, fault};

struct Condition<'a> {
    tokens: &'a [Token],
    next: usize,
    at: u32,
    depth: u32,
}

/// Maximum nesting of an expression.
const MAX_DEPTH: u32 = 64;

/// Evaluates an expression whose macros are expanded and whose `defined` are replaced.
pub(super) fn evaluate(tokens: &[Token], at: u32) -> Outcome<bool> {
    let mut condition = Condition {
        tokens,
        next: 0,
        at,
        depth: 0,
    };
    let value = condition.ternary()?;
    if condition.next < tokens.len() {
        return fault(
            at,
            "the condition goes on after its end; use integers, names and operators",
        );
    }
    Ok(value != 0)
}

const LEVELS: [&[&str]; 10] = [
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!="],
    &["<", ">", "<=", ">="],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
];

impl Condition<'_> {
    fn punct(&self) -> Option<&'static str> {
        match self.tokens.get(self.next)?.tok {
            Tok::Punct(punct) => Some(punct),
            _ => None,
        }
    }

    fn ternary(&mut self) -> Outcome<i64> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return fault(
                self.at,
                format!("the condition nests more than {MAX_DEPTH} deep; simplify it"),
            );
        }
        let condition = self.binary(0)?;
        let mut value = condition;
        if self.punct() == Some("?") {
            self.next += 1;
            let accept = self.ternary()?;
            if self.punct() != Some(":") {
                return fault(self.at, "the condition lacks : after ?");
            }
            self.next += 1;
            let reject = self.ternary()?;
            value = if condition != 0 { accept } else { reject };
        }
        self.depth -= 1;
        Ok(value)
    }

    fn binary(&mut self, level: usize) -> Outcome<i64> {
        let Some(operators) = LEVELS.get(level) else {
            return self.unary();
        };
        let mut left = self.binary(level + 1)?;
        while let Some(operator) = self.punct().filter(|punct| operators.contains(punct)) {
            self.next += 1;
            let right = self.binary(level + 1)?;
            left = match operator {
                "||" => i64::from(left != 0 || right != 0),
                "&&" => i64::from(left != 0 && right != 0),
                "|" => left | right,
                "^" => left ^ right,
                "&" => left & right,
                "==" => i64::from(left == right),
                "!=" => i64::from(left != right),
                "<" => i64::from(left < right),
                ">" => i64::from(left > right),
                "<=" => i64::from(left <= right),
                ">=" => i64::from(left >= right),
                "<<" => left.wrapping_shl(right as u32),
                ">>" => left.wrapping_shr(right as u32),
                "+" => left.wrapping_add(right),
                "-" => left.wrapping_sub(right),
                "*" => left.wrapping_mul(right),
                // An operand that && or || skips may divide by zero.
                "/" => left.checked_div(right).unwrap_or(0),
                _ => left.checked_rem(right).unwrap_or(0),
            };
        }
        Ok(left)
    }

    fn unary(&mut self) -> Outcome<i64> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return fault(
                self.at,
                format!("the condition nests more than {MAX_DEPTH} deep; simplify it"),
            );
        }
        let Some(token) = self.tokens.get(self.next) else {
            return fault(self.at, "the condition ends early; complete it");
        };
        self.next += 1;
        let value = match &token.tok {
            Tok::Int { value, .. } => *value as i64,
            Tok::Char(value) => i64::from(*value),
            Tok::Name(name) => i64::from(&**name == "true"),
            Tok::Punct("!") => i64::from(self.unary()? == 0),
            Tok::Punct("-") => self.unary()?.wrapping_neg(),
            Tok::Punct("+") => self.unary()?,
            Tok::Punct("~") => !self.unary()?,
            Tok::Punct("(") => {
                let value = self.ternary()?;
                if self.punct() != Some(")") {
                    return fault(self.at, "the condition lacks )");
                }
                self.next += 1;
                value
            }
            _ => {
                return fault(
                    self.at,
                    "the condition is not made of integers, names and operators; simplify it",
                );
            }
        };
        self.depth -= 1;
        Ok(value)
    }
}

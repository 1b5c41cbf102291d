//! Counts the elements of types from tokens, without parsing.

use super::declarations::{Declarations, Kind, Spanned};
use super::tokens::Token;

/// A constant expression in a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Count {
    Known(u64),
    /// Its value depends on an override constant.
    Pending,
    /// Its value is computed in a way that is not evaluated here.
    Unknown,
}

impl Count {
    fn map2(self, other: Self, f: impl FnOnce(u64, u64) -> Option<u64>) -> Self {
        match (self, other) {
            (Self::Known(a), Self::Known(b)) => f(a, b).map_or(Self::Unknown, Self::Known),
            (Self::Unknown, _) | (_, Self::Unknown) => Self::Unknown,
            _ => Self::Pending,
        }
    }
}

/// Elements of types and values of constants, in dependency order.
pub(super) struct Sizes<'s, 'a> {
    declarations: &'s Declarations<'a>,
    tokens: &'s Spanned<'a>,
    /// The elements of a type, or the value of a constant.
    known: Vec<Count>,
}

impl<'s, 'a> Sizes<'s, 'a> {
    pub(super) fn new(declarations: &'s Declarations<'a>, tokens: &'s Spanned<'a>) -> Self {
        let known = vec![Count::Known(1); declarations.all.len()];
        Self {
            declarations,
            tokens,
            known,
        }
    }

    fn token(&self, i: usize) -> Option<Token<'a>> {
        self.tokens.get(i).map(|&(_, token)| token)
    }

    /// Computes the elements of a type, or the value of a constant.
    pub(super) fn add(&mut self, index: usize) {
        let declaration = &self.declarations.all[index];
        let range = declaration.tokens.clone();
        let assigned = range
            .clone()
            .find(|&i| self.token(i) == Some(Token::Assign));
        self.known[index] = match (declaration.kind, assigned) {
            (Kind::Structure, _) => {
                let members = range.filter(|&i| self.token(i) == Some(Token::Colon));
                members.fold(Count::Known(0), |sum, i| {
                    sum.map2(self.elements(i + 1), u64::checked_add)
                })
            }
            (Kind::Alias, Some(at)) => self.elements(at + 1),
            (Kind::Constant, Some(at)) => self.value(at + 1, range.end.saturating_sub(1)),
            (Kind::Override, _) => Count::Pending,
            _ => Count::Unknown,
        };
    }

    /// Returns the elements of the type at token `i`; a vector or matrix counts as one.
    pub(super) fn elements(&self, i: usize) -> Count {
        let Some(Token::Word(word)) = self.token(i) else {
            return Count::Known(1);
        };
        if let Some(index) = self.declarations.named(word) {
            return match self.declarations.all[index].kind {
                Kind::Structure | Kind::Alias => self.known[index],
                _ => Count::Known(1),
            };
        }
        if word != "array" || self.token(i + 1) != Some(Token::Less) {
            return Count::Known(1);
        }
        let of_one = self.elements(i + 2);
        let Some((comma, end)) = self.template_list(i + 1) else {
            return of_one;
        };
        // An empty type counts as one element.
        of_one.map2(self.value(comma + 1, end), |a, b| {
            Some(a.max(1).saturating_mul(b.max(1)))
        })
    }

    /// Returns the first comma and the end of the template list that begins at token `i`.
    fn template_list(&self, i: usize) -> Option<(usize, usize)> {
        let lists = &self.declarations.lists;
        let end = lists.end(i)?;
        let mut at = i + 1;
        while at < end {
            match self.token(at)? {
                Token::Comma => return Some((at, end)),
                Token::Less => at = lists.end(at)?,
                _ => {}
            }
            at += 1;
        }
        None
    }

    /// Returns the value of the expression in a range of tokens.
    fn value(&self, start: usize, end: usize) -> Count {
        let mut at = start;
        let value = self.operation(&mut at, end, 0);
        // Ignore a trailing comma.
        let rest = at + usize::from(self.token(at) == Some(Token::Comma));
        if rest >= end { value } else { Count::Unknown }
    }

    fn operation(&self, at: &mut usize, end: usize, least: u8) -> Count {
        let mut left = self.operand(at, end);
        while *at < end {
            let (precedence, n_tokens, f): (u8, usize, Operation) =
                match (self.token(*at), self.token(*at + 1)) {
                    (Some(Token::Operator(b'+')), _) => (2, 1, u64::checked_add),
                    (Some(Token::Operator(b'-')), _) => (2, 1, u64::checked_sub),
                    (Some(Token::Operator(b'*')), _) => (3, 1, u64::checked_mul),
                    (Some(Token::Operator(b'/')), _) => (3, 1, u64::checked_div),
                    (Some(Token::Operator(b'%')), _) => (3, 1, u64::checked_rem),
                    (Some(Token::Operator(b'<')), _) => (1, 1, shifted_left),
                    (Some(Token::Greater), Some(Token::Greater)) => (1, 2, shifted_right),
                    _ => return left,
                };
            if precedence <= least {
                return left;
            }
            *at += n_tokens;
            let right = self.operation(at, end, precedence);
            left = left.map2(right, f);
        }
        left
    }

    fn operand(&self, at: &mut usize, end: usize) -> Count {
        let token = self.token(*at).filter(|_| *at < end);
        *at += 1;
        match token {
            Some(Token::Number(number)) => parsed(number),
            Some(Token::Word("u32" | "i32")) if self.token(*at) == Some(Token::Open(b'(')) => {
                self.operand(at, end)
            }
            Some(Token::Word(name)) => match self.declarations.named(name) {
                Some(index) => match self.declarations.all[index].kind {
                    Kind::Constant | Kind::Override => self.known[index],
                    _ => Count::Unknown,
                },
                None => Count::Unknown,
            },
            Some(Token::Open(b'(')) => {
                let value = self.operation(at, end, 0);
                let closed = self.token(*at) == Some(Token::Close(b')'));
                *at += 1;
                if closed { value } else { Count::Unknown }
            }
            _ => Count::Unknown,
        }
    }
}

/// Applies an operator to numbers; `None` if the result has no value.
type Operation = fn(u64, u64) -> Option<u64>;

fn shifted_left(a: u64, b: u64) -> Option<u64> {
    let b = u32::try_from(b).ok().filter(|&b| b < 32)?;
    Some(a << b).filter(|n| n >> b == a)
}

fn shifted_right(a: u64, b: u64) -> Option<u64> {
    a.checked_shr(u32::try_from(b).ok()?)
}

fn parsed(number: &str) -> Count {
    let digits = number.trim_end_matches(['u', 'i']);
    let value = match digits
        .strip_prefix("0x")
        .or_else(|| digits.strip_prefix("0X"))
    {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => digits.parse(),
    };
    value.map_or(Count::Unknown, Count::Known)
}

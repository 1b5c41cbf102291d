//! Finds the declarations of a source, and the declarations that each uses, in its tokens.

use std::collections::HashMap;

use super::tokens::Token;

/// Tokens, each with the offset of its first byte.
pub(super) type Spanned<'a> = [(usize, Token<'a>)];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Function,
    Structure,
    Alias,
    Constant,
    Override,
    Variable,
    Other,
}

impl Kind {
    fn of(word: &str) -> Option<Self> {
        Some(match word {
            "fn" => Self::Function,
            "struct" => Self::Structure,
            "alias" => Self::Alias,
            "const" => Self::Constant,
            "override" => Self::Override,
            "var" => Self::Variable,
            _ => return None,
        })
    }

    /// Returns true if it declares a type.
    pub(super) const fn is_type(self) -> bool {
        matches!(self, Self::Structure | Self::Alias)
    }

    /// Returns true if a use has the size of the declaration: calls are inlined, types and constants expanded.
    pub(super) const fn is_expanded(self) -> bool {
        matches!(
            self,
            Self::Function | Self::Structure | Self::Alias | Self::Constant
        )
    }
}

/// A declaration at module scope, attributes included.
pub(super) struct Declaration<'a> {
    pub(super) kind: Kind,
    pub(super) name: &'a str,
    /// Offset of its first byte.
    pub(super) at: usize,
    /// Range of its tokens.
    pub(super) tokens: std::ops::Range<usize>,
}

/// The template lists of a source: the matching end of each start token, and the start of each end token.
#[derive(Default)]
pub(super) struct Lists {
    ends: HashMap<usize, usize>,
    pub(super) starts: HashMap<usize, usize>,
    /// Nesting depth of each list by its start token, the list itself included.
    pub(super) heights: HashMap<usize, usize>,
}

impl Lists {
    pub(super) fn add(&mut self, start: usize, end: usize, height: usize) {
        self.heights.insert(start, height);
        self.ends.insert(start, end);
        self.starts.insert(end, start);
    }

    pub(super) fn end(&self, start: usize) -> Option<usize> {
        self.ends.get(&start).copied()
    }
}

pub(super) struct Declarations<'a> {
    pub(super) all: Vec<Declaration<'a>>,
    pub(super) lists: Lists,
    by_name: HashMap<&'a str, usize>,
}

impl<'a> Declarations<'a> {
    pub(super) fn find(tokens: &Spanned<'a>, lists: Lists) -> Self {
        let mut all: Vec<Declaration<'a>> = Vec::new();
        let (mut start, mut depth) = (0, 0usize);
        for (i, &(_, token)) in tokens.iter().enumerate() {
            let mut ends = i + 1 == tokens.len();
            match token {
                Token::Open(_) => depth += 1,
                Token::Close(bracket) => {
                    depth = depth.saturating_sub(1);
                    ends |= depth == 0 && bracket == b'}';
                }
                Token::Semicolon => ends |= depth == 0,
                _ => {}
            }
            if ends {
                all.push(Declaration::new(tokens, start..i + 1));
                start = i + 1;
            }
        }
        // The first of two equal names counts; the parser rejects the second.
        let named = all.iter().enumerate().rev();
        let by_name = named
            .filter(|(_, declaration)| !declaration.name.is_empty())
            .map(|(i, declaration)| (declaration.name, i))
            .collect();
        Self {
            all,
            lists,
            by_name,
        }
    }

    /// Returns the offset of declaration `n`.
    pub(super) fn at(&self, index: usize) -> Option<usize> {
        self.all.get(index).map(|declaration| declaration.at)
    }

    /// Returns the offset of the `n`-th variable at module scope.
    pub(super) fn variable_at(&self, index: usize) -> Option<usize> {
        let variables = self.all.iter().filter(|one| one.kind == Kind::Variable);
        variables.map(|one| one.at).nth(index)
    }

    /// Returns the offset of the declaration at which a function, or module scope as a whole, exceeds `n` tokens.
    pub(super) fn too_long(&self, n: usize) -> Option<usize> {
        let mut outside = 0;
        let found = self.all.iter().find(|one| {
            if one.kind == Kind::Function {
                return one.tokens.len() > n;
            }
            outside += one.tokens.len();
            outside > n
        });
        found.map(|one| one.at)
    }

    /// Returns the offset of the first structure member with `n` members before it.
    pub(super) fn member_at(&self, tokens: &Spanned<'a>, n: usize) -> Option<usize> {
        let structures = self.all.iter().filter(|one| one.kind == Kind::Structure);
        structures
            .filter_map(|one| {
                let own = tokens.get(one.tokens.clone())?;
                let mut members = own.iter().filter(|(_, token)| *token == Token::Colon);
                members.nth(n).map(|&(at, _)| at)
            })
            .next()
    }

    pub(super) fn named(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }

    /// Returns the declaration that token `i` refers to.
    pub(super) fn used(&self, tokens: &Spanned<'a>, i: usize) -> Option<usize> {
        let Some(&(_, Token::Word(word))) = tokens.get(i) else {
            return None;
        };
        let before = i.checked_sub(1).and_then(|i| tokens.get(i));
        if before.is_some_and(|(_, token)| *token == Token::Dot) {
            return None;
        }
        let index = self.named(word)?;
        let is_called = matches!(tokens.get(i + 1), Some((_, Token::Open(b'('))));
        (self.all.get(index)?.kind != Kind::Function || is_called).then_some(index)
    }
}

impl<'a> Declaration<'a> {
    fn new(tokens: &Spanned<'a>, range: std::ops::Range<usize>) -> Self {
        let own = tokens.get(range.clone()).unwrap_or_default();
        let at = own.first().map_or(0, |&(at, _)| at);
        let mut depth = 0usize;
        let mut found = None;
        for (i, &(_, token)) in own.iter().enumerate() {
            match token {
                Token::Open(_) => depth += 1,
                Token::Close(_) => depth = depth.saturating_sub(1),
                Token::Word(word) if depth == 0 && found.is_none() => {
                    found = Kind::of(word).map(|kind| (kind, i));
                }
                _ => {}
            }
        }
        let Some((kind, i)) = found else {
            let (kind, name) = (Kind::Other, "");
            return Self {
                kind,
                name,
                at,
                tokens: range,
            };
        };
        let mut rest = own.iter().skip(i + 1).peekable();
        // `var<storage, read> name`
        if matches!(rest.peek(), Some((_, Token::Less))) {
            rest.by_ref().find(|(_, token)| *token == Token::Greater);
        }
        let name = match rest.next() {
            Some(&(_, Token::Word(name))) => name,
            _ => "",
        };
        Self {
            kind,
            name,
            at,
            tokens: range,
        }
    }
}

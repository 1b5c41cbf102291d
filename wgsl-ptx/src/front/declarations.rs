//! Finds the declarations of a source, and the declarations that each uses, in its tokens.

use std::collections::HashMap;

use super::check::exceeded;
use super::limits::{MAX_DEPTH, MAX_INLINED_TOKENS, MAX_TYPE_NESTING, MAX_ZERO_ELEMENTS};
use super::sizes::{Count, Sizes};
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
    const fn is_type(self) -> bool {
        matches!(self, Self::Structure | Self::Alias)
    }

    /// Returns true if a use has the size of the declaration: calls are inlined, types and constants expanded.
    const fn is_expanded(self) -> bool {
        matches!(
            self,
            Self::Function | Self::Structure | Self::Alias | Self::Constant
        )
    }
}

/// A declaration at module scope, attributes included.
pub(super) struct Declaration<'a> {
    pub(super) kind: Kind,
    name: &'a str,
    /// Offset of its first byte.
    at: usize,
    /// Range of its tokens.
    pub(super) tokens: std::ops::Range<usize>,
}

/// The template lists of a source: the matching end of each start token, and the start of each end token.
#[derive(Default)]
pub(super) struct Lists {
    ends: HashMap<usize, usize>,
    starts: HashMap<usize, usize>,
    /// Nesting depth of each list by its start token, the list itself included.
    heights: HashMap<usize, usize>,
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

/// A declaration on the stack of the depth-first traversal.
struct Visit {
    index: usize,
    /// Next token to visit.
    token: usize,
    /// Maximum nesting depth of the types that it names.
    inside: usize,
    found: Found,
}

/// Measurements of a declaration.
#[derive(Debug, Clone, Copy)]
struct Found {
    /// Number of tokens with all uses inlined.
    size: u64,
    /// Length of the longest chain of uses, the declaration itself included.
    depth: usize,
    /// Nesting depth of types.
    nesting: usize,
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
    fn used(&self, tokens: &Spanned<'a>, i: usize) -> Option<usize> {
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

    /// Checks sizes with all uses inlined, and lengths of chains of uses. Returns the longest chain.
    pub(super) fn measure(&self, source: &str, tokens: &Spanned<'a>) -> Result<usize, String> {
        let n = self.all.len();
        let mut sizes: Vec<Option<Found>> = vec![None; n];
        let mut is_open = vec![false; n];
        let mut elements = Sizes::new(self, tokens);
        let mut path: Vec<Visit> = Vec::new();
        let mut longest = 0;
        for root in 0..n {
            if sizes[root].is_none() {
                path.push(self.visit(root));
                is_open[root] = true;
            }
            while let Some(visit) = path.last_mut() {
                let own = &self.all[visit.index];
                let token = visit.token;
                if token < own.tokens.end {
                    visit.token += 1;
                    let Some(used) = self.used(tokens, token) else {
                        continue;
                    };
                    match sizes[used] {
                        // A cycle, or its own name: the parser rejects cycles.
                        None if is_open[used] => {}
                        None => {
                            visit.token = token;
                            path.push(self.visit(used));
                            is_open[used] = true;
                        }
                        Some(inside) => {
                            let found = &mut visit.found;
                            found.depth = found.depth.max(inside.depth + 1);
                            if self.is_inlined(own.kind, used) {
                                found.size = found.size.saturating_add(inside.size);
                            }
                            if self.all[used].kind.is_type() {
                                visit.inside = visit.inside.max(inside.nesting);
                            }
                        }
                    }
                    continue;
                }
                let index = visit.index;
                let mut found = visit.found;
                found.nesting += visit.inside;
                path.pop();
                self.check_one(source, index, found)?;
                elements.add(index);
                self.check_zeros(source, tokens, index, &elements)?;
                sizes[index] = Some(found);
                longest = longest.max(found.depth);
            }
        }
        Ok(longest)
    }

    /// Returns true if a use has the size of the declaration. Functions read constants in place.
    fn is_inlined(&self, user: Kind, used: usize) -> bool {
        match self.all[used].kind {
            Kind::Constant => user == Kind::Constant,
            kind => kind.is_expanded(),
        }
    }

    fn visit(&self, index: usize) -> Visit {
        let Declaration { kind, tokens, .. } = &self.all[index];
        let heights = tokens.clone().filter_map(|i| self.lists.heights.get(&i));
        let lists = heights.max().copied().unwrap_or(0);
        Visit {
            index,
            token: tokens.start,
            inside: 0,
            found: Found {
                size: tokens.len() as u64,
                depth: 1,
                nesting: lists + usize::from(*kind == Kind::Structure),
            },
        }
    }

    /// Returns the type before the bracket at token `i`, if any.
    fn type_before(&self, tokens: &Spanned<'a>, i: usize) -> Option<usize> {
        let mut at = i.checked_sub(1)?;
        if let Some(start) = self.lists.starts.get(&at) {
            at = start.checked_sub(1)?;
        }
        matches!(tokens.get(at)?.1, Token::Word(_)).then_some(at)
    }

    fn check_one(&self, source: &str, index: usize, found: Found) -> Result<(), String> {
        let Found {
            size,
            depth,
            nesting,
        } = found;
        let Declaration { at, name, .. } = self.all[index];
        let name = short(name);
        if depth > MAX_DEPTH {
            let what =
                format_args!("{name} is at the end of {depth} declarations that use each other");
            let remedy = "call fewer functions from functions, nest fewer types";
            return Err(exceeded(source, at, what, MAX_DEPTH, "MAX_DEPTH", remedy));
        }
        if nesting > MAX_TYPE_NESTING {
            let what = format_args!("{name} has {nesting} types inside each other");
            let remedy = "use fewer structures and arrays";
            let name = "MAX_TYPE_NESTING";
            return Err(exceeded(source, at, what, MAX_TYPE_NESTING, name, remedy));
        }
        if size > MAX_INLINED_TOKENS {
            let what = format_args!("{name} has {size} tokens, all calls and types inlined");
            let remedy = "call functions and nest types less often, or use loops and arrays";
            let name = "MAX_INLINED_TOKENS";
            return Err(exceeded(source, at, what, MAX_INLINED_TOKENS, name, remedy));
        }
        Ok(())
    }

    /// Checks the zero values `T()` of a declaration: a parser may expand them to all their elements.
    fn check_zeros(
        &self,
        source: &str,
        tokens: &Spanned<'a>,
        index: usize,
        sizes: &Sizes<'_, 'a>,
    ) -> Result<(), String> {
        let range = self.all[index].tokens.clone();
        let pairs = range.clone().filter(|&i| {
            matches!(
                (tokens.get(i), tokens.get(i + 1)),
                (Some((_, Token::Open(b'('))), Some((_, Token::Close(b')'))))
            )
        });
        for i in pairs {
            let Some(start) = self.type_before(tokens, i) else {
                continue;
            };
            let n = match sizes.elements(start) {
                Count::Known(n) => n,
                Count::Pending => continue,
                Count::Unknown => u64::MAX,
            };
            if n > MAX_ZERO_ELEMENTS {
                let what = match n {
                    u64::MAX => "a zero value of an array whose size is not plain".to_owned(),
                    n => format!("a zero value of {n} elements"),
                };
                let remedy = "declare a variable of that type, which starts at zero, and give sizes as numbers or constants";
                let (at, name) = (tokens[start].0, "MAX_ZERO_ELEMENTS");
                return Err(exceeded(source, at, what, MAX_ZERO_ELEMENTS, name, remedy));
            }
        }
        Ok(())
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

/// Shortens a name for a message.
fn short(name: &str) -> String {
    const MAX: usize = 64;
    if name.is_empty() {
        return "the declaration".to_owned();
    }
    match name.char_indices().nth(MAX) {
        Some((at, _)) => format!("{}…", &name[..at]),
        None => name.to_owned(),
    }
}

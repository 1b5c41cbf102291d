//! Measures declarations with all their uses inlined: sizes, chains of uses, nesting of types, zero values.

use super::declarations::{Declaration, Declarations, Kind, Spanned};
use super::limits::{MAX_DEPTH, MAX_INLINED_TOKENS, MAX_TYPE_NESTING, MAX_ZERO_ELEMENTS, exceeded};
use super::sizes::{Count, Sizes};
use super::tokens::Token;

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

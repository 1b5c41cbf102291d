//! Attributes and namespaces, which are skipped: all names are in one namespace.

use std::collections::HashSet;
use std::rc::Rc;

use crate::source::{Tok, Token};

/// Namespaces whose members are built in.
const BUILT_IN: [&str; 4] = ["std", "cuda", "thrust", "cooperative_groups"];

fn name_at(tokens: &[Token], index: usize) -> Option<&Rc<str>> {
    match tokens.get(index).map(|token| &token.tok) {
        Some(Tok::Name(name)) => Some(name),
        _ => None,
    }
}

fn is_scope(tokens: &[Token], index: usize) -> bool {
    tokens.get(index).map(|token| &token.tok) == Some(&Tok::Punct("::"))
}

/// Returns the names of the namespaces of a source and of their aliases.
fn declared(tokens: &[Token]) -> HashSet<Rc<str>> {
    let mut found: HashSet<Rc<str>> = BUILT_IN.iter().map(|name| Rc::from(*name)).collect();
    for (index, token) in tokens.iter().enumerate() {
        if !matches!(&token.tok, Tok::Name(word) if &**word == "namespace")
            || index
                .checked_sub(1)
                .and_then(|before| name_at(tokens, before))
                .is_some_and(|word| &**word == "using")
        {
            continue;
        }
        let mut next = index + 1;
        while let Some(name) = name_at(tokens, next) {
            found.insert(name.clone());
            if !is_scope(tokens, next + 1) {
                break;
            }
            next += 2;
        }
    }
    found
}

/// Returns the index after `[[…]]`, if an attribute starts at an index.
fn after_attribute(tokens: &[Token], index: usize) -> Option<usize> {
    let is = |at: usize, punct| tokens.get(at).map(|token| &token.tok) == Some(&Tok::Punct(punct));
    if !is(index, "[") || !is(index + 1, "[") {
        return None;
    }
    let end = (index..tokens.len().min(index + 16)).find(|at| is(*at, "]") && is(at + 1, "]"))?;
    Some(end + 2)
}

/// Drops attributes, `name::` of namespaces, and `::` of the global one.
pub(super) fn without_namespaces(tokens: Vec<Token>) -> Vec<Token> {
    let namespaces = declared(&tokens);
    let mut kept: Vec<Token> = Vec::with_capacity(tokens.len());
    let mut next = 0;
    while let Some(token) = tokens.get(next) {
        if let Some(after) = after_attribute(&tokens, next) {
            next = after;
            continue;
        }
        let is_namespace = name_at(&tokens, next).is_some_and(|name| namespaces.contains(name));
        if is_namespace && is_scope(&tokens, next + 1) {
            next += 2;
            continue;
        }
        // `a::b` of a structure or enumeration stays.
        let follows_name =
            matches!(
                kept.last().map(|token| &token.tok),
                Some(Tok::Name(word)) if !matches!(&**word, "return" | "case" | "else" | "do")
            ) || matches!(kept.last().map(|token| &token.tok), Some(Tok::Punct(">")));
        if is_scope(&tokens, next) && !follows_name {
            next += 1;
            continue;
        }
        kept.push(token.clone());
        next += 1;
    }
    kept
}

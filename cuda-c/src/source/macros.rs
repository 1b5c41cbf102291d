//! Macro expansion. A macro is not expanded within its own expansion, and the total work is bounded.

use std::collections::HashMap;
use std::rc::Rc;

use super::MAX_TOKENS;
use super::lexer::{Tok, Token, tokens};
use crate::error::{Outcome, fault};

/// A `#define`.
#[derive(Debug, Clone)]
pub(super) struct Macro {
    /// Names of the parameters of a function-like macro.
    pub(super) parameters: Option<Vec<Rc<str>>>,
    pub(super) variadic: bool,
    pub(super) body: Vec<Token>,
}

/// The defined macros and the work spent on expanding them.
#[derive(Default)]
pub(super) struct Macros {
    pub(super) defined: HashMap<Rc<str>, Macro>,
    spent: usize,
}

/// Nested expansions of arguments that are allowed.
const MAX_DEPTH: usize = 32;

struct Frame {
    name: Option<Rc<str>>,
    tokens: Vec<Token>,
    next: usize,
}

impl Macros {
    pub(super) fn define_text(&mut self, name: &str, value: &str) -> Outcome<()> {
        let is_identifier = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !is_identifier {
            return fault(0, "its name is not an identifier");
        }
        let body = tokens(value)?;
        let definition = Macro {
            parameters: None,
            variadic: false,
            body,
        };
        self.defined.insert(Rc::from(name), definition);
        Ok(())
    }

    /// Expands the macros of a text.
    pub(super) fn expand(&mut self, text: Vec<Token>) -> Outcome<Vec<Token>> {
        self.expand_within(text, &[], 0)
    }

    fn spend(&mut self, n: usize, at: u32) -> Outcome<()> {
        self.spent += n + 1;
        if self.spent > 4 * MAX_TOKENS {
            return fault(
                at,
                format!(
                    "macros expand to more than {} tokens; use functions",
                    4 * MAX_TOKENS
                ),
            );
        }
        Ok(())
    }

    fn expand_within(
        &mut self,
        text: Vec<Token>,
        disabled: &[Rc<str>],
        depth: usize,
    ) -> Outcome<Vec<Token>> {
        if depth > MAX_DEPTH {
            let at = text.first().map_or(0, |token| token.at);
            return fault(
                at,
                format!("macro calls nest more than {MAX_DEPTH} deep; use functions"),
            );
        }
        let mut frames = vec![Frame {
            name: None,
            tokens: text,
            next: 0,
        }];
        let mut out = Vec::new();
        while let Some(token) = next(&mut frames) {
            self.spend(0, token.at)?;
            let Tok::Name(name) = &token.tok else {
                out.push(token);
                continue;
            };
            let is_disabled = disabled.contains(name)
                || frames.iter().any(|frame| frame.name.as_ref() == Some(name));
            let definition = match self.defined.get(name) {
                Some(definition) if !is_disabled => definition.clone(),
                _ => {
                    out.push(token);
                    continue;
                }
            };
            let mut body = if let Some(parameters) = &definition.parameters {
                if !peek(&frames).is_some_and(|token| token.tok == Tok::Punct("(")) {
                    out.push(token);
                    continue;
                }
                let arguments = arguments(&mut frames, &token, parameters, definition.variadic)?;
                let mut active = disabled.to_vec();
                active.extend(frames.iter().filter_map(|frame| frame.name.clone()));
                self.substitute(&definition, &arguments, &active, depth, token.at)?
            } else {
                paste(definition.body.clone(), token.at)?
            };
            self.spend(body.len(), token.at)?;
            for part in &mut body {
                part.at = token.at;
                part.starts_line = false;
            }
            frames.push(Frame {
                name: Some(name.clone()),
                tokens: body,
                next: 0,
            });
        }
        Ok(out)
    }

    fn substitute(
        &mut self,
        definition: &Macro,
        arguments: &[Vec<Token>],
        disabled: &[Rc<str>],
        depth: usize,
        at: u32,
    ) -> Outcome<Vec<Token>> {
        let parameters = definition.parameters.as_deref().unwrap_or(&[]);
        let mut out: Vec<Token> = Vec::new();
        let mut expanded: Vec<Option<Vec<Token>>> = vec![None; arguments.len()];
        let mut is_text = false;
        for (index, token) in definition.body.iter().enumerate() {
            if token.tok == Tok::Punct("#") {
                is_text = true;
                continue;
            }
            if std::mem::take(&mut is_text) {
                // The text of strings counts in host code only, which is skipped.
                out.push(Token {
                    tok: Tok::Text(Rc::from([])),
                    ..token.clone()
                });
                continue;
            }
            let parameter = match &token.tok {
                Tok::Name(name) if definition.variadic && &**name == "__VA_ARGS__" => {
                    Some(parameters.len())
                }
                Tok::Name(name) => parameters.iter().position(|other| other == name),
                _ => None,
            };
            let is_paste =
                |token: Option<&Token>| token.is_some_and(|token| token.tok == Tok::Punct("##"));
            let pasted = is_paste(definition.body.get(index + 1))
                || (index > 0 && is_paste(definition.body.get(index - 1)));
            match parameter {
                None => out.push(token.clone()),
                Some(i) if pasted => out.extend_from_slice(arguments.get(i).map_or(&[], |a| a)),
                Some(i) => {
                    let Some(argument) = arguments.get(i) else {
                        continue;
                    };
                    if expanded[i].is_none() {
                        expanded[i] =
                            Some(self.expand_within(argument.clone(), disabled, depth + 1)?);
                    }
                    let text = expanded[i].as_deref().unwrap_or(&[]);
                    self.spent += text.len();
                    out.extend_from_slice(text);
                }
            }
            self.spend(0, at)?;
        }
        paste(out, at)
    }
}

fn next(frames: &mut Vec<Frame>) -> Option<Token> {
    loop {
        let frame = frames.last_mut()?;
        if let Some(token) = frame.tokens.get(frame.next) {
            frame.next += 1;
            return Some(token.clone());
        }
        frames.pop();
    }
}

fn peek(frames: &[Frame]) -> Option<&Token> {
    frames
        .iter()
        .rev()
        .find_map(|frame| frame.tokens.get(frame.next))
}

/// Reads the arguments of a call, from its opening parenthesis on.
fn arguments(
    frames: &mut Vec<Frame>,
    name: &Token,
    parameters: &[Rc<str>],
    variadic: bool,
) -> Outcome<Vec<Vec<Token>>> {
    next(frames);
    let mut arguments = vec![Vec::new()];
    let mut depth = 0;
    loop {
        let Some(token) = next(frames) else {
            return fault(name.at, "the macro call has no closing parenthesis; add )");
        };
        match token.tok {
            Tok::Punct("(") => depth += 1,
            Tok::Punct(")") if depth == 0 => break,
            Tok::Punct(")") => depth -= 1,
            Tok::Punct(",") if depth == 0 && !(variadic && arguments.len() > parameters.len()) => {
                arguments.push(Vec::new());
                continue;
            }
            _ => {}
        }
        if let Some(argument) = arguments.last_mut() {
            argument.push(token);
        }
    }
    let least = parameters.len();
    let empty = arguments.len() == 1 && arguments[0].is_empty() && least == 0;
    if !empty && (arguments.len() < least || (!variadic && arguments.len() > least)) {
        return fault(
            name.at,
            format!(
                "the macro takes {least} arguments, and {} are given",
                arguments.len()
            ),
        );
    }
    Ok(arguments)
}

/// Joins the tokens beside each `##`.
fn paste(tokens_in: Vec<Token>, at: u32) -> Outcome<Vec<Token>> {
    if !tokens_in.iter().any(|token| token.tok == Tok::Punct("##")) {
        return Ok(tokens_in);
    }
    let mut out: Vec<Token> = Vec::new();
    let mut rest = tokens_in.into_iter();
    while let Some(token) = rest.next() {
        if token.tok != Tok::Punct("##") {
            out.push(token);
            continue;
        }
        let (Some(left), Some(right)) = (out.pop(), rest.next()) else {
            return fault(at, "## has no token on one of its sides; remove it");
        };
        let text = match (spelling(&left.tok), spelling(&right.tok)) {
            (Some(left), Some(right)) => left + &right,
            _ => return fault(at, "## joins names and integers only; write the token out"),
        };
        let mut joined = tokens(&text)?;
        match joined.pop() {
            Some(token) if joined.is_empty() => out.push(Token { at, ..token }),
            _ => return fault(at, format!("## makes {text}, which is not one token")),
        }
    }
    Ok(out)
}

fn spelling(tok: &Tok) -> Option<String> {
    match tok {
        Tok::Name(name) => Some(name.to_string()),
        Tok::Int {
            value,
            unsigned,
            long,
            ..
        } => Some(format!(
            "{value}{}{}",
            if *unsigned { "u" } else { "" },
            if *long { "l" } else { "" }
        )),
        _ => None,
    }
}

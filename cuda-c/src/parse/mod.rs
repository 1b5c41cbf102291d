//! The recursive-descent parser. Nesting is bounded.

mod declarators;
mod expr;
mod host;
mod items;
mod methods;
mod namespaces;
mod operators;
mod stmt;
mod structures;
mod templates;
mod types;

use std::collections::HashSet;
use std::rc::Rc;

use crate::ast::Program;
use crate::error::{Fault, Outcome, fault};
use crate::source::{Tok, Token};

/// Maximum nesting of statements, brackets and operators. Passes over the tree recurse as deep.
pub(crate) const MAX_NESTING: u32 = 100;

pub(crate) struct Parser {
    tokens: Vec<Token>,
    next: usize,
    depth: u32,
    /// Names of types, template parameters among them while their template is parsed.
    types: HashSet<Rc<str>>,
    /// Names of function templates: `<` after one opens its arguments.
    templates: HashSet<Rc<str>>,
    /// Names of types that variables of the function hide.
    shadowed: Vec<Rc<str>>,
    program: Program,
}

/// Parses the tokens of a source.
pub(crate) fn parse(tokens: Vec<Token>) -> Outcome<Program> {
    let mut parser = Parser {
        tokens: namespaces::without_namespaces(tokens),
        next: 0,
        depth: 0,
        types: HashSet::new(),
        templates: HashSet::new(),
        shadowed: Vec::new(),
        program: Program::default(),
    };
    parser.predeclare();
    parser.items(false)?;
    Ok(parser.program)
}

/// Parses the text of an instantiation, such as `scale<float, 4>`, to its name and arguments.
pub(crate) fn parse_entry(
    tokens: Vec<Token>,
    program: &Program,
) -> Outcome<(Rc<str>, Vec<crate::ast::TemplateArg>)> {
    let mut parser = Parser {
        tokens: namespaces::without_namespaces(tokens),
        next: 0,
        depth: 0,
        types: HashSet::new(),
        templates: HashSet::new(),
        shadowed: Vec::new(),
        program: Program::default(),
    };
    parser.predeclare();
    for structure in &program.structures {
        parser.types.insert(structure.name.clone());
    }
    for (name, _) in &program.aliases {
        parser.types.insert(name.clone());
    }
    let mut name = parser.name("the name of a kernel")?;
    while parser.take("::") {
        name = parser.name("the name of a kernel")?;
    }
    let arguments = if parser.is("<") {
        parser.template_arguments()?
    } else {
        Vec::new()
    };
    match parser.peek() {
        Tok::End => Ok((name, arguments)),
        _ => parser.unexpected("the end of the kernel's name"),
    }
}

impl Parser {
    fn peek(&self) -> &Tok {
        self.peek_at(0)
    }

    fn peek_at(&self, ahead: usize) -> &Tok {
        self.tokens
            .get(self.next + ahead)
            .map_or(&Tok::End, |token| &token.tok)
    }

    fn at(&self) -> u32 {
        self.tokens
            .get(self.next)
            .or(self.tokens.last())
            .map_or(0, |token| token.at)
    }

    fn is(&self, punct: &str) -> bool {
        self.is_at(0, punct)
    }

    fn is_at(&self, ahead: usize, punct: &str) -> bool {
        matches!(self.peek_at(ahead), Tok::Punct(other) if *other == punct)
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Tok::Name(name) if &**name == word)
    }

    fn take(&mut self, punct: &str) -> bool {
        let found = self.is(punct);
        self.next += usize::from(found);
        found
    }

    fn take_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        self.next += usize::from(found);
        found
    }

    fn expect(&mut self, punct: &str) -> Outcome<()> {
        if self.take(punct) {
            return Ok(());
        }
        self.unexpected(punct)
    }

    fn unexpected<T>(&self, expected: &str) -> Outcome<T> {
        let found = match self.peek() {
            Tok::Name(name) => name.to_string(),
            Tok::Int { value, .. } => value.to_string(),
            Tok::Float { value } => value.to_string(),
            Tok::Char(_) => "a character".to_owned(),
            Tok::Text(_) => "a string".to_owned(),
            Tok::Punct(punct) => (*punct).to_owned(),
            Tok::Unknown(unknown) => unknown.to_string(),
            Tok::End => "the end of the source".to_owned(),
        };
        fault(self.at(), format!("expected {expected}, found {found}"))
    }

    fn name(&mut self, what: &str) -> Outcome<Rc<str>> {
        match self.peek().clone() {
            Tok::Name(name) => {
                self.next += 1;
                Ok(name)
            }
            _ => self.unexpected(what),
        }
    }

    /// Takes one `>`, splitting `>>` and `>>>`.
    fn close_angle(&mut self) -> Outcome<()> {
        let rest = match self.peek() {
            Tok::Punct(">") => {
                self.next += 1;
                return Ok(());
            }
            Tok::Punct(">>") => ">",
            Tok::Punct(">>>") => ">>",
            _ => return self.unexpected(">"),
        };
        if let Some(token) = self.tokens.get_mut(self.next) {
            token.tok = Tok::Punct(rest);
        }
        Ok(())
    }

    fn enter(&mut self) -> Outcome<()> {
        self.depth += 1;
        if self.depth > MAX_NESTING {
            return fault(
                self.at(),
                format!(
                    "statements and brackets nest more than {MAX_NESTING} deep; split the function"
                ),
            );
        }
        Ok(())
    }

    fn leave(&mut self) {
        self.depth -= 1;
    }

    /// Returns the index of the token after the bracket that closes the one at `open`.
    fn after_bracket(&self, open: usize) -> Outcome<usize> {
        let mut depth = 0u32;
        for (index, token) in self.tokens.iter().enumerate().skip(open) {
            match token.tok {
                Tok::Punct("(" | "[" | "{") => depth += 1,
                Tok::Punct(")" | "]" | "}") => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return Ok(index + 1);
                    }
                }
                _ => {}
            }
        }
        let at = self.tokens.get(open).map_or(0, |token| token.at);
        Err(Fault {
            at,
            message: "the bracket is never closed; add its counterpart".to_owned(),
        })
    }
}

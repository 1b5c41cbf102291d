//! Declarations at file scope. Host code is skipped with a note.

use std::rc::Rc;

use super::Parser;
use crate::ast::{Base, Function, FunctionKind, Space, TemplateParam, TypeName, Variable};
use crate::error::{Fault, Outcome, fault};
use crate::source::Tok;

/// Nested namespaces that are allowed.
const MAX_SCOPES: u32 = 32;

impl Parser {
    /// Parses items up to the end, or to the brace that closes a scope.
    pub(super) fn items(&mut self, in_scope: bool) -> Outcome<()> {
        loop {
            let at = self.at();
            match self.peek().clone() {
                Tok::End if in_scope => return fault(at, "the namespace is never closed; add }"),
                Tok::End => return Ok(()),
                Tok::Punct("}") if in_scope => {
                    self.next += 1;
                    return Ok(());
                }
                Tok::Punct(";") => self.next += 1,
                Tok::Name(name) => self.item(&name)?,
                _ => return self.unexpected("a declaration"),
            }
        }
    }

    fn item(&mut self, word: &str) -> Outcome<()> {
        match word {
            "namespace" if !self.is_at(2, "=") => {
                self.next += 1;
                if !self.is("{") {
                    self.name("the name of a namespace")?;
                }
                self.expect("{")?;
                self.scope()
            }
            "extern" if matches!(self.peek_at(1), Tok::Text(_)) && self.is_at(2, "{") => {
                self.next += 3;
                self.scope()
            }
            "using" | "typedef" => self.alias(),
            "namespace" | "static_assert" => self.skip_item(),
            "struct" | "class" | "union" if self.defines() => self.structure(Vec::new()),
            "enum" if self.defines() => self.enumeration(),
            "template" => self.template(),
            _ => self.function_or_variables(Vec::new()),
        }
    }

    fn scope(&mut self) -> Outcome<()> {
        self.enter()?;
        if self.depth > MAX_SCOPES {
            return fault(
                self.at(),
                format!("namespaces nest more than {MAX_SCOPES} deep; flatten them"),
            );
        }
        self.items(true)?;
        self.leave();
        Ok(())
    }

    /// Returns true if a brace comes before a semicolon or parenthesis, apart from attributes.
    pub(super) fn defines(&self) -> bool {
        let mut ahead = 1;
        loop {
            match self.peek_at(ahead) {
                Tok::Punct("{") => return true,
                Tok::Name(name) if matches!(&**name, "__align__" | "alignas" | "__attribute__") => {
                    match self.after_bracket(self.next + ahead + 1) {
                        Ok(after) => ahead = after - self.next,
                        Err(_) => return false,
                    }
                }
                Tok::Name(_) | Tok::Punct(":" | "," | "::") => ahead += 1,
                _ => return false,
            }
        }
    }

    /// Returns true if a function is declared here, and whether it is device code: looks ahead to its body, `=` or `;`.
    pub(super) fn function_ahead(&self) -> (bool, bool) {
        let mut ahead = 0;
        let mut device = false;
        loop {
            match self.peek_at(ahead) {
                Tok::Name(name) if matches!(&**name, "__global__" | "__device__" | "constexpr") => {
                    device = true
                }
                Tok::Name(name)
                    if matches!(
                        &**name,
                        "__launch_bounds__" | "__align__" | "alignas" | "__attribute__"
                    ) =>
                {
                    match self.after_bracket(self.next + ahead + 1) {
                        Ok(after) => ahead = after - self.next - 1,
                        Err(_) => return (false, device),
                    }
                }
                Tok::Name(name) if &**name == "operator" => return (true, device),
                Tok::Punct("(") => return (!self.is_at(ahead + 1, "*"), device),
                Tok::Punct(";" | "=" | "{" | "[") | Tok::End => return (false, device),
                _ => {}
            }
            ahead += 1;
        }
    }

    pub(super) fn function_or_variables(&mut self, template: Vec<TemplateParam>) -> Outcome<()> {
        let start = self.next;
        let at = self.at();
        match self.function_ahead() {
            (true, true) => match self.function(template) {
                Ok(()) => Ok(()),
                Err(fault) => self.refused_function(start, fault),
            },
            (true, false) => self.host_function(),
            (false, device) => {
                let parsed = self
                    .specifiers()
                    .and_then(|specifiers| self.declarators(&specifiers));
                match parsed {
                    Ok(variables) => self.program.globals.extend(variables.into_iter().map(|mut variable| {
                        variable.is_extern &= variable.space == Space::Shared;
                        variable
                    })),
                    Err(fault) if device || self.tokens[start..self.next.min(self.tokens.len())].iter().any(|token| {
                        matches!(&token.tok, Tok::Name(name) if name.starts_with("__"))
                    }) => return Err(fault),
                    Err(_) => {
                        self.next = start;
                        self.skip_item()?;
                        self.program.notes.push((at, "host declaration skipped".to_owned()));
                    }
                }
                Ok(())
            }
        }
    }

    pub(super) fn push_function(&mut self, mut function: Function) {
        function.index = self.program.functions.len();
        self.program.functions.push(Rc::new(function));
    }

    /// Keeps a function whose head is refused: the error counts if the function is used.
    pub(super) fn refused_function(&mut self, start: usize, fault: Fault) -> Outcome<()> {
        self.next = start;
        let mut name: Option<Rc<str>> = None;
        let mut kind = FunctionKind::Device;
        while !self.is("(") {
            match self.peek().clone() {
                Tok::End => return Err(fault),
                Tok::Name(word)
                    if matches!(
                        &*word,
                        "__launch_bounds__" | "__align__" | "alignas" | "__attribute__"
                    ) =>
                {
                    self.next = self.after_bracket(self.next + 1)?;
                    continue;
                }
                Tok::Name(word) if &*word == "__global__" => kind = FunctionKind::Global,
                Tok::Name(word) => name = Some(word),
                _ => {}
            }
            self.next += 1;
        }
        let at = self.tokens.get(start).map_or(0, |token| token.at);
        self.skip_item()?;
        let Some(name) = name else {
            return Err(fault);
        };
        // `<` after its name opens template arguments, whatever they are.
        self.templates.insert(name.clone());
        self.push_function(Function {
            at,
            index: 0,
            name,
            kind,
            template: Vec::new(),
            specialises: None,
            result: TypeName {
                at,
                base: Base::Void,
                pointers: 0,
                reference: false,
                is_const: false,
            },
            parameters: Vec::new(),
            body: Some(Err(fault)),
        });
        Ok(())
    }

    fn function(&mut self, template: Vec<TemplateParam>) -> Outcome<()> {
        let specifiers = self.specifiers()?;
        let result = self.pointers(specifiers.ty.clone())?;
        // Qualifiers may follow the result type.
        let mut is_global = specifiers.is_global;
        while matches!(self.peek(), Tok::Name(word) if matches!(&**word, "__global__" | "__device__" | "__host__" | "__launch_bounds__" | "__forceinline__"))
        {
            is_global |= self.is_word("__global__");
            self.next = if self.is_word("__launch_bounds__") {
                self.after_bracket(self.next + 1)?
            } else {
                self.next + 1
            };
        }
        let at = self.at();
        let mut name = self.name("the name of a function")?;
        if &*name == "operator" {
            let Tok::Punct(sign) = *self.peek() else {
                return fault(at, "this operator is not supported; write a function");
            };
            self.next += 1;
            name = Rc::from(format!("operator{sign}"));
        }
        if !template.is_empty() {
            self.templates.insert(name.clone());
        }
        if self.is("::") {
            return fault(
                at,
                format!(
                    "members such as those of {name} are not supported outside of it; define them inside"
                ),
            );
        }
        let specialises = if self.is("<") && template.is_empty() {
            Some(self.template_arguments()?)
        } else {
            None
        };
        self.expect("(")?;
        let hidden = self.shadowed.len();
        let parameters = self.parameters()?;
        let kind = if is_global {
            FunctionKind::Global
        } else {
            FunctionKind::Device
        };
        let body = if self.take(";") {
            None
        } else if self.is("{") {
            let end = self.after_bracket(self.next)?;
            let depth = self.depth;
            let body = self.block();
            self.depth = depth;
            self.next = end;
            Some(body)
        } else {
            return self.unexpected("{ or ;");
        };
        self.types.extend(self.shadowed.drain(hidden..));
        self.push_function(Function {
            at,
            index: 0,
            name,
            kind,
            template,
            specialises,
            result,
            parameters,
            body,
        });
        Ok(())
    }

    pub(super) fn parameters(&mut self) -> Outcome<Vec<Variable>> {
        let mut parameters = Vec::new();
        if self.take(")") {
            return Ok(parameters);
        }
        if self.is_word("void") && self.is_at(1, ")") {
            self.next += 2;
            return Ok(parameters);
        }
        loop {
            let mut specifiers = self.specifiers()?;
            specifiers.space = Space::Plain;
            // A parameter without a name.
            let unnamed = matches!(self.peek(), Tok::Punct("," | ")"));
            let mut parameter = if unnamed {
                Variable {
                    at: self.at(),
                    name: Rc::from(""),
                    ty: specifiers.ty,
                    lengths: Vec::new(),
                    init: None,
                    space: Space::Plain,
                    is_extern: false,
                }
            } else {
                let pointed = self.next;
                let ty = self.pointers(specifiers.ty.clone())?;
                if matches!(self.peek(), Tok::Punct("," | ")")) {
                    Variable {
                        at: self.at(),
                        name: Rc::from(""),
                        ty,
                        lengths: Vec::new(),
                        init: None,
                        space: Space::Plain,
                        is_extern: false,
                    }
                } else {
                    self.next = pointed;
                    self.declarator(&specifiers)?
                }
            };
            if self.take("=") {
                parameter.init = Some(self.assignment()?);
            }
            parameters.push(parameter);
            if !self.take(",") {
                break;
            }
        }
        self.expect(")")?;
        Ok(parameters)
    }
}

//! Structures and enumerations.

use super::Parser;
use crate::ast::{Alias, Structure, TemplateParam, Variable};
use crate::error::{Outcome, fault};
use crate::source::Tok;
use std::rc::Rc;

impl Parser {
    /// Parses a structure up to its closing brace, and returns its name.
    pub(super) fn structure_body(&mut self, template: Vec<TemplateParam>) -> Outcome<Rc<str>> {
        let is_union = self.is_word("union");
        self.next += 1;
        let mut align = None;
        while matches!(self.peek(), Tok::Name(name) if matches!(&**name, "__align__" | "alignas" | "__attribute__"))
        {
            if let Tok::Int { value, .. } = self.peek_at(2) {
                align = u32::try_from(*value)
                    .ok()
                    .filter(|value| value.is_power_of_two() && *value <= 16);
            }
            self.next = self.after_bracket(self.next + 1)?;
        }
        let name: Rc<str> = match self.peek().clone() {
            Tok::Name(name) => {
                self.next += 1;
                name
            }
            _ => Rc::from(format!("structure {}", self.at())),
        };
        self.types.insert(name.clone());
        let mut fields = Ok(Vec::new());
        if !self.is("{") {
            fields = fault(
                self.at(),
                "structures with a base are not supported; make the base a member",
            );
            while !self.is("{") && *self.peek() != Tok::End {
                self.next += 1;
            }
        }
        let end = self.after_bracket(self.next)?;
        let depth = self.depth;
        let hidden = self.shadowed.len();
        if fields.is_ok() {
            self.next += 1;
            fields = self.fields(end, &name, &template);
        }
        self.types.extend(self.shadowed.drain(hidden..));
        self.depth = depth;
        self.next = end;
        self.program.structures.push(Structure {
            name: name.clone(),
            template,
            fields,
            is_union,
            align,
        });
        Ok(name)
    }

    pub(super) fn structure(&mut self, template: Vec<TemplateParam>) -> Outcome<()> {
        let name = self.structure_body(template)?;
        // `typedef struct { … } name;` names it afterwards.
        if let Tok::Name(after) = self.peek().clone() {
            self.next += 1;
            if after != name {
                let base = crate::ast::Base::Name(name.clone(), Vec::new());
                let ty = crate::ast::TypeName {
                    at: self.at(),
                    base,
                    pointers: 0,
                    reference: false,
                    is_const: false,
                };
                self.program.aliases.push((
                    after.clone(),
                    Alias {
                        ty,
                        lengths: Vec::new(),
                    },
                ));
            }
            self.types.insert(after);
        }
        while !self.take(";") {
            if *self.peek() == Tok::End {
                return self.unexpected(";");
            }
            self.next += 1;
        }
        Ok(())
    }

    /// Parses the members up to the closing brace.
    fn fields(
        &mut self,
        end: usize,
        name: &Rc<str>,
        template: &[TemplateParam],
    ) -> Outcome<Vec<Variable>> {
        let mut fields = Vec::new();
        while self.next + 1 < end {
            if matches!(self.peek(), Tok::Name(word) if matches!(&**word, "public" | "private"))
                && self.is_at(1, ":")
            {
                self.next += 2;
                continue;
            }
            if self.friend_ahead() {
                self.function_or_variables(template.to_vec())?;
                continue;
            }
            if self.method_ahead() {
                self.method(name, template)?;
                continue;
            }
            let is_static = (0..4)
                .map_while(|ahead| match self.peek_at(ahead) {
                    Tok::Name(word) if matches!(&**word, "constexpr" | "const" | "inline") => {
                        Some(false)
                    }
                    Tok::Name(word) => Some(&**word == "static"),
                    _ => None,
                })
                .any(|found| found);
            let specifiers = self.specifiers()?;
            let declared = self.declarators(&specifiers)?;
            if is_static {
                self.static_members(declared, name, template)?;
            } else {
                fields.extend(declared);
            }
        }
        Ok(fields)
    }

    /// Makes constants `Structure::name` of static members.
    fn static_members(
        &mut self,
        members: Vec<Variable>,
        owner: &Rc<str>,
        template: &[TemplateParam],
    ) -> Outcome<()> {
        for mut member in members {
            if !template.is_empty() || member.init.is_none() || !member.ty.is_const {
                return fault(
                    member.at,
                    "static members are supported as constants with a value, in structures that are no templates; use a constant outside",
                );
            }
            member.name = Rc::from(format!("{owner}::{}", member.name));
            self.program.globals.push(member);
        }
        Ok(())
    }

    pub(super) fn enumeration(&mut self) -> Outcome<()> {
        self.next += 1;
        let scoped = self.take_word("class") || self.take_word("struct");
        let mut name = None;
        if let Tok::Name(tag) = self.peek().clone() {
            self.next += 1;
            name = Some(tag);
        }
        while !self.is("{") && *self.peek() != Tok::End {
            self.next += 1;
        }
        self.expect("{")?;
        let mut previous = None;
        while !self.is("}") {
            let mut constant = self.name("an enumeration constant")?;
            if let (true, Some(name)) = (scoped, &name) {
                constant = Rc::from(format!("{name}::{constant}"));
            }
            let value = if self.take("=") {
                Some(self.assignment()?)
            } else {
                None
            };
            self.program.constants.push((constant, value, previous));
            previous = Some(self.program.constants.len() - 1);
            if !self.take(",") {
                break;
            }
        }
        self.expect("}")?;
        if let Tok::Name(after) = self.peek().clone() {
            self.next += 1;
            self.types.insert(after.clone());
            self.program.enumerations.push(after);
        }
        if let Some(name) = name {
            self.types.insert(name.clone());
            self.program.enumerations.push(name);
        }
        self.expect(";")
    }
}

//! Templates and their specialisations.

use std::rc::Rc;

use super::Parser;
use crate::ast::{Structure, TemplateArg, TemplateParam};
use crate::error::{Outcome, fault};
use crate::source::Tok;

impl Parser {
    pub(super) fn template(&mut self) -> Outcome<()> {
        let start = self.next;
        self.next += 1;
        let parsed = self.template_parameters();
        let parameters = match parsed {
            Ok(parameters) => parameters,
            // Templates beyond the subset are refused where they are used.
            Err(fault) => {
                self.next = start;
                return match self.function_ahead() {
                    (true, true) => self.refused_function(start, fault),
                    _ => self.skip_item(),
                };
            }
        };
        if parameters.is_empty()
            && matches!(self.peek(), Tok::Name(word) if matches!(&**word, "struct" | "class"))
        {
            return self.specialised_structure();
        }
        let hidden: Vec<Rc<str>> = parameters
            .iter()
            .filter(|parameter| {
                parameter.value.is_none() && self.types.insert(parameter.name.clone())
            })
            .map(|parameter| parameter.name.clone())
            .collect();
        let result = if matches!(self.peek(), Tok::Name(word) if matches!(&**word, "struct" | "class"))
            && self.defines()
        {
            self.structure(parameters)
        } else {
            self.function_or_variables(parameters)
        };
        for name in hidden {
            self.types.remove(&name);
        }
        result
    }

    /// Skips a specialisation of a structure, whose template is refused from here on.
    fn specialised_structure(&mut self) -> Outcome<()> {
        let at = self.at();
        self.next += 1;
        let name = self.name("the name of a structure")?;
        let refused = fault(
            at,
            format!(
                "specialisations of structures such as {name} are not supported; use overloads"
            ),
        );
        for structure in &mut self.program.structures {
            if structure.name == name {
                structure.fields = refused.clone();
            }
        }
        self.program.structures.push(Structure {
            name,
            template: Vec::new(),
            fields: refused,
            is_union: false,
            align: None,
        });
        self.skip_item()
    }

    fn template_parameters(&mut self) -> Outcome<Vec<TemplateParam>> {
        self.expect("<")?;
        let mut parameters = Vec::new();
        while !matches!(self.peek(), Tok::Punct(">" | ">>")) {
            let is_type =
                matches!(self.peek(), Tok::Name(word) if matches!(&**word, "typename" | "class"));
            let value = if is_type {
                self.next += 1;
                None
            } else {
                Some(self.type_name()?)
            };
            let name = self.name("the name of a template parameter")?;
            let default = match (self.take("="), is_type) {
                (false, _) => None,
                (true, true) => Some(TemplateArg::Type(self.type_name()?)),
                (true, false) => Some(TemplateArg::Value(self.template_value()?)),
            };
            parameters.push(TemplateParam {
                name,
                value,
                default,
            });
            if !self.take(",") {
                break;
            }
        }
        self.close_angle()?;
        Ok(parameters)
    }
}

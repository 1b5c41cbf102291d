//! Host code, which is skipped, and type aliases.

use super::Parser;
use crate::ast::{Alias, Function, FunctionKind};
use crate::error::Outcome;
use crate::source::Tok;
use std::rc::Rc;

impl Parser {
    /// Skips to the end of an item: a semicolon or a block.
    pub(super) fn skip_item(&mut self) -> Outcome<()> {
        loop {
            match self.peek() {
                Tok::End => return Ok(()),
                Tok::Punct(";") => {
                    self.next += 1;
                    return Ok(());
                }
                Tok::Punct("{") => {
                    self.next = self.after_bracket(self.next)?;
                    self.take(";");
                    return Ok(());
                }
                Tok::Punct("(" | "[") => self.next = self.after_bracket(self.next)?,
                _ => self.next += 1,
            }
        }
    }

    /// Parses `typedef` or `using`, up to the semicolon.
    pub(super) fn alias(&mut self) -> Outcome<()> {
        let start = self.next;
        let parsed = self.alias_inside();
        if parsed.is_err() {
            // Aliases of host types are not needed.
            self.next = start;
            self.skip_item()?;
        }
        Ok(())
    }

    pub(super) fn alias_inside(&mut self) -> Outcome<()> {
        if self.take_word("using") {
            let name = self.name("a name")?;
            self.expect("=")?;
            let ty = self.type_name()?;
            self.expect(";")?;
            self.types.insert(name.clone());
            self.program.aliases.push((
                name,
                Alias {
                    ty,
                    lengths: Vec::new(),
                },
            ));
            return Ok(());
        }
        self.next += 1;
        if matches!(self.peek(), Tok::Name(word) if matches!(&**word, "struct" | "union"))
            && self.defines()
        {
            return self.structure(Vec::new());
        }
        if self.is_word("enum") && self.defines() {
            return self.enumeration();
        }
        if self.take_word("struct") && self.is_at(1, ";") {
            self.next += 2;
            return Ok(());
        }
        let specifiers = self.specifiers()?;
        let variable = self.declarator(&specifiers)?;
        self.expect(";")?;
        self.types.insert(variable.name.clone());
        let alias = Alias {
            ty: variable.ty,
            lengths: variable.lengths,
        };
        self.program.aliases.push((variable.name, alias));
        Ok(())
    }

    pub(super) fn host_function(&mut self) -> Outcome<()> {
        let at = self.at();
        let start = self.next;
        let mut name: Rc<str> = Rc::from("");
        while !self.is("(") && *self.peek() != Tok::End {
            if let Tok::Name(word) = self.peek() {
                name = word.clone();
            }
            self.next += 1;
        }
        self.skip_item()?;
        let body = &self.tokens[start..self.next.min(self.tokens.len())];
        if !body.iter().any(|token| token.tok == Tok::Punct("{")) {
            return Ok(());
        }
        let mut notes = vec![(at, format!("host function {name} skipped"))];
        for (index, token) in body.iter().enumerate() {
            if token.tok != Tok::Punct("<<<") {
                continue;
            }
            if let Some(Tok::Name(kernel)) = index.checked_sub(1).map(|before| &body[before].tok) {
                notes.push((token.at, format!("the host launches {kernel} here: its second launch argument is the block size")));
            }
        }
        self.program.notes.extend(notes);
        let result = crate::ast::TypeName {
            at,
            base: crate::ast::Base::Void,
            pointers: 0,
            reference: false,
            is_const: false,
        };
        self.push_function(Function {
            at,
            index: 0,
            name,
            kind: FunctionKind::Host,
            template: Vec::new(),
            specialises: None,
            result,
            parameters: Vec::new(),
            body: None,
        });
        Ok(())
    }
}

//! Member functions, constructors and operators of structures.

use std::rc::Rc;

use super::Lowering;
use super::facts::TemplateValue;
use super::level::Level;
use super::overload::{place_type, with_typed_lists};
use super::value::{Place, Value};
use crate::ast::{Expr, ExprKind, Function};
use crate::error::{Outcome, fault};
use crate::types::{Struct, Ty};

impl Lowering<'_> {
    fn methods(&self, structure: &Struct, name: &str) -> Vec<Rc<Function>> {
        let name = format!("{}::{name}", structure.name);
        let functions = self.program.functions.iter();
        functions
            .filter(|function| *function.name == *name)
            .cloned()
            .collect()
    }

    /// Returns the template arguments that a structure was made with.
    pub(super) fn arguments_of(&self, structure: &Rc<Struct>) -> Vec<TemplateValue> {
        let found = self
            .structures
            .iter()
            .find(|(_, known)| *known == structure);
        found.map_or(Vec::new(), |((_, bound), _)| bound.clone())
    }

    /// Calls a member function with the object as the first place.
    fn call_method(
        &mut self,
        structure: &Rc<Struct>,
        name: &str,
        mut places: Vec<Place>,
        arguments: &[Expr],
        at: u32,
    ) -> Outcome<Option<Value>> {
        let candidates = self.methods(structure, name);
        let bound = self.arguments_of(structure);
        let mut best: Option<(u32, Rc<Function>)> = None;
        for function in candidates {
            let required = function
                .parameters
                .iter()
                .filter(|parameter| parameter.init.is_none())
                .count();
            if places.len() < required || places.len() > function.parameters.len() {
                continue;
            }
            if let Some(score) = self.score(&function, &bound, &places)
                && best.as_ref().is_none_or(|(known, _)| score > *known)
            {
                best = Some((score, function));
            }
        }
        let Some((_, function)) = best else {
            return Ok(None);
        };
        if let Some(object @ Place::Value(_)) = places.first().cloned() {
            places[0] = self.materialised(object, at)?;
        }
        // The places of errors are those of the arguments after the object.
        let mut all = vec![Expr {
            at,
            kind: ExprKind::Null,
        }];
        all.extend_from_slice(arguments);
        self.call_with(&function, bound, places, &all, at).map(Some)
    }

    /// Stores a temporary value in a variable, so that it has a place.
    pub(super) fn materialised(&mut self, place: Place, at: u32) -> Outcome<Place> {
        let Place::Value(value) = place else {
            return Ok(place);
        };
        let key = self.next_key(at, &Rc::from("temporary"));
        let root = self
            .facts
            .root(super::facts::RootKey::Local(key.0, key.1, key.2));
        let mut leaves = Vec::new();
        for leaf in value.ty.leaves() {
            let ty = self.leaf_ty(leaf);
            leaves.push((self.local("temporary", ty, None), leaf));
        }
        self.f.locals.insert(root, leaves);
        let n_guards = self.f.guards.len();
        self.f.guards_of.insert(key, n_guards);
        let pointer = super::value::Pointer::Local {
            root,
            leaf: 0,
            index: None,
            component: None,
        };
        let place = Place::At {
            pointer,
            ty: value.ty.clone(),
            level: Level::UNIFORM,
        };
        if let Place::At { pointer, ty, .. } = &place {
            self.initialise(pointer.clone(), ty, value, at)?;
        }
        Ok(place)
    }

    pub(super) fn places(&mut self, arguments: &[Expr]) -> Outcome<Vec<Place>> {
        arguments
            .iter()
            .map(|argument| self.place(argument))
            .collect()
    }

    /// Calls a member function of an object, if there is one for the arguments.
    fn call_on(
        &mut self,
        structure: &Rc<Struct>,
        object: Place,
        name: &str,
        arguments: &[Expr],
        at: u32,
    ) -> Outcome<Option<Value>> {
        let arguments = &with_typed_lists(&self.methods(structure, name), arguments, 1);
        let mut places = vec![object];
        places.extend(self.places(arguments)?);
        self.call_method(structure, name, places, arguments, at)
    }

    /// Calls `object.name(arguments)`.
    pub(super) fn member_call(
        &mut self,
        callee: &Expr,
        arguments: &[Expr],
        at: u32,
    ) -> Outcome<Value> {
        let ExprKind::Member {
            object,
            name,
            arrow,
        } = &callee.kind
        else {
            return fault(
                at,
                "only functions are called, by their names; function pointers are not supported",
            );
        };
        let object = if *arrow {
            let pointer = self.expr(object)?;
            self.pointee(&pointer, at)?
        } else {
            self.place(object)?
        };
        let Ty::Struct(structure) = place_type(&object) else {
            return fault(
                at,
                format!("{} has no member functions", place_type(&object).name()),
            );
        };
        match self.call_on(&structure, object, name, arguments, at)? {
            Some(value) => Ok(value),
            None => fault(
                at,
                format!(
                    "{} has no member function {name} for these arguments",
                    structure.name
                ),
            ),
        }
    }

    /// Calls an object of a structure with `operator()`.
    pub(super) fn call_object(
        &mut self,
        name: &Rc<str>,
        arguments: &[Expr],
        at: u32,
    ) -> Outcome<Value> {
        let object = self.name(name, &[], at)?;
        let Ty::Struct(structure) = place_type(&object) else {
            return fault(
                at,
                format!("{name} is a variable; function pointers are not supported"),
            );
        };
        match self.call_on(&structure, object, "operator()", arguments, at)? {
            Some(value) => Ok(value),
            None => fault(
                at,
                format!("{} has no operator() for these arguments", structure.name),
            ),
        }
    }

    /// Calls a member function by its name alone, within another.
    pub(super) fn sibling_call(
        &mut self,
        name: &str,
        arguments: &[Expr],
        at: u32,
    ) -> Outcome<Option<Value>> {
        if self.find("this").is_none() {
            return Ok(None);
        }
        let object = self.name(&Rc::from("this"), &[], at)?;
        let Ty::Struct(structure) = place_type(&object) else {
            return Ok(None);
        };
        if self.methods(&structure, name).is_empty() {
            return Ok(None);
        }
        self.call_on(&structure, object, name, arguments, at)
    }

    /// Calls the member operator of the first operand, if it has one.
    pub(super) fn member_operator(
        &mut self,
        sign: &str,
        places: &[Place],
        at: u32,
    ) -> Outcome<Option<Value>> {
        let Some(Ty::Struct(structure)) = places.first().map(place_type) else {
            return Ok(None);
        };
        self.call_method(
            &structure,
            &format!("operator{sign}"),
            places.to_vec(),
            &[],
            at,
        )
    }

    /// Makes a structure by its constructor, if it has one for the arguments.
    pub(super) fn constructed(
        &mut self,
        ty: &Ty,
        parts: &[Expr],
        at: u32,
    ) -> Outcome<Option<Value>> {
        let Ty::Struct(structure) = ty else {
            return Ok(None);
        };
        let has_constructor = !self.methods(structure, &structure.name.clone()).is_empty();
        if !has_constructor && parts.is_empty() {
            return self.initial_value(structure, at);
        }
        if !has_constructor
            || parts
                .iter()
                .any(|part| matches!(part.kind, ExprKind::List(_)))
        {
            return Ok(None);
        }
        let places = self.places(parts)?;
        if let [only] = &places[..]
            && place_type(only) == *ty
        {
            return self.load(only, at).map(Some);
        }
        let empty = match self.initial_value(structure, at)? {
            Some(value) => value,
            None => self.zero_value(ty, at)?,
        };
        let object = self.materialised(Place::Value(empty), at)?;
        let mut all = vec![object.clone()];
        all.extend(places);
        match self.call_method(structure, &structure.name.clone(), all, parts, at)? {
            Some(_) => self.load(&object, at).map(Some),
            None if parts.is_empty() => self.initial_value(structure, at),
            None => fault(
                at,
                format!("{} has no constructor for these arguments", structure.name),
            ),
        }
    }

    /// Returns the value that the initialisers of members make, if there are any.
    pub(super) fn initial_value(
        &mut self,
        structure: &Rc<Struct>,
        at: u32,
    ) -> Outcome<Option<Value>> {
        let program = self.program;
        let declared = program
            .structures
            .iter()
            .find(|declared| declared.name == structure.name);
        let Some(Ok(members)) = declared.map(|declared| &declared.fields) else {
            return Ok(None);
        };
        if members.iter().all(|member| member.init.is_none()) {
            return Ok(None);
        }
        let bound = self.arguments_of(structure);
        let template = declared.map_or(&[][..], |declared| &declared.template);
        let types = self.f.types.clone();
        let scopes = std::mem::replace(&mut self.f.scopes, vec![std::collections::HashMap::new()]);
        let value = self
            .define_template(template, &bound)
            .and_then(|()| self.initial_members(structure, members, at));
        self.f.scopes = scopes;
        self.f.types = types;
        value.map(Some)
    }

    fn initial_members(
        &mut self,
        structure: &Rc<Struct>,
        members: &[crate::ast::Variable],
        at: u32,
    ) -> Outcome<Value> {
        let mut values = Vec::new();
        for field in structure.parts() {
            let init = members
                .iter()
                .find(|member| member.name == field.name)
                .and_then(|member| member.init.as_ref());
            values.push(match init {
                Some(Expr {
                    kind: ExprKind::List(parts),
                    at,
                }) => self.construct(&field.ty, parts, *at)?,
                Some(init) => {
                    let value = self.expr(init)?;
                    self.convert(value, &field.ty, init.at)?
                }
                None => self.zero_value(&field.ty, at)?,
            });
        }
        self.assembled(&Ty::Struct(structure.clone()), values, Level::UNIFORM, at)
    }

    /// Returns the member that a name stands for within a member function.
    pub(super) fn own_member(&mut self, name: &str, at: u32) -> Outcome<Option<Place>> {
        let Some(var) = self.find("this") else {
            return Ok(None);
        };
        if let Ty::Struct(structure) = &var.ty {
            let constant = format!("{}::{name}", structure.name);
            let program = self.program;
            if let Some(global) = program
                .globals
                .iter()
                .find(|global| *global.name == *constant)
            {
                return self.global(global, at).map(Some);
            }
        }
        let is_field = matches!(&var.ty, Ty::Struct(structure) if structure.fields.iter().any(|field| *field.name == *name));
        if !is_field {
            return Ok(None);
        }
        let object = self.name(&Rc::from("this"), &[], at)?;
        self.member(object, name, at).map(Some)
    }
}

//! Calls: overloads, template arguments and built-in functions.

use std::rc::Rc;

use super::Lowering;
use super::facts::TemplateValue;
use super::function::Argument;
use super::state::{Var, VarKind};
use super::value::{Data, Place, Value};
use crate::ast::{Base, Expr, ExprKind, Function, FunctionKind, Stmt, StmtKind, TemplateArg, TypeName};
use crate::error::{Outcome, fault};
use crate::types::{Prim, Ty};

/// Functions whose arguments are assigned to, as those of references are.
const BY_REFERENCE: [&str; 1] = ["swap"];

impl Lowering<'_> {
    pub(super) fn call(&mut self, callee: &Expr, arguments: &[Expr], at: u32) -> Outcome<Value> {
        let ExprKind::Name(name, template) = &callee.kind else {
            return fault(at, "only functions are called, by their names; function pointers and members are not supported");
        };
        if self.find(name).is_some() {
            return fault(at, format!("{name} is a variable; functors and function pointers are not supported"));
        }
        let program = self.program;
        let candidates: Vec<Rc<Function>> = program.functions.iter().filter(|function| function.name == *name).cloned().collect();
        if candidates.iter().any(|function| function.kind == FunctionKind::Global) {
            return fault(at, format!("{name} is a kernel; kernels are launched by the host. Move its body to a __device__ function"));
        }
        let defined: Vec<Rc<Function>> = candidates.iter().filter(|function| function.kind == FunctionKind::Device).cloned().collect();
        if defined.is_empty() {
            if let Some(value) = self.built_in_call(name, arguments, at)? {
                return Ok(value);
            }
            if !candidates.is_empty() {
                return fault(at, format!("{name} is host code; add __device__ to it"));
            }
            return fault(at, format!("{name} is not a function that kernels may call; define it as __device__ in this source"));
        }
        let mut places = Vec::new();
        for argument in arguments {
            places.push(match &argument.kind {
                ExprKind::List(_) => return fault(argument.at, "a list in braces has no type here; write the type before it"),
                _ => self.place(argument)?,
            });
        }
        match self.choose(&defined, template, &places, at)? {
            Some((function, bound)) => self.call_with(&function, bound, places, arguments, at),
            None => match self.built_in_call(name, arguments, at)? {
                Some(value) => Ok(value),
                None => {
                    let types: Vec<String> = places.iter().map(|place| place_type(place).name()).collect();
                    fault(at, format!("no {name} takes ({}); convert the arguments", types.join(", ")))
                }
            },
        }
    }

    fn call_with(
        &mut self,
        function: &Rc<Function>,
        bound: Vec<TemplateValue>,
        places: Vec<Place>,
        arguments: &[Expr],
        at: u32,
    ) -> Outcome<Value> {
        let types = self.f.types.clone();
        self.f.scopes.push(std::collections::HashMap::new());
        let mut parameters = Vec::new();
        let mut failed = self.define_template(&function.template, &bound).err();
        for parameter in &function.parameters {
            match self.resolve(&parameter.ty).and_then(|ty| self.array_of(ty, &parameter.lengths, parameter.at)) {
                Ok(Ty::Array(element, _)) if !parameter.ty.reference => parameters.push(Ty::Pointer(element)),
                Ok(ty) => parameters.push(ty),
                Err(fault) => failed = failed.or(Some(fault)),
            }
        }
        self.f.scopes.pop();
        self.f.types = types;
        if let Some(fault) = failed {
            return Err(fault);
        }
        let mut evaluated = Vec::new();
        for (index, (parameter, ty)) in function.parameters.iter().zip(&parameters).enumerate() {
            let Some(place) = places.get(index) else {
                let Some(default) = &parameter.init else {
                    return fault(at, format!("{} lacks the argument {}", function.name, parameter.name));
                };
                let value = self.expr(default)?;
                evaluated.push(Argument::Value(self.convert(value, ty, at)?));
                continue;
            };
            let argument_at = arguments.get(index).map_or(at, |argument| argument.at);
            if parameter.ty.reference
                && let Place::At { pointer, ty: found, .. } = place
                && found == ty
            {
                evaluated.push(Argument::Place { pointer: pointer.clone(), ty: found.clone() });
                continue;
            }
            if parameter.ty.reference && !parameter.ty.is_const {
                return fault(argument_at, format!("the argument for {} is not a variable of type {}; a reference needs one", parameter.name, ty.name()));
            }
            let value = self.load(place, argument_at)?;
            evaluated.push(Argument::Value(self.convert(value, ty, argument_at)?));
        }
        if let Some(value) = self.constant_call(function, &bound, &evaluated, at)? {
            return Ok(value);
        }
        self.call_function(function, bound, evaluated, at)
    }

    /// Evaluates a function that is one `return` in place if its arguments are constants, so that its result is one.
    fn constant_call(&mut self, function: &Rc<Function>, bound: &[TemplateValue], arguments: &[Argument], at: u32) -> Outcome<Option<Value>> {
        let Some(Ok(body)) = &function.body else {
            return Ok(None);
        };
        let StmtKind::Block(body) = &body.kind else {
            return Ok(None);
        };
        let [Stmt { kind: StmtKind::Return(Some(result)), .. }] = &body[..] else {
            return Ok(None);
        };
        let is_constant = |argument: &Argument| match argument {
            Argument::Value(value) => self.constant(value).is_some(),
            Argument::Place { .. } => false,
        };
        if arguments.is_empty() || !arguments.iter().all(is_constant) || self.calls.contains(&function.index) || self.collective.contains(&function.name) {
            return Ok(None);
        }
        let types = self.f.types.clone();
        let scopes = std::mem::replace(&mut self.f.scopes, vec![std::collections::HashMap::new()]);
        let value = self.constant_result(function, bound, arguments, result, at);
        self.f.scopes = scopes;
        self.f.types = types;
        value.map(Some)
    }

    fn constant_result(&mut self, function: &Rc<Function>, bound: &[TemplateValue], arguments: &[Argument], result: &Expr, at: u32) -> Outcome<Value> {
        self.define_template(&function.template, bound)?;
        for (parameter, argument) in function.parameters.iter().zip(arguments) {
            if let Argument::Value(value) = argument {
                let key = (self.spec(), 0, 0);
                let var = Var { ty: value.ty.clone(), key, kind: VarKind::Value(value.clone()) };
                self.define(&parameter.name, var);
            }
        }
        let ty = self.resolve(&function.result)?;
        self.calls.push(function.index);
        let value = match &result.kind {
            ExprKind::List(parts) => self.construct(&ty, parts, at),
            _ => self.expr(result),
        };
        self.calls.pop();
        self.convert(value?, &ty, at)
    }

    /// Selects the overload whose parameters fit best.
    fn choose(
        &mut self,
        candidates: &[Rc<Function>],
        template: &[TemplateArg],
        places: &[Place],
        at: u32,
    ) -> Outcome<Option<(Rc<Function>, Vec<TemplateValue>)>> {
        let mut best: Option<(u32, Rc<Function>, Vec<TemplateValue>)> = None;
        let mut last_fault = None;
        for function in candidates {
            let required = function.parameters.iter().filter(|parameter| parameter.init.is_none()).count();
            if places.len() < required || places.len() > function.parameters.len() {
                continue;
            }
            let bound = match self.deduced(function, template, places, at) {
                Ok(bound) => bound,
                Err(fault) => {
                    last_fault = Some(fault);
                    continue;
                }
            };
            let Some(score) = self.score(function, &bound, places) else {
                continue;
            };
            // A definition replaces its declaration.
            let better = best.as_ref().is_none_or(|(known, chosen, _)| score > *known || (score == *known && chosen.body.is_none()));
            if better {
                best = Some((score, function.clone(), bound));
            }
        }
        match (best, last_fault) {
            (Some((_, function, bound)), _) => Ok(Some((function, bound))),
            (None, Some(fault)) => Err(fault),
            (None, None) => Ok(None),
        }
    }

    /// Returns how well arguments fit, or `None` if they do not.
    fn score(&mut self, function: &Rc<Function>, bound: &[TemplateValue], places: &[Place]) -> Option<u32> {
        let types = self.f.types.clone();
        self.f.scopes.push(std::collections::HashMap::new());
        let mut score = u32::from(function.template.is_empty());
        let mut fits = self.define_template(&function.template, bound).is_ok();
        for (parameter, place) in function.parameters.iter().zip(places) {
            let Ok(ty) = self.resolve(&parameter.ty).and_then(|ty| self.array_of(ty, &parameter.lengths, parameter.at)) else {
                // The fault shows again when the call is lowered.
                continue;
            };
            let found = place_type(place);
            score += match (&ty, &found) {
                (a, b) if a == b => 8,
                (Ty::Pointer(a) | Ty::Array(a, _), Ty::Pointer(b) | Ty::Array(b, _)) if a == b => 8,
                (Ty::Prim(a), Ty::Prim(b)) if super::convert::promoted(*b) == *a => 6,
                (Ty::Prim(a), Ty::Prim(b)) if a.is_integer() == b.is_integer() => 4,
                (Ty::Prim(_), Ty::Prim(_)) => 2,
                (Ty::Pointer(_), Ty::Pointer(_)) => 2,
                _ => {
                    fits = false;
                    0
                }
            };
        }
        self.f.scopes.pop();
        self.f.types = types;
        fits.then_some(score)
    }

    /// Deduces template arguments from the types of a call's arguments.
    fn deduced(&mut self, function: &Rc<Function>, template: &[TemplateArg], places: &[Place], at: u32) -> Outcome<Vec<TemplateValue>> {
        if function.template.is_empty() {
            return Ok(Vec::new());
        }
        let mut given: Vec<TemplateValue> = Vec::new();
        for (index, parameter) in function.template.iter().enumerate() {
            if let Some(argument) = template.get(index) {
                let bound = self.bind_template(std::slice::from_ref(parameter), std::slice::from_ref(argument), at)?;
                given.extend(bound);
                continue;
            }
            let deduced = function
                .parameters
                .iter()
                .zip(places)
                .find_map(|(declared, place)| matched(&declared.ty, !declared.lengths.is_empty(), &parameter.name, &place_type(place)));
            match (deduced, &parameter.default) {
                (Some(ty), _) if parameter.value.is_none() => given.push(TemplateValue::Type(ty)),
                (_, Some(default)) => {
                    let bound = self.bind_template(std::slice::from_ref(parameter), std::slice::from_ref(default), at)?;
                    given.extend(bound);
                }
                _ => return fault(at, format!("the template argument {} of {} is not deduced; write it in <>", parameter.name, function.name)),
            }
        }
        Ok(given)
    }

    /// Calls the operator that the source defines for operands, if it does.
    pub(super) fn overloaded(&mut self, sign: &str, operands: &[&Value], at: u32) -> Outcome<Option<Value>> {
        if operands.iter().all(|value| matches!(value.ty, Ty::Prim(_) | Ty::Pointer(_))) {
            return Ok(None);
        }
        let places = operands.iter().map(|value| Place::Value((*value).clone())).collect();
        self.operator_call(sign, places, at)
    }

    /// Calls the compound assignment that the source defines, if it does.
    pub(super) fn overloaded_assign(&mut self, sign: &str, place: &Place, right: &Value, at: u32) -> Outcome<Option<Value>> {
        if matches!(place_type(place), Ty::Prim(_) | Ty::Pointer(_)) {
            return Ok(None);
        }
        self.operator_call(&format!("{sign}="), vec![place.clone(), Place::Value(right.clone())], at)
    }

    fn operator_call(&mut self, sign: &str, places: Vec<Place>, at: u32) -> Outcome<Option<Value>> {
        let name = format!("operator{sign}");
        let candidates: Vec<Rc<Function>> = self.program.functions.iter().filter(|function| *function.name == *name).cloned().collect();
        if candidates.is_empty() {
            return Ok(None);
        }
        match self.choose(&candidates, &[], &places, at) {
            Ok(Some((function, bound))) => self.call_with(&function, bound, places, &[], at).map(Some),
            _ => Ok(None),
        }
    }

    /// Evaluates arguments.
    pub(super) fn values(&mut self, arguments: &[Expr]) -> Outcome<Vec<Value>> {
        arguments.iter().map(|argument| self.expr(argument)).collect()
    }

    pub(super) fn built_in_call(&mut self, name: &str, arguments: &[Expr], at: u32) -> Outcome<Option<Value>> {
        if BY_REFERENCE.contains(&name) {
            return self.swap(arguments, at).map(Some);
        }
        match name {
            "printf" => return fault(at, "printf is not supported in kernels; write to a buffer"),
            "malloc" | "free" | "memcpy" | "memset" => {
                return fault(at, format!("{name} is not supported in kernels; use buffers, arrays and loops"));
            }
            "assert" | "__builtin_assume" | "__builtin_unreachable" | "__prof_trigger" => {
                // As with NDEBUG: neither evaluated nor checked.
                return Ok(Some(Value { ty: Ty::Void, data: Data::Leaves(Vec::new()), level: super::level::Level::UNIFORM }));
            }
            "tex1Dfetch" | "tex1D" | "tex2D" | "tex3D" | "surf2Dread" | "surf2Dwrite" => {
                return fault(at, "textures and surfaces are not supported; read a buffer");
            }
            _ => {}
        }
        if let Some(value) = self.sync_call(name, arguments, at)? {
            return Ok(Some(value));
        }
        if let Some(value) = self.warp_call(name, arguments, at)? {
            return Ok(Some(value));
        }
        if let Some(value) = self.atomic_call(name, arguments, at)? {
            return Ok(Some(value));
        }
        if let Some(value) = self.vector_call(name, arguments, at)? {
            return Ok(Some(value));
        }
        if let Some(value) = self.integer_call(name, arguments, at)? {
            return Ok(Some(value));
        }
        self.math_call(name, arguments, at)
    }

    fn swap(&mut self, arguments: &[Expr], at: u32) -> Outcome<Value> {
        let [a, b] = arguments else {
            return fault(at, "swap takes two variables");
        };
        let (a, b) = (self.place(a)?, self.place(b)?);
        let (x, y) = (self.load(&a, at)?, self.load(&b, at)?);
        self.store(&a, y, at)?;
        self.store(&b, x, at)?;
        Ok(Value { ty: Ty::Void, data: Data::Leaves(Vec::new()), level: super::level::Level::UNIFORM })
    }

    /// Checks the number of arguments.
    pub(super) fn expect_arguments(&self, name: &str, arguments: &[Expr], counts: std::ops::RangeInclusive<usize>, at: u32) -> Outcome<()> {
        if counts.contains(&arguments.len()) {
            return Ok(());
        }
        fault(at, format!("{name} takes {} arguments, and {} are given", counts.start(), arguments.len()))
    }

    /// Evaluates an argument as a scalar of a type.
    pub(super) fn scalar_argument(&mut self, argument: &Expr, prim: Prim) -> Outcome<Value> {
        let value = self.expr(argument)?;
        self.convert(value, &Ty::Prim(prim), argument.at)
    }
}

pub(super) fn place_type(place: &Place) -> Ty {
    match place {
        Place::At { ty, .. } => ty.clone(),
        Place::Variable(var) => var.ty.clone(),
        Place::Value(value) => value.ty.clone(),
    }
}

/// Returns the type that a template parameter stands for in a parameter's type.
fn matched(declared: &TypeName, is_array: bool, name: &Rc<str>, found: &Ty) -> Option<Ty> {
    let Base::Name(base, arguments) = &declared.base else {
        return None;
    };
    if base != name || !arguments.is_empty() {
        return None;
    }
    let mut ty = found.clone();
    for _ in 0..declared.pointers + u32::from(is_array) {
        ty = match ty {
            Ty::Pointer(inner) | Ty::Array(inner, _) => (*inner).clone(),
            _ => return None,
        };
    }
    // An array argument decays where the parameter is not a reference.
    match ty {
        Ty::Array(inner, _) if !declared.reference => Some(Ty::Pointer(inner)),
        other => Some(other),
    }
}

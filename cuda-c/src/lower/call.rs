//! Calls: overloads, template arguments and built-in functions.

use std::rc::Rc;

use super::Lowering;
use super::facts::TemplateValue;
use super::function::Argument;
use super::overload::{place_type, with_typed_lists};
use super::state::{Var, VarKind};
use super::value::{Data, Place, Value};
use crate::ast::{Expr, ExprKind, Function, FunctionKind, Stmt, StmtKind};
use crate::error::{Outcome, fault};
use crate::types::{Prim, Ty};

/// Maximum calls of a kernel that are evaluated in place.
const MAX_FOLDED: u32 = 512;
/// Functions whose arguments are assigned to, as those of references are.
const BY_REFERENCE: [&str; 1] = ["swap"];

impl Lowering<'_> {
    pub(super) fn call(&mut self, callee: &Expr, arguments: &[Expr], at: u32) -> Outcome<Value> {
        let ExprKind::Name(name, template) = &callee.kind else {
            return self.member_call(callee, arguments, at);
        };
        if self.find(name).is_some() {
            return self.call_object(name, arguments, at);
        }
        if let Some(limit) = name.strip_prefix("numeric_limits::") {
            return self.numeric_limit(limit, template, at);
        }
        if let Some(value) = self.sibling_call(name, arguments, at)? {
            return Ok(value);
        }
        let program = self.program;
        let candidates: Vec<Rc<Function>> = program
            .functions
            .iter()
            .filter(|function| function.name == *name)
            .cloned()
            .collect();
        if candidates
            .iter()
            .any(|function| function.kind == FunctionKind::Global)
        {
            return fault(
                at,
                format!(
                    "{name} is a kernel; kernels are launched by the host. Move its body to a __device__ function"
                ),
            );
        }
        let defined: Vec<Rc<Function>> = candidates
            .iter()
            .filter(|function| function.kind == FunctionKind::Device)
            .cloned()
            .collect();
        if defined.is_empty() {
            if let Some(value) = self.built_in_call(name, arguments, at)? {
                return Ok(value);
            }
            if !candidates.is_empty() {
                return fault(at, format!("{name} is host code; add __device__ to it"));
            }
            return fault(
                at,
                format!(
                    "{name} is not a function that kernels may call; define it as __device__ in this source"
                ),
            );
        }
        let arguments = &with_typed_lists(&defined, arguments, 0);
        let places = self.places(arguments)?;
        match self.choose(&defined, template, &places, at)? {
            Some((function, bound)) => self.call_with(&function, bound, places, arguments, at),
            None => match self.built_in_call(name, arguments, at)? {
                Some(value) => Ok(value),
                None => {
                    let types: Vec<String> = places
                        .iter()
                        .map(|place| place_type(place).name())
                        .collect();
                    fault(
                        at,
                        format!(
                            "no {name} takes ({}); convert the arguments",
                            types.join(", ")
                        ),
                    )
                }
            },
        }
    }

    pub(super) fn call_with(
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
            match self
                .resolve(&parameter.ty)
                .and_then(|ty| self.array_of(ty, &parameter.lengths, parameter.at))
            {
                Ok(Ty::Array(element, _)) if !parameter.ty.reference => {
                    parameters.push(Ty::Pointer(element))
                }
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
                    return fault(
                        at,
                        format!("{} lacks the argument {}", function.name, parameter.name),
                    );
                };
                let value = self.expr(default)?;
                evaluated.push(Argument::Value(self.convert(value, ty, at)?));
                continue;
            };
            let argument_at = arguments.get(index).map_or(at, |argument| argument.at);
            if parameter.ty.reference
                && let Place::At {
                    pointer, ty: found, ..
                } = place
                && found == ty
            {
                evaluated.push(Argument::Place {
                    pointer: pointer.clone(),
                    ty: found.clone(),
                });
                continue;
            }
            if parameter.ty.reference && !parameter.ty.is_const {
                return fault(
                    argument_at,
                    format!(
                        "the argument for {} is not a variable of type {}; a reference needs one",
                        parameter.name,
                        ty.name()
                    ),
                );
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
    fn constant_call(
        &mut self,
        function: &Rc<Function>,
        bound: &[TemplateValue],
        arguments: &[Argument],
        at: u32,
    ) -> Outcome<Option<Value>> {
        let Some(Ok(body)) = &function.body else {
            return Ok(None);
        };
        let StmtKind::Block(body) = &body.kind else {
            return Ok(None);
        };
        let [
            Stmt {
                kind: StmtKind::Return(Some(result)),
                ..
            },
        ] = &body[..]
        else {
            return Ok(None);
        };
        self.n_folded += 1;
        let is_constant = |argument: &Argument| match argument {
            Argument::Value(value) => self.constant(value).is_some(),
            Argument::Place { .. } => false,
        };
        if self.n_folded > MAX_FOLDED
            || arguments.is_empty()
            || !arguments.iter().all(is_constant)
            || self.calls.contains(&function.index)
            || self.collective.contains(&function.name)
        {
            return Ok(None);
        }
        let types = self.f.types.clone();
        let scopes = std::mem::replace(&mut self.f.scopes, vec![std::collections::HashMap::new()]);
        let value = self.constant_result(function, bound, arguments, result, at);
        self.f.scopes = scopes;
        self.f.types = types;
        value.map(Some)
    }

    fn constant_result(
        &mut self,
        function: &Rc<Function>,
        bound: &[TemplateValue],
        arguments: &[Argument],
        result: &Expr,
        at: u32,
    ) -> Outcome<Value> {
        self.define_template(&function.template, bound)?;
        for (parameter, argument) in function.parameters.iter().zip(arguments) {
            if let Argument::Value(value) = argument {
                let key = (self.spec(), 0, 0);
                let var = Var {
                    ty: value.ty.clone(),
                    key,
                    kind: VarKind::Value(value.clone()),
                };
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

    /// Evaluates arguments.
    pub(super) fn values(&mut self, arguments: &[Expr]) -> Outcome<Vec<Value>> {
        arguments
            .iter()
            .map(|argument| self.expr(argument))
            .collect()
    }

    pub(super) fn built_in_call(
        &mut self,
        name: &str,
        arguments: &[Expr],
        at: u32,
    ) -> Outcome<Option<Value>> {
        if BY_REFERENCE.contains(&name) {
            return self.swap(arguments, at).map(Some);
        }
        match name {
            "printf" => return fault(at, "printf is not supported in kernels; write to a buffer"),
            "malloc" | "free" | "memcpy" | "memset" => {
                return fault(
                    at,
                    format!("{name} is not supported in kernels; use buffers, arrays and loops"),
                );
            }
            "assert" | "__builtin_assume" | "__builtin_unreachable" | "__prof_trigger" => {
                // As with NDEBUG: neither evaluated nor checked.
                return Ok(Some(Value {
                    ty: Ty::Void,
                    data: Data::Leaves(Vec::new()),
                    level: super::level::Level::UNIFORM,
                }));
            }
            "__cuda_c_grid_sync" => {
                return fault(
                    at,
                    "a barrier of the grid is not supported by WGSL; end the kernel there and launch another",
                );
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
        if let Some(value) = self.half_call(name, arguments, at)? {
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
        Ok(Value {
            ty: Ty::Void,
            data: Data::Leaves(Vec::new()),
            level: super::level::Level::UNIFORM,
        })
    }

    /// Checks the number of arguments.
    pub(super) fn expect_arguments(
        &self,
        name: &str,
        arguments: &[Expr],
        counts: std::ops::RangeInclusive<usize>,
        at: u32,
    ) -> Outcome<()> {
        if counts.contains(&arguments.len()) {
            return Ok(());
        }
        fault(
            at,
            format!(
                "{name} takes {} arguments, and {} are given",
                counts.start(),
                arguments.len()
            ),
        )
    }

    /// Evaluates an argument as a scalar of a type.
    pub(super) fn scalar_argument(&mut self, argument: &Expr, prim: Prim) -> Outcome<Value> {
        let value = self.expr(argument)?;
        self.convert(value, &Ty::Prim(prim), argument.at)
    }
}

//! Built-in functions on vectors: `make_float4` and those of `helper_math.h`.

use naga::{Expression, MathFunction};

use super::Lowering;
use super::level::Level;
use super::value::Value;
use crate::ast::Expr;
use crate::error::{Outcome, fault};
use crate::types::{self, FLOAT, Prim, Ty};

impl Lowering<'_> {
    pub(super) fn vector_call(
        &mut self,
        name: &str,
        arguments: &[Expr],
        at: u32,
    ) -> Outcome<Option<Value>> {
        if let Some(ty) = name.strip_prefix("make_").and_then(types::vector) {
            return self.make_vector(ty, arguments, at).map(Some);
        }
        let (fun, n_arguments) = match name {
            "dot" => (MathFunction::Dot, 2),
            "cross" => (MathFunction::Cross, 2),
            "length" => (MathFunction::Length, 1),
            "normalize" => (MathFunction::Normalize, 1),
            "lerp" => (MathFunction::Mix, 3),
            "clamp" => return self.clamp(arguments, at).map(Some),
            _ => return Ok(None),
        };
        self.expect_arguments(name, arguments, n_arguments..=n_arguments, at)?;
        let values = self.values(arguments)?;
        let ty = values[0].ty.clone();
        let level = values
            .iter()
            .fold(Level::UNIFORM, |level, value| level.join(value.level));
        let (prim, lanes) = match &ty {
            Ty::Vector(prim @ Prim::Float, lanes) => (*prim, *lanes),
            Ty::Vector(prim, lanes) if fun == MathFunction::Dot => (*prim, *lanes),
            Ty::Prim(Prim::Float) if fun == MathFunction::Mix => (Prim::Float, 1),
            _ => return fault(at, format!("{name} takes vectors of float")),
        };
        let mut leaves = Vec::new();
        for value in &values {
            let Some(leaf) = value.first() else {
                return fault(at, format!("{name} takes vectors"));
            };
            if value.ty != ty && !matches!(value.ty, Ty::Prim(_)) {
                return fault(at, format!("{name} takes vectors of one type"));
            }
            leaves.push(if lanes == 1 {
                self.convert(value.clone(), &FLOAT, at)?
                    .first()
                    .unwrap_or(leaf)
            } else {
                self.splat(leaf, &value.ty, prim, lanes)
            });
        }
        if fun == MathFunction::Cross && lanes != 3 {
            return fault(at, "cross takes float3");
        }
        let leaf = self.add(Expression::Math {
            fun,
            arg: leaves[0],
            arg1: leaves.get(1).copied(),
            arg2: leaves.get(2).copied(),
            arg3: None,
        });
        let result = if matches!(fun, MathFunction::Dot | MathFunction::Length) {
            Ty::Prim(prim)
        } else {
            ty
        };
        Ok(Some(Value::leaf(result, leaf, level)))
    }

    /// Makes a vector of scalars and vectors; one scalar fills it, and a longer vector is cut.
    fn make_vector(&mut self, ty: Ty, arguments: &[Expr], at: u32) -> Outcome<Value> {
        let (prim, lanes) = match &ty {
            Ty::Vector(Prim::Double, lanes) => {
                self.resolve(&crate::ast::TypeName {
                    at,
                    base: crate::ast::Base::Prim(Prim::Double),
                    pointers: 0,
                    reference: false,
                    is_const: false,
                })?;
                (Prim::Float, *lanes)
            }
            Ty::Vector(prim, lanes) => {
                self.primitive(*prim, at)?;
                (*prim, *lanes)
            }
            Ty::Struct(structure) => {
                self.vector_of(structure, at)?;
                let fields = structure.fields.len();
                self.expect_arguments(
                    "the constructor of a vector",
                    arguments,
                    fields..=fields,
                    at,
                )?;
                let mut values = Vec::new();
                let mut level = Level::UNIFORM;
                for (argument, field) in arguments.iter().zip(&structure.fields) {
                    let value = self.expr(argument)?;
                    let value = self.convert(value, &field.ty, argument.at)?;
                    level = level.join(value.level);
                    values.push(value);
                }
                return self.assembled(&ty.clone(), values, level, at);
            }
            _ => return fault(at, "this vector type is not supported"),
        };
        let mut components = Vec::new();
        let mut level = Level::UNIFORM;
        for argument in arguments {
            let value = self.expr(argument)?;
            level = level.join(value.level);
            match (&value.ty, value.first()) {
                (Ty::Prim(from), Some(leaf)) => {
                    components.push(self.convert_prim(leaf, *from, prim))
                }
                (Ty::Vector(from, n), Some(base)) => {
                    for index in 0..*n {
                        let leaf = self.add(Expression::AccessIndex { base, index });
                        components.push(self.convert_prim(leaf, *from, prim));
                    }
                }
                _ => {
                    return fault(
                        argument.at,
                        format!("{} is not part of a vector", value.ty.name()),
                    );
                }
            }
        }
        if components.len() == 1 {
            components = vec![components[0]; lanes as usize];
        }
        if components.len() < lanes as usize {
            return fault(
                at,
                format!("{} numbers make no {}", components.len(), ty.name()),
            );
        }
        components.truncate(lanes as usize);
        let leaf = self.compose(prim, &components);
        Ok(Value::leaf(Ty::Vector(prim, lanes), leaf, level))
    }
}

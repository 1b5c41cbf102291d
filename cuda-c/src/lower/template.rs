//! Template parameters and arguments.

use super::Lowering;
use super::facts::TemplateValue;
use super::level::Level;
use super::state::{Var, VarKind};
use super::value::Value;
use crate::ast::{TemplateArg, TemplateParam};
use crate::error::{Outcome, fault};
use crate::types::Prim;

impl Lowering<'_> {
    /// Binds template arguments to parameters.
    pub(super) fn bind_template(
        &mut self,
        parameters: &[TemplateParam],
        arguments: &[TemplateArg],
        at: u32,
    ) -> Outcome<Vec<TemplateValue>> {
        let mut bound = Vec::new();
        if arguments.len() > parameters.len() {
            return fault(
                at,
                format!(
                    "the template takes {} arguments, and {} are given",
                    parameters.len(),
                    arguments.len()
                ),
            );
        }
        for (index, parameter) in parameters.iter().enumerate() {
            let Some(argument) = arguments.get(index).or(parameter.default.as_ref()) else {
                return fault(
                    at,
                    format!(
                        "the template parameter {} has no argument; give all of them",
                        parameter.name
                    ),
                );
            };
            bound.push(self.template_value(parameter, argument, at)?);
        }
        Ok(bound)
    }

    pub(super) fn template_value(
        &mut self,
        parameter: &TemplateParam,
        argument: &TemplateArg,
        at: u32,
    ) -> Outcome<TemplateValue> {
        match (&parameter.value, argument) {
            (None, TemplateArg::Type(ty)) => Ok(TemplateValue::Type(self.resolve(ty)?)),
            (Some(ty), TemplateArg::Value(expr)) => {
                let ty = self.resolve(ty)?;
                let value = self.expr(expr)?;
                let value = self.convert(value, &ty, expr.at)?;
                match self.constant(&value) {
                    Some(constant) => Ok(TemplateValue::Int(constant, ty)),
                    None => fault(
                        expr.at,
                        format!(
                            "the argument for {} is not an integer constant",
                            parameter.name
                        ),
                    ),
                }
            }
            _ => fault(
                at,
                format!(
                    "{} is a {}; give one",
                    parameter.name,
                    if parameter.value.is_some() {
                        "value"
                    } else {
                        "type"
                    }
                ),
            ),
        }
    }

    /// Defines the template parameters in the current scope.
    pub(super) fn define_template(
        &mut self,
        parameters: &[TemplateParam],
        bound: &[TemplateValue],
    ) -> Outcome<()> {
        for (parameter, value) in parameters.iter().zip(bound) {
            match value {
                TemplateValue::Type(ty) => {
                    self.f.types.insert(parameter.name.clone(), ty.clone());
                }
                TemplateValue::Int(value, ty) => {
                    let leaf = self.literal(*value, ty.prim().unwrap_or(Prim::Int));
                    let value = Value::leaf(ty.clone(), leaf, Level::UNIFORM);
                    let var = Var {
                        ty: ty.clone(),
                        key: (self.spec(), 0, 0),
                        kind: VarKind::Value(value),
                    };
                    self.define(&parameter.name, var);
                }
            }
        }
        Ok(())
    }
}

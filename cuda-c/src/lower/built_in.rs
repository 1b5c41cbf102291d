//! Built-in variables and limits of types.

use naga::{Binding, BuiltIn, Expression, FunctionArgument, TypeInner};

use super::Lowering;
use super::facts::{BLOCK, GRID, LINEAR, SUBGROUP, THREAD};
use super::level::Level;
use super::state::H;
use super::value::Value;
use crate::ast::TemplateArg;
use crate::error::{Outcome, fault};
use crate::types::{FLOAT, INT, Prim, Ty};

impl Lowering<'_> {
    pub(super) fn built_in(&mut self, name: &str, at: u32) -> Outcome<Option<Value>> {
        let three = Ty::Vector(Prim::UInt, 3);
        Ok(Some(match name {
            "threadIdx" => Value::leaf(three, self.builtin(THREAD), Level::divergent(at)),
            "blockIdx" => Value::leaf(three, self.builtin(BLOCK), Level::UNIFORM),
            "gridDim" => Value::leaf(three, self.builtin(GRID), Level::UNIFORM),
            "blockDim" => {
                let [x, y, z] = self.options.block;
                let components = [self.u32(x), self.u32(y), self.u32(z)];
                let leaf = self.compose(Prim::UInt, &components);
                Value::leaf(three, leaf, Level::UNIFORM)
            }
            "warpSize" => {
                let leaf = self.i32(32);
                Value::leaf(INT, leaf, Level::UNIFORM)
            }
            "__cuda_c_infinity" | "__cuda_c_nan" => {
                let leaf = self.f32(if name == "__cuda_c_nan" {
                    f32::NAN
                } else {
                    f32::INFINITY
                });
                Value::leaf(FLOAT, leaf, Level::UNIFORM)
            }
            _ => return Ok(None),
        }))
    }

    /// Returns a built-in value, an argument of the function.
    pub(super) fn builtin(&mut self, bit: u8) -> H {
        if let Some(handle) = self.f.builtins.get(&bit) {
            return *handle;
        }
        let spec = self.spec();
        self.facts.note_builtin(spec, bit);
        if !self.f.is_kernel {
            // The next pass declares it.
            return match bit {
                LINEAR | SUBGROUP => self.u32(0),
                _ => {
                    let ty = self.element_ty(Prim::UInt, 3);
                    self.add(Expression::ZeroValue(ty))
                }
            };
        }
        let (ty, built_in, name) = self.builtin_argument(bit);
        self.f.function.arguments.push(FunctionArgument {
            name: Some(name.to_owned()),
            ty,
            binding: Some(Binding::BuiltIn(built_in)),
        });
        let index = self.f.function.arguments.len() as u32 - 1;
        let handle = self.add(Expression::FunctionArgument(index));
        self.f.builtins.insert(bit, handle);
        handle
    }

    pub(super) fn builtin_argument(
        &mut self,
        bit: u8,
    ) -> (naga::Handle<naga::Type>, BuiltIn, &'static str) {
        let vector = self.element_ty(Prim::UInt, 3);
        let scalar = self.ty(TypeInner::Scalar(naga::Scalar::U32));
        match bit {
            THREAD => (vector, BuiltIn::LocalInvocationId, "thread_index"),
            BLOCK => (vector, BuiltIn::WorkGroupId, "block_index"),
            GRID => (vector, BuiltIn::NumWorkGroups, "grid_size"),
            LINEAR => (scalar, BuiltIn::LocalInvocationIndex, "linear_index"),
            _ => (scalar, BuiltIn::SubgroupInvocationId, "lane_index"),
        }
    }

    pub(super) fn numeric_limit(
        &mut self,
        limit: &str,
        arguments: &[TemplateArg],
        at: u32,
    ) -> Outcome<Value> {
        let ty = match arguments {
            [TemplateArg::Type(ty)] => self.resolve(ty)?,
            _ => return fault(at, "numeric_limits takes one type"),
        };
        let (lowest, max) = match ty.prim() {
            Some(Prim::Int) => (i64::from(i32::MIN), i64::from(i32::MAX)),
            Some(Prim::UInt) => (0, i64::from(u32::MAX)),
            Some(Prim::Long) => (i64::MIN, i64::MAX),
            // All bits are set.
            Some(Prim::ULong) => (0, -1),
            Some(Prim::Float) => {
                let value = match limit {
                    "max" => f32::MAX,
                    "lowest" => f32::MIN,
                    "min" => f32::MIN_POSITIVE,
                    "epsilon" => f32::EPSILON,
                    "infinity" => f32::INFINITY,
                    "quiet_NaN" => f32::NAN,
                    _ => {
                        return fault(
                            at,
                            format!("numeric_limits::{limit} is not supported; write the number"),
                        );
                    }
                };
                let leaf = self.f32(value);
                return Ok(Value::leaf(ty, leaf, Level::UNIFORM));
            }
            Some(prim) if prim.is_integer() => {
                let bits = 8 * prim.size();
                if prim.is_signed() {
                    (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
                } else {
                    (0, (1i64 << bits) - 1)
                }
            }
            _ => return fault(at, format!("{} has no numeric_limits", ty.name())),
        };
        let value = match limit {
            "max" => max,
            "lowest" | "min" => lowest,
            _ => {
                return fault(
                    at,
                    format!("numeric_limits::{limit} is not supported; write the number"),
                );
            }
        };
        let leaf = self.literal(value, ty.prim().unwrap_or(Prim::Int));
        Ok(Value::leaf(ty, leaf, Level::UNIFORM))
    }
}

//! Minimum, maximum, absolute value and bounds.

use naga::{BinaryOperator as Op, MathFunction as Math};

use super::Lowering;
use super::level::Level;
use super::state::H;
use super::value::Value;
use crate::ast::Expr;
use crate::error::{Outcome, fault};
use crate::types::{Prim, Ty};

impl Lowering<'_> {
    /// Minimum, maximum and absolute value of the common type.
    pub(super) fn extreme(&mut self, name: &str, arguments: &[Expr], at: u32) -> Outcome<Value> {
        let is_abs = name.ends_with("abs");
        let wanted = if is_abs { 1 } else { 2 };
        self.expect_arguments(name, arguments, wanted..=wanted, at)?;
        let values = self.values(arguments)?;
        let level = values
            .iter()
            .fold(Level::UNIFORM, |level, value| level.join(value.level));
        let fun = match name {
            _ if is_abs => Math::Abs,
            _ if name.contains("min") => Math::Min,
            _ => Math::Max,
        };
        if let (Ty::Vector(..), Some(leaf)) = (&values[0].ty, values[0].first()) {
            let mut leaves = vec![leaf];
            for value in &values[1..] {
                if value.ty != values[0].ty {
                    return fault(at, format!("{name} takes vectors of one type"));
                }
                leaves.extend(value.first());
            }
            let leaf = self.math(fun, &leaves);
            return Ok(Value::leaf(values[0].ty.clone(), leaf, level));
        }
        let prims: Vec<Prim> = values.iter().filter_map(|value| value.ty.prim()).collect();
        let mut prim = match prims[..] {
            [a] => super::convert::promoted(a),
            [a, b] => super::convert::common(a, b),
            _ => return fault(at, format!("{name} takes numbers")),
        };
        match name {
            _ if name.starts_with('f') => prim = Prim::Float,
            "labs" if !self.options.int64 => {}
            _ if name.starts_with('l') => prim = Prim::Long,
            _ if name.starts_with("ull") => prim = Prim::ULong,
            _ => {}
        }
        self.primitive(prim, at)?;
        if is_abs && matches!(prim, Prim::UInt | Prim::ULong) {
            return Ok(values
                .into_iter()
                .next()
                .unwrap_or_else(super::sync::nothing));
        }
        let ty = Ty::Prim(prim);
        let mut leaves = Vec::new();
        for value in values {
            leaves.extend(self.convert(value, &ty, at)?.first());
        }
        let leaf = if prim.size() == 8 {
            self.long_extreme(fun, prim, &leaves)
        } else {
            self.math(fun, &leaves)
        };
        Ok(Value::leaf(ty, leaf, level))
    }

    pub(super) fn clamp(&mut self, arguments: &[Expr], at: u32) -> Outcome<Value> {
        self.expect_arguments("clamp", arguments, 3..=3, at)?;
        let values = self.values(arguments)?;
        let level = values
            .iter()
            .fold(Level::UNIFORM, |level, value| level.join(value.level));
        if let Ty::Vector(prim, lanes) = values[0].ty {
            let mut leaves = Vec::new();
            for value in &values {
                match value.first() {
                    Some(leaf) => leaves.push(self.splat(leaf, &value.ty, prim, lanes)),
                    None => return fault(at, "clamp takes numbers"),
                }
            }
            let low = self.math(Math::Max, &leaves[..2]);
            let leaf = self.math(Math::Min, &[low, leaves[2]]);
            return Ok(Value::leaf(values[0].ty.clone(), leaf, level));
        }
        let prims: Vec<Prim> = values.iter().filter_map(|value| value.ty.prim()).collect();
        let [a, b, c] = prims[..] else {
            return fault(at, "clamp takes numbers");
        };
        let prim = super::convert::common(super::convert::common(a, b), c);
        let ty = Ty::Prim(prim);
        let mut leaves = Vec::new();
        for value in values {
            leaves.extend(self.convert(value, &ty, at)?.first());
        }
        let mut bounded = leaves[0];
        for (fun, bound) in [Math::Max, Math::Min].into_iter().zip(&leaves[1..]) {
            bounded = if prim.size() == 8 {
                self.long_extreme(fun, prim, &[bounded, *bound])
            } else {
                self.math(fun, &[bounded, *bound])
            };
        }
        Ok(Value::leaf(ty, bounded, level))
    }

    /// Returns the lesser or greater of two 64-bit integers, or the absolute value of one.
    fn long_extreme(&mut self, fun: Math, prim: Prim, leaves: &[H]) -> H {
        let a = leaves[0];
        let b = match leaves.get(1) {
            Some(b) => *b,
            None => self.zero(prim),
        };
        let less = self.binary(Op::Less, a, b);
        match fun {
            Math::Min => self.select(less, a, b),
            Math::Max => self.select(less, b, a),
            _ => {
                let negated = self.negated(a);
                self.select(less, negated, a)
            }
        }
    }
}

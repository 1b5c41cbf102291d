//! Casts, and values made of parts.

use super::Lowering;
use super::level::Level;
use super::value::{Data, Value};
use crate::ast::{Expr, ExprKind};
use crate::error::{Outcome, fault};
use crate::types::{Prim, Ty};
use naga::Expression;

impl Lowering<'_> {
    /// Converts as a cast does.
    pub(super) fn cast(&mut self, value: Value, to: &Ty, at: u32) -> Outcome<Value> {
        match (&value.ty, to) {
            (Ty::Pointer(_), Ty::Pointer(_)) => Ok(Value {
                ty: to.clone(),
                ..value
            }),
            (Ty::Pointer(_), Ty::Prim(prim)) if *prim != Prim::Bool => fault(
                at,
                "a pointer does not convert to a number; subtract pointers instead",
            ),
            (Ty::Prim(_), Ty::Pointer(_)) => {
                if self.constant(&value) == Some(0) {
                    return Ok(Value {
                        ty: to.clone(),
                        data: Data::Null,
                        level: value.level,
                    });
                }
                fault(
                    at,
                    "a number does not convert to a pointer; index a buffer instead",
                )
            }
            (Ty::Vector(from, n), Ty::Vector(prim, m)) if n == m && from != prim => {
                let Some(leaf) = value.first() else {
                    return Ok(value);
                };
                let leaf = self.add(Expression::As {
                    expr: leaf,
                    kind: super::state::kind(*prim),
                    convert: Some(super::state::scalar(*prim).width),
                });
                Ok(Value::leaf(to.clone(), leaf, value.level))
            }
            _ => self.convert(value, to, at),
        }
    }

    /// Makes a value of parts: `T(a)`, `T{a, b}`.
    pub(super) fn construct(&mut self, ty: &Ty, parts: &[Expr], at: u32) -> Outcome<Value> {
        if let Some(value) = self.constructed(ty, parts, at)? {
            return Ok(value);
        }
        if parts.is_empty() {
            return self.zero_value(ty, at);
        }
        let mut first = None;
        if let ([only], true) = (parts, !matches!(parts[0].kind, ExprKind::List(_))) {
            let value = self.expr(only)?;
            let is_whole = value.ty == *ty
                || matches!(ty, Ty::Prim(_) | Ty::Pointer(_) | Ty::Vector(Prim::UInt, 3));
            if is_whole || matches!((&value.ty, ty), (Ty::Vector(..), Ty::Vector(..))) {
                return self.cast(value, ty, at);
            }
            first = Some(value);
        }
        self.aggregate(ty, parts, first, at)
    }

    /// Makes a value of a list; `first` is its first element if that is evaluated already.
    pub(super) fn aggregate(
        &mut self,
        ty: &Ty,
        parts: &[Expr],
        mut first: Option<Value>,
        at: u32,
    ) -> Outcome<Value> {
        let fields: Vec<Ty> = match ty {
            Ty::Vector(prim, lanes) => vec![Ty::Prim(*prim); *lanes as usize],
            Ty::Struct(structure) => structure
                .parts()
                .iter()
                .map(|field| field.ty.clone())
                .collect(),
            Ty::Array(element, count) if *count as usize <= 4096 => {
                vec![(**element).clone(); *count as usize]
            }
            Ty::Prim(_) | Ty::Pointer(_) if parts.len() == 1 => vec![ty.clone()],
            _ => return fault(at, format!("{} is not made of a list", ty.name())),
        };
        if parts.len() > fields.len() {
            return fault(
                at,
                format!(
                    "{} values make a {}; it takes {}",
                    parts.len(),
                    ty.name(),
                    fields.len()
                ),
            );
        }
        let mut level = Level::UNIFORM;
        let mut values = Vec::new();
        let defaults = match ty {
            Ty::Struct(structure) if parts.len() < fields.len() => {
                self.initial_value(structure, at)?
            }
            _ => None,
        };
        for (i, field) in fields.iter().enumerate() {
            let value = match parts.get(i).map(|part| (&part.kind, part)) {
                Some((ExprKind::List(inner), part)) => self.construct(field, inner, part.at)?,
                Some((_, part)) => {
                    let value = match first.take() {
                        Some(value) => value,
                        None => self.expr(part)?,
                    };
                    self.convert(value, field, part.at)?
                }
                None => match (ty, defaults.as_ref().map(|value| &value.data)) {
                    (Ty::Struct(structure), Some(Data::Leaves(leaves))) => {
                        let first = structure.parts()[i].leaf;
                        Value {
                            ty: field.clone(),
                            data: Data::Leaves(leaves[first..first + field.n_leaves()].to_vec()),
                            level: Level::UNIFORM,
                        }
                    }
                    _ => self.zero_value(field, at)?,
                },
            };
            level = level.join(value.level);
            values.push(value);
        }
        self.assembled(ty, values, level, at)
    }

    /// Puts the values of fields or elements together.
    pub(super) fn assembled(
        &mut self,
        ty: &Ty,
        values: Vec<Value>,
        level: Level,
        at: u32,
    ) -> Outcome<Value> {
        let mut columns: Vec<Vec<super::state::H>> = Vec::new();
        for value in &values {
            match &value.data {
                Data::Leaves(leaves) => columns.push(leaves.clone()),
                _ if values.len() == 1 => {
                    return Ok(Value {
                        level,
                        ..value.clone()
                    });
                }
                _ => {
                    return fault(
                        at,
                        "pointers are not members; keep them in variables of their own",
                    );
                }
            }
        }
        let leaves = match ty {
            Ty::Vector(prim, _) => {
                let components: Vec<_> = columns.concat();
                vec![self.compose(*prim, &components)]
            }
            Ty::Array(element, _) if !matches!(**element, Ty::Array(..)) => {
                let mut arrays = Vec::new();
                for (n, leaf) in ty.leaves().into_iter().enumerate() {
                    if element.leaves()[n].count.is_some() {
                        return fault(
                            at,
                            format!(
                                "{} is not initialised by a list; assign its elements",
                                ty.name()
                            ),
                        );
                    }
                    let components = columns.iter().map(|column| column[n]).collect();
                    let array = self.leaf_ty(leaf);
                    arrays.push(self.add(Expression::Compose {
                        ty: array,
                        components,
                    }));
                }
                arrays
            }
            Ty::Array(..) => {
                let mut arrays = Vec::new();
                for (n, leaf) in ty.leaves().into_iter().enumerate() {
                    let mut components = Vec::new();
                    for column in &columns {
                        for index in 0..leaf.count.unwrap_or(1) / columns.len().max(1) as u32 {
                            components.push(self.add(Expression::AccessIndex {
                                base: column[n],
                                index,
                            }));
                        }
                    }
                    let array = self.leaf_ty(leaf);
                    arrays.push(self.add(Expression::Compose {
                        ty: array,
                        components,
                    }));
                }
                arrays
            }
            _ => columns.concat(),
        };
        Ok(Value {
            ty: ty.clone(),
            data: Data::Leaves(leaves),
            level,
        })
    }

    pub(super) fn zero_value(&mut self, ty: &Ty, at: u32) -> Outcome<Value> {
        if matches!(ty, Ty::Pointer(_)) {
            return Ok(Value {
                ty: ty.clone(),
                data: Data::Null,
                level: Level::UNIFORM,
            });
        }
        if matches!(ty, Ty::Void) {
            return fault(at, "void has no values");
        }
        let mut leaves = Vec::new();
        for leaf in ty.leaves() {
            let leaf = if leaf.lanes == 1 && leaf.count.is_none() {
                self.zero(leaf.prim)
            } else {
                let ty = self.leaf_ty(leaf);
                self.add(Expression::ZeroValue(ty))
            };
            leaves.push(leaf);
        }
        Ok(Value {
            ty: ty.clone(),
            data: Data::Leaves(leaves),
            level: Level::UNIFORM,
        })
    }
}

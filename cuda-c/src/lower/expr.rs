//! Expressions.

use naga::{Expression, UnaryOperator};

use super::Lowering;
use super::level::Level;
use super::value::{Data, Place, Pointer, Value};
use crate::ast::{BinOp, Expr, ExprKind, UnOp};
use crate::error::{Outcome, fault};
use crate::types::{BOOL, FLOAT, INT, Prim, Ty, UINT};

impl Lowering<'_> {
    /// Lowers an expression to its value.
    pub(super) fn expr(&mut self, expr: &Expr) -> Outcome<Value> {
        self.enter(expr.at)?;
        self.spend(expr.at)?;
        let value = self.expr_inside(expr);
        self.leave();
        value
    }

    fn expr_inside(&mut self, expr: &Expr) -> Outcome<Value> {
        let at = expr.at;
        match &expr.kind {
            ExprKind::Int { value, unsigned, long } => self.integer(*value, *unsigned, *long, at),
            ExprKind::Float(value) => {
                let leaf = self.f32(*value as f32);
                Ok(Value::leaf(FLOAT, leaf, Level::UNIFORM))
            }
            ExprKind::Bool(value) => {
                let leaf = self.bool(*value);
                Ok(Value::leaf(BOOL, leaf, Level::UNIFORM))
            }
            ExprKind::Char(value) => {
                let leaf = self.i32(*value);
                Ok(Value::leaf(Ty::Prim(Prim::Char), leaf, Level::UNIFORM))
            }
            ExprKind::Text(_) => fault(at, "strings are not supported in kernels; remove the string"),
            ExprKind::Null => Ok(Value {
                ty: Ty::Pointer(Ty::Void.into()),
                data: Data::Null,
                level: Level::UNIFORM,
            }),
            ExprKind::Name(..) | ExprKind::Index(..) | ExprKind::Member { .. } => {
                let place = self.place(expr)?;
                self.load(&place, at)
            }
            ExprKind::Unary(op, operand) => self.unary_expr(*op, operand, expr),
            ExprKind::Step { amount, prefix, operand } => self.step(*amount, *prefix, operand, at),
            ExprKind::Binary(op @ (BinOp::LogicalAnd | BinOp::LogicalOr), left, right) => {
                self.logical(*op, left, right, at)
            }
            ExprKind::Binary(op, left, right) => {
                let left = self.expr(left)?;
                let right = self.expr(right)?;
                if let Some(value) = self.overloaded(super::convert::sign(*op), &[&left, &right], at)? {
                    return Ok(value);
                }
                self.operate(*op, left, right, at)
            }
            ExprKind::Assign(op, left, right) => self.assign(*op, left, right, at),
            ExprKind::Conditional(condition, accept, reject) => {
                self.conditional(condition, accept, reject, at)
            }
            ExprKind::Comma(left, right) => {
                self.expr(left)?;
                self.expr(right)
            }
            ExprKind::Call(callee, arguments) => self.call(callee, arguments, at),
            ExprKind::Cast { ty, operand, reinterpret } => {
                let to = self.resolve(ty)?;
                if *reinterpret && ty.reference {
                    return fault(at, "reinterpret_cast to a reference is not supported; use __float_as_int and its like");
                }
                let value = self.expr(operand)?;
                self.cast(value, &to, at)
            }
            ExprKind::Construct(ty, parts) => {
                let to = self.resolve(ty)?;
                self.construct(&to, parts, at)
            }
            ExprKind::List(_) => fault(at, "a list in braces has no type here; write the type before it"),
            ExprKind::SizeofType(ty) => {
                let ty = self.resolve(ty)?;
                self.size_value(&ty)
            }
            ExprKind::SizeofExpr(operand) => {
                // Only the type counts: the code goes to a block that is dropped.
                let (_, ty) = self.block(|this| match this.place(operand)? {
                    Place::At { ty, .. } => Ok(ty),
                    Place::Value(value) => Ok(value.ty),
                    Place::Variable(var) => Ok(var.ty.clone()),
                })?;
                self.size_value(&ty)
            }
        }
    }

    fn size_value(&mut self, ty: &Ty) -> Outcome<Value> {
        let leaf = self.u32(ty.size());
        Ok(Value::leaf(UINT, leaf, Level::UNIFORM))
    }

    fn integer(&mut self, value: u64, unsigned: bool, long: bool, at: u32) -> Outcome<Value> {
        let Ok(word) = u32::try_from(value) else {
            return fault(at, format!("{value} needs 64 bits; kernels have integers of 32"));
        };
        if long {
            return fault(at, "a constant of type long has 64 bits; remove the suffix L");
        }
        let fits = i32::try_from(value).is_ok();
        let (ty, leaf) = if unsigned || !fits {
            (UINT, self.u32(word))
        } else {
            (INT, self.i32(word as i32))
        };
        Ok(Value::leaf(ty, leaf, Level::UNIFORM))
    }

    fn unary_expr(&mut self, op: UnOp, operand: &Expr, whole: &Expr) -> Outcome<Value> {
        let at = whole.at;
        match op {
            UnOp::Deref => {
                let place = self.place(whole)?;
                self.load(&place, at)
            }
            UnOp::AddressOf => match self.place(operand)? {
                Place::At { pointer, ty, level } => {
                    Ok(Value { ty: Ty::Pointer(ty.into()), data: Data::Pointer(pointer), level })
                }
                Place::Variable(_) => fault(at, "pointers to pointers are not supported; use indices"),
                Place::Value(_) => fault(at, "a temporary value has no address; store it in a variable"),
            },
            UnOp::Not => {
                let value = self.expr(operand)?;
                let value = self.truth(value, at)?;
                let leaf = value.first().map(|leaf| self.not(leaf));
                match leaf {
                    Some(leaf) => Ok(Value::leaf(BOOL, leaf, value.level)),
                    None => fault(at, "! takes a number or pointer"),
                }
            }
            UnOp::Neg | UnOp::Plus | UnOp::BitNot => {
                let sign = match op {
                    UnOp::Neg => "-",
                    UnOp::Plus => "+",
                    _ => "~",
                };
                let value = self.expr(operand)?;
                if let Some(value) = self.overloaded(sign, &[&value], at)? {
                    return Ok(value);
                }
                let value = self.promote(value);
                let (Some(leaf), false) = (value.first(), matches!(value.ty, Ty::Struct(_))) else {
                    return fault(at, format!("{sign}{} is not defined; define an operator{sign} for it", value.ty.name()));
                };
                let leaf = match (op, value.ty.prim()) {
                    (UnOp::Plus, _) => leaf,
                    (UnOp::BitNot, Some(prim)) if prim.is_integer() => self.unary(UnaryOperator::BitwiseNot, leaf),
                    (UnOp::BitNot, _) => return fault(at, "~ takes an integer; convert the value"),
                    // WGSL negates no unsigned integers.
                    (_, Some(Prim::UInt)) => {
                        let zero = self.u32(0);
                        self.binary(naga::BinaryOperator::Subtract, zero, leaf)
                    }
                    _ => self.unary(UnaryOperator::Negate, leaf),
                };
                Ok(Value::leaf(value.ty, leaf, value.level))
            }
        }
    }

    fn step(&mut self, amount: i32, prefix: bool, operand: &Expr, at: u32) -> Outcome<Value> {
        let place = self.place(operand)?;
        let old = self.load(&place, at)?;
        let one = self.i32(amount);
        let one = Value::leaf(INT, one, Level::UNIFORM);
        let new = self.operate(BinOp::Add, old.clone(), one, at)?;
        let new = self.convert(new, &old.ty, at)?;
        self.store(&place, new.clone(), at)?;
        Ok(if prefix { new } else { old })
    }

    fn assign(&mut self, op: Option<BinOp>, left: &Expr, right: &Expr, at: u32) -> Outcome<Value> {
        // C++17 evaluates the right side first.
        let place_first = op.is_some();
        if let (None, ExprKind::List(parts)) = (op, &right.kind) {
            let place = self.place(left)?;
            if let Place::At { ty, .. } = &place {
                let value = self.construct(&ty.clone(), parts, at)?;
                self.store(&place, value.clone(), at)?;
                return Ok(value);
            }
        }
        let right = self.expr(right)?;
        let place = self.place(left)?;
        let value = match op {
            None => right,
            Some(op) => {
                let old = self.load(&place, at)?;
                let sign = super::convert::sign(op);
                if let Some(value) = self.overloaded_assign(sign, &place, &right, at)? {
                    return Ok(value);
                }
                match self.overloaded(sign, &[&old, &right], at)? {
                    Some(value) => value,
                    None => self.operate(op, old, right, at)?,
                }
            }
        };
        let _ = place_first;
        let value = match &place {
            Place::At { ty, .. } => self.convert(value, &ty.clone(), at)?,
            _ => value,
        };
        self.store(&place, value.clone(), at)?;
        Ok(value)
    }

    /// Converts as a cast does.
    pub(super) fn cast(&mut self, value: Value, to: &Ty, at: u32) -> Outcome<Value> {
        match (&value.ty, to) {
            (Ty::Pointer(_), Ty::Pointer(_)) => Ok(Value { ty: to.clone(), ..value }),
            (Ty::Pointer(_), Ty::Prim(prim)) if *prim != Prim::Bool => {
                fault(at, "a pointer does not convert to a number; subtract pointers instead")
            }
            (Ty::Prim(_), Ty::Pointer(_)) => {
                if self.constant(&value) == Some(0) {
                    return Ok(Value { ty: to.clone(), data: Data::Null, level: value.level });
                }
                fault(at, "a number does not convert to a pointer; index a buffer instead")
            }
            (Ty::Vector(from, n), Ty::Vector(prim, m)) if n == m && from != prim => {
                let Some(leaf) = value.first() else {
                    return Ok(value);
                };
                let leaf = self.add(Expression::As { expr: leaf, kind: super::state::kind(*prim), convert: Some(4) });
                Ok(Value::leaf(to.clone(), leaf, value.level))
            }
            _ => self.convert(value, to, at),
        }
    }

    /// Makes a value of parts: `T(a)`, `T{a, b}`.
    pub(super) fn construct(&mut self, ty: &Ty, parts: &[Expr], at: u32) -> Outcome<Value> {
        if parts.is_empty() {
            return self.zero_value(ty, at);
        }
        let mut first = None;
        if let ([only], true) = (parts, !matches!(parts[0].kind, ExprKind::List(_))) {
            let value = self.expr(only)?;
            let is_whole = value.ty == *ty || matches!(ty, Ty::Prim(_) | Ty::Pointer(_) | Ty::Vector(Prim::UInt, 3));
            if is_whole || matches!((&value.ty, ty), (Ty::Vector(..), Ty::Vector(..))) {
                return self.cast(value, ty, at);
            }
            first = Some(value);
        }
        self.aggregate(ty, parts, first, at)
    }

    /// Makes a value of a list; `first` is its first element if that is evaluated already.
    fn aggregate(&mut self, ty: &Ty, parts: &[Expr], mut first: Option<Value>, at: u32) -> Outcome<Value> {
        let fields: Vec<Ty> = match ty {
            Ty::Vector(prim, lanes) => vec![Ty::Prim(*prim); *lanes as usize],
            Ty::Struct(structure) => structure.fields.iter().map(|field| field.ty.clone()).collect(),
            Ty::Array(element, count) if *count as usize <= 4096 => vec![(**element).clone(); *count as usize],
            Ty::Prim(_) | Ty::Pointer(_) if parts.len() == 1 => vec![ty.clone()],
            _ => return fault(at, format!("{} is not made of a list", ty.name())),
        };
        if parts.len() > fields.len() {
            return fault(at, format!("{} values make a {}; it takes {}", parts.len(), ty.name(), fields.len()));
        }
        let mut level = Level::UNIFORM;
        let mut values = Vec::new();
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
                None => self.zero_value(field, at)?,
            };
            level = level.join(value.level);
            values.push(value);
        }
        self.assembled(ty, values, level, at)
    }

    /// Puts the values of fields or elements together.
    pub(super) fn assembled(&mut self, ty: &Ty, values: Vec<Value>, level: Level, at: u32) -> Outcome<Value> {
        let mut columns: Vec<Vec<super::state::H>> = Vec::new();
        for value in &values {
            match &value.data {
                Data::Leaves(leaves) => columns.push(leaves.clone()),
                _ if values.len() == 1 => return Ok(Value { level, ..value.clone() }),
                _ => return fault(at, "pointers are not members; keep them in variables of their own"),
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
                        return fault(at, format!("{} is not initialised by a list; assign its elements", ty.name()));
                    }
                    let components = columns.iter().map(|column| column[n]).collect();
                    let array = self.leaf_ty(leaf);
                    arrays.push(self.add(Expression::Compose { ty: array, components }));
                }
                arrays
            }
            Ty::Array(..) => {
                let mut arrays = Vec::new();
                for (n, leaf) in ty.leaves().into_iter().enumerate() {
                    let mut components = Vec::new();
                    for column in &columns {
                        for index in 0..leaf.count.unwrap_or(1) / columns.len().max(1) as u32 {
                            components.push(self.add(Expression::AccessIndex { base: column[n], index }));
                        }
                    }
                    let array = self.leaf_ty(leaf);
                    arrays.push(self.add(Expression::Compose { ty: array, components }));
                }
                arrays
            }
            _ => columns.concat(),
        };
        Ok(Value { ty: ty.clone(), data: Data::Leaves(leaves), level })
    }

    pub(super) fn zero_value(&mut self, ty: &Ty, at: u32) -> Outcome<Value> {
        if matches!(ty, Ty::Pointer(_)) {
            return Ok(Value { ty: ty.clone(), data: Data::Null, level: Level::UNIFORM });
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
        Ok(Value { ty: ty.clone(), data: Data::Leaves(leaves), level: Level::UNIFORM })
    }

    /// Lowers an lvalue, or the value of an expression that is none.
    pub(super) fn place(&mut self, expr: &Expr) -> Outcome<Place> {
        self.enter(expr.at)?;
        let place = self.place_inside(expr);
        self.leave();
        place
    }

    fn place_inside(&mut self, expr: &Expr) -> Outcome<Place> {
        let at = expr.at;
        match &expr.kind {
            ExprKind::Name(name, arguments) => self.name(name, arguments, at),
            ExprKind::Unary(UnOp::Deref, operand) => {
                let pointer = self.expr(operand)?;
                self.pointee(&pointer, at)
            }
            ExprKind::Index(object, index) => {
                let object = self.place(object)?;
                let index = self.expr(index)?;
                let (object, index) = match (&object, &index.ty) {
                    // `2[p]`
                    (Place::Value(value), Ty::Pointer(_)) => (Place::Value(index.clone()), value.clone()),
                    _ => (object, index),
                };
                self.indexed(&object, &index, at)
            }
            ExprKind::Member { object, name, arrow } => {
                let object = if *arrow {
                    let pointer = self.expr(object)?;
                    self.pointee(&pointer, at)?
                } else {
                    self.place(object)?
                };
                self.member(object, name, at)
            }
            ExprKind::Assign(_, left, _) => {
                let value = self.expr(expr)?;
                if matches!(value.ty, Ty::Pointer(_)) {
                    return Ok(Place::Value(value));
                }
                self.place_again(left, value)
            }
            ExprKind::Step { prefix: true, operand, .. } => {
                let value = self.expr(expr)?;
                if matches!(value.ty, Ty::Pointer(_)) {
                    return Ok(Place::Value(value));
                }
                self.place_again(operand, value)
            }
            ExprKind::Comma(left, right) => {
                self.expr(left)?;
                self.place(right)
            }
            _ => Ok(Place::Value(self.expr(expr)?)),
        }
    }

    /// Returns the place of an assignment's left side where evaluating it twice is harmless, else the value.
    fn place_again(&mut self, left: &Expr, value: Value) -> Outcome<Place> {
        if matches!(left.kind, ExprKind::Name(..)) {
            self.place(left)
        } else {
            Ok(Place::Value(value))
        }
    }

    fn pointee(&mut self, value: &Value, at: u32) -> Outcome<Place> {
        match (&value.ty, &value.data) {
            (Ty::Pointer(element), Data::Pointer(pointer)) => Ok(Place::At {
                pointer: pointer.clone(),
                ty: (**element).clone(),
                level: value.level,
            }),
            (Ty::Pointer(_), _) => fault(at, "nullptr is dereferenced; remove the access"),
            _ => fault(at, format!("{} is not a pointer", value.ty.name())),
        }
    }

    fn indexed(&mut self, object: &Place, index: &Value, at: u32) -> Outcome<Place> {
        let steps = self.subscript(index, at)?;
        if let Place::At { pointer, ty: Ty::Array(element, _), level } = object {
            let pointer = self.element_at(pointer, steps, element, at)?;
            let level = level.join(index.level);
            return Ok(Place::At { pointer, ty: (**element).clone(), level });
        }
        if let Place::Value(Value { ty: Ty::Array(..), .. }) = object {
            return fault(at, "a temporary array is not indexed; store it in a variable");
        }
        let value = self.load(object, at)?;
        let (Ty::Pointer(element), Data::Pointer(pointer)) = (&value.ty, &value.data) else {
            return fault(at, format!("{} is not indexed; index an array or pointer", value.ty.name()));
        };
        let pointer = self.advance(pointer, steps, element, at)?;
        let level = value.level.join(index.level);
        Ok(Place::At { pointer, ty: (**element).clone(), level })
    }

    pub(super) fn member(&mut self, object: Place, name: &str, at: u32) -> Outcome<Place> {
        let ty = match &object {
            Place::At { ty, .. } => ty.clone(),
            Place::Value(value) => value.ty.clone(),
            Place::Variable(var) => var.ty.clone(),
        };
        match &ty {
            Ty::Vector(prim, lanes) => {
                let lane = ["x", "y", "z", "w"]
                    .iter()
                    .position(|component| *component == name)
                    .map(|lane| lane as u32)
                    .filter(|lane| lane < lanes);
                let Some(lane) = lane else {
                    return fault(at, format!("{} has no member {name}", ty.name()));
                };
                Ok(match object {
                    Place::At { pointer, level, .. } => {
                        let pointer = match pointer {
                            Pointer::Memory { root, index, unit, offset, .. } => Pointer::Memory {
                                root,
                                index,
                                unit,
                                offset,
                                component: Some((lane, ty.clone())),
                            },
                            Pointer::Local { root, leaf, index, .. } => {
                                Pointer::Local { root, leaf, index, component: Some(lane) }
                            }
                        };
                        Place::At { pointer, ty: Ty::Prim(*prim), level }
                    }
                    Place::Value(value) => {
                        let level = value.level;
                        match value.first() {
                            Some(base) => {
                                let leaf = self.add(Expression::AccessIndex { base, index: lane });
                                Place::Value(Value::leaf(Ty::Prim(*prim), leaf, level))
                            }
                            None => return fault(at, "the vector has no value"),
                        }
                    }
                    Place::Variable(_) => return fault(at, "a pointer has no members; use ->"),
                })
            }
            Ty::Struct(structure) => {
                let Some(field) = structure.fields.iter().find(|field| *field.name == *name) else {
                    return fault(at, format!("{} has no member {name}", ty.name()));
                };
                Ok(match object {
                    Place::At { pointer, level, .. } => {
                        let pointer = self.field_at(&pointer, field.offset, field.leaf);
                        Place::At { pointer, ty: field.ty.clone(), level }
                    }
                    Place::Value(Value { data: Data::Leaves(leaves), level, .. }) => {
                        let leaves = leaves[field.leaf..field.leaf + field.ty.n_leaves()].to_vec();
                        Place::Value(Value { ty: field.ty.clone(), data: Data::Leaves(leaves), level })
                    }
                    _ => return fault(at, "a pointer has no members; use ->"),
                })
            }
            Ty::Pointer(_) => fault(at, format!("a pointer has no member {name}; use ->")),
            _ => fault(at, format!("{} has no member {name}", ty.name())),
        }
    }
}

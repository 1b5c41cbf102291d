//! Expressions.

use naga::UnaryOperator;

use super::Lowering;
use super::level::Level;
use super::value::{Data, Place, Value};
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
            ExprKind::Int {
                value,
                unsigned,
                long,
                decimal,
            } => {
                let prim = self.integer_type(*value, *unsigned, *long, *decimal, at)?;
                let leaf = self.literal(*value as i64, prim);
                Ok(Value::leaf(Ty::Prim(prim), leaf, Level::UNIFORM))
            }
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
            ExprKind::Text(_) => fault(
                at,
                "strings are not supported in kernels; remove the string",
            ),
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
            ExprKind::Step {
                amount,
                prefix,
                operand,
            } => self.step(*amount, *prefix, operand, at),
            ExprKind::Binary(op @ (BinOp::LogicalAnd | BinOp::LogicalOr), left, right) => {
                self.logical(*op, left, right, at)
            }
            ExprKind::Binary(op, left, right) => {
                let left = self.expr(left)?;
                let right = self.expr(right)?;
                if let Some(value) =
                    self.overloaded(super::convert::sign(*op), &[&left, &right], at)?
                {
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
            ExprKind::Cast {
                ty,
                operand,
                reinterpret,
            } => {
                let to = self.resolve(ty)?;
                if *reinterpret && ty.reference {
                    return fault(
                        at,
                        "reinterpret_cast to a reference is not supported; use __float_as_int and its like",
                    );
                }
                let value = self.expr(operand)?;
                self.cast(value, &to, at)
            }
            ExprKind::Construct(ty, parts) => {
                let to = self.resolve(ty)?;
                self.construct(&to, parts, at)
            }
            ExprKind::List(_) => fault(
                at,
                "a list in braces has no type here; write the type before it",
            ),
            ExprKind::SizeofType(ty) => {
                let ty = self.resolve(ty)?;
                self.size_value(&ty)
            }
            ExprKind::AlignofType(ty) => {
                let ty = self.resolve(ty)?;
                let leaf = self.u32(ty.align());
                Ok(Value::leaf(UINT, leaf, Level::UNIFORM))
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

    /// Returns the type of a constant: the first that it fits of those that C names for its suffix and base.
    fn integer_type(
        &self,
        value: u64,
        unsigned: bool,
        long: bool,
        decimal: bool,
        at: u32,
    ) -> Outcome<Prim> {
        let fits = (i32::try_from(value).is_ok(), u32::try_from(value).is_ok());
        match fits {
            (true, _) if !unsigned && !long => Ok(Prim::Int),
            // Without 64 bits, a decimal one is `unsigned` too.
            (_, true) if !long && (unsigned || !decimal || !self.options.int64) => Ok(Prim::UInt),
            _ if !self.options.int64 && long => fault(
                at,
                "a constant of type long has 64 bits; remove the suffix L, or use the option int64 where the device has 64-bit integers",
            ),
            _ if !self.options.int64 => fault(
                at,
                format!(
                    "{value} needs 64 bits; kernels have integers of 32, or the option int64 where the device has 64-bit ones"
                ),
            ),
            _ if !unsigned && i64::try_from(value).is_ok() => Ok(Prim::Long),
            _ => Ok(Prim::ULong),
        }
    }

    fn unary_expr(&mut self, op: UnOp, operand: &Expr, whole: &Expr) -> Outcome<Value> {
        let at = whole.at;
        match op {
            UnOp::Deref => {
                let place = self.place(whole)?;
                self.load(&place, at)
            }
            UnOp::AddressOf => match self.place(operand)? {
                Place::At { pointer, ty, level } => Ok(Value {
                    ty: Ty::Pointer(ty.into()),
                    data: Data::Pointer(pointer),
                    level,
                }),
                Place::Variable(_) => {
                    fault(at, "pointers to pointers are not supported; use indices")
                }
                Place::Value(_) => fault(
                    at,
                    "a temporary value has no address; store it in a variable",
                ),
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
                    return fault(
                        at,
                        format!(
                            "{sign}{} is not defined; define an operator{sign} for it",
                            value.ty.name()
                        ),
                    );
                };
                let leaf = match (op, value.ty.prim()) {
                    (UnOp::Plus, _) => leaf,
                    (UnOp::BitNot, Some(prim)) if prim.is_integer() => {
                        self.unary(UnaryOperator::BitwiseNot, leaf)
                    }
                    (UnOp::BitNot, _) => return fault(at, "~ takes an integer; convert the value"),
                    // WGSL negates no unsigned integers.
                    (_, Some(prim @ (Prim::UInt | Prim::ULong))) => {
                        let zero = self.zero(prim);
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
        let value = match &place {
            Place::At { ty, .. } => self.convert(value, &ty.clone(), at)?,
            _ => value,
        };
        self.store(&place, value.clone(), at)?;
        Ok(value)
    }
}

//! Expressions that evaluate an operand only if a condition holds.

use naga::{BinaryOperator, Block, Literal, Statement};

use super::Lowering;
use super::value::{Data, Pointer, Value};
use crate::ast::{BinOp, Expr, ExprKind, UnOp};
use crate::error::{Outcome, fault};
use crate::types::{BOOL, Prim, Ty};

/// Returns true if evaluating an expression early has no effect and cannot fail.
fn is_simple(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Int { .. }
        | ExprKind::Float(_)
        | ExprKind::Bool(_)
        | ExprKind::Char(_)
        | ExprKind::Name(..) => true,
        ExprKind::Unary(UnOp::Neg | UnOp::Plus | UnOp::Not | UnOp::BitNot, operand) => {
            is_simple(operand)
        }
        ExprKind::Cast { operand, .. } => is_simple(operand),
        ExprKind::Binary(_, left, right) => is_simple(left) && is_simple(right),
        ExprKind::Member {
            object,
            arrow: false,
            ..
        } => is_simple(object),
        _ => false,
    }
}

impl Lowering<'_> {
    /// Continues a block.
    fn resume<T>(
        &mut self,
        block: Block,
        inside: impl FnOnce(&mut Self) -> Outcome<T>,
    ) -> Outcome<(Block, T)> {
        self.f.blocks.push(block);
        self.f.ended.push(false);
        let done = inside(self);
        let block = self.f.blocks.pop().unwrap_or_default();
        self.f.ended.pop();
        Ok((block, done?))
    }

    fn refuse_collective(&self, expr: &Expr) -> Outcome<()> {
        if self.has_collective(expr) {
            return fault(
                expr.at,
                "a barrier or warp function is called under && || or ?:; call it in a statement of its own before",
            );
        }
        Ok(())
    }

    pub(super) fn logical(
        &mut self,
        op: BinOp,
        left: &Expr,
        right: &Expr,
        at: u32,
    ) -> Outcome<Value> {
        let is_and = op == BinOp::LogicalAnd;
        let value = self.expr(left)?;
        let first = self.truth(value, at)?;
        let Some(condition) = first.first() else {
            return fault(at, "the operand is not a condition");
        };
        if let Some(Literal::Bool(known)) = self.literal_of(condition)
            && known != is_and
        {
            return Ok(first);
        }
        if is_simple(right) {
            let value = self.expr(right)?;
            let second = self.truth(value, at)?;
            let level = first.level.join(second.level);
            let Some(other) = second.first() else {
                return fault(at, "the operand is not a condition");
            };
            let op = if is_and {
                BinaryOperator::LogicalAnd
            } else {
                BinaryOperator::LogicalOr
            };
            let leaf = match self.literal_of(condition) {
                Some(_) => other,
                None => self.binary(op, condition, other),
            };
            return Ok(Value::leaf(BOOL, leaf, level));
        }
        self.refuse_collective(right)?;
        let ty = self.scalar_ty(Prim::Bool);
        let result = self.local("condition", ty, None);
        self.store_pointer(result, condition);
        let outside = self.f.control;
        self.f.control = outside.join(first.level);
        let lowered = self.block(|this| {
            let value = this.expr(right)?;
            let second = this.truth(value, at)?;
            if let Some(leaf) = second.first() {
                this.store_pointer(result, leaf);
            }
            Ok(second.level)
        });
        self.f.control = outside;
        let (block, level) = lowered?;
        let condition = if is_and {
            condition
        } else {
            self.not(condition)
        };
        self.push_if(condition, block, Block::new());
        let leaf = self.load_pointer(result);
        Ok(Value::leaf(BOOL, leaf, first.level.join(level)))
    }

    pub(super) fn conditional(
        &mut self,
        condition: &Expr,
        accept: &Expr,
        reject: &Expr,
        at: u32,
    ) -> Outcome<Value> {
        let value = self.expr(condition)?;
        let condition = self.truth(value, at)?;
        let Some(test) = condition.first() else {
            return fault(at, "the condition of ?: is not a number or pointer");
        };
        if let Some(Literal::Bool(known)) = self.literal_of(test) {
            return self.known_side(known, accept, reject, at);
        }
        self.refuse_collective(accept)?;
        self.refuse_collective(reject)?;
        let outside = self.f.control;
        self.f.control = outside.join(condition.level);
        let lowered = self.sides(accept, reject);
        self.f.control = outside;
        let ((accept_block, accepted), (reject_block, rejected)) = lowered?;
        let level = condition.level.join(accepted.level).join(rejected.level);
        let ty = unified(&accepted, &rejected, at)?;
        if let Ty::Pointer(_) = ty {
            return self.chosen_pointer(
                test,
                (accept_block, accepted),
                (reject_block, rejected),
                level,
                at,
            );
        }
        let (accept_block, a) =
            self.resume(accept_block, |this| this.convert(accepted, &ty, at))?;
        let (reject_block, b) =
            self.resume(reject_block, |this| this.convert(rejected, &ty, at))?;
        let (Data::Leaves(a), Data::Leaves(b)) = (a.data, b.data) else {
            return fault(at, "the sides of ?: have no common type");
        };
        let emits_only = |block: &Block| {
            block
                .iter()
                .all(|statement| matches!(statement, Statement::Emit(_)))
        };
        let is_plain = matches!(ty, Ty::Prim(_)) && is_simple(accept) && is_simple(reject);
        if is_plain && emits_only(&accept_block) && emits_only(&reject_block) {
            self.append(accept_block);
            self.append(reject_block);
            let leaf = self.select(test, a[0], b[0]);
            return Ok(Value::leaf(ty, leaf, level));
        }
        let mut pointers = Vec::new();
        for leaf in ty.leaves() {
            let leaf = self.leaf_ty(leaf);
            pointers.push(self.local("chosen", leaf, None));
        }
        let (accept_block, ()) = self.resume(accept_block, |this| this.store_all(&pointers, &a))?;
        let (reject_block, ()) = self.resume(reject_block, |this| this.store_all(&pointers, &b))?;
        self.push_if(test, accept_block, reject_block);
        let leaves = pointers
            .iter()
            .map(|pointer| self.load_pointer(*pointer))
            .collect();
        Ok(Value {
            ty,
            data: Data::Leaves(leaves),
            level,
        })
    }

    fn store_all(
        &mut self,
        pointers: &[super::state::H],
        values: &[super::state::H],
    ) -> Outcome<()> {
        for (pointer, value) in pointers.iter().zip(values) {
            self.store_pointer(*pointer, *value);
        }
        Ok(())
    }

    fn sides(&mut self, accept: &Expr, reject: &Expr) -> Outcome<((Block, Value), (Block, Value))> {
        let accept = self.block(|this| this.expr(accept))?;
        let reject = self.block(|this| this.expr(reject))?;
        Ok((accept, reject))
    }

    /// Evaluates the side that a constant selects; the other side still gives its type.
    fn known_side(&mut self, known: bool, accept: &Expr, reject: &Expr, at: u32) -> Outcome<Value> {
        let (chosen, other) = if known {
            (accept, reject)
        } else {
            (reject, accept)
        };
        let value = self.expr(chosen)?;
        let (_, other) = self.block(|this| this.expr(other))?;
        let ty = unified(&value, &other, at)?;
        self.convert(value, &ty, at)
    }

    fn chosen_pointer(
        &mut self,
        test: super::state::H,
        accept: (Block, Value),
        reject: (Block, Value),
        level: super::level::Level,
        at: u32,
    ) -> Outcome<Value> {
        let ty = if matches!(accept.1.data, Data::Null) {
            reject.1.ty.clone()
        } else {
            accept.1.ty.clone()
        };
        let (Data::Pointer(x), Data::Pointer(y)) = (&accept.1.data, &reject.1.data) else {
            return fault(at, "?: selects between a pointer and nullptr; use if");
        };
        let size = match &ty {
            Ty::Pointer(element) => element.size(),
            _ => 1,
        };
        let (accept_block, (root, a, unit)) =
            self.resume(accept.0, |this| this.rebased(x, size, at))?;
        let (reject_block, (other, b, other_unit)) =
            self.resume(reject.0, |this| this.rebased(y, size, at))?;
        let is_merged = root != other && self.facts.merge(root, other);
        if !is_merged && (root != other || unit != other_unit) {
            return fault(
                at,
                "?: selects between pointers into different buffers; use if, or select an index into one buffer",
            );
        }
        self.append(accept_block);
        self.append(reject_block);
        let index = self.select(test, a, b);
        let pointer = Pointer::Memory {
            root,
            index,
            unit,
            offset: 0,
            component: None,
        };
        Ok(Value {
            ty,
            data: Data::Pointer(pointer),
            level,
        })
    }
}

/// The common type of the sides of `?:`.
fn unified(a: &Value, b: &Value, at: u32) -> Outcome<Ty> {
    match (&a.ty, &b.ty) {
        (a, b) if a == b => Ok(a.clone()),
        (Ty::Prim(a), Ty::Prim(b)) => Ok(Ty::Prim(super::convert::common(*a, *b))),
        (Ty::Pointer(_), Ty::Pointer(_)) => Ok(a.ty.clone()),
        _ => fault(
            at,
            format!(
                "the sides of ?: are {} and {}; convert one",
                a.ty.name(),
                b.ty.name()
            ),
        ),
    }
}

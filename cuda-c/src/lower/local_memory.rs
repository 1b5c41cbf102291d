//! Loads from local variables and stores to them, leaf by leaf.

use naga::Expression;

use super::Lowering;
use super::facts::Root;
use super::state::H;
use super::value::{Data, Pointer, Value};
use crate::error::{Outcome, fault};
use crate::types::{Leaf, Prim, Ty};

impl Lowering<'_> {
    pub(super) fn local_leaf(&mut self, root: Root, leaf: usize, at: u32) -> Outcome<(H, Leaf)> {
        match self.f.locals.get(&root).and_then(|leaves| leaves.get(leaf)) {
            Some(found) => Ok(*found),
            None => fault(
                at,
                "the variable is not reachable from here; pass it as an argument",
            ),
        }
    }

    /// Returns a pointer to a leaf of a local variable.
    pub(super) fn leaf_pointer(
        &mut self,
        root: Root,
        leaf: usize,
        index: Option<H>,
        at: u32,
    ) -> Outcome<H> {
        let (pointer, described) = self.local_leaf(root, leaf, at)?;
        Ok(match (described.count, index) {
            (Some(count), Some(index)) => {
                let index = self.within(index, count);
                self.access(pointer, index)
            }
            (Some(_), None) => {
                let zero = self.u32(0);
                self.access(pointer, zero)
            }
            _ => pointer,
        })
    }

    pub(super) fn load_local(
        &mut self,
        root: Root,
        first: usize,
        index: Option<H>,
        component: Option<u32>,
        ty: &Ty,
        at: u32,
    ) -> Outcome<Vec<H>> {
        if let Some(component) = component {
            let pointer = self.leaf_pointer(root, first, index, at)?;
            let pointer = self.add(Expression::AccessIndex {
                base: pointer,
                index: component,
            });
            let value = self.load_pointer(pointer);
            let stored = self.local_leaf(root, first, at)?.1.prim;
            let wanted = ty.prim().unwrap_or(stored);
            return Ok(vec![self.reinterpreted(value, stored, wanted, at)?]);
        }
        let mut leaves = Vec::new();
        for (n, wanted) in ty.leaves().into_iter().enumerate() {
            let value = match wanted.count {
                None => {
                    let stored = self.local_leaf(root, first + n, at)?.1;
                    same_lanes(stored, wanted, at)?;
                    let pointer = self.leaf_pointer(root, first + n, index, at)?;
                    let value = self.load_pointer(pointer);
                    self.reinterpreted(value, stored.prim, wanted.prim, at)?
                }
                Some(count) => {
                    let (pointer, whole) = self.local_leaf(root, first + n, at)?;
                    let is_whole = whole.count == Some(count) && index.is_none();
                    if is_whole && (whole.prim, whole.lanes) == (wanted.prim, wanted.lanes) {
                        self.load_pointer(pointer)
                    } else {
                        return fault(
                            at,
                            format!(
                                "{} has an array and is itself in an array; copy its members one by one",
                                ty.name()
                            ),
                        );
                    }
                }
            };
            leaves.push(value);
        }
        Ok(leaves)
    }

    /// Reinterprets the bits of a local variable that is accessed as another type.
    pub(super) fn store_local(&mut self, pointer: &Pointer, value: &Value, at: u32) -> Outcome<()> {
        let Pointer::Local {
            root,
            leaf,
            index,
            component,
        } = pointer
        else {
            return Ok(());
        };
        let Data::Leaves(leaves) = &value.data else {
            return fault(at, "a pointer is stored in a variable of another type");
        };
        let shapes = value.ty.leaves();
        for (n, value) in leaves.clone().into_iter().enumerate() {
            let is_array = shapes.get(n).is_some_and(|shape| shape.count.is_some());
            if is_array && index.is_some() {
                return fault(
                    at,
                    "a structure with an array is stored in an array; assign its members one by one",
                );
            }
            let (whole, stored) = self.local_leaf(*root, leaf + n, at)?;
            let mut value = value;
            if let Some(shape) = shapes.get(n) {
                if component.is_none() {
                    same_lanes(stored, *shape, at)?;
                }
                if is_array && (stored.prim, stored.count) != (shape.prim, shape.count) {
                    return fault(at, "an array is stored as another type; store its elements");
                }
                if !is_array {
                    value = self.reinterpreted(value, shape.prim, stored.prim, at)?;
                }
            }
            let mut target = if is_array {
                whole
            } else {
                self.leaf_pointer(*root, leaf + n, *index, at)?
            };
            if let Some(component) = component {
                target = self.add(Expression::AccessIndex {
                    base: target,
                    index: *component,
                });
            }
            self.store_pointer(target, value);
        }
        Ok(())
    }

    pub(super) fn reinterpreted(&mut self, value: H, from: Prim, to: Prim, at: u32) -> Outcome<H> {
        if from == to {
            return Ok(value);
        }
        if from.size() == to.size() && from.size() >= 4 {
            return Ok(self.bitcast(value, to));
        }
        fault(
            at,
            format!(
                "a local variable of type {} is accessed as {}; convert its value",
                from.name(),
                to.name()
            ),
        )
    }
}

fn same_lanes(stored: Leaf, wanted: Leaf, at: u32) -> Outcome<()> {
    if stored.lanes == wanted.lanes {
        return Ok(());
    }
    fault(
        at,
        "a local variable is accessed as a vector of another length; copy its elements",
    )
}

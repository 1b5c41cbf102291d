//! Pointer variables: each holds an index; what it points into is a fact about it.

use super::Lowering;
use super::facts::{PointerFacts, Root};
use super::level::Level;
use super::state::{H, Var, VarKind};
use super::value::{Data, Pointer, Value};
use crate::error::{Outcome, fault};
use crate::types::Ty;
use std::rc::Rc;

impl Lowering<'_> {
    /// Notes the memory that a pointer variable points into.
    pub(super) fn note_pointer(
        &mut self,
        key: super::facts::VarKey,
        root: Root,
        unit: u32,
        at: u32,
    ) -> Outcome<()> {
        match self.facts.pointers.get_mut(&key) {
            None => {
                self.facts.pointers.insert(key, PointerFacts { root, unit });
                self.facts.changed = true;
            }
            Some(known) if known.root != root => {
                let known_root = known.root;
                if self.facts.group_of(known_root).0 == root {
                    known_root_moved(&mut self.facts, key, root);
                    return Ok(());
                }
                // Shared variables can lie in one memory; the next pass knows it.
                if self.facts.merge(known_root, root) {
                    return Ok(());
                }
                return fault(
                    at,
                    "the pointer may point into one of two buffers; use one pointer for each, or an index",
                );
            }
            Some(known) => {
                let mut step = (known.unit, unit);
                while step.1 != 0 {
                    step = (step.1, step.0 % step.1);
                }
                if step.0 != known.unit {
                    known.unit = step.0;
                    self.facts.changed = true;
                }
            }
        }
        Ok(())
    }

    /// Assigns to a pointer variable.
    pub(super) fn assign_pointer(&mut self, var: &Rc<Var>, value: Value, at: u32) -> Outcome<()> {
        let VarKind::Pointer(local) = &var.kind else {
            return fault(at, "this pointer is not assigned to; copy it to a variable");
        };
        let Data::Pointer(pointer) = &value.data else {
            return fault(
                at,
                "a pointer variable is set to nullptr or a number; use a flag",
            );
        };
        if matches!(pointer, Pointer::Local { .. }) {
            return self.assign_local_pointer(var, *local, value, at);
        }
        let size = match &var.ty {
            Ty::Pointer(element) => element.element().size(),
            _ => 1,
        };
        let (root, index, unit) = self.rebased(pointer, size, at)?;
        self.note_pointer(var.key, root, unit, at)?;
        let wanted = self
            .facts
            .pointers
            .get(&var.key)
            .map_or(unit, |facts| facts.unit);
        let index = self.scaled(index, unit / wanted.max(1));
        let n_guards = self.n_guards_of(var.key);
        let level = value.level.join(self.f.control);
        self.facts.raise_variable(var.key, level);
        self.note_guarded(var.key, n_guards);
        let local = *local;
        self.guarded(n_guards, |this| {
            this.store_pointer(local, index);
            Ok(())
        })
    }

    /// A pointer into a local array: its index is kept in the variable.
    pub(super) fn assign_local_pointer(
        &mut self,
        var: &Rc<Var>,
        local: H,
        value: Value,
        at: u32,
    ) -> Outcome<()> {
        let Data::Pointer(Pointer::Local {
            root,
            leaf,
            index,
            component: None,
        }) = &value.data
        else {
            return fault(
                at,
                "a pointer to an element of a vector is not kept; use a float variable",
            );
        };
        let known = self.f.local_pointers.get(&var.key).copied();
        let target = (*root, *leaf, index.is_some());
        if known.is_some_and(|known| known != target) {
            return fault(
                at,
                "the pointer may point to one of two variables; use one pointer for each, or an index",
            );
        }
        self.f.local_pointers.insert(var.key, target);
        let n_guards = self.n_guards_of(var.key);
        let level = value.level.join(self.f.control);
        self.facts.raise_variable(var.key, level);
        self.note_guarded(var.key, n_guards);
        let index = *index;
        self.guarded(n_guards, |this| {
            if let Some(index) = index {
                this.store_pointer(local, index);
            }
            Ok(())
        })
    }

    pub(super) fn load_pointer_variable(&mut self, var: &Rc<Var>, at: u32) -> Outcome<Value> {
        let VarKind::Pointer(local) = &var.kind else {
            return fault(at, "this is not a pointer variable");
        };
        let level = self
            .facts
            .levels
            .get(&var.key)
            .copied()
            .unwrap_or(Level::UNIFORM);
        if let Some((root, leaf, has_index)) = self.f.local_pointers.get(&var.key).copied() {
            let index = has_index.then(|| self.load_pointer(*local));
            let pointer = Pointer::Local {
                root,
                leaf,
                index,
                component: None,
            };
            return Ok(Value {
                ty: var.ty.clone(),
                data: Data::Pointer(pointer),
                level,
            });
        }
        let Some(PointerFacts { root, unit }) = self.facts.pointers.get(&var.key).cloned() else {
            return fault(
                at,
                "the pointer is read before it is assigned; initialise it",
            );
        };
        let index = self.load_pointer(*local);
        let pointer = Pointer::Memory {
            root,
            index,
            unit,
            offset: 0,
            component: None,
        };
        Ok(Value {
            ty: var.ty.clone(),
            data: Data::Pointer(pointer),
            level,
        })
    }
}

/// Notes that the memory of a pointer is part of another.
fn known_root_moved(facts: &mut super::facts::Facts, key: super::facts::VarKey, root: Root) {
    if let Some(known) = facts.pointers.get_mut(&key) {
        known.root = root;
        facts.changed = true;
    }
}

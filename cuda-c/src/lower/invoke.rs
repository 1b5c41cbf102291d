//! Calls of device functions with evaluated arguments.

use super::Lowering;
use super::facts::{PointerFacts, Spec, SpecKey, TemplateValue};
use super::function::{Argument, Lowered};
use super::level::Level;
use super::state::H;
use super::value::{Data, Pointer, Value};
use crate::ast::Function;
use crate::error::{Outcome, fault};
use crate::types::Ty;
use naga::{Expression, Statement};
use std::rc::Rc;

impl Lowering<'_> {
    /// Calls a function with evaluated arguments.
    pub(super) fn call_function(
        &mut self,
        function: &Rc<Function>,
        template: Vec<TemplateValue>,
        arguments: Vec<Argument>,
        at: u32,
    ) -> Outcome<Value> {
        let is_collective = self.collective.contains(&function.name);
        if self.barriers.contains(&function.name) && !self.f.control.is_uniform() {
            let control = self.f.control;
            return self.divergent(
                at,
                control,
                &format!(
                    "the control flow around {}, which has a barrier,",
                    function.name
                ),
            );
        }
        if self.calls.iter().any(|name| *name == function.index) {
            return fault(
                at,
                format!(
                    "{} calls itself: recursion is not supported; use a loop and a stack in an array",
                    function.name
                ),
            );
        }
        let is_masked = is_collective && self.f.guards.iter().any(|guard| guard.is_open);
        let mut keys = Vec::new();
        let mut values: Vec<H> = Vec::new();
        for argument in &arguments {
            self.pass_argument(argument, &mut keys, &mut values, at)?;
        }
        let key = SpecKey {
            function: function.index,
            template,
            arguments: keys,
            is_masked,
        };
        let spec = self.facts.spec(key);
        let lowered = match self.lowered.get(&spec) {
            Some(lowered) => lowered.clone(),
            None => self.lower_device(function, spec, at)?,
        };
        let mut passed = Vec::new();
        for root in &lowered.roots {
            let leaves = self.f.locals.get(root).cloned().unwrap_or_default();
            passed.extend(leaves.into_iter().map(|(leaf, _)| leaf));
            // The callee may assign what it has a pointer to.
            self.note_assigned(*root, Level::divergent(at));
        }
        passed.extend(values);
        if is_masked && let Some((hold, _)) = self.guards_hold(0) {
            passed.push(hold);
        }
        for bit in &lowered.builtins {
            passed.push(self.builtin(*bit));
        }
        self.f.has_effect = true;
        self.finish_call(spec, &lowered, passed, is_collective)
    }

    pub(super) fn finish_call(
        &mut self,
        spec: Spec,
        lowered: &Lowered,
        passed: Vec<H>,
        is_collective: bool,
    ) -> Outcome<Value> {
        let level = self
            .facts
            .results
            .get(&spec)
            .copied()
            .unwrap_or(Level::UNIFORM);
        let ty = lowered.result.clone();
        let function = lowered.handle;
        let has_result = ty != Ty::Void;
        let guarded = !is_collective
            && self.f.guards_stores
            && self.f.guards.iter().any(|guard| guard.is_open);
        let mut result = None;
        if guarded {
            // Threads that have left must not run it.
            let variable = if has_result {
                let ty = self.result_ty(&ty);
                Some(self.local("returned", ty, None))
            } else {
                None
            };
            self.guarded(0, |this| {
                let handle = has_result.then(|| this.add(Expression::CallResult(function)));
                this.push(Statement::Call {
                    function,
                    arguments: passed,
                    result: handle,
                });
                if let (Some(variable), Some(handle)) = (variable, handle) {
                    this.store_pointer(variable, handle);
                }
                Ok(())
            })?;
            if let Some(variable) = variable {
                result = Some(self.load_pointer(variable));
            }
        } else {
            result = has_result.then(|| self.add(Expression::CallResult(function)));
            self.push(Statement::Call {
                function,
                arguments: passed,
                result,
            });
        }
        let Some(handle) = result else {
            return Ok(Value {
                ty: Ty::Void,
                data: Data::Leaves(Vec::new()),
                level,
            });
        };
        if let Ty::Pointer(_) = ty {
            let facts = self.facts.pointers.get(&(spec, 0, 0)).cloned();
            let data = match facts {
                Some(PointerFacts { root, unit }) => Data::Pointer(Pointer::Memory {
                    root,
                    index: handle,
                    unit,
                    offset: 0,
                    component: None,
                }),
                None => Data::Null,
            };
            return Ok(Value { ty, data, level });
        }
        let n_leaves = ty.n_leaves();
        let leaves = if n_leaves == 1 {
            vec![handle]
        } else {
            (0..n_leaves as u32)
                .map(|index| {
                    self.add(Expression::AccessIndex {
                        base: handle,
                        index,
                    })
                })
                .collect()
        };
        Ok(Value {
            ty,
            data: Data::Leaves(leaves),
            level,
        })
    }
}

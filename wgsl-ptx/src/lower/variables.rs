//! Register allocation of variables: finds those that must live in memory, since they contain an array of more than a few
//! elements that is indexed dynamically, possibly through pointers passed to functions.

use std::collections::HashSet;

use naga::proc::{GlobalCtx, IndexableLength, TypeResolution};
use naga::valid::{FunctionInfo, ModuleInfo};
use naga::{
    AddressSpace, Block, Expression, Function, GlobalVariable, Handle, LocalVariable, Module,
    Statement, TypeInner,
};

/// Arrays with more elements and dynamic indices live in memory.
pub(super) const MAX_CHOICES: u32 = 8;

/// A function, or the entry point.
pub(super) type FunctionId = Option<Handle<Function>>;

/// Variables that live in memory, apart from those that are too large for registers anyway.
#[derive(Default)]
pub(super) struct InMemory {
    pub(super) locals: HashSet<(FunctionId, Handle<LocalVariable>)>,
    pub(super) globals: HashSet<Handle<GlobalVariable>>,
    /// Function arguments that point to such variables.
    arguments: HashSet<(Handle<Function>, u32)>,
}

/// The root of a pointer expression.
enum Root {
    Local(Handle<LocalVariable>),
    Global(Handle<GlobalVariable>),
    Argument(u32),
}

impl InMemory {
    pub(super) fn find(module: &Module, info: &ModuleInfo) -> Self {
        let mut found = Self::default();
        // naga orders functions after their callees.
        for (handle, function) in module.functions.iter() {
            found.visit(module, Some(handle), function, &info[handle]);
        }
        for (i, entry) in module.entry_points.iter().enumerate() {
            found.visit(module, None, &entry.function, info.get_entry_point(i));
        }
        found
    }

    fn visit(&mut self, module: &Module, id: FunctionId, function: &Function, info: &FunctionInfo) {
        for (_, expression) in function.expressions.iter() {
            let Expression::Access { base, index } = *expression else {
                continue;
            };
            let is_constant = matches!(
                function.expressions[index],
                Expression::Literal(_) | Expression::Constant(_) | Expression::ZeroValue(_)
            );
            if !is_constant && has_many_elements(module.to_ctx(), &info[base].ty) {
                self.mark(module, id, function, base);
            }
        }
        let mut calls = Vec::new();
        find_calls(&function.body, &mut calls);
        for (callee, arguments) in calls {
            for (i, argument) in arguments.iter().enumerate() {
                if self.arguments.contains(&(callee, i as u32)) {
                    self.mark(module, id, function, *argument);
                }
            }
        }
    }

    /// Marks the variable at the root of a pointer as living in memory.
    fn mark(
        &mut self,
        module: &Module,
        id: FunctionId,
        function: &Function,
        pointer: Handle<Expression>,
    ) {
        match root(function, pointer) {
            Some(Root::Local(variable)) => {
                self.locals.insert((id, variable));
            }
            Some(Root::Global(variable))
                if module.global_variables[variable].space == AddressSpace::Private =>
            {
                self.globals.insert(variable);
            }
            Some(Root::Argument(i)) => {
                if let Some(handle) = id {
                    self.arguments.insert((handle, i));
                }
            }
            _ => {}
        }
    }
}

fn root(function: &Function, mut pointer: Handle<Expression>) -> Option<Root> {
    loop {
        match function.expressions[pointer] {
            Expression::Access { base, .. } | Expression::AccessIndex { base, .. } => {
                pointer = base
            }
            Expression::LocalVariable(variable) => return Some(Root::Local(variable)),
            Expression::GlobalVariable(variable) => return Some(Root::Global(variable)),
            Expression::FunctionArgument(i) => return Some(Root::Argument(i)),
            _ => return None,
        }
    }
}

fn has_many_elements(context: GlobalCtx<'_>, ty: &TypeResolution) -> bool {
    let TypeInner::Pointer { base, .. } = *ty.inner_with(context.types) else {
        return false;
    };
    match context.types[base].inner {
        TypeInner::Array { size, .. } => {
            !matches!(size.resolve(context), Ok(IndexableLength::Known(n)) if n <= MAX_CHOICES)
        }
        _ => false,
    }
}

type Calls = Vec<(Handle<Function>, Vec<Handle<Expression>>)>;

fn find_calls(block: &Block, calls: &mut Calls) {
    for statement in block {
        match statement {
            Statement::Call {
                function,
                arguments,
                ..
            } => {
                calls.push((*function, arguments.clone()));
            }
            Statement::Block(block) => find_calls(block, calls),
            Statement::If { accept, reject, .. } => {
                find_calls(accept, calls);
                find_calls(reject, calls);
            }
            Statement::Switch { cases, .. } => {
                for case in cases {
                    find_calls(&case.body, calls);
                }
            }
            Statement::Loop {
                body, continuing, ..
            } => {
                find_calls(body, calls);
                find_calls(continuing, calls);
            }
            _ => {}
        }
    }
}

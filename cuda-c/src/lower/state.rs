//! The function being lowered: blocks, expressions and scopes.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use naga::{
    Block, Expression, Function, Handle, LocalVariable, Range, Scalar, ScalarKind, Span, Statement,
    Type, TypeInner, VectorSize,
};

use super::Lowering;
use super::facts::{Root, Spec, VarKey};
use super::level::Level;
use super::value::{Pointer, Value};
use crate::error::{Outcome, fault};
use crate::types::{Leaf, Prim, Ty};

pub(super) type H = Handle<Expression>;

/// Maximum expressions of a kernel with all functions that it calls.
const MAX_EXPRESSIONS: u32 = 1 << 16;
/// Maximum nesting while lowering, callees included.
const MAX_DEPTH: u32 = 160;

/// A name of the source.
#[derive(Debug)]
pub(super) struct Var {
    pub(super) ty: Ty,
    pub(super) key: VarKey,
    pub(super) kind: VarKind,
}

#[derive(Debug, Clone)]
pub(super) enum VarKind {
    /// A local variable: its root has a variable of WGSL for each leaf.
    Local(Root),
    /// A pointer: a variable with the index.
    Pointer(H),
    /// Memory, such as a shared array, or the target of a reference.
    Place(Pointer, Level),
    /// A value that never changes.
    Value(Value),
}

/// A flag that is false for threads that left a region by `return`, `break`, `continue` or a condition.
#[derive(Debug, Clone, Copy)]
pub(super) struct Guard {
    pub(super) flag: H,
    pub(super) negated: bool,
    /// True once a thread may have left.
    pub(super) is_open: bool,
    pub(super) level: Level,
}

/// A loop or switch around the current statement.
#[derive(Debug, Clone, Copy)]
pub(super) struct Target {
    pub(super) is_switch: bool,
    pub(super) key: (Spec, u32),
    /// True if it has barriers or warp functions.
    pub(super) is_collective: bool,
    /// Indices in the guards of the flags for `break` and `continue` of a collective loop.
    pub(super) flags: Option<(usize, usize)>,
}

/// State of one function.
#[derive(Default)]
pub(super) struct State {
    pub(super) function: Function,
    pub(super) blocks: Vec<Block>,
    /// True after a statement that leaves the block.
    pub(super) ended: Vec<bool>,
    pub(super) scopes: Vec<HashMap<Rc<str>, Rc<Var>>>,
    pub(super) types: HashMap<Rc<str>, Ty>,
    /// Name of the function with its template arguments.
    pub(super) name: Rc<str>,
    pub(super) spec: Option<Spec>,
    /// Pointers to the leaves of local variables, those of callers among them.
    pub(super) locals: HashMap<Root, Vec<(H, Leaf)>>,
    pub(super) builtins: HashMap<u8, H>,
    keys: HashMap<(u32, u32), u32>,
    /// Divergence of the control flow here.
    pub(super) control: Level,
    pub(super) guards: Vec<Guard>,
    /// True while stores must be guarded one by one, in statements with barriers.
    pub(super) guards_stores: bool,
    pub(super) targets: Vec<Target>,
    pub(super) is_kernel: bool,
    pub(super) is_collective: bool,
    pub(super) result: Ty,
    pub(super) result_variables: Vec<H>,
    /// Index in the guards of the flag for `return`.
    pub(super) return_guard: Option<usize>,
    /// True inside a statement that runs only where all guards hold.
    pub(super) is_wrapped: bool,
    /// Variables assigned in the current wrapped statement, with the guards that they need none of.
    pub(super) assigned: Vec<(VarKey, usize)>,
    /// Names that the function assigns.
    pub(super) assigned_names: HashSet<Rc<str>>,
    /// Names that pointers and references of the function may stand for.
    pub(super) aliased_names: HashSet<Rc<str>>,
    /// Pointer variables into local arrays: root, leaf, whether there is an index.
    pub(super) local_pointers: HashMap<VarKey, (Root, usize, bool)>,
    /// Guards of the variables in scope.
    pub(super) guards_of: HashMap<VarKey, usize>,
    /// Divergence of control flow after returns.
    pub(super) exit: Level,
    /// True if the statement lowered last had an effect beyond assignments of uniform values to local variables.
    pub(super) has_effect: bool,
}

impl Lowering<'_> {
    pub(super) fn spec(&self) -> Spec {
        self.f.spec.unwrap_or(Spec(0))
    }

    pub(super) fn enter(&mut self, at: u32) -> Outcome<()> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return fault(
                at,
                format!(
                    "calls, statements and operators nest more than {MAX_DEPTH} deep; split the function"
                ),
            );
        }
        Ok(())
    }

    pub(super) fn leave(&mut self) {
        self.depth -= 1;
    }

    /// Counts work; the limit is an error at `at`.
    pub(super) fn spend(&mut self, at: u32) -> Outcome<()> {
        if self.n_expressions > MAX_EXPRESSIONS {
            return fault(
                at,
                format!(
                    "the kernel has more than {MAX_EXPRESSIONS} operations with all its calls; split it"
                ),
            );
        }
        Ok(())
    }

    pub(super) fn add(&mut self, expression: Expression) -> H {
        self.n_expressions += 1;
        let needs_emit = !matches!(
            expression,
            Expression::Literal(_)
                | Expression::Constant(_)
                | Expression::ZeroValue(_)
                | Expression::FunctionArgument(_)
                | Expression::GlobalVariable(_)
                | Expression::LocalVariable(_)
                | Expression::CallResult(_)
                | Expression::AtomicResult { .. }
                | Expression::WorkGroupUniformLoadResult { .. }
                | Expression::SubgroupBallotResult
                | Expression::SubgroupOperationResult { .. }
        );
        let handle = self
            .f
            .function
            .expressions
            .append(expression, Span::UNDEFINED);
        if needs_emit
            && !self.has_ended()
            && let Some(block) = self.f.blocks.last_mut()
        {
            if let Some(Statement::Emit(range)) = block.last_mut()
                && let Some((first, last)) = range.first_and_last()
                && last.index() + 1 == handle.index()
            {
                *range = Range::new_from_bounds(first, handle);
            } else {
                block.push(
                    Statement::Emit(Range::new_from_bounds(handle, handle)),
                    Span::UNDEFINED,
                );
            }
        }
        handle
    }

    /// Appends a statement, unless the block was left before.
    pub(super) fn push(&mut self, statement: Statement) {
        self.n_expressions += 1;
        if self.has_ended() {
            return;
        }
        let ends = matches!(
            statement,
            Statement::Break | Statement::Continue | Statement::Return { .. }
        );
        if let Some(block) = self.f.blocks.last_mut() {
            block.push(statement, Span::UNDEFINED);
        }
        if ends && let Some(ended) = self.f.ended.last_mut() {
            *ended = true;
        }
    }

    pub(super) fn has_ended(&self) -> bool {
        self.f.ended.last().copied().unwrap_or(false)
    }

    /// Runs `inside` with a new block and returns the block.
    pub(super) fn block<T>(
        &mut self,
        inside: impl FnOnce(&mut Self) -> Outcome<T>,
    ) -> Outcome<(Block, T)> {
        self.f.blocks.push(Block::new());
        self.f.ended.push(false);
        let done = inside(self);
        let block = self.f.blocks.pop().unwrap_or_default();
        self.f.ended.pop();
        Ok((block, done?))
    }

    pub(super) fn append(&mut self, block: Block) {
        if self.has_ended() {
            return;
        }
        if let Some(current) = self.f.blocks.last_mut() {
            current.extend_block(block);
        }
    }

    pub(super) fn push_if(&mut self, condition: H, accept: Block, reject: Block) {
        if accept.is_empty() && reject.is_empty() {
            return;
        }
        self.push(Statement::If {
            condition,
            accept,
            reject,
        });
    }

    pub(super) fn ty(&mut self, inner: TypeInner) -> Handle<Type> {
        self.module
            .types
            .insert(Type { name: None, inner }, Span::UNDEFINED)
    }

    pub(super) fn scalar_ty(&mut self, prim: Prim) -> Handle<Type> {
        self.ty(TypeInner::Scalar(scalar(prim)))
    }

    pub(super) fn element_ty(&mut self, prim: Prim, lanes: u32) -> Handle<Type> {
        match vector_size(lanes) {
            Some(size) => self.ty(TypeInner::Vector {
                size,
                scalar: scalar(prim),
            }),
            None => self.scalar_ty(prim),
        }
    }

    pub(super) fn array_ty(&mut self, base: Handle<Type>, stride: u32, count: u32) -> Handle<Type> {
        let count = std::num::NonZeroU32::new(count).unwrap_or(std::num::NonZeroU32::MIN);
        self.ty(TypeInner::Array {
            base,
            size: naga::ArraySize::Constant(count),
            stride,
        })
    }

    pub(super) fn leaf_ty(&mut self, leaf: Leaf) -> Handle<Type> {
        let element = self.element_ty(leaf.prim, leaf.lanes);
        match leaf.count {
            Some(count) => {
                let lanes = if leaf.lanes == 3 { 4 } else { leaf.lanes };
                let stride = u32::from(scalar(leaf.prim).width) * lanes;
                self.array_ty(element, stride, count)
            }
            None => element,
        }
    }

    /// Adds a variable of WGSL and returns the pointer to it.
    pub(super) fn local(&mut self, name: &str, ty: Handle<Type>, init: Option<H>) -> H {
        let variable = LocalVariable {
            name: Some(name.to_owned()),
            ty,
            init,
        };
        let handle = self
            .f
            .function
            .local_variables
            .append(variable, Span::UNDEFINED);
        self.add(Expression::LocalVariable(handle))
    }

    pub(super) fn load_pointer(&mut self, pointer: H) -> H {
        self.add(Expression::Load { pointer })
    }

    pub(super) fn store_pointer(&mut self, pointer: H, value: H) {
        self.push(Statement::Store { pointer, value });
    }

    pub(super) fn define(&mut self, name: &Rc<str>, var: Var) {
        if let Some(scope) = self.f.scopes.last_mut() {
            scope.insert(name.clone(), Rc::new(var));
        }
    }

    pub(super) fn find(&self, name: &str) -> Option<Rc<Var>> {
        self.f
            .scopes
            .iter()
            .rev()
            .find_map(|scope| scope.get(name))
            .cloned()
    }

    /// Returns the identity of a variable declared here.
    pub(super) fn next_key(&mut self, at: u32, name: &Rc<str>) -> VarKey {
        let name = self.facts.name(name);
        let spec = self.spec();
        let count = self.f.keys.entry((at, name)).or_insert(0);
        *count += 1;
        (spec, at, (name << 8) | (*count).min(255))
    }
}

pub(super) fn scalar(prim: Prim) -> Scalar {
    match prim {
        Prim::Bool => Scalar::BOOL,
        Prim::Half => Scalar::F16,
        Prim::Float | Prim::Double => Scalar::F32,
        Prim::Long => Scalar::I64,
        Prim::ULong => Scalar::U64,
        prim if prim.is_signed() => Scalar::I32,
        _ => Scalar::U32,
    }
}

pub(super) fn kind(prim: Prim) -> ScalarKind {
    scalar(prim).kind
}

pub(super) fn vector_size(lanes: u32) -> Option<VectorSize> {
    match lanes {
        2 => Some(VectorSize::Bi),
        3 => Some(VectorSize::Tri),
        4 => Some(VectorSize::Quad),
        _ => None,
    }
}

//! Unrolling of short loops with a known trip count: expressions of the counter become constant, and small arrays indexed by it
//! stay in registers. The assembler unrolls loops too, but none that contain a barrier or a store.

use naga::{BinaryOperator, Block, Expression, Function, Handle, LocalVariable, Statement};

use super::Lowering;
use super::frame::Frame;
use super::place::At;
use super::statement::Targets;
use crate::Result;
use crate::build::Operand;

const MAX_TURNS: usize = 16;
/// Most expressions and statements of an unrolled loop in total, including called functions.
const MAX_SIZE: usize = 512;
/// The same for loops that index an array of registers by their counter, which would be copied to memory otherwise.
const MAX_SIZE_OF_ARRAYS: usize = 4096;
/// The same for loops that multiply matrices, whose code is short where the addresses of the matrices are constants.
const MAX_SIZE_OF_PRODUCTS: usize = 8192;

/// A loop with a counter that only its continuing block changes.
struct Counted {
    counter: Handle<LocalVariable>,
    start: Operand,
    trip_count: usize,
}

impl Lowering<'_> {
    /// Unrolls the loop if it is short. `before` is the statement that precedes it.
    pub(super) fn unrolled(
        &mut self,
        frame: &mut Frame<'_>,
        before: Option<&Statement>,
        body: &Block,
        continuing: &Block,
    ) -> Result<bool> {
        let Some(counted) = self.counted(frame, before, body, continuing)? else {
            return Ok(false);
        };
        let At::Registers {
            variable, leaf: 0, ..
        } = frame.locals[counted.counter.index()].at
        else {
            return Ok(false);
        };
        let end = self.kernel.label();
        self.variables[variable].known = Some(counted.start);
        let enclosing = self.divergence;
        // The only jump is the loop's check.
        if n_jumps(body) > 1 {
            self.divergence += 1;
        }
        frame.n_loops += 1;
        for _ in 0..counted.trip_count {
            let next = self.kernel.label();
            let targets = Targets {
                on_break: Some(end),
                on_continue: Some(next),
            };
            self.block(frame, body, targets)?;
            self.kernel.land(next);
            self.block(frame, continuing, Targets::default())?;
        }
        self.variables[variable].known = None;
        self.divergence = enclosing;
        frame.n_loops -= 1;
        self.kernel.land(end);
        Ok(true)
    }

    fn counted(
        &mut self,
        frame: &mut Frame<'_>,
        before: Option<&Statement>,
        body: &Block,
        continuing: &Block,
    ) -> Result<Option<Counted>> {
        let function = frame.function;
        let Some((counter, update, step)) = update_of(function, continuing) else {
            return Ok(None);
        };
        let Some((comparison, bound)) = check_of(function, counter, body) else {
            return Ok(None);
        };
        let Some((Some(start), uses)) = self.counter_start(frame, before, counter) else {
            return Ok(None);
        };
        // The counter must be dead after the loop, as it is if it is declared in the loop's head.
        let n_within = n_loads(function, counter, body) + n_loads(function, counter, continuing);
        if n_within != uses.n_loads {
            return Ok(None);
        }
        let mut constants = Vec::new();
        for handle in [start, bound, step] {
            match self.constant_of(frame, handle)? {
                Some(constant) if constant.ty().is_integer() => constants.push(constant),
                _ => return Ok(None),
            }
        }
        let [start, bound, step] = constants[..] else {
            return Ok(None);
        };
        let size = self.size_of(body).saturating_add(self.size_of(continuing));
        let trip_count = self.trip_count(start, bound, step, comparison, update)?;
        let most = match multiplies(function, body) {
            true => MAX_SIZE_OF_PRODUCTS,
            false if indexes(function, counter, body) => MAX_SIZE_OF_ARRAYS,
            false => MAX_SIZE,
        };
        let fits = trip_count.filter(|trip_count| trip_count.saturating_mul(size) <= most);
        Ok(fits.map(|trip_count| Counted {
            counter,
            start,
            trip_count,
        }))
    }

    /// Returns the value of a counter before its loop, which follows the statement `before`, and the counter's uses: no value if it is
    /// zero by default. `None` if more than this value and the steps of the loop may be stored to the counter.
    pub(super) fn counter_start(
        &mut self,
        frame: &Frame<'_>,
        before: Option<&Statement>,
        counter: Handle<LocalVariable>,
    ) -> Option<(Option<Handle<Expression>>, Uses)> {
        let function = frame.function;
        let counters = self.counters.entry(frame.id);
        let counters = counters.or_insert_with(|| Counters::find(function));
        let uses = counters.of(counter);
        let stored_before = before
            .and_then(|statement| store_to(function, statement))
            .filter(|(to, _)| *to == counter);
        let start = match stored_before {
            Some((_, value)) if uses.n_stores == 2 => Some(value),
            // Assigned once, at the start of the function.
            None if uses.n_stores == 1 && frame.n_loops == 0 => {
                function.local_variables[counter].init
            }
            _ => return None,
        };
        (!uses.escapes).then_some((start, uses))
    }

    fn constant_of(
        &mut self,
        frame: &mut Frame<'_>,
        handle: Handle<Expression>,
    ) -> Result<Option<Operand>> {
        match frame.function.expressions[handle] {
            Expression::Literal(_)
            | Expression::Constant(_)
            | Expression::ZeroValue(_)
            | Expression::FunctionArgument(_) => {
                let operand = self.scalar(frame, handle)?;
                Ok(operand.constant().map(|_| operand))
            }
            _ => Ok(None),
        }
    }

    /// Returns the trip count if it is small, found by executing the counter.
    fn trip_count(
        &mut self,
        start: Operand,
        bound: Operand,
        step: Operand,
        comparison: BinaryOperator,
        update: BinaryOperator,
    ) -> Result<Option<usize>> {
        let mut counter = start;
        for trip_count in 0..=MAX_TURNS {
            if self.binary_scalar(comparison, counter, bound)?.constant() == Some(0) {
                return Ok(Some(trip_count));
            }
            counter = self.binary_scalar(update, counter, step)?;
        }
        Ok(None)
    }

    /// Counts expressions and statements of a block, including called functions.
    pub(super) fn size_of(&self, block: &Block) -> usize {
        let size = |statement: &Statement| match statement {
            Statement::Emit(range) => range.index_range().len(),
            Statement::Block(block) => self.size_of(block),
            Statement::If { accept, reject, .. } => {
                self.size_of(accept).saturating_add(self.size_of(reject))
            }
            Statement::Switch { cases, .. } => {
                let cases = cases.iter().map(|case| self.size_of(&case.body));
                cases.fold(0, usize::saturating_add)
            }
            // An inner loop may be unrolled too.
            Statement::Loop {
                body, continuing, ..
            } => {
                let once = self.size_of(body).saturating_add(self.size_of(continuing));
                once.saturating_mul(4)
            }
            Statement::Call { function, .. } => self.facts[function.index()].size,
            _ => 1,
        };
        block.iter().map(size).fold(1, usize::saturating_add)
    }
}

/// Returns true if a block, or an inner loop of it, multiplies matrices itself.
fn multiplies(function: &Function, block: &Block) -> bool {
    block.iter().any(|statement| match statement {
        Statement::Emit(range) => range.clone().any(|handle| {
            matches!(
                function.expressions[handle],
                Expression::CooperativeMultiplyAdd { .. }
            )
        }),
        Statement::Block(block) => multiplies(function, block),
        Statement::Loop { body, .. } => multiplies(function, body),
        _ => false,
    })
}

/// Returns true if a block indexes an array variable of the function by the counter.
fn indexes(function: &Function, counter: Handle<LocalVariable>, block: &Block) -> bool {
    block.iter().any(|statement| match statement {
        Statement::Emit(range) => range.clone().any(|handle| {
            let Expression::Access { base, index } = function.expressions[handle] else {
                return false;
            };
            let is_variable = matches!(function.expressions[base], Expression::LocalVariable(_));
            is_variable && loads(function, counter, index)
        }),
        Statement::Block(block) => indexes(function, counter, block),
        Statement::If { accept, reject, .. } => {
            indexes(function, counter, accept) || indexes(function, counter, reject)
        }
        _ => false,
    })
}

/// Returns variable and value of a store to a whole local variable.
fn store_to(
    function: &Function,
    statement: &Statement,
) -> Option<(Handle<LocalVariable>, Handle<Expression>)> {
    let Statement::Store { pointer, value } = statement else {
        return None;
    };
    match function.expressions[*pointer] {
        Expression::LocalVariable(local) => Some((local, *value)),
        _ => None,
    }
}

/// Returns the local variable that an expression loads.
pub(super) fn loaded(
    function: &Function,
    expression: Handle<Expression>,
) -> Option<Handle<LocalVariable>> {
    let Expression::Load { pointer } = function.expressions[expression] else {
        return None;
    };
    match function.expressions[pointer] {
        Expression::LocalVariable(local) => Some(local),
        _ => None,
    }
}

fn loads(
    function: &Function,
    counter: Handle<LocalVariable>,
    expression: Handle<Expression>,
) -> bool {
    loaded(function, expression) == Some(counter)
}

/// Returns counter, operator and step of a continuing block that only steps the counter.
pub(super) fn update_of(
    function: &Function,
    continuing: &Block,
) -> Option<(Handle<LocalVariable>, BinaryOperator, Handle<Expression>)> {
    let mut rest = continuing
        .iter()
        .filter(|statement| !matches!(statement, Statement::Emit(_)));
    let (Some(store), None) = (rest.next(), rest.next()) else {
        return None;
    };
    let (counter, value) = store_to(function, store)?;
    match function.expressions[value] {
        Expression::Binary { op, left, right } if loads(function, counter, left) => {
            Some((counter, op, right))
        }
        _ => None,
    }
}

/// Returns comparison and bound of the check at the start of a loop body.
fn check_of(
    function: &Function,
    counter: Handle<LocalVariable>,
    body: &Block,
) -> Option<(BinaryOperator, Handle<Expression>)> {
    let first = body
        .iter()
        .find(|statement| !matches!(statement, Statement::Emit(_)))?;
    let Statement::If {
        condition,
        accept,
        reject,
    } = first
    else {
        return None;
    };
    let breaks = reject.len() == 1 && matches!(reject.first(), Some(Statement::Break));
    match function.expressions[*condition] {
        Expression::Binary { op, left, right }
            if accept.is_empty() && breaks && loads(function, counter, left) =>
        {
            Some((op, right))
        }
        _ => None,
    }
}

/// Counts breaks and continues, including those of inner loops.
fn n_jumps(block: &Block) -> usize {
    let jumps = |statement: &Statement| match statement {
        Statement::Break | Statement::Continue => 1,
        Statement::Block(block) => n_jumps(block),
        Statement::If { accept, reject, .. } => n_jumps(accept) + n_jumps(reject),
        Statement::Switch { cases, .. } => cases.iter().map(|case| n_jumps(&case.body)).sum(),
        Statement::Loop {
            body, continuing, ..
        } => n_jumps(body) + n_jumps(continuing),
        _ => 0,
    };
    block.iter().map(jumps).sum()
}

/// Uses of local variables in a function, by index.
#[derive(Debug)]
pub(super) struct Counters(Vec<Uses>);

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Uses {
    n_loads: usize,
    n_stores: usize,
    /// Has other uses, as an argument of a call for instance.
    escapes: bool,
}

impl Counters {
    /// Collects the uses in one pass over the function.
    fn find(function: &Function) -> Self {
        let mut found = Self(vec![Uses::default(); function.local_variables.len()]);
        found.add(function, &function.body);
        found
    }

    fn of(&self, variable: Handle<LocalVariable>) -> Uses {
        self.0.get(variable.index()).copied().unwrap_or_default()
    }

    fn change(&mut self, variable: Handle<LocalVariable>, change: impl FnOnce(&mut Uses)) {
        if let Some(uses) = self.0.get_mut(variable.index()) {
            change(uses);
        }
    }

    fn add(&mut self, function: &Function, block: &Block) {
        for statement in block {
            match statement {
                Statement::Emit(range) => {
                    for handle in range.clone() {
                        if let Some(variable) = loaded(function, handle) {
                            self.change(variable, |uses| uses.n_loads += 1);
                        }
                    }
                }
                Statement::Store { .. } => {
                    if let Some((variable, _)) = store_to(function, statement) {
                        self.change(variable, |uses| uses.n_stores += 1);
                    }
                }
                Statement::Call { arguments, .. } => {
                    for argument in arguments {
                        if let Expression::LocalVariable(variable) = function.expressions[*argument]
                        {
                            self.change(variable, |uses| uses.escapes = true);
                        }
                    }
                }
                Statement::Block(block) => self.add(function, block),
                Statement::If { accept, reject, .. } => {
                    self.add(function, accept);
                    self.add(function, reject);
                }
                Statement::Switch { cases, .. } => {
                    for case in cases {
                        self.add(function, &case.body);
                    }
                }
                Statement::Loop {
                    body, continuing, ..
                } => {
                    self.add(function, body);
                    self.add(function, continuing);
                }
                _ => {}
            }
        }
    }
}

fn n_loads(function: &Function, counter: Handle<LocalVariable>, block: &Block) -> usize {
    let count = |statement: &Statement| match statement {
        Statement::Emit(range) => range
            .clone()
            .filter(|&handle| loads(function, counter, handle))
            .count(),
        Statement::Block(block) => n_loads(function, counter, block),
        Statement::If { accept, reject, .. } => {
            n_loads(function, counter, accept) + n_loads(function, counter, reject)
        }
        Statement::Switch { cases, .. } => {
            let cases = cases
                .iter()
                .map(|case| n_loads(function, counter, &case.body));
            cases.sum()
        }
        Statement::Loop {
            body, continuing, ..
        } => n_loads(function, counter, body) + n_loads(function, counter, continuing),
        _ => 0,
    };
    block.iter().map(count).sum()
}

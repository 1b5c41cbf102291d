//! Limits of the work for one kernel. Calls are inlined and short loops unrolled, so a small source can become a large
//! kernel: [`crate::front::check`] bounds the expansion by calls, and this module what is generated.

use std::cell::Cell;

use super::Lowering;
use crate::Result;

/// Most lines of PTX of a kernel: fifty times the largest of this crate.
pub(super) const MAX_LINES: usize = 1 << 18;
/// Most statements, expressions and scalars lowered, with all calls inlined and loops unrolled.
const MAX_STEPS: usize = 1 << 21;
/// Most scalars of a value that is computed scalar by scalar.
const MAX_SCALARS: usize = 1 << 16;
/// Most bytes of constant tables.
pub(super) const MAX_TABLE_BYTES: usize = 1 << 20;
/// Bytes of local memory that an invocation can have on every device.
pub(super) const MAX_LOCAL_BYTES: u32 = 512 << 10;

/// Steps spent so far.
#[derive(Debug, Default)]
pub(super) struct Budget(Cell<usize>);

impl Lowering<'_> {
    /// Counts work before it is done.
    ///
    /// # Errors
    /// The budget is exhausted.
    pub(super) fn spend(&self, n_steps: usize) -> Result<()> {
        let n = self.budget.0.get().saturating_add(n_steps);
        self.budget.0.set(n);
        if n > MAX_STEPS {
            return Err(self.error(format_args!(
                "more than {MAX_STEPS} steps (MAX_STEPS), all calls inlined and loops unrolled: call functions less often, or use loops"
            )));
        }
        if self.kernel.n_lines() > MAX_LINES {
            return Err(self.error(format_args!(
                "more than {MAX_LINES} lines of PTX (MAX_LINES), all calls inlined and loops unrolled: call functions less often, or use loops"
            )));
        }
        Ok(())
    }

    /// Counts the scalars of a value.
    ///
    /// # Errors
    /// Those of [`spend`](Self::spend), or the value has too many scalars to be computed one by one.
    pub(super) fn spend_scalars(&self, n: usize) -> Result<()> {
        if n > MAX_SCALARS {
            return Err(self.error(format_args!(
                "a value of {n} scalars, more than the limit of {MAX_SCALARS} (MAX_SCALARS): use a storage buffer"
            )));
        }
        self.spend(n)
    }
}

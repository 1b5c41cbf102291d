//! How much work a kernel may take. Calls are inlined and short loops unrolled, so that a small source can become a
//! large kernel: [`crate::wgsl::check`] bounds what calls multiply, this bounds what is made of it.

use std::cell::Cell;

use super::Lowering;
use crate::Result;

/// Lines of PTX that a kernel may have: fifty times the largest of this crate.
pub(super) const MAX_LINES: usize = 1 << 18;
/// Statements, expressions and scalars that may be lowered, all calls inlined and loops unrolled.
const MAX_STEPS: usize = 1 << 21;
/// Scalars of a value that is computed scalar by scalar.
const MAX_SCALARS: usize = 1 << 16;
/// Bytes of constant tables.
pub(super) const MAX_TABLE_BYTES: usize = 1 << 20;
/// Bytes of local memory that an invocation may have on any device.
pub(super) const MAX_LOCAL_BYTES: u32 = 512 << 10;

/// Steps taken so far.
#[derive(Debug, Default)]
pub(super) struct Budget(Cell<usize>);

impl Lowering<'_> {
    /// Counts work before it is done.
    ///
    /// # Errors
    /// The kernel has had its share.
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
    /// As [`spend`](Self::spend); the value is too large to be taken apart.
    pub(super) fn spend_scalars(&self, n: usize) -> Result<()> {
        if n > MAX_SCALARS {
            return Err(self.error(format_args!(
                "a value of {n} scalars, more than the limit of {MAX_SCALARS} (MAX_SCALARS): use a storage buffer"
            )));
        }
        self.spend(n)
    }
}

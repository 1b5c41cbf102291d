//! Element-wise operations; the twin of `shaders/tensor_elementwise.wgsl`.

use super::functions::{Each, with_function};
use super::parallel::{SHARE, for_shares};
use crate::tensor::{Step, check_len};
use crate::{Error, Result};

/// Applies all steps in turn to each element of `a` and writes the result to `out`. Steps with two operands read the
/// second from `b`.
///
/// ```
/// use pagepress::tensor::{Step, cpu};
/// let mut out = [0.0; 3];
/// cpu::elementwise(&[Step::Mul, Step::Relu], &[1.0, -2.0, 3.0], Some(&[2.0, 2.0, 2.0]), &mut out)?;
/// assert_eq!(out, [2.0, 0.0, 6.0]);
/// # Ok::<(), pagepress::Error>(())
/// ```
///
/// # Errors
/// [`Error::LengthMismatch`] unless all slices have one length; [`Error::InvalidArgument`] if a step needs two operands
/// and `b` is `None`.
pub fn elementwise(steps: &[Step], a: &[f32], b: Option<&[f32]>, out: &mut [f32]) -> Result<()> {
    check_len("result", out.len(), a.len() as u64)?;
    if let Some(b) = b {
        check_len("b", b.len(), a.len() as u64)?;
    } else if steps.iter().any(|step| step.takes_two()) {
        return Err(Error::InvalidArgument {
            name: "b",
            value: "nothing".into(),
            expected: "a second tensor for a step that takes two",
        });
    }
    for_shares(out, SHARE, |start, out| {
        let end = start + out.len();
        out.copy_from_slice(&a[start..end]);
        let b = b.map_or(&[][..], |b| &b[start..end]);
        for &step in steps {
            with_function(step, InPlace { out, b });
        }
    });
    Ok(())
}

/// A share of the result, which initially contains the first operand.
pub(super) struct InPlace<'a> {
    pub(super) out: &'a mut [f32],
    pub(super) b: &'a [f32],
}

impl Each for InPlace<'_> {
    #[inline(always)]
    fn one(self, function: impl Fn(f32) -> f32) {
        for x in self.out {
            *x = function(*x);
        }
    }

    #[inline(always)]
    fn two(self, function: impl Fn(f32, f32) -> f32) {
        for (x, y) in self.out.iter_mut().zip(self.b) {
            *x = function(*x, *y);
        }
    }
}

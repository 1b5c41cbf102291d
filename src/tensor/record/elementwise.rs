//! Records element-wise operations.

use super::{AnyOperand, Given, Operand, Plan, Recording};
use crate::Result;
use crate::gpu::{Buffer, Sized64};
use crate::kernels::tensor::{
    CopyAxis, Elementwise, MAX_STEPS, Source, Strided, copy_job, elementwise_job,
};
use crate::kernels::{Job, Limits, Slot};
use crate::tensor::{MAX_RANK, Shape, Step, TensorView};

/// Axes of a tensor, innermost first. Axes of length 1 are left out, and neighbouring axes are merged if the strides of
/// all operands permit it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Axes {
    pub(super) dims: Vec<usize>,
    /// Strides of each operand.
    pub(super) strides: Vec<Vec<usize>>,
}

impl Axes {
    fn none(n_operands: usize) -> Self {
        Self {
            dims: Vec::new(),
            strides: vec![Vec::new(); n_operands],
        }
    }
}

/// Returns the axes of operands of one shape with these strides.
pub(super) fn merged_axes(shape: &Shape, strides: &[&[usize]]) -> Axes {
    let mut axes = Axes {
        dims: Vec::with_capacity(MAX_RANK),
        strides: vec![Vec::with_capacity(MAX_RANK); strides.len()],
    };
    for axis in (0..shape.rank()).rev() {
        let dim = shape.dims()[axis];
        if dim == 1 {
            continue;
        }
        let inner = axes.dims.last().copied();
        let goes_on = inner.is_some_and(|inner| {
            let both = axes.strides.iter().zip(strides);
            both.clone().all(|(merged, given)| {
                merged
                    .last()
                    .is_some_and(|stride| stride * inner == given[axis])
            })
        });
        match axes.dims.last_mut() {
            Some(inner) if goes_on => *inner *= dim,
            _ => {
                axes.dims.push(dim);
                for (merged, given) in axes.strides.iter_mut().zip(strides) {
                    merged.push(given[axis]);
                }
            }
        }
    }
    axes
}

impl Recording {
    /// Applies steps in turn to `a` and `b`, which are broadcast to `shape`. `b` is required if a step has two
    /// operands.
    pub(crate) async fn elementwise(
        &mut self,
        steps: &[Step],
        a: Operand<'_>,
        b: Option<Operand<'_>>,
        shape: &Shape,
        out: &Buffer,
    ) -> Result<()> {
        let dense = TensorView::new(shape.clone());
        let mut from = a;
        let mut made = None;
        let mut rest = steps;
        loop {
            let (now, later) = rest.split_at(launch_len(rest));
            let target = match later.is_empty() {
                true => out.clone(),
                false => self.allocate(shape.n_elements())?,
            };
            let second = b.filter(|_| now.iter().any(|step| step.takes_two()));
            self.few_steps(now, from, second, shape, &target).await?;
            if later.is_empty() {
                return Ok(());
            }
            rest = later;
            let buffer = made.insert(target);
            from = Operand {
                buffer,
                view: &dense,
            };
        }
    }

    async fn few_steps(
        &mut self,
        steps: &[Step],
        a: Operand<'_>,
        b: Option<Operand<'_>>,
        shape: &Shape,
        out: &Buffer,
    ) -> Result<()> {
        if shape.is_empty() {
            return Ok(());
        }
        let a_view = a.view.broadcast_to(shape)?;
        let b_view = b.map(|b| b.view.broadcast_to(shape)).transpose()?;
        let a = Operand { view: &a_view, ..a };
        let b = b
            .zip(b_view.as_ref())
            .map(|(b, view)| Operand { view, ..b });
        if self.in_one_job(steps, a, b, shape, out).await? {
            return Ok(());
        }
        // Operands whose strides are too large for a binding are copied to contiguous memory first.
        if steps.is_empty() {
            return self.copy_in_order(a, out).await;
        }
        let a_copy = self.in_order(a).await?;
        let b_copy = match b {
            Some(b) => self.in_order(b).await?,
            None => None,
        };
        let dense = TensorView::new(shape.clone());
        let copied = |buffer| Operand {
            buffer,
            view: &dense,
        };
        let a = a_copy.as_ref().map_or(a, copied);
        let b = b.map(|b| b_copy.as_ref().map_or(b, copied));
        self.in_one_job(steps, a, b, shape, out).await.map(drop)
    }

    /// Records the steps on operands of `shape`. Returns false, and records nothing, if the operands do not fit in
    /// bindings.
    async fn in_one_job(
        &mut self,
        steps: &[Step],
        a: Operand<'_>,
        b: Option<Operand<'_>>,
        shape: &Shape,
        out: &Buffer,
    ) -> Result<bool> {
        let operands = (a.of_f32(), b.map(Operand::of_f32));
        let Some((job, starts)) = job_of_steps(steps, operands, shape, self.limits())? else {
            return Ok(false);
        };
        let buffers = [Some(a.buffer), b.map(|b| b.buffer)];
        self.run(&job, &given(buffers, starts, out)).await?;
        Ok(true)
    }

    /// Copies the elements contiguously to a new buffer. Returns `None` if a binding of the operand's buffer has them
    /// contiguously.
    async fn in_order(&mut self, a: Operand<'_>) -> Result<Option<Buffer>> {
        if a.dense_start().is_some() {
            return Ok(None);
        }
        let out = self.allocate(a.view.shape().n_elements())?;
        self.copy_in_order(a, &out).await?;
        Ok(Some(out))
    }

    /// Copies the elements contiguously to the start of `out`, in blocks that fit in bindings.
    async fn copy_in_order(&mut self, a: Operand<'_>, out: &Buffer) -> Result<()> {
        let axes = merged_axes(a.view.shape(), &[a.view.strides()]);
        let mut to = 1;
        let mut all = Vec::with_capacity(axes.dims.len());
        for (&n, &from) in axes.dims.iter().zip(&axes.strides[0]) {
            let (n, from) = (n as u64, from as u64);
            all.push(CopyAxis { n, from, to });
            to *= n;
        }
        let limits = self.limits();
        let n_a = a.buffer.n_bytes() / 4;
        let job = copy_job(&all, a.view.offset() as u64, n_a, limits)?;
        self.run(&job, &[(Slot::A, a.buffer, 0), (Slot::Out, out, 0)])
            .await
    }
}

impl<'a> Plan<'a> {
    /// Plans steps that are applied in turn to `a` and `b`, which have the type of `out` and are broadcast to its shape. Returns `None` if
    /// that takes more than one job.
    pub(super) fn of_steps(
        steps: &[Step],
        a: AnyOperand<'a>,
        b: Option<AnyOperand<'a>>,
        out: AnyOperand<'a>,
        limits: Limits,
    ) -> Result<Option<Self>> {
        if launch_len(steps) < steps.len() {
            return Ok(None);
        }
        let shape = out.view.shape();
        let b = b.filter(|_| steps.iter().any(|step| step.takes_two()));
        let a_view = a.view.broadcast_to(shape)?;
        let b_view = b.map(|b| b.view.broadcast_to(shape)).transpose()?;
        let b_operand = b.zip(b_view.as_ref());
        let operands = (
            AnyOperand { view: &a_view, ..a },
            b_operand.map(|(b, view)| AnyOperand { view, ..b }),
        );
        let planned = job_of_steps(steps, operands, shape, limits)?;
        Ok(planned.map(|(job, starts)| {
            let buffers = [Some(a.buffer), b.map(|b| b.buffer)];
            let given = given(buffers, starts, out.buffer);
            Self { job, given }
        }))
    }
}

/// Returns the job of steps on operands of `shape` and of one type, and the offsets of the operands' bindings in bytes; `None` if
/// the operands do not fit in bindings.
fn job_of_steps(
    steps: &[Step],
    (a, b): (AnyOperand<'_>, Option<AnyOperand<'_>>),
    shape: &Shape,
    limits: Limits,
) -> Result<Option<(Job, [Option<u64>; 2])>> {
    let operands = || [Some(a), b].into_iter().flatten();
    let strided = operands().filter(|operand| operand.dense_start().is_none());
    let strides: Vec<&[usize]> = strided.map(|operand| operand.view.strides()).collect();
    let is_one = |strides: &&[usize]| strides.iter().all(|&n| n == 0);
    let axes = match strides.iter().all(is_one) {
        // A single repeated element needs no axes.
        true => Axes::none(strides.len()),
        false => merged_axes(shape, &strides),
    };
    let mut lists = axes.strides.iter();
    let mut source = |operand: AnyOperand<'_>| match operand.dense_start() {
        Some(start) => (Source::Dense, start),
        None => {
            let strides = lists.next().into_iter().flatten();
            let strided = Strided {
                offset: operand.view.offset() as u64,
                strides: strides.map(|&stride| stride as u64).collect(),
                n: operand.buffer.n_bytes() / operand.dtype.n_bytes() as u64,
            };
            (Source::Strided(strided), 0)
        }
    };
    let (a_source, a_start) = source(a);
    let b_source = b.map(&mut source);
    let dims: Vec<u64> = axes.dims.iter().map(|&dim| dim as u64).collect();
    let what = Elementwise {
        n: shape.n_elements() as u64,
        dims: &dims,
        a: a_source,
        b: b_source.as_ref().map(|(source, _)| source.clone()),
        dtype: a.dtype,
        steps,
    };
    if !what.fits(limits.binding_bytes) {
        return Ok(None);
    }
    let job = elementwise_job(&what, limits)?;
    let b_start = b_source.map(|(_, start)| start);
    Ok(Some((job, [Some(a_start), b_start])))
}

/// Returns what a job of steps is given.
fn given<'a>(
    buffers: [Option<&'a Buffer>; 2],
    starts: [Option<u64>; 2],
    out: &'a Buffer,
) -> Vec<Given<'a>> {
    let bound = [Slot::A, Slot::B].into_iter().zip(buffers).zip(starts);
    let bound = bound.filter_map(|((slot, buffer), start)| Some((slot, buffer?, start?)));
    bound.chain([(Slot::Out, out, 0)]).collect()
}

/// Returns the number of leading steps that one launch can run. At most one of them may have two operands.
fn launch_len(steps: &[Step]) -> usize {
    let mut twos = 0;
    let fits = steps.iter().take(MAX_STEPS).take_while(|step| {
        twos += usize::from(step.takes_two());
        twos <= 1
    });
    fits.count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_merge_where_all_strides_allow_it() {
        let shape = Shape::new(&[2, 1, 3, 4]).unwrap();
        let dense = merged_axes(&shape, &[&[12, 12, 4, 1]]);
        assert_eq!((dense.dims, dense.strides), (vec![24], vec![vec![1]]));
        let row = merged_axes(&shape, &[&[12, 12, 4, 1], &[0, 0, 0, 1]]);
        assert_eq!(row.dims, [4, 6]);
        assert_eq!(row.strides, [vec![1, 4], vec![1, 0]]);
        assert_eq!(merged_axes(&Shape::new(&[]).unwrap(), &[&[]]).dims, [0; 0]);
    }

    #[test]
    fn launches_take_one_second_tensor_and_four_steps() {
        assert_eq!(launch_len(&[Step::Add, Step::Relu, Step::Mul]), 2);
        assert_eq!(launch_len(&[Step::Relu; 7]), 4);
        assert_eq!(launch_len(&[]), 0);
    }
}

//! Records operations on tensors of any types, and conversions between types. Operations are computed in f32: operands
//! of 16 bits are converted to scratch buffers first, and the result is rounded once.

use super::attention::seen_keys;
use super::elementwise::merged_axes;
use super::{Download, Operand, Recording};
use crate::Result;
use crate::gpu::{Buffer, HostMemory, HostUse, Place, Recorder};
use crate::kernels::tensor::{Cast, cast_job};
use crate::kernels::{SLICE_ALIGNMENT, Slot};
use crate::tensor::layer::Attention;
use crate::tensor::op::Op;
use crate::tensor::{DType, Shape, TensorView};

/// Prefers f32 arithmetic to matrix units for attention of few queries of 16 bits.
const DECODES_FIRST: bool = false;

/// A tensor of any type as an argument of an operation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AnyOperand<'a> {
    pub(crate) buffer: &'a Buffer,
    pub(crate) view: &'a TensorView,
    pub(crate) dtype: DType,
}

impl AnyOperand<'_> {
    /// Returns the offset of the elements in bytes if they are contiguous and the offset is aligned for a binding.
    pub(super) fn dense_start(&self) -> Option<u64> {
        let start = (self.dtype.n_bytes() * self.view.offset()) as u64;
        let is_dense = self.view.is_contiguous() && start.is_multiple_of(SLICE_ALIGNMENT);
        is_dense.then_some(start)
    }
}

/// A tensor of f32 that a recording made, or that it was given.
#[derive(Debug)]
pub(crate) struct Widened {
    pub(crate) buffer: Buffer,
    pub(crate) view: TensorView,
}

impl Widened {
    pub(crate) fn operand(&self) -> Operand<'_> {
        Operand {
            buffer: &self.buffer,
            view: &self.view,
        }
    }

    #[cfg(not(target_arch = "wasm32"))]
    pub(super) fn any_operand(&self) -> AnyOperand<'_> {
        AnyOperand {
            buffer: &self.buffer,
            view: &self.view,
            dtype: DType::F32,
        }
    }
}

impl Recording {
    /// Records an operation on inputs that [`Op::result`] accepts. The result, of the type of `out`, is written to the
    /// start of its buffer.
    pub(crate) async fn operation(
        &mut self,
        op: &Op,
        inputs: &[AnyOperand<'_>],
        out: AnyOperand<'_>,
    ) -> Result<()> {
        match (op, inputs) {
            (Op::Matmul(precision, epilogue), &[a, b, ref given @ ..]) => {
                let epilogue = epilogue.with(given.iter().copied());
                return self.matmul_of_any([a, b], *precision, epilogue, out).await;
            }
            (Op::Elementwise(steps), &[a]) if steps.is_empty() => {
                return self.cast(a, out.dtype, out.buffer).await;
            }
            _ => {}
        }
        if self.in_one_pass(op, inputs, out).await? {
            return Ok(());
        }
        if let (Op::Attention(what), &[q, k, v]) = (op, inputs) {
            return self.attention_of_any(*what, [q, k, v], out).await;
        }
        self.operation_in_f32(op, inputs, out).await
    }

    /// Records attention on matrix units if the device has those that take it, else in f32: keys and values of 16 bits are read as they
    /// are for few queries, and converted for many. Those that no query sees are neither read nor converted.
    async fn attention_of_any(
        &mut self,
        what: Attention,
        [q, k, v]: [AnyOperand<'_>; 3],
        out: AnyOperand<'_>,
    ) -> Result<()> {
        let seen = seen_keys(what, [q.view, k.view, v.view])?;
        let [k_view, v_view] = seen
            .as_ref()
            .map_or([k.view, v.view], |seen| seen.each_ref());
        let inputs = [
            q,
            AnyOperand { view: k_view, ..k },
            AnyOperand { view: v_view, ..v },
        ];
        if DECODES_FIRST && self.decoding_attention(what, inputs, out).await? {
            return Ok(());
        }
        #[cfg(not(target_arch = "wasm32"))]
        if self.attention_on_matrix_units(what, inputs, out).await? {
            return Ok(());
        }
        if !DECODES_FIRST && self.decoding_attention(what, inputs, out).await? {
            return Ok(());
        }
        self.operation_in_f32(&Op::Attention(what), &inputs, out)
            .await
    }

    /// Records an operation in f32, and the rounding of its result.
    async fn operation_in_f32(
        &mut self,
        op: &Op,
        inputs: &[AnyOperand<'_>],
        out: AnyOperand<'_>,
    ) -> Result<()> {
        let mut wide = Vec::with_capacity(inputs.len());
        for &input in inputs {
            wide.push(self.widened(input).await?);
        }
        let operands: Vec<Operand<'_>> = wide.iter().map(Widened::operand).collect();
        let result = self.wide_result(out)?;
        let to = Operand {
            buffer: &result,
            view: out.view,
        };
        op.record(self, &operands, to).await?;
        self.round_result(&result, out).await
    }

    /// Returns the buffer for a result in f32: a scratch buffer if `out` has another type.
    pub(crate) fn wide_result(&self, out: AnyOperand<'_>) -> Result<Buffer> {
        match out.dtype {
            DType::F32 => Ok(out.buffer.clone()),
            _ => self.allocate(out.view.shape().n_elements()),
        }
    }

    /// Records the rounding of a result that was written to [`wide_result`](Self::wide_result).
    pub(crate) async fn round_result(&mut self, wide: &Buffer, out: AnyOperand<'_>) -> Result<()> {
        if out.dtype == DType::F32 {
            return Ok(());
        }
        // In memory, results are contiguous, whatever the order of their axes.
        let view = TensorView::new(Shape::vector(out.view.shape().n_elements()));
        let wide = AnyOperand {
            buffer: wide,
            view: &view,
            dtype: DType::F32,
        };
        self.cast(wide, out.dtype, out.buffer).await
    }

    /// Returns the elements at the start of a buffer of f32, which lie without gaps in it, as a type.
    pub(crate) async fn rounded(
        &mut self,
        wide: &Buffer,
        view: &TensorView,
        dtype: DType,
    ) -> Result<Buffer> {
        if dtype == DType::F32 {
            return Ok(wide.clone());
        }
        let buffer = self.allocate_of(dtype, view.shape().n_elements())?;
        let out = AnyOperand {
            buffer: &buffer,
            view,
            dtype,
        };
        self.round_result(wide, out).await?;
        Ok(buffer)
    }

    /// Returns the elements as f32. Records their conversion to a scratch buffer if they have another type.
    pub(crate) async fn widened(&mut self, a: AnyOperand<'_>) -> Result<Widened> {
        if a.dtype == DType::F32 {
            return Ok(Widened {
                buffer: a.buffer.clone(),
                view: a.view.clone(),
            });
        }
        // Repeated elements are converted once, and all in their order in memory.
        let mut once = a.view.clone();
        for axis in 0..once.shape().rank() {
            if once.strides()[axis] == 0 && once.shape().dims()[axis] > 1 {
                once = once.slice(axis, 0..1)?;
            }
        }
        let mut order: Vec<usize> = (0..once.shape().rank()).collect();
        order.sort_by_key(|&axis| std::cmp::Reverse(once.strides()[axis]));
        let sorted = once.permute(&order)?;
        let mut back = order.clone();
        for (to, &axis) in order.iter().enumerate() {
            back[axis] = to;
        }
        let buffer = self.allocate(sorted.shape().n_elements())?;
        let sorted = AnyOperand { view: &sorted, ..a };
        self.cast(sorted, DType::F32, &buffer).await?;
        let dense = TensorView::new(sorted.view.shape().clone());
        let view = dense.permute(&back)?.broadcast_to(a.view.shape())?;
        Ok(Widened { buffer, view })
    }

    /// Records the conversion of elements to a type. They are written, row-major, to the start of `out`.
    pub(crate) async fn cast(&mut self, a: AnyOperand<'_>, to: DType, out: &Buffer) -> Result<()> {
        let shape = a.view.shape();
        if shape.is_empty() {
            return Ok(());
        }
        let limits = self.limits();
        let is_copy = (a.dtype, to) == (DType::F32, DType::F32);
        let whole = cast_of(a, to);
        let is_whole = !is_copy && whole.fits(limits.binding_bytes);
        // Elements that are too far apart for a binding become contiguous f32 first.
        let wide = match is_copy || is_whole {
            true => out.clone(),
            false => self.allocate(shape.n_elements())?,
        };
        if a.dtype == DType::F32 && !is_whole {
            let a = Operand {
                buffer: a.buffer,
                view: a.view,
            };
            self.elementwise(&[], a, None, shape, &wide).await?;
        }
        let view = TensorView::new(shape.clone());
        let dense = AnyOperand {
            buffer: &wide,
            view: &view,
            dtype: DType::F32,
        };
        let steps = match a.dtype {
            _ if is_copy => vec![],
            _ if is_whole => vec![(whole, a.buffer, out)],
            DType::F32 => vec![(cast_of(dense, to), &wide, out)],
            _ => vec![
                (cast_of(a, DType::F32), a.buffer, &wide),
                (cast_of(dense, to), &wide, out),
            ],
        };
        for (what, from, to) in steps {
            let job = cast_job(&what, limits)?;
            self.run(&job, &[(Slot::A, from, 0), (Slot::Out, to, 0)])
                .await?;
        }
        Ok(())
    }

    /// Records the rounding of elements of f32 to a type of 16 bits. They are written, row-major, from element `start` of
    /// `to` on, which must begin a word; if their number is odd, the element after them is cleared.
    pub(crate) async fn round_into(
        &mut self,
        a: Operand<'_>,
        dtype: DType,
        (to, start): (&Buffer, usize),
    ) -> Result<()> {
        let n = a.view.shape().n_elements();
        let (start, n_bytes) = (2 * start as u64, 4 * n.div_ceil(2) as u64);
        let (buffer, view) = (a.buffer, a.view);
        let a = AnyOperand {
            buffer,
            view,
            dtype: DType::F32,
        };
        let what = cast_of(a, dtype);
        let limits = self.limits();
        // Bindings must be aligned, and the job's buffer ends at a multiple of 16 bytes.
        if start.is_multiple_of(SLICE_ALIGNMENT) && what.fits(limits.binding_bytes) && n > 0 {
            let job = cast_job(&what, limits)?;
            let given = [(Slot::A, buffer, 0), (Slot::Out, to, start)];
            return self.run(&job, &given).await;
        }
        let rounded = self.allocate_of(dtype, n)?;
        self.cast(a, dtype, &rounded).await?;
        let (to, from) = (Place::Device(to, start), Place::Device(&rounded, 0));
        self.stream.copy(to, from, n_bytes)
    }

    /// Records the copy of the bits of elements of 16 bits to a new buffer.
    pub(crate) async fn upload_bits(&mut self, dtype: DType, bits: &[u16]) -> Result<Buffer> {
        let buffer = self.allocate_of(dtype, bits.len())?;
        if bits.is_empty() {
            return Ok(buffer);
        }
        // Buffers are multiples of 16 bytes, and writes to mapped memory start at multiples of 8.
        let (groups, rest) = bits.as_chunks::<4>();
        let n_bytes = 8 * bits.len().div_ceil(4) as u64;
        let host = self
            .device()
            .allocate_host_uncleared(n_bytes, HostUse::Upload)?;
        host.write_async(0, bytemuck::cast_slice(groups)).await?;
        if !rest.is_empty() {
            let mut last = [0; 4];
            last[..rest.len()].copy_from_slice(rest);
            host.write_async(n_bytes - 8, bytemuck::cast_slice(&last))
                .await?;
        }
        let (to, from) = (Place::Device(&buffer, 0), Place::Host(&host, 0));
        self.stream.copy(to, from, n_bytes)?;
        Ok(buffer)
    }

    /// Records the download of the bits of elements of 16 bits, row-major.
    pub(crate) async fn download_bits(&mut self, a: AnyOperand<'_>) -> Result<Download> {
        let n = a.view.shape().n_elements();
        if n == 0 {
            return Ok(Download(Vec::new()));
        }
        // Copies start at words.
        let (buffer, start) = match a.view.is_contiguous() && a.view.offset().is_multiple_of(2) {
            true => (a.buffer.clone(), 2 * a.view.offset() as u64),
            false => {
                let copy = self.allocate_of(a.dtype, n)?;
                self.cast(a, a.dtype, &copy).await?;
                (copy, 0)
            }
        };
        self.download_bytes(&buffer, start, 4 * n.div_ceil(2) as u64)
    }
}

/// Describes the conversion of an operand.
fn cast_of(a: AnyOperand<'_>, to: DType) -> Cast {
    let axes = merged_axes(a.view.shape(), &[a.view.strides()]);
    let strides = axes.strides.into_iter().flatten();
    Cast {
        axes: axes
            .dims
            .iter()
            .zip(strides)
            .map(|(&n, stride)| (n as u64, stride as u64))
            .collect(),
        offset: a.view.offset() as u64,
        from: a.dtype,
        to,
    }
}

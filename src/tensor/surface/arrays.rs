//! Operations on arrays in host memory: upload, computation and download.

use std::borrow::Cow;

use crate::Result;
use crate::gpu::{Buffer, GpuDevice};
#[cfg(web_tensor)]
use crate::js_bytes::JsBytes;
#[cfg(web_tensor)]
use crate::memory::result_zeros;
use crate::tensor::layer::Norm;
use crate::tensor::lengths::rows_shape;
use crate::tensor::op::Op;
use crate::tensor::record::{Download, Operand, Recording};
use crate::tensor::{Shape, TensorView, check_dims, check_len};

/// Elements of an array in host memory.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Elements<'a> {
    /// A slice of this program's memory.
    Slice(&'a [f32]),
    /// An array of JavaScript, copied directly to mapped staging buffers.
    #[cfg(web_tensor)]
    Js(&'a JsBytes),
}

impl<'a> Elements<'a> {
    fn len(self) -> usize {
        match self {
            Self::Slice(values) => values.len(),
            #[cfg(web_tensor)]
            Self::Js(bytes) => bytes.len() / 4,
        }
    }

    /// Returns the elements as a slice; copies those of a JavaScript array.
    pub(super) fn floats(self) -> Result<Cow<'a, [f32]>> {
        match self {
            Self::Slice(values) => Ok(Cow::Borrowed(values)),
            #[cfg(web_tensor)]
            Self::Js(bytes) => {
                let mut floats = result_zeros(self.len())?;
                bytes.read_into(0, bytemuck::cast_slice_mut(&mut floats))?;
                Ok(Cow::Owned(floats))
            }
        }
    }

    async fn upload(self, recording: &mut Recording) -> Result<Buffer> {
        match self {
            Self::Slice(values) => recording.upload(values).await,
            #[cfg(web_tensor)]
            Self::Js(bytes) => recording.upload_js(bytes).await,
        }
    }
}

/// An array in host memory with its shape, row-major.
#[derive(Debug, Clone)]
pub(crate) struct Array<'a> {
    pub(crate) elements: Elements<'a>,
    pub(crate) view: TensorView,
}

impl<'a> Array<'a> {
    pub(crate) fn new(values: &'a [f32], shape: Shape) -> Self {
        Self {
            elements: Elements::Slice(values),
            view: TensorView::new(shape),
        }
    }

    /// Creates an array from a slice with one element for each position of the shape `dims`.
    ///
    /// # Errors
    /// [`LengthMismatch`](crate::Error::LengthMismatch), [`InvalidArgument`](crate::Error::InvalidArgument).
    pub(crate) fn of_dims(name: &'static str, values: &'a [f32], dims: &[usize]) -> Result<Self> {
        check_dims(name, values.len(), dims)?;
        Ok(Self::new(values, Shape::new(dims)?))
    }

    /// Creates a vector from a slice.
    pub(crate) fn vector(values: &'a [f32]) -> Self {
        Self::new(values, Shape::vector(values.len()))
    }

    /// Creates the operation [`Op::Norm`] and its inputs: rows of `cols` elements, then weight and bias if present, one
    /// element per column.
    pub(crate) fn rows_and_columns(
        norm: Norm,
        rows: &'a [f32],
        columns: [Option<&'a [f32]>; 2],
        cols: usize,
    ) -> Result<(Op, Vec<Self>)> {
        let op = Op::Norm {
            norm,
            columns: columns.map(|values| values.is_some()),
        };
        let mut inputs = vec![Self::new(rows, rows_shape(rows.len(), cols)?)];
        let columns = columns.into_iter().flatten();
        inputs.extend(columns.map(|values| Self::new(values, Shape::vector(cols))));
        Ok((op, inputs))
    }

    /// Creates the inputs of [`Op::Rotary`]: rows of heads of so many elements, and the angles of positions.
    pub(crate) fn heads_and_turns(
        rows: &'a [f32],
        [heads, elements]: [usize; 2],
        turns: &'a [f32],
    ) -> Result<[Self; 2]> {
        let n_rows = rows_shape(rows.len(), heads.saturating_mul(elements))?.dims()[0];
        let n_positions = rows_shape(turns.len(), elements)?.dims()[0];
        Ok([
            Self::new(rows, Shape::new(&[n_rows, heads, elements])?),
            Self::new(turns, Shape::new(&[n_positions, elements])?),
        ])
    }

    /// Creates two vectors of the length of `a`. A different length of `b` is an error of [`result_of`](Op::result_of).
    pub(crate) fn pair(a: &'a [f32], b: &'a [f32]) -> [Self; 2] {
        let second = Self::new(b, Shape::vector(a.len()));
        [Self::vector(a), second]
    }
}

impl Op {
    /// Checks arrays as inputs of the operation. Returns the shape of the result and its layout in a device buffer.
    ///
    /// # Errors
    /// [`LengthMismatch`](crate::Error::LengthMismatch) for an array whose length does not match its shape; else as
    /// [`result`](Self::result).
    pub(crate) fn result_of(&self, inputs: &[Array<'_>]) -> Result<TensorView> {
        for (&name, input) in self.input_names().iter().zip(inputs) {
            check_dims(name, input.elements.len(), input.view.shape().dims())?;
        }
        let views: Vec<&TensorView> = inputs.iter().map(|input| &input.view).collect();
        self.result(&views)
    }

    /// Runs the operation on the CPU.
    pub(crate) fn on_cpu_of(&self, inputs: &[Array<'_>], out: &mut [f32]) -> Result<()> {
        let floats = inputs.iter().map(|input| input.elements.floats());
        let floats = floats.collect::<Result<Vec<_>>>()?;
        let shaped: Vec<(&[f32], &Shape)> = floats
            .iter()
            .zip(inputs)
            .map(|(floats, input)| (&floats[..], input.view.shape()))
            .collect();
        self.on_cpu(&shaped, out)
    }
}

impl GpuDevice {
    /// Uploads arrays, runs an operation on them and starts the download of its result, whose layout on the device is
    /// `result`. All arrays are read before the future first suspends.
    pub(crate) async fn compute_async(
        &self,
        op: &Op,
        inputs: &[Array<'_>],
        result: &TensorView,
    ) -> Result<Download> {
        let n = result.shape().n_elements();
        if n == 0 {
            return Ok(Download(Vec::new()));
        }
        let mut recording = Recording::new(self);
        let mut buffers = Vec::with_capacity(inputs.len());
        for input in inputs {
            buffers.push(input.elements.upload(&mut recording).await?);
        }
        // In browsers a staging buffer can be mapped again only when its submission is complete. Submitting the uploads
        // separately frees their staging buffers for the next call before the kernel ends.
        if cfg!(web_tensor) {
            std::mem::replace(&mut recording, Recording::new(self)).submit_untimed()?;
        }
        let operands: Vec<Operand<'_>> = buffers
            .iter()
            .zip(inputs)
            .map(|(buffer, Array { view, .. })| Operand { buffer, view })
            .collect();
        let buffer = recording.allocate(n)?;
        let out = Operand {
            buffer: &buffer,
            view: result,
        };
        op.record(&mut recording, &operands, out).await?;
        let download = recording.download_in_order(out).await?;
        recording.submit_untimed()?;
        Ok(download)
    }

    /// Runs an operation on slices; `out` must have the length of its result.
    pub(crate) async fn run_async(
        &self,
        op: &Op,
        inputs: &[Array<'_>],
        out: &mut [f32],
    ) -> Result<()> {
        let result = op.result_of(inputs)?;
        check_len(
            op.result_name(),
            out.len(),
            result.shape().n_elements() as u64,
        )?;
        self.compute_async(op, inputs, &result)
            .await?
            .read_into(out)
            .await
    }
}

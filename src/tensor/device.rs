//! Operations of [`GpuDevice`] on slices: in to the device, out again, in one submission.

use super::check_len;
use super::cpu::{MaxOp, MinOp, ReduceOp, SumOp};
use super::products::{convolved_shape, factors};
use super::run::{Operand, Recording};
use super::shape::Shape;
use super::step::{Reduction, Step};
use super::view::TensorView;
use crate::Result;
use crate::gpu::{Buffer, GpuDevice};

/// An operation of one slice, and its blocking form.
macro_rules! unary {
    ($($(#[$doc:meta])* $name:ident, $blocking:ident, ($($arg:ident),*), $step:expr;)*) => {
        /// Element-wise operations: `result` is as long as `input`. NaN gives NaN.
        impl GpuDevice {
            $(
                $(#[$doc])*
                ///
                /// # Errors
                /// [`LengthMismatch`](crate::Error::LengthMismatch), [`OutOfMemory`](crate::Error::OutOfMemory),
                /// [`DeviceLost`](crate::Error::DeviceLost).
                pub async fn $name(&self, input: &[f32], result: &mut [f32] $(, $arg: f32)*) -> Result<()> {
                    self.elementwise_async(&[$step], input, None, result).await
                }
            )*
        }

        /// The same, blocking. Native only.
        #[cfg(not(target_arch = "wasm32"))]
        impl GpuDevice {
            $(
                $(#[$doc])*
                ///
                /// # Errors
                /// As the form that does not block.
                pub fn $blocking(&self, input: &[f32], result: &mut [f32] $(, $arg: f32)*) -> Result<()> {
                    crate::gpu::runtime::block_on(self.$name(input, result $(, $arg)*))
                }
            )*
        }
    };
}

unary! {
    /// max(x, 0)
    relu_async, relu, (), Step::Relu;
    /// x above 0, else `alpha` x.
    leaky_relu_async, leaky_relu, (alpha), Step::LeakyRelu(alpha);
    /// x above 0, else `alpha` (eˣ - 1).
    elu_async, elu, (alpha), Step::Elu(alpha);
    /// 1 / (1 + e⁻ˣ)
    sigmoid_async, sigmoid, (), Step::Sigmoid;
    /// tanh x
    tanh_async, tanh, (), Step::Tanh;
    /// x / (1 + e⁻ˣ)
    swish_async, swish, (), Step::Swish;
    /// x Φ(x), with Φ the integral of the normal distribution.
    gelu_async, gelu, (), Step::Gelu;
    /// x, but at least `min` and at most `max`.
    clip_async, clip, (min, max), Step::Clip(min, max);
}

impl GpuDevice {
    /// `result` by all steps in turn of `input`; steps that take two take the element of `other`, which is as long.
    ///
    /// # Errors
    /// [`LengthMismatch`](crate::Error::LengthMismatch); [`InvalidArgument`](crate::Error::InvalidArgument) if a step takes
    /// two and there is no `other`; [`OutOfMemory`](crate::Error::OutOfMemory), [`DeviceLost`](crate::Error::DeviceLost).
    pub async fn elementwise_async(
        &self,
        steps: &[Step],
        input: &[f32],
        other: Option<&[f32]>,
        result: &mut [f32],
    ) -> Result<()> {
        check_len("result", result.len(), input.len() as u64)?;
        if let Some(other) = other {
            check_len("b", other.len(), input.len() as u64)?;
        }
        let shape = Shape::vector(input.len());
        let view = TensorView::new(shape.clone());
        let inputs = [Some(input), other];
        self.computed(inputs, result, async |recording, [a, b], out| {
            let operand = |buffer| Operand {
                buffer,
                view: &view,
            };
            let b = b.as_ref().map(operand);
            match a.as_ref() {
                Some(a) => {
                    recording
                        .elementwise(steps, operand(a), b, &shape, out)
                        .await
                }
                None => Ok(()),
            }
        })
        .await
    }

    /// `result[i] = a[i] + b[i]`
    ///
    /// # Errors
    /// As [`elementwise_async`](Self::elementwise_async).
    pub async fn vec_add_async(&self, a: &[f32], b: &[f32], result: &mut [f32]) -> Result<()> {
        self.elementwise_async(&[Step::Add], a, Some(b), result)
            .await
    }

    /// The sum of products; 0 of none.
    ///
    /// # Errors
    /// As [`elementwise_async`](Self::elementwise_async).
    pub async fn dot_async(&self, a: &[f32], b: &[f32]) -> Result<f32> {
        check_len("b", b.len(), a.len() as u64)?;
        let view = TensorView::new(Shape::vector(a.len()));
        let mut result = [0.0];
        self.computed(
            [Some(a), Some(b)],
            &mut result,
            async |recording, [a, b], out| {
                let operand = |buffer| Operand {
                    buffer,
                    view: &view,
                };
                match (a.as_ref(), b.as_ref()) {
                    (Some(a), Some(b)) => {
                        let n = view.shape().n_elements();
                        recording.dot(operand(a), operand(b), n, out).await
                    }
                    _ => Ok(()),
                }
            },
        )
        .await?;
        Ok(result[0])
    }

    /// eˣ over the sum of all eˣ: one row.
    ///
    /// # Errors
    /// As [`elementwise_async`](Self::elementwise_async).
    pub async fn softmax_async(&self, input: &[f32], result: &mut [f32]) -> Result<()> {
        self.softmax_of(false, input, result).await
    }

    /// The logarithm of [`softmax_async`](Self::softmax_async).
    ///
    /// # Errors
    /// As [`elementwise_async`](Self::elementwise_async).
    pub async fn log_softmax_async(&self, input: &[f32], result: &mut [f32]) -> Result<()> {
        self.softmax_of(true, input, result).await
    }

    async fn softmax_of(&self, log: bool, input: &[f32], result: &mut [f32]) -> Result<()> {
        check_len("result", result.len(), input.len() as u64)?;
        let view = TensorView::new(Shape::vector(input.len()));
        self.computed(
            [Some(input), None],
            result,
            async |recording, [a, _], out| match &a {
                Some(buffer) => {
                    let a = Operand {
                        buffer,
                        view: &view,
                    };
                    recording.softmax(log, a, out).await
                }
                None => Ok(()),
            },
        )
        .await
    }

    /// `c = a b`, with `a` of `m` rows and `k` columns, `b` of `k` rows and `n` columns, rows one after the other.
    ///
    /// # Errors
    /// As [`elementwise_async`](Self::elementwise_async).
    pub async fn matmul_async(
        &self,
        a: &[f32],
        b: &[f32],
        c: &mut [f32],
        m: usize,
        k: usize,
        n: usize,
    ) -> Result<()> {
        let (a_shape, b_shape) = (Shape::new(&[m, k])?, Shape::new(&[k, n])?);
        check_len("a", a.len(), a_shape.n_elements() as u64)?;
        check_len("b", b.len(), b_shape.n_elements() as u64)?;
        let factors = factors(&TensorView::new(a_shape), &TensorView::new(b_shape))?;
        check_len("c", c.len(), factors.shape.n_elements() as u64)?;
        self.computed(
            [Some(a), Some(b)],
            c,
            async |recording, [a, b], out| match (&a, &b) {
                (Some(a), Some(b)) => recording.matmul(a, b, &factors, out).await,
                _ => Ok(()),
            },
        )
        .await
    }

    /// The convolution of a picture with a kernel where it fits: no padding, and the kernel is not flipped. `output` has
    /// `input_rows - kernel_rows + 1` rows and as many columns less.
    ///
    /// # Errors
    /// As [`elementwise_async`](Self::elementwise_async); [`InvalidArgument`](crate::Error::InvalidArgument) for a kernel
    /// that is empty or larger than the picture.
    #[expect(clippy::too_many_arguments, reason = "the documents' signature")]
    pub async fn convolve2d_async(
        &self,
        input: &[f32],
        kernel: &[f32],
        output: &mut [f32],
        input_rows: usize,
        input_cols: usize,
        kernel_rows: usize,
        kernel_cols: usize,
    ) -> Result<()> {
        let input_view = TensorView::new(Shape::new(&[input_rows, input_cols])?);
        let kernel_view = TensorView::new(Shape::new(&[kernel_rows, kernel_cols])?);
        check_len("input", input.len(), input_view.shape().n_elements() as u64)?;
        check_len(
            "kernel",
            kernel.len(),
            kernel_view.shape().n_elements() as u64,
        )?;
        let shape = convolved_shape(input_view.shape(), kernel_view.shape())?;
        check_len("result", output.len(), shape.n_elements() as u64)?;
        let inputs = [Some(input), Some(kernel)];
        self.computed(inputs, output, async |recording, [a, b], out| {
            match (&a, &b) {
                (Some(a), Some(b)) => {
                    let input = Operand {
                        buffer: a,
                        view: &input_view,
                    };
                    let kernel = Operand {
                        buffer: b,
                        view: &kernel_view,
                    };
                    recording.convolve2d(input, kernel, out).await
                }
                _ => Ok(()),
            }
        })
        .await
    }

    /// The sum of `width` times `height` elements.
    ///
    /// # Errors
    /// As [`elementwise_async`](Self::elementwise_async).
    pub async fn tiled_sum_2d_async(
        &self,
        data: &[f32],
        width: usize,
        height: usize,
    ) -> Result<f32> {
        self.tiled_reduce_2d_async::<SumOp>(data, width, height)
            .await
    }

    /// The largest of `width` times `height` elements; NaN if one is, -∞ of none.
    ///
    /// # Errors
    /// As [`elementwise_async`](Self::elementwise_async).
    pub async fn tiled_max_2d_async(
        &self,
        data: &[f32],
        width: usize,
        height: usize,
    ) -> Result<f32> {
        self.tiled_reduce_2d_async::<MaxOp>(data, width, height)
            .await
    }

    /// The smallest of `width` times `height` elements; NaN if one is, +∞ of none.
    ///
    /// # Errors
    /// As [`elementwise_async`](Self::elementwise_async).
    pub async fn tiled_min_2d_async(
        &self,
        data: &[f32],
        width: usize,
        height: usize,
    ) -> Result<f32> {
        self.tiled_reduce_2d_async::<MinOp>(data, width, height)
            .await
    }

    async fn tiled_reduce_2d_async<Op: ReduceOp>(
        &self,
        data: &[f32],
        width: usize,
        height: usize,
    ) -> Result<f32> {
        let shape = Shape::new(&[height, width])?;
        check_len("data", data.len(), shape.n_elements() as u64)?;
        self.reduce_slice_async(Op::REDUCTION, data).await
    }

    /// The reduction of all elements of a slice.
    pub(super) async fn reduce_slice_async(
        &self,
        reduction: Reduction,
        data: &[f32],
    ) -> Result<f32> {
        let view = TensorView::new(Shape::vector(data.len()));
        let mut result = [reduction.of_none()];
        self.computed(
            [Some(data), None],
            &mut result,
            async |recording, [a, _], out| match &a {
                Some(buffer) => {
                    let a = Operand {
                        buffer,
                        view: &view,
                    };
                    recording.reduce(reduction, a, &[0], out).await
                }
                None => Ok(()),
            },
        )
        .await?;
        Ok(result[0])
    }

    /// Copies `inputs` to the device, records an operation on them, and copies its result back.
    async fn computed(
        &self,
        inputs: [Option<&[f32]>; 2],
        result: &mut [f32],
        record: impl AsyncFnOnce(&mut Recording, [Option<Buffer>; 2], &Buffer) -> Result<()>,
    ) -> Result<()> {
        if result.is_empty() {
            return Ok(());
        }
        let mut recording = Recording::new(self);
        let mut buffers = [None, None];
        for (buffer, input) in buffers.iter_mut().zip(inputs) {
            if let Some(input) = input {
                *buffer = Some(recording.upload(input).await?);
            }
        }
        let out = recording.allocate(result.len())?;
        record(&mut recording, buffers, &out).await?;
        let download = recording.download(&out, 0..result.len())?;
        recording.submit_untimed()?;
        download.read_into(result).await
    }
}

/// The blocking form of an operation.
macro_rules! blocking {
    ($($(#[$doc:meta])* $name:ident, $async:ident, ($($arg:ident: $ty:ty),*) -> $out:ty;)*) => {
        /// The operations above, blocking. Native only.
        #[cfg(not(target_arch = "wasm32"))]
        impl GpuDevice {
            $(
                $(#[$doc])*
                ///
                /// # Errors
                /// As the form that does not block.
                #[allow(clippy::too_many_arguments, reason = "the documents' signature")]
                pub fn $name(&self, $($arg: $ty),*) -> Result<$out> {
                    crate::gpu::runtime::block_on(self.$async($($arg),*))
                }
            )*
        }
    };
}

blocking! {
    /// `result` by all steps in turn.
    elementwise, elementwise_async, (steps: &[Step], input: &[f32], other: Option<&[f32]>, result: &mut [f32]) -> ();
    /// `result[i] = a[i] + b[i]`
    vec_add, vec_add_async, (a: &[f32], b: &[f32], result: &mut [f32]) -> ();
    /// The sum of products.
    dot, dot_async, (a: &[f32], b: &[f32]) -> f32;
    /// eˣ over the sum of all eˣ.
    softmax, softmax_async, (input: &[f32], result: &mut [f32]) -> ();
    /// The logarithm of the softmax.
    log_softmax, log_softmax_async, (input: &[f32], result: &mut [f32]) -> ();
    /// `c = a b`
    matmul, matmul_async, (a: &[f32], b: &[f32], c: &mut [f32], m: usize, k: usize, n: usize) -> ();
    /// The convolution of a picture with a kernel, where it fits.
    convolve2d, convolve2d_async, (
        input: &[f32], kernel: &[f32], output: &mut [f32],
        input_rows: usize, input_cols: usize, kernel_rows: usize, kernel_cols: usize
    ) -> ();
    /// The sum of all elements.
    tiled_sum_2d, tiled_sum_2d_async, (data: &[f32], width: usize, height: usize) -> f32;
    /// The largest element.
    tiled_max_2d, tiled_max_2d_async, (data: &[f32], width: usize, height: usize) -> f32;
    /// The smallest element.
    tiled_min_2d, tiled_min_2d_async, (data: &[f32], width: usize, height: usize) -> f32;
}

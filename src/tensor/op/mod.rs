//! [`Op`]: the description of an operation, through which every surface runs it. Argument checks, recording on a device
//! and calls of the CPU twins are implemented here once for all surfaces.
//!
//! A new operation needs a kernel with its job, a twin in [`cpu`](crate::tensor::cpu), an arm in the functions of this
//! folder, and a method on each surface.

mod on_cpu;
mod shapes;
pub(crate) mod work;

use crate::tensor::layer::{Attention, Norm};
use crate::tensor::lengths::check_len;
use crate::tensor::record::{Operand, Recording, factors};
use crate::tensor::{DType, Epilogue, Precision, Quantization, Reduction, Shape, Step, TensorView};
use crate::{Error, Result};

pub(crate) use shapes::reduced_axes;
use shapes::{attended, check_columns, check_epilogue, check_turns, convolved, reduced};

/// An operation on tensors. The tensors are passed separately.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Op {
    /// Applies steps in turn to each element of one tensor, or of two whose shapes are broadcast to each other. Without
    /// steps, copies the tensor to contiguous memory.
    Elementwise(Vec<Step>),
    /// Softmax over the last axis, or its logarithm.
    Softmax {
        /// True for the logarithm of the softmax.
        log: bool,
    },
    /// Reduces axes to length 1. `None` reduces all elements to a tensor of rank 0.
    Reduce(Reduction, Option<Vec<usize>>),
    /// Sum of the products of two tensors of one shape: a tensor of rank 0.
    Dot,
    /// Matrix product of two tensors, whose axes before the last two are broadcast to each other. The tensors of the epilogue
    /// follow them.
    Matmul(Precision, Epilogue<()>),
    /// Convolution of `[rows, cols]` with a kernel, without padding.
    Convolve2d,
    /// Normalises each row of the last axis.
    Norm {
        /// Kind of norm.
        norm: Norm,
        /// True for each of weight and bias that is among the inputs. They follow the tensor and have an element per
        /// column.
        columns: [bool; 2],
    },
    /// Rotates the heads of rows, `[rows, heads, elements]`, by their positions. The second tensor, `[positions,
    /// elements]`, has cosine and sine of each angle.
    Rotary {
        /// Position of the first row.
        first: usize,
    },
    /// Attention of queries to keys and values.
    Attention(Attention),
    /// Product of rows, `[m, k]`, and the transpose of packed weights, `[n, k]`. The words of the second tensor are the
    /// packed bytes.
    MatmulQuantized {
        /// Format of the weights.
        quantization: Quantization,
        /// Numbers of outputs and inputs, `[n, k]`.
        size: [usize; 2],
        /// Rounding of rows and unpacked weights.
        precision: Precision,
    },
}

impl Op {
    /// Creates a reduction of axes, or of all elements, of one tensor. [`Reduction::Dot`] becomes the sum of squares.
    pub(crate) fn reduce(reduction: Reduction, axes: Option<Vec<usize>>) -> Self {
        Self::Reduce(reduction.of_one(), axes)
    }

    /// Returns the product of two matrices of f32, as they are.
    pub(crate) fn product() -> Self {
        Self::Matmul(Precision::F32, Epilogue::default())
    }

    /// Returns the names of the inputs in error messages, in order.
    pub(crate) const fn input_names(&self) -> &'static [&'static str] {
        match self {
            Self::Softmax { .. } | Self::Reduce(..) => &["a"],
            Self::Elementwise(_) | Self::Dot => &["a", "b"],
            Self::Matmul(_, epilogue) => match epilogue.bias {
                Some(()) => &["a", "b", "bias", "residual"],
                None => &["a", "b", "residual"],
            },
            Self::Convolve2d => &["input", "kernel"],
            Self::Norm { columns, .. } => match columns {
                [false, true] => &["a", "bias"],
                _ => &["a", "weight", "bias"],
            },
            Self::Rotary { .. } => &["a", "turns"],
            Self::Attention(_) => &["queries", "keys", "values"],
            Self::MatmulQuantized { .. } => &["a", "weights"],
        }
    }

    /// Returns the name of the result in error messages.
    pub(crate) const fn result_name(&self) -> &'static str {
        match self {
            Self::Matmul(..) | Self::MatmulQuantized { .. } => "c",
            _ => "result",
        }
    }

    /// Checks the shapes of the inputs. Returns the shape of the result and the layout of its elements in its buffer.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`], [`Error::LengthMismatch`], [`Error::InvalidArgument`].
    pub(crate) fn result(&self, inputs: &[&TensorView]) -> Result<TensorView> {
        let shape = match (self, inputs) {
            (Self::Elementwise(steps), &[a]) => {
                if steps.iter().any(|step| step.takes_two()) {
                    return Err(Error::InvalidArgument {
                        name: "b",
                        value: "nothing".into(),
                        expected: "a second tensor for a step that takes two",
                    });
                }
                a.shape().clone()
            }
            (Self::Elementwise(_), &[a, b]) => a.shape().broadcast(b.shape(), "combine")?,
            (Self::Softmax { .. }, &[a]) => a.shape().clone(),
            (Self::Reduce(reduction, axes), &[a]) => {
                reduced(*reduction, a.shape(), axes.as_deref())?
            }
            (Self::Dot, &[a, b]) if a.shape() == b.shape() => Shape::new(&[])?,
            (Self::Dot, &[a, b]) => {
                return Err(a.shape().mismatch(b.shape(), "dot", "both are equal"));
            }
            (Self::Matmul(_, epilogue), &[a, b, ref given @ ..])
                if given.len() == epilogue.tensors().count() =>
            {
                let shape = factors(a, b)?.shape;
                let given = epilogue.with(given.iter().map(|view| view.shape()));
                check_epilogue(&shape, b.shape(), given)?;
                shape
            }
            (Self::Convolve2d, &[input, kernel]) => convolved(input.shape(), kernel.shape())?,
            (Self::Norm { columns, .. }, [a, given @ ..]) if given.len() == count(*columns) => {
                check_columns(a.shape(), given)?;
                a.shape().clone()
            }
            (Self::Rotary { first }, &[a, turns]) => {
                check_turns(a.shape(), turns.shape(), *first)?;
                a.shape().clone()
            }
            (Self::Attention(what), &[q, k, v]) => {
                return attended(*what, [q, k, v].map(TensorView::shape));
            }
            (
                Self::MatmulQuantized {
                    quantization, size, ..
                },
                &[a, weights],
            ) => {
                let [n, k] = *size;
                let &[m, a_k] = a.shape().dims() else {
                    return Err(not_rows_of(a.shape(), *size));
                };
                if a_k != k {
                    return Err(not_rows_of(a.shape(), *size));
                }
                let n_words = quantization.bytes_of(n, k)?.div_ceil(4);
                check_len("weights", weights.shape().n_elements(), n_words)?;
                Shape::new(&[m, n])?
            }
            _ => return Err(wrong_number(inputs.len())),
        };
        Ok(TensorView::new(shape))
    }

    /// Returns the type of the result for these types of the inputs: theirs if they are equal, else f32.
    pub(crate) fn result_dtype(&self, inputs: impl IntoIterator<Item = DType>) -> DType {
        let mut inputs = inputs.into_iter();
        let first = inputs.next().unwrap_or(DType::F32);
        match self {
            // The second tensor is packed words.
            Self::MatmulQuantized { .. } => first,
            _ => inputs.fold(first, DType::with),
        }
    }

    /// Records the operation on inputs of f32 that [`result`](Self::result) accepts. The result is written to the start of
    /// `out`'s buffer.
    pub(crate) async fn record(
        &self,
        recording: &mut Recording,
        inputs: &[Operand<'_>],
        out: Operand<'_>,
    ) -> Result<()> {
        let to = out.buffer;
        match (self, inputs) {
            (Self::Elementwise(steps), &[a, ref b @ ..]) => {
                let (b, shape) = (b.first().copied(), out.view.shape());
                recording.elementwise(steps, a, b, shape, to).await
            }
            (Self::Softmax { log }, &[a]) => recording.softmax(*log, a, to).await,
            (Self::Reduce(reduction, axes), &[a]) => {
                let axes = reduced_axes(a.view.shape(), axes.as_deref())?;
                recording.reduce(*reduction, a, &axes, to).await
            }
            (Self::Dot, &[a, b]) => recording.dot(a, b, to).await,
            (Self::Matmul(_, epilogue), &[a, b, ref given @ ..]) => {
                let factors = factors(a.view, b.view)?;
                let epilogue = epilogue.with(given.iter().copied());
                let epilogue = recording.dense_epilogue(epilogue).await?;
                let buffers = [a.buffer, b.buffer];
                recording
                    .matmul_finished(buffers, &factors, &epilogue, to)
                    .await
            }
            (Self::Convolve2d, &[input, kernel]) => recording.convolve2d(input, kernel, to).await,
            (Self::Norm { norm, columns }, &[a, ref given @ ..]) => {
                let columns = weight_and_bias(*columns, given.iter().copied());
                recording.norm_with(*norm, a, columns, to).await
            }
            (Self::Rotary { first }, &[a, turns]) => recording.rotary(*first, a, turns, to).await,
            (Self::Attention(what), &[q, k, v]) => recording.attention(*what, [q, k, v], to).await,
            (
                Self::MatmulQuantized {
                    quantization,
                    size,
                    precision,
                },
                &[a, weights],
            ) => {
                let format = (*quantization, false);
                recording
                    .matmul_packed(format, *size, [a, weights], *precision, to)
                    .await
            }
            _ => Err(wrong_number(inputs.len())),
        }
    }
}

/// Assigns the given inputs, in order, to weight and bias.
fn weight_and_bias<T>(columns: [bool; 2], mut given: impl Iterator<Item = T>) -> [Option<T>; 2] {
    columns.map(|is_given| is_given.then(|| given.next()).flatten())
}

const fn count(columns: [bool; 2]) -> usize {
    columns[0] as usize + columns[1] as usize
}

fn wrong_number(n: usize) -> Error {
    let expected = "as many tensors as the operation takes";
    Error::invalid("inputs", n as u64, expected)
}

fn not_rows_of(rows: &Shape, size: [usize; 2]) -> Error {
    match Shape::new(&size) {
        Ok(weights) => {
            let expected = "rows are as long as the weights' rows";
            rows.mismatch(&weights, "matmul", expected)
        }
        Err(error) => error,
    }
}

//! [`GpuCommandBatch`]: queues operations and runs them in one submission.

use std::sync::atomic::{AtomicU64, Ordering};

use super::graph::{Input, Node, Plan, Source, seen_in};
use super::quantized::QuantizedWeights;
use super::resident::GpuTensor;
use crate::gpu::GpuDevice;
use crate::memory::copied;
use crate::tensor::layer::{Attention, Norm};
use crate::tensor::op::Op;
use crate::tensor::record::Recording;
use crate::tensor::{DType, Epilogue, Precision, Reduction, Shape, Step, TensorView, check_dims};
use crate::{Error, Result};

/// Identifies a tensor of one [`GpuCommandBatch`]. It is valid for that batch only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct BufferId {
    batch: u64,
    node: usize,
}

/// A queue of operations that [`execute`](Self::execute) runs in one submission.
///
/// Queuing never fails. The error of an invalid operation is returned by the next `execute`, which then runs nothing,
/// and by every read of its result or of a tensor computed from it. Valid operations stay queued: the `execute` after
/// that runs them.
///
/// Chains of element-wise operations on `f32` are fused into one launch, and buffers of intermediate results are reused. Every
/// tensor of the batch can still be read: a result whose buffer was reused is computed again.
///
/// ```no_run
/// use pagepress::gpu::GpuDevice;
/// use pagepress::tensor::GpuCommandBatch;
/// # async fn run() -> pagepress::Result<()> {
/// let device = GpuDevice::new()?;
/// let mut batch = GpuCommandBatch::new(device);
/// let input = batch.upload(&[1.0, 2.0, -3.0, 4.0]);
/// let a = batch.relu(input);
/// let b = batch.scale(a, 2.0);
/// batch.execute().await?;
/// assert_eq!(batch.read(b).await?, [2.0, 4.0, 0.0, 8.0]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct GpuCommandBatch {
    device: GpuDevice,
    id: u64,
    nodes: Vec<Node>,
    /// The error of the first invalid operation since the last execution.
    wrong: Option<Error>,
}

#[cfg(web_tensor)]
impl BufferId {
    /// Returns the number of the tensor in its batch.
    pub(crate) fn number(self) -> u32 {
        self.node as u32
    }
}

impl GpuCommandBatch {
    /// Returns the id with this number. The number is not checked here: an operation on an unknown id is an error.
    #[cfg(web_tensor)]
    pub(crate) fn id(&self, number: u32) -> BufferId {
        BufferId {
            batch: self.id,
            node: number as usize,
        }
    }

    /// Creates a batch without operations.
    #[must_use]
    pub fn new(device: GpuDevice) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self {
            device,
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            nodes: Vec::new(),
            wrong: None,
        }
    }

    /// Queues the upload of a vector. The values are copied now, and sent to the device by the next `execute`.
    pub fn upload(&mut self, values: &[f32]) -> BufferId {
        let view = TensorView::new(Shape::vector(values.len()));
        let upload = |values| (view, DType::F32, Source::Upload(values));
        self.push(copied(values).map(upload))
    }

    /// Adds a tensor that is already on the device. A tensor of another device is an invalid operation.
    pub fn tensor(&mut self, tensor: &GpuTensor) -> BufferId {
        let of_device = self.device.check_buffer(tensor.buffer());
        let is_of_device = of_device.is_ok();
        let given = |()| (tensor.view().clone(), tensor.dtype(), Source::Given);
        let id = self.push(of_device.map(given));
        if is_of_device {
            self.nodes[id.node].made = Some(tensor.clone());
        }
        id
    }

    /// Queues an operation on tensors of the batch.
    pub(crate) fn queue(&mut self, op: Op, inputs: &[BufferId]) -> BufferId {
        self.queue_seen(op, inputs, Vec::new())
    }

    /// Queues an operation on tensors that are reshaped to `shapes`, in order; tensors beyond the end of `shapes` keep
    /// their shape.
    pub(crate) fn queue_seen(
        &mut self,
        op: Op,
        inputs: &[BufferId],
        shapes: Vec<Shape>,
    ) -> BufferId {
        let queued = self.checked(op, inputs, shapes);
        self.push(queued)
    }

    fn checked(
        &self,
        op: Op,
        ids: &[BufferId],
        shapes: Vec<Shape>,
    ) -> Result<(TensorView, DType, Source)> {
        let (mut inputs, mut views) = (Vec::new(), Vec::new());
        let mut shapes = shapes.into_iter();
        for (&name, &id) in op.input_names().iter().zip(ids) {
            let (node, view) = self.node(id)?;
            let shape = shapes.next();
            if let Some(shape) = &shape {
                check_dims(name, view.shape().n_elements(), shape.dims())?;
            }
            views.push(seen_in(view.clone(), shape.as_ref())?);
            inputs.push(Input { node, shape });
        }
        let result = op.result(&views.iter().collect::<Vec<_>>())?;
        let result = match op {
            // Scalars of a batch have the shape [1].
            Op::Dot | Op::Reduce(_, None) => TensorView::new(Shape::vector(1)),
            _ => result,
        };
        let dtypes = inputs
            .iter()
            .map(|input: &Input| self.nodes[input.node].dtype);
        let dtype = op.result_dtype(dtypes);
        Ok((result, dtype, Source::Op(op, inputs)))
    }

    /// Applies all steps in turn to each element of `a`. Steps with two operands read the second from `b`; the shapes
    /// are broadcast to each other.
    pub fn apply(&mut self, steps: &[Step], a: BufferId, b: Option<BufferId>) -> BufferId {
        let op = Op::Elementwise(steps.to_vec());
        match b {
            Some(b) => self.queue(op, &[a, b]),
            None => self.queue(op, &[a]),
        }
    }

    /// Computes the sum of products: a vector of one element.
    pub fn dot(&mut self, a: BufferId, b: BufferId) -> BufferId {
        self.queue(Op::Dot, &[a, b])
    }

    /// Computes the matrix product of `a`, `[m, k]`, and `b`, `[k, n]`: `[m, n]`.
    pub fn matmul(&mut self, a: BufferId, b: BufferId, m: usize, k: usize, n: usize) -> BufferId {
        self.queue_matrices(Op::product(), [a, b], [[m, k], [k, n]])
    }

    /// Computes the matrix product of `a`, `[m, k]`, and `b`, `[k, n]`, and its epilogue, `activation(product + bias) + residual`:
    /// `[m, n]`, as the residual. The size is `[m, k, n]`.
    pub fn matmul_with_epilogue(
        &mut self,
        [a, b]: [BufferId; 2],
        epilogue: Epilogue<BufferId>,
        [m, k, n]: [usize; 3],
    ) -> BufferId {
        let op = Op::Matmul(Precision::F32, epilogue.form());
        let of_epilogue = Epilogue {
            bias: epilogue.bias.map(|_| Ok(Shape::vector(n))),
            activation: None,
            residual: epilogue.residual.map(|_| Shape::new(&[m, n])),
        };
        let shapes = [[m, k], [k, n]].map(|size| Shape::new(&size)).into_iter();
        let shapes = shapes.chain(of_epilogue.tensors());
        let inputs: Vec<BufferId> = [a, b].into_iter().chain(epilogue.tensors()).collect();
        let queued = match shapes.collect::<Result<Vec<_>>>() {
            Ok(shapes) => self.checked(op, &inputs, shapes),
            Err(error) => Err(error),
        };
        self.push(queued)
    }

    /// Queues the product of rows, `[m, k]`, and the transpose of packed weights, `[n, k]`: `[m, n]`.
    pub fn matmul_quantized(&mut self, rows: BufferId, weights: &QuantizedWeights) -> BufferId {
        let words = self.tensor(weights.words());
        self.queue(weights.op(Precision::F32), &[rows, words])
    }

    /// Convolves an image of `size` (rows, columns) with a kernel of `kernel_size`, without padding. The kernel is not
    /// flipped.
    pub fn convolve2d(
        &mut self,
        input: BufferId,
        kernel: BufferId,
        size: [usize; 2],
        kernel_size: [usize; 2],
    ) -> BufferId {
        self.queue_matrices(Op::Convolve2d, [input, kernel], [size, kernel_size])
    }

    /// Queues an operation on tensors that are reshaped to matrices of these sizes.
    fn queue_matrices(
        &mut self,
        op: Op,
        inputs: [BufferId; 2],
        sizes: [[usize; 2]; 2],
    ) -> BufferId {
        let shapes = sizes.iter().map(|size| Shape::new(size));
        let queued = match shapes.collect::<Result<Vec<_>>>() {
            Ok(shapes) => self.checked(op, &inputs, shapes),
            Err(error) => Err(error),
        };
        self.push(queued)
    }

    /// Reduces all elements to a vector of one. [`Reduction::Dot`] computes the sum of squares.
    pub fn reduce(&mut self, reduction: Reduction, a: BufferId) -> BufferId {
        self.queue(Op::reduce(reduction, None), &[a])
    }

    /// Computes the softmax over the last axis.
    pub fn softmax(&mut self, a: BufferId) -> BufferId {
        self.queue(Op::Softmax { log: false }, &[a])
    }

    /// Computes the logarithm of the softmax over the last axis.
    pub fn log_softmax(&mut self, a: BufferId) -> BufferId {
        self.queue(Op::Softmax { log: true }, &[a])
    }

    /// Normalises each row of the last axis, then multiplies it by `weight` and adds `bias`, vectors with an element
    /// per column.
    pub fn norm(
        &mut self,
        norm: Norm,
        a: BufferId,
        weight: Option<BufferId>,
        bias: Option<BufferId>,
    ) -> BufferId {
        let columns = [weight.is_some(), bias.is_some()];
        let inputs: Vec<BufferId> = [Some(a), weight, bias].into_iter().flatten().collect();
        self.queue(Op::Norm { norm, columns }, &inputs)
    }

    /// Rotates the heads of rows by their positions. The shapes are those of [`GpuTensor::rotary_async`].
    pub fn rotary(&mut self, a: BufferId, turns: BufferId, first: usize) -> BufferId {
        self.queue(Op::Rotary { first }, &[a, turns])
    }

    /// Computes the attention of queries to keys and values. The shapes are those of [`GpuTensor::attention_async`].
    pub fn attention(
        &mut self,
        what: Attention,
        queries: BufferId,
        keys: BufferId,
        values: BufferId,
    ) -> BufferId {
        self.queue(Op::Attention(what), &[queries, keys, values])
    }

    /// Runs all operations queued since the last execution in one submission, and waits for it. Returns the kernel time
    /// in nanoseconds, by the device's clock; `None` if the device has no clock or nothing ran.
    ///
    /// # Errors
    /// The error of the first invalid operation since the last execution: [`Error::LengthMismatch`],
    /// [`Error::ShapeMismatch`] or [`Error::InvalidArgument`], the latter also for ids of another batch.
    /// [`Error::OutOfMemory`], [`Error::DeviceLost`]. After an error the batch is unchanged; the next execution runs
    /// the valid operations.
    pub async fn execute_async(&mut self) -> Result<Option<u64>> {
        if let Some(wrong) = self.wrong.take() {
            return Err(wrong);
        }
        let sinks: Vec<usize> = Plan::sinks(&self.nodes);
        self.make(&sinks).await
    }

    async fn make(&mut self, wanted: &[usize]) -> Result<Option<u64>> {
        let plan = Plan::new(&self.nodes, wanted);
        if plan.is_empty() {
            return Ok(None);
        }
        let mut recording = Recording::new(&self.device);
        let made = plan.record(&self.nodes, &mut recording).await?;
        let kernel_ns = recording.submit()?.wait_async().await?;
        for (node, buffer) in made {
            let (view, dtype) = (self.nodes[node].view.clone(), self.nodes[node].dtype);
            self.nodes[node].made = Some(GpuTensor::of(&self.device, buffer, dtype, view));
            // The values are on the device now: frees the copy in host memory.
            if let Source::Upload(_) = self.nodes[node].source {
                self.nodes[node].source = Source::Given;
            }
        }
        Ok(kernel_ns)
    }

    /// Returns the elements of a tensor, row-major. Computes the tensor first if necessary.
    ///
    /// # Errors
    /// The error of the operation that computes the tensor, or of one that it depends on; else as
    /// [`execute_async`](Self::execute_async).
    pub async fn read_async(&mut self, id: BufferId) -> Result<Vec<f32>> {
        self.result_async(id).await?.to_vec_async().await
    }

    /// Returns a tensor in device memory. Computes it first if necessary.
    ///
    /// # Errors
    /// As [`read_async`](Self::read_async).
    pub async fn result_async(&mut self, id: BufferId) -> Result<GpuTensor> {
        let (node, _) = self.node(id)?;
        if self.nodes[node].made.is_none() {
            self.make(&[node]).await?;
        }
        self.nodes[node].made.clone().ok_or_else(|| Error::Engine {
            engine: "tensor",
            message: format!("tensor {node} of the batch was not made"),
        })
    }

    /// [`execute_async`](Self::execute_async) under the documents' name.
    ///
    /// # Errors
    /// As [`execute_async`](Self::execute_async).
    pub async fn execute(&mut self) -> Result<Option<u64>> {
        self.execute_async().await
    }

    /// [`read_async`](Self::read_async) under the documents' name.
    ///
    /// # Errors
    /// As [`read_async`](Self::read_async).
    pub async fn read(&mut self, id: BufferId) -> Result<Vec<f32>> {
        self.read_async(id).await
    }

    /// [`result_async`](Self::result_async) under the name that matches [`read`](Self::read).
    ///
    /// # Errors
    /// As [`result_async`](Self::result_async).
    pub async fn result(&mut self, id: BufferId) -> Result<GpuTensor> {
        self.result_async(id).await
    }

    /// Returns the index of the node and its view.
    ///
    /// # Errors
    /// The error of the operation, or of one that it depends on; [`Error::InvalidArgument`] for an id of another batch.
    fn node(&self, id: BufferId) -> Result<(usize, &TensorView)> {
        match self.nodes.get(id.node) {
            Some(node) if id.batch == self.id => match &node.source {
                Source::Wrong(error) => Err(error.clone()),
                _ => Ok((id.node, &node.view)),
            },
            _ => Err(Error::InvalidArgument {
                name: "id",
                value: format!("tensor {} of batch {}", id.node, id.batch),
                expected: "an id that this batch gave",
            }),
        }
    }

    fn push(&mut self, queued: Result<(TensorView, DType, Source)>) -> BufferId {
        let node = self.nodes.len();
        let (view, dtype, source) = queued.unwrap_or_else(|error| {
            self.wrong.get_or_insert_with(|| error.clone());
            let view = TensorView::new(Shape::vector(0));
            (view, DType::F32, Source::Wrong(error))
        });
        self.nodes.push(Node {
            view,
            dtype,
            source,
            made: None,
        });
        BufferId {
            batch: self.id,
            node,
        }
    }
}

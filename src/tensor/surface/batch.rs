//! [`GpuCommandBatch`]: operations queued, then run in one submission.

use std::sync::atomic::{AtomicU64, Ordering};

use super::graph::{Input, Node, Plan, Source, seen_in};
use super::resident::GpuTensor;
use crate::gpu::{GpuDevice, Waitable};
use crate::memory::copied;
use crate::tensor::layer::{Attention, Norm};
use crate::tensor::op::Op;
use crate::tensor::record::Recording;
use crate::tensor::{Reduction, Shape, Step, TensorView, check_dims};
use crate::{Error, Result};

/// A tensor of a [`GpuCommandBatch`]. It is of use to that batch alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct BufferId {
    batch: u64,
    node: usize,
}

/// Operations that are queued, and run in one submission by [`execute`](Self::execute). Queuing never fails: what is wrong
/// with an operation is said by the next `execute`, which runs nothing then, and whenever its tensor, or one made of it, is
/// read. All else stays as it was: the `execute` after that runs it.
///
/// Chains of element-wise operations become one launch, and memory of tensors that nothing needs any more is used again.
/// Every tensor can be read all the same: what is not there any more is made anew.
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
    /// Its number in its batch.
    pub(crate) fn number(self) -> u32 {
        self.node as u32
    }
}

impl GpuCommandBatch {
    /// The id of a number, which may be none of the batch.
    #[cfg(web_tensor)]
    pub(crate) fn id(&self, number: u32) -> BufferId {
        BufferId {
            batch: self.id,
            node: number as usize,
        }
    }

    /// A batch without operations.
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

    /// A vector, copied to the device when the batch is executed.
    pub fn upload(&mut self, values: &[f32]) -> BufferId {
        let view = TensorView::new(Shape::vector(values.len()));
        self.push(copied(values).map(|values| (view, Source::Upload(values))))
    }

    /// A tensor that is on the device already. One of another device is wrong.
    pub fn tensor(&mut self, tensor: &GpuTensor) -> BufferId {
        let of_device = self.device.check_buffer(tensor.buffer());
        let is_of_device = of_device.is_ok();
        let id = self.push(of_device.map(|()| (tensor.view().clone(), Source::Given)));
        if is_of_device {
            self.nodes[id.node].made = Some(tensor.clone());
        }
        id
    }

    /// Queues an operation on tensors of the batch.
    pub(crate) fn queue(&mut self, op: Op, inputs: &[BufferId]) -> BufferId {
        self.queue_seen(op, inputs, Vec::new())
    }

    /// Queues an operation that sees tensors in these shapes; those without one it sees as they are.
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
    ) -> Result<(TensorView, Source)> {
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
            // Tensors of a batch that are numbers are vectors.
            Op::Dot | Op::Reduce(_, None) => TensorView::new(Shape::vector(1)),
            _ => result,
        };
        Ok((result, Source::Op(op, inputs)))
    }

    /// Applies all steps in turn; those that take two tensors take the element of `b`.
    pub fn apply(&mut self, steps: &[Step], a: BufferId, b: Option<BufferId>) -> BufferId {
        let op = Op::Elementwise(steps.to_vec());
        match b {
            Some(b) => self.queue(op, &[a, b]),
            None => self.queue(op, &[a]),
        }
    }

    /// Sums products: one element.
    pub fn dot(&mut self, a: BufferId, b: BufferId) -> BufferId {
        self.queue(Op::Dot, &[a, b])
    }

    /// Multiplies `a`, `m` rows of `k`, by `b`, `k` rows of `n`.
    pub fn matmul(&mut self, a: BufferId, b: BufferId, m: usize, k: usize, n: usize) -> BufferId {
        self.queue_matrices(Op::Matmul, [a, b], [[m, k], [k, n]])
    }

    /// Convolves a picture of `size` rows and columns with a kernel of `kernel_size`, where it fits.
    pub fn convolve2d(
        &mut self,
        input: BufferId,
        kernel: BufferId,
        size: [usize; 2],
        kernel_size: [usize; 2],
    ) -> BufferId {
        self.queue_matrices(Op::Convolve2d, [input, kernel], [size, kernel_size])
    }

    /// Queues an operation that sees tensors as matrices of these sizes.
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

    /// Reduces all elements to one. [`Reduction::Dot`] takes them as both factors.
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

    /// Normalises each row of the last axis, then multiplies it by `weight` and adds `bias`, which have an element for each
    /// column.
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

    /// Computes the attention of queries to keys and values, whose shapes are those of
    /// [`GpuTensor::attention_async`].
    pub fn attention(
        &mut self,
        what: Attention,
        queries: BufferId,
        keys: BufferId,
        values: BufferId,
    ) -> BufferId {
        self.queue(Op::Attention(what), &[queries, keys, values])
    }

    /// Runs what was queued since the last time, in one submission, and waits for it. Returns the time of the kernels by the
    /// device's clock in nanoseconds; `None` where it has none, or nothing ran.
    ///
    /// # Errors
    /// What is wrong with the first wrong operation since the last time: [`Error::LengthMismatch`],
    /// [`Error::ShapeMismatch`], [`Error::InvalidArgument`], also for ids of another batch; [`Error::OutOfMemory`],
    /// [`Error::DeviceLost`]. The batch is as before then; executed again, it runs what is not wrong.
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
            let view = self.nodes[node].view.clone();
            self.nodes[node].made = Some(GpuTensor::new(&self.device, buffer, view));
            // Uploaded values need not be kept here.
            if let Source::Upload(_) = self.nodes[node].source {
                self.nodes[node].source = Source::Given;
            }
        }
        Ok(kernel_ns)
    }

    /// The elements of a tensor. It is made first if it is not there.
    ///
    /// # Errors
    /// What is wrong with its operation or with one that it is made of; else as [`execute_async`](Self::execute_async).
    pub async fn read_async(&mut self, id: BufferId) -> Result<Vec<f32>> {
        self.result_async(id).await?.to_vec_async().await
    }

    /// A tensor, which stays on the device. It is made first if it is not there.
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

    /// [`execute_async`](Self::execute_async) by the documents' name.
    ///
    /// # Errors
    /// As the asynchronous form.
    pub async fn execute(&mut self) -> Result<Option<u64>> {
        self.execute_async().await
    }

    /// [`read_async`](Self::read_async) by the documents' name.
    ///
    /// # Errors
    /// As the asynchronous form.
    pub async fn read(&mut self, id: BufferId) -> Result<Vec<f32>> {
        self.read_async(id).await
    }

    /// [`result_async`](Self::result_async) by the name that goes with [`read`](Self::read).
    ///
    /// # Errors
    /// As the asynchronous form.
    pub async fn result(&mut self, id: BufferId) -> Result<GpuTensor> {
        self.result_async(id).await
    }

    /// The number of the node of an id, and its view; the error of one whose operation, or one of its inputs', is wrong.
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

    fn push(&mut self, queued: Result<(TensorView, Source)>) -> BufferId {
        let node = self.nodes.len();
        let (view, source) = queued.unwrap_or_else(|error| {
            self.wrong.get_or_insert_with(|| error.clone());
            (TensorView::new(Shape::vector(0)), Source::Wrong(error))
        });
        self.nodes.push(Node {
            view,
            source,
            made: None,
        });
        BufferId {
            batch: self.id,
            node,
        }
    }
}

/// Element-wise operations.
impl GpuCommandBatch {
    /// Computes max(x, 0) of each element x.
    pub fn relu(&mut self, a: BufferId) -> BufferId {
        self.apply(&[Step::Relu], a, None)
    }

    /// Computes x where it is above 0, else `alpha` x.
    pub fn leaky_relu(&mut self, a: BufferId, alpha: f32) -> BufferId {
        self.apply(&[Step::LeakyRelu(alpha)], a, None)
    }

    /// Computes x where it is above 0, else `alpha` (eˣ - 1).
    pub fn elu(&mut self, a: BufferId, alpha: f32) -> BufferId {
        self.apply(&[Step::Elu(alpha)], a, None)
    }

    /// Computes 1 / (1 + e⁻ˣ).
    pub fn sigmoid(&mut self, a: BufferId) -> BufferId {
        self.apply(&[Step::Sigmoid], a, None)
    }

    /// Computes tanh x.
    pub fn tanh(&mut self, a: BufferId) -> BufferId {
        self.apply(&[Step::Tanh], a, None)
    }

    /// Computes x / (1 + e⁻ˣ).
    pub fn swish(&mut self, a: BufferId) -> BufferId {
        self.apply(&[Step::Swish], a, None)
    }

    /// Computes x Φ(x), with Φ the integral of the normal distribution.
    pub fn gelu(&mut self, a: BufferId) -> BufferId {
        self.apply(&[Step::Gelu], a, None)
    }

    /// Limits each element to at least `min` and at most `max`.
    pub fn clip(&mut self, a: BufferId, min: f32, max: f32) -> BufferId {
        self.apply(&[Step::Clip(min, max)], a, None)
    }

    /// Multiplies each element by `factor`.
    pub fn scale(&mut self, a: BufferId, factor: f32) -> BufferId {
        self.apply(&[Step::Scale(factor)], a, None)
    }

    /// Adds two tensors, element by element; their shapes are broadcast to each other.
    pub fn add(&mut self, a: BufferId, b: BufferId) -> BufferId {
        self.apply(&[Step::Add], a, Some(b))
    }

    /// Subtracts `b` from `a`, element by element; their shapes are broadcast to each other.
    pub fn sub(&mut self, a: BufferId, b: BufferId) -> BufferId {
        self.apply(&[Step::Sub], a, Some(b))
    }

    /// Multiplies two tensors, element by element; their shapes are broadcast to each other.
    pub fn mul(&mut self, a: BufferId, b: BufferId) -> BufferId {
        self.apply(&[Step::Mul], a, Some(b))
    }

    /// Divides `a` by `b`, element by element; their shapes are broadcast to each other.
    pub fn div(&mut self, a: BufferId, b: BufferId) -> BufferId {
        self.apply(&[Step::Div], a, Some(b))
    }
}

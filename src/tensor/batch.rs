//! [`GpuCommandBatch`]: operations queued, then run in one submission.

use std::sync::atomic::{AtomicU64, Ordering};

use super::check_dims;
use super::graph::{Node, Operation, Plan};
use super::products::convolved_shape;
use super::resident::GpuTensor;
use super::run::Recording;
use super::shape::Shape;
use super::step::{Reduction, Step};
use crate::gpu::{GpuDevice, Waitable};
use crate::memory::copied;
use crate::{Error, Result};

/// A tensor of a [`GpuCommandBatch`]. It is of use to that batch alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct BufferId {
    batch: u64,
    node: usize,
}

/// A node and its shape.
type Found<'a> = (usize, &'a Shape);

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
    /// What is wrong with the first wrong operation since the last execution.
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
        let shape = Shape::vector(values.len());
        self.push(copied(values).map(|values| (shape, Operation::Upload(values))))
    }

    /// A tensor that is on the device already. One of another device is wrong.
    pub fn tensor(&mut self, tensor: &GpuTensor) -> BufferId {
        let of_device = self.device.check_buffer(tensor.buffer());
        let is_of_device = of_device.is_ok();
        let id = self.push(of_device.map(|()| (tensor.shape().clone(), Operation::Given)));
        if is_of_device {
            self.nodes[id.node].made = Some(tensor.clone());
        }
        id
    }

    /// All steps in turn; those that take two tensors take the element of `b`.
    pub fn apply(&mut self, steps: &[Step], a: BufferId, b: Option<BufferId>) -> BufferId {
        let operation = self.steps(steps, a, b);
        self.push(operation)
    }

    fn steps(
        &self,
        steps: &[Step],
        a: BufferId,
        b: Option<BufferId>,
    ) -> Result<(Shape, Operation)> {
        let (a, a_shape) = self.node(a)?;
        let b = b.map(|b| self.node(b)).transpose()?;
        if b.is_none() && steps.iter().any(|step| step.takes_two()) {
            return Err(Error::InvalidArgument {
                name: "b",
                value: "nothing".into(),
                expected: "a second tensor for a step that takes two",
            });
        }
        let shape = match b {
            Some((_, b_shape)) => a_shape.broadcast(b_shape, "apply")?,
            None => a_shape.clone(),
        };
        let operation = Operation::Steps {
            steps: steps.to_vec(),
            a,
            b: b.map(|(node, _)| node),
        };
        Ok((shape, operation))
    }

    /// The sum of products: one element.
    pub fn dot(&mut self, a: BufferId, b: BufferId) -> BufferId {
        let operation = self.pair(a, b).and_then(|((a, a_shape), (b, b_shape))| {
            if a_shape != b_shape {
                return Err(a_shape.mismatch(b_shape, "dot", "both are equal"));
            }
            Ok((Shape::vector(1), Operation::Dot(a, b)))
        });
        self.push(operation)
    }

    /// The product of `a`, `m` rows of `k`, and `b`, `k` rows of `n`.
    pub fn matmul(&mut self, a: BufferId, b: BufferId, m: usize, k: usize, n: usize) -> BufferId {
        let operation = self.pair(a, b).and_then(|((a, a_shape), (b, b_shape))| {
            let shapes = [Shape::new(&[m, k])?, Shape::new(&[k, n])?];
            check_dims("a", a_shape.n_elements(), shapes[0].dims())?;
            check_dims("b", b_shape.n_elements(), shapes[1].dims())?;
            Ok((Shape::new(&[m, n])?, Operation::Matmul([a, b], shapes)))
        });
        self.push(operation)
    }

    /// The convolution of a picture of `size` rows and columns with a kernel of `kernel_size`, where it fits.
    pub fn convolve2d(
        &mut self,
        input: BufferId,
        kernel: BufferId,
        size: [usize; 2],
        kernel_size: [usize; 2],
    ) -> BufferId {
        let operation = self
            .pair(input, kernel)
            .and_then(|((a, a_shape), (b, b_shape))| {
                let shapes = [Shape::new(&size)?, Shape::new(&kernel_size)?];
                check_dims("input", a_shape.n_elements(), shapes[0].dims())?;
                check_dims("kernel", b_shape.n_elements(), shapes[1].dims())?;
                let shape = convolved_shape(&shapes[0], &shapes[1])?;
                Ok((shape, Operation::Convolve2d([a, b], shapes)))
            });
        self.push(operation)
    }

    /// All elements reduced to one. [`Reduction::Dot`] takes them as both factors.
    pub fn reduce(&mut self, reduction: Reduction, a: BufferId) -> BufferId {
        let reduction = match reduction {
            Reduction::Dot => Reduction::SumOfSquares,
            other => other,
        };
        let operation = self
            .node(a)
            .map(|(a, _)| (Shape::vector(1), Operation::Reduce(reduction, a)));
        self.push(operation)
    }

    /// The softmax over the last axis.
    pub fn softmax(&mut self, a: BufferId) -> BufferId {
        self.softmax_of(a, false)
    }

    /// The logarithm of the softmax over the last axis.
    pub fn log_softmax(&mut self, a: BufferId) -> BufferId {
        self.softmax_of(a, true)
    }

    fn softmax_of(&mut self, a: BufferId, log: bool) -> BufferId {
        let operation = self
            .node(a)
            .map(|(a, shape)| (shape.clone(), Operation::Softmax { log, a }));
        self.push(operation)
    }

    /// Runs what was queued since the last time, in one submission, and waits for it. Returns the time of the kernels by the
    /// device's clock in nanoseconds; `None` where it has none, or nothing ran.
    ///
    /// # Errors
    /// What is wrong with the first wrong operation since the last time: [`Error::LengthMismatch`],
    /// [`Error::ShapeMismatch`], [`Error::InvalidArgument`], also for ids of another batch; [`Error::OutOfMemory`],
    /// [`Error::DeviceLost`]. The batch is as before then; executed again, it runs what is not wrong.
    pub async fn execute(&mut self) -> Result<Option<u64>> {
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
            let shape = self.nodes[node].shape.clone();
            self.nodes[node].made = Some(GpuTensor::new(&self.device, buffer, shape));
            // What was uploaded need not be kept here.
            if let Operation::Upload(_) = self.nodes[node].operation {
                self.nodes[node].operation = Operation::Given;
            }
        }
        Ok(kernel_ns)
    }

    /// The elements of a tensor. It is made first if it is not there.
    ///
    /// # Errors
    /// What is wrong with its operation or with one that it is made of; else as [`execute`](Self::execute).
    pub async fn read(&mut self, id: BufferId) -> Result<Vec<f32>> {
        self.result(id).await?.to_vec_async().await
    }

    /// A tensor, which stays on the device. It is made first if it is not there.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub async fn result(&mut self, id: BufferId) -> Result<GpuTensor> {
        let (node, _) = self.node(id)?;
        if self.nodes[node].made.is_none() {
            self.make(&[node]).await?;
        }
        self.nodes[node].made.clone().ok_or_else(|| Error::Engine {
            engine: "tensor",
            message: format!("tensor {node} of the batch was not made"),
        })
    }

    fn pair(&self, a: BufferId, b: BufferId) -> Result<(Found<'_>, Found<'_>)> {
        Ok((self.node(a)?, self.node(b)?))
    }

    /// The node of an id, and its shape; the error of one whose operation, or one of its inputs', is wrong.
    fn node(&self, id: BufferId) -> Result<Found<'_>> {
        match self.nodes.get(id.node) {
            Some(node) if id.batch == self.id => match &node.operation {
                Operation::Wrong(error) => Err(error.clone()),
                _ => Ok((id.node, &node.shape)),
            },
            _ => Err(Error::InvalidArgument {
                name: "id",
                value: format!("tensor {} of batch {}", id.node, id.batch),
                expected: "an id that this batch gave",
            }),
        }
    }

    fn push(&mut self, operation: Result<(Shape, Operation)>) -> BufferId {
        let node = self.nodes.len();
        let (shape, operation) = operation.unwrap_or_else(|error| {
            self.wrong.get_or_insert_with(|| error.clone());
            (Shape::vector(0), Operation::Wrong(error))
        });
        self.nodes.push(Node {
            shape,
            operation,
            made: None,
        });
        BufferId {
            batch: self.id,
            node,
        }
    }
}

/// Element-wise operations of one tensor, or of two.
macro_rules! queued {
    ($($(#[$doc:meta])* $name:ident($($second:ident)?; $($arg:ident),*) $step:expr;)*) => {
        /// Element-wise operations.
        impl GpuCommandBatch {
            $(
                $(#[$doc])*
                pub fn $name(&mut self, a: BufferId $(, $second: BufferId)? $(, $arg: f32)*) -> BufferId {
                    #[allow(unused_mut, unused_assignments, reason = "operations of two set it")]
                    let mut second = None;
                    $(second = Some($second);)?
                    self.apply(&[$step], a, second)
                }
            )*
        }
    };
}

queued! {
    /// max(x, 0)
    relu(;) Step::Relu;
    /// x above 0, else `alpha` x.
    leaky_relu(; alpha) Step::LeakyRelu(alpha);
    /// x above 0, else `alpha` (eˣ - 1).
    elu(; alpha) Step::Elu(alpha);
    /// 1 / (1 + e⁻ˣ)
    sigmoid(;) Step::Sigmoid;
    /// tanh x
    tanh(;) Step::Tanh;
    /// x / (1 + e⁻ˣ)
    swish(;) Step::Swish;
    /// x Φ(x), with Φ the integral of the normal distribution.
    gelu(;) Step::Gelu;
    /// x, but at least `min` and at most `max`.
    clip(; min, max) Step::Clip(min, max);
    /// x times `factor`.
    scale(; factor) Step::Scale(factor);
    /// The sum of two tensors, whose shapes extend to each other.
    add(b;) Step::Add;
    /// The product of two tensors, element by element; their shapes extend to each other.
    mul(b;) Step::Mul;
}

//! Execution plan of a batch: selects the operations to run, fuses element-wise chains and reuses buffers.

use super::resident::GpuTensor;
use crate::gpu::{Buffer, Sized64};
use crate::kernels::tensor::{MAX_STEPS, padded_bytes_of};
use crate::tensor::op::Op;
use crate::tensor::record::{AnyOperand, Recording};
use crate::tensor::{DType, Shape, Step, TensorView};
use crate::{Error, Result};

/// A tensor of a batch.
#[derive(Debug)]
pub(super) struct Node {
    /// Shape and layout in the buffer.
    pub(super) view: TensorView,
    /// Type of the elements.
    pub(super) dtype: DType,
    pub(super) source: Source,
    /// The tensor if it is available: given by the caller, or kept from an earlier execution.
    pub(super) made: Option<GpuTensor>,
}

/// Origin of a tensor.
#[derive(Debug)]
pub(super) enum Source {
    /// Already on the device.
    Given,
    /// Invalid: queuing it failed with this error.
    Wrong(Error),
    Upload(Vec<f32>),
    Op(Op, Vec<Input>),
}

/// An input of an operation.
#[derive(Debug)]
pub(super) struct Input {
    /// Index of its node.
    pub(super) node: usize,
    /// The shape to which the operation reshapes it, if any.
    pub(super) shape: Option<Shape>,
}

impl Source {
    fn inputs(&self) -> &[Input] {
        match self {
            Self::Given | Self::Wrong(_) | Self::Upload(_) => &[],
            Self::Op(_, inputs) => inputs,
        }
    }

    /// Returns the indices of the input nodes.
    fn nodes(&self) -> impl Iterator<Item = usize> {
        self.inputs().iter().map(|input| input.node)
    }

    /// Returns an element-wise operation as a chain; `None` for other operations.
    fn chain(&self) -> Option<Chain> {
        match self {
            Self::Op(Op::Elementwise(steps), inputs) => Some(Chain {
                steps: steps.clone(),
                a: inputs.first()?.node,
                b: inputs.get(1).map(|input| input.node),
            }),
            _ => None,
        }
    }
}

/// An upload, a chain of element-wise operations, or another operation.
#[derive(Debug, PartialEq)]
struct Task {
    node: usize,
    /// The fused chain of an element-wise operation that ends at `node`.
    chain: Option<Chain>,
}

#[derive(Debug, Clone, PartialEq)]
struct Chain {
    steps: Vec<Step>,
    a: usize,
    b: Option<usize>,
}

impl Chain {
    /// Fuses this chain with one that continues from its result; `None` if one launch cannot run both.
    fn joined(&self, next: &Self) -> Option<Self> {
        let steps = [&self.steps[..], &next.steps].concat();
        let b = match (self.b, next.b) {
            (Some(_), Some(_)) => return None,
            (b, next_b) => b.or(next_b),
        };
        (steps.len() <= MAX_STEPS).then_some(Self {
            steps,
            a: self.a,
            b,
        })
    }
}

/// Operations to run, in topological order.
#[derive(Debug)]
pub(super) struct Plan {
    tasks: Vec<Task>,
    /// Nodes whose results are kept.
    wanted: Vec<usize>,
}

impl Plan {
    /// Returns the valid nodes that are not yet available and are not inputs of other nodes.
    pub(super) fn sinks(nodes: &[Node]) -> Vec<usize> {
        let mut is_used = vec![false; nodes.len()];
        for input in nodes.iter().flat_map(|node| node.source.nodes()) {
            is_used[input] = true;
        }
        let is_wrong = |i: usize| matches!(nodes[i].source, Source::Wrong(_));
        let sinks = (0..nodes.len()).filter(|&i| !is_used[i] && !is_wrong(i));
        sinks.filter(|&i| nodes[i].made.is_none()).collect()
    }

    /// Returns the operations that compute the `wanted` nodes from the available ones.
    pub(super) fn new(nodes: &[Node], wanted: &[usize]) -> Self {
        let mut n_uses = vec![0u32; nodes.len()];
        let mut is_needed = vec![false; nodes.len()];
        wanted
            .iter()
            .for_each(|&i| is_needed[i] = nodes[i].made.is_none());
        // Inputs precede the nodes that use them.
        for i in (0..nodes.len()).rev().filter(|&i| nodes[i].made.is_none()) {
            if is_needed[i] {
                for input in nodes[i].source.nodes() {
                    n_uses[input] += 1;
                    is_needed[input] = nodes[input].made.is_none();
                }
            }
        }
        let mut tasks: Vec<Task> = Vec::new();
        for node in (0..nodes.len()).filter(|&i| is_needed[i]) {
            let chain = nodes[node].source.chain();
            let before = chain.as_ref().and_then(|chain| {
                let is_between = n_uses[chain.a] == 1
                    && !wanted.contains(&chain.a)
                    // Elements of 16 bits are rounded after each operation.
                    && nodes[chain.a].dtype == DType::F32
                    && nodes[chain.a].view.shape() == nodes[node].view.shape();
                let before = tasks
                    .iter()
                    .position(|task| is_between && task.node == chain.a)?;
                let joined = tasks[before].chain.as_ref()?.joined(chain)?;
                Some((before, joined))
            });
            match before {
                Some((before, joined)) => {
                    tasks.remove(before);
                    tasks.push(Task {
                        node,
                        chain: Some(joined),
                    });
                }
                None => tasks.push(Task { node, chain }),
            }
        }
        Self {
            tasks,
            wanted: wanted.to_vec(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }

    fn inputs(task: &Task, nodes: &[Node]) -> Vec<usize> {
        match &task.chain {
            Some(chain) => [Some(chain.a), chain.b].into_iter().flatten().collect(),
            None => nodes[task.node].source.nodes().collect(),
        }
    }

    /// Records all tasks; returns the nodes and buffers of wanted results and of uploads.
    pub(super) async fn record(
        &self,
        nodes: &[Node],
        recording: &mut Recording,
    ) -> Result<Vec<(usize, Buffer)>> {
        let mut memory = Memory::new(self, nodes);
        for task in &self.tasks {
            let node = &nodes[task.node];
            if let Source::Upload(values) = &node.source {
                let buffer = recording.upload(values).await?;
                memory.buffers[task.node] = Some(buffer);
                continue;
            }
            let out = memory.take(recording, node.dtype, node.view.shape().n_elements())?;
            self.record_task(task, nodes, &memory, recording, &out)
                .await?;
            memory.buffers[task.node] = Some(out);
            memory.let_go(&Self::inputs(task, nodes));
        }
        let kept = self
            .tasks
            .iter()
            .map(|task| task.node)
            .filter(|node| self.wanted.contains(node) || is_upload(&nodes[*node]));
        let made = kept.map(|node| Ok((node, memory.buffer(nodes, node)?.0)));
        made.collect()
    }

    async fn record_task(
        &self,
        task: &Task,
        nodes: &[Node],
        memory: &Memory,
        recording: &mut Recording,
        out: &Buffer,
    ) -> Result<()> {
        let node = &nodes[task.node];
        let out = AnyOperand {
            buffer: out,
            view: &node.view,
            dtype: node.dtype,
        };
        let mut seen = Vec::new();
        let fused;
        let op = match (&task.chain, &node.source) {
            (Some(chain), _) => {
                for node in [Some(chain.a), chain.b].into_iter().flatten() {
                    seen.push((memory.buffer(nodes, node)?, nodes[node].dtype));
                }
                fused = Op::Elementwise(chain.steps.clone());
                &fused
            }
            (None, Source::Op(op, inputs)) => {
                for Input { node, shape } in inputs {
                    let (buffer, view) = memory.buffer(nodes, *node)?;
                    let view = seen_in(view, shape.as_ref())?;
                    seen.push(((buffer, view), nodes[*node].dtype));
                }
                op
            }
            _ => return Ok(()),
        };
        let operands: Vec<AnyOperand<'_>> = seen
            .iter()
            .map(|((buffer, view), dtype)| AnyOperand {
                buffer,
                view,
                dtype: *dtype,
            })
            .collect();
        recording.operation(op, &operands, out).await
    }
}

fn is_upload(node: &Node) -> bool {
    matches!(node.source, Source::Upload(_))
}

/// Reshapes a view to `shape`, if there is one.
pub(super) fn seen_in(view: TensorView, shape: Option<&Shape>) -> Result<TensorView> {
    match shape {
        Some(shape) if view.shape() != shape => view.reshape(shape.clone()),
        _ => Ok(view),
    }
}

/// Buffers of a plan while it is recorded.
struct Memory {
    buffers: Vec<Option<Buffer>>,
    /// Number of remaining tasks that use each node, plus 1 for nodes that are kept.
    n_uses: Vec<u32>,
    free: Vec<Buffer>,
}

impl Memory {
    fn new(plan: &Plan, nodes: &[Node]) -> Self {
        let mut n_uses = vec![0; nodes.len()];
        let inputs = plan.tasks.iter().flat_map(|task| Plan::inputs(task, nodes));
        let uploads = (0..nodes.len()).filter(|&i| is_upload(&nodes[i]));
        for node in inputs.chain(plan.wanted.iter().copied()).chain(uploads) {
            n_uses[node] += 1;
        }
        Self {
            buffers: vec![None; nodes.len()],
            n_uses,
            free: Vec::new(),
        }
    }

    /// Returns a buffer for `n` elements: a free one of the same size, else a new one.
    fn take(&mut self, recording: &Recording, dtype: DType, n: usize) -> Result<Buffer> {
        let n_bytes = padded_bytes_of(dtype, n as u64);
        let found = self
            .free
            .iter()
            .position(|buffer| buffer.n_bytes() == n_bytes);
        match found {
            Some(at) => Ok(self.free.swap_remove(at)),
            None => recording.allocate_of(dtype, n),
        }
    }

    /// Frees the buffers that no later task uses. Launches run in order, so later ones may overwrite them.
    fn let_go(&mut self, inputs: &[usize]) {
        for &input in inputs {
            self.n_uses[input] = self.n_uses[input].saturating_sub(1);
            if self.n_uses[input] == 0 {
                self.free.extend(self.buffers[input].take());
            }
        }
    }

    fn buffer(&self, nodes: &[Node], node: usize) -> Result<(Buffer, TensorView)> {
        if let Some(tensor) = &nodes[node].made {
            return Ok((tensor.buffer().clone(), tensor.view().clone()));
        }
        let view = nodes[node].view.clone();
        let buffer = self.buffers[node].clone();
        buffer
            .map(|buffer| (buffer, view))
            .ok_or_else(|| Error::Engine {
                engine: "tensor",
                message: format!("tensor {node} of the batch is not there"),
            })
    }
}

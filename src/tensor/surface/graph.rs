//! What a batch of operations needs: which of them run, which become one, and whose memory is used again.

use super::resident::GpuTensor;
use crate::gpu::{Buffer, Sized64};
use crate::kernels::tensor::{MAX_STEPS, padded_bytes};
use crate::tensor::op::Op;
use crate::tensor::record::{Operand, Recording};
use crate::tensor::{Shape, Step, TensorView};
use crate::{Error, Result};

/// A tensor of a batch.
#[derive(Debug)]
pub(super) struct Node {
    /// Its shape, and where its elements lie in its buffer.
    pub(super) view: TensorView,
    pub(super) source: Source,
    /// The tensor, once it is made: by an earlier execution, or from the start.
    pub(super) made: Option<GpuTensor>,
}

/// Origin of a tensor.
#[derive(Debug)]
pub(super) enum Source {
    /// It is there.
    Given,
    /// It cannot be made.
    Wrong(Error),
    Upload(Vec<f32>),
    Op(Op, Vec<Input>),
}

/// An input of an operation.
#[derive(Debug)]
pub(super) struct Input {
    /// The number of its tensor.
    pub(super) node: usize,
    /// The shape that the operation sees it in, if not its own.
    pub(super) shape: Option<Shape>,
}

impl Source {
    fn inputs(&self) -> &[Input] {
        match self {
            Self::Given | Self::Wrong(_) | Self::Upload(_) => &[],
            Self::Op(_, inputs) => inputs,
        }
    }

    /// The numbers of the tensors that it needs.
    fn nodes(&self) -> impl Iterator<Item = usize> {
        self.inputs().iter().map(|input| input.node)
    }

    /// An element-wise operation as a chain of its own.
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

/// One launch, or a few: all steps of a chain in turn, or one other operation.
#[derive(Debug, PartialEq)]
struct Task {
    node: usize,
    /// For element-wise operations: those of the whole chain, and where it starts.
    chain: Option<Chain>,
}

#[derive(Debug, Clone, PartialEq)]
struct Chain {
    steps: Vec<Step>,
    a: usize,
    b: Option<usize>,
}

impl Chain {
    /// Of this chain and one that goes on from its result, if one launch can do both.
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

/// Operations to run, in order.
#[derive(Debug)]
pub(super) struct Plan {
    tasks: Vec<Task>,
    /// Results that stay.
    wanted: Vec<usize>,
}

impl Plan {
    /// The nodes that no other needs and that are not there, but could be.
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
        // Inputs come before what needs them.
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

    /// Records everything; the buffers of wanted results and of uploads are returned.
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
            let out = memory.take(recording, node.view.shape().n_elements())?;
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
        if let Some(chain) = &task.chain {
            let (a, a_view) = memory.buffer(nodes, chain.a)?;
            let a = Operand {
                buffer: &a,
                view: &a_view,
            };
            let b = chain.b.map(|b| memory.buffer(nodes, b)).transpose()?;
            let b = b.as_ref().map(|(buffer, view)| Operand { buffer, view });
            let shape = nodes[task.node].view.shape();
            return recording.elementwise(&chain.steps, a, b, shape, out).await;
        }
        let node = &nodes[task.node];
        let Source::Op(op, inputs) = &node.source else {
            return Ok(());
        };
        let mut seen = Vec::with_capacity(inputs.len());
        for Input { node, shape } in inputs {
            let (buffer, view) = memory.buffer(nodes, *node)?;
            seen.push((buffer, seen_in(view, shape.as_ref())?));
        }
        let operands: Vec<Operand<'_>> = seen
            .iter()
            .map(|(buffer, view)| Operand { buffer, view })
            .collect();
        let view = &node.view;
        op.record(recording, &operands, Operand { buffer: out, view })
            .await
    }
}

fn is_upload(node: &Node) -> bool {
    matches!(node.source, Source::Upload(_))
}

/// A tensor in the shape that an operation sees it in.
pub(super) fn seen_in(view: TensorView, shape: Option<&Shape>) -> Result<TensorView> {
    match shape {
        Some(shape) if view.shape() != shape => view.reshape(shape.clone()),
        _ => Ok(view),
    }
}

/// The memory of a plan as it runs.
struct Memory {
    buffers: Vec<Option<Buffer>>,
    /// Tasks still to come that need a node; those that stay count once more.
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

    /// A buffer for `n` elements: one that is free, if it is as large, else a new one.
    fn take(&mut self, recording: &Recording, n: usize) -> Result<Buffer> {
        let n_bytes = padded_bytes(n as u64);
        let found = self
            .free
            .iter()
            .position(|buffer| buffer.n_bytes() == n_bytes);
        match found {
            Some(at) => Ok(self.free.swap_remove(at)),
            None => recording.allocate(n),
        }
    }

    /// Frees what no later task needs. Launches run in order, so what comes next may write to it.
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

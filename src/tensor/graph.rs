//! What a batch of operations needs: which of them run, which become one, and whose memory is used again.

use super::products::factors;
use super::resident::GpuTensor;
use super::run::{Operand, Recording};
use super::shape::Shape;
use super::step::{Reduction, Step};
use super::view::TensorView;
use crate::gpu::{Buffer, Sized64};
use crate::kernels::tensor::{MAX_STEPS, padded_bytes};
use crate::{Error, Result};

/// A tensor of a batch.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) shape: Shape,
    pub(super) operation: Operation,
    /// There, from an earlier execution or from the start.
    pub(super) made: Option<GpuTensor>,
}

/// How a tensor comes about, of those with the given numbers.
#[derive(Debug)]
pub(super) enum Operation {
    /// It is there.
    Given,
    /// It cannot be made.
    Wrong(Error),
    Upload(Vec<f32>),
    Steps {
        steps: Vec<Step>,
        a: usize,
        b: Option<usize>,
    },
    Dot(usize, usize),
    Reduce(Reduction, usize),
    Softmax {
        log: bool,
        a: usize,
    },
    /// Seen in these shapes.
    Matmul([usize; 2], [Shape; 2]),
    Convolve2d([usize; 2], [Shape; 2]),
}

impl Operation {
    fn inputs(&self) -> Vec<usize> {
        match self {
            Self::Given | Self::Wrong(_) | Self::Upload(_) => Vec::new(),
            Self::Steps { a, b, .. } => [Some(*a), *b].into_iter().flatten().collect(),
            Self::Reduce(_, a) | Self::Softmax { a, .. } => vec![*a],
            Self::Dot(a, b) => vec![*a, *b],
            Self::Matmul(inputs, _) | Self::Convolve2d(inputs, _) => inputs.to_vec(),
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

/// What to run, in order.
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
        for input in nodes.iter().flat_map(|node| node.operation.inputs()) {
            is_used[input] = true;
        }
        let is_wrong = |i: usize| matches!(nodes[i].operation, Operation::Wrong(_));
        let sinks = (0..nodes.len()).filter(|&i| !is_used[i] && !is_wrong(i));
        sinks.filter(|&i| nodes[i].made.is_none()).collect()
    }

    /// What makes the `wanted` nodes of those that are there.
    pub(super) fn new(nodes: &[Node], wanted: &[usize]) -> Self {
        let mut n_uses = vec![0u32; nodes.len()];
        let mut is_needed = vec![false; nodes.len()];
        wanted
            .iter()
            .for_each(|&i| is_needed[i] = nodes[i].made.is_none());
        // Inputs come before what needs them.
        for i in (0..nodes.len()).rev().filter(|&i| nodes[i].made.is_none()) {
            if is_needed[i] {
                for input in nodes[i].operation.inputs() {
                    n_uses[input] += 1;
                    is_needed[input] = nodes[input].made.is_none();
                }
            }
        }
        let mut tasks: Vec<Task> = Vec::new();
        for node in (0..nodes.len()).filter(|&i| is_needed[i]) {
            let chain = match &nodes[node].operation {
                Operation::Steps { steps, a, b } => Some(Chain {
                    steps: steps.clone(),
                    a: *a,
                    b: *b,
                }),
                _ => None,
            };
            let before = chain.as_ref().and_then(|chain| {
                let is_between = n_uses[chain.a] == 1
                    && !wanted.contains(&chain.a)
                    && nodes[chain.a].shape == nodes[node].shape;
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
            None => nodes[task.node].operation.inputs(),
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
            if let Operation::Upload(values) = &node.operation {
                let buffer = recording.upload(values).await?;
                memory.buffers[task.node] = Some(buffer);
                continue;
            }
            let out = memory.take(recording, node.shape.n_elements())?;
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
            let shape = &nodes[task.node].shape;
            return recording.elementwise(&chain.steps, a, b, shape, out).await;
        }
        let mut inputs = Vec::with_capacity(2);
        for input in nodes[task.node].operation.inputs() {
            inputs.push(memory.buffer(nodes, input)?);
        }
        let operands: Vec<Operand<'_>> = inputs
            .iter()
            .map(|(buffer, view)| Operand { buffer, view })
            .collect();
        match (&nodes[task.node].operation, &operands[..]) {
            (Operation::Dot(..), &[a, b]) => {
                recording.dot(a, b, a.view.shape().n_elements(), out).await
            }
            (Operation::Reduce(reduction, _), &[a]) => {
                let axes: Vec<usize> = (0..a.view.shape().rank()).collect();
                recording.reduce(*reduction, a, &axes, out).await
            }
            (Operation::Softmax { log, .. }, &[a]) => recording.softmax(*log, a, out).await,
            (Operation::Matmul(_, shapes), &[a, b]) => {
                let (a_view, b_view) = (seen(a.view, &shapes[0])?, seen(b.view, &shapes[1])?);
                let factors = factors(&a_view, &b_view)?;
                recording.matmul(a.buffer, b.buffer, &factors, out).await
            }
            (Operation::Convolve2d(_, shapes), &[a, b]) => {
                let (a_view, b_view) = (seen(a.view, &shapes[0])?, seen(b.view, &shapes[1])?);
                let input = Operand { view: &a_view, ..a };
                let kernel = Operand { view: &b_view, ..b };
                recording.convolve2d(input, kernel, out).await
            }
            _ => Ok(()),
        }
    }
}

fn is_upload(node: &Node) -> bool {
    matches!(node.operation, Operation::Upload(_))
}

/// A tensor in the shape that an operation sees it in.
fn seen(view: &TensorView, shape: &Shape) -> Result<TensorView> {
    match view.shape() == shape {
        true => Ok(view.clone()),
        false => view.reshape(shape.clone()),
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
        let view = TensorView::new(nodes[node].shape.clone());
        let buffer = self.buffers[node].clone();
        buffer
            .map(|buffer| (buffer, view))
            .ok_or_else(|| Error::Engine {
                engine: "tensor",
                message: format!("tensor {node} of the batch is not there"),
            })
    }
}

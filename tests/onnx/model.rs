//! Models and tensors in ONNX's files.

use prost::Message;

use crate::proto::{AttributeProto, ModelProto, NodeProto, TensorProto, TypeProto};
use crate::subject::Tensor;

/// Element types of `TensorProto`.
const FLOAT: i32 = 1;
const INT64: i32 = 7;

/// The value of an input, an output or a constant.
#[derive(Clone, Debug)]
pub enum Value {
    Floats(Tensor),
    Ints(Vec<i64>),
    /// A tensor of another element type, by the number of the type.
    Other(i32),
}

impl Value {
    /// Reads a file with a `TensorProto`.
    pub fn read(file: &[u8]) -> Self {
        Self::from(TensorProto::decode(file).unwrap())
    }
}

impl From<TensorProto> for Value {
    fn from(tensor: TensorProto) -> Self {
        match tensor.data_type {
            FLOAT => {
                let (words, _) = tensor.raw_data.as_chunks();
                let raw = words.iter().map(|&word| f32::from_le_bytes(word));
                let dims: Vec<usize> = tensor.dims.iter().map(|&dim| dim as usize).collect();
                let elements = tensor.float_data.into_iter().chain(raw).collect();
                Self::Floats(Tensor::new(elements, &dims))
            }
            INT64 => {
                let (words, _) = tensor.raw_data.as_chunks();
                let raw = words.iter().map(|&word| i64::from_le_bytes(word));
                Self::Ints(tensor.int64_data.into_iter().chain(raw).collect())
            }
            other => Self::Other(other),
        }
    }
}

/// One operation with the names of its inputs (empty for an omitted one) and outputs.
#[derive(Clone, Debug)]
pub struct Node {
    pub operation: String,
    pub inputs: Vec<String>,
    pub outputs: Vec<String>,
    attributes: Vec<AttributeProto>,
}

impl From<NodeProto> for Node {
    fn from(node: NodeProto) -> Self {
        Self {
            operation: node.op_type,
            inputs: node.input,
            outputs: node.output,
            attributes: node.attribute,
        }
    }
}

impl Node {
    fn attribute(&self, name: &str) -> Option<&AttributeProto> {
        self.attributes.iter().find(|found| found.name == name)
    }

    pub fn float(&self, name: &str, default: f32) -> f32 {
        self.attribute(name).map_or(default, |found| found.f)
    }

    pub fn int(&self, name: &str, default: i64) -> i64 {
        self.attribute(name).map_or(default, |found| found.i)
    }

    pub fn ints(&self, name: &str) -> Option<&[i64]> {
        self.attribute(name).map(|found| &found.ints[..])
    }

    pub fn text(&self, name: &str) -> &str {
        self.attribute(name)
            .map_or("", |found| str::from_utf8(&found.s).unwrap())
    }
}

/// A graph of operations.
#[derive(Debug)]
pub struct Model {
    pub nodes: Vec<Node>,
    pub constants: Vec<(String, Value)>,
    /// Names of the inputs; true for tensors, false for sequences of tensors.
    pub inputs: Vec<(String, bool)>,
    pub outputs: Vec<String>,
}

impl Model {
    /// Reads a file with a `ModelProto`.
    pub fn read(file: &[u8]) -> Self {
        let graph = ModelProto::decode(file).unwrap().graph.unwrap();
        let is_tensor =
            |kind: Option<TypeProto>| kind.is_some_and(|kind| kind.tensor_type.is_some());
        Self {
            nodes: graph.node.into_iter().map(Node::from).collect(),
            constants: graph
                .initializer
                .into_iter()
                .map(|tensor| (tensor.name.clone(), tensor.into()))
                .collect(),
            inputs: graph
                .input
                .into_iter()
                .map(|input| (input.name, is_tensor(input.r#type)))
                .collect(),
            outputs: graph.output.into_iter().map(|output| output.name).collect(),
        }
    }
}

//! Models and tensors in ONNX's files. Field numbers are those of `onnx.proto`.

use std::collections::HashMap;

use crate::protobuf::{Field, f32s, fields};
use crate::subject::Tensor;

/// The value of an input, an output or a constant.
#[derive(Clone, Debug)]
pub enum Value {
    Floats(Tensor),
    Ints(Vec<i64>),
    /// A tensor of another element type, by the number of the type.
    Other(u64),
}

impl Value {
    /// Reads a `TensorProto`.
    pub fn read(message: &[u8]) -> Self {
        let (mut dims, mut kind, mut floats, mut ints) = (Vec::new(), 0, Vec::new(), Vec::new());
        let mut raw: &[u8] = &[];
        for (number, field) in fields(message) {
            match number {
                1 => dims.extend(field.varints().into_iter().map(|dim| dim as usize)),
                2 => kind = field.number(),
                4 => floats.extend(field.floats()),
                7 => ints.extend(field.varints().into_iter().map(|int| int as i64)),
                9 => raw = field.bytes(),
                _ => {}
            }
        }
        match kind {
            1 => {
                floats.extend(f32s(raw));
                Self::Floats(Tensor::new(floats, &dims))
            }
            7 => {
                let (words, _) = raw.as_chunks::<8>();
                ints.extend(words.iter().map(|word| i64::from_le_bytes(*word)));
                Self::Ints(ints)
            }
            other => Self::Other(other),
        }
    }
}

/// An attribute of a node.
#[derive(Clone, Debug, Default)]
struct Attribute {
    float: f32,
    int: i64,
    text: String,
    ints: Vec<i64>,
}

impl Attribute {
    /// Reads an `AttributeProto` and its name.
    fn read(message: &[u8]) -> (String, Self) {
        let (mut name, mut found) = (String::new(), Self::default());
        for (number, field) in fields(message) {
            match number {
                1 => name = field.text(),
                2 => found.float = field.floats()[0],
                3 => found.int = field.number() as i64,
                4 => found.text = field.text(),
                8 => found
                    .ints
                    .extend(field.varints().into_iter().map(|int| int as i64)),
                _ => {}
            }
        }
        (name, found)
    }
}

/// One operation with the names of its inputs (empty for an omitted one) and outputs.
#[derive(Clone, Debug, Default)]
pub struct Node {
    pub operation: String,
    pub inputs: Vec<String>,
    pub outputs: Vec<String>,
    attributes: HashMap<String, Attribute>,
}

impl Node {
    fn read(message: &[u8]) -> Self {
        let mut node = Self::default();
        for (number, field) in fields(message) {
            match number {
                1 => node.inputs.push(field.text()),
                2 => node.outputs.push(field.text()),
                4 => node.operation = field.text(),
                5 => node.attributes.extend([Attribute::read(field.bytes())]),
                _ => {}
            }
        }
        node
    }

    pub fn float(&self, name: &str, default: f32) -> f32 {
        self.attributes
            .get(name)
            .map_or(default, |found| found.float)
    }

    pub fn int(&self, name: &str, default: i64) -> i64 {
        self.attributes.get(name).map_or(default, |found| found.int)
    }

    pub fn ints(&self, name: &str) -> Option<&[i64]> {
        self.attributes.get(name).map(|found| &found.ints[..])
    }

    pub fn text(&self, name: &str) -> &str {
        self.attributes.get(name).map_or("", |found| &found.text)
    }
}

/// A graph of operations.
#[derive(Debug, Default)]
pub struct Model {
    pub nodes: Vec<Node>,
    pub constants: Vec<(String, Value)>,
    /// Names of the inputs; true for tensors.
    pub inputs: Vec<(String, bool)>,
    pub outputs: Vec<String>,
}

impl Model {
    /// Reads a `ModelProto`.
    pub fn read(message: &[u8]) -> Self {
        let graph = fields(message).into_iter().find(|(number, _)| *number == 7);
        let mut model = Self::default();
        for (number, field) in fields(graph.unwrap().1.bytes()) {
            match number {
                1 => model.nodes.push(Node::read(field.bytes())),
                5 => model
                    .constants
                    .push((name(field, 8), Value::read(field.bytes()))),
                11 => model.inputs.push((name(field, 1), is_tensor(field))),
                12 => model.outputs.push(name(field, 1)),
                _ => {}
            }
        }
        model
    }
}

fn name(message: Field<'_>, number: u64) -> String {
    let found = fields(message.bytes())
        .into_iter()
        .find(|(n, _)| *n == number);
    found.map_or_else(String::new, |(_, field)| field.text())
}

/// Returns true if a `ValueInfoProto` is a tensor and not a sequence of tensors.
fn is_tensor(input: Field<'_>) -> bool {
    fields(input.bytes())
        .into_iter()
        .filter(|(number, _)| *number == 2)
        .any(|(_, kind)| fields(kind.bytes()).iter().any(|(number, _)| *number == 1))
}

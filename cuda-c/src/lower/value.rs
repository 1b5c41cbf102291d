//! Values, pointers and places.

use super::facts::Root;
use super::level::Level;
use super::state::H;
use crate::types::Ty;

/// A value of the source.
#[derive(Debug, Clone)]
pub(super) struct Value {
    pub(super) ty: Ty,
    pub(super) data: Data,
    pub(super) level: Level,
}

#[derive(Debug, Clone)]
pub(super) enum Data {
    /// The leaves: one for a scalar or vector, several for a structure.
    Leaves(Vec<H>),
    Pointer(Pointer),
    /// `nullptr`.
    Null,
}

/// An address.
#[derive(Debug, Clone)]
pub(super) enum Pointer {
    /// Index `index` of memory in steps of `unit` bytes, plus `offset` bytes.
    Memory {
        root: Root,
        index: H,
        unit: u32,
        offset: u32,
        /// An element of the vector there.
        component: Option<(u32, Ty)>,
    },
    /// A part of a local variable, from leaf `leaf` on.
    Local {
        root: Root,
        leaf: usize,
        /// Index of the element within arrays.
        index: Option<H>,
        component: Option<u32>,
    },
}

/// An lvalue.
#[derive(Debug, Clone)]
pub(super) enum Place {
    At {
        pointer: Pointer,
        ty: Ty,
        level: Level,
    },
    /// A pointer variable.
    Variable(std::rc::Rc<super::state::Var>),
    /// A temporary value.
    Value(Value),
}

impl Value {
    pub(super) fn leaf(ty: Ty, leaf: H, level: Level) -> Self {
        Self {
            ty,
            data: Data::Leaves(vec![leaf]),
            level,
        }
    }

    /// The only leaf of a scalar or vector.
    pub(super) fn first(&self) -> Option<H> {
        match &self.data {
            Data::Leaves(leaves) => leaves.first().copied(),
            _ => None,
        }
    }
}

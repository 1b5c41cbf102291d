//! Layout of types: flattened to scalars, with offsets in memory.

use naga::proc::{GlobalCtx, IndexableLength, TypeResolution};
use naga::{Scalar, ScalarKind, TypeInner, VectorSize};

use super::Lowering;
use super::cooperative::Matrix;
use crate::Result;
use crate::build::PtxType;

/// A scalar of a type, with its offset in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Leaf {
    pub(super) ty: PtxType,
    pub(super) offset: u32,
}

/// One access step from a type to a part of it.
pub(super) struct Part {
    pub(super) ty: TypeResolution,
    /// Index of the part's first leaf.
    pub(super) leaf: usize,
    /// Offset of the part in bytes.
    pub(super) offset: u32,
}

/// Elements of an indexable type.
pub(super) struct Elements {
    pub(super) ty: TypeResolution,
    /// Element count; `None` for runtime-sized arrays.
    pub(super) count: Option<u32>,
    /// Stride in bytes.
    pub(super) stride: u32,
}

/// Cached facts about a type.
#[derive(Default)]
pub(super) struct TypeFacts {
    /// Number of scalars; `None` if it has other parts.
    n_leaves: Option<usize>,
    /// For a structure, the first scalar of each member.
    members: Vec<usize>,
    /// True if it is or contains a cooperative matrix.
    has_matrix: bool,
}

impl<'a> Lowering<'a> {
    /// Counts the scalars of all types. naga orders types after their parts.
    pub(super) fn measure_types(&mut self) {
        for (handle, ty) in self.module.types.iter() {
            let mut facts = TypeFacts::default();
            let parts: Vec<_> = match ty.inner {
                TypeInner::Struct { ref members, .. } => members.iter().map(|m| m.ty).collect(),
                TypeInner::Array { base, .. } => vec![base],
                _ => Vec::new(),
            };
            facts.has_matrix = matches!(ty.inner, TypeInner::CooperativeMatrix { .. });
            let mut all = 0usize;
            for part in parts {
                let part = self.types.get(part.index());
                facts.has_matrix |= part.is_some_and(|part| part.has_matrix);
                facts.members.push(all);
                all = all.saturating_add(part.and_then(|part| part.n_leaves).unwrap_or(0));
            }
            facts.n_leaves = match ty.inner {
                TypeInner::Struct { .. } => Some(all),
                _ => self.count_leaves(&TypeResolution::Handle(handle)).ok(),
            };
            self.types.push(facts);
        }
    }

    /// Returns an error if the type of a variable that invocations share contains a cooperative matrix, of which each has a part.
    pub(super) fn check_shared(&self, ty: naga::Handle<naga::Type>) -> Result<()> {
        match self.types.get(ty.index()) {
            Some(facts) if facts.has_matrix => {
                Err(self.unsupported("a cooperative matrix in a variable that invocations share"))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn context(&self) -> GlobalCtx<'a> {
        self.module.to_ctx()
    }

    pub(super) fn inner<'t>(&self, ty: &'t TypeResolution) -> &'t TypeInner
    where
        'a: 't,
    {
        ty.inner_with(&self.module.types)
    }

    pub(super) fn size(&self, ty: &TypeResolution) -> Result<u32> {
        let size = self.inner(ty).try_size(self.context());
        size.ok_or_else(|| self.error("a type is too large"))
    }

    pub(super) fn ptx_type(&self, scalar: Scalar) -> Result<PtxType> {
        Ok(match (scalar.kind, scalar.width) {
            (ScalarKind::Bool, _) => PtxType::Pred,
            (ScalarKind::Uint, 2) => PtxType::U16,
            (ScalarKind::Sint, 2) => PtxType::S16,
            (ScalarKind::Float, 2) => PtxType::F16,
            (ScalarKind::Uint, 4) => PtxType::U32,
            (ScalarKind::Sint, 4) => PtxType::S32,
            (ScalarKind::Float, 4) => PtxType::F32,
            (ScalarKind::Uint, 8) => PtxType::U64,
            (ScalarKind::Sint, 8) => PtxType::S64,
            (ScalarKind::Float, 8) => PtxType::F64,
            (kind, width) => {
                return Err(self.unsupported(format_args!("a {kind:?} of {width} bytes")));
            }
        })
    }

    /// Returns the scalars of a type in order.
    pub(super) fn leaves(&self, ty: &TypeResolution) -> Result<Vec<Leaf>> {
        self.spend_scalars(self.n_leaves(ty)?)?;
        let mut leaves = Vec::new();
        self.add_leaves(ty, 0, &mut leaves)?;
        Ok(leaves)
    }

    fn add_leaves(&self, ty: &TypeResolution, offset: u32, leaves: &mut Vec<Leaf>) -> Result<()> {
        match *self.inner(ty) {
            TypeInner::Scalar(scalar) | TypeInner::Atomic(scalar) => {
                let ty = self.ptx_type(scalar)?;
                leaves.push(Leaf { ty, offset });
            }
            TypeInner::Struct { ref members, .. } => {
                for member in members {
                    let ty = TypeResolution::Handle(member.ty);
                    self.add_leaves(&ty, offset + member.offset, leaves)?;
                }
            }
            ref matrix @ TypeInner::CooperativeMatrix { .. } => {
                let (n, ty) = self
                    .matrix(matrix)?
                    .map_or((0, PtxType::U32), Matrix::registers);
                let leaf = |i| Leaf {
                    ty,
                    offset: offset + 4 * i as u32,
                };
                leaves.extend((0..n).map(leaf));
            }
            _ => {
                let elements = self.elements(ty)?;
                let Some(count) = elements.count else {
                    return Err(self.error("an array without size has no value"));
                };
                for i in 0..count {
                    self.add_leaves(&elements.ty, offset + i * elements.stride, leaves)?;
                }
            }
        }
        Ok(())
    }

    pub(super) fn n_leaves(&self, ty: &TypeResolution) -> Result<usize> {
        if let TypeResolution::Handle(handle) = *ty
            && let Some(facts) = self.types.get(handle.index())
            && let Some(n) = facts.n_leaves
        {
            return Ok(n);
        }
        self.count_leaves(ty)
    }

    /// Counts the scalars of a type from those of its parts.
    fn count_leaves(&self, ty: &TypeResolution) -> Result<usize> {
        Ok(match *self.inner(ty) {
            TypeInner::Scalar(_) | TypeInner::Atomic(_) => 1,
            TypeInner::Struct { .. } => return Err(self.error("a structure of unknown size")),
            ref matrix @ TypeInner::CooperativeMatrix { .. } => self
                .matrix(matrix)?
                .map_or(0, |matrix| matrix.registers().0),
            _ => {
                let elements = self.elements(ty)?;
                let count = elements.count.unwrap_or(1) as usize;
                count.saturating_mul(self.n_leaves(&elements.ty)?)
            }
        })
    }

    /// Returns the elements of a vector, matrix or array.
    pub(super) fn elements(&self, ty: &TypeResolution) -> Result<Elements> {
        let (ty, count, stride) = match *self.inner(ty) {
            TypeInner::Vector { size, scalar } => {
                let ty = TypeResolution::Value(TypeInner::Scalar(scalar));
                (ty, Some(size as u32), u32::from(scalar.width))
            }
            TypeInner::Matrix {
                columns,
                rows,
                scalar,
            } => {
                let ty = TypeResolution::Value(TypeInner::Vector { size: rows, scalar });
                // A column of three is padded to four.
                let rows = if rows == VectorSize::Tri {
                    4
                } else {
                    rows as u32
                };
                (ty, Some(columns as u32), rows * u32::from(scalar.width))
            }
            TypeInner::Array { base, size, stride } => {
                let count = match size.resolve(self.context()) {
                    Ok(IndexableLength::Known(count)) => Some(count),
                    Ok(IndexableLength::Dynamic) => None,
                    Err(e) => return Err(self.error(e)),
                };
                (TypeResolution::Handle(base), count, stride)
            }
            TypeInner::Image { .. } => return Err(self.unsupported("a texture")),
            TypeInner::Sampler { .. } => return Err(self.unsupported("a sampler")),
            TypeInner::AccelerationStructure { .. } => {
                return Err(self.unsupported("an acceleration structure"));
            }
            TypeInner::RayQuery { .. } => return Err(self.unsupported("a ray query")),
            TypeInner::BindingArray { .. } => return Err(self.unsupported("an array of bindings")),
            TypeInner::CooperativeMatrix { .. } => {
                return Err(self.unsupported("an element of a cooperative matrix"));
            }
            ref other => return Err(self.error(format_args!("{other:?} has no elements"))),
        };
        Ok(Elements { ty, count, stride })
    }

    /// Returns part `index` of a composite.
    pub(super) fn part(&self, ty: &TypeResolution, index: u32) -> Result<Part> {
        if let TypeInner::Struct { members, .. } = self.inner(ty) {
            let leaf = match ty {
                TypeResolution::Handle(handle) => {
                    let facts = self.types.get(handle.index());
                    facts.and_then(|facts| facts.members.get(index as usize))
                }
                TypeResolution::Value(_) => None,
            };
            let member = members.get(index as usize);
            let (Some(member), Some(&leaf)) = (member, leaf) else {
                return Err(self.error(format_args!("a structure has no member {index}")));
            };
            return Ok(Part {
                ty: TypeResolution::Handle(member.ty),
                leaf,
                offset: member.offset,
            });
        }
        let elements = self.elements(ty)?;
        let leaf = (index as usize).saturating_mul(self.n_leaves(&elements.ty)?);
        Ok(Part {
            ty: elements.ty,
            leaf,
            offset: index.saturating_mul(elements.stride),
        })
    }
}

//! Memory as variables of WGSL.

use naga::{
    AddressSpace, ArraySize, Expression, GlobalVariable, Handle, Literal, ResourceBinding, Span,
    StorageAccess, TypeInner,
};

use super::Lowering;
use super::facts::{Element, Root, RootKey};
use super::state::H;
use crate::ast::Space;
use crate::error::{Outcome, fault};
use crate::types::{Prim, Ty};

/// Memory that is not a local variable.
#[derive(Debug, Clone)]
pub(super) struct Memory {
    pub(super) variable: Handle<GlobalVariable>,
    /// Number of elements, unless the size is only known at run time.
    pub(super) count: Option<u32>,
    pub(super) is_private: bool,
}

impl Lowering<'_> {
    /// Returns the element type that memory is declared with.
    pub(super) fn representation(&self, root: Root) -> Element {
        let facts = self.facts.of(root);
        let words = Element {
            prim: if facts.is_signed {
                Prim::Int
            } else {
                Prim::UInt
            },
            lanes: 1,
        };
        match facts.element {
            Some(element) if !facts.is_words => element,
            _ => words,
        }
    }

    pub(super) fn word_prim(&self, root: Root) -> Prim {
        self.representation(root).prim
    }

    fn element_type(&mut self, root: Root) -> (Handle<naga::Type>, u32) {
        let element = self.representation(root);
        let ty = if self.facts.of(root).is_atomic {
            self.ty(TypeInner::Atomic(super::state::scalar(element.prim)))
        } else {
            self.element_ty(element.prim, element.lanes)
        };
        (
            ty,
            u32::from(super::state::scalar(element.prim).width) * element.lanes,
        )
    }

    /// Declares a storage buffer.
    pub(super) fn declare_buffer(&mut self, root: Root, name: &str, binding: u32) {
        let (base, stride) = self.element_type(root);
        let ty = self.ty(TypeInner::Array {
            base,
            size: ArraySize::Dynamic,
            stride,
        });
        let facts = self.facts.of(root);
        let mut access = StorageAccess::LOAD;
        if facts.is_written || facts.is_atomic {
            access |= StorageAccess::STORE;
        }
        let variable = self.module.global_variables.append(
            GlobalVariable {
                name: Some(name.to_owned()),
                space: AddressSpace::Storage { access },
                binding: Some(ResourceBinding { group: 0, binding }),
                ty,
                init: None,
                memory_decorations: naga::MemoryDecorations::empty(),
            },
            Span::UNDEFINED,
        );
        self.memories.insert(
            root,
            Memory {
                variable,
                count: None,
                is_private: false,
            },
        );
    }

    /// Declares memory of the block, once.
    pub(super) fn declare_shared(&mut self, root: Root, name: &str, n_bytes: u32) {
        if self.memories.contains_key(&root) {
            return;
        }
        let (base, stride) = self.element_type(root);
        let count = n_bytes.div_ceil(stride).max(1);
        let ty = self.array_ty(base, stride, count);
        let variable = self.workgroup(name, ty);
        self.memories.insert(
            root,
            Memory {
                variable,
                count: Some(count),
                is_private: false,
            },
        );
    }

    pub(super) fn workgroup(
        &mut self,
        name: &str,
        ty: Handle<naga::Type>,
    ) -> Handle<GlobalVariable> {
        self.module.global_variables.append(
            GlobalVariable {
                name: Some(name.to_owned()),
                space: AddressSpace::WorkGroup,
                binding: None,
                ty,
                init: None,
                memory_decorations: naga::MemoryDecorations::empty(),
            },
            Span::UNDEFINED,
        )
    }

    /// Declares constant memory with its contents.
    pub(super) fn declare_constants(&mut self, root: Root, name: &str, image: &[u8]) {
        let words: Vec<u32> = image
            .as_chunks::<4>()
            .0
            .iter()
            .map(|word| u32::from_le_bytes(*word))
            .collect();
        if words
            .iter()
            .any(|word| !super::fold::is_spelled(f32::from_bits(*word)))
            && self.representation(root).prim == Prim::Float
        {
            self.facts.note_access(root, None);
        }
        // Constants of 16 and 64 bits are words.
        if self.representation(root).prim.size() != 4 {
            self.facts.note_access(root, None);
        }
        let element = self.representation(root);
        let (base, stride) = self.element_type(root);
        let count = (words.len() as u32).div_ceil(element.lanes).max(1);
        let array = self.array_ty(base, stride, count);
        let mut parts = Vec::new();
        for group in 0..count {
            let mut lanes = Vec::new();
            for lane in 0..element.lanes {
                let word = words
                    .get((group * element.lanes + lane) as usize)
                    .copied()
                    .unwrap_or(0);
                let literal = match element.prim {
                    Prim::Float => Literal::F32(f32::from_bits(word)),
                    Prim::Int => Literal::I32(word as i32),
                    _ => Literal::U32(word),
                };
                lanes.push(
                    self.module
                        .global_expressions
                        .append(Expression::Literal(literal), Span::UNDEFINED),
                );
            }
            parts.push(match lanes[..] {
                [only] => only,
                _ => self.module.global_expressions.append(
                    Expression::Compose {
                        ty: base,
                        components: lanes,
                    },
                    Span::UNDEFINED,
                ),
            });
        }
        let init = self.module.global_expressions.append(
            Expression::Compose {
                ty: array,
                components: parts,
            },
            Span::UNDEFINED,
        );
        let variable = self.module.global_variables.append(
            GlobalVariable {
                name: Some(name.to_owned()),
                space: AddressSpace::Private,
                binding: None,
                ty: array,
                init: Some(init),
                memory_decorations: naga::MemoryDecorations::empty(),
            },
            Span::UNDEFINED,
        );
        self.memories.insert(
            root,
            Memory {
                variable,
                count: Some(count),
                is_private: true,
            },
        );
    }

    /// Returns the pointer to the array of a root, and its length if that is fixed.
    pub(super) fn root_pointer(&mut self, root: Root) -> (H, Option<u32>) {
        let Some(memory) = self.memories.get(&root).cloned() else {
            // Only reached for roots that a fault has already refused.
            return (self.u32(0), None);
        };
        (
            self.add(Expression::GlobalVariable(memory.variable)),
            memory.count,
        )
    }

    pub(super) fn is_private(&self, root: Root) -> bool {
        self.memories
            .get(&root)
            .is_some_and(|memory| memory.is_private)
    }

    pub(super) fn is_constant(&self, root: Root) -> bool {
        match &self.facts.roots[root.0].0 {
            RootKey::Global(name) => self.program.globals.iter().any(|global| {
                global.name == *name && (global.space == Space::Constant || global.ty.is_const)
            }),
            _ => false,
        }
    }

    /// Writes the bytes of an initialiser.
    pub(super) fn image(
        &mut self,
        ty: &Ty,
        init: &crate::ast::Expr,
        image: &mut [u8],
        offset: u32,
    ) -> Outcome<()> {
        use crate::ast::ExprKind;
        if let ExprKind::Text(text) = &init.kind {
            let parts = super::names::characters(text, init.at);
            return self.image(ty, &parts, image, offset);
        }
        self.enter(init.at)?;
        match (ty, &init.kind) {
            (Ty::Array(element, count), ExprKind::List(parts)) => {
                if parts.len() > *count as usize {
                    return fault(
                        init.at,
                        format!(
                            "{} values initialise {}; remove some",
                            parts.len(),
                            ty.name()
                        ),
                    );
                }
                for (i, part) in parts.iter().enumerate() {
                    self.image(element, part, image, offset + i as u32 * element.size())?;
                }
            }
            (Ty::Struct(structure), ExprKind::List(parts)) => {
                for (field, part) in structure.fields.iter().zip(parts) {
                    self.image(&field.ty, part, image, offset + field.offset)?;
                }
            }
            (Ty::Vector(prim, lanes), ExprKind::List(parts)) => {
                for (i, part) in parts.iter().take(*lanes as usize).enumerate() {
                    self.image(
                        &Ty::Prim(*prim),
                        part,
                        image,
                        offset + prim.size() * i as u32,
                    )?;
                }
            }
            (_, ExprKind::List(parts)) if parts.len() == 1 => {
                self.image(ty, &parts[0], image, offset)?
            }
            (Ty::Prim(prim), _) => {
                let value = self.expr(init)?;
                let value = self.convert(value, ty, init.at)?;
                let known = value
                    .first()
                    .and_then(|leaf| self.literal_of(leaf).or_else(|| self.hidden_literal(leaf)));
                let bits = match known {
                    Some(Literal::F32(value)) => value.to_bits().into(),
                    Some(Literal::F16(value)) => value.to_bits().into(),
                    Some(Literal::I32(value)) => (value as u32).into(),
                    Some(Literal::U32(value)) => value.into(),
                    Some(Literal::I64(value)) => value as u64,
                    Some(Literal::U64(value)) => value,
                    Some(Literal::Bool(value)) => value.into(),
                    _ => {
                        return fault(
                            init.at,
                            "the initialiser is not a constant; use literals and constants",
                        );
                    }
                };
                let size = prim.size() as usize;
                let start = offset as usize;
                if let Some(target) = image.get_mut(start..start + size) {
                    target.copy_from_slice(&bits.to_le_bytes()[..size]);
                }
            }
            _ => {
                return fault(
                    init.at,
                    format!(
                        "the initialiser of {} is not a list of constants",
                        ty.name()
                    ),
                );
            }
        }
        self.leave();
        Ok(())
    }
}

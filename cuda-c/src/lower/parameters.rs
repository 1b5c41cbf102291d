//! Parameters of kernels: buffers, and the uniform of the others.

use super::Lowering;
use super::facts::RootKey;
use super::level::Level;
use super::value::{Data, Value};
use crate::ast::{Function, Variable};
use crate::error::{Outcome, fault};
use crate::types::{Prim, Ty};
use crate::{CudaParam, CudaParamKind, ScalarKind};
use naga::{
    AddressSpace, Expression, GlobalVariable, ResourceBinding, Span, StructMember, Type, TypeInner,
};
use std::rc::Rc;

/// Returns the words of a value parameter; a structure's must be in the order of its layout, without gaps.
fn words_of(ty: &Ty) -> Option<Vec<Prim>> {
    if let Ty::Prim(prim) = ty {
        return Some(vec![*prim]);
    }
    let mut words = Vec::new();
    for leaf in ty.leaves() {
        if leaf.prim.size() != 4 {
            return None;
        }
        let count = (leaf.lanes * leaf.count.unwrap_or(1)) as usize;
        if words.len() + count > 1024 {
            return None;
        }
        words.extend(std::iter::repeat_n(leaf.prim, count));
    }
    let has_nested_arrays = matches!(ty, Ty::Struct(structure) if structure.fields.iter().any(|field| {
        matches!(field.ty.element(), Ty::Struct(_)) && matches!(field.ty, Ty::Array(..))
    }));
    (words.len() as u32 * 4 == ty.size() && !has_nested_arrays).then_some(words)
}

impl Lowering<'_> {
    /// Declares the bindings; returns the parameters for the caller and those for the body.
    #[expect(clippy::type_complexity, reason = "three views of the parameters")]
    pub(super) fn parameters(
        &mut self,
        function: &Rc<Function>,
    ) -> Outcome<(
        Vec<CudaParam>,
        Option<(u32, u32)>,
        Vec<(Variable, Ty, Value)>,
    )> {
        let mut params = Vec::new();
        let mut bindings = Vec::new();
        let mut scalars: Vec<(usize, Variable, Ty, u32)> = Vec::new();
        let mut n_words = 0u32;
        let mut binding = 0;
        for (index, parameter) in function.parameters.iter().enumerate() {
            let at = parameter.at;
            let ty = self.resolve(&parameter.ty)?;
            let mut ty = self.array_of(ty, &parameter.lengths, at)?;
            if let Ty::Array(element, _) = &ty {
                ty = Ty::Pointer(element.clone());
            }
            if parameter.ty.reference {
                return fault(
                    at,
                    "parameters of kernels are not references; use a value or a pointer",
                );
            }
            let name = if parameter.name.is_empty() {
                format!("parameter_{index}")
            } else {
                parameter.name.to_string()
            };
            if let Ty::Pointer(element) = &ty {
                if matches!(element.element(), Ty::Pointer(_)) {
                    return fault(
                        at,
                        "pointers to pointers are not supported; pass one buffer and offsets",
                    );
                }
                let root = self.facts.root(RootKey::Parameter(index));
                self.declare_buffer(root, &name, binding);
                let writable = self.facts.of(root).is_written || self.facts.of(root).is_atomic;
                let kind = CudaParamKind::Buffer {
                    binding,
                    writable,
                    element_bytes: element.size(),
                };
                params.push(CudaParam { name, kind });
                let pointer = self.memory_start(root, element);
                bindings.push((
                    parameter.clone(),
                    ty.clone(),
                    Value {
                        ty,
                        data: Data::Pointer(pointer),
                        level: Level::UNIFORM,
                    },
                ));
                binding += 1;
                continue;
            }
            let words = words_of(&ty).ok_or_else(|| crate::error::Fault {
                at,
                message: format!("{} is not passed by value: its members must be int, unsigned int or float; pass a buffer", ty.name()),
            })?;
            let offset = 4 * n_words;
            let kind = match ty.prim() {
                Some(Prim::Float | Prim::Half) => CudaParamKind::Scalar {
                    offset,
                    kind: ScalarKind::F32,
                },
                Some(prim) if prim.is_signed() => CudaParamKind::Scalar {
                    offset,
                    kind: ScalarKind::I32,
                },
                Some(_) => CudaParamKind::Scalar {
                    offset,
                    kind: ScalarKind::U32,
                },
                None => CudaParamKind::Struct {
                    offset,
                    n_bytes: 4 * words.len() as u32,
                },
            };
            params.push(CudaParam { name, kind });
            n_words += words.len() as u32;
            scalars.push((bindings.len(), parameter.clone(), ty.clone(), offset / 4));
            bindings.push((
                parameter.clone(),
                ty.clone(),
                Value {
                    ty,
                    data: Data::Null,
                    level: Level::UNIFORM,
                },
            ));
        }
        for (root, name) in self.facts.extra_buffers.clone() {
            self.declare_buffer(root, &name, binding);
            let writable = self.facts.of(root).is_written || self.facts.of(root).is_atomic;
            let kind = CudaParamKind::Buffer {
                binding,
                writable,
                element_bytes: 4,
            };
            params.push(CudaParam {
                name: name.to_string(),
                kind,
            });
            binding += 1;
        }
        let uniform = (n_words > 0).then_some((binding, 4 * n_words));
        if n_words > 0 {
            self.uniform(binding, &scalars, &mut bindings)?;
        }
        Ok((params, uniform, bindings))
    }

    /// Declares the uniform of the scalar parameters and loads them.
    pub(super) fn uniform(
        &mut self,
        binding: u32,
        scalars: &[(usize, Variable, Ty, u32)],
        bindings: &mut [(Variable, Ty, Value)],
    ) -> Outcome<()> {
        let mut members = Vec::new();
        for (_, parameter, ty, first) in scalars {
            let words = words_of(ty).unwrap_or_default();
            for (n, prim) in words.iter().enumerate() {
                let ty = match prim {
                    Prim::Bool => self.scalar_ty(Prim::UInt),
                    Prim::Half => self.scalar_ty(Prim::Float),
                    prim => self.scalar_ty(*prim),
                };
                let name = if words.len() == 1 {
                    parameter.name.to_string()
                } else {
                    format!("{}_{n}_", parameter.name)
                };
                members.push(StructMember {
                    name: Some(name),
                    ty,
                    binding: None,
                    offset: 4 * (first + n as u32),
                });
            }
        }
        let span = 4 * members.len() as u32;
        let inner = TypeInner::Struct { members, span };
        let ty = self.module.types.insert(
            Type {
                name: Some("Parameters".to_owned()),
                inner,
            },
            Span::UNDEFINED,
        );
        let variable = self.module.global_variables.append(
            GlobalVariable {
                name: Some("parameters".to_owned()),
                space: AddressSpace::Uniform,
                binding: Some(ResourceBinding { group: 0, binding }),
                ty,
                init: None,
                memory_decorations: naga::MemoryDecorations::empty(),
            },
            Span::UNDEFINED,
        );
        for (index, _, ty, first) in scalars {
            let mut words = Vec::new();
            for (n, prim) in words_of(ty).unwrap_or_default().into_iter().enumerate() {
                let base = self.add(Expression::GlobalVariable(variable));
                let pointer = self.add(Expression::AccessIndex {
                    base,
                    index: first + n as u32,
                });
                let word = self.load_pointer(pointer);
                words.push(match prim {
                    Prim::Bool => self.convert_prim(word, Prim::UInt, Prim::Bool),
                    Prim::Half => self.convert_prim(word, Prim::Float, Prim::Half),
                    Prim::Char | Prim::Short => self.convert_prim(word, Prim::Int, prim),
                    Prim::UChar | Prim::UShort => self.convert_prim(word, Prim::UInt, prim),
                    _ => word,
                });
            }
            let mut leaves = Vec::new();
            let mut rest = words.into_iter();
            for leaf in ty.leaves() {
                let parts: Vec<_> = rest
                    .by_ref()
                    .take((leaf.lanes * leaf.count.unwrap_or(1)) as usize)
                    .collect();
                leaves.push(match (leaf.count, leaf.lanes) {
                    (None, 1) => parts[0],
                    (None, _) => self.compose(leaf.prim, &parts),
                    (Some(_), lanes) => {
                        let mut elements = Vec::new();
                        for group in parts.chunks(lanes as usize) {
                            elements.push(if lanes == 1 {
                                group[0]
                            } else {
                                self.compose(leaf.prim, group)
                            });
                        }
                        let ty = self.leaf_ty(leaf);
                        self.add(Expression::Compose {
                            ty,
                            components: elements,
                        })
                    }
                });
            }
            if let Some((_, _, value)) = bindings.get_mut(*index) {
                value.data = Data::Leaves(leaves);
            }
        }
        Ok(())
    }
}

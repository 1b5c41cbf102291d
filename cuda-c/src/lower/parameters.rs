//! Parameters of kernels: buffers, and the uniform of the others.

use super::Lowering;
use super::facts::RootKey;
use super::level::Level;
use super::state::H;
use super::value::{Data, Value};
use crate::ast::{Function, Variable};
use crate::error::{Outcome, fault};
use crate::types::{Prim, Ty};
use crate::{CudaParam, CudaParamKind, ScalarKind};
use naga::{
    AddressSpace, Expression, GlobalVariable, ResourceBinding, Span, StructMember, Type, TypeInner,
};
use std::rc::Rc;

/// Maximum numbers of a value parameter.
const MAX_NUMBERS: usize = 1024;

/// A number of a value parameter, with its byte offset there.
type Number = (u32, Prim);

/// A value parameter in the uniform.
struct Scalar {
    /// Its index among the bindings.
    index: usize,
    name: Rc<str>,
    ty: Ty,
    /// Its byte offset in the uniform.
    start: u32,
    numbers: Vec<Number>,
}

/// Appends the numbers of a type at an offset; false if they are not in the order of its leaves, or narrower than 32 bits.
fn collect_numbers(ty: &Ty, offset: u32, numbers: &mut Vec<Number>) -> bool {
    if numbers.len() > MAX_NUMBERS {
        return false;
    }
    match ty {
        Ty::Prim(prim) => {
            numbers.push((offset, *prim));
            prim.size() >= 4
        }
        Ty::Vector(prim, lanes) => {
            numbers.extend((0..*lanes).map(|lane| (offset + prim.size() * lane, *prim)));
            prim.size() >= 4
        }
        Ty::Struct(structure) => structure
            .parts()
            .iter()
            .all(|field| collect_numbers(&field.ty, offset + field.offset, numbers)),
        Ty::Array(element, count) => {
            let is_ordered = !matches!(element.element(), Ty::Struct(_));
            let size = element.size();
            is_ordered && (0..*count).all(|i| collect_numbers(element, offset + size * i, numbers))
        }
        Ty::Void | Ty::Pointer(_) => false,
    }
}

/// Returns the numbers of a value parameter.
fn numbers_of(ty: &Ty) -> Option<Vec<Number>> {
    if let Ty::Prim(prim) = ty {
        return Some(vec![(0, *prim)]);
    }
    let mut numbers = Vec::new();
    let fits = collect_numbers(ty, 0, &mut numbers) && numbers.len() <= MAX_NUMBERS;
    fits.then_some(numbers)
}

/// Returns true for a class without members, such as a function object.
fn is_empty(ty: &Ty) -> bool {
    matches!(ty, Ty::Struct(structure) if structure.fields.iter().all(|field| field.name.is_empty()))
}

fn alignment(numbers: &[Number]) -> u32 {
    let sizes = numbers.iter().map(|(_, prim)| prim.size());
    sizes.fold(4, u32::max)
}

/// The type that a number has in the uniform.
fn in_uniform(prim: Prim) -> Prim {
    match prim {
        Prim::Half => Prim::Float,
        _ if prim.size() >= 4 => prim,
        _ if prim.is_signed() => Prim::Int,
        _ => Prim::UInt,
    }
}

/// Returns the kind of a scalar in the uniform.
fn scalar_kind(prim: Prim) -> ScalarKind {
    match prim {
        Prim::Float | Prim::Half => ScalarKind::F32,
        Prim::Long => ScalarKind::I64,
        Prim::ULong => ScalarKind::U64,
        prim if prim.is_signed() => ScalarKind::I32,
        _ => ScalarKind::U32,
    }
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
        let mut scalars: Vec<Scalar> = Vec::new();
        let (mut n_bytes, mut align) = (0u32, 4);
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
            if is_empty(&ty) {
                let kind = CudaParamKind::Struct {
                    offset: n_bytes,
                    n_bytes: 0,
                };
                params.push(CudaParam { name, kind });
                let value = self.zero_value(&ty, at)?;
                bindings.push((parameter.clone(), ty, value));
                continue;
            }
            let numbers = numbers_of(&ty).ok_or_else(|| crate::error::Fault {
                at,
                message: format!("{} is not passed by value: its members must be numbers of 32 or 64 bits; pass a buffer", ty.name()),
            })?;
            let (offset, size) = (
                n_bytes.next_multiple_of(alignment(&numbers)),
                ty.size().max(4),
            );
            let kind = match ty.prim() {
                Some(prim) => CudaParamKind::Scalar {
                    offset,
                    kind: scalar_kind(prim),
                },
                None => CudaParamKind::Struct {
                    offset,
                    n_bytes: size,
                },
            };
            params.push(CudaParam { name, kind });
            n_bytes = offset + size;
            align = align.max(alignment(&numbers));
            scalars.push(Scalar {
                index: bindings.len(),
                name: parameter.name.clone(),
                ty: ty.clone(),
                start: offset,
                numbers,
            });
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
        let span = n_bytes.next_multiple_of(align);
        if span > 0 {
            self.uniform(binding, span, &scalars, &mut bindings);
        }
        Ok((params, (span > 0).then_some((binding, span)), bindings))
    }

    /// Declares the uniform of the value parameters and loads them.
    fn uniform(
        &mut self,
        binding: u32,
        span: u32,
        scalars: &[Scalar],
        bindings: &mut [(Variable, Ty, Value)],
    ) {
        let members = self.uniform_members(span, scalars);
        let offsets: Vec<u32> = members.iter().map(|member| member.offset).collect();
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
        for scalar in scalars {
            let mut values = Vec::new();
            for &(at, prim) in &scalar.numbers {
                let base = self.add(Expression::GlobalVariable(variable));
                let member = offsets
                    .binary_search(&(scalar.start + at))
                    .unwrap_or_default();
                let pointer = self.add(Expression::AccessIndex {
                    base,
                    index: member as u32,
                });
                let value = self.load_pointer(pointer);
                values.push(self.convert_prim(value, in_uniform(prim), prim));
            }
            let leaves = self.leaves_of_numbers(&scalar.ty, values);
            if let Some((_, _, value)) = bindings.get_mut(scalar.index) {
                value.data = Data::Leaves(leaves);
            }
        }
    }

    /// Returns the members of the uniform: the numbers, and words where the layout of CUDA has gaps.
    fn uniform_members(&mut self, span: u32, scalars: &[Scalar]) -> Vec<StructMember> {
        let mut members = Vec::new();
        let mut end = 0;
        let word = self.scalar_ty(Prim::UInt);
        let gap = |from: u32, to: u32| {
            (from..to).step_by(4).map(move |offset| StructMember {
                name: Some("padding".to_owned()),
                ty: word,
                binding: None,
                offset,
            })
        };
        for Scalar {
            name,
            start,
            numbers,
            ..
        } in scalars
        {
            for (n, (at, prim)) in numbers.iter().enumerate() {
                members.extend(gap(end, start + at));
                let prim = in_uniform(*prim);
                let name = match numbers.len() {
                    1 => name.to_string(),
                    _ => format!("{name}_{n}_"),
                };
                members.push(StructMember {
                    name: Some(name),
                    ty: self.scalar_ty(prim),
                    binding: None,
                    offset: start + at,
                });
                end = start + at + prim.size();
            }
        }
        // The end of a structure of 64-bit integers is aligned as they are.
        members.extend(gap(end, span));
        members
    }

    /// Puts the numbers of a type together.
    fn leaves_of_numbers(&mut self, ty: &Ty, numbers: Vec<H>) -> Vec<H> {
        let mut leaves = Vec::new();
        let mut rest = numbers.into_iter();
        for leaf in ty.leaves() {
            let count = (leaf.lanes * leaf.count.unwrap_or(1)) as usize;
            let parts: Vec<H> = rest.by_ref().take(count).collect();
            leaves.push(match (leaf.count, leaf.lanes) {
                (None, 1) => parts[0],
                (None, _) => self.compose(leaf.prim, &parts),
                (Some(_), lanes) => {
                    let mut components = Vec::new();
                    for group in parts.chunks(lanes as usize) {
                        components.push(match group {
                            [only] => *only,
                            _ => self.compose(leaf.prim, group),
                        });
                    }
                    let ty = self.leaf_ty(leaf);
                    self.add(Expression::Compose { ty, components })
                }
            });
        }
        leaves
    }
}

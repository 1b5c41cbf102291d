//! Lowers bindings to parameters, and the lengths of buffers.

use std::collections::HashMap;

use naga::proc::TypeResolution;
use naga::valid::GlobalUse;
use naga::{AddressSpace, GlobalVariable, Handle, StorageAccess, TypeInner};

use super::Lowering;
use super::place::{At, InMemory, Place};
use super::source::Source;
use crate::build::{Address, Comparison, Operand, PtxType, Register, Space};
use crate::{Bounds, Error, PtxParam, PtxParamKind, Result, Rounding};

/// Parameter bytes that every device accepts.
const MAX_PARAM_BYTES: u32 = 4096;

/// Places of the module-scope variables.
#[derive(Default)]
pub(super) struct Globals {
    pub(super) places: HashMap<Handle<GlobalVariable>, Place>,
    buffers: Vec<Buffer>,
}

/// A storage buffer that the kernel uses.
struct Buffer {
    n_bytes: Register,
    /// Offset of its runtime-sized array.
    array_at: u32,
    counted: Option<Counted>,
}

/// Element count of a runtime-sized array, computed once at the start of the kernel.
#[derive(Clone, Copy)]
pub(super) struct Counted {
    count: Register,
    /// Index of the last element; 0 if there is none.
    pub(super) last: Register,
    /// Predicate: the array has an element.
    pub(super) exists: Register,
}

impl Lowering<'_> {
    /// Declares the parameters, and assigns places to the bindings that the entry point uses.
    pub(super) fn lower_bindings(&mut self, source: &Source) -> Result<Vec<PtxParam>> {
        let mut written: Vec<&GlobalVariable> = Vec::new();
        for (handle, variable) in source.written.global_variables.iter() {
            let is_buffer = matches!(
                variable.space,
                AddressSpace::Storage { .. } | AddressSpace::Uniform
            );
            let ty = &source.written.types[variable.ty].inner;
            if variable.binding.is_some()
                && is_buffer
                && !matches!(ty, TypeInner::BindingArray { .. })
            {
                self.span = source.written.global_variables.get_span(handle);
                written.push(variable);
            }
        }
        written.sort_by_key(|variable| key(variable));
        let mut params = Vec::new();
        for variable in written {
            if params
                .last()
                .is_some_and(|last: &PtxParam| Some((last.group, last.binding)) == key(variable))
            {
                // Two variables may share a binding, of which an entry point uses at most one.
                self.check_unused_twin(source, variable)?;
                continue;
            }
            params.push(self.lower_binding(source, variable)?);
        }
        self.check_param_bytes(&params)?;
        Ok(params)
    }

    /// Returns the variable of the reduced module with the binding of `written`, if the entry point uses it.
    fn used(
        &self,
        source: &Source,
        written: &GlobalVariable,
    ) -> Option<(Handle<GlobalVariable>, GlobalUse)> {
        let info = source.entry_info();
        let found = self.module.global_variables.iter();
        found
            .filter(|(_, variable)| variable.binding == written.binding)
            .map(|(handle, _)| (handle, info[handle]))
            .find(|(_, uses)| !uses.is_empty())
    }

    fn lower_binding(&mut self, source: &Source, written: &GlobalVariable) -> Result<PtxParam> {
        let (group, binding) = key(written).unwrap_or_default();
        let used = self.used(source, written);
        let variable = used.map_or(written, |(handle, _)| &self.module.global_variables[handle]);
        let types = if used.is_some() {
            &self.module.types
        } else {
            &source.written.types
        };
        let context = if used.is_some() {
            self.context()
        } else {
            source.written.to_ctx()
        };
        let size = types[variable.ty].inner.try_size(context);
        let min_bytes = size.ok_or_else(|| self.error("a type is too large"))?;
        let name = format!("binding_{group}_{binding}");
        let kind = if let AddressSpace::Storage { access } = variable.space {
            let writable = access.contains(StorageAccess::STORE);
            let address = self.kernel.param(PtxType::U64, &name);
            let n_bytes = self.kernel.param(PtxType::U64, &format!("{name}_bytes"));
            if let Some((handle, uses)) = used {
                self.lower_buffer(handle, uses, address, n_bytes, writable)?;
            }
            PtxParamKind::Storage { writable }
        } else {
            let Some(n_bytes) = min_bytes.checked_next_multiple_of(16) else {
                return Err(self.too_many_param_bytes(min_bytes.into()));
            };
            let symbol = self.kernel.param_bytes(n_bytes, &name);
            if let Some((handle, _)) = used {
                self.check_shared(variable.ty)?;
                let ty = TypeResolution::Handle(variable.ty);
                let place = Place::in_memory(ty, Address::from(&symbol), 16);
                self.globals.places.insert(handle, place);
            }
            PtxParamKind::Uniform { n_bytes }
        };
        Ok(PtxParam {
            group,
            binding,
            kind,
            min_bytes,
        })
    }

    fn lower_buffer(
        &mut self,
        handle: Handle<GlobalVariable>,
        uses: GlobalUse,
        address: Register,
        n_bytes: Register,
        writable: bool,
    ) -> Result<()> {
        let variable = &self.module.global_variables[handle];
        self.check_shared(variable.ty)?;
        let ty = TypeResolution::Handle(variable.ty);
        let base = self.kernel.to_global(address);
        let unsized_array = self.unsized_array(&ty).ok();
        let needs_count = self.options.bounds == Bounds::Clamp || uses.contains(GlobalUse::QUERY);
        let counted = match unsized_array {
            Some((at, stride)) if needs_count => Some(self.count(n_bytes, at, stride)),
            _ => None,
        };
        self.globals.buffers.push(Buffer {
            n_bytes,
            array_at: unsized_array.map_or(0, |(at, _)| at),
            counted,
        });
        let space = if writable {
            Space::Global
        } else {
            Space::GlobalReadOnly
        };
        let place = Place {
            ty,
            at: At::Memory(InMemory {
                address: Address::new(space, base),
                align: 16,
                buffer: Some(self.globals.buffers.len() - 1),
                exists: None,
            }),
        };
        self.globals.places.insert(handle, place);
        Ok(())
    }

    /// Returns offset and stride of the runtime-sized array that a buffer's type is or ends with.
    pub(super) fn unsized_array(&self, ty: &TypeResolution) -> Result<(u32, u32)> {
        if let TypeInner::Struct { members, .. } = self.inner(ty)
            && let Some(last) = members.last()
        {
            let (at, stride) = self.unsized_array(&TypeResolution::Handle(last.ty))?;
            return Ok((last.offset + at, stride));
        }
        if matches!(self.inner(ty), TypeInner::Array { .. }) {
            let elements = self.elements(ty)?;
            if elements.count.is_none() {
                return Ok((0, elements.stride));
            }
        }
        Err(self.error("a buffer without an array of run-time size"))
    }

    /// Computes the element count of an array that starts at byte `at` of `n_bytes`.
    fn count(&mut self, n_bytes: Register, at: u32, stride: u32) -> Counted {
        let room = if at == 0 {
            n_bytes
        } else {
            let at = Operand::from(u64::from(at));
            let at_least = self.kernel.max(n_bytes, at);
            self.kernel.sub(at_least, at)
        };
        let whole = match stride {
            0 | 1 => room,
            stride if stride.is_power_of_two() => self.kernel.shr(room, stride.trailing_zeros()),
            stride => self.kernel.div(room, u64::from(stride)),
        };
        let fits = self.kernel.min(whole, u64::from(u32::MAX));
        let count = self.kernel.convert(PtxType::U32, Rounding::Zero, fits);
        let exists = self.kernel.compare(Comparison::Ne, count, 0u32);
        let at_least_one = self.kernel.max(count, 1u32);
        let last = self.kernel.sub(at_least_one, 1u32);
        Counted {
            count,
            last,
            exists,
        }
    }

    /// Returns the element count of a buffer's array, from the start of the kernel if it was computed there.
    pub(super) fn counted_elements(&mut self, buffer: usize, stride: u32) -> Counted {
        let Buffer {
            n_bytes,
            array_at,
            counted,
        } = self.globals.buffers[buffer];
        counted.unwrap_or_else(|| self.count(n_bytes, array_at, stride))
    }

    pub(super) fn count_elements(&mut self, buffer: usize, stride: u32) -> Register {
        self.counted_elements(buffer, stride).count
    }

    fn check_unused_twin(&self, source: &Source, variable: &GlobalVariable) -> Result<()> {
        let info = source.entry_info();
        let n_used = self
            .module
            .global_variables
            .iter()
            .filter(|(handle, other)| {
                other.binding == variable.binding && !info[*handle].is_empty()
            })
            .count();
        if n_used > 1 {
            return Err(self.error("two variables of one binding are used"));
        }
        Ok(())
    }

    fn check_param_bytes(&self, params: &[PtxParam]) -> Result<()> {
        let mut n_bytes = 0u64;
        for param in params {
            let own = match param.kind {
                PtxParamKind::Storage { .. } => 16,
                PtxParamKind::Uniform { n_bytes } => n_bytes,
            };
            n_bytes = n_bytes.next_multiple_of(16) + u64::from(own);
        }
        if n_bytes > u64::from(MAX_PARAM_BYTES) {
            return Err(self.too_many_param_bytes(n_bytes));
        }
        Ok(())
    }

    fn too_many_param_bytes(&self, n_bytes: u64) -> Error {
        self.error(format_args!(
            "{n_bytes} bytes of parameters; there is room for {MAX_PARAM_BYTES}: use storage buffers"
        ))
    }
}

fn key(variable: &GlobalVariable) -> Option<(u32, u32)> {
    variable.binding.map(|at| (at.group, at.binding))
}

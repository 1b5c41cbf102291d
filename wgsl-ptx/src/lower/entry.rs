//! The kernel as a whole: memory, code before the entry point's own, and the module around it.

use naga::proc::TypeResolution;
use naga::{AddressSpace, Binding, BuiltIn, FunctionArgument, GlobalVariable, Handle, TypeInner};

use super::Lowering;
use super::frame::Frame;
use super::place::Place;
use super::source::Source;
use super::value::{MAX_LEAVES, Value, table_name};
use crate::build::{Operand, PtxKernel, PtxModule, Special};
use crate::{CompiledPtx, PtxParam, Result};

/// Compute capability, times ten, from which on a kernel can wait for the one ahead of it.
const GRID_WAIT_SM: u32 = 90;

impl Lowering<'_> {
    pub(super) fn run(&mut self, source: &Source) -> Result<CompiledPtx> {
        let entry = source.entry_point();
        let info = source.entry_info();
        self.kernel.workgroup_size(self.workgroup_size);
        let n: u64 = self
            .workgroup_size
            .iter()
            .fold(1, |n, &size| n.saturating_mul(size.into()));
        if n > 1024 || n == 0 {
            return Err(self.error(format_args!(
                "a workgroup of {n} invocations; at most 1024 are possible"
            )));
        }
        if self.waits_by_itself() {
            self.kernel.wait_for_grid();
        }
        let params = self.lower_bindings(source)?;
        for (handle, variable) in self.module.global_variables.iter() {
            if info[handle].is_empty() {
                continue;
            }
            self.span = self.module.global_variables.get_span(handle);
            match variable.space {
                AddressSpace::WorkGroup => {}
                AddressSpace::Private => self.lower_private(handle, variable)?,
                AddressSpace::Storage { .. } | AddressSpace::Uniform
                    if self.globals.places.contains_key(&handle) => {}
                AddressSpace::Handle => {
                    return Err(self.unsupported("a texture, sampler or acceleration structure"));
                }
                other => return Err(self.unsupported(format_args!("a variable in {other:?}"))),
            }
        }
        let shared_bytes = self.lower_shared(source)?;
        let arguments = self.entry_arguments(&entry.function.arguments)?;
        let mut frame = Frame::new(None, &entry.function, info, arguments, self.kernel.label());
        self.function_body(&mut frame)?;
        self.kernel.ret();
        self.assemble(params, shared_bytes)
    }

    fn assemble(&mut self, params: Vec<PtxParam>, shared_bytes: u32) -> Result<CompiledPtx> {
        let mut module = PtxModule::new(self.options.sm);
        for (i, table) in self.tables.iter().enumerate() {
            module.table(&table_name(i), table);
        }
        let kernel = std::mem::replace(&mut self.kernel, PtxKernel::new("done"));
        let entry = kernel.name().to_owned();
        module.kernel(kernel);
        Ok(CompiledPtx {
            text: module.emit()?,
            entry,
            workgroup_size: self.workgroup_size,
            shared_bytes,
            params,
            waits_by_itself: self.waits_by_itself(),
        })
    }

    const fn waits_by_itself(&self) -> bool {
        self.options.waits_by_itself && self.options.sm >= GRID_WAIT_SM
    }

    fn lower_private(
        &mut self,
        handle: Handle<GlobalVariable>,
        variable: &GlobalVariable,
    ) -> Result<()> {
        let ty = TypeResolution::Handle(variable.ty);
        let in_memory = self.in_memory.globals.contains(&handle);
        let place = self.variable_place(&ty, in_memory)?;
        let value = match variable.init {
            Some(init) => self.global_expression(init)?,
            None => self.zero(&ty)?,
        };
        self.store(&place, value)?;
        self.globals.places.insert(handle, place);
        Ok(())
    }

    /// Declares a variable of an invocation.
    pub(super) fn variable_place(&mut self, ty: &TypeResolution, in_memory: bool) -> Result<Place> {
        if in_memory || self.n_leaves(ty)? > MAX_LEAVES {
            self.local_place(ty)
        } else {
            self.register_place(ty)
        }
    }

    fn entry_arguments(&mut self, arguments: &[FunctionArgument]) -> Result<Vec<Value>> {
        let mut values = Vec::new();
        for argument in arguments {
            let mut leaves = Vec::new();
            if let Some(binding) = &argument.binding {
                self.add_built_in(binding, &mut leaves)?;
            } else if let TypeInner::Struct { members, .. } = &self.module.types[argument.ty].inner
            {
                for member in members {
                    let binding = member.binding.as_ref();
                    let binding = binding
                        .ok_or_else(|| self.error("an argument without a built-in value"))?;
                    self.add_built_in(binding, &mut leaves)?;
                }
            }
            values.push(Value::Leaves(leaves));
        }
        Ok(values)
    }

    fn add_built_in(&mut self, binding: &Binding, leaves: &mut Vec<Operand>) -> Result<()> {
        let Binding::BuiltIn(built_in) = *binding else {
            return Err(self.unsupported("a @location"));
        };
        let n_warps = self.n_invocations().div_ceil(32);
        match built_in {
            BuiltIn::GlobalInvocationId => {
                for axis in 0..3 {
                    let size = self.workgroup_size[usize::from(axis)];
                    let workgroup = self.kernel.special(Special::Workgroup(axis));
                    let thread = self.thread(axis);
                    let first = self.product(workgroup.into(), size.into());
                    leaves.push(self.sum(first, thread));
                }
            }
            BuiltIn::LocalInvocationId => leaves.extend([0, 1, 2].map(|axis| self.thread(axis))),
            BuiltIn::LocalInvocationIndex => leaves.push(self.local_index()),
            BuiltIn::WorkGroupId => {
                leaves.extend(
                    [0, 1, 2]
                        .map(|axis| Operand::from(self.kernel.special(Special::Workgroup(axis)))),
                );
            }
            BuiltIn::WorkGroupSize => leaves.extend(self.workgroup_size.map(Operand::from)),
            BuiltIn::NumWorkGroups => {
                leaves.extend(
                    [0, 1, 2].map(|axis| {
                        Operand::from(self.kernel.special(Special::NumWorkgroups(axis)))
                    }),
                );
            }
            BuiltIn::NumSubgroups => leaves.push(n_warps.into()),
            BuiltIn::SubgroupSize => leaves.push(32u32.into()),
            BuiltIn::SubgroupId => {
                let index = self.local_index();
                leaves.push(self.shifted_right(index, 5u32.into()));
            }
            BuiltIn::SubgroupInvocationId => leaves.push(self.kernel.special(Special::Lane).into()),
            other => return Err(self.unsupported(format_args!("the built-in value {other:?}"))),
        }
        Ok(())
    }

    fn thread(&mut self, axis: u8) -> Operand {
        if self.workgroup_size[usize::from(axis)] == 1 {
            return 0u32.into();
        }
        self.kernel.special(Special::Thread(axis)).into()
    }

    /// Returns the index of the invocation in its workgroup.
    pub(super) fn local_index(&mut self) -> Operand {
        let [x, y, _] = self.workgroup_size;
        let thread = [0, 1, 2].map(|axis| self.thread(axis));
        let planes = self.product(thread[2], y.into());
        let rows = self.sum(planes, thread[1]);
        let before = self.product(rows, x.into());
        self.sum(before, thread[0])
    }
}

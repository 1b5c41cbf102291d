//! Workgroup memory: one block for all variables, cleared at the start.

use naga::AddressSpace;
use naga::proc::TypeResolution;

use super::Lowering;
use super::place::Place;
use super::source::Source;
use super::warpgroup::BLOCK_ALIGN;
use crate::build::{Address, Comparison, Operand, Ordering, PtxType, Shuffle, Space};
use crate::{Result, STATIC_SHARED_BYTES};

/// The most shared memory of a workgroup on any device.
const MAX_SHARED_BYTES: u32 = 227 << 10;
/// Most straight-line stores that clear it; more of them become a loop.
const MAX_STORES: u32 = 16;
/// From this architecture on a workgroup may belong to a cluster, and the address of its memory depends on its rank there.
const CLUSTER_SM: u32 = 90;

impl Lowering<'_> {
    /// Assigns places to the variables that the entry point uses, and clears them. Returns their total size in bytes.
    pub(super) fn lower_shared(&mut self, source: &Source) -> Result<u32> {
        let info = source.entry_info();
        let entry = &source.entry_point().function;
        let mut n_bytes = 0u64;
        let mut variables = Vec::new();
        for (handle, variable) in self.module.global_variables.iter() {
            if variable.space == AddressSpace::WorkGroup
                && !info[handle].is_empty()
                && self.needs_memory(entry, handle)
            {
                self.span = self.module.global_variables.get_span(handle);
                self.check_shared(variable.ty)?;
                let ty = TypeResolution::Handle(variable.ty);
                let at = n_bytes.next_multiple_of(self.shared_align().into());
                // Whole words, since it is cleared by words. No sum of 1024 sizes overflows.
                n_bytes = at + u64::from(self.size(&ty)?).next_multiple_of(4);
                variables.push((handle, ty, at));
            }
        }
        if n_bytes > u64::from(MAX_SHARED_BYTES) {
            return Err(self.error(format_args!(
                "{n_bytes} bytes of workgroup memory; there is room for {MAX_SHARED_BYTES}"
            )));
        }
        let n_bytes = n_bytes as u32;
        if n_bytes > 0 {
            let start = self.shared_start(n_bytes);
            for (handle, ty, at) in variables {
                let place = Place::in_memory(ty, start.plus(at as i64), 16);
                self.globals.places.insert(handle, place);
            }
            if self.options.clear_workgroup {
                self.clear_shared(&start, n_bytes);
            }
        }
        Ok(n_bytes)
    }

    /// Returns the alignment of variables in workgroup memory.
    const fn shared_align(&self) -> u32 {
        if self.has_group_products {
            BLOCK_ALIGN
        } else {
            16
        }
    }

    /// Returns the start of workgroup memory. The assembler rematerialises a start that depends on the cluster at every access
    /// (a twentieth of the time of `lz4_parse`); it cannot rematerialise the result of a shuffle, and keeps it in a register.
    fn shared_start(&mut self, n_bytes: u32) -> Address {
        let align = self.shared_align();
        let symbol = if n_bytes > STATIC_SHARED_BYTES {
            self.kernel.shared_by_launch("workgroup", n_bytes, align)
        } else {
            self.kernel.shared("workgroup", n_bytes, align)
        };
        let symbol = Address::from(&symbol);
        if self.options.sm < CLUSTER_SM {
            return symbol;
        }
        let start = self.kernel.address_of(&symbol);
        let mask = self.warp_mask();
        Address::new(
            Space::Shared,
            self.kernel.shuffle(Shuffle::Index, start, 0u32, mask),
        )
    }

    /// Clears workgroup memory by all invocations, and synchronises them.
    fn clear_shared(&mut self, start: &Address, n_bytes: u32) {
        let n = self.n_invocations();
        let unit = if n_bytes.is_multiple_of(16) && n_bytes >= 16 * n {
            16
        } else {
            4
        };
        let n_units = n_bytes / unit;
        let index = self.local_index();
        let own = self.kernel.indexed(start, index, unit);
        let n_stores = (n_units / n).min(MAX_STORES);
        for i in 0..n_stores {
            self.clear_unit(&own.plus(i64::from(i * n * unit)), unit);
        }
        if n_stores * n < n_units {
            self.clear_rest(start, index, unit, n_stores * n..n_units);
        }
        self.workgroup_barrier();
    }

    fn clear_rest(
        &mut self,
        start: &Address,
        index: Operand,
        unit: u32,
        units: std::ops::Range<u32>,
    ) {
        let first = self.sum(index, units.start.into());
        let at = self.kernel.copy(first);
        let (begin, end) = (self.kernel.label(), self.kernel.label());
        self.kernel.place(begin);
        let inside = self.kernel.compare(Comparison::Lt, at, units.end);
        self.kernel.branch_if(inside, false, end);
        let own = self.kernel.indexed(start, at, unit);
        self.clear_unit(&own, unit);
        let n = self.n_invocations();
        if units.len() as u32 > n {
            let next = self.kernel.add(at, n);
            self.kernel.assign(at, next);
            self.kernel.branch(begin);
        }
        self.kernel.land(end);
    }

    fn clear_unit(&mut self, address: &Address, unit: u32) {
        if unit == 16 {
            let zeros = [Operand::from(0u32); 4];
            self.kernel.store_vector(PtxType::U32, address, &zeros);
        } else {
            self.kernel
                .store(PtxType::U32, Ordering::Weak, address, 0u32);
        }
    }
}

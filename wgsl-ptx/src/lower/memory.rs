//! Loads and stores.

use naga::proc::TypeResolution;

use super::Lowering;
use super::layout::Leaf;
use super::place::{At, Choice, InMemory, Place, alignment};
use super::value::{MAX_LEAVES, Value};
use crate::Result;
use crate::build::{Comparison, Operand, Ordering, PtxType, Register};

impl Lowering<'_> {
    /// Loads the value at a place.
    pub(super) fn load(&mut self, place: &Place) -> Result<Value> {
        if self.n_leaves(&place.ty)? > MAX_LEAVES {
            let copy = self.local_place(&place.ty)?;
            self.copy_memory(place, &copy)?;
            return Ok(Value::Stored(copy));
        }
        Ok(Value::Leaves(self.load_leaves(place)?))
    }

    pub(super) fn load_leaves(&mut self, place: &Place) -> Result<Vec<Operand>> {
        let leaves = self.leaves(&place.ty)?;
        match &place.at {
            At::Memory(memory) => self.load_memory(memory, &leaves),
            At::Registers {
                variable,
                leaf,
                choices,
            } => (0..leaves.len())
                .map(|i| self.load_choice(*variable, leaf + i, choices))
                .collect(),
        }
    }

    /// Returns a leaf of a variable, selected by the indices of `choices`. A copy, since the variable may change.
    fn load_choice(&mut self, variable: usize, leaf: usize, choices: &[Choice]) -> Result<Operand> {
        let Some((choice, rest)) = choices.split_first() else {
            if let Some(known) = self.variables[variable].known {
                return Ok(known);
            }
            let register = self.registers_of(variable, leaf, 1)?[0];
            return Ok(self.kernel.copy(register).into());
        };
        let last = choice.count.saturating_sub(1);
        let mut found = self.load_choice(variable, leaf + last as usize * choice.stride, rest)?;
        for i in (0..last).rev() {
            let value = self.load_choice(variable, leaf + i as usize * choice.stride, rest)?;
            let here = self.is_index(choice.index, i);
            found = self.kernel.select(here, value, found).into();
        }
        Ok(found)
    }

    pub(super) fn is_index(&mut self, index: Operand, i: u32) -> Register {
        let i = Operand::integer(index.ty(), i64::from(i));
        self.kernel.compare(Comparison::Eq, index, i)
    }

    fn load_memory(&mut self, memory: &InMemory, leaves: &[Leaf]) -> Result<Vec<Operand>> {
        let Some(exists) = memory.exists else {
            return Ok(self.load_runs(memory, leaves));
        };
        let results: Vec<Register> = leaves
            .iter()
            .map(|leaf| self.kernel.register(leaf.ty))
            .collect();
        for (&result, leaf) in results.iter().zip(leaves) {
            self.kernel.assign(result, Operand::Constant(leaf.ty, 0));
        }
        let end = self.kernel.label();
        self.kernel.branch_together_if(exists, false, end);
        for (&result, loaded) in results.iter().zip(self.load_runs(memory, leaves)) {
            self.kernel.assign(result, loaded);
        }
        self.kernel.land(end);
        Ok(results.into_iter().map(Operand::from).collect())
    }

    fn load_runs(&mut self, memory: &InMemory, leaves: &[Leaf]) -> Vec<Operand> {
        let mut loaded = Vec::with_capacity(leaves.len());
        for run in runs(leaves, memory.align) {
            let first = run[0];
            let address = memory.address.plus(i64::from(first.offset));
            if run.len() == 1 {
                loaded.push(self.load_leaf(first.ty, Ordering::Weak, memory, first.offset));
            } else if first.ty.n_bits() == 16 {
                // In words: the assembler would keep each half in a register of its own.
                let words = match run.len() / 2 {
                    1 => vec![self.kernel.load(PtxType::U32, Ordering::Weak, &address)],
                    n => self.kernel.load_vector(PtxType::U32, n, &address),
                };
                for (word, leaves) in words.into_iter().zip(run.chunks_exact(2)) {
                    let halves = self.kernel.unpack(PtxType::U16, word);
                    let typed = halves.iter().zip(leaves);
                    loaded.extend(typed.map(|(half, leaf)| Operand::from(half.bitcast(leaf.ty))));
                }
            } else {
                let registers = self.kernel.load_vector(first.ty, run.len(), &address);
                let typed = registers
                    .iter()
                    .zip(run)
                    .map(|(r, leaf)| Operand::from(r.bitcast(leaf.ty)));
                loaded.extend(typed);
            }
        }
        loaded
    }

    /// Loads a scalar from memory. A bool occupies a byte there.
    pub(super) fn load_leaf(
        &mut self,
        ty: PtxType,
        ordering: Ordering,
        memory: &InMemory,
        offset: u32,
    ) -> Operand {
        let address = memory.address.plus(i64::from(offset));
        if ty == PtxType::Pred {
            let byte = self.kernel.load(PtxType::U8, ordering, &address);
            return self.kernel.compare(Comparison::Ne, byte, 0u32).into();
        }
        self.kernel.load(ty, ordering, &address).into()
    }

    /// Stores a value at a place.
    pub(super) fn store(&mut self, place: &Place, value: Value) -> Result<()> {
        match value {
            Value::Stored(from) => self.copy_memory(&from, place),
            other => {
                let leaves = self.scalars_of(other)?;
                self.store_leaves(place, &leaves)
            }
        }
    }

    pub(super) fn store_leaves(&mut self, place: &Place, values: &[Operand]) -> Result<()> {
        let leaves = self.leaves(&place.ty)?;
        match &place.at {
            At::Memory(memory) => {
                let end = self.kernel.label();
                if let Some(exists) = memory.exists {
                    self.kernel.branch_together_if(exists, false, end);
                }
                self.store_runs(memory, &leaves, values);
                self.kernel.land(end);
                Ok(())
            }
            At::Registers {
                variable,
                leaf,
                choices,
            } => {
                for (i, &value) in values.iter().enumerate() {
                    self.store_choice(*variable, leaf + i, choices, value, None)?;
                }
                Ok(())
            }
        }
    }

    /// Assigns the leaf that `choices` select, if `here` is true.
    fn store_choice(
        &mut self,
        variable: usize,
        leaf: usize,
        choices: &[Choice],
        value: Operand,
        here: Option<Register>,
    ) -> Result<()> {
        let Some((choice, rest)) = choices.split_first() else {
            if let Some(known) = &mut self.variables[variable].known {
                *known = value;
                return Ok(());
            }
            let register = self.registers_of(variable, leaf, 1)?[0];
            let value = match here {
                Some(here) => self.kernel.select(here, value, register).into(),
                None => value,
            };
            self.kernel.assign(register, value);
            return Ok(());
        };
        for i in 0..choice.count {
            let mut chosen = if i + 1 == choice.count {
                // The last element also stands for every index beyond.
                let last = Operand::integer(PtxType::U32, i64::from(i));
                self.kernel
                    .compare(Comparison::Ge, choice.index.bitcast(PtxType::U32), last)
            } else {
                self.is_index(choice.index, i)
            };
            if let Some(here) = here {
                chosen = self.kernel.and(chosen, here);
            }
            self.store_choice(
                variable,
                leaf + i as usize * choice.stride,
                rest,
                value,
                Some(chosen),
            )?;
        }
        Ok(())
    }

    fn store_runs(&mut self, memory: &InMemory, leaves: &[Leaf], values: &[Operand]) {
        let mut at = 0;
        for run in runs(leaves, memory.align) {
            let first = run[0];
            let values = &values[at..at + run.len()];
            at += run.len();
            if run.len() == 1 {
                self.store_leaf(first.ty, Ordering::Weak, memory, first.offset, values[0]);
            } else if first.ty.n_bits() == 16 {
                let address = memory.address.plus(i64::from(first.offset));
                let mut words = Vec::with_capacity(run.len() / 2);
                for pair in values.chunks_exact(2) {
                    words.push(Operand::from(self.kernel.pack(pair[0], pair[1])));
                }
                match words[..] {
                    [word] => self
                        .kernel
                        .store(PtxType::U32, Ordering::Weak, &address, word),
                    _ => self.kernel.store_vector(PtxType::U32, &address, &words),
                }
            } else {
                let typed: Vec<Operand> =
                    values.iter().map(|value| value.bitcast(first.ty)).collect();
                let address = memory.address.plus(i64::from(first.offset));
                self.kernel.store_vector(first.ty, &address, &typed);
            }
        }
    }

    pub(super) fn store_leaf(
        &mut self,
        ty: PtxType,
        ordering: Ordering,
        memory: &InMemory,
        offset: u32,
        value: Operand,
    ) {
        let address = memory.address.plus(i64::from(offset));
        if ty == PtxType::Pred {
            let byte = self.kernel.select(value, 1u32, 0u32);
            self.kernel.store(PtxType::U8, ordering, &address, byte);
        } else {
            self.kernel.store(ty, ordering, &address, value);
        }
    }

    /// Zeroes a large place in memory.
    pub(super) fn clear(&mut self, place: &Place) -> Result<()> {
        let n_bytes = self.size(&place.ty)?;
        let At::Memory(memory) = place.at.clone() else {
            return Err(self.error("a large variable in registers"));
        };
        let unit = unit_of(n_bytes, memory.align);
        self.for_units(n_bytes, unit, |this, offset| {
            let to = this.kernel.indexed(&memory.address, offset, 1);
            this.kernel.store(
                unit,
                Ordering::Weak,
                &to,
                Operand::Constant(stored_type(unit), 0),
            );
        });
        Ok(())
    }

    /// Copies a large value between places in memory.
    fn copy_memory(&mut self, from: &Place, to: &Place) -> Result<()> {
        let n_bytes = self.size(&to.ty)?;
        let (At::Memory(source), At::Memory(target)) = (from.at.clone(), to.at.clone()) else {
            let leaves = self.load_leaves(from)?;
            return self.store_leaves(to, &leaves);
        };
        let unit = unit_of(n_bytes, source.align.min(target.align));
        self.for_units(n_bytes, unit, |this, offset| {
            let from = this.kernel.indexed(&source.address, offset, 1);
            let value = this.kernel.load(unit, Ordering::Weak, &from);
            let to = this.kernel.indexed(&target.address, offset, 1);
            this.kernel.store(unit, Ordering::Weak, &to, value);
        });
        Ok(())
    }

    /// Emits a loop over the offsets of all units of a large value.
    fn for_units(&mut self, n_bytes: u32, unit: PtxType, body: impl FnOnce(&mut Self, Operand)) {
        let offset = self.kernel.copy(0u32);
        let begin = self.kernel.label();
        self.kernel.place(begin);
        body(self, offset.into());
        let next = self.kernel.add(offset, unit.n_bits() / 8);
        self.kernel.assign(offset, next);
        let goes_on = self.kernel.compare(Comparison::Lt, offset, n_bytes);
        self.kernel.branch_if(goes_on, true, begin);
    }

    /// Returns the element count of the runtime-sized array at the end of `ty`, in a buffer.
    pub(super) fn array_count(
        &mut self,
        memory: &InMemory,
        ty: &TypeResolution,
    ) -> Result<Operand> {
        let Some(buffer) = memory.buffer else {
            return Err(self.error("the length of an array outside of a buffer"));
        };
        let (_, stride) = self.unsized_array(ty)?;
        Ok(self.count_elements(buffer, stride).into())
    }
}

/// Returns the widest unit that divides a size and an alignment.
fn unit_of(n_bytes: u32, align: u32) -> PtxType {
    match alignment(n_bytes).min(align) {
        1 => PtxType::U8,
        2 => PtxType::U16,
        4 => PtxType::U32,
        _ => PtxType::U64,
    }
}

const fn stored_type(unit: PtxType) -> PtxType {
    match unit {
        PtxType::U8 => PtxType::U32,
        other => other,
    }
}

/// Groups leaves into vectors of 1, 2, 4 or, of 16 bits, 8 of the same size that are contiguous and aligned to the size of the
/// vector.
fn runs(leaves: &[Leaf], align: u32) -> Vec<&[Leaf]> {
    let mut runs = Vec::new();
    let mut rest = leaves;
    while let Some(&first) = rest.first() {
        let width = first.ty.n_bits() / 8;
        let fits = |n: usize| {
            let n_bytes = n as u32 * width;
            width >= 2
                && rest.len() >= n
                && n_bytes <= align.min(16)
                && first.offset % n_bytes == 0
                && rest[..n].iter().enumerate().all(|(i, leaf)| {
                    leaf.ty.n_bits() == 8 * width && leaf.offset == first.offset + i as u32 * width
                })
        };
        let n = [8, 4, 2].into_iter().find(|&n| fits(n)).unwrap_or(1);
        let (run, after) = rest.split_at(n);
        runs.push(run);
        rest = after;
    }
    runs
}

//! Access to a part of a composite, by a constant index or a dynamic one.

use naga::TypeInner;

use super::Lowering;
use super::place::{At, Choice, InMemory, Place, alignment};
use super::value::Value;
use super::variables::MAX_CHOICES;
use crate::Bounds;
use crate::Result;
use crate::build::{Address, Operand, PtxType, Space};

/// An index: a computed value plus a constant, which addressing modes add for free.
#[derive(Debug, Clone, Copy)]
pub(super) struct Index {
    pub(super) value: Operand,
    pub(super) plus: i64,
}

impl Lowering<'_> {
    /// Returns the place of part `index` of the composite at a place.
    pub(super) fn place_part(&mut self, place: &Place, index: u32) -> Result<Place> {
        let part = self.part(&place.ty, index)?;
        let at = match &place.at {
            At::Registers {
                variable,
                leaf,
                choices,
            } => At::Registers {
                variable: *variable,
                leaf: leaf + part.leaf,
                choices: choices.clone(),
            },
            At::Memory(memory) => {
                // Bounds-check a constant index of a runtime-sized array like any other.
                if self.elements_of_buffer(place)?.is_some() {
                    let index = Index {
                        value: index.into(),
                        plus: 0,
                    };
                    return self.place_element(place, index);
                }
                At::Memory(InMemory {
                    address: memory.address.plus(i64::from(part.offset)),
                    align: memory.align.min(alignment(part.offset)),
                    ..memory.clone()
                })
            }
        };
        Ok(Place { ty: part.ty, at })
    }

    /// Returns the stride if the place is a runtime-sized array.
    fn elements_of_buffer(&self, place: &Place) -> Result<Option<u32>> {
        if !matches!(self.inner(&place.ty), TypeInner::Array { .. }) {
            return Ok(None);
        }
        let elements = self.elements(&place.ty)?;
        Ok(elements.count.is_none().then_some(elements.stride))
    }

    /// Returns the place of an element, at a dynamic index, of the vector, matrix or array at a place.
    pub(super) fn place_element(&mut self, place: &Place, index: Index) -> Result<Place> {
        let elements = self.elements(&place.ty)?;
        if let (Some(i), Some(count)) = (index.value.constant(), elements.count) {
            let i = (i as i64 + index.plus).clamp(0, i64::from(count) - 1);
            return self.place_part(place, i as u32);
        }
        let at = match &place.at {
            At::Registers {
                variable,
                leaf,
                choices,
            } => {
                let choice = Choice {
                    index: self.index_sum(index),
                    count: elements.count.unwrap_or(1),
                    stride: self.n_leaves(&elements.ty)?,
                };
                At::Registers {
                    variable: *variable,
                    leaf: *leaf,
                    choices: choices.iter().copied().chain([choice]).collect(),
                }
            }
            At::Memory(memory) => {
                let (memory, index) =
                    self.bounded(memory, index, elements.count, elements.stride)?;
                let address = match index.value.constant() {
                    Some(i) => memory.address.plus(i as i64 * i64::from(elements.stride)),
                    None => self.indexed(&memory.address, index.value, elements.stride),
                };
                At::Memory(InMemory {
                    address: address.plus(index.plus * i64::from(elements.stride)),
                    align: memory.align.min(alignment(elements.stride)),
                    ..memory
                })
            }
        };
        Ok(Place {
            ty: elements.ty,
            at,
        })
    }

    fn indexed(&mut self, address: &Address, index: Operand, stride: u32) -> Address {
        if address.space() == Space::Shared
            && let Some(distance) = self.undo_shift(index.bitcast(PtxType::U32), stride)
        {
            return self.kernel.indexed(address, distance, 1);
        }
        self.kernel.indexed(address, index, stride)
    }

    /// Applies the bounds policy to an index; for a runtime-sized array, also returns whether it has any element.
    fn bounded(
        &mut self,
        memory: &InMemory,
        index: Index,
        count: Option<u32>,
        stride: u32,
    ) -> Result<(InMemory, Index)> {
        let mut memory = memory.clone();
        if self.options.bounds == Bounds::Unchecked {
            // Sign-extended, so that `i - 1 + 1` equals `i` in 64-bit addresses too.
            let value = index.value.bitcast(PtxType::S32);
            return Ok((memory, Index { value, ..index }));
        }
        let value = self.index_sum(index).bitcast(PtxType::U32);
        let last: Operand = match (count, memory.buffer) {
            (Some(count), _) => count.saturating_sub(1).into(),
            (None, Some(buffer)) => {
                let n = self.counted_elements(buffer, stride);
                memory.exists = Some(n.exists);
                n.last.into()
            }
            (None, None) => return Err(self.error("an array without size outside of a buffer")),
        };
        let value = self.minimum(value, last);
        Ok((memory, Index { value, plus: 0 }))
    }

    /// Returns the sum of both parts of an index.
    pub(super) fn index_sum(&mut self, index: Index) -> Operand {
        if index.plus == 0 {
            return index.value;
        }
        let plus = Operand::integer(index.value.ty(), index.plus);
        self.sum(index.value, plus)
    }

    /// Returns part `index` of a value.
    pub(super) fn value_part(
        &mut self,
        value: &Value,
        ty: &naga::proc::TypeResolution,
        index: u32,
    ) -> Result<Value> {
        match value {
            Value::Pointer(place) => Ok(Value::Pointer(self.place_part(place, index)?)),
            Value::Stored(place) => {
                let part = self.place_part(place, index)?;
                self.load(&part)
            }
            Value::Leaves(leaves) => {
                let part = self.part(ty, index)?;
                let n = self.n_leaves(&part.ty)?;
                let found = leaves.get(part.leaf..part.leaf + n);
                let found = found.ok_or_else(|| self.error("an index leaves its value"))?;
                Ok(Value::Leaves(found.to_vec()))
            }
        }
    }

    /// Returns the element of a value at a dynamic index.
    pub(super) fn value_element(
        &mut self,
        value: &Value,
        ty: &naga::proc::TypeResolution,
        index: Index,
    ) -> Result<Value> {
        let leaves = match value {
            Value::Pointer(place) => return Ok(Value::Pointer(self.place_element(place, index)?)),
            Value::Stored(place) => {
                let element = self.place_element(place, index)?;
                return self.load(&element);
            }
            Value::Leaves(leaves) => leaves,
        };
        let elements = self.elements(ty)?;
        let count = elements.count.unwrap_or(1);
        let whole = self.index_sum(index);
        if let Some(i) = whole.constant() {
            return self.value_part(value, ty, (i as u32).min(count.saturating_sub(1)));
        }
        let is_constant = leaves.iter().all(|leaf| leaf.constant().is_some());
        if count > MAX_CHOICES || (is_constant && count > 4) {
            let place = match self.constant_place(ty, leaves)? {
                Some(place) => place,
                None => {
                    let place = self.local_place(ty)?;
                    self.store_leaves(&place, leaves)?;
                    place
                }
            };
            let element = self.place_element(&place, index)?;
            return self.load(&element);
        }
        Ok(Value::Leaves(self.chosen(leaves, whole, count)))
    }

    /// Returns the element of a small value at a dynamic index, by selects; the last one for every index beyond.
    fn chosen(&mut self, leaves: &[Operand], index: Operand, count: u32) -> Vec<Operand> {
        let n = leaves.len() / count.max(1) as usize;
        let mut elements = leaves.chunks_exact(n.max(1)).rev();
        let mut found = elements.next().unwrap_or_default().to_vec();
        for (i, element) in (0..count.saturating_sub(1)).rev().zip(elements) {
            let here = self.is_index(index, i);
            for (found, &leaf) in found.iter_mut().zip(element) {
                *found = self.kernel.select(here, leaf, *found).into();
            }
        }
        found
    }
}

//! Elements of memory, natural ones and those in words.

use super::Lowering;
use super::facts::{Element, Root};
use super::pointer::lane_size;
use super::state::H;
use super::value::Pointer;
use crate::error::{Outcome, fault};
use crate::types::{Prim, Ty};
use naga::{BinaryOperator, Expression, MathFunction, Statement};

/// An address in words.
#[derive(Clone, Copy)]
struct Words {
    root: Root,
    /// Index of the word.
    word: H,
    /// Bits to shift by, of parts of words.
    shift: Option<H>,
}

impl Lowering<'_> {
    /// Notes an access, and returns a pointer to the element if the memory has that element type.
    fn natural(&mut self, pointer: &Pointer, prim: Prim, lanes: u32) -> Option<H> {
        let Pointer::Memory {
            root,
            index,
            unit,
            offset,
            component,
        } = pointer
        else {
            return None;
        };
        let (element, lane) = match component {
            Some((lane, Ty::Vector(prim, lanes))) => (
                Element {
                    prim: *prim,
                    lanes: *lanes,
                },
                Some(*lane),
            ),
            _ => (Element { prim, lanes }, None),
        };
        let fits = (prim.size() >= 4 || prim == Prim::Half)
            && element.lanes != 3
            && *unit == prim.size() * element.lanes
            && *offset == 0;
        self.facts.note_access(*root, fits.then_some(element));
        if !fits || self.facts.of(*root).is_words || self.facts.of(*root).element != Some(element) {
            return None;
        }
        let (base, count) = self.root_pointer(*root);
        let index = count.map_or(*index, |count| self.within(*index, count));
        // A runtime-sized array takes a constant index as any other.
        let pointer = self.access(base, index);
        Some(match lane {
            Some(lane) => self.add(Expression::AccessIndex {
                base: pointer,
                index: lane,
            }),
            None => pointer,
        })
    }

    /// Returns the address of a scalar in words.
    fn words(&mut self, pointer: &Pointer, size: u32, at: u32) -> Outcome<Words> {
        let Pointer::Memory {
            root,
            index,
            unit,
            offset,
            component,
        } = pointer
        else {
            return fault(at, "a local variable has no words");
        };
        let offset = offset
            + component
                .as_ref()
                .map_or(0, |(lane, vector)| lane_size(vector) * lane);
        if size == 4 && unit % 4 == 0 && offset % 4 == 0 {
            let word = self.scaled(*index, unit / 4);
            let extra = self.u32(offset / 4);
            let word = self.plus(word, extra);
            return Ok(Words {
                root: *root,
                word,
                shift: None,
            });
        }
        let byte = self.scaled(*index, *unit);
        let extra = self.u32(offset);
        let byte = self.plus(byte, extra);
        let two = self.u32(2);
        let word = self.shift(BinaryOperator::ShiftRight, byte, two);
        if size == 4 {
            return Ok(Words {
                root: *root,
                word,
                shift: None,
            });
        }
        let three = self.u32(3);
        let within = self.binary(BinaryOperator::And, byte, three);
        let shift = self.shift(BinaryOperator::ShiftLeft, within, three);
        Ok(Words {
            root: *root,
            word,
            shift: Some(shift),
        })
    }

    /// Returns the pointer to a word, `ahead` words further.
    fn word_pointer(&mut self, words: Words, ahead: u32) -> H {
        let (base, count) = self.root_pointer(words.root);
        let extra = self.u32(ahead);
        let index = self.plus(words.word, extra);
        let index = count.map_or(index, |count| self.within(index, count));
        self.access(base, index)
    }

    /// Loads a word as `unsigned`.
    fn load_word(&mut self, words: Words, ahead: u32) -> H {
        let pointer = self.word_pointer(words, ahead);
        let value = self.load_pointer(pointer);
        let prim = self.word_prim(words.root);
        if prim == Prim::UInt {
            value
        } else {
            self.bitcast(value, Prim::UInt)
        }
    }

    pub(super) fn load_element(
        &mut self,
        pointer: &Pointer,
        prim: Prim,
        lanes: u32,
        at: u32,
    ) -> Outcome<H> {
        if let Pointer::Memory { root, .. } = pointer {
            self.facts.note_read(*root);
        }
        if let Some(natural) = self.natural(pointer, prim, lanes) {
            return Ok(self.load_pointer(natural));
        }
        let words = self.words(pointer, (prim.size() * lanes).min(4), at)?;
        if prim == Prim::Half && lanes == 2 {
            let word = self.load_word(words, 0);
            return Ok(self.unpacked(word));
        }
        if lanes > 1 {
            let mut components = Vec::new();
            for lane in 0..lanes {
                let word = self.load_word(words, lane);
                components.push(self.bitcast(word, prim));
            }
            return Ok(self.compose(prim, &components));
        }
        let word = self.load_word(words, 0);
        if prim.size() == 8 {
            let high = self.load_word(words, 1);
            return Ok(self.joined(word, high, prim));
        }
        let Some(shift) = words.shift else {
            return Ok(if prim == Prim::UInt {
                word
            } else {
                self.bitcast(word, prim)
            });
        };
        let word = if prim.is_signed() {
            self.bitcast(word, Prim::Int)
        } else {
            word
        };
        let count = self.u32(8 * prim.size());
        let part = self.math(MathFunction::ExtractBits, &[word, shift, count]);
        if prim == Prim::Bool {
            return Ok(self.convert_prim(part, Prim::UInt, Prim::Bool));
        }
        if prim == Prim::Half {
            return Ok(self.half_of_bits(part));
        }
        Ok(part)
    }

    pub(super) fn store_element(
        &mut self,
        pointer: &Pointer,
        prim: Prim,
        lanes: u32,
        value: H,
        at: u32,
    ) -> Outcome<()> {
        if let Some(natural) = self.natural(pointer, prim, lanes) {
            self.store_pointer(natural, value);
            return Ok(());
        }
        let words = self.words(pointer, (prim.size() * lanes).min(4), at)?;
        if prim == Prim::Half && lanes == 2 {
            let word = self.packed(value);
            let word = self.as_memory_word(words.root, word);
            let pointer = self.word_pointer(words, 0);
            self.store_pointer(pointer, word);
            return Ok(());
        }
        if prim.size() == 8 {
            for (ahead, half) in (0..).zip(self.halves(value, prim)) {
                let half = self.as_memory_word(words.root, half);
                let pointer = self.word_pointer(words, ahead);
                self.store_pointer(pointer, half);
            }
            return Ok(());
        }
        for lane in 0..lanes {
            let part = if lanes == 1 {
                value
            } else {
                self.add(Expression::AccessIndex {
                    base: value,
                    index: lane,
                })
            };
            let part = match prim {
                Prim::Bool => self.convert_prim(part, Prim::Bool, Prim::UInt),
                Prim::UInt | Prim::UChar | Prim::UShort => part,
                Prim::Half => self.bits_of_half(part),
                _ => self.bitcast(part, Prim::UInt),
            };
            match words.shift {
                None => {
                    let part = self.as_memory_word(words.root, part);
                    let pointer = self.word_pointer(words, lane);
                    self.store_pointer(pointer, part);
                }
                Some(shift) => self.store_part(words, shift, prim.size(), part),
            }
        }
        Ok(())
    }

    /// Converts an `unsigned` to the type of the words of memory.
    pub(super) fn as_memory_word(&mut self, root: Root, value: H) -> H {
        match self.word_prim(root) {
            Prim::UInt => value,
            prim => self.bitcast(value, prim),
        }
    }

    /// Stores 8 or 16 bits: other threads may store to the other bits of the word.
    fn store_part(&mut self, words: Words, shift: H, size: u32, value: H) {
        self.facts.note_atomic(words.root, false);
        if !self.facts.of(words.root).is_atomic {
            return;
        }
        let mask = self.u32((1 << (8 * size)) - 1);
        let part = self.binary(BinaryOperator::And, value, mask);
        let part = self.shift(BinaryOperator::ShiftLeft, part, shift);
        let mask = self.shift(BinaryOperator::ShiftLeft, mask, shift);
        let cleared = self.unary(naga::UnaryOperator::BitwiseNot, mask);
        let pointer = self.word_pointer(words, 0);
        for (fun, value) in [
            (naga::AtomicFunction::And, cleared),
            (naga::AtomicFunction::InclusiveOr, part),
        ] {
            let value = self.as_memory_word(words.root, value);
            self.push(Statement::Atomic {
                pointer,
                fun,
                value,
                result: None,
            });
        }
    }

    /// Returns the pointer to a 32-bit word, for atomic operations.
    pub(super) fn atomic_word(&mut self, pointer: &Pointer, at: u32) -> Outcome<(H, Root)> {
        let words = self.words(pointer, 4, at)?;
        Ok((self.word_pointer(words, 0), words.root))
    }
}

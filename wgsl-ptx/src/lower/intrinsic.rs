//! Lowers calls of intrinsics.

use naga::{Block, Expression, Function, GlobalVariable, Handle, Statement};

use super::Lowering;
use super::place::At;
use super::value::Value;
use crate::Result;
use crate::build::{Address, Comparison, Operand, Ordering, PtxType, Space, WarpReduction};
use crate::intrinsics::{self, Intrinsic};

/// Lowest compute capability that rounds two numbers to halves by one instruction.
const ROUND_PAIR_SM: u32 = 80;
/// Bits of a value that `peers` compares.
const PEER_BITS: u32 = 12;
/// Selector of `prmt` for the high halves of two words.
const HIGH_HALVES: u32 = 0x7632;

impl Lowering<'_> {
    /// Returns the intrinsic that a function is, if this kernel can use its lowering.
    pub(super) fn intrinsic_of(&self, function: Handle<Function>) -> Option<Intrinsic> {
        let name = self.module.functions[function].name.as_deref()?;
        let span = self.module.functions.get_span(function);
        let text = self.wgsl.get(span.to_range()?)?;
        let is_warp = self.n_invocations() <= 32;
        let has_redux = self.options.sm >= super::subgroup::REDUX_SM;
        intrinsics::find(name, text).filter(|intrinsic| match intrinsic {
            Intrinsic::Funnel | Intrinsic::NormalExp2 | Intrinsic::Half => true,
            Intrinsic::TwoHalves => self.options.sm >= ROUND_PAIR_SM,
            Intrinsic::Agree => is_warp && has_redux,
            Intrinsic::Merge => is_warp && has_redux && self.owns_its_variables(function),
            Intrinsic::Peers => self.n_invocations() == 32 && self.owns_its_variables(function),
            Intrinsic::LoadWord
            | Intrinsic::LoadByte
            | Intrinsic::StoreWord
            | Intrinsic::StoreByte => self.options.raw_addresses,
            Intrinsic::StageLeft
            | Intrinsic::StageRight
            | Intrinsic::EndStage
            | Intrinsic::AwaitStaged => self.copies_asynchronously(),
            Intrinsic::ElementsOf | Intrinsic::MatrixOf | Intrinsic::LeftOf => {
                self.has_elements(function) && self.owns_its_variables(function)
            }
            Intrinsic::MultiplyStaged
            | Intrinsic::GroupLeft
            | Intrinsic::AwaitProducts
            | Intrinsic::BeginTurn
            | Intrinsic::EndTurn => self.can_multiply_in_groups(),
            Intrinsic::MultiplySingles => {
                self.can_multiply_in_groups() && self.options.floats_as_tf32
            }
            Intrinsic::MultiplyLeft => {
                self.can_multiply_in_groups() && self.owns_its_variables(function)
            }
        })
    }

    /// Returns true if no other function or entry point names a module-scope variable that this one names.
    fn owns_its_variables(&self, function: Handle<Function>) -> bool {
        let functions = self.module.functions.iter();
        let others = functions.filter(|(handle, _)| *handle != function);
        let entries = self.module.entry_points.iter();
        let mut others = others
            .map(|(_, other)| other)
            .chain(entries.map(|entry| &entry.function));
        let own = &self.module.functions[function];
        !others.any(|other| global_variables(other).any(|v| global_variables(own).any(|w| v == w)))
    }

    /// Lowers the call of an intrinsic and returns its result; `None` for other functions.
    pub(super) fn intrinsic(
        &mut self,
        callee: Handle<Function>,
        arguments: &[Value],
    ) -> Result<Option<Value>> {
        match self.intrinsic_of(callee) {
            Some(Intrinsic::Funnel) => self.funnel(arguments),
            Some(Intrinsic::Agree) => self.agree(callee, arguments),
            Some(Intrinsic::Merge) => Ok(self.merge(arguments)),
            Some(Intrinsic::Peers) => Ok(self.peers(arguments)),
            Some(Intrinsic::LoadWord) => Ok(self.load_from_address(PtxType::U32, arguments)),
            Some(Intrinsic::LoadByte) => Ok(self.load_from_address(PtxType::U8, arguments)),
            Some(Intrinsic::StoreWord) => Ok(self.store_to_address(PtxType::U32, arguments)),
            Some(Intrinsic::StoreByte) => Ok(self.store_to_address(PtxType::U8, arguments)),
            Some(Intrinsic::StageLeft | Intrinsic::StageRight) => self.stage(callee, arguments),
            Some(Intrinsic::EndStage) => Ok(self.end_stage()),
            Some(Intrinsic::AwaitStaged) => Ok(self.await_staged(arguments)),
            Some(Intrinsic::NormalExp2) => Ok(self.normal_exp2(arguments)),
            Some(Intrinsic::Half) => Ok(self.half(arguments)),
            Some(Intrinsic::TwoHalves) => Ok(self.two_halves(arguments)),
            // The registers of a matrix of sums are its elements, in this order.
            Some(Intrinsic::ElementsOf | Intrinsic::MatrixOf) => Ok(arguments.first().cloned()),
            Some(Intrinsic::LeftOf) => self.left_factor(arguments),
            Some(Intrinsic::MultiplyStaged) => self.multiply_staged(arguments),
            Some(Intrinsic::MultiplySingles) => self.multiply_singles(arguments),
            Some(Intrinsic::GroupLeft) => self.left_factor(arguments),
            Some(Intrinsic::MultiplyLeft) => self.multiply_left(arguments),
            Some(Intrinsic::AwaitProducts) => Ok(self.await_products(arguments)),
            Some(Intrinsic::BeginTurn) => Ok(self.begin_turn(arguments)),
            Some(Intrinsic::EndTurn) => Ok(self.end_turn(arguments)),
            None => Ok(None),
        }
    }

    /// Returns true if a variable needs memory: if a function names it that is not lowered to an instruction without it.
    pub(super) fn needs_memory(&self, entry: &Function, variable: Handle<GlobalVariable>) -> bool {
        let functions = self.module.functions.iter();
        let mut others = functions.filter(|(handle, _)| {
            let intrinsic = self.intrinsic_of(*handle);
            !intrinsic.is_some_and(Intrinsic::replaces_memory)
        });
        let names = |function: &Function| global_variables(function).any(|v| v == variable);
        names(entry) || others.any(|(_, function)| names(function))
    }

    fn merge(&mut self, arguments: &[Value]) -> Option<Value> {
        let [Value::Pointer(_), Value::Leaves(bits)] = arguments else {
            return None;
        };
        let mask = self.warp_mask();
        let merged = self.kernel.reduce_warp(WarpReduction::Or, bits[0], mask);
        Some(Operand::from(merged).into())
    }

    fn peers(&mut self, arguments: &[Value]) -> Option<Value> {
        let [_, Value::Leaves(value)] = arguments else {
            return None;
        };
        let mask = self.warp_mask();
        let mut lanes = mask;
        for bit in 0..PEER_BITS {
            // All bits of `own` are the one of the value.
            let own = self.kernel.bfe(value[0].bitcast(PtxType::S32), bit, 1u32);
            let own = Operand::from(own).bitcast(PtxType::U32);
            let is_set = self.kernel.compare(Comparison::Ne, own, 0u32);
            let set = self.kernel.ballot(is_set, mask);
            let differs = self.kernel.xor(set, own);
            let same = self.kernel.not(differs);
            lanes = self.kernel.and(lanes, same).into();
        }
        self.workgroup_barrier();
        Some(lanes.into())
    }

    /// Returns the address that the components of a vector are the words of.
    fn raw_address(&mut self, words: &[Operand]) -> Option<Address> {
        let [low, high] = words else {
            return None;
        };
        let address = self.kernel.join_words(*low, *high);
        Some(Address::new(Space::Global, address))
    }

    fn load_from_address(&mut self, ty: PtxType, arguments: &[Value]) -> Option<Value> {
        let [Value::Leaves(words)] = arguments else {
            return None;
        };
        let address = self.raw_address(words)?;
        let loaded = self.kernel.load(ty, Ordering::Weak, &address);
        Some(Operand::from(loaded).into())
    }

    fn store_to_address(&mut self, ty: PtxType, arguments: &[Value]) -> Option<Value> {
        let [Value::Leaves(words), Value::Leaves(value)] = arguments else {
            return None;
        };
        let address = self.raw_address(words)?;
        self.kernel.store(ty, Ordering::Weak, &address, value[0]);
        Some(Value::Leaves(Vec::new()))
    }

    fn normal_exp2(&mut self, arguments: &[Value]) -> Option<Value> {
        let [Value::Leaves(x)] = arguments else {
            return None;
        };
        Some(Operand::from(self.kernel.ex2_normal(x[0])).into())
    }

    fn half(&mut self, arguments: &[Value]) -> Option<Value> {
        let [Value::Leaves(bits)] = arguments else {
            return None;
        };
        Some(self.single_of_half(bits[0]).into())
    }

    /// Rounds a pair, and gives NaNs, which the instruction makes positive with all bits set, the bits that the text gives them.
    fn two_halves(&mut self, arguments: &[Value]) -> Option<Value> {
        let [Value::Leaves(x)] = arguments else {
            return None;
        };
        let rounded = self.kernel.round_pair(false, x[0], x[1]);
        let bits = [x[0], x[1]].map(|x| x.bitcast(PtxType::U32));
        let signs = self.kernel.prmt(bits[0], bits[1], HIGH_HALVES);
        let signs = self.kernel.and(signs, 0x8000_8000u32);
        let quiet = self.kernel.or(signs, 0x7e00_7e00u32);
        let mut nans = Vec::with_capacity(2);
        for (x, half) in x.iter().zip([0xffffu32, 0xffff_0000]) {
            let is_nan = self.kernel.is_nan(*x);
            nans.push(self.kernel.select(is_nan, half, 0u32));
        }
        let nans = self.kernel.or(nans[0], nans[1]);
        let changed = self.kernel.xor(rounded, quiet);
        let changed = self.kernel.and(changed, nans);
        Some(Operand::from(self.kernel.xor(rounded, changed)).into())
    }

    fn funnel(&mut self, arguments: &[Value]) -> Result<Option<Value>> {
        let [Value::Leaves(low), Value::Leaves(high), Value::Leaves(n)] = arguments else {
            return Ok(None);
        };
        let n = self.shift_amount(n[0]);
        Ok(Some(
            Operand::from(self.kernel.funnel_right(low[0], high[0], n)).into(),
        ))
    }

    /// Lowers `agree` to a warp reduction. One invocation then stores the word in shared memory that the portable body would
    /// leave there.
    fn agree(&mut self, callee: Handle<Function>, arguments: &[Value]) -> Result<Option<Value>> {
        let [Value::Pointer(round), Value::Leaves(code)] = arguments else {
            return Ok(None);
        };
        let function = &self.module.functions[callee];
        let Some(pointer) = uniform_load(&function.body) else {
            return Ok(None);
        };
        let mut frame = self.frame_of(callee, arguments.to_vec());
        let end = frame.end;
        let agreed = self.place_of(&mut frame, pointer)?;
        let At::Memory(memory) = &agreed.at else {
            return Ok(None);
        };
        let before = self.load_leaves(round)?[0];
        let number = self.sum(before, 1u32.into());
        self.store_leaves(round, &[number])?;
        let mask = self.warp_mask();
        let largest = self.kernel.reduce_warp(WarpReduction::Max, code[0], mask);
        let shifted = self.kernel.shl(number, 8u32);
        let word = self.kernel.or(shifted, largest);
        let index = self.local_index();
        let is_first = self.compared(Comparison::Eq, index, 0u32.into());
        let is_any = self.compared(Comparison::Ne, largest.into(), 0u32.into());
        let stores = self.bitwise_and(is_first, is_any);
        self.kernel.branch_if(stores, false, end);
        self.store_leaf(PtxType::U32, Ordering::Relaxed, memory, 0, word.into());
        self.kernel.land(end);
        self.workgroup_barrier();
        Ok(Some(Operand::from(largest).into()))
    }
}

/// Returns the module-scope variables that a function names.
fn global_variables(function: &Function) -> impl Iterator<Item = Handle<GlobalVariable>> {
    let expressions = function.expressions.iter();
    expressions.filter_map(|(_, expression)| match expression {
        Expression::GlobalVariable(variable) => Some(*variable),
        _ => None,
    })
}

/// Returns the pointer of the function's first `workgroupUniformLoad`.
fn uniform_load(body: &Block) -> Option<Handle<Expression>> {
    body.iter().find_map(|statement| match statement {
        Statement::WorkGroupUniformLoad { pointer, .. } => Some(*pointer),
        _ => None,
    })
}

//! Elements of cooperative matrices as values of an invocation: the intrinsics `elements_of`, `matrix_of` and `left_of`.

use naga::proc::TypeResolution;
use naga::{CooperativeRole, Function, Handle, TypeInner};

use super::{DEPTH_16_SM, Matrix};
use crate::Result;
use crate::build::PtxType;
use crate::lower::Lowering;
use crate::lower::value::Value;

impl Lowering<'_> {
    /// Returns true if the types of such a function are those of its description.
    pub(in crate::lower) fn has_elements(&self, function: Handle<Function>) -> bool {
        let function = &self.module.functions[function];
        let (Some(argument), Some(result)) = (function.arguments.first(), &function.result) else {
            return false;
        };
        let is_known = |ty: Handle<naga::Type>| {
            let inner = &self.module.types[ty].inner;
            match self.matrix(inner) {
                Ok(Some(matrix)) => matrix.has_elements(),
                Ok(None) => matches!(inner, TypeInner::Struct { .. }) && self.is_eight(ty),
                Err(_) => false,
            }
        };
        is_known(argument.ty) && is_known(result.ty)
    }

    /// Returns true if a value of the type is eight numbers of single precision.
    fn is_eight(&self, ty: Handle<naga::Type>) -> bool {
        let leaves = self.leaves(&TypeResolution::Handle(ty));
        leaves.is_ok_and(|leaves| {
            leaves.len() == 8 && leaves.iter().all(|leaf| leaf.ty == PtxType::F32)
        })
    }

    /// Rounds elements to the words of a left factor.
    pub(in crate::lower) fn left_factor(&mut self, arguments: &[Value]) -> Result<Option<Value>> {
        let Some(Value::Leaves(elements)) = arguments.first() else {
            return Ok(None);
        };
        let is_bfloat16 = self.options.halves_as_bfloat16;
        let mut words = Vec::with_capacity(4);
        for pair in elements.chunks_exact(2) {
            words.push(if self.options.sm >= DEPTH_16_SM {
                self.kernel.round_pair(is_bfloat16, pair[0], pair[1]).into()
            } else {
                let [low, high] = [pair[0], pair[1]].map(|x| self.converted(x, PtxType::F16));
                self.kernel.pack(low, high).into()
            });
        }
        Ok(Some(Value::Leaves(words)))
    }
}

impl Matrix {
    /// Returns true for sums of single precision and for left factors.
    const fn has_elements(self) -> bool {
        match self.role {
            CooperativeRole::A => self.is_half,
            CooperativeRole::B => false,
            CooperativeRole::C => !self.is_half,
        }
    }
}

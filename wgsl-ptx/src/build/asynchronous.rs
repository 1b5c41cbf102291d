//! Asynchronous copies from global to shared memory (`cp.async`).

use super::kernel::{PtxKernel, Space};
use super::memory::Address;
use super::types::{Operand, PtxType};

/// Bytes of an asynchronous copy.
pub(crate) const COPIED_BYTES: u32 = 16;

impl PtxKernel {
    /// Starts a copy of 16 bytes from global to shared memory; both addresses are multiples of 16. Only the first `n_bytes` (0 to 16)
    /// are read, and zeros are written for the others. The copy belongs to the thread's next group. From `sm_80` on.
    pub fn copy_async(&mut self, to: &Address, from: &Address, n_bytes: impl Into<Operand>) {
        let n_bytes = n_bytes.into();
        self.require("copy_async", n_bytes.ty(), |ty| ty == PtxType::U32);
        let is_global = matches!(from.space(), Space::Global | Space::GlobalReadOnly);
        if to.space() != Space::Shared || !is_global {
            self.fail("an asynchronous copy other than from global to shared memory".to_owned());
        }
        let n_bytes = match n_bytes.constant() {
            Some(bits) if bits == u64::from(COPIED_BYTES) => String::new(),
            _ => format!(", {}", self.in_register(n_bytes)),
        };
        self.push(format!(
            "cp.async.cg.shared.global {to}, {from}, {COPIED_BYTES}{n_bytes};"
        ));
    }

    /// Ends the thread's group of asynchronous copies, which may be empty.
    pub fn commit_copies(&mut self) {
        self.push("cp.async.commit_group;".to_owned());
    }

    /// Waits until at most `n_pending` of the groups that the thread ended last are incomplete. Other threads see the copies
    /// after a barrier.
    pub fn await_copies(&mut self, n_pending: u32) {
        self.push(format!("cp.async.wait_group {n_pending};"));
    }
}

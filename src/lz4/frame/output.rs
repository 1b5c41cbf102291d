//! The memory that content is decoded to: a vector that grows, or memory of the caller.

use std::mem::MaybeUninit;

use crate::memory::{as_uninit, reserve_result};
use crate::{Error, Result};

/// Memory that content is appended to.
#[cfg_attr(
    target_arch = "wasm32",
    allow(
        dead_code,
        reason = "serial decoding, without a GPU, only appends and measures"
    )
)]
pub(crate) trait Output: Send {
    /// Bytes of content so far.
    fn len(&self) -> usize;

    /// True if bytes behind the content must not be written, also for a moment, unless content follows there.
    fn is_given(&self) -> bool;

    /// Returns the content from byte `start` on, and the memory behind it: `n_bytes`, or as many as memory of the caller has left.
    ///
    /// # Safety
    /// Callers write only initialised bytes to the memory.
    unsafe fn content_and_room(
        &mut self,
        start: usize,
        n_bytes: usize,
    ) -> Result<(&[u8], &mut [MaybeUninit<u8>])>;

    /// Returns the memory behind the content, as [`content_and_room`](Self::content_and_room).
    ///
    /// # Safety
    /// Callers write only initialised bytes to it.
    unsafe fn room(&mut self, n_bytes: usize) -> Result<&mut [MaybeUninit<u8>]> {
        // SAFETY: the contracts are the same.
        unsafe { Ok(self.content_and_room(self.len(), n_bytes)?.1) }
    }

    /// Adds the first `n_bytes` of the room to the content.
    ///
    /// # Safety
    /// They were written to the [`room`](Self::room), which has that many bytes.
    unsafe fn add(&mut self, n_bytes: usize);

    /// Returns the content from byte `start` on.
    fn content(&self, start: usize) -> &[u8];

    /// Drops the content behind `length`.
    fn truncate(&mut self, length: usize);

    /// Checks that so many bytes fit behind the content.
    fn check(&self, n_bytes: u64) -> Result<()>;

    /// Prepares for about `n_bytes`, where that costs nothing before their first touch.
    fn expect(&mut self, n_bytes: u64);

    /// Appends a copy of `more`.
    fn extend(&mut self, more: &[u8]) -> Result<()> {
        self.check(more.len() as u64)?;
        // SAFETY: what is written are bytes of `more`. The room has as many by the check.
        unsafe {
            self.room(more.len())?.write_copy_of_slice(more);
            self.add(more.len());
        }
        Ok(())
    }
}

impl Output for Vec<u8> {
    fn len(&self) -> usize {
        self.len()
    }

    fn is_given(&self) -> bool {
        false
    }

    unsafe fn content_and_room(
        &mut self,
        start: usize,
        n_bytes: usize,
    ) -> Result<(&[u8], &mut [MaybeUninit<u8>])> {
        reserve_result(self, n_bytes)?;
        let length = self.len();
        let spare = std::ptr::from_mut(&mut self.spare_capacity_mut()[..n_bytes]);
        // SAFETY: the spare capacity begins behind the `length` initialised bytes, so the two do not overlap, and both stay
        // borrowed with the vector.
        Ok(unsafe {
            (
                &std::slice::from_raw_parts(self.as_ptr(), length)[start..],
                &mut *spare,
            )
        })
    }

    unsafe fn add(&mut self, n_bytes: usize) {
        // SAFETY: so many bytes of the spare capacity were written, by this function's contract.
        unsafe { self.set_len(self.len() + n_bytes) };
    }

    fn content(&self, start: usize) -> &[u8] {
        &self[start..]
    }

    fn truncate(&mut self, length: usize) {
        self.truncate(length);
    }

    fn check(&self, _n_bytes: u64) -> Result<()> {
        Ok(())
    }

    fn expect(&mut self, n_bytes: u64) {
        // Without so much memory the content may still fit.
        let n_bytes = usize::try_from(n_bytes).unwrap_or(usize::MAX);
        drop(reserve_result(self, n_bytes));
    }
}

/// Memory of the caller.
#[derive(Debug)]
pub(crate) struct Given<'a> {
    memory: &'a mut [u8],
    length: usize,
}

impl<'a> Given<'a> {
    pub(crate) fn new(memory: &'a mut [u8]) -> Self {
        Self { memory, length: 0 }
    }
}

impl Output for Given<'_> {
    fn len(&self) -> usize {
        self.length
    }

    fn is_given(&self) -> bool {
        true
    }

    unsafe fn content_and_room(
        &mut self,
        start: usize,
        n_bytes: usize,
    ) -> Result<(&[u8], &mut [MaybeUninit<u8>])> {
        let (content, rest) = self.memory.split_at_mut(self.length);
        let n_bytes = n_bytes.min(rest.len());
        // SAFETY: callers write only initialised bytes, by this function's contract.
        Ok((&content[start..], unsafe {
            as_uninit(&mut rest[..n_bytes])
        }))
    }

    unsafe fn add(&mut self, n_bytes: usize) {
        self.length += n_bytes;
    }

    fn content(&self, start: usize) -> &[u8] {
        &self.memory[start..self.length]
    }

    fn truncate(&mut self, length: usize) {
        self.length = self.length.min(length);
    }

    fn expect(&mut self, _n_bytes: u64) {}

    fn check(&self, n_bytes: u64) -> Result<()> {
        let needed = (self.length as u64).saturating_add(n_bytes);
        let actual = self.memory.len() as u64;
        match needed <= actual {
            true => Ok(()),
            false => Err(Error::OutputTooSmall { needed, actual }),
        }
    }
}

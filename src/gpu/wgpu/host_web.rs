//! Staging buffers in a browser. wgpu's own views copy a mapping to wasm memory and back; these copy once.

use std::ops::Range;

use js_sys::Uint8Array;

use super::host::WgpuHostBuffer;
use crate::gpu::backend::HostMemory;
#[cfg(web_module)]
use crate::gpu::backend::HostUse;
#[cfg(web_module)]
use crate::gpu::backend::Sized64;
#[cfg(web_module)]
use crate::js_bytes::JsBytes;
use crate::{Result, memory};

impl WgpuHostBuffer {
    /// Returns the mapped memory of a range, which is valid until it is unmapped. A browser returns each range only once
    /// between two submissions.
    async fn mapped(&self, range: Range<u64>) -> Result<Uint8Array> {
        let shared = self.shared();
        let Some(buffer) = self.raw().as_webgpu() else {
            return Err(shared.broken("not a WebGPU buffer".into()));
        };
        let (start, length) = (range.start as f64, (range.end - range.start) as f64);
        match buffer.get_mapped_range_with_f64_and_f64(start, length) {
            Ok(mapping) => Ok(Uint8Array::new(&mapping)),
            Err(_) => Err(shared.failed("a buffer was not mapped".into()).await),
        }
    }

    /// Copies `bytes` to mapped memory at `offset`.
    pub(super) async fn fill(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        let mapped = self.mapped(offset..offset + bytes.len() as u64).await?;
        mapped.copy_from(bytes);
        Ok(())
    }

    /// Implements [`HostBuffer::write_parts_async`](crate::gpu::HostBuffer).
    pub(crate) async fn write_parts_async(
        &self,
        offset: u64,
        n_bytes: u64,
        from: &[u8],
        parts: &[(u64, Range<usize>)],
    ) -> Result<()> {
        let copy = |room: &mut [u8]| {
            for (at, part) in parts {
                let at = *at as usize;
                room[at..at + part.len()].copy_from_slice(&from[part.clone()]);
            }
        };
        self.fill_async(offset..offset + n_bytes, copy).await
    }

    /// Calls `read` with a copy of a mapped range.
    pub(super) async fn read<R>(
        &self,
        range: Range<u64>,
        read: impl FnOnce(&[u8]) -> R,
    ) -> Result<R> {
        let mut bytes = memory::zeros((range.end - range.start) as usize)?;
        self.mapped(range).await?.copy_to(&mut bytes);
        Ok(read(&bytes))
    }
}

#[cfg(web_module)]
impl WgpuHostBuffer {
    /// Copies the bytes of `from` in `range` to `offset`, a multiple of 8, once the device has finished with the memory.
    /// The length is a multiple of 4.
    ///
    /// # Errors
    /// [`InvalidArgument`](crate::Error::InvalidArgument) if either range does not fit.
    pub(crate) async fn write_js_async(
        &self,
        offset: u64,
        from: &JsBytes,
        range: Range<usize>,
    ) -> Result<()> {
        self.check(HostUse::Upload, offset, range.len() as u64)?;
        if range.is_empty() {
            return Ok(());
        }
        self.map(0..self.n_bytes()).await?;
        let mapped = self.mapped(offset..offset + range.len() as u64).await?;
        mapped.set(&from.part(range)?.into(), 0);
        Ok(())
    }

    /// Copies ranges of `from` to `n_bytes` of memory from `offset` on, once the device has finished with the memory.
    /// Each range comes with its offset from there. `offset` and `n_bytes` must be multiples as in
    /// [`write_js_async`](Self::write_js_async).
    ///
    /// # Errors
    /// As [`write_js_async`](Self::write_js_async).
    #[cfg(web_pages)]
    pub(crate) async fn write_js_parts_async(
        &self,
        offset: u64,
        n_bytes: u64,
        from: &JsBytes,
        parts: &[(u64, Range<usize>)],
    ) -> Result<()> {
        self.check(HostUse::Upload, offset, n_bytes)?;
        if n_bytes == 0 {
            return Ok(());
        }
        self.map(0..self.n_bytes()).await?;
        let mapped = self.mapped(offset..offset + n_bytes).await?;
        for (at, part) in parts {
            mapped.set(&from.part(part.clone())?.into(), *at as u32);
        }
        Ok(())
    }

    /// Calls `read` for each of `parts` of the first `n_bytes`, with its index and a copy, once the device has finished
    /// with the memory. There is one copy at a time, so that it stays in a cache.
    ///
    /// # Errors
    /// As [`write_js_async`](Self::write_js_async), and those of `read`.
    #[cfg(web_pages)]
    pub(crate) async fn read_parts_async(
        &self,
        n_bytes: u64,
        parts: &[Range<u64>],
        mut read: impl FnMut(usize, &[u8]) -> Result<()>,
    ) -> Result<()> {
        // The length of a mapping is a multiple of 4.
        let whole = 0..n_bytes.next_multiple_of(4);
        self.check(HostUse::Download, 0, whole.end)?;
        if n_bytes == 0 {
            return Ok(());
        }
        self.map(whole.clone()).await?;
        let mut bytes = Vec::new();
        let copied = match self.mapped(whole).await {
            Ok(mapped) => parts.iter().enumerate().try_for_each(|(i, part)| {
                let mapped = mapped.subarray(part.start as u32, part.end as u32);
                let length = mapped.length() as usize;
                bytes.clear();
                memory::reserve(&mut bytes, length)?;
                bytes.resize(length, 0);
                mapped.copy_to(&mut bytes);
                read(i, &bytes)
            }),
            Err(error) => Err(error),
        };
        self.unmap();
        copied
    }

    /// Copies a range that starts at a multiple of 8 to offset `at` of `to`, once the device has finished with the
    /// memory.
    ///
    /// # Errors
    /// As [`write_js_async`](Self::write_js_async).
    pub(crate) async fn read_js_async(
        &self,
        range: Range<u64>,
        to: &JsBytes,
        at: usize,
    ) -> Result<()> {
        let n_bytes = range.end.saturating_sub(range.start);
        // The length of a mapping is a multiple of 4.
        let whole = range.start..range.start.saturating_add(n_bytes.next_multiple_of(4));
        self.check(HostUse::Download, whole.start, whole.end - whole.start)?;
        if n_bytes == 0 {
            return Ok(());
        }
        self.map(whole.clone()).await?;
        let copied = match self.mapped(whole).await {
            Ok(mapped) => to.part(at..at.saturating_add(n_bytes as usize)).map(|to| {
                to.set(&mapped.subarray(0, n_bytes as u32).into(), 0);
            }),
            Err(error) => Err(error),
        };
        self.unmap();
        copied
    }
}

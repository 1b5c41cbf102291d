//! Staging buffers in a browser. wgpu's own views copy a mapping to wasm memory and back; these copy once.

use std::ops::Range;

use js_sys::Uint8Array;

use super::host::WgpuHostBuffer;
#[cfg(web_module)]
use crate::gpu::backend::HostUse;
#[cfg(web_module)]
use crate::gpu::backend::Sized64;
#[cfg(web_module)]
use crate::js_bytes::JsBytes;
use crate::{Result, memory};

impl WgpuHostBuffer {
    /// The mapped memory of a range, until it is unmapped. A browser gives each range once between two submissions.
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

    /// Copies a range, which starts at a multiple of 8, to `at` of `to`, once the device has finished with the memory.
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
        // A mapping is a multiple of 4 long.
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

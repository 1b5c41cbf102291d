//! JavaScript arrays as input and output of a pipeline, and its progress callback.

use js_sys::Function;
use wasm_bindgen::JsValue;

use super::plan::Packed;
use super::source::Source;
use crate::gpu::HostBuffer;
use crate::js_bytes::JsBytes;
use crate::lz4::{Dictionary, PageEntry};
use crate::{Error, Result, memory};

/// The caller's progress callback, which also cancels calls.
#[derive(Debug, Clone, Default)]
pub(crate) struct OnProgress(pub Option<Function>);

impl OnProgress {
    /// Reports the bytes of finished pages, and of their blocks.
    ///
    /// # Errors
    /// [`Error::Cancelled`] if the callback returns false or throws.
    pub(in crate::batch) fn report(&self, page_bytes: u64, block_bytes: u64) -> Result<()> {
        let Some(function) = &self.0 else {
            return Ok(());
        };
        let [pages, blocks] = [page_bytes, block_bytes].map(|n| JsValue::from(n as f64));
        match function.call2(&JsValue::UNDEFINED, &pages, &blocks) {
            Ok(answer) if answer != JsValue::FALSE => Ok(()),
            _ => Err(Error::Cancelled),
        }
    }
}

/// Compressed pages, in one piece unless there are very many.
#[derive(Debug, Default)]
pub(crate) struct JsBlocks {
    /// Memory of the caller for all blocks.
    into: Option<JsBytes>,
    pieces: Vec<JsBytes>,
    /// Number of bytes in use of the last piece, and in total.
    n_last: usize,
    n_packed: usize,
    /// Two words per page.
    pub(crate) table: Vec<u32>,
}

impl JsBlocks {
    /// Blocks that are written to the start of `into`, or to new arrays.
    pub(crate) fn new(into: Option<JsBytes>) -> Self {
        Self {
            into,
            ..Self::default()
        }
    }

    /// Removes the blocks of an earlier attempt.
    pub(crate) fn clear(&mut self) {
        *self = Self::new(self.into.take());
    }

    /// Takes memory for the next `n_bytes` of blocks.
    ///
    /// # Errors
    /// [`Error::OutputLimit`] if the caller's memory ends before them; [`Error::OutOfMemory`].
    pub(crate) fn reserve(&mut self, n_bytes: u64) -> Result<()> {
        let (start, n_bytes) = (self.n_packed, n_bytes as usize);
        let piece = match &self.into {
            Some(into) if n_bytes > into.len() - start => {
                let limit = into.len() as u64;
                return Err(Error::OutputLimit { limit });
            }
            Some(into) => JsBytes::new(into.part(start..start + n_bytes)?),
            None => JsBytes::zeros(n_bytes)?,
        };
        self.pieces.push(piece);
        self.n_last = 0;
        Ok(())
    }

    /// Appends the first `n_bytes` of `host`, and the entries of `table`, whose offsets are relative to these bytes.
    pub(crate) async fn append(
        &mut self,
        host: &HostBuffer,
        n_bytes: u64,
        table: &[u32],
    ) -> Result<()> {
        if let Some(piece) = self.pieces.last() {
            piece.touch(self.n_last..self.n_last + n_bytes as usize);
            host.read_js_async(0..n_bytes, piece, self.n_last).await?;
        }
        let base_words = (self.n_packed / 4) as u32;
        memory::reserve(&mut self.table, table.len())?;
        for entry in table.chunks_exact(2) {
            self.table.extend([entry[0] + base_words, entry[1]]);
        }
        self.n_last += n_bytes as usize;
        self.n_packed += n_bytes as usize;
        Ok(())
    }

    /// Returns all blocks in one array, and removes them.
    pub(crate) fn packed(&mut self) -> Result<JsBytes> {
        if let Some(into) = &self.into {
            return Ok(JsBytes::new(into.part(0..self.n_packed)?));
        }
        JsBytes::joined(std::mem::take(&mut self.pieces))
    }
}

/// Packed pages. The words of fill pages may be unknown.
#[derive(Debug)]
pub(crate) struct JsPacked {
    /// The blocks, or the frame that contains them.
    pub bytes: JsBytes,
    /// True if `bytes` are a frame, in which blocks start at any byte.
    pub is_frame: bool,
    pub table: Vec<PageEntry>,
    pub page_size: u32,
    pub n_bytes: u64,
    pub dictionary: Option<Dictionary>,
}

impl JsPacked {
    pub(crate) fn view(&self) -> Packed<'_> {
        let blocks = match self.is_frame {
            true => Source::JsFrame(&self.bytes),
            false => Source::Js(&self.bytes),
        };
        Packed {
            blocks,
            table: &self.table,
            page_size: self.page_size,
            n_bytes: self.n_bytes,
            dictionary: self.dictionary.as_ref(),
        }
    }
}

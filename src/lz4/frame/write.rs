//! The frame writer.

use super::checksum::Checksum;
use super::framed::{FramedPages, most_framed};
use super::index::FrameIndex;
use super::{BlockSize, FrameOptions, checksum, put, put_word};
#[cfg(not(target_arch = "wasm32"))]
use crate::lz4::ordered::{append_shares, share_bytes};
use crate::lz4::{Encoder, PageEntry, PageKind};
use crate::memory::{reserve, reserve_result};
use crate::{Error, Result};

/// Content from which on memory is reserved for the worst case, and capacity from which on a fresh frame gives back what it
/// does not need.
const SHRUNK_BYTES: usize = 256 << 10;

/// Writes one frame, block by block, to buffers that the caller supplies.
pub struct FrameWriter {
    options: FrameOptions,
    encoder: Encoder,
    sum: Checksum,
    n_bytes: u64,
    /// The index of the blocks so far, if the options include one.
    index: Option<FrameIndex>,
}

impl std::fmt::Debug for FrameWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FrameWriter")
            .field("options", &self.options)
            .field("n_bytes", &self.n_bytes)
            .finish_non_exhaustive()
    }
}

impl FrameWriter {
    /// Starts a frame: appends its header to `out`.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if the block size is out of range.
    pub fn new(options: &FrameOptions, out: &mut Vec<u8>) -> Result<Self> {
        let encoder = options.encoder()?;
        let start = out.len();
        options.header().write(out);
        let index = options.index.then(|| FrameIndex {
            entries: Vec::new(),
            header_bytes: (out.len() - start) as u16,
            block_checksums: options.block_checksums,
            content_checksum: options.content_checksum,
        });
        Ok(Self {
            options: options.clone(),
            encoder,
            sum: Checksum::new(),
            n_bytes: 0,
            index,
        })
    }

    /// Appends `content` in blocks, natively compressed on all cores. If every call but the last gives a multiple of
    /// the block size, all blocks but the last of the frame are full.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn push(&mut self, content: &[u8], out: &mut Vec<u8>) -> Result<()> {
        let start = out.len();
        self.push_shares(content, out)?;
        self.note(&out[start..], content.len());
        Ok(())
    }

    /// Reserves memory for the worst case of `n_bytes` of content, where only what is written becomes resident. WebAssembly
    /// memory never shrinks.
    pub(crate) fn reserve(&self, n_bytes: usize, out: &mut Vec<u8>) -> Result<()> {
        match cfg!(not(target_arch = "wasm32")) && n_bytes >= SHRUNK_BYTES {
            true => self.reserve_most(n_bytes, out),
            false => Ok(()),
        }
    }

    /// Reserves memory for the worst case of `n_bytes` of content.
    pub(crate) fn reserve_most(&self, n_bytes: usize, out: &mut Vec<u8>) -> Result<()> {
        reserve_result(out, most_framed(n_bytes, &self.options))
    }

    fn push_shares(&mut self, content: &[u8], out: &mut Vec<u8>) -> Result<()> {
        self.reserve(content.len(), out)?;
        #[cfg(not(target_arch = "wasm32"))]
        if let Some(share) = share_bytes(content.len(), self.options.block_size as usize) {
            let options = self.options.clone();
            let new = || options.encoder();
            let make = |encoder: &mut Encoder, share: &[u8], blocks: &mut Vec<u8>| {
                push_blocks(encoder, &options, share, blocks)
            };
            let append = || append_shares(content, share, new, make, out);
            let (appended, ()) = rayon::join(append, || self.count(content));
            return appended.map(drop);
        }
        self.count(content);
        push_blocks(&mut self.encoder, &self.options, content, out)
    }

    /// Appends one block that is already compressed: `block` is the result of [`Encoder::compress_page`] or of a GPU
    /// for `content`.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if `content` is longer than the block size or `block` cannot be of its kind.
    pub fn push_block(
        &mut self,
        content: &[u8],
        kind: PageKind,
        block: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<()> {
        if content.len() > self.options.block_size as usize
            || (kind == PageKind::Lz4 && block.is_empty())
        {
            return Err(Error::InvalidArgument {
                name: "block",
                value: format!("{} bytes for {} bytes", block.len(), content.len()),
                expected: "give a block that is not empty, for at most the block size of the frame",
            });
        }
        let block = match kind {
            PageKind::Lz4 => block,
            PageKind::Stored => content,
            PageKind::Fill(_) => self.encoder.encode(content),
        };
        let start = out.len();
        push_block(content, block, self.options.block_checksums, out)?;
        self.note_blocks(content.len(), &out[start..]);
        self.add_content(content);
        Ok(())
    }

    /// Appends one block for each page of a batch, given its content, its packed blocks and its table.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if the table does not fit `packed`, `content` or the block size.
    pub fn push_pages(
        &mut self,
        content: &[u8],
        packed: &[u8],
        table: &[PageEntry],
        page_size: u32,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let framed = FramedPages::new(&self.options, content, packed, table, page_size)?;
        let mut sum = std::mem::replace(&mut self.sum, Checksum::new());
        let is_hashed = self.options.content_checksum;
        let hash = || {
            if is_hashed {
                sum.add(content);
            }
        };
        let start = out.len();
        let ((), appended) = beside(content.len(), hash, || framed.append(out));
        self.sum = sum;
        appended?;
        self.n_bytes += content.len() as u64;
        if self.index.is_some() {
            let mut at = start;
            for (page, length) in content.chunks(page_size as usize).zip(framed.lengths()) {
                self.note(&out[at..at + length], page.len());
                at += length;
            }
        }
        Ok(())
    }

    /// Adds content to the checksum, if there is one, without counting it: for content that is compressed elsewhere.
    pub(crate) fn add_content(&mut self, content: &[u8]) {
        if self.options.content_checksum {
            self.sum.add(content);
        }
    }

    /// Returns the state of the checksum of the content so far, if the frame has one.
    #[cfg(gpu_engine)]
    pub(crate) fn checksum(&self) -> Option<Checksum> {
        self.options.content_checksum.then(|| self.sum.clone())
    }

    /// Sets the checksum of the content, which was computed elsewhere. `None` leaves it as it is.
    #[cfg(any(gpu_engine, not(target_arch = "wasm32")))]
    pub(crate) fn set_checksum(&mut self, sum: Option<Checksum>) {
        if let Some(sum) = sum {
            self.sum = sum;
        }
    }

    /// Returns the checksum of the content so far, if there is one.
    #[cfg(web_files)]
    pub(crate) fn content_checksum(&self) -> u32 {
        self.sum.value()
    }

    /// Counts `n_bytes` of content that was compressed elsewhere. The index, if there is one, needs its `blocks` with
    /// their sizes and checksums; all but the last block of the frame are full.
    pub(crate) fn note_blocks(&mut self, n_bytes: usize, blocks: &[u8]) {
        self.n_bytes += n_bytes as u64;
        self.note(blocks, n_bytes);
    }

    /// Ends the frame: appends the end mark and, if the options include them, content checksum and index.
    ///
    /// # Errors
    /// [`Error::ContentSizeMismatch`] if the content is not as long as the options said.
    pub fn finish(mut self, out: &mut Vec<u8>) -> Result<()> {
        self.end(out)
    }

    /// As [`finish`](Self::finish), for callers that cannot move the writer. Nothing may follow.
    pub(crate) fn end(&mut self, out: &mut Vec<u8>) -> Result<()> {
        if let Some(stored) = self
            .options
            .content_size
            .filter(|&stored| stored != self.n_bytes)
        {
            return Err(Error::ContentSizeMismatch {
                stored,
                actual: self.n_bytes,
            });
        }
        reserve(out, 8)?;
        put_word(out, 0);
        if self.options.content_checksum {
            put_word(out, self.sum.value());
        }
        self.index.as_ref().map_or(Ok(()), |index| index.write(out))
    }

    fn note(&mut self, written: &[u8], content_bytes: usize) {
        if let Some(index) = &mut self.index {
            index.note(written, content_bytes, self.options.block_size as usize);
        }
    }

    fn count(&mut self, content: &[u8]) {
        self.n_bytes += content.len() as u64;
        self.add_content(content);
    }
}

/// Runs both, on two cores natively if the content of `n_bytes` is worth it.
pub(crate) fn beside<A: Send, B: Send>(
    n_bytes: usize,
    first: impl FnOnce() -> A + Send,
    second: impl FnOnce() -> B + Send,
) -> (A, B) {
    #[cfg(not(target_arch = "wasm32"))]
    if share_bytes(n_bytes, 1).is_some() {
        return rayon::join(first, second);
    }
    let _ = n_bytes;
    (first(), second())
}

/// Appends `content` in blocks.
pub(super) fn push_blocks(
    encoder: &mut Encoder,
    options: &FrameOptions,
    content: &[u8],
    out: &mut Vec<u8>,
) -> Result<()> {
    for content in content.chunks(options.block_size as usize) {
        let block = encoder.encode(content);
        push_block(content, block, options.block_checksums, out)?;
    }
    Ok(())
}

/// Appends one block with its size and checksum: `block`, or `content` itself if `block` is not shorter. Empty content
/// gives no block, since a size of 0 ends a frame.
fn push_block(content: &[u8], block: &[u8], checksums: bool, out: &mut Vec<u8>) -> Result<()> {
    if content.is_empty() {
        return Ok(());
    }
    let is_compressed = block.len() < content.len();
    let data = if is_compressed { block } else { content };
    let size = BlockSize::of(data.len(), is_compressed);
    reserve(out, size.framed_bytes(checksums))?;
    put_word(out, size.word);
    put(out, data);
    if checksums {
        put_word(out, checksum(data));
    }
    Ok(())
}

/// Compresses `content` to one frame, on all cores natively.
///
/// # Errors
/// [`Error::InvalidArgument`] if the block size is out of range; [`Error::ContentSizeMismatch`] if the options state
/// another content size.
pub fn compress(content: &[u8], options: &FrameOptions) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    compress_into(content, options, &mut out)?;
    give_back(&mut out);
    Ok(out)
}

/// As [`compress`], into the memory of `out`, whose contents are overwritten. It grows to the bytes of the worst case, those of
/// `content` and of the blocks' sizes; the system makes only what is written resident.
///
/// # Errors
/// As [`compress`]; `out` is empty then.
pub fn compress_into(content: &[u8], options: &FrameOptions, out: &mut Vec<u8>) -> Result<()> {
    out.clear();
    let mut write = || {
        let mut writer = FrameWriter::new(options, out)?;
        writer.push(content, out)?;
        writer.finish(out)
    };
    let written = write();
    written.inspect_err(|_| out.clear())
}

/// Gives back what a fresh frame does not need of memory that was reserved for the worst case. WebAssembly memory never shrinks.
pub(crate) fn give_back(frame: &mut Vec<u8>) {
    if cfg!(not(target_arch = "wasm32")) && frame.capacity() >= SHRUNK_BYTES {
        frame.shrink_to_fit();
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "a test that cannot go on fails")]

    use super::*;
    use crate::lz4::frame::word;

    #[test]
    fn blocks_made_elsewhere_are_counted_summed_and_indexed() {
        let content: Vec<u8> = (0..10_000_u32).map(|i| (i % 251) as u8).collect();
        for block_checksums in [false, true] {
            let options = FrameOptions {
                block_size: 4096,
                content_size: Some(10_000),
                block_checksums,
                index: true,
                ..FrameOptions::default()
            };
            let whole = compress(&content, &options).expect("in range");
            let mut out = Vec::new();
            let mut writer = FrameWriter::new(&options, &mut out).expect("in range");
            let mut ends = vec![out.len()];
            for i in 0..3 {
                let size = word(&whole, ends[i]).expect("a block");
                let size = BlockSize::new(size, false);
                ends.push(ends[i] + size.framed_bytes(block_checksums));
            }
            out.extend_from_slice(&whole[out.len()..ends[3]]);
            writer.add_content(&content);
            writer.note_blocks(8192, &whole[ends[0]..ends[2]]);
            writer.note_blocks(1808, &whole[ends[2]..ends[3]]);
            writer.end(&mut out).expect("all of it");
            assert!(out == whole);
            writer.note_blocks(1, &[]);
            let (stored, actual) = (10_000, 10_001);
            let mismatch = Error::ContentSizeMismatch { stored, actual };
            assert_eq!(writer.end(&mut out), Err(mismatch));
        }
    }
}

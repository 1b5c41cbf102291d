//! What takes results: memory of ours or, in a browser, JavaScript's.

use crate::Result;
use crate::gpu::{HostBuffer, HostMemory};
use crate::lz4::PackedPages;
use crate::lz4::PageEntry;

/// Takes compressed pages.
pub(crate) trait BlockSink: Sized {
    /// What it becomes.
    type Out;
    /// Whether [`reserve`](Self::reserve) should come before as many bytes as possible.
    const WANTS_TOTAL: bool;

    /// For `n_bytes` of pages.
    fn new(n_bytes: usize, page_size: u32) -> Self;

    /// Says that `n_bytes` of blocks come next.
    fn reserve(&mut self, n_bytes: u64) -> Result<()>;

    /// Appends the first `n_bytes` of `host`, and a table of two words a page that counts from there.
    async fn append(&mut self, host: &HostBuffer, n_bytes: u64, table: &[u32]) -> Result<()>;

    /// Nothing follows.
    fn finish(self) -> Result<Self::Out>;
}

/// Takes pages.
pub(crate) trait PageSink: Sized {
    /// For `n_bytes`.
    fn new(n_bytes: usize) -> Result<Self>;

    /// Puts the first `n_bytes` of `host` at `at`.
    async fn put(&mut self, at: usize, host: &HostBuffer, n_bytes: usize) -> Result<()>;

    /// Puts one page at `at`.
    fn put_page(&mut self, at: usize, page: &[u8]);
}

/// Takes compressed pages into our memory.
pub(crate) struct OwnBlocks {
    pages: PackedPages,
    /// Bytes of `pages.packed` in use.
    n_packed: usize,
}

impl BlockSink for OwnBlocks {
    type Out = PackedPages;
    const WANTS_TOTAL: bool = false;

    fn new(n_bytes: usize, page_size: u32) -> Self {
        let pages = PackedPages {
            packed: room(n_bytes.next_multiple_of(4)),
            table: Vec::new(),
            page_size,
            n_bytes: n_bytes as u64,
        };
        Self { pages, n_packed: 0 }
    }

    fn reserve(&mut self, _n_bytes: u64) -> Result<()> {
        Ok(())
    }

    async fn append(&mut self, host: &HostBuffer, n_bytes: u64, table: &[u32]) -> Result<()> {
        let base = self.n_packed;
        self.n_packed += n_bytes as usize;
        let packed = &mut self.pages.packed;
        host.read_async(0..n_bytes, |bytes| put(packed, base, bytes))
            .await?;
        for words in table.chunks_exact(2) {
            let entry = PageEntry::from_words([words[0], words[1]], &packed[base..]);
            let entry = entry.map_err(|error| {
                super::ring::broken(format!("kernels wrote a table entry of no kind: {error}"))
            })?;
            self.pages.table.push(PageEntry {
                offset: entry.offset + base as u64,
                ..entry
            });
        }
        Ok(())
    }

    fn finish(mut self) -> Result<PackedPages> {
        self.pages.packed.truncate(self.n_packed);
        self.pages.packed.shrink_to_fit();
        Ok(self.pages)
    }
}

impl PageSink for Vec<u8> {
    fn new(n_bytes: usize) -> Result<Self> {
        Ok(room(n_bytes))
    }

    async fn put(&mut self, at: usize, host: &HostBuffer, n_bytes: usize) -> Result<()> {
        let copied = n_bytes.next_multiple_of(4) as u64;
        host.read_async(0..copied, |bytes| put(self, at, &bytes[..n_bytes]))
            .await
    }

    fn put_page(&mut self, at: usize, page: &[u8]) {
        put(self, at, page);
    }
}

/// Room for `n_bytes` of output. Natively memory that is untouched until it is written; in a browser, where memory
/// never shrinks, nothing yet.
fn room(n_bytes: usize) -> Vec<u8> {
    if cfg!(target_arch = "wasm32") {
        Vec::new()
    } else {
        vec![0; n_bytes]
    }
}

/// Puts `bytes` at `at`, on several cores natively when there is much: one core is slower than the bus.
fn put(out: &mut Vec<u8>, at: usize, bytes: &[u8]) {
    if out.len() < at + bytes.len() {
        out.resize(at + bytes.len(), 0);
    }
    let out = &mut out[at..at + bytes.len()];
    #[cfg(not(target_arch = "wasm32"))]
    {
        use rayon::prelude::*;
        const SHARE_BYTES: usize = 1 << 20;
        let shares = out
            .par_chunks_mut(SHARE_BYTES)
            .zip(bytes.par_chunks(SHARE_BYTES));
        shares.for_each(|(out, bytes)| out.copy_from_slice(bytes));
    }
    #[cfg(target_arch = "wasm32")]
    out.copy_from_slice(bytes);
}

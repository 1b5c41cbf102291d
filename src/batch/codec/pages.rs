//! Compresses and decompresses batches of pages on the engine of the call.

use std::mem::MaybeUninit;

use super::choose::Plan;
#[cfg(gpu_engine)]
use super::no_gpu;
use super::{Codec, Report, on_host};
use crate::Result;
#[cfg(gpu_engine)]
use crate::batch::pipeline::plan::{Form, Packed};
#[cfg(gpu_engine)]
use crate::batch::pipeline::source::Source;
#[cfg(gpu_engine)]
use crate::gpu::Backend;
use crate::lz4::{self, BlockError, Level, PackedPages, all_sound, check_room};
#[cfg(gpu_engine)]
use crate::lz4::{Dictionary, PageEntry};
use crate::memory::{as_uninit, reserve_result};

/// The error of each page.
type Status = Vec<Option<BlockError>>;

impl Codec {
    /// Compresses pages of 4096, 8192, 16384, 32768 or 65536 bytes; the last one may be shorter.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`](crate::Error::InvalidArgument) for other page sizes;
    /// [`Error::DeviceLost`](crate::Error::DeviceLost) and [`Error::OutOfMemory`](crate::Error::OutOfMemory) on a forced GPU.
    pub async fn compress_pages_async(
        &mut self,
        bytes: &[u8],
        page_size: u32,
        level: Level,
    ) -> Result<(PackedPages, Report)> {
        let mut pages = PackedPages::default();
        let compressed = self.compress_pages_into_async(bytes, page_size, level, &mut pages);
        let report = compressed.await?;
        pages.give_back();
        Ok((pages, report))
    }

    /// As [`compress_pages_async`](Self::compress_pages_async), into the memory of an earlier result, whose contents are
    /// overwritten. `pages.packed` grows to the bytes of the worst case, those of `bytes`; the system makes only what is written
    /// resident.
    ///
    /// # Errors
    /// As [`compress_pages_async`](Self::compress_pages_async); `pages` is empty then.
    pub async fn compress_pages_into_async(
        &mut self,
        bytes: &[u8],
        page_size: u32,
        level: Level,
        pages: &mut PackedPages,
    ) -> Result<Report> {
        let compressed = self.compress_pages_to(bytes, page_size, level, pages).await;
        compressed.inspect_err(|_| pages.clear())
    }

    #[cfg_attr(
        not(gpu_engine),
        allow(
            clippy::infallible_destructuring_match,
            reason = "without a GPU engine there is one plan"
        )
    )]
    async fn compress_pages_to(
        &mut self,
        bytes: &[u8],
        page_size: u32,
        level: Level,
        pages: &mut PackedPages,
    ) -> Result<Report> {
        let dictionary = self.options.dictionary.clone();
        let plan = self.plan_compress(bytes, page_size, level, dictionary.as_ref());
        let reason = match plan.await? {
            Plan::Cpu(reason) => reason,
            #[cfg(gpu_engine)]
            Plan::Gpu(reason) => {
                let Some(gpu) = &mut self.gpu else {
                    return Err(no_gpu());
                };
                let form = Form {
                    page_size,
                    level,
                    dictionary: dictionary.as_ref(),
                };
                match gpu.compress_into(bytes, form, pages).await {
                    Ok(timings) => {
                        return Ok(Report {
                            engine: gpu.device().name(),
                            reason,
                            timings,
                        });
                    }
                    Err(error) => self.give_up(error)?,
                }
            }
        };
        let dictionary = dictionary.as_ref();
        let compress = || lz4::compress_with(bytes, page_size, level, dictionary, pages);
        let ((), timings) = on_host(compress)?;
        Ok(Report::cpu(reason, timings))
    }

    /// Decompresses pages.
    ///
    /// # Errors
    /// [`Error::CorruptPage`](crate::Error::CorruptPage) for the first corrupt page; otherwise as
    /// [`decompress_pages_status_async`](Self::decompress_pages_status_async).
    pub async fn decompress_pages_async(
        &mut self,
        pages: &PackedPages,
    ) -> Result<(Vec<u8>, Report)> {
        let ((bytes, status), report) = self.decompress_pages_status_async(pages).await?;
        all_sound(&status).map(|()| (bytes, report))
    }

    /// As [`decompress_pages_async`](Self::decompress_pages_async), to the start of `out`; bytes of `out` behind the pages are
    /// not written.
    ///
    /// # Errors
    /// As [`decompress_pages_async`](Self::decompress_pages_async), where after a corrupt page the others are in `out`;
    /// [`Error::OutputTooSmall`](crate::Error::OutputTooSmall) if `out` is shorter than the pages, of which none is written then.
    pub async fn decompress_pages_into_async(
        &mut self,
        pages: &PackedPages,
        out: &mut [u8],
    ) -> Result<Report> {
        let (status, report) = self.decompress_pages_status_into_async(pages, out).await?;
        all_sound(&status).map(|()| report)
    }

    /// Decompresses pages and returns the error of each; a corrupt page is all zeros.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`](crate::Error::InvalidArgument) if table, page size and length disagree;
    /// [`Error::DictionaryNeeded`](crate::Error::DictionaryNeeded) and [`Error::WrongDictionary`](crate::Error::WrongDictionary) for pages
    /// of another dictionary than the codec's;
    /// [`Error::DeviceLost`](crate::Error::DeviceLost) and [`Error::OutOfMemory`](crate::Error::OutOfMemory) on a forced GPU.
    pub async fn decompress_pages_status_async(
        &mut self,
        pages: &PackedPages,
    ) -> Result<((Vec<u8>, Vec<Option<BlockError>>), Report)> {
        let n_bytes = pages.checked_n_bytes(self.options.dictionary.as_ref())?;
        let mut bytes = Vec::new();
        reserve_result(&mut bytes, n_bytes)?;
        let room = &mut bytes.spare_capacity_mut()[..n_bytes];
        let (status, report) = self.decompress_pages_to(pages, room).await?;
        // SAFETY: the capacity is at least `n_bytes`, and `decompress_pages_to` has initialised as many.
        unsafe { bytes.set_len(n_bytes) };
        Ok(((bytes, status), report))
    }

    /// As [`decompress_pages_status_async`](Self::decompress_pages_status_async), to the start of `out`; bytes of `out` behind
    /// the pages are not written.
    ///
    /// # Errors
    /// As [`decompress_pages_status_async`](Self::decompress_pages_status_async), after which pages in `out` are undefined;
    /// [`Error::OutputTooSmall`](crate::Error::OutputTooSmall) if `out` is shorter than the pages, of which none is written then.
    pub async fn decompress_pages_status_into_async(
        &mut self,
        pages: &PackedPages,
        out: &mut [u8],
    ) -> Result<(Vec<Option<BlockError>>, Report)> {
        let n_bytes = pages.checked_n_bytes(self.options.dictionary.as_ref())?;
        let room = check_room(out, n_bytes)?;
        // SAFETY: `decompress_pages_to` writes only initialised bytes.
        let room = unsafe { as_uninit(room) };
        self.decompress_pages_to(pages, room).await
    }

    /// Decompresses checked pages to memory of their length, all of which is initialised after success. Writes only
    /// initialised bytes.
    #[cfg_attr(
        not(gpu_engine),
        allow(
            clippy::infallible_destructuring_match,
            reason = "without a GPU engine there is one plan"
        )
    )]
    async fn decompress_pages_to(
        &mut self,
        pages: &PackedPages,
        out: &mut [MaybeUninit<u8>],
    ) -> Result<(Status, Report)> {
        let dictionary = self.options.dictionary.clone();
        let dictionary = dictionary.as_ref();
        #[cfg(gpu_engine)]
        let packed = Packed::new(pages, dictionary);
        #[cfg(gpu_engine)]
        let reason = match self.decompress_on_gpu(&packed, out).await? {
            Ok(done) => return Ok(done),
            Err(reason) => reason,
        };
        #[cfg(not(gpu_engine))]
        let reason = match self.plan_decompress(pages).await? {
            Plan::Cpu(reason) => reason,
        };
        let (status, timings) = on_host(|| lz4::decompress_all(pages, dictionary, out))?;
        Ok((status, Report::cpu(reason, timings)))
    }

    /// As [`decompress_pages_to`](Self::decompress_pages_to), for pages of which each block is at its place in `frame`.
    #[cfg(gpu_engine)]
    pub(in crate::batch) async fn decompress_blocks_to(
        &mut self,
        frame: &[u8],
        table: &[PageEntry],
        page_size: u32,
        dictionary: Option<&Dictionary>,
        out: &mut [MaybeUninit<u8>],
    ) -> Result<(Status, Report)> {
        let pages = Packed {
            blocks: Source::Frame(frame),
            table,
            page_size,
            n_bytes: out.len() as u64,
            dictionary,
        };
        let reason = match self.decompress_on_gpu(&pages, out).await? {
            Ok(done) => return Ok(done),
            Err(reason) => reason,
        };
        let decompress = |entry: &PageEntry, page: &mut [MaybeUninit<u8>]| {
            let start = entry.offset as usize;
            let block = frame.get(start..start + entry.length as usize);
            let entry = PageEntry {
                offset: 0,
                ..*entry
            };
            entry.decompress_uninit(block.unwrap_or_default(), page, dictionary)
        };
        let decompress = || lz4::decompress_each(table, page_size, out, decompress);
        let (status, timings) = on_host(decompress)?;
        Ok((status, Report::cpu(reason, timings)))
    }

    /// Decompresses pages on the GPU, or returns the reason why the CPU is to do it.
    #[cfg(gpu_engine)]
    async fn decompress_on_gpu(
        &mut self,
        pages: &Packed<'_>,
        out: &mut [MaybeUninit<u8>],
    ) -> Result<Result<(Status, Report), String>> {
        let reason = match self.plan_decompress(pages).await? {
            Plan::Cpu(reason) => return Ok(Err(reason)),
            Plan::Gpu(reason) => reason,
        };
        let gpu = self.gpu.as_mut().ok_or_else(no_gpu)?;
        match gpu.decompress_to(pages, out).await {
            Ok((status, timings)) => {
                let report = Report {
                    engine: gpu.device().name(),
                    reason,
                    timings,
                };
                Ok(Ok((status, report)))
            }
            Err(error) => self.give_up(error).map(Err),
        }
    }
}

/// Blocking forms. Native only. On CUDA, calls on 128 MiB of pages and more use up to 16 threads of rayon's pool to copy and to
/// submit jobs, with up to 560 MiB of pinned staging memory, which the codec keeps.
#[cfg(not(target_arch = "wasm32"))]
impl Codec {
    /// Blocking form of [`compress_pages_async`](Self::compress_pages_async), on CUDA up to 1.3 times as fast for 128 MiB and more.
    ///
    /// # Errors
    /// As the asynchronous form.
    pub fn compress_pages(
        &mut self,
        bytes: &[u8],
        page_size: u32,
        level: Level,
    ) -> Result<(PackedPages, Report)> {
        self.blocking(|codec| {
            crate::batch::block_on(codec.compress_pages_async(bytes, page_size, level))
        })
    }

    /// Blocking form of [`compress_pages_into_async`](Self::compress_pages_into_async).
    ///
    /// # Errors
    /// As the asynchronous form.
    pub fn compress_pages_into(
        &mut self,
        bytes: &[u8],
        page_size: u32,
        level: Level,
        pages: &mut PackedPages,
    ) -> Result<Report> {
        self.blocking(|codec| {
            crate::batch::block_on(codec.compress_pages_into_async(bytes, page_size, level, pages))
        })
    }

    /// Blocking form of [`decompress_pages_async`](Self::decompress_pages_async), on CUDA up to 1.5 times as fast for 128 MiB and more.
    ///
    /// # Errors
    /// As the asynchronous form.
    pub fn decompress_pages(&mut self, pages: &PackedPages) -> Result<(Vec<u8>, Report)> {
        self.blocking(|codec| crate::batch::block_on(codec.decompress_pages_async(pages)))
    }

    /// Blocking form of [`decompress_pages_into_async`](Self::decompress_pages_into_async).
    ///
    /// # Errors
    /// As the asynchronous form.
    pub fn decompress_pages_into(&mut self, pages: &PackedPages, out: &mut [u8]) -> Result<Report> {
        self.blocking(|codec| crate::batch::block_on(codec.decompress_pages_into_async(pages, out)))
    }

    /// Blocking form of [`decompress_pages_status_into_async`](Self::decompress_pages_status_into_async).
    ///
    /// # Errors
    /// As the asynchronous form.
    pub fn decompress_pages_status_into(
        &mut self,
        pages: &PackedPages,
        out: &mut [u8],
    ) -> Result<(Vec<Option<BlockError>>, Report)> {
        self.blocking(|codec| {
            crate::batch::block_on(codec.decompress_pages_status_into_async(pages, out))
        })
    }
}

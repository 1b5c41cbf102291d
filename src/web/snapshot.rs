//! Snapshots of memory. The blocks of versions are in JavaScript, which compresses pages and reads layers.
//!
//! Parts of layers are three numbers each: the index of the layer, the offset of the first byte, the offset after the last one.

use std::cell::Cell;
use std::ops::Range;

use js_sys::Uint8Array;
use wasm_bindgen::prelude::*;

use super::bytes::{append, copied};
use super::files::compress_each;
use super::level::Level;
use super::table::{entries, read_entry};
use crate::memory::zeros;
use crate::snapshot::{Capture, FileWriter, Piece, Region, Restore, Version};
use crate::{Error, Result};

/// A version of an image.
#[wasm_bindgen(js_name = Version)]
#[derive(Debug)]
pub struct WebVersion(Version);

#[wasm_bindgen(js_class = Version)]
impl WebVersion {
    /// Reads the version of a file of `fileBytes` from its manifest.
    ///
    /// # Errors
    /// `INVALID_SNAPSHOT`, `WRONG_BASE`, `OUTPUT_LIMIT` for an image of more than `maxBytes`, `OUT_OF_MEMORY`.
    pub fn read(
        manifest: &[u8],
        file_bytes: f64,
        base: Option<WebVersion>,
        max_bytes: f64,
    ) -> std::result::Result<WebVersion, JsValue> {
        let base = base.as_ref().map(|base| &base.0);
        let version = Version::read(manifest, file_bytes as u64, base, max_bytes as u64)?;
        Ok(Self(version))
    }

    /// Returns the offset of the manifest in a file of `fileBytes`, given the last bytes of it.
    ///
    /// # Errors
    /// `INVALID_SNAPSHOT`.
    #[wasm_bindgen(js_name = manifestStart)]
    pub fn manifest_start(foot: &[u8], file_bytes: f64) -> std::result::Result<f64, JsValue> {
        Ok(Version::manifest_range(foot, file_bytes as u64)?.start as f64)
    }

    /// Returns the id of the base that a manifest names, if it names one.
    ///
    /// # Errors
    /// `INVALID_SNAPSHOT`.
    #[wasm_bindgen(js_name = baseOf)]
    pub fn base_of(manifest: &[u8]) -> std::result::Result<Option<String>, JsValue> {
        Ok(Version::base_of(manifest)?.map(|base| base.to_string()))
    }

    /// Returns another handle of this version, for functions that take one.
    #[must_use]
    #[allow(clippy::should_implement_trait, reason = "JavaScript has no traits")]
    pub fn clone(&self) -> WebVersion {
        Self(self.0.clone())
    }

    /// Returns the id: 32 hexadecimal digits.
    #[must_use]
    #[wasm_bindgen(getter)]
    pub fn id(&self) -> String {
        self.0.id().to_string()
    }

    /// Returns the id of the base.
    #[must_use]
    #[wasm_bindgen(getter)]
    pub fn base(&self) -> Option<String> {
        self.0.base().map(|base| base.to_string())
    }

    /// Returns the bytes of a page.
    #[must_use]
    #[wasm_bindgen(getter, js_name = pageSize)]
    pub fn page_size(&self) -> u32 {
        self.0.page_size()
    }

    /// Returns the number of layers.
    #[must_use]
    #[wasm_bindgen(getter, js_name = layers)]
    pub fn n_layers(&self) -> usize {
        self.0.n_layers()
    }

    /// Returns the lengths of the regions.
    #[must_use]
    #[wasm_bindgen(getter)]
    pub fn lengths(&self) -> Vec<f64> {
        let regions = self.0.regions().iter();
        regions.map(|region| region.n_bytes as f64).collect()
    }

    /// Returns the name of a region.
    #[must_use]
    pub fn name(&self, region: usize) -> Option<String> {
        Some(self.0.regions().get(region)?.name.clone())
    }

    /// Returns numbers of pages: all, unchanged, filled, copied and added ones, and the bytes of the blocks of the latter.
    #[must_use]
    #[wasm_bindgen(getter)]
    pub fn counts(&self) -> Vec<f64> {
        let counts = self.0.counts();
        let all = [
            counts.pages,
            counts.unchanged,
            counts.filled,
            counts.copied,
            counts.added,
            counts.added_bytes,
        ];
        all.map(|n| n as f64).into()
    }

    /// Returns the changed ranges between `earlier` and this version, three numbers each: the index of the region, the offset of the
    /// first byte, the offset after the last one.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` if the page sizes differ, `OUT_OF_MEMORY`.
    pub fn diff(&self, earlier: &WebVersion) -> std::result::Result<Vec<f64>, JsValue> {
        let diff = self.0.diff(&earlier.0)?;
        let numbers = |range: &crate::snapshot::ChangedRange| {
            [range.region as f64, range.start as f64, range.end as f64]
        };
        Ok(diff.changed.iter().flat_map(numbers).collect())
    }

    /// Returns a version of the same image that needs no base.
    ///
    /// # Errors
    /// `OUT_OF_MEMORY`.
    pub fn flatten(&self) -> std::result::Result<WebVersion, JsValue> {
        Ok(Self(self.0.flatten()?.0))
    }

    /// Returns the parts of layers that are the layer of the flattened version.
    ///
    /// # Errors
    /// `OUT_OF_MEMORY`.
    #[wasm_bindgen(js_name = flatParts)]
    pub fn flat_parts(&self) -> std::result::Result<Vec<f64>, JsValue> {
        Ok(numbers(&self.0.flatten()?.1))
    }
}

fn numbers(pieces: &[Piece]) -> Vec<f64> {
    let numbers = |piece: &Piece| [f64::from(piece.layer), piece.start as f64, piece.end as f64];
    pieces.iter().flat_map(numbers).collect()
}

/// A version in the making.
#[wasm_bindgen(js_name = Capture)]
#[derive(Debug)]
pub struct WebCapture {
    capture: Capture,
    /// The last bytes of the image, and the ranges of them that are pages to compress.
    bytes: Vec<u8>,
    to_compress: Vec<Range<usize>>,
}

#[wasm_bindgen(js_class = Capture)]
impl WebCapture {
    /// Starts a version of regions with these names and lengths, which continues `base`.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT`, `OUT_OF_MEMORY`.
    #[wasm_bindgen(constructor)]
    pub fn new(
        page_size: u32,
        names: Vec<String>,
        lengths: Vec<f64>,
        base: Option<WebVersion>,
    ) -> std::result::Result<WebCapture, JsValue> {
        let region = |(name, n_bytes): (String, f64)| Region {
            name,
            n_bytes: n_bytes as u64,
        };
        let regions = names.into_iter().zip(lengths).map(region).collect();
        let capture = Capture::new(page_size, regions, base.as_ref().map(|base| &base.0))?;
        Ok(Self {
            capture,
            bytes: Vec::new(),
            to_compress: Vec::new(),
        })
    }

    /// Takes the next bytes of the image, and returns the number of bytes of pages to compress: by
    /// [`compress_pages`](Self::compress_pages), or by the caller, for whom [`take_pages`](Self::take_pages) copies them.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` for bytes that are no whole pages of one region, `OUT_OF_MEMORY`.
    pub fn add(&mut self, bytes: &Uint8Array) -> std::result::Result<usize, JsValue> {
        self.to_compress.clear();
        self.bytes.clear();
        append(&mut self.bytes, bytes)?;
        self.to_compress = self.capture.add(&self.bytes)?;
        Ok(self.n_to_compress())
    }

    fn n_to_compress(&self) -> usize {
        self.to_compress.iter().map(Range::len).sum()
    }

    /// Copies the pages to compress of the last [`add`](Self::add) to `into`, which has their length.
    #[wasm_bindgen(js_name = takePages)]
    pub fn take_pages(&self, into: &Uint8Array) {
        let mut at = 0;
        for range in &self.to_compress {
            let end = at + range.len() as u32;
            into.subarray(at, end).copy_from(&self.bytes[range.clone()]);
            at = end;
        }
    }

    /// Sets the places of the next compressed pages: their table, with offsets from `at` on.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT`.
    pub fn store(&mut self, table: &[u32], at: f64) -> std::result::Result<(), JsValue> {
        for &entry in entries(table)? {
            self.capture.store(&[read_entry(entry, &[])], at as u64)?;
        }
        Ok(())
    }

    /// Compresses the pages of the last [`add`](Self::add), sets the places of their blocks from `at` on, and returns the blocks.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT`, `OUT_OF_MEMORY`.
    #[wasm_bindgen(js_name = compressPages)]
    pub fn compress_pages(
        &mut self,
        level: Level,
        at: f64,
    ) -> std::result::Result<Vec<u8>, JsValue> {
        let page_size = self.capture.page_size();
        let ranges = self.to_compress.iter();
        let mut pages =
            ranges.flat_map(|range| self.bytes[range.clone()].chunks(page_size as usize));
        let n_bytes = self.n_to_compress();
        let (blocks, table) = compress_each(&mut pages, n_bytes, page_size, level, None)?;
        self.capture.store(&table, at as u64)?;
        Ok(blocks)
    }

    /// Returns the version.
    ///
    /// # Errors
    /// `LENGTH_MISMATCH` unless all bytes were added and all blocks stored.
    pub fn finish(self) -> std::result::Result<WebVersion, JsValue> {
        Ok(WebVersion(self.capture.finish()?))
    }
}

/// Restores bytes of a region in steps.
#[wasm_bindgen(js_name = Restore)]
#[derive(Debug)]
pub struct WebRestore(Restore);

#[wasm_bindgen(js_class = Restore)]
impl WebRestore {
    /// Prepares to restore bytes `start..end` of a region.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT`.
    #[wasm_bindgen(constructor)]
    pub fn new(
        version: &WebVersion,
        region: usize,
        start: f64,
        end: f64,
    ) -> std::result::Result<WebRestore, JsValue> {
        let range = start as u64..end as u64;
        Ok(Self(Restore::new(&version.0, region, range)?))
    }

    /// Returns the number of bytes that the next `supply` restores; 0 at the end.
    #[must_use]
    #[wasm_bindgen(getter, js_name = nextBytes)]
    pub fn next_bytes(&self) -> usize {
        self.0.next_bytes()
    }

    /// Returns the parts of layers to supply next.
    ///
    /// # Errors
    /// `OUT_OF_MEMORY`.
    pub fn wanted(&self) -> std::result::Result<Vec<f64>, JsValue> {
        Ok(numbers(&self.0.wanted()?))
    }

    /// Restores the next bytes to `into`, which has their length.
    ///
    /// # Errors
    /// `CORRUPT_PAGE`, `CHECKSUM_MISMATCH`, `OUT_OF_MEMORY`.
    pub fn supply(
        &mut self,
        staged: &Uint8Array,
        into: &Uint8Array,
    ) -> std::result::Result<(), JsValue> {
        self.restore(staged, into)?;
        Ok(())
    }
}

thread_local! {
    /// Memory of the last step of a restore: staged bytes and content.
    static SCRATCH: Cell<(Vec<u8>, Vec<u8>)> = const { Cell::new((Vec::new(), Vec::new())) };
}

impl WebRestore {
    fn restore(&mut self, staged: &Uint8Array, into: &Uint8Array) -> Result<()> {
        let (mut bytes, mut content) = SCRATCH.take();
        bytes.clear();
        append(&mut bytes, staged)?;
        let n_bytes = self.0.next_bytes();
        if content.len() < n_bytes {
            content = zeros(n_bytes)?;
        }
        let content_part = &mut content[..n_bytes];
        self.0.supply(&bytes, content_part)?;
        if into.length() as usize != n_bytes {
            return Err(Error::LengthMismatch {
                name: "into",
                expected: n_bytes as u64,
                actual: into.length().into(),
            });
        }
        into.copy_from(content_part);
        SCRATCH.set((bytes, content));
        Ok(())
    }
}

/// Writes a version as a file in steps.
#[wasm_bindgen(js_name = FileWriter)]
#[derive(Debug)]
pub struct WebFileWriter(FileWriter);

#[wasm_bindgen(js_class = FileWriter)]
impl WebFileWriter {
    /// Prepares to write `version`.
    ///
    /// # Errors
    /// `OUT_OF_MEMORY`.
    #[wasm_bindgen(constructor)]
    pub fn new(version: &WebVersion) -> std::result::Result<WebFileWriter, JsValue> {
        Ok(Self(FileWriter::new(&version.0)?))
    }

    /// Returns the parts of layers to supply next; undefined at the end of the file.
    ///
    /// # Errors
    /// `OUT_OF_MEMORY`.
    pub fn wanted(&self) -> std::result::Result<Option<Vec<f64>>, JsValue> {
        Ok(self.0.wanted()?.map(|pieces| numbers(&pieces)))
    }

    /// Returns the next bytes of the file.
    ///
    /// # Errors
    /// `OUT_OF_MEMORY`.
    pub fn supply(&mut self, staged: &Uint8Array) -> std::result::Result<Vec<u8>, JsValue> {
        let mut file = Vec::new();
        self.0.supply(&copied(staged)?, &mut file)?;
        Ok(file)
    }
}

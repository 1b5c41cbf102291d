//! `Pages`: a batch of compressed pages.

use pagepress::Error;
use pagepress::lz4::{BlockError, PackedPages, PageEntry, PageKind};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::buffers::Input;
use crate::errors::{argument, raise};

/// Bytes of an entry: the offset of the block, its length and its kind, little-endian.
const ENTRY_BYTES: usize = 16;

/// Blocks of pages, and a table with their places. Immutable.
#[pyclass(frozen, module = "pagepress")]
pub(crate) struct Pages(pub(crate) PackedPages);

#[pymethods]
impl Pages {
    #[new]
    fn new(
        py: Python<'_>,
        packed: &Bound<'_, PyAny>,
        table: &Bound<'_, PyAny>,
        page_size: u32,
        size: u64,
    ) -> PyResult<Self> {
        let packed = Input::new(packed)?.bytes().to_vec();
        let table = Input::new(table)?;
        let (entries, rest) = table.bytes().as_chunks::<ENTRY_BYTES>();
        if !rest.is_empty() {
            let message = format!(
                "the table has {} bytes; give 16 for each page",
                table.bytes().len()
            );
            return Err(argument(py, &message));
        }
        let entries = entries.iter().enumerate();
        let table = entries
            .map(|(page, bytes)| entry(page, bytes, &packed))
            .collect::<Result<_, _>>();
        Ok(Self(PackedPages {
            table: table.map_err(|error| raise(py, &error))?,
            packed,
            page_size,
            n_bytes: size,
            dictionary_id: 0,
        }))
    }

    /// The blocks.
    #[getter]
    fn packed<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.packed)
    }

    /// The table: 16 bytes for each page.
    #[getter]
    fn table<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let mut bytes = Vec::with_capacity(self.0.table.len() * ENTRY_BYTES);
        for entry in &self.0.table {
            let kind = match entry.kind {
                PageKind::Lz4 => 0_u32,
                PageKind::Stored => 1,
                PageKind::Fill(_) => 2,
            };
            bytes.extend(entry.offset.to_le_bytes());
            bytes.extend(entry.length.to_le_bytes());
            bytes.extend(kind.to_le_bytes());
        }
        PyBytes::new(py, &bytes)
    }

    #[getter]
    fn page_size(&self) -> u32 {
        self.0.page_size
    }

    /// Bytes of all pages.
    #[getter]
    fn size(&self) -> u64 {
        self.0.n_bytes
    }

    #[getter]
    fn ratio(&self) -> f64 {
        self.0.ratio()
    }

    fn __len__(&self) -> usize {
        self.0.table.len()
    }

    fn __repr__(&self) -> String {
        let (n, page_size, ratio) = (self.0.table.len(), self.0.page_size, self.0.ratio());
        format!("<pagepress.Pages: {n} of {page_size} bytes, ratio {ratio:.2}>")
    }
}

/// Reads an entry; `packed` has the word of a fill.
fn entry(page: usize, bytes: &[u8; ENTRY_BYTES], packed: &[u8]) -> Result<PageEntry, Error> {
    let [
        o0,
        o1,
        o2,
        o3,
        o4,
        o5,
        o6,
        o7,
        l0,
        l1,
        l2,
        l3,
        k0,
        k1,
        k2,
        k3,
    ] = *bytes;
    let offset = u64::from_le_bytes([o0, o1, o2, o3, o4, o5, o6, o7]);
    let start = usize::try_from(offset).unwrap_or(usize::MAX);
    let word = packed.get(start..).and_then(|rest| rest.first_chunk());
    let kind = match u32::from_le_bytes([k0, k1, k2, k3]) {
        0 => PageKind::Lz4,
        1 => PageKind::Stored,
        2 => PageKind::Fill(word.map_or(0, |word| u64::from_le_bytes(*word))),
        _ => {
            let source = BlockError::BadTableEntry;
            return Err(Error::CorruptPage { page, source });
        }
    };
    Ok(PageEntry {
        offset,
        length: u32::from_le_bytes([l0, l1, l2, l3]),
        kind,
    })
}

/// Returns the bytes of all pages, which a result has. A table that contradicts it is an error before anything is allocated.
pub(crate) fn n_bytes(py: Python<'_>, pages: &PackedPages) -> PyResult<usize> {
    let n_pages = pages
        .n_bytes
        .checked_div(pages.page_size.into())
        .unwrap_or(u64::MAX);
    if n_pages > pages.table.len() as u64 {
        let message = format!(
            "size is {}; give at most the bytes of {} pages",
            pages.n_bytes,
            pages.table.len()
        );
        return Err(argument(py, &message));
    }
    let message = "size is larger than memory";
    usize::try_from(pages.n_bytes).map_err(|_| argument(py, message))
}

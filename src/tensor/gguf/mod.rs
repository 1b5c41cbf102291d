//! GGUF files: names and values that describe a model, and its tensors.
//!
//! [`GgufFile`] reads the header of a file, of version 2 or 3 and little-endian: metadata, and names, shapes and places of the tensors.
//! [`GgufTensor`] then gives the data of a tensor, from a file in memory or from a reader; as numbers, or on a device.
//!
//! Nothing in a file is trusted. Counts and lengths are compared with the bytes that are left before memory is reserved, all places
//! are inside the file and aligned, names are unique, and a header has at most 256 MiB; its memory is at most about ten times its
//! bytes. The format is described in ggml's `docs/gguf.md`.
//!
//! ```
//! use pagepress::tensor::gguf::GgufFile;
//!
//! # fn example(bytes: &[u8]) -> pagepress::Result<()> {
//! let file = GgufFile::from_bytes(bytes)?; // for example of a memory map
//! if let Some(name) = file.value("general.name").and_then(|value| value.as_str()) {
//!     println!("{name}");
//! }
//! for tensor in file.tensors() {
//!     println!("{} {} {}", tensor.name(), tensor.shape(), tensor.ggml_type());
//!     if tensor.is_readable() {
//!         let numbers: Vec<f32> = tensor.to_f32(tensor.data(bytes)?)?;
//!     }
//! }
//! # Ok(())
//! # }
//! ```

mod ggml_type;
mod header;
mod names;
mod source;
mod tensor;
#[cfg(gpu_engine)]
mod upload;
mod value;

pub use ggml_type::GgmlType;
pub use tensor::GgufTensor;
pub use value::{GgufArray, GgufValue};

use std::io::{self, BufReader, Read, Seek, SeekFrom};

use names::Names;

use crate::Result;

/// The header of a GGUF file. It holds no data of tensors.
#[derive(Debug, Clone)]
pub struct GgufFile {
    version: u32,
    alignment: u32,
    metadata: Vec<(String, GgufValue)>,
    keys: Names,
    tensors: Vec<GgufTensor>,
    tensor_names: Names,
}

impl GgufFile {
    /// Reads the header of a file in memory, for example in a memory map.
    ///
    /// # Errors
    /// [`InvalidGguf`](crate::Error::InvalidGguf) for bytes that are no GGUF file, are cut off or break its rules, and for a big-endian
    /// file or another version than 2 and 3; [`InvalidArgument`](crate::Error::InvalidArgument) for a tensor with more elements than this
    /// machine can address; [`OutOfMemory`](crate::Error::OutOfMemory).
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        header::read(bytes, bytes.len() as u64)
    }

    /// Reads the header of a file by a reader, from its start to at most 64 KiB behind the header's end.
    ///
    /// ```no_run
    /// use pagepress::tensor::gguf::GgufFile;
    /// let mut reader = std::fs::File::open("model.gguf")?;
    /// let file = GgufFile::open(&reader)?;
    /// if let Some(tensor) = file.tensor("output_norm.weight") {
    ///     let numbers = tensor.to_f32(&tensor.read(&mut reader)?)?;
    /// }
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of `reader`, and those of [`from_bytes`](Self::from_bytes) as the source of the [`io::Error`].
    pub fn open(mut reader: impl Read + Seek) -> io::Result<Self> {
        let n_bytes = reader.seek(SeekFrom::End(0))?;
        reader.rewind()?;
        header::read(BufReader::with_capacity(64 << 10, reader), n_bytes)
    }

    /// Returns the version of the format, 2 or 3.
    #[must_use]
    pub const fn version(&self) -> u32 {
        self.version
    }

    /// Returns the number of bytes of which all places of tensors are multiples, a power of two.
    #[must_use]
    pub const fn alignment(&self) -> u32 {
        self.alignment
    }

    /// Returns keys and values, in the order of the file.
    #[must_use]
    pub fn metadata(&self) -> &[(String, GgufValue)] {
        &self.metadata
    }

    /// Returns the value of a key.
    #[must_use]
    pub fn value(&self, key: &str) -> Option<&GgufValue> {
        let found = self.keys.find(key, |i| self.metadata[i].0.as_str())?;
        Some(&self.metadata[found].1)
    }

    /// Returns the tensors, in the order of the file.
    #[must_use]
    pub fn tensors(&self) -> &[GgufTensor] {
        &self.tensors
    }

    /// Returns the tensor of a name.
    #[must_use]
    pub fn tensor(&self, name: &str) -> Option<&GgufTensor> {
        let found = self.tensor_names.find(name, |i| self.tensors[i].name())?;
        Some(&self.tensors[found])
    }
}

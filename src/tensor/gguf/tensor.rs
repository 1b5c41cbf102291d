//! [`GgufTensor`]: name, shape, type and place of a tensor, and its data.

use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;

use super::GgmlType;
use crate::memory::zeros;
use crate::tensor::{Shape, check_dims, check_len, cpu};
use crate::{Error, Result};

/// A tensor in a file: name, shape, type and place. It holds no data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GgufTensor {
    name: String,
    shape: Shape,
    ggml_type: GgmlType,
    /// Offset in the file of the data.
    start: u64,
    /// Bytes of the data; `None` for a type that is not known.
    n_bytes: Option<u64>,
}

impl GgufTensor {
    /// Creates the tensor of which `start` is an offset from the start of the data of all tensors.
    pub(super) fn new(name: String, shape: Shape, ggml_type: GgmlType, start: u64) -> Result<Self> {
        let invalid = |what, value: usize| Error::InvalidGguf {
            what,
            value: value as u64,
            at: start,
        };
        let n_bytes = match ggml_type.block() {
            None => None,
            Some([block_len, block_bytes]) => {
                let row = shape.dims().last().copied().unwrap_or(1);
                if !(row as u64).is_multiple_of(block_len) {
                    return Err(invalid("rows that are not whole blocks, of length", row));
                }
                let n = shape.n_elements();
                let n_bytes = (n as u64 / block_len).checked_mul(block_bytes);
                Some(n_bytes.ok_or_else(|| invalid("number of elements", n))?)
            }
        };
        Ok(Self {
            name,
            shape,
            ggml_type,
            start,
            n_bytes,
        })
    }

    /// Makes the place an offset in the file, where the data of all tensors starts at `data_at`, and checks that it is in the file.
    pub(super) fn place(&mut self, data_at: u64, file_bytes: u64) -> Result<()> {
        let n_bytes = self.n_bytes.unwrap_or(0);
        let start = data_at.checked_add(self.start);
        let end = start.and_then(|start| start.checked_add(n_bytes));
        match (start, end) {
            (Some(start), Some(end)) if end <= file_bytes || n_bytes == 0 => {
                self.start = start;
                Ok(())
            }
            _ => Err(Error::InvalidGguf {
                what: "data of a tensor beyond the end of the file, of size",
                value: n_bytes,
                at: start.unwrap_or(u64::MAX),
            }),
        }
    }

    /// Returns the name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the shape, outermost axis first: the reverse of the order in the file. A row, whose elements lie side by side, is
    /// the last axis.
    #[must_use]
    pub const fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Returns the type of the elements.
    #[must_use]
    pub const fn ggml_type(&self) -> GgmlType {
        self.ggml_type
    }

    /// Returns true if [`to_f32`](Self::to_f32) can read the type: F32, F16, BF16 and the formats of
    /// [`Quantization`](crate::tensor::Quantization).
    #[must_use]
    pub const fn is_readable(&self) -> bool {
        self.ggml_type.dtype().is_some() || self.ggml_type.quantization().is_some()
    }

    /// Returns the bytes of the file that are the data.
    ///
    /// # Errors
    /// [`InvalidArgument`](Error::InvalidArgument) for a type that is not known.
    pub fn range(&self) -> Result<Range<u64>> {
        let n_bytes = self.n_bytes.ok_or_else(|| self.unreadable())?;
        Ok(self.start..self.start + n_bytes)
    }

    /// Returns the data, given all bytes of the file.
    ///
    /// # Errors
    /// As [`range`](Self::range); [`LengthMismatch`](Error::LengthMismatch) if `file` is shorter than the file was.
    pub fn data<'a>(&self, file: &'a [u8]) -> Result<&'a [u8]> {
        let Range { start, end } = self.range()?;
        if start == end {
            return Ok(&[]);
        }
        let bounds = usize::try_from(start).ok().zip(usize::try_from(end).ok());
        let data = bounds.and_then(|(start, end)| file.get(start..end));
        data.ok_or(Error::LengthMismatch {
            name: "file",
            expected: end,
            actual: file.len() as u64,
        })
    }

    /// Reads the data from a reader of the file.
    ///
    /// # Errors
    /// Those of `reader`, and those of [`range`](Self::range) and [`OutOfMemory`](Error::OutOfMemory) as the source of the
    /// [`io::Error`].
    pub fn read(&self, reader: impl Read + Seek) -> io::Result<Vec<u8>> {
        let Range { start, end } = self.range()?;
        let n_bytes = usize::try_from(end - start).unwrap_or(usize::MAX);
        let mut data = zeros(n_bytes)?;
        self.read_into(reader, &mut data)?;
        Ok(data)
    }

    /// As [`read`](Self::read), into memory of the size of the data.
    ///
    /// # Errors
    /// As [`read`](Self::read); [`LengthMismatch`](Error::LengthMismatch) as the source.
    pub fn read_into(&self, mut reader: impl Read + Seek, data: &mut [u8]) -> io::Result<()> {
        let Range { start, end } = self.range()?;
        check_len("data", data.len(), end - start)?;
        reader.seek(SeekFrom::Start(start))?;
        reader.read_exact(data)
    }

    /// Converts the data to numbers, row-major.
    ///
    /// # Errors
    /// [`InvalidArgument`](Error::InvalidArgument), with the number and the name of the type, unless
    /// [`is_readable`](Self::is_readable); [`LengthMismatch`](Error::LengthMismatch), in bytes; [`OutOfMemory`](Error::OutOfMemory).
    pub fn to_f32(&self, data: &[u8]) -> Result<Vec<f32>> {
        self.check_data(data)?;
        let mut out = zeros(self.shape.n_elements())?;
        self.to_f32_into(data, &mut out)?;
        Ok(out)
    }

    /// As [`to_f32`](Self::to_f32), into memory.
    ///
    /// # Errors
    /// As [`to_f32`](Self::to_f32), [`LengthMismatch`](Error::LengthMismatch) for `out` too.
    pub fn to_f32_into(&self, data: &[u8], out: &mut [f32]) -> Result<()> {
        self.check_data(data)?;
        check_dims("out", out.len(), self.shape.dims())?;
        match (self.ggml_type.dtype(), self.ggml_type.quantization()) {
            (Some(dtype), _) => cpu::from_le_bytes(dtype, data, out),
            (None, Some(quantization)) => cpu::dequantize(quantization, data, out),
            (None, None) => Err(self.unreadable()),
        }
    }

    /// Checks that the type can be read and that `data` has as many bytes as the elements.
    pub(super) fn check_data(&self, data: &[u8]) -> Result<()> {
        let n_bytes = self.n_bytes.filter(|_| self.is_readable());
        check_len(
            "data",
            data.len(),
            n_bytes.ok_or_else(|| self.unreadable())?,
        )
    }

    /// Returns the error of a type that cannot be read.
    fn unreadable(&self) -> Error {
        Error::InvalidArgument {
            name: "tensor",
            value: format!("{} of type {}", self.name, self.ggml_type),
            expected: "one of type F32, F16, BF16, Q4_K, Q5_K, Q6_K or Q8_0",
        }
    }
}

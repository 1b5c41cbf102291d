//! [`Fields`]: reads the fields of a header from memory or from a reader, and knows how many bytes are left.

use std::io::{self, BufReader, Read};

use crate::Error;
use crate::memory::{reserve, zeros};

/// Most bytes of a header. Those of models have at most some 20 MiB, most of them the words of a tokenizer.
const MAX_HEADER_BYTES: u64 = 256 << 20;
/// Most bytes of a key or of the name of a tensor, as the format says of keys.
const MAX_NAME_BYTES: u64 = 65_535;

/// Bytes in order.
pub(super) trait Source {
    /// Error of reading, or of what was read.
    type Error: From<Error>;

    /// Fills `out` with the next bytes.
    fn fill(&mut self, out: &mut [u8]) -> Result<(), Self::Error>;
}

impl Source for &[u8] {
    type Error = Error;

    fn fill(&mut self, out: &mut [u8]) -> Result<(), Error> {
        // `Fields` asks for no more bytes than there are.
        let (next, rest) = self.split_at_checked(out.len()).unwrap_or_default();
        if next.len() < out.len() {
            return Err(Error::InvalidGguf {
                what: "end of the bytes before a field of size",
                value: out.len() as u64,
                at: self.len() as u64,
            });
        }
        out.copy_from_slice(next);
        *self = rest;
        Ok(())
    }
}

impl<R: Read> Source for BufReader<R> {
    type Error = io::Error;

    fn fill(&mut self, out: &mut [u8]) -> io::Result<()> {
        self.read_exact(out)
    }
}

/// Reads fields one after another.
pub(super) struct Fields<S> {
    source: S,
    /// Offset in the file of the next field.
    at: u64,
    /// Bytes of the file.
    n_bytes: u64,
}

impl<S: Source> Fields<S> {
    pub(super) const fn new(source: S, n_bytes: u64) -> Self {
        Self {
            source,
            at: 0,
            n_bytes,
        }
    }

    /// Returns the offset of the next field.
    pub(super) const fn at(&self) -> u64 {
        self.at
    }

    /// Returns the error of a field.
    pub(super) fn invalid(what: &'static str, value: u64, at: u64) -> S::Error {
        Error::InvalidGguf { what, value, at }.into()
    }

    /// Fills `out` with the next bytes.
    pub(super) fn fill(&mut self, out: &mut [u8]) -> Result<(), S::Error> {
        self.check_left(out.len() as u64)?;
        self.source.fill(out)?;
        self.at += out.len() as u64;
        Ok(())
    }

    /// Checks that `n` more bytes are in the file, and in a header of the largest size.
    fn check_left(&self, n: u64) -> Result<(), S::Error> {
        if n > self.n_bytes.saturating_sub(self.at) {
            let what = "the file ends inside a field of size";
            return Err(Self::invalid(what, n, self.at));
        }
        if n > MAX_HEADER_BYTES.saturating_sub(self.at) {
            let what = "header above 256 MiB, in a field of size";
            return Err(Self::invalid(what, n, self.at));
        }
        Ok(())
    }

    /// Reads a number of entries that have at least `least` bytes each, and checks that as many can follow.
    pub(super) fn count(&mut self, what: &'static str, least: u64) -> Result<u64, S::Error> {
        let at = self.at;
        let n = self.u64()?;
        if n > self.n_bytes.saturating_sub(self.at) / least {
            return Err(Self::invalid(what, n, at));
        }
        Ok(n)
    }

    /// Reads the little-endian bytes of a number.
    pub(super) fn bytes<const N: usize>(&mut self) -> Result<[u8; N], S::Error> {
        let mut bytes = [0; N];
        self.fill(&mut bytes)?;
        Ok(bytes)
    }

    pub(super) fn u32(&mut self) -> Result<u32, S::Error> {
        Ok(u32::from_le_bytes(self.bytes()?))
    }

    pub(super) fn u64(&mut self) -> Result<u64, S::Error> {
        Ok(u64::from_le_bytes(self.bytes()?))
    }

    /// Reads `n` numbers of `N` bytes.
    pub(super) fn numbers<T, const N: usize>(
        &mut self,
        n: u64,
        of: fn([u8; N]) -> T,
    ) -> Result<Vec<T>, S::Error> {
        self.check_left(n.saturating_mul(N as u64))?;
        // In pieces, so that memory grows with what was read.
        let mut piece = [0; 4096];
        let mut left = n;
        let mut numbers = Vec::new();
        while left > 0 {
            let now = left.min((piece.len() / N) as u64) as usize;
            self.fill(&mut piece[..now * N])?;
            reserve(&mut numbers, now)?;
            let (read, _) = piece[..now * N].as_chunks::<N>();
            numbers.extend(read.iter().map(|&bytes| of(bytes)));
            left -= now as u64;
        }
        Ok(numbers)
    }

    /// Reads a length and as many bytes of UTF-8.
    pub(super) fn string(&mut self) -> Result<String, S::Error> {
        let n = self.u64()?;
        self.text(n)
    }

    /// As [`string`](Self::string), for a key or the name of a tensor.
    pub(super) fn name(&mut self) -> Result<String, S::Error> {
        let at = self.at;
        let n = self.u64()?;
        if n > MAX_NAME_BYTES {
            return Err(Self::invalid("length of a name", n, at));
        }
        self.text(n)
    }

    fn text(&mut self, n: u64) -> Result<String, S::Error> {
        self.check_left(n)?;
        let at = self.at;
        let mut bytes = zeros(n as usize)?;
        self.fill(&mut bytes)?;
        String::from_utf8(bytes).map_err(|error| {
            let valid = error.utf8_error().valid_up_to();
            let byte = u64::from(error.as_bytes()[valid]);
            Self::invalid("byte that is not UTF-8:", byte, at + valid as u64)
        })
    }
}

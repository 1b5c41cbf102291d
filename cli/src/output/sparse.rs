//! Sparse files: whole segments of zeros become holes, which take no space on the disk.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};

/// Length of a segment in bytes, as in `lz4`: shorter holes cost more system calls than they save.
const SEGMENT: usize = 32 << 10;
static ZEROS: [u8; SEGMENT] = [0; SEGMENT];

/// Writes a file sequentially, with zeros as holes.
#[derive(Debug)]
pub struct SparseWriter {
    file: File,
    /// Offset of the next byte, after the hole; `None` writes zeros like other bytes.
    position: Option<u64>,
    /// Zeros before `position` that are not in the file yet.
    hole: u64,
}

impl SparseWriter {
    /// Returns a writer without holes.
    pub const fn without_holes(file: File) -> Self {
        Self {
            file,
            position: None,
            hole: 0,
        }
    }

    /// Returns a writer that makes holes, if `file` is a regular file and nothing follows its current offset.
    pub fn with_holes(mut file: File) -> io::Result<Self> {
        let metadata = file.metadata()?;
        if !metadata.is_file() || appends(&file)? {
            return Ok(Self::without_holes(file));
        }
        let position = file.stream_position()?;
        let position = (position >= metadata.len()).then_some(position);
        Ok(Self {
            file,
            position,
            hole: 0,
        })
    }

    pub const fn file(&self) -> &File {
        &self.file
    }

    /// Extends the file over a hole at its end, if there is one.
    pub fn finish(&mut self) -> io::Result<()> {
        if let Some(position) = self.position.filter(|_| self.hole > 0) {
            self.file.set_len(position)?;
            self.file.seek(SeekFrom::Start(position))?;
            self.hole = 0;
        }
        Ok(())
    }
}

impl Write for SparseWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(position) = &mut self.position else {
            return self.file.write(bytes);
        };
        let (n_zeros, n_data) = zeros_then_data(bytes, *position);
        if n_zeros > 0 {
            self.hole += n_zeros as u64;
            *position += n_zeros as u64;
            return Ok(n_zeros);
        }
        if self.hole > 0 {
            self.file.seek(SeekFrom::Start(*position))?;
            self.hole = 0;
        }
        let n_written = self.file.write(&bytes[..n_data])?;
        *position += n_written as u64;
        Ok(n_written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Returns the lengths of the zeros at the start of `bytes` and of the data after them, in segments that end at
/// multiples of `SEGMENT` in the file.
fn zeros_then_data(bytes: &[u8], position: u64) -> (usize, usize) {
    let first = SEGMENT - (position % SEGMENT as u64) as usize;
    let (head, rest) = bytes.split_at(first.min(bytes.len()));
    let mut lengths = (0, 0);
    for segment in std::iter::once(head).chain(rest.chunks(SEGMENT)) {
        if *segment != ZEROS[..segment.len()] {
            lengths.1 += segment.len();
        } else if lengths.1 == 0 {
            lengths.0 += segment.len();
        } else {
            break;
        }
    }
    lengths
}

/// Returns true if writes to `file` always go to its end.
#[cfg(unix)]
fn appends(file: &File) -> io::Result<bool> {
    use rustix::fs::{OFlags, fcntl_getfl};

    Ok(fcntl_getfl(file)?.contains(OFlags::APPEND))
}

/// Other systems do not expose this flag.
#[cfg(not(unix))]
fn appends(_file: &File) -> io::Result<bool> {
    Ok(true)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "a test that cannot go on fails")]

    use std::io::{Read, Seek, Write};

    use super::{SEGMENT, SparseWriter, zeros_then_data};

    #[test]
    fn segments_end_at_multiples_of_their_length() {
        let mut bytes = vec![0; 4 * SEGMENT];
        assert_eq!(zeros_then_data(&bytes, 0), (4 * SEGMENT, 0));
        bytes[SEGMENT + 5] = 1;
        assert_eq!(zeros_then_data(&bytes, 0), (SEGMENT, SEGMENT));
        assert_eq!(zeros_then_data(&bytes, 100), (SEGMENT - 100, SEGMENT));
        assert_eq!(zeros_then_data(&bytes[SEGMENT + 5..], 7), (0, SEGMENT - 7));
        assert_eq!(zeros_then_data(&[], 7), (0, 0));
    }

    #[test]
    fn content_is_the_same_however_it_comes() {
        let mut content = vec![0; 9 * SEGMENT + 123];
        for i in [3, 4 * SEGMENT - 1, 4 * SEGMENT, 7 * SEGMENT + 9] {
            content[i] = 1;
        }
        for piece in [
            1000,
            4096,
            SEGMENT - 1,
            SEGMENT,
            3 * SEGMENT + 1,
            content.len(),
        ] {
            let file = tempfile::tempfile().expect("a temporary file");
            let mut writer = SparseWriter::with_holes(file).expect("is a file");
            for piece in content.chunks(piece) {
                writer.write_all(piece).expect("writes");
            }
            writer.finish().expect("finishes");
            let mut file = writer.file();
            assert_eq!(file.stream_position().expect("seeks"), content.len() as u64);
            file.rewind().expect("seeks");
            let mut back = Vec::new();
            file.read_to_end(&mut back).expect("reads");
            assert!(back == content, "{piece}");
        }
    }

    #[test]
    fn nothing_that_is_in_the_file_already_shows_through_a_hole() {
        let mut file = tempfile::tempfile().expect("a temporary file");
        file.write_all(&[1; 3 * SEGMENT]).expect("writes");
        file.rewind().expect("seeks");
        let mut writer = SparseWriter::with_holes(file).expect("is a file");
        writer.write_all(&[0; 2 * SEGMENT]).expect("writes");
        writer.finish().expect("finishes");
        let mut file = writer.file();
        file.rewind().expect("seeks");
        let mut back = Vec::new();
        file.read_to_end(&mut back).expect("reads");
        assert!(back == [[0; SEGMENT], [0; SEGMENT], [1; SEGMENT]].concat());
    }
}

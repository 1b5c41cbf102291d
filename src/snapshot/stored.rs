//! [`Snapshot`]: a version with the blocks of its pages, in memory or in files.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use super::{Capture, ContentHash, Counts, Diff, FileWriter, Piece, Region, Restore, Version};
use crate::batch::Codec;
use crate::lz4::{Level, MIN_PAGE_SIZE};
use crate::memory::{extend, zeros};
use crate::{Error, Result};

/// Bytes of memory that are hashed before the pages among them are compressed.
const STEP_BYTES: usize = 32 << 20;

/// Options of [`Snapshot::take`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SnapshotOptions {
    /// Bytes of a page: 4096, 8192, 16384, 32768 or 65536. It is that of the previous version, if there is one.
    pub page_size: u32,
    /// Effort of the encoder.
    pub level: Level,
}

impl Default for SnapshotOptions {
    fn default() -> Self {
        Self {
            page_size: MIN_PAGE_SIZE,
            level: Level::Sequential,
        }
    }
}

/// The blocks that a version added.
#[derive(Debug)]
enum Layer {
    Memory(Vec<u8>),
    File(Mutex<File>),
}

/// A version of an image with its content. Clones share memory.
///
/// # Example
/// ```
/// use pagepress::batch::{Codec, CodecOptions};
/// use pagepress::snapshot::{Snapshot, SnapshotOptions};
///
/// let mut codec = Codec::new(CodecOptions::default())?;
/// let mut memory = vec![7; 1 << 20];
/// let options = SnapshotOptions::default();
/// let first = Snapshot::take(&mut codec, &[("ram", &memory)], None, &options)?;
/// memory[5000] = 1;
/// let second = Snapshot::take(&mut codec, &[("ram", &memory)], Some(&first), &options)?;
/// assert_eq!(second.counts().added, 1);
/// first.restore(0, 0..1 << 20, &mut memory)?;
/// assert_eq!(memory[5000], 7);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Snapshot {
    version: Version,
    layers: Vec<Arc<Layer>>,
    previous: Option<Arc<Snapshot>>,
}

impl Snapshot {
    /// Takes a version of `regions`, which are names and bytes. Only pages that differ from those of `previous` are compressed, by
    /// `codec`.
    ///
    /// # Errors
    /// Those of [`Capture::new`] and of [`Codec::compress_pages`].
    pub fn take(
        codec: &mut Codec,
        regions: &[(&str, &[u8])],
        previous: Option<&Self>,
        options: &SnapshotOptions,
    ) -> Result<Self> {
        let list = regions.iter().map(|(name, bytes)| Region {
            name: (*name).to_owned(),
            n_bytes: bytes.len() as u64,
        });
        let base = previous.map(|previous| &previous.version);
        let mut capture = Capture::new(options.page_size, list.collect(), base)?;
        let (mut layer, mut pages) = (Vec::new(), Vec::new());
        for part in regions
            .iter()
            .flat_map(|(_, bytes)| bytes.chunks(STEP_BYTES))
        {
            let ranges = capture.add(part)?;
            if ranges.is_empty() {
                continue;
            }
            pages.clear();
            for range in ranges {
                extend(&mut pages, &part[range])?;
            }
            let (packed, _) = codec.compress_pages(&pages, options.page_size, options.level)?;
            capture.store(&packed.table, layer.len() as u64)?;
            extend(&mut layer, &packed.packed)?;
        }
        layer.shrink_to_fit();
        Ok(Self::new(capture.finish()?, Layer::Memory(layer), previous))
    }

    /// Reads a snapshot from the bytes of its file. `previous` is the version that it continues, if it does.
    ///
    /// # Errors
    /// Those of [`Version::read`] and [`Version::manifest_range`].
    pub fn from_file_bytes(
        bytes: Vec<u8>,
        previous: Option<&Self>,
        max_bytes: u64,
    ) -> Result<Self> {
        let n_bytes = bytes.len() as u64;
        let foot = &bytes[bytes.len().saturating_sub(Version::FOOT_BYTES)..];
        let manifest = &bytes[Version::manifest_range(foot, n_bytes)?.start as usize..];
        let base = previous.map(|previous| &previous.version);
        let version = Version::read(manifest, n_bytes, base, max_bytes)?;
        Ok(Self::new(version, Layer::Memory(bytes), previous))
    }

    /// Opens the file of a snapshot. Reads its manifest, and blocks when they are needed.
    ///
    /// # Errors
    /// Errors of the file; an [`Error`] in an [`io::Error`], as of [`from_file_bytes`](Self::from_file_bytes).
    pub fn open(
        path: impl AsRef<Path>,
        previous: Option<&Self>,
        max_bytes: u64,
    ) -> io::Result<Self> {
        let mut file = File::open(path)?;
        let n_bytes = file.metadata()?.len();
        let n_foot = n_bytes.min(Version::FOOT_BYTES as u64);
        let foot = read_range(&mut file, n_bytes - n_foot..n_bytes)?;
        let manifest = read_range(&mut file, Version::manifest_range(&foot, n_bytes)?)?;
        let base = previous.map(|previous| &previous.version);
        let version = Version::read(&manifest, n_bytes, base, max_bytes)?;
        Ok(Self::new(version, Layer::File(Mutex::new(file)), previous))
    }

    fn new(version: Version, layer: Layer, previous: Option<&Self>) -> Self {
        let previous = previous.filter(|_| version.base().is_some());
        let mut layers = previous.map_or(Vec::new(), |previous| previous.layers.clone());
        layers.push(Arc::new(layer));
        Self {
            version,
            layers,
            previous: previous.cloned().map(Arc::new),
        }
    }

    /// Returns the hashes and places of the pages.
    #[must_use]
    pub fn version(&self) -> &Version {
        &self.version
    }

    /// Returns the id.
    #[must_use]
    pub fn id(&self) -> ContentHash {
        self.version.id()
    }

    /// Returns the version that this one continues.
    #[must_use]
    pub fn previous(&self) -> Option<&Self> {
        self.previous.as_deref()
    }

    /// Counts the pages by the origin of their content.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.version.counts()
    }

    /// Compares this version with an earlier one, by the hashes of pages.
    ///
    /// # Errors
    /// As [`Version::diff`].
    pub fn diff(&self, earlier: &Self) -> Result<Diff> {
        self.version.diff(&earlier.version)
    }

    /// Restores `range` of a region to `out`, which has its length, on all cores.
    ///
    /// # Errors
    /// [`Error::CorruptPage`] and [`Error::PageMismatch`] for damaged content, [`Error::InvalidArgument`] and
    /// [`Error::LengthMismatch`] for a range that the region or `out` does not have, each in an [`io::Error`]; errors of files.
    pub fn restore(&self, region: usize, range: Range<u64>, out: &mut [u8]) -> io::Result<()> {
        let mut restore = Restore::new(&self.version, region, range.clone())?;
        if out.len() as u64 != range.end - range.start {
            return Err(Error::LengthMismatch {
                name: "out",
                expected: range.end - range.start,
                actual: out.len() as u64,
            }
            .into());
        }
        let mut rest = out;
        while restore.next_bytes() > 0 {
            let (part, others) = rest.split_at_mut(restore.next_bytes());
            restore.supply(&self.staged(&restore.wanted()?)?, part)?;
            rest = others;
        }
        Ok(())
    }

    /// Writes the snapshot as a file: an LZ4 file that `lz4 -d` restores to the regions one after the other or, for an increment, to
    /// the pages that it added.
    ///
    /// # Errors
    /// Errors of `out` and of the files of layers; [`Error::OutOfMemory`].
    pub fn write_to(&self, mut out: impl Write) -> io::Result<()> {
        let mut writer = FileWriter::new(&self.version)?;
        let mut bytes = Vec::new();
        while let Some(pieces) = writer.wanted()? {
            bytes.clear();
            writer.supply(&self.staged(&pieces)?, &mut bytes)?;
            out.write_all(&bytes)?;
        }
        out.flush()
    }

    /// Returns the same version in a form that needs no previous one.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`]; errors of the files of layers.
    pub fn flatten(&self) -> io::Result<Self> {
        let (version, pieces) = self.version.flatten()?;
        let layer = self.staged(&pieces)?.into_owned();
        Ok(Self::new(version, Layer::Memory(layer), None))
    }

    /// Returns the bytes of pieces one after the other.
    fn staged(&self, pieces: &[Piece]) -> io::Result<Cow<'_, [u8]>> {
        let layer = |piece: &Piece| &*self.layers[usize::from(piece.layer)];
        if let [piece] = pieces
            && let Layer::Memory(bytes) = layer(piece)
        {
            return Ok(Cow::Borrowed(part_of(bytes, piece)?));
        }
        let mut staged = Vec::new();
        for piece in pieces {
            match layer(piece) {
                Layer::Memory(bytes) => extend(&mut staged, part_of(bytes, piece)?)?,
                Layer::File(file) => {
                    let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
                    extend(&mut staged, &read_range(&mut file, piece.start..piece.end)?)?;
                }
            }
        }
        Ok(Cow::Owned(staged))
    }
}

/// Returns the bytes of a piece. Versions refer only to bytes that their layers had.
fn part_of<'a>(layer: &'a [u8], piece: &Piece) -> io::Result<&'a [u8]> {
    let part = layer.get(piece.start as usize..piece.end as usize);
    part.ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
}

fn read_range(file: &mut File, range: Range<u64>) -> io::Result<Vec<u8>> {
    let n_bytes =
        usize::try_from(range.end - range.start).map_err(|_| io::ErrorKind::OutOfMemory)?;
    let mut bytes = zeros(n_bytes)?;
    file.seek(SeekFrom::Start(range.start))?;
    file.read_exact(&mut bytes)?;
    Ok(bytes)
}

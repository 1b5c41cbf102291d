//! [`SnapshotStore`]: named versions in a folder.
//!
//! A version is the file `ID.lz4` or, if it continues another one, `ID-BASE.lz4`. A name is the file `NAME.version` with the id and
//! the time of the save, in milliseconds since 1970; other characters of the name than ASCII letters, digits, `_` and `-` are
//! encoded as `%` and two hexadecimal digits. The npm package uses the same files.
//!
//! Each file is written under a temporary name, flushed to disk and renamed, a version before its name.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::{ContentHash, Snapshot};
use crate::Error;

const VERSION_SUFFIX: &str = ".lz4";
const NAME_SUFFIX: &str = ".version";
const TEMPORARY: &str = ".tmp-";
/// Most bytes of the encoded form of a name.
const MAX_NAME: usize = 200;
/// Age from which files without a name are removed by default: a program that takes no lock may be about to write the name.
const MIN_AGE: Duration = Duration::from_secs(3600);

/// A named version of a store.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoredVersion {
    /// The name.
    pub name: String,
    /// Id of the version.
    pub id: ContentHash,
    /// Time of the save.
    pub saved_at: SystemTime,
}

/// Named versions in a folder. Programs that use one folder take turns by a lock of the file `.lock`.
#[derive(Debug)]
pub struct SnapshotStore {
    folder: PathBuf,
    lock: File,
}

impl SnapshotStore {
    /// Opens the store in `folder`, and creates the folder if it does not exist.
    ///
    /// # Errors
    /// Errors of the file system.
    pub fn open(folder: impl Into<PathBuf>) -> io::Result<Self> {
        let folder = folder.into();
        fs::create_dir_all(&folder)?;
        let mut options = OpenOptions::new();
        options.create(true).truncate(false).write(true);
        let lock = options.open(folder.join(".lock"))?;
        Ok(Self { folder, lock })
    }

    /// Saves `snapshot` under `name`, which may exist. Also saves the versions that it continues, as far as they are missing.
    ///
    /// # Errors
    /// Errors of the file system; [`Error::InvalidArgument`] for a name that is empty or longer than 200 bytes as the name of a
    /// file.
    pub fn save(&self, name: &str, snapshot: &Snapshot) -> io::Result<()> {
        let file = name_file(name)?;
        let _locked = Locked::new(&self.lock)?;
        let mut catalog = self.catalog()?;
        let mut chain = vec![snapshot];
        while let Some(previous) = chain.last().and_then(|link| link.previous()) {
            chain.push(previous);
        }
        for link in chain.into_iter().rev() {
            let (id, base) = (link.id(), link.version().base());
            // A flattened version is written although its chain is there: the chain may be collected then.
            let is_there = catalog.has(id, base) || (base.is_some() && catalog.find(id).is_some());
            if !is_there {
                self.write(&version_file(id, base), |file| link.write_to(file))?;
                catalog.add(id, base);
            }
        }
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        let text = format!("{} {}\n", snapshot.id(), now.as_millis());
        self.write(&file, |file| io::Write::write_all(file, text.as_bytes()))
    }

    /// Returns the version with this name, with blocks that are read when they are needed.
    ///
    /// # Errors
    /// [`NotFound`](io::ErrorKind::NotFound) if there is none; errors of the file system; those of [`Snapshot::open`].
    pub fn load(&self, name: &str, max_bytes: u64) -> io::Result<Snapshot> {
        let file = name_file(name)?;
        let _locked = Locked::new(&self.lock)?;
        let (id, _) = self.entry(&file)?;
        let chain = self.catalog()?.find(id).ok_or_else(|| {
            let message = format!("the file of version {id} is missing");
            io::Error::new(io::ErrorKind::NotFound, message)
        })?;
        let mut snapshot: Option<Snapshot> = None;
        for file in chain.iter().rev() {
            let next = Snapshot::open(self.folder.join(file), snapshot.as_ref(), max_bytes)?;
            snapshot = Some(next);
        }
        snapshot.ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// Returns the named versions, the newest first.
    ///
    /// # Errors
    /// Errors of the file system.
    pub fn list(&self) -> io::Result<Vec<StoredVersion>> {
        let _locked = Locked::new(&self.lock)?;
        let mut versions = self.names()?;
        versions.sort_by_key(|version| std::cmp::Reverse(version.saved_at));
        Ok(versions)
    }

    /// Removes a name if it exists. [`collect`](Self::collect) removes the files that no name needs any more.
    ///
    /// # Errors
    /// Errors of the file system; [`Error::InvalidArgument`] for a name that cannot exist.
    pub fn delete(&self, name: &str) -> io::Result<()> {
        let file = name_file(name)?;
        let _locked = Locked::new(&self.lock)?;
        remove(&self.folder.join(file))
    }

    /// Removes files of versions that no name needs, and what interrupted programs have left, from an age of `min_age` on, by default
    /// an hour. Returns the number of files and their bytes.
    ///
    /// # Errors
    /// Errors of the file system.
    pub fn collect(&self, min_age: Option<Duration>) -> io::Result<(usize, u64)> {
        let _locked = Locked::new(&self.lock)?;
        let catalog = self.catalog()?;
        let ids = self
            .names()?
            .into_iter()
            .filter_map(|version| catalog.find(version.id));
        let needed: BTreeSet<String> = ids.flatten().collect();
        let (mut n_files, mut n_bytes) = (0, 0);
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            let (name, metadata) = (entry.file_name(), entry.metadata()?);
            let Some(name) = name.to_str() else { continue };
            let is_unneeded =
                name.starts_with(TEMPORARY) || (ids_in(name).is_some() && !needed.contains(name));
            let age = metadata.modified()?.elapsed().unwrap_or_default();
            if is_unneeded && age >= min_age.unwrap_or(MIN_AGE) {
                remove(&entry.path())?;
                n_files += 1;
                n_bytes += metadata.len();
            }
        }
        Ok((n_files, n_bytes))
    }

    /// Writes a file that appears as a whole.
    fn write(
        &self,
        name: &str,
        content: impl FnOnce(&mut File) -> io::Result<()>,
    ) -> io::Result<()> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let temporary = self
            .folder
            .join(format!("{TEMPORARY}{}-{number}", std::process::id()));
        let written = File::create(&temporary).and_then(|mut file| {
            content(&mut file)?;
            file.sync_all()?;
            fs::rename(&temporary, self.folder.join(name))
        });
        if written.is_err() {
            // The error that is returned is the first one.
            let _ = fs::remove_file(&temporary);
        }
        written?;
        // So that the new name survives a power failure. Other systems than Unix cannot open folders.
        match cfg!(unix) {
            true => File::open(&self.folder)?.sync_all(),
            false => Ok(()),
        }
    }

    fn catalog(&self) -> io::Result<Catalog> {
        let mut catalog = Catalog::default();
        for entry in fs::read_dir(&self.folder)? {
            if let Some((id, base)) = entry?.file_name().to_str().and_then(ids_in) {
                catalog.add(id, base);
            }
        }
        Ok(catalog)
    }

    /// Returns the named versions. Damaged files of names are left out.
    fn names(&self) -> io::Result<Vec<StoredVersion>> {
        let mut versions = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let file = entry?.file_name();
            let Some((file, name)) = file.to_str().and_then(|file| Some((file, name_in(file)?)))
            else {
                continue;
            };
            match self.entry(file) {
                Ok((id, saved_at)) => versions.push(StoredVersion { name, id, saved_at }),
                Err(error) if error.kind() == io::ErrorKind::InvalidData => {}
                Err(error) => return Err(error),
            }
        }
        Ok(versions)
    }

    /// Reads the file of a name.
    fn entry(&self, file: &str) -> io::Result<(ContentHash, SystemTime)> {
        let text = fs::read_to_string(self.folder.join(file))?;
        let parse = || {
            let (id, time) = text.strip_suffix('\n')?.split_once(' ')?;
            let time = UNIX_EPOCH.checked_add(Duration::from_millis(time.parse().ok()?))?;
            Some((ContentHash::parse(id)?, time))
        };
        parse().ok_or_else(|| io::ErrorKind::InvalidData.into())
    }
}

/// The lock of a store, while a call runs.
struct Locked<'a>(&'a File);

impl<'a> Locked<'a> {
    fn new(lock: &'a File) -> io::Result<Self> {
        lock.lock()?;
        Ok(Self(lock))
    }
}

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        // Closing the file would unlock it, too.
        let _ = self.0.unlock();
    }
}

/// The files of versions: for each version its bases, `None` for a file that needs no other.
#[derive(Default)]
struct Catalog(BTreeMap<ContentHash, BTreeSet<Option<ContentHash>>>);

impl Catalog {
    fn add(&mut self, id: ContentHash, base: Option<ContentHash>) {
        self.0.entry(id).or_default().insert(base);
    }

    fn has(&self, id: ContentHash, base: Option<ContentHash>) -> bool {
        self.0.get(&id).is_some_and(|bases| bases.contains(&base))
    }

    /// Returns the files that a version needs, its own first; `None` if one is missing.
    fn find(&self, id: ContentHash) -> Option<Vec<String>> {
        // Names of files may be wrong: each version is tried once.
        let (mut tried, mut chain) = (BTreeSet::new(), vec![]);
        self.follow(id, &mut tried, &mut chain).then_some(chain)
    }

    fn follow(
        &self,
        id: ContentHash,
        tried: &mut BTreeSet<ContentHash>,
        chain: &mut Vec<String>,
    ) -> bool {
        let Some(bases) = self.0.get(&id).filter(|_| tried.insert(id)) else {
            return false;
        };
        // `None` is the first.
        for &base in bases {
            chain.push(version_file(id, base));
            if base.is_none_or(|base| self.follow(base, tried, chain)) {
                return true;
            }
            chain.pop();
        }
        false
    }
}

fn version_file(id: ContentHash, base: Option<ContentHash>) -> String {
    match base {
        Some(base) => format!("{id}-{base}{VERSION_SUFFIX}"),
        None => format!("{id}{VERSION_SUFFIX}"),
    }
}

/// Returns the ids in the name of the file of a version.
fn ids_in(file: &str) -> Option<(ContentHash, Option<ContentHash>)> {
    let ids = file.strip_suffix(VERSION_SUFFIX)?;
    Some(match ids.split_once('-') {
        Some((id, base)) => (ContentHash::parse(id)?, Some(ContentHash::parse(base)?)),
        None => (ContentHash::parse(ids)?, None),
    })
}

/// Returns the name of the file of a name.
fn name_file(name: &str) -> io::Result<String> {
    let mut file = String::new();
    for byte in name.bytes() {
        match byte.is_ascii_alphanumeric() || b"_-".contains(&byte) {
            true => file.push(byte.into()),
            false => file.push_str(&format!("%{byte:02x}")),
        }
    }
    if file.is_empty() || file.len() > MAX_NAME {
        return Err(Error::InvalidArgument {
            name: "name",
            value: name.to_owned(),
            expected: "give 1 to 200 bytes; other characters than letters, digits, _ and - count as 3 a byte",
        }
        .into());
    }
    Ok(file + NAME_SUFFIX)
}

/// Returns the name in the name of its file.
fn name_in(file: &str) -> Option<String> {
    let mut rest = file.strip_suffix(NAME_SUFFIX)?.as_bytes();
    let mut name = Vec::new();
    while let [byte, others @ ..] = rest {
        rest = others;
        match byte {
            b'%' => {
                let digits = rest.split_off(..2)?;
                name.push(u8::from_str_radix(str::from_utf8(digits).ok()?, 16).ok()?);
            }
            byte => name.push(*byte),
        }
    }
    String::from_utf8(name).ok()
}

/// Removes a file if it exists.
fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

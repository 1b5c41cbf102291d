//! Compiled kernels of one device, found by what their source says.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::backend::KernelSource;
use crate::kernels::Access;

/// All that tells one compiled kernel from another.
#[derive(Debug)]
struct Key {
    wgsl: String,
    entry: String,
    overrides: Vec<(String, u64)>,
    bindings: Vec<Access>,
    self_checked: bool,
    fills_workgroup: bool,
}

impl Key {
    fn of(source: &KernelSource<'_>) -> Self {
        Self {
            wgsl: source.wgsl.to_owned(),
            entry: source.entry.to_owned(),
            overrides: source
                .overrides
                .iter()
                .map(|&(name, value)| (name.to_owned(), value.to_bits()))
                .collect(),
            bindings: source.bindings.to_vec(),
            self_checked: source.self_checked,
            fills_workgroup: source.fills_workgroup,
        }
    }

    fn is(&self, source: &KernelSource<'_>) -> bool {
        let overrides = self.overrides.iter().map(|(name, bits)| (&**name, *bits));
        let wanted = source.overrides.iter();
        self.wgsl == source.wgsl
            && self.entry == source.entry
            && self.bindings == source.bindings
            && self.self_checked == source.self_checked
            && self.fills_workgroup == source.fills_workgroup
            && overrides.eq(wanted.map(|&(name, value)| (name, value.to_bits())))
    }
}

/// Kernels by the hash of their source, and by the source itself where hashes agree.
#[derive(Debug)]
pub(super) struct KernelCache<Kernel> {
    kernels: Mutex<HashMap<u64, Vec<(Key, Kernel)>>>,
}

impl<Kernel> Default for KernelCache<Kernel> {
    fn default() -> Self {
        Self {
            kernels: Mutex::new(HashMap::new()),
        }
    }
}

impl<Kernel: Clone> KernelCache<Kernel> {
    fn lock(&self) -> MutexGuard<'_, HashMap<u64, Vec<(Key, Kernel)>>> {
        self.kernels.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn find(&self, source: &KernelSource<'_>) -> Option<Kernel> {
        let kernels = self.lock();
        let same_hash = kernels.get(&hash_of(source))?;
        let found = same_hash.iter().find(|(key, _)| key.is(source));
        found.map(|(_, kernel)| kernel.clone())
    }

    pub(super) fn keep(&self, source: &KernelSource<'_>, kernel: Kernel) {
        let mut kernels = self.lock();
        let same_hash = kernels.entry(hash_of(source)).or_default();
        same_hash.push((Key::of(source), kernel));
    }

    /// How many kernels are compiled.
    pub(super) fn n_kernels(&self) -> usize {
        self.lock().values().map(Vec::len).sum()
    }
}

fn hash_of(source: &KernelSource<'_>) -> u64 {
    let mut hasher = DefaultHasher::new();
    (
        source.wgsl,
        source.entry,
        source.bindings,
        source.self_checked,
        source.fills_workgroup,
    )
        .hash(&mut hasher);
    for &(name, value) in source.overrides {
        (name, value.to_bits()).hash(&mut hasher);
    }
    hasher.finish()
}

//! [`PipelineCache`]: compiled kernels of one device, keyed by the content of their source.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::backend::{Backend, KernelSource};
use crate::Result;
use crate::kernels::Access;

/// Cache key: everything that distinguishes one compiled kernel from another.
#[derive(Debug)]
struct Key {
    wgsl: String,
    entry: String,
    overrides: Vec<(String, u64)>,
    bindings: Vec<Access>,
    is_checked: bool,
    is_cleared: bool,
    has_addresses: bool,
    is_of_bfloat16: bool,
    is_of_tf32: bool,
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
            is_checked: source.is_checked(),
            is_cleared: source.is_cleared(),
            has_addresses: source.has_addresses(),
            is_of_bfloat16: source.is_of_bfloat16(),
            is_of_tf32: source.is_of_tf32(),
        }
    }

    fn is(&self, source: &KernelSource<'_>) -> bool {
        let overrides = self.overrides.iter().map(|(name, bits)| (&**name, *bits));
        let wanted = source.overrides.iter();
        // Compares the long text last: few kernels have the same entry point.
        self.entry == source.entry
            && overrides.eq(wanted.map(|&(name, value)| (name, value.to_bits())))
            && self.bindings == source.bindings
            && self.is_checked == source.is_checked()
            && self.is_cleared == source.is_cleared()
            && self.has_addresses == source.has_addresses()
            && self.is_of_bfloat16 == source.is_of_bfloat16()
            && self.is_of_tf32 == source.is_of_tf32()
            && self.wgsl == source.wgsl
    }
}

/// A cache of compiled kernels. The key is the text of the source (not its address), entry point, `override` constants
/// and bindings. Every device has a cache, so that compiling a kernel again costs only a look-up; a separate cache is
/// useful with a custom [`Backend`].
///
/// Kernels belong to one device: do not use a cache with several.
///
/// ```no_run
/// use pagepress::gpu::{Backend, GpuDevice, KernelSource, PipelineCache};
/// # async fn run() -> pagepress::Result<()> {
/// let device = GpuDevice::new_async().await?;
/// let cache = PipelineCache::default();
/// let source = KernelSource::new("@compute @workgroup_size(1) fn nothing() {}", "nothing", &[]);
/// let kernel = cache.compile_kernel(&device, &source).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct PipelineCache<Kernel> {
    kernels: Mutex<Vec<(Key, Kernel)>>,
}

impl<Kernel> Default for PipelineCache<Kernel> {
    fn default() -> Self {
        Self {
            kernels: Mutex::default(),
        }
    }
}

impl<Kernel: Clone> PipelineCache<Kernel> {
    fn lock(&self) -> MutexGuard<'_, Vec<(Key, Kernel)>> {
        self.kernels.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the cached kernel of `source`, if there is one.
    pub fn find(&self, source: &KernelSource<'_>) -> Option<Kernel> {
        let kernels = self.lock();
        let found = kernels.iter().find(|(key, _)| key.is(source));
        found.map(|(_, kernel)| kernel.clone())
    }

    /// Stores the kernel of `source`.
    pub fn keep(&self, source: &KernelSource<'_>, kernel: Kernel) {
        let mut kernels = self.lock();
        // Two threads may have compiled it concurrently.
        match kernels.iter_mut().find(|(key, _)| key.is(source)) {
            Some((_, kept)) => *kept = kernel,
            None => kernels.push((Key::of(source), kernel)),
        }
    }

    /// Returns the kernel of `source`: cached, or compiled by `backend` and cached.
    ///
    /// # Errors
    /// [`KernelCompile`](crate::Error::KernelCompile); failures are not cached.
    pub async fn compile_kernel(
        &self,
        backend: &impl Backend<Kernel = Kernel>,
        source: &KernelSource<'_>,
    ) -> Result<Kernel> {
        if let Some(kernel) = self.find(source) {
            return Ok(kernel);
        }
        let kernel = backend.compile_kernel(source).await?;
        self.keep(source, kernel.clone());
        Ok(kernel)
    }

    /// Returns the number of cached kernels.
    #[must_use]
    pub fn n_kernels(&self) -> usize {
        self.lock().len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_are_found_by_text_not_by_address() {
        let cache = PipelineCache::default();
        let texts = [
            "fn a() {}".to_owned(),
            "fn a() {}".to_owned(),
            "fn b() {}".to_owned(),
        ];
        let [source, again, other] =
            [0, 1, 2].map(|i: usize| KernelSource::new(&texts[i], "a", &[Access::Read]));
        cache.keep(&source, 1);
        assert_eq!([cache.find(&again), cache.find(&other)], [Some(1), None]);
        let factor = source.with_overrides(&[("FACTOR", 2.0)]);
        assert_eq!(cache.find(&factor), None);
        cache.keep(&factor, 2);
        cache.keep(&again, 3);
        assert_eq!(
            [cache.find(&source), cache.find(&factor)],
            [Some(3), Some(2)]
        );
        assert_eq!(cache.n_kernels(), 2);
    }
}

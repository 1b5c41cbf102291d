//! Device memory from a bounded pool, and memory that host and device share.

use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;

use super::calls;
use super::device::{Shared, answered};
use crate::gpu::backend::{HostMemory, HostUse, Sized64};
use crate::gpu::check;
use crate::gpu::id::{DeviceId, Owned};
use crate::js::{self, Bytes, Value};
use crate::signal::Receiver;
use crate::{Error, Result};

/// Most bytes the pool keeps for later; buffers beyond it are freed. A page shares graphics memory with others.
pub(super) const MAX_POOLED_BYTES: u64 = 1 << 30;

/// Usages of memory for kernels.
const STORAGE: u32 = calls::STORAGE | calls::COPY_SRC | calls::COPY_DST;

/// A buffer of our own, destroyed when it is dropped.
#[derive(Debug)]
pub(super) struct Raw {
    value: Value,
    size: u64,
    usage: u32,
}

impl Drop for Raw {
    fn drop(&mut self) {
        calls::destroy_buffer(self.value.number());
    }
}

impl Raw {
    /// A new buffer. When memory runs out, what the pool holds is freed and the allocation tried once more.
    fn create(shared: &Shared, size: u64, usage: u32, mapped: bool) -> Result<Self> {
        shared.check()?;
        let device = shared.device.number();
        let attempt = || Value::new(calls::create_buffer(device, size as f64, usage, mapped));
        let made = attempt().or_else(|| {
            shared.pool.clear();
            attempt()
        });
        let value = made.ok_or(Error::OutOfMemory { requested: size })?;
        Ok(Self { value, size, usage })
    }
}

/// Device memory; goes back to the pool when the last clone is dropped.
#[derive(Debug, Clone)]
pub struct WebBuffer(Rc<Memory>);

#[derive(Debug)]
struct Memory {
    raw: Option<Raw>,
    shared: Rc<Shared>,
    n_bytes: u64,
}

impl Drop for Memory {
    fn drop(&mut self) {
        if let Some(raw) = self.raw.take() {
            self.shared.pool.put(raw.usage, raw.size, raw);
        }
    }
}

impl WebBuffer {
    /// Memory for kernels: storage, source and target of copies. It holds what was there before.
    pub(super) fn uncleared(shared: &Rc<Shared>, n_bytes: u64) -> Result<Self> {
        check::size(n_bytes, shared.capabilities.max_buffer_bytes)?;
        Self::new(shared, n_bytes, STORAGE)
    }

    /// The same, of zeros: the pool has none, but a browser clears what is new.
    pub(super) fn cleared(shared: &Rc<Shared>, n_bytes: u64) -> Result<Self> {
        check::size(n_bytes, shared.capabilities.max_buffer_bytes)?;
        let size = check::size_class(n_bytes, shared.capabilities.max_buffer_bytes);
        let raw = Raw::create(shared, size, STORAGE, false)?;
        Ok(Self::of(raw, shared, n_bytes))
    }

    /// Memory for the parameters of launches.
    pub(super) fn uniform(shared: &Rc<Shared>, n_bytes: u64) -> Result<Self> {
        Self::new(shared, n_bytes, calls::UNIFORM | calls::COPY_DST)
    }

    fn new(shared: &Rc<Shared>, n_bytes: u64, usage: u32) -> Result<Self> {
        let size = check::size_class(n_bytes, shared.capabilities.max_buffer_bytes);
        let raw = match shared.pool.take(usage, size) {
            Some(raw) => raw,
            None => Raw::create(shared, size, usage, false)?,
        };
        Ok(Self::of(raw, shared, n_bytes))
    }

    fn of(raw: Raw, shared: &Rc<Shared>, n_bytes: u64) -> Self {
        Self(Rc::new(Memory {
            raw: Some(raw),
            shared: Rc::clone(shared),
            n_bytes,
        }))
    }

    pub(crate) fn number(&self) -> u32 {
        self.0.raw.as_ref().map_or(0, |raw| raw.value.number())
    }
}

impl Owned for WebBuffer {
    fn device_id(&self) -> DeviceId {
        self.0.shared.id
    }
}

impl Sized64 for WebBuffer {
    fn n_bytes(&self) -> u64 {
        self.0.n_bytes
    }
}

/// Memory that host and device share.
#[derive(Debug, Clone)]
pub struct WebHostBuffer(Rc<HostInner>);

#[derive(Debug)]
struct HostInner {
    raw: Raw,
    host_use: HostUse,
    mapping: RefCell<Mapping>,
    shared: Rc<Shared>,
}

/// Who has the memory.
#[derive(Debug, Default)]
enum Mapping {
    /// The device.
    #[default]
    None,
    /// The device until it is done with it, then the host. Asked for as soon as work is submitted: a browser takes
    /// milliseconds to answer.
    Pending {
        range: Range<u64>,
        answer: Receiver<js::Answer>,
    },
    /// The host.
    Done { range: Range<u64> },
}

impl WebHostBuffer {
    pub(super) fn new(shared: &Rc<Shared>, n_bytes: u64, host_use: HostUse) -> Result<Self> {
        check::size(n_bytes, shared.capabilities.max_buffer_bytes)?;
        let is_upload = host_use == HostUse::Upload;
        let usage = match host_use {
            HostUse::Upload => calls::MAP_WRITE | calls::COPY_SRC,
            HostUse::Download => calls::MAP_READ | calls::COPY_DST,
        };
        Ok(Self(Rc::new(HostInner {
            raw: Raw::create(shared, n_bytes, usage, is_upload)?,
            host_use,
            mapping: RefCell::new(match is_upload {
                true => Mapping::Done { range: 0..n_bytes },
                false => Mapping::None,
            }),
            shared: Rc::clone(shared),
        })))
    }

    pub(super) fn number(&self) -> u32 {
        self.0.raw.value.number()
    }

    /// Whether both are the same memory.
    pub(super) fn is(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }

    pub(super) fn host_use(&self) -> HostUse {
        self.0.host_use
    }

    /// Hands the memory to the device; before a submission that uses it.
    pub(super) fn unmap(&self) {
        if !matches!(self.0.mapping.take(), Mapping::None) {
            calls::unmap(self.number());
        }
    }

    /// Asks for a range that submitted work uses, as soon as that is done.
    pub(super) fn used(&self, range: Range<u64>) {
        let answer = self.ask(&range);
        *self.0.mapping.borrow_mut() = Mapping::Pending { range, answer };
    }

    fn ask(&self, range: &Range<u64>) -> Receiver<js::Answer> {
        let for_writing = self.0.host_use == HostUse::Upload;
        let (start, n_bytes) = (range.start as f64, (range.end - range.start) as f64);
        js::ask(|token| calls::map(self.number(), for_writing, start, n_bytes, token))
    }

    /// Waits until the device has finished with the memory, and hands `wanted` to the host.
    async fn map(&self, wanted: Range<u64>) -> Result<()> {
        let covers = |range: &Range<u64>| range.start <= wanted.start && wanted.end <= range.end;
        let (range, answer) = match self.0.mapping.take() {
            Mapping::Done { range } if covers(&range) => {
                *self.0.mapping.borrow_mut() = Mapping::Done { range };
                return Ok(());
            }
            Mapping::Pending { range, answer } if covers(&range) => (range, answer),
            other => {
                if !matches!(other, Mapping::None) {
                    calls::unmap(self.number());
                }
                (wanted.clone(), self.ask(&wanted))
            }
        };
        match answered(answer.receive().await) {
            Ok(_) => {
                *self.0.mapping.borrow_mut() = Mapping::Done { range };
                self.0.shared.check()
            }
            Err(message) => Err(self.0.shared.failed(message).await),
        }
    }

    /// Waits until the device has finished with a range, and shows it to the host until [`unmap`](Self::unmap). A range
    /// is looked at once between two submissions.
    pub(crate) async fn mapped_async(&self, range: Range<u64>, host_use: HostUse) -> Result<Bytes> {
        let n_bytes = range.end.saturating_sub(range.start);
        check::host_access(
            host_use,
            self.0.host_use,
            range.start,
            n_bytes,
            self.n_bytes(),
        )?;
        if n_bytes == 0 {
            return Bytes::zeros(0);
        }
        let wanted = match host_use {
            HostUse::Upload => 0..self.n_bytes(),
            HostUse::Download => range.clone(),
        };
        self.map(wanted).await?;
        let mapped = calls::mapped(self.number(), range.start as f64, n_bytes as f64);
        match Value::new(mapped) {
            Some(value) => Ok(Bytes::new(value)),
            None => Err(self.0.shared.failed("a buffer was not mapped".into()).await),
        }
    }

    /// The same for a download: shown until `read` is done.
    pub(crate) async fn read_mapped_async<R>(
        &self,
        range: Range<u64>,
        read: impl FnOnce(&Bytes) -> R,
    ) -> Result<R> {
        let value = read(&self.mapped_async(range, HostUse::Download).await?);
        self.unmap();
        Ok(value)
    }
}

impl Owned for WebHostBuffer {
    fn device_id(&self) -> DeviceId {
        self.0.shared.id
    }
}

impl Sized64 for WebHostBuffer {
    fn n_bytes(&self) -> u64 {
        self.0.raw.size
    }
}

impl HostMemory for WebHostBuffer {
    async fn write_async(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        let range = offset..offset + bytes.len() as u64;
        let mapped = self.mapped_async(range, HostUse::Upload).await?;
        mapped.write(0, bytes)
    }

    async fn fill_async<R>(
        &self,
        range: Range<u64>,
        fill: impl FnOnce(&mut [u8]) -> R,
    ) -> Result<R> {
        // A mapping is not memory of the module.
        let mut bytes = crate::memory::zeros(range.end.saturating_sub(range.start) as usize)?;
        let value = fill(&mut bytes);
        self.write_async(range.start, &bytes).await?;
        Ok(value)
    }

    async fn read_async<R>(&self, range: Range<u64>, read: impl FnOnce(&[u8]) -> R) -> Result<R> {
        let bytes = self
            .read_mapped_async(range, |mapped| mapped.read(0..mapped.len()))
            .await??;
        Ok(read(&bytes))
    }
}

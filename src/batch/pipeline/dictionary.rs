//! Dictionaries in device memory.

use std::ops::Range;

use crate::Result;
use crate::gpu::{Backend, Buffer, GpuDevice, Sized64};
use crate::kernels::Slot;
use crate::kernels::dictionary::dictionary_words;
use crate::lz4::Dictionary;

/// A [`Dictionary`] in the memory of one GPU, for pages that stay there: its methods have the names of the functions that work
/// without a dictionary. It takes up to 590 kB of that memory.
#[derive(Debug, Clone)]
pub struct ResidentDictionary {
    dictionary: Dictionary,
    /// `None` for a dictionary without bytes.
    buffer: Option<Buffer>,
}

impl ResidentDictionary {
    /// Copies a dictionary to the memory of a device.
    ///
    /// # Errors
    /// [`OutOfMemory`](crate::Error::OutOfMemory), [`DeviceLost`](crate::Error::DeviceLost).
    pub async fn new_async(device: &GpuDevice, dictionary: &Dictionary) -> Result<Self> {
        let mut buffer = None;
        if !dictionary.as_bytes().is_empty() {
            let words = dictionary_words(dictionary)?;
            let bytes: &[u8] = bytemuck::cast_slice(&words);
            let copy = device.allocate_uncleared(bytes.len() as u64)?;
            device.upload_async(&copy, 0, bytes).await?;
            buffer = Some(copy);
        }
        Ok(Self {
            dictionary: dictionary.clone(),
            buffer,
        })
    }

    /// Returns the dictionary.
    #[must_use]
    pub const fn dictionary(&self) -> &Dictionary {
        &self.dictionary
    }

    /// Returns the buffer as one that is given to a job.
    pub(in crate::batch) fn given(&self) -> Option<(Slot, &Buffer, Range<u64>)> {
        let buffer = self.buffer.as_ref()?;
        Some((Slot::Dictionary, buffer, 0..buffer.n_bytes()))
    }

    fn is_on(&self, device: &GpuDevice) -> bool {
        let is_its = |buffer| device.check_buffer(buffer).is_ok();
        self.buffer.as_ref().is_none_or(is_its)
    }
}

/// The dictionary that the calls of a pipeline used last. All jobs read one copy.
#[derive(Debug, Clone, Default)]
pub(in crate::batch) struct Held(Option<ResidentDictionary>);

impl Held {
    /// Returns the buffer of `dictionary` on `device`, as one that is given to a job, after copying it there unless it is there; `None`
    /// if there is no dictionary.
    pub(in crate::batch) async fn given(
        &mut self,
        device: &GpuDevice,
        dictionary: Option<&Dictionary>,
    ) -> Result<Option<(Slot, &Buffer, Range<u64>)>> {
        let Some(wanted) = dictionary else {
            return Ok(None);
        };
        // After a loss, a pipeline has another device.
        let held = self.0.take();
        let held = held.filter(|held| held.dictionary == *wanted && held.is_on(device));
        let held = match held {
            Some(held) => held,
            None => ResidentDictionary::new_async(device, wanted).await?,
        };
        Ok(self.0.insert(held).given())
    }
}

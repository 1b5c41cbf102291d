//! The bytes of JavaScript arrays, copied to and from mapped GPU memory directly (zero-copy with respect to the memory of the
//! module).

use std::ops::Range;

use js_sys::Uint8Array;
#[cfg(web_tensor)]
use js_sys::{ArrayBuffer, Float32Array};
use wasm_bindgen::prelude::*;

#[cfg(web_pages)]
use crate::memory::zeros;
use crate::{Error, Result};

/// The bytes of an array of JavaScript. It may shrink or be detached between two calls, and is refused then.
#[derive(Debug, Clone)]
pub(crate) struct JsBytes {
    array: Uint8Array,
    n_bytes: usize,
    /// True for an array of this module, whose memory no one has touched yet.
    is_new: bool,
}

impl JsBytes {
    /// An array with the length that it has now.
    pub(crate) fn new(array: Uint8Array) -> Self {
        let n_bytes = array.length() as usize;
        Self {
            array,
            n_bytes,
            is_new: false,
        }
    }

    /// The bytes of an array of floats.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for one whose buffer is detached.
    #[cfg(web_tensor)]
    pub(crate) fn of_floats(array: &Float32Array) -> Result<Self> {
        let view: &View = array.unchecked_ref();
        let n_bytes = view.n_bytes();
        if n_bytes > f64::from(u32::MAX) {
            let requested = n_bytes as u64;
            return Err(Error::OutOfMemory { requested });
        }
        let bytes = NewBytes::within(&array.buffer(), view.offset(), n_bytes);
        bytes
            .map(|bytes| Self::new(bytes.unchecked_into()))
            .map_err(|_| shrank(0))
    }

    /// A new array of zeros.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] where JavaScript has no room for it.
    pub(crate) fn zeros(n_bytes: usize) -> Result<Self> {
        let out_of_memory = |_| Error::OutOfMemory {
            requested: n_bytes as u64,
        };
        let array = NewBytes::with_length(n_bytes as f64).map_err(out_of_memory)?;
        Ok(Self {
            array: array.unchecked_into(),
            n_bytes,
            is_new: true,
        })
    }

    /// Writes a byte of each page of memory in `range` of a new array, so that the page faults are over when its contents arrive. Other
    /// arrays are left as they are.
    pub(crate) fn touch(&self, range: Range<usize>) {
        if self.is_new {
            for at in range.step_by(4096) {
                self.array.set_index(at as u32, 0);
            }
        }
    }

    /// Returns the arrays one after the other in one array. A single one is not copied.
    ///
    /// # Errors
    /// As [`Self::zeros`].
    #[cfg(web_pages)]
    pub(crate) fn joined(mut pieces: Vec<Self>) -> Result<Self> {
        if pieces.len() <= 1 {
            return pieces.pop().map_or_else(|| Self::zeros(0), Ok);
        }
        let whole = Self::zeros(pieces.iter().map(Self::len).sum())?;
        let mut at = 0;
        for piece in &pieces {
            whole.copy(at, piece, 0..piece.len())?;
            at += piece.len();
        }
        Ok(whole)
    }

    pub(crate) fn len(&self) -> usize {
        self.n_bytes
    }

    pub(crate) fn into_array(self) -> Uint8Array {
        self.array
    }

    /// The part of the array in `range`, which shares its memory.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if the array ends before it.
    pub(crate) fn part(&self, range: Range<usize>) -> Result<Uint8Array> {
        let length = self.array.length();
        if range.start <= range.end && range.end <= length as usize {
            return Ok(self.array.subarray(range.start as u32, range.end as u32));
        }
        Err(shrank(length))
    }

    /// A copy of the bytes in `range`.
    ///
    /// # Errors
    /// As [`Self::part`], and [`Error::OutOfMemory`].
    #[cfg(web_pages)]
    pub(crate) fn read(&self, range: Range<usize>) -> Result<Vec<u8>> {
        let mut bytes = zeros(range.len())?;
        self.read_into(range.start, &mut bytes)?;
        Ok(bytes)
    }

    /// Copies as many bytes as `to` has, from `start` on.
    ///
    /// # Errors
    /// As [`Self::part`].
    pub(crate) fn read_into(&self, start: usize, to: &mut [u8]) -> Result<()> {
        self.part(start..start.saturating_add(to.len()))?
            .copy_to(to);
        Ok(())
    }

    /// Writes `bytes` at `start`.
    ///
    /// # Errors
    /// As [`Self::part`].
    pub(crate) fn write(&self, start: usize, bytes: &[u8]) -> Result<()> {
        self.part(start..start.saturating_add(bytes.len()))?
            .copy_from(bytes);
        Ok(())
    }

    /// Writes the bytes of `from` in `range` at `start`.
    ///
    /// # Errors
    /// As [`Self::part`].
    #[cfg(web_pages)]
    pub(crate) fn copy(&self, start: usize, from: &Self, range: Range<usize>) -> Result<()> {
        let to = self.part(start..start.saturating_add(range.len()))?;
        to.set(&from.part(range)?.into(), 0);
        Ok(())
    }
}

fn shrank(n_bytes: u32) -> Error {
    Error::InvalidArgument {
        name: "bytes",
        value: format!("an array that shrank to {n_bytes} bytes"),
        expected: "leave the array as it is until the call is done",
    }
}

#[wasm_bindgen]
extern "C" {
    /// A `Uint8Array` whose constructor may throw: js-sys has it throw past Rust.
    #[wasm_bindgen(js_name = Uint8Array)]
    type NewBytes;

    #[wasm_bindgen(constructor, catch, js_class = "Uint8Array")]
    fn with_length(n_bytes: f64) -> std::result::Result<NewBytes, JsValue>;

    /// A typed array, whose place may be behind 4 GiB, which js-sys does not count to.
    #[cfg(web_tensor)]
    type View;

    #[cfg(web_tensor)]
    #[wasm_bindgen(method, getter, js_name = byteOffset)]
    fn offset(this: &View) -> f64;

    #[cfg(web_tensor)]
    #[wasm_bindgen(method, getter, js_name = byteLength)]
    fn n_bytes(this: &View) -> f64;

    #[cfg(web_tensor)]
    #[wasm_bindgen(constructor, catch, js_class = "Uint8Array")]
    fn within(
        buffer: &ArrayBuffer,
        start: f64,
        n_bytes: f64,
    ) -> std::result::Result<NewBytes, JsValue>;
}

//! Values of JavaScript, by number, and answers of JavaScript that come later.
//!
//! The other side of this is `js-values.ts` of the package, which keeps a table of the values that the module has: a number
//! stands for one until it is dropped here, or given back. No function of JavaScript throws into the module.

use std::num::NonZeroU32;
use std::ops::Range;

use crate::signal::{self, Receiver, Sender};
use crate::{Error, Result};

#[link(wasm_import_module = "js")]
unsafe extern "C" {
    safe fn drop_value(value: u32);
    safe fn new_bytes(n_bytes: usize) -> u32;
    safe fn n_bytes(bytes: u32) -> usize;
    fn read_bytes(bytes: u32, start: usize, to: *mut u8, n_bytes: usize);
    fn write_bytes(bytes: u32, start: usize, from: *const u8, n_bytes: usize);
    safe fn copy_bytes(to: u32, at: usize, from: u32, start: usize, n_bytes: usize);
    safe fn now() -> f64;
    safe fn after_turn(asked: Token);
}

/// A value that JavaScript keeps for the module.
#[derive(Debug)]
pub(crate) struct Value(NonZeroU32);

impl Value {
    /// The value of a number that JavaScript gave; 0 stands for none.
    pub(crate) fn new(number: u32) -> Option<Self> {
        NonZeroU32::new(number).map(Self)
    }

    /// Its number, for as long as this lives.
    pub(crate) fn number(&self) -> u32 {
        self.0.get()
    }

    /// Its number, which is JavaScript's to drop from now on.
    pub(crate) fn into_number(self) -> u32 {
        let number = self.number();
        std::mem::forget(self);
        number
    }
}

impl Drop for Value {
    fn drop(&mut self) {
        drop_value(self.number());
    }
}

/// An array of bytes, which may shrink or go away between two looks at it, and is refused then.
#[derive(Debug)]
pub(crate) struct Bytes {
    value: Value,
    length: usize,
}

impl Bytes {
    /// Takes an array as long as it is now.
    pub(crate) fn new(value: Value) -> Self {
        let length = n_bytes(value.number());
        Self { value, length }
    }

    /// An array of zeros.
    pub(crate) fn zeros(length: usize) -> Result<Self> {
        let value = Value::new(new_bytes(length)).ok_or(Error::OutOfMemory {
            requested: length as u64,
        })?;
        Ok(Self { value, length })
    }

    pub(crate) fn len(&self) -> usize {
        self.length
    }

    pub(crate) fn into_value(self) -> Value {
        self.value
    }

    fn check(&self, end: usize) -> Result<()> {
        let length = n_bytes(self.value.number());
        if end <= length {
            return Ok(());
        }
        let value = crate::text::fill("an array that shrank to # bytes", &[], &[length as u64]);
        Err(Error::InvalidArgument {
            name: "bytes",
            value,
            expected: "leave the array as it is until the call is done",
        })
    }

    /// A range, copied.
    pub(crate) fn read(&self, range: Range<usize>) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        bytes
            .try_reserve_exact(range.len())
            .map_err(|_| Error::OutOfMemory {
                requested: range.len() as u64,
            })?;
        bytes.resize(range.len(), 0);
        self.read_into(range.start, &mut bytes)?;
        Ok(bytes)
    }

    /// As many bytes as `to` has, from `start` on.
    pub(crate) fn read_into(&self, start: usize, to: &mut [u8]) -> Result<()> {
        self.check(start.saturating_add(to.len()))?;
        // SAFETY: as many bytes are written as there are, and the range is within the array.
        unsafe { read_bytes(self.value.number(), start, to.as_mut_ptr(), to.len()) };
        Ok(())
    }

    /// Writes `bytes` at `start`.
    pub(crate) fn write(&self, start: usize, bytes: &[u8]) -> Result<()> {
        self.check(start.saturating_add(bytes.len()))?;
        // SAFETY: only `bytes` is read.
        unsafe { write_bytes(self.value.number(), start, bytes.as_ptr(), bytes.len()) };
        Ok(())
    }

    /// Writes a range of another array at `start`.
    pub(crate) fn copy(&self, start: usize, from: &Self, range: Range<usize>) -> Result<()> {
        self.check(start.saturating_add(range.len()))?;
        from.check(range.end)?;
        copy_bytes(
            self.value.number(),
            start,
            from.value.number(),
            range.start,
            range.len(),
        );
        Ok(())
    }

    /// All of it as a text.
    pub(crate) fn text(&self) -> String {
        let bytes = self.read(0..self.length).unwrap_or_default();
        String::from_utf8(bytes).unwrap_or_default()
    }
}

/// Milliseconds of a clock that does not go back.
pub(crate) fn now_ms() -> f64 {
    now()
}

/// An answer: a number, or what went wrong.
pub(crate) type Answer = std::result::Result<f64, String>;

/// What JavaScript calls back with.
#[repr(transparent)]
#[derive(Debug)]
pub(crate) struct Token(*mut ());

/// Asks for something that JavaScript answers later, exactly once.
pub(crate) fn ask(begin: impl FnOnce(Token)) -> Receiver<Answer> {
    let (sender, receiver) = signal::channel();
    begin(Token(Box::into_raw(Box::new(sender)).cast()));
    receiver
}

/// Lets the event loop run once, so that what has happened meanwhile is told.
pub(crate) async fn turn() {
    ask(|token| after_turn(token)).receive().await;
}

/// Answers with a number.
///
/// # Safety
/// The token is one that was given, and was not answered.
#[unsafe(no_mangle)]
unsafe extern "C" fn answer_later(token: *mut Sender<Answer>, number: f64) {
    // SAFETY: the caller says that `ask` made it, and that nobody else has it.
    unsafe { Box::from_raw(token) }.send(Ok(number));
}

/// Answers with what went wrong, a text.
///
/// # Safety
/// As for [`answer_later`].
#[unsafe(no_mangle)]
unsafe extern "C" fn fail_later(token: *mut Sender<Answer>, text: u32) {
    let text = Value::new(text).map(|value| Bytes::new(value).text());
    // SAFETY: as there.
    unsafe { Box::from_raw(token) }.send(Err(text.unwrap_or_default()));
}

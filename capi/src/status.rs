//! Status codes, their texts, and the message of the last error of each thread.

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char};

use pagepress::Error;

/// Result of a call. Codes never change meaning; later versions may add some.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum pp_status {
    /// The call succeeded.
    PP_OK = 0,
    /// A block is not valid LZ4, or needs a dictionary.
    PP_CORRUPT_PAGE = 1,
    /// The input does not start with an LZ4 frame.
    PP_NOT_LZ4 = 2,
    /// A frame ends before its end mark.
    PP_TRUNCATED_FRAME = 3,
    /// A checksum does not match its data.
    PP_CHECKSUM_MISMATCH = 4,
    /// A header breaks the frame format.
    PP_INVALID_FRAME = 5,
    /// The content has another size than the one stated.
    PP_CONTENT_SIZE_MISMATCH = 6,
    /// The data was compressed with a dictionary, and none was given.
    PP_DICTIONARY_NEEDED = 7,
    /// The data was compressed with another dictionary than the given one.
    PP_WRONG_DICTIONARY = 8,
    /// The output does not fit in the capacity or the limit given.
    PP_OUTPUT_LIMIT = 9,
    /// An argument is null, out of range or contradicts another one.
    PP_INVALID_ARGUMENT = 10,
    /// The requested engine is not available on this machine or in this build.
    PP_BACKEND_UNAVAILABLE = 11,
    /// The GPU was lost and could not be reopened.
    PP_DEVICE_LOST = 12,
    /// There is not enough memory, on the GPU or on the host.
    PP_OUT_OF_MEMORY = 13,
    /// The GPU's driver rejected a call.
    PP_ENGINE = 14,
    /// A defect of the library. The call had no effect but on its output memory.
    PP_INTERNAL = 15,
}

impl pp_status {
    /// Returns the status of an error of the library.
    pub(crate) fn of(error: &Error) -> Self {
        match error.code() {
            "CORRUPT_PAGE" => Self::PP_CORRUPT_PAGE,
            "NOT_LZ4" => Self::PP_NOT_LZ4,
            "TRUNCATED_FRAME" => Self::PP_TRUNCATED_FRAME,
            "CHECKSUM_MISMATCH" => Self::PP_CHECKSUM_MISMATCH,
            "INVALID_FRAME" => Self::PP_INVALID_FRAME,
            "CONTENT_SIZE_MISMATCH" => Self::PP_CONTENT_SIZE_MISMATCH,
            "DICTIONARY_NEEDED" => Self::PP_DICTIONARY_NEEDED,
            "WRONG_DICTIONARY" => Self::PP_WRONG_DICTIONARY,
            "OUTPUT_LIMIT" => Self::PP_OUTPUT_LIMIT,
            "INVALID_ARGUMENT" => Self::PP_INVALID_ARGUMENT,
            "BACKEND_UNAVAILABLE" => Self::PP_BACKEND_UNAVAILABLE,
            "DEVICE_LOST" => Self::PP_DEVICE_LOST,
            "OUT_OF_MEMORY" => Self::PP_OUT_OF_MEMORY,
            "ENGINE" | "KERNEL_COMPILE" => Self::PP_ENGINE,
            // Codes of snapshots and tensors, which no call of this interface returns.
            _ => Self::PP_INTERNAL,
        }
    }
}

/// Returns the text of a number.
const fn text(status: i32) -> &'static CStr {
    match status {
        0 => c"no error",
        1 => c"a block is not valid LZ4",
        2 => c"not an LZ4 frame",
        3 => c"truncated LZ4 frame",
        4 => c"checksum mismatch",
        5 => c"invalid LZ4 frame",
        6 => c"content size mismatch",
        7 => c"a dictionary is needed",
        8 => c"another dictionary is needed",
        9 => c"the output does not fit",
        10 => c"invalid argument",
        11 => c"the engine is not available",
        12 => c"GPU device lost",
        13 => c"out of memory",
        14 => c"the engine rejected a call",
        15 => c"internal error",
        _ => c"unknown status",
    }
}

thread_local! {
    static LAST: RefCell<Option<CString>> = const { RefCell::new(None) };
}

/// Sets the message of the last error of this thread.
pub(crate) fn set_last(message: &str) {
    let bytes: Vec<u8> = message.bytes().filter(|&byte| byte != 0).collect();
    let message = CString::new(bytes).ok();
    // While a thread ends, its message may already be gone.
    let _ = LAST.try_with(|last| last.replace(message));
}

/// Returns the text of a status: a constant string in English. Any number is accepted.
#[unsafe(no_mangle)]
pub extern "C" fn pp_status_text(status: i32) -> *const c_char {
    text(status).as_ptr()
}

/// Returns the message of the last call that failed on this thread, which names values and the remedy; an empty string if none
/// failed. The string is valid until the next call on this thread that fails.
#[unsafe(no_mangle)]
pub extern "C" fn pp_last_error() -> *const c_char {
    let last = LAST.try_with(|last| last.borrow().as_ref().map(|message| message.as_ptr()));
    last.ok().flatten().unwrap_or(c"".as_ptr())
}

/// Returns the version of the library: 65536 * major + 256 * minor + patch. `PP_VERSION` is that of the header.
#[unsafe(no_mangle)]
pub extern "C" fn pp_version() -> u32 {
    PP_VERSION
}

/// The version of this header: 65536 * major + 256 * minor + patch.
pub const PP_VERSION: u32 = 0x0000_0100;

#[cfg(test)]
mod tests {
    use super::{PP_VERSION, pp_status, text};

    #[test]
    fn the_version_is_that_of_the_package() {
        let parts: Vec<u32> = env!("CARGO_PKG_VERSION")
            .split('.')
            .map(|part| part.parse().unwrap())
            .collect();
        assert_eq!(PP_VERSION, parts[0] << 16 | parts[1] << 8 | parts[2]);
    }

    #[test]
    fn each_status_has_a_text_of_its_own() {
        let last = pp_status::PP_INTERNAL as i32;
        let mut texts: Vec<_> = (0..=last + 1).map(text).collect();
        texts.sort_unstable();
        texts.dedup();
        assert_eq!(texts.len(), last as usize + 2);
        assert_eq!(text(-1), text(last + 1));
    }
}

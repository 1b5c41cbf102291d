//! JavaScript values from and to those of the crate.

use js_sys::Reflect;
use wasm_bindgen::JsValue;

use crate::lz4::frame::Format;
use crate::lz4::{Level, PackedPages, PageEntry};
use crate::{Error, Result};

/// A value, or an `Error` with a `code`.
pub(super) type JsResult<T> = std::result::Result<T, JsValue>;

/// An `Error` of JavaScript with the property `code`.
pub(super) fn to_js_error(error: Error) -> JsValue {
    let value = js_sys::Error::new(&error.text());
    set(&value, "code", error.code());
    value.into()
}

pub(super) const fn level_of(is_high: bool) -> Level {
    if is_high { Level::High } else { Level::Fast }
}

/// The format by its number: that of JavaScript's list of them.
pub(super) const fn format_of(number: u32) -> Format {
    match number {
        1 => Format::Block,
        2 => Format::SizePrefixed,
        _ => Format::Frame,
    }
}

/// Entries from their words; those of fills are read from `packed` if they are there.
pub(super) fn entries_from(table: &[u32], packed: &[u8]) -> Result<Vec<PageEntry>> {
    let (entries, rest) = table.as_chunks::<2>();
    if !rest.is_empty() {
        let expected = "give two words a page";
        return Err(Error::invalid("table length", table.len() as u64, expected));
    }
    let entry = |(page, &words): (usize, &[u32; 2])| {
        PageEntry::from_words(words, packed).map_err(|source| Error::CorruptPage { page, source })
    };
    entries.iter().enumerate().map(entry).collect()
}

/// Two words a page.
pub(super) fn table_words(pages: &PackedPages) -> Result<Vec<u32>> {
    let mut words = Vec::with_capacity(2 * pages.table.len());
    for entry in &pages.table {
        let entry = entry.to_words().ok_or_else(|| Error::Engine {
            engine: "cpu",
            message: "blocks that lie too far for a table".into(),
        })?;
        words.extend(entry);
    }
    Ok(words)
}

/// Sets a property of an object that was made here, which cannot fail: it is neither frozen nor a proxy.
pub(super) fn set(object: &JsValue, key: &str, value: impl Into<JsValue>) {
    let _ = Reflect::set(object, &JsValue::from_str(key), &value.into());
}

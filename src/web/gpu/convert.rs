//! JavaScript values from and to those of the codec.

use js_sys::{Array, Object, Uint8Array, Uint32Array};
use wasm_bindgen::JsValue;

use crate::batch::{BackendChoice, Report, Timings};
use crate::lz4::{Level, PageEntry};
use crate::web::values::wrong;
pub(super) use crate::web::values::{power_preference_from, set};
use crate::{Error, Result};

pub(super) fn level_from(name: &str) -> Result<Level> {
    match name {
        "fast" => Ok(Level::Fast),
        "high" => Ok(Level::High),
        "sequential" => Ok(Level::Sequential),
        _ => Err(wrong("level", name, "give fast, high or sequential")),
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

/// `{ packed, table, pageSize, byteLength, ratio }`.
pub(super) fn pages_to_js(
    packed: &Uint8Array,
    table: &[u32],
    page_size: u32,
    n_bytes: u64,
) -> Object {
    let stored = u64::from(packed.length()) + 4 * table.len() as u64;
    let value = Object::new();
    set(&value, "packed", packed);
    set(&value, "table", Uint32Array::from(table));
    set(&value, "pageSize", page_size);
    set(&value, "byteLength", n_bytes as f64);
    let ratio = match table.is_empty() {
        true => 1.0,
        false => n_bytes as f64 / stored as f64,
    };
    set(&value, "ratio", ratio);
    value
}

/// `{ engine, adapter, software, reason, rejected }`.
pub(super) fn choice_to_js(choice: &BackendChoice) -> Object {
    let rejected = Array::new();
    for candidate in &choice.rejected {
        let value = Object::new();
        set(&value, "candidate", candidate.candidate.as_str());
        set(&value, "reason", candidate.reason.as_str());
        rejected.push(&value);
    }
    let value = Object::new();
    set(&value, "engine", engine_name(choice.engine));
    let adapter = Some(choice.adapter.as_str()).filter(|name| !name.is_empty());
    set(
        &value,
        "adapter",
        adapter.map_or(JsValue::NULL, JsValue::from_str),
    );
    set(&value, "software", choice.software);
    set(&value, "reason", choice.reason.as_str());
    set(&value, "rejected", rejected);
    value
}

/// `{ value, timing: { engine, reason, uploadNs, kernelNs, readbackNs, totalNs } }`.
pub(super) fn outcome_to_js(value: impl Into<JsValue>, report: &Report) -> JsValue {
    let Timings {
        upload_ns,
        kernel_ns,
        readback_ns,
        total_ns,
    } = report.timings;
    let or_null = |ns: Option<u64>| ns.map_or(JsValue::NULL, |ns| JsValue::from_f64(ns as f64));
    let timing = Object::new();
    set(&timing, "engine", engine_name(report.engine));
    set(&timing, "reason", report.reason.as_str());
    set(&timing, "uploadNs", or_null(upload_ns));
    set(&timing, "kernelNs", or_null(kernel_ns));
    set(&timing, "readbackNs", or_null(readback_ns));
    set(&timing, "totalNs", total_ns as f64);
    let outcome = Object::new();
    set(&outcome, "value", value);
    set(&outcome, "timing", timing);
    outcome.into()
}

/// The engine as JavaScript knows it: what wgpu drives there is WebGPU.
fn engine_name(engine: &str) -> &str {
    if engine == "wgpu" { "webgpu" } else { engine }
}

//! Writes cases with their WGSL as JSON, for the suite of the browser.

use cuda_c::{CudaParamKind, ScalarKind};
use serde_json::{Value, json};

use crate::case::{Arg, Case, Data, Tolerance};
use crate::options::options;

fn kind(data: &Data) -> &'static str {
    match data {
        Data::F32(_) => "Float32Array",
        Data::I32(_) => "Int32Array",
        Data::U32(_) => "Uint32Array",
        Data::U16(_) => "Uint16Array",
        Data::I16(_) => "Int16Array",
        Data::U8(_) => "Uint8Array",
        Data::I8(_) => "Int8Array",
        Data::F16(_) => "Float16Array",
        Data::I64(_) => "BigInt64Array",
        Data::U64(_) => "BigUint64Array",
    }
}

fn tolerance(tolerance: Tolerance) -> Value {
    match tolerance {
        Tolerance::Exact => json!({"absolute": 0, "relative": 0, "share": 0}),
        Tolerance::Near { absolute, relative } => {
            json!({"absolute": absolute, "relative": relative, "share": 0})
        }
        Tolerance::Ulps(ulps) => {
            let relative = ulps * f64::from(f32::EPSILON);
            json!({"absolute": f64::from(f32::MIN_POSITIVE), "relative": relative, "share": 0})
        }
        Tolerance::Except(share) => json!({"absolute": 0, "relative": 0, "share": share}),
    }
}

fn words(bytes: &[u8]) -> Vec<u32> {
    let (words, _) = bytes.as_chunks::<4>();
    words.iter().map(|word| u32::from_le_bytes(*word)).collect()
}

/// Returns a case as JSON, or an error of the front end.
fn case_json(case: &Case) -> Result<Value, String> {
    let compiled = cuda_c::compile_cuda(case.source, &options(case));
    let compiled = compiled.map_err(|error| error.to_string())?;
    let wgsl = compiled.wgsl().map_err(|error| error.to_string())?;
    let mut buffers = Vec::new();
    let mut uniform: Vec<u32> = Vec::new();
    for (arg, param) in case.args.iter().zip(&compiled.params) {
        match (arg, &param.kind) {
            (
                Arg::Buffer { before, after },
                CudaParamKind::Buffer {
                    binding, writable, ..
                },
            ) => {
                let after = after.as_ref().map(|(data, within)| {
                    json!({"array": kind(data), "length": data.len(), "words": words(&data.bytes()), "tolerance": tolerance(*within)})
                });
                buffers.push(json!({"binding": binding, "writable": writable, "before": words(before), "after": after}));
            }
            (Arg::Bytes(bytes), CudaParamKind::Struct { offset, .. }) => {
                let at = *offset as usize / 4;
                let end = at + bytes.len() / 4;
                uniform.resize(uniform.len().max(end), 0);
                uniform[at..end].copy_from_slice(&words(bytes));
            }
            (scalar, CudaParamKind::Scalar { offset, kind }) => {
                let word = match (scalar, kind) {
                    (Arg::I32(value), ScalarKind::I32 | ScalarKind::U32) => *value as u32,
                    (Arg::U32(value), ScalarKind::I32 | ScalarKind::U32) => *value,
                    (Arg::F32(value), ScalarKind::F32) => value.to_bits(),
                    _ => return Err(format!("{} is of another kind", param.name)),
                };
                let at = *offset as usize / 4;
                uniform.resize(uniform.len().max(at + 1), 0);
                uniform[at] = word;
            }
            _ => return Err(format!("{} is of another kind", param.name)),
        }
    }
    uniform.resize(uniform.len().next_multiple_of(4), 0);
    Ok(json!({
        "name": case.name,
        "wgsl": wgsl,
        "entry": compiled.entry,
        "grid": case.grid,
        "buffers": buffers,
        "uniform": uniform,
    }))
}

pub fn json(cases: &[Case]) -> Vec<u8> {
    let values = cases.iter().map(|case| {
        case_json(case).unwrap_or_else(|error| json!({"name": case.name, "error": error}))
    });
    serde_json::to_vec(&values.collect::<Vec<_>>()).unwrap()
}

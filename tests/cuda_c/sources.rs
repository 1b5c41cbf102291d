//! Cases from files that are not part of this project: kernels of others, with launches that a file in JSON describes.
//!
//! `PAGEPRESS_CUDA_SOURCES` is a folder of pairs `NAME.cu` and `NAME.json`. There are no references: what the kernels
//! compute through an engine is compared with what they compute as `nvcc` compiles them.
//!
//! ```json
//! { "launches": [ { "entry": "scale<float>", "block": [256, 1, 1], "grid": [4, 1, 1], "shared": 0,
//!     "defines": {"N": "8"}, "narrow": true, "atol": 1e-6, "rtol": 1e-5,
//!     "args": [ {"i32": 1000}, {"f32": 0.5}, {"buffer": "f32", "length": 1000, "fill": ["uniform", -1, 1]},
//!               {"bytes": [{"f32": 1.0}, {"i32": 2}]} ],
//!     "globals": [ {"buffer": "i32", "length": 4, "fill": ["list", 1, 2, 3, 4]} ] } ] }
//! ```
//! Other fills: `"zero"`, `"index"`, `["constant", 3]`, and `["int", 0, 9]` for random integers of this range.

use std::path::Path;

use cuda_c::{CudaParamKind, ScalarKind};
use serde_json::Value;

use crate::case::{Arg, Case, Data, Tolerance};
use crate::inputs::Random;
use crate::options::options;

type Outcome<T> = Result<T, String>;

/// Strings of a case are those of the program itself, and the folder is read once.
fn leaked(text: &str) -> &'static str {
    Box::leak(text.to_owned().into_boxed_str())
}

fn number(value: &Value) -> Outcome<f64> {
    value
        .as_f64()
        .ok_or_else(|| format!("{value} is no number"))
}

/// Returns `length` numbers.
fn filled(fill: &Value, length: usize, random: &mut Random) -> Outcome<Vec<f64>> {
    let name = fill.as_str().or_else(|| fill[0].as_str());
    let numbers: Outcome<Vec<f64>> = match name {
        Some("zero") => Ok(vec![0.0; length]),
        Some("index") => Ok((0..length).map(|i| i as f64).collect()),
        Some("constant") => Ok(vec![number(&fill[1])?; length]),
        Some("list") => {
            let list = fill.as_array().map_or(&[][..], |list| &list[1..]);
            list.iter().map(number).collect()
        }
        Some("uniform") => {
            let (from, to) = (number(&fill[1])?, number(&fill[2])?);
            let share = |word: u32| f64::from(word >> 8) / f64::from(1 << 24);
            let values = (0..length).map(|_| from + share(random.word()) * (to - from));
            Ok(values.collect())
        }
        Some("int") => {
            let (from, to) = (number(&fill[1])?, number(&fill[2])?);
            let width = (to - from + 1.0) as u64;
            let values = (0..length).map(|_| from + (u64::from(random.word()) % width) as f64);
            Ok(values.collect())
        }
        _ => Err(format!("{fill} is no fill")),
    };
    let numbers = numbers?;
    if numbers.len() == length {
        Ok(numbers)
    } else {
        Err(format!("{} numbers for {length} elements", numbers.len()))
    }
}

fn data(kind: &str, numbers: &[f64]) -> Outcome<Data> {
    let integers = || numbers.iter().map(|number| *number as i64);
    Ok(match kind {
        "f32" => numbers
            .iter()
            .map(|number| *number as f32)
            .collect::<Vec<_>>()
            .into(),
        "i32" => integers()
            .map(|number| number as i32)
            .collect::<Vec<_>>()
            .into(),
        "u32" => integers()
            .map(|number| number as u32)
            .collect::<Vec<_>>()
            .into(),
        "i64" => integers().collect::<Vec<_>>().into(),
        "u64" => integers()
            .map(|number| number as u64)
            .collect::<Vec<_>>()
            .into(),
        "i16" => integers()
            .map(|number| number as i16)
            .collect::<Vec<_>>()
            .into(),
        "u16" => integers()
            .map(|number| number as u16)
            .collect::<Vec<_>>()
            .into(),
        "i8" => integers()
            .map(|number| number as i8)
            .collect::<Vec<_>>()
            .into(),
        "u8" => integers()
            .map(|number| number as u8)
            .collect::<Vec<_>>()
            .into(),
        _ => return Err(format!("{kind} is no type of elements")),
    })
}

fn scalar(value: &Value) -> Outcome<Option<Arg>> {
    let Some((kind, value)) = value.as_object().and_then(|object| object.iter().next()) else {
        return Err(format!("{value} is no argument"));
    };
    Ok(match kind.as_str() {
        "i32" => Some(Arg::I32(number(value)? as i64 as i32)),
        "u32" => Some(Arg::U32(number(value)? as u32)),
        "f32" => Some(Arg::F32(number(value)? as f32)),
        "i64" => Some(Arg::I64(number(value)? as i64)),
        "u64" => Some(Arg::U64(number(value)? as u64)),
        _ => None,
    })
}

fn arg(value: &Value, tolerance: Tolerance, random: &mut Random) -> Outcome<Arg> {
    if let Some(kind) = value["buffer"].as_str() {
        let length = number(&value["length"])? as usize;
        let before = data(kind, &filled(&value["fill"], length, random)?)?;
        let tolerance = match kind {
            "f32" => tolerance,
            _ => Tolerance::Exact,
        };
        return Ok(Arg::Buffer {
            before: before.bytes(),
            after: Some((before, tolerance)),
        });
    }
    let Some(members) = value["bytes"].as_array() else {
        return scalar(value)?.ok_or_else(|| format!("{value} is no argument"));
    };
    let mut bytes = Vec::new();
    for member in members {
        bytes.extend(match scalar(member)? {
            Some(Arg::I32(number)) => number.to_le_bytes().to_vec(),
            Some(Arg::U32(number)) => number.to_le_bytes().to_vec(),
            Some(Arg::F32(number)) => number.to_le_bytes().to_vec(),
            Some(Arg::I64(number)) => number.to_le_bytes().to_vec(),
            Some(Arg::U64(number)) => number.to_le_bytes().to_vec(),
            _ => return Err(format!("{member} is no member")),
        });
    }
    Ok(Arg::Bytes(bytes))
}

fn triple(value: &Value) -> Outcome<[u32; 3]> {
    let of = |i| value.get(i).map_or(Ok(1.0), number).map(|size| size as u32);
    Ok([of(0)?, of(1)?, of(2)?])
}

/// Gives each number the type of its parameter, so that a description need not tell `bool` from `int`.
fn adapt(case: &mut Case) {
    let mut options = options(case);
    options.int64 = true;
    let Ok(compiled) = cuda_c::compile_cuda(case.source, &options) else {
        return;
    };
    for (arg, param) in case.args.iter_mut().zip(&compiled.params) {
        let CudaParamKind::Scalar { kind, .. } = param.kind else {
            continue;
        };
        *arg = match (&*arg, kind) {
            (Arg::I32(number), ScalarKind::U32) => Arg::U32(*number as u32),
            (Arg::U32(number), ScalarKind::I32) => Arg::I32(*number as i32),
            (Arg::I32(number), ScalarKind::I64) => Arg::I64((*number).into()),
            (Arg::U32(number), ScalarKind::I64) => Arg::I64((*number).into()),
            (Arg::I32(number), ScalarKind::U64) => Arg::U64(*number as u64),
            (Arg::U32(number), ScalarKind::U64) => Arg::U64((*number).into()),
            (arg, _) => arg.clone(),
        };
    }
}

fn launch(name: &'static str, source: &'static str, value: &Value) -> Outcome<Case> {
    let entry = value["entry"].as_str().ok_or("a launch without entry")?;
    let size = |key: &str| value.get(key).map_or(Ok(0.0), number);
    let tolerance = Tolerance::Near {
        absolute: size("atol")?,
        relative: size("rtol")?,
    };
    let mut case = Case::new(name, source).entry(leaked(entry));
    case = case.launch(triple(&value["grid"])?, triple(&value["block"])?);
    case = case.shared(size("shared")? as u32);
    case.narrow_f64 = value["narrow"].as_bool().unwrap_or(false);
    for (name, value) in value["defines"].as_object().into_iter().flatten() {
        let text = value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned);
        case = case.define(leaked(name), leaked(&text));
    }
    let mut random = Random::new(entry.len() as u64);
    let lists = ["args", "globals"].map(|key| value[key].as_array());
    for value in lists.into_iter().flatten().flatten() {
        case.args.push(arg(value, tolerance, &mut random)?);
    }
    adapt(&mut case);
    Ok(case)
}

fn read(path: &Path) -> Outcome<Vec<Case>> {
    let text = |path: &Path| std::fs::read_to_string(path).map_err(|error| error.to_string());
    let source = leaked(&text(&path.with_extension("cu"))?);
    let described: Value = serde_json::from_str(&text(path)?).map_err(|error| error.to_string())?;
    let stem = path.file_stem().unwrap_or_default();
    let name = leaked(&stem.to_string_lossy());
    let launches = described["launches"].as_array();
    let launches = launches.into_iter().flatten();
    launches.map(|value| launch(name, source, value)).collect()
}

/// Returns the launches of a folder, in the order of its files' names.
///
/// # Panics
/// If a file cannot be read or describes no launch.
pub fn cases(folder: &Path) -> Vec<Case> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| {
        path.extension()
            .is_some_and(|extension| extension == "json")
    });
    paths.sort();
    let cases = paths
        .iter()
        .flat_map(|path| read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display())));
    cases.collect()
}

//! Reads the header of a file.

use super::source::{Fields, Source};
use super::value::entries;
use super::{GgmlType, GgufFile, GgufTensor, GgufValue, Names};
use crate::tensor::Shape;

/// `GGUF`, little-endian.
const MAGIC: u32 = 0x4655_4747;
/// Key of the alignment, and the alignment of files without it.
const ALIGNMENT_KEY: &str = "general.alignment";
const ALIGNMENT: u32 = 32;
/// Most axes of a tensor.
const MAX_AXES: u32 = 4;
/// Least bytes of a key with its value: length, type and one byte; of a tensor: length of the name, number of axes, type, place.
const ENTRY_BYTES: u64 = 13;
const TENSOR_BYTES: u64 = 24;

/// Reads a header from the start of `source`, which has `n_bytes`.
pub(super) fn read<S: Source>(source: S, n_bytes: u64) -> Result<GgufFile, S::Error> {
    let mut fields = Fields::new(source, n_bytes);
    let version = read_version(&mut fields)?;
    let n_tensors = fields.count("number of tensors", TENSOR_BYTES)?;
    let n_entries = fields.count("number of keys", ENTRY_BYTES)?;
    let start = fields.at();
    let metadata = entries::<_, S::Error>(n_entries, || {
        Ok((fields.name()?, GgufValue::read(&mut fields)?))
    })?;
    let key = |i: usize| metadata[i].0.as_str();
    let keys = Names::new(metadata.len(), key)?;
    if let Some(duplicate) = keys.duplicate(key) {
        let what = "key that an earlier one equals, with index";
        return Err(Fields::<S>::invalid(what, duplicate as u64, start));
    }
    let found = keys.find(ALIGNMENT_KEY, key);
    let alignment = alignment::<S>(found.map(|i| &metadata[i].1), start)?;
    let start = fields.at();
    let mut tensors = entries(n_tensors, || read_tensor(&mut fields, alignment))?;
    let data_at = fields.at().next_multiple_of(alignment.into());
    for tensor in &mut tensors {
        tensor.place(data_at, n_bytes)?;
    }
    let name = |i: usize| tensors[i].name();
    let tensor_names = Names::new(tensors.len(), name)?;
    if let Some(duplicate) = tensor_names.duplicate(name) {
        let what = "tensor with the name of an earlier one, with index";
        return Err(Fields::<S>::invalid(what, duplicate as u64, start));
    }
    Ok(GgufFile {
        version,
        alignment,
        metadata,
        keys,
        tensors,
        tensor_names,
    })
}

/// Reads magic and version.
fn read_version<S: Source>(fields: &mut Fields<S>) -> Result<u32, S::Error> {
    let magic = fields.u32()?;
    if magic != MAGIC {
        return Err(Fields::<S>::invalid("magic", magic.into(), 0));
    }
    let at = fields.at();
    let version = fields.u32()?;
    match version {
        2 | 3 => Ok(version),
        _ if matches!(version.swap_bytes(), 1..=3) => {
            let what = "it is big-endian, which is not supported; version";
            Err(Fields::<S>::invalid(what, version.swap_bytes().into(), at))
        }
        _ => Err(Fields::<S>::invalid("version", version.into(), at)),
    }
}

/// Returns the alignment that the metadata states, or that of files that state none.
fn alignment<S: Source>(value: Option<&GgufValue>, at: u64) -> Result<u32, S::Error> {
    let what = "alignment, which is no power of two:";
    match value {
        None => Ok(ALIGNMENT),
        Some(&GgufValue::U32(alignment)) if alignment.is_power_of_two() => Ok(alignment),
        Some(&GgufValue::U32(alignment)) => Err(Fields::<S>::invalid(what, alignment.into(), at)),
        Some(_) => {
            let what = "alignment of another type than";
            Err(Fields::<S>::invalid(what, 4, at))
        }
    }
}

/// Reads name, shape, type and place of a tensor. The place is an offset from the start of the data, which is not known yet.
fn read_tensor<S: Source>(fields: &mut Fields<S>, alignment: u32) -> Result<GgufTensor, S::Error> {
    let name = fields.name()?;
    let at = fields.at();
    let n_axes = fields.u32()?;
    if n_axes > MAX_AXES {
        return Err(Fields::<S>::invalid("number of axes", n_axes.into(), at));
    }
    // The innermost axis comes first in the file.
    let mut dims = [0; MAX_AXES as usize];
    let dims = &mut dims[..n_axes as usize];
    for dim in dims.iter_mut().rev() {
        let at = fields.at();
        let n = fields.u64()?;
        let n: usize = n
            .try_into()
            .map_err(|_| Fields::<S>::invalid("length of an axis", n, at))?;
        *dim = n;
    }
    let shape = Shape::new(dims)?;
    let ggml_type = GgmlType::new(fields.u32()?);
    let at = fields.at();
    let offset = fields.u64()?;
    if !offset.is_multiple_of(alignment.into()) {
        let what = "place of a tensor that is not aligned:";
        return Err(Fields::<S>::invalid(what, offset, at));
    }
    Ok(GgufTensor::new(name, shape, ggml_type, offset)?)
}

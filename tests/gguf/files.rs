//! Files that ggml's own package wrote; `write.py` says what is in them.

use std::io::Cursor;
use std::path::PathBuf;

use pagepress::tensor::gguf::{GgmlType, GgufArray, GgufFile, GgufValue};
use pagepress::tensor::{DType, Quantization};

use crate::build::{ARRAY, BOOL, File, STRING, U8, array, string};

pub const NAMES: [&str; 6] = [
    "aligned",
    "big_endian",
    "empty",
    "everything",
    "packed",
    "version_2",
];

/// Returns the bytes of a file of `tests/gguf/files`.
pub fn file(name: &str) -> Vec<u8> {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/gguf/files"));
    std::fs::read(folder.join(format!("{name}.gguf"))).unwrap()
}

#[test]
fn metadata_of_all_types_is_read() {
    let file = GgufFile::from_bytes(&file("everything")).unwrap();
    assert_eq!((file.version(), file.alignment()), (3, 32));
    let text = |text: &str| GgufValue::String(text.into());
    let expected = [
        ("general.architecture", text("test")),
        ("a.u8", GgufValue::U8(200)),
        ("a.i8", GgufValue::I8(-100)),
        ("a.u16", GgufValue::U16(60_000)),
        ("a.i16", GgufValue::I16(-30_000)),
        ("a.u32", GgufValue::U32(4_000_000_000)),
        ("a.i32", GgufValue::I32(-2_000_000_000)),
        ("a.f32", GgufValue::F32(0.1)),
        ("a.true", GgufValue::Bool(true)),
        ("a.false", GgufValue::Bool(false)),
        ("a.string", text("Übergrößenträger 🚛")),
        ("a.u64", GgufValue::U64(u64::MAX)),
        ("a.i64", GgufValue::I64(i64::MIN)),
        ("a.f64", GgufValue::F64(0.1)),
        (
            "b.strings",
            GgufValue::Array(GgufArray::String(
                ["", "one", "two words", "▁three"].map(String::from).into(),
            )),
        ),
        (
            "b.bools",
            GgufValue::Array(GgufArray::Bool(vec![true, false, true])),
        ),
        ("b.u8", GgufValue::Array(GgufArray::U8(vec![0, 1, 255]))),
        ("b.i16", GgufValue::Array(GgufArray::I16(vec![-1, 2, -3]))),
        ("b.f32", GgufValue::Array(GgufArray::F32(vec![0.5, -0.25]))),
        (
            "b.u64",
            GgufValue::Array(GgufArray::U64((0..520).collect())),
        ),
    ];
    let found: Vec<(&str, &GgufValue)> = file
        .metadata()
        .iter()
        .map(|(key, value)| (key.as_str(), value))
        .collect();
    let wanted: Vec<(&str, &GgufValue)> = expected.iter().map(|(key, v)| (*key, v)).collect();
    assert_eq!(found, wanted);
    for (key, value) in &expected {
        assert_eq!(file.value(key), Some(value));
    }
    assert_eq!(file.value("a"), None);
    let value = |key| file.value(key).unwrap();
    assert_eq!(value("a.u64").as_u64(), Some(u64::MAX));
    assert_eq!(value("a.u64").as_i64(), None);
    assert_eq!(value("a.i8").as_i64(), Some(-100));
    assert_eq!(value("a.i8").as_u64(), None);
    assert_eq!(value("a.f32").as_f64(), Some(f64::from(0.1f32)));
    assert_eq!(value("a.true").as_bool(), Some(true));
    assert_eq!(value("a.u8").as_bool(), None);
    assert_eq!(value("b.strings").as_array().map(GgufArray::len), Some(4));
    assert_eq!(value("b.strings").as_str(), None);
}

/// A tensor `x` has a twin `x.twin`, of the numbers that ggml's package unpacks.
#[test]
fn tensors_are_unpacked_as_ggml_unpacks_them() {
    let bytes = file("everything");
    let file = GgufFile::from_bytes(&bytes).unwrap();
    let mut n_twins = 0;
    for twin in file.tensors() {
        let Some(name) = twin.name().strip_suffix(".twin") else {
            continue;
        };
        let tensor = file.tensor(name).unwrap();
        assert_eq!(tensor.shape(), twin.shape());
        let found = tensor.to_f32(tensor.data(&bytes).unwrap()).unwrap();
        let expected = twin.to_f32(twin.data(&bytes).unwrap()).unwrap();
        assert!(expected.iter().any(|x| *x != expected[0]));
        for (found, expected) in found.iter().zip(expected) {
            let off = (found - expected).abs();
            assert!(
                off <= 1e-6 * expected.abs().max(1.0),
                "{name} {found} {expected}"
            );
        }
        n_twins += 1;
    }
    assert_eq!(n_twins, 6);
    let shape = |name| file.tensor(name).unwrap().shape().dims().to_vec();
    assert_eq!(shape("f32"), [3, 2, 5]);
    assert_eq!(shape("bf16"), [3, 2, 5]);
    assert_eq!(shape("q5_k"), [1, 512]);
    assert_eq!(shape("one"), [1]);
    let kind = |name| file.tensor(name).unwrap().ggml_type();
    assert_eq!(kind("bf16").dtype(), Some(DType::BF16));
    assert_eq!(kind("q6_k").quantization(), Some(Quantization::Q6K));
    assert_eq!(kind("f16").quantization(), Some(Quantization::F16));
    assert_eq!(kind("q4_0").to_string(), "Q4_0 (type 2)");
}

#[test]
fn types_that_are_not_read_are_named() {
    let bytes = file("everything");
    let file = GgufFile::from_bytes(&bytes).unwrap();
    for (name, of) in [("q4_0", "Q4_0 (type 2)"), ("i32", "I32 (type 26)")] {
        let tensor = file.tensor(name).unwrap();
        assert!(!tensor.is_readable());
        // The bytes are at hand for other code, since their number is known.
        let data = tensor.data(&bytes).unwrap();
        let error = tensor.to_f32(data).unwrap_err();
        assert_eq!(error.code(), "INVALID_ARGUMENT");
        let text = error.to_string();
        assert!(text.contains(&format!("{name} of type {of}")), "{text}");
    }
    let i32 = file.tensor("i32").unwrap().data(&bytes).unwrap();
    assert_eq!(i32[4..8], 1u32.to_le_bytes());
    let unknown = File::default().tensor("x", &[7], 99, 0).data(&[0; 7]);
    let unknown = GgufFile::from_bytes(&unknown.bytes()).unwrap();
    let tensor = unknown.tensor("x").unwrap();
    assert_eq!(tensor.ggml_type(), GgmlType::new(99));
    let text = tensor.range().unwrap_err().to_string();
    assert!(text.contains("x of type unknown (type 99)"), "{text}");
}

#[test]
fn parts_of_a_file_give_what_the_whole_gives() {
    for name in NAMES {
        let bytes = file(name);
        let mut reader = Cursor::new(&bytes);
        let (whole, parts) = (GgufFile::from_bytes(&bytes), GgufFile::open(&mut reader));
        let Ok(whole) = whole else {
            let error = parts.unwrap_err();
            assert_eq!(error.kind(), std::io::ErrorKind::InvalidData);
            continue;
        };
        let parts = parts.unwrap();
        assert_eq!(whole.metadata(), parts.metadata());
        assert_eq!(whole.tensors(), parts.tensors());
        for tensor in whole.tensors() {
            let read = tensor.read(&mut reader).unwrap();
            assert_eq!(read, tensor.data(&bytes).unwrap());
            let mut small = vec![0; read.len() + 1];
            assert!(tensor.read_into(&mut reader, &mut small).is_err());
        }
    }
}

#[test]
fn alignment_and_versions_are_those_of_the_file() {
    for (name, version) in [("aligned", 3), ("version_2", 2)] {
        let bytes = file(name);
        let file = GgufFile::from_bytes(&bytes).unwrap();
        assert_eq!((file.version(), file.alignment()), (version, 256));
        let b = file.tensor("b").unwrap();
        assert_eq!(b.range().unwrap().start % 256, 0);
        let numbers = b.to_f32(b.data(&bytes).unwrap()).unwrap();
        assert_eq!(numbers, [0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5]);
        let cut_off = b.data(&bytes[..bytes.len() - 256]).unwrap_err();
        assert_eq!(cut_off.code(), "LENGTH_MISMATCH");
        assert_eq!(b.to_f32(&[0; 27]).unwrap_err().code(), "LENGTH_MISMATCH");
    }
    let empty = GgufFile::from_bytes(&file("empty")).unwrap();
    assert!(empty.tensors().is_empty());
    let error = GgufFile::from_bytes(&file("big_endian")).unwrap_err();
    assert_eq!(error.code(), "INVALID_GGUF");
    assert_eq!(
        error.to_string(),
        "invalid GGUF file: it is big-endian, which is not supported; version 0x3 at byte 4"
    );
}

#[test]
fn arrays_inside_arrays_and_scalars_are_read() {
    let words = array(STRING, 2, &[string(b"a"), string(b"")].concat());
    let bytes = array(U8, 3, &[7, 8, 9]);
    let inner = array(ARRAY, 1, &array(BOOL, 1, &[1]));
    let value = array(ARRAY, 3, &[words, bytes, inner].concat());
    let file = File::default()
        .key("nested", ARRAY, &value)
        .tensor("scalar", &[], 0, 0)
        .tensor("none", &[0, 5], 0, 32)
        .data(&4.5f32.to_le_bytes());
    let bytes = file.bytes();
    let file = GgufFile::from_bytes(&bytes).unwrap();
    let expected = GgufArray::Array(vec![
        GgufArray::String(vec!["a".into(), String::new()]),
        GgufArray::U8(vec![7, 8, 9]),
        GgufArray::Array(vec![GgufArray::Bool(vec![true])]),
    ]);
    assert_eq!(file.value("nested"), Some(&GgufValue::Array(expected)));
    let scalar = file.tensor("scalar").unwrap();
    assert_eq!(scalar.shape().rank(), 0);
    assert_eq!(scalar.to_f32(scalar.data(&bytes).unwrap()), Ok(vec![4.5]));
    let none = file.tensor("none").unwrap();
    assert_eq!(none.shape().dims(), [5, 0]);
    assert_eq!(none.to_f32(none.data(&bytes).unwrap()), Ok(vec![]));
}

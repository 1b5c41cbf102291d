//! Tensors of a GGUF file on a device: their elements, and products with them.

use pagepress::tensor::GpuTensor;
use pagepress::tensor::gguf::{GgufFile, GgufTensor};
use pagepress::tensor::{DType, Shape, cpu};

use crate::naive::{self, numbers};
use crate::subject::Subject;
use crate::tolerance::PRODUCTS;

pub fn tensors_of_files_are_uploaded(subject: &Subject) {
    let Subject::Gpu(device) = subject else {
        return;
    };
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/gguf/files/everything.gguf"
    );
    let bytes = std::fs::read(path).unwrap();
    let file = GgufFile::from_bytes(&bytes).unwrap();
    let tensor = |name: &str| file.tensor(name).unwrap();
    let data = |tensor: &GgufTensor| tensor.data(&bytes).unwrap().to_vec();
    for (name, dtype) in [
        ("f32", DType::F32),
        ("f16", DType::F16),
        ("bf16", DType::BF16),
    ] {
        let tensor = tensor(name);
        let on_device = tensor.upload(device, &data(tensor)).unwrap();
        assert_eq!(on_device.dtype(), dtype);
        assert_eq!(on_device.shape().dims(), [3, 2, 5]);
        let expected = tensor.to_f32(&data(tensor)).unwrap();
        assert_eq!(on_device.to_vec().unwrap(), expected);
    }
    for name in ["q4_k", "q5_k", "q6_k", "q8_0"] {
        let tensor = tensor(name);
        let weights = tensor.upload_weights(device, &data(tensor)).unwrap();
        let [n, k] = weights.size();
        assert_eq!(tensor.shape().dims(), [n, k]);
        let rows = numbers(3 * k, 300, 1.0);
        let a = GpuTensor::from_slice(device, &rows, Shape::new(&[3, k]).unwrap()).unwrap();
        let found = weights.matmul(&a).unwrap().to_vec().unwrap();
        let unpacked = tensor.to_f32(&data(tensor)).unwrap();
        let turned: Vec<f32> = (0..n * k).map(|i| unpacked[i % n * k + i / n]).collect();
        for (found, (exact, magnitude)) in
            found.iter().zip(naive::matmul(&rows, &turned, [3, k, n]))
        {
            let off = (f64::from(*found) - exact).abs();
            assert!(
                off <= PRODUCTS * magnitude,
                "{name}: {found}, exactly {exact}"
            );
        }
    }
    let code = |result: pagepress::Result<()>| result.map_err(|error| error.code());
    let upload = |name: &str, cut: usize| {
        let data = data(tensor(name));
        code(tensor(name).upload(device, &data[cut..]).map(drop))
    };
    let weights = |name: &str, cut: usize| {
        let data = data(tensor(name));
        code(tensor(name).upload_weights(device, &data[cut..]).map(drop))
    };
    for name in ["q4_0", "i32"] {
        assert_eq!(upload(name, 0), Err("INVALID_ARGUMENT"));
        assert_eq!(weights(name, 0), Err("INVALID_ARGUMENT"));
    }
    assert_eq!(upload("q4_k", 0), Err("INVALID_ARGUMENT"));
    assert_eq!(weights("f32", 0), Err("INVALID_ARGUMENT"));
    // Rows of five are no blocks of packed weights.
    assert_eq!(weights("f16", 0), Err("INVALID_ARGUMENT"));
    assert_eq!(upload("f16", 1), Err("LENGTH_MISMATCH"));
    assert_eq!(weights("q6_k", 1), Err("LENGTH_MISMATCH"));
}

/// Numbers that are packed here multiply as their rounded values.
pub fn packed_numbers_multiply_as_they_unpack(subject: &Subject) {
    use pagepress::gpu::runtime::block_on;
    use pagepress::tensor::Quantization::{F16, Q4K, Q5K, Q6K, Q8_0};
    let [m, k, n] = [2, 512, 5];
    let values = numbers(n * k, 301, 1.0);
    let rows = crate::subject::Tensor::new(numbers(m * k, 302, 1.0), &[m, k]);
    for quantization in [Q4K, Q5K, Q6K, Q8_0, F16] {
        let blocks = cpu::quantize_to_vec(quantization, &values).unwrap();
        let mut unpacked = vec![f32::NAN; n * k];
        cpu::dequantize(quantization, &blocks, &mut unpacked).unwrap();
        let turned: Vec<f32> = (0..n * k).map(|i| unpacked[i % n * k + i / n]).collect();
        let multiply = subject.matmul_quantized(quantization, &rows, &blocks, [n, k]);
        let (found, _) = block_on(multiply).unwrap();
        let exact = naive::matmul(&rows.values(), &turned, [m, k, n]);
        for (found, (exact, magnitude)) in found.iter().zip(exact) {
            let off = (f64::from(*found) - exact).abs();
            assert!(
                off <= PRODUCTS * magnitude,
                "{quantization:?}: {found}, exactly {exact}"
            );
        }
    }
}

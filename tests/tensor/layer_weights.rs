//! Layers whose matrices are of 16 bits or packed, and whose keys and values are of 16 bits.

use pagepress::Error;
use pagepress::gpu::{Backend, WgslForwardPass};
use pagepress::tensor::layer::{LayerConfig, LayerWeights, Mlp, Weights};
use pagepress::tensor::{DType, Precision, Quantization, cpu};

use crate::layer_model::Model;
use crate::naive::numbers;
use crate::stored::{Form, Stored};
use crate::subject::Subject;
use crate::tolerance::{LAYER, Tolerance, assert_near};

const HALVES: [DType; 2] = [DType::F16, DType::BF16];

/// Returns the tolerance of rows of a layer that rounds numbers to a type on the way.
const fn rounding(dtype: DType) -> Tolerance {
    let size = match dtype {
        DType::F16 => 4e-3,
        DType::BF16 => 3e-2,
        _ => return LAYER,
    };
    Tolerance {
        relative: size,
        absolute: size,
    }
}

/// Returns a model whose seven matrices have the values that their forms represent, and these forms.
fn stored(config: LayerConfig, form: Form) -> (Model, Vec<Stored>) {
    let mut model = Model::new(config, true);
    let matrices = model.matrices[..7].iter_mut().zip(40..);
    let matrices = matrices.map(|(values, seed)| {
        let matrix = Stored::new(form, seed, values.clone());
        *values = matrix.values();
        matrix
    });
    let matrices = matrices.collect();
    (model, matrices)
}

fn run(
    subject: &Subject,
    config: &LayerConfig,
    weights: &LayerWeights<'_>,
    input: &[f32],
) -> pagepress::Result<Vec<f32>> {
    let mut output = vec![f32::NAN; input.len()];
    match subject {
        Subject::Cpu => cpu::layer_forward(config, weights, None, input, &mut output)?,
        Subject::Gpu(device) => WgslForwardPass::new(device.clone(), config.clone(), weights)?
            .forward(input, &mut output)?,
    }
    Ok(output)
}

pub fn matrices_of_any_form_work(subject: &Subject) {
    let even = LayerConfig {
        n_kv_heads: 2,
        ..LayerConfig::decoder(256, 4, 512)
    };
    // Rows of 70 halves are no multiple of 4.
    let odd = LayerConfig {
        mlp: Mlp::Gelu,
        ..LayerConfig::decoder(48, 4, 70)
    };
    let halves = HALVES.into_iter().flat_map(|dtype| {
        let form = Form::As(dtype);
        [(even.clone(), form), (odd.clone(), form)]
    });
    let packed = [
        Quantization::Q4K,
        Quantization::Q5K,
        Quantization::Q6K,
        Quantization::Q8_0,
        Quantization::F16,
    ];
    let packed = packed.map(|quantization| (even.clone(), Form::Packed(quantization)));
    for (config, form) in halves.chain(packed) {
        let (model, matrices) = stored(config, form);
        for n in [1, 3, 20] {
            let input = numbers(n * model.config.hidden, 90, 1.0);
            let weights = model.weights_of(&matrices);
            let found = run(subject, &model.config, &weights, &input).unwrap();
            let exact = model.exact(None, &input);
            // On matrix units, rows are rounded to the type of the matrix.
            let tolerance = match form {
                Form::As(dtype) if subject.rounds_rows(dtype) && n > 8 => rounding(dtype),
                _ => LAYER,
            };
            let what = format!("{n} rows, {form:?}, {:?}", model.config);
            assert_near(&what, &found, &exact, tolerance);
        }
    }
}

/// Matrices of f32 and packed ones, whose products of many rows are on matrix units where the device has them for TF32.
pub fn products_of_a_layer_may_be_rounded_to_tf32(subject: &Subject) {
    let config = LayerConfig {
        n_kv_heads: 2,
        precision: Precision::Tf32,
        ..LayerConfig::decoder(256, 4, 512)
    };
    let is_rounded = match subject {
        Subject::Cpu => false,
        Subject::Gpu(device) => device.capabilities().tf32_matrices,
    };
    // TF32 has as many bits after the binary point as f16, and both rows and matrices are rounded.
    let tolerance = match is_rounded {
        true => Tolerance {
            relative: 8e-3,
            absolute: 8e-3,
        },
        false => LAYER,
    };
    for form in [
        Form::As(DType::F32),
        Form::Packed(Quantization::Q4K),
        Form::Packed(Quantization::Q8_0),
    ] {
        let (model, matrices) = stored(config.clone(), form);
        for n in [1, 20] {
            let input = numbers(n * model.config.hidden, 93, 1.0);
            let weights = model.weights_of(&matrices);
            let found = run(subject, &model.config, &weights, &input).unwrap();
            let exact = model.exact(None, &input);
            assert_near(&format!("{n} rows, {form:?}"), &found, &exact, tolerance);
        }
    }
}

pub fn keys_and_values_of_16_bits_work(subject: &Subject) {
    for kv_type in HALVES {
        for config in [
            LayerConfig::decoder(48, 4, 70),
            LayerConfig {
                rotary_base: None,
                ..LayerConfig::decoder(48, 4, 70)
            },
            LayerConfig::encoder(48, 3, 100),
        ] {
            let model = Model::new(LayerConfig { kv_type, ..config }, true);
            let input = numbers(37 * 48, 91, 1.0);
            let found = run(subject, &model.config, &model.weights(), &input).unwrap();
            let exact = model.exact(None, &input);
            let what = format!("{:?}", model.config);
            assert_near(&what, &found, &exact, rounding(kv_type));
            // The twin rounds the same numbers.
            let twin = run(&Subject::Cpu, &model.config, &model.weights(), &input).unwrap();
            let off = found.iter().zip(&twin).map(|(x, y)| f64::from(x - y).abs());
            let mean = off.sum::<f64>() / found.len() as f64;
            assert!(mean <= rounding(kv_type).absolute / 50.0, "{what}: {mean}");
        }
    }
}

pub fn halves_of_a_cache_follow_each_other(subject: &Subject) {
    let Subject::Gpu(device) = subject else {
        return;
    };
    // Rows of a cache start at multiples of 256 bytes, or do not.
    for (hidden, n_kv_heads) in [(256, 2), (48, 1)] {
        let config = LayerConfig {
            n_kv_heads,
            max_positions: 45,
            ..LayerConfig::decoder(hidden, 4, 70)
        };
        let model = Model::new(config.clone(), false);
        let input = numbers(40 * hidden, 92, 1.0);
        let exact = model.exact(None, &input);
        let open = |kv_type| {
            let config = LayerConfig {
                kv_type,
                ..config.clone()
            };
            WgslForwardPass::new(device.clone(), config, &model.weights()).unwrap()
        };
        let wide_bytes = open(DType::F32).device_bytes();
        for kv_type in HALVES {
            let mut layer = open(kv_type);
            let n_halves = 2 * 45 * n_kv_heads * hidden / 4;
            let saved = wide_bytes - layer.device_bytes();
            assert!(saved.abs_diff(2 * n_halves as u64) <= 32, "{saved}");
            for _ in 0..2 {
                let mut found = vec![f32::NAN; input.len()];
                let mut from = 0;
                for n in [1, 1, 30, 1, 7] {
                    let rows = from * hidden..(from + n) * hidden;
                    let (input, found) = (&input[rows.clone()], &mut found[rows]);
                    layer.forward(input, found).unwrap();
                    from += n;
                }
                let what = format!("{kv_type:?}, rows of {hidden}");
                assert_near(&what, &found, &exact, rounding(kv_type));
                layer.reset();
            }
        }
    }
}

pub fn wrong_forms_are_typed_errors(subject: &Subject) {
    let model = Model::new(LayerConfig::decoder(48, 4, 70), true);
    let fails = |config: &LayerConfig, up: Weights<'_>| {
        let weights = LayerWeights {
            up: up.into(),
            ..model.weights()
        };
        run(subject, config, &weights, &[0.0; 48]).unwrap_err()
    };
    let config = &model.config;
    let lengths = |expected, actual| Error::LengthMismatch {
        name: "up",
        expected,
        actual,
    };
    let bits = [0; 48 * 70 - 1];
    let error = fails(config, Weights::Bits(DType::BF16, &bits));
    assert_eq!(error, lengths(48 * 70, 48 * 70 - 1));
    let bytes = [0; 2 * 48 * 70 + 1];
    let error = fails(config, Weights::Packed(Quantization::F16, &bytes));
    assert_eq!(error, lengths(2 * 48 * 70, 2 * 48 * 70 + 1));
    for (error, name, value) in [
        (
            fails(config, Weights::Bits(DType::F32, &bits)),
            "up",
            "bits of F32",
        ),
        (
            fails(config, Weights::Packed(Quantization::Q4K, &bytes)),
            "up",
            "Q4K, [70, 48]",
        ),
        (
            {
                let odd = LayerConfig {
                    head_dim: 1,
                    n_heads: 48,
                    n_kv_heads: 3,
                    rotary_base: None,
                    kv_type: DType::F16,
                    ..config.clone()
                };
                fails(&odd, Weights::Bits(DType::F16, &bits))
            },
            "head_dim",
            "1",
        ),
    ] {
        let expected = (name, value);
        match error {
            Error::InvalidArgument { name, value, .. } => {
                assert_eq!((name, &value[..]), expected);
            }
            other => panic!("{other}"),
        }
    }
}

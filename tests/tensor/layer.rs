//! Layers of transformers, against plain loops in double precision.

use pagepress::Error;
use pagepress::gpu::runtime::block_on;
use pagepress::gpu::{GpuDevice, QkvLoRA, WgslForwardPass};
use pagepress::tensor::layer::{LayerConfig, LayerWeights, LowRank, LowRankQkv, Mlp, Norm};
use pagepress::tensor::{GpuTensor, Shape, cpu};

use crate::layer_model::Model;
use crate::naive::numbers;
use crate::subject::Subject;
use crate::tolerance::{LAYER, assert_near};

fn kinds() -> Vec<(LayerConfig, bool)> {
    let decoder = LayerConfig::decoder(48, 4, 70);
    vec![
        (decoder.clone(), false),
        (
            LayerConfig {
                n_kv_heads: 2,
                head_dim: 20,
                mlp: Mlp::GeluTanh,
                ..decoder.clone()
            },
            true,
        ),
        (
            LayerConfig {
                rotary_base: None,
                ..decoder.clone()
            },
            true,
        ),
        // As in models of the Mistral kind.
        (
            LayerConfig {
                n_kv_heads: 2,
                window: Some(5),
                ..decoder.clone()
            },
            false,
        ),
        (LayerConfig::encoder(48, 3, 100), true),
        (
            LayerConfig {
                rotary_base: Some(500.0),
                norm: Norm::Rms { epsilon: 1e-6 },
                ..LayerConfig::encoder(34, 1, 5)
            },
            false,
        ),
        (
            LayerConfig {
                head_dim: 1,
                ..LayerConfig::encoder(5, 5, 1)
            },
            false,
        ),
    ]
}

pub fn forward(
    subject: &Subject,
    model: &Model,
    low_rank: Option<&LowRankQkv<'_>>,
    input: &[f32],
) -> Vec<f32> {
    let mut output = vec![f32::NAN; input.len()];
    match subject {
        Subject::Cpu => {
            cpu::layer_forward(
                &model.config,
                &model.weights(),
                low_rank,
                input,
                &mut output,
            )
            .unwrap();
        }
        Subject::Gpu(device) => {
            let mut layer = on(device, model);
            let lora = low_rank.map(|all| QkvLoRA::upload(device, &model.config, all).unwrap());
            layer.set_lora(lora);
            layer.forward(input, &mut output).unwrap();
        }
    }
    output
}

fn on(device: &GpuDevice, model: &Model) -> WgslForwardPass {
    WgslForwardPass::new(device.clone(), model.config.clone(), &model.weights()).unwrap()
}

pub fn layers_of_any_kind_work(subject: &Subject) {
    for (config, has_biases) in kinds() {
        let model = Model::new(config, has_biases);
        for n in [1, 2, 37, 0] {
            let input = numbers(n * model.config.hidden, 90, 1.0);
            let found = forward(subject, &model, None, &input);
            let exact = model.exact(None, &input);
            assert_near(
                &format!("{n} rows of {:?}", model.config),
                &found,
                &exact,
                LAYER,
            );
        }
    }
}

pub fn rows_one_by_one_give_what_they_give_at_once(subject: &Subject) {
    let Subject::Gpu(device) = subject else {
        return;
    };
    for (config, has_biases) in kinds() {
        if !config.causal {
            continue;
        }
        let hidden = config.hidden;
        let model = Model::new(config, has_biases);
        let input = numbers(40 * hidden, 91, 1.0);
        let exact = model.exact(None, &input);
        let mut layer = on(device, &model);
        for _ in 0..2 {
            let mut found = vec![f32::NAN; input.len()];
            let mut from = 0;
            for n in [1, 1, 30, 1, 7] {
                assert_eq!(layer.position(), from);
                let rows = from * hidden..(from + n) * hidden;
                layer
                    .forward(&input[rows.clone()], &mut found[rows])
                    .unwrap();
                from += n;
            }
            assert_near("one by one", &found, &exact, LAYER);
            layer.reset();
        }
    }
    let config = LayerConfig {
        max_positions: 3,
        ..LayerConfig::decoder(8, 2, 4)
    };
    let mut layer = on(device, &Model::new(config, false));
    let mut output = [0.0; 32];
    layer.forward(&[1.0; 16], &mut output[..16]).unwrap();
    let error = layer.forward(&[1.0; 16], &mut output[..16]).unwrap_err();
    assert_eq!(error.code(), "INVALID_ARGUMENT");
    assert!(error.to_string().contains("2 rows after 2"), "{error}");
    assert_eq!(layer.position(), 2);
}

pub fn matrices_of_low_rank_are_added(subject: &Subject) {
    let config = LayerConfig {
        n_kv_heads: 2,
        ..LayerConfig::decoder(48, 4, 70)
    };
    let model = Model::new(config, true);
    let (a, b) = (numbers(3 * 48, 92, 0.5), numbers(48 * 3, 93, 0.5));
    let pair = |outputs: usize| LowRank {
        a: &a,
        b: &b[..3 * outputs],
    };
    let input = numbers(9 * 48, 94, 1.0);
    let none = model.exact(None, &input);
    for (q, k, v) in [
        (true, true, true),
        (true, false, true),
        (false, true, false),
    ] {
        let all = LowRankQkv {
            rank: 3,
            scale: 2.0,
            q: q.then(|| pair(48)),
            k: k.then(|| pair(24)),
            v: v.then(|| pair(24)),
        };
        let exact = model.exact(Some(&all), &input);
        assert!(exact.iter().zip(&none).any(|(x, y)| (x - y).abs() > 0.01));
        assert_near(
            "low rank",
            &forward(subject, &model, Some(&all), &input),
            &exact,
            LAYER,
        );
    }
    let wrong = LowRankQkv {
        rank: 3,
        scale: 1.0,
        q: Some(pair(47)),
        k: None,
        v: None,
    };
    let error = match subject {
        Subject::Cpu => {
            let mut output = vec![0.0; input.len()];
            let weights = model.weights();
            cpu::layer_forward(&model.config, &weights, Some(&wrong), &input, &mut output).err()
        }
        Subject::Gpu(device) => QkvLoRA::upload(device, &model.config, &wrong).err(),
    };
    assert!(matches!(
        error,
        Some(Error::LengthMismatch {
            name: "q.b",
            expected: 144,
            actual: 141
        })
    ));
}

pub fn layers_follow_each_other_on_the_device(subject: &Subject) {
    let Subject::Gpu(device) = subject else {
        return;
    };
    let model = Model::new(LayerConfig::decoder(48, 4, 70), false);
    let input = numbers(5 * 48, 95, 1.0);
    let (mut first, mut second) = (on(device, &model), on(device, &model));
    assert!(first.device_bytes() > 4 * model.matrices.iter().map(Vec::len).sum::<usize>() as u64);
    let found = block_on(async {
        // Rows at an offset in a buffer.
        let more = [&[0.0; 48][..], &input].concat();
        let rows = GpuTensor::from_slice_async(device, &more, Shape::new(&[6, 48])?).await?;
        let middle = first.apply_async(&rows.slice(0, 1..6)?).await?;
        second.apply_async(&middle).await?.to_vec_async().await
    });
    let middle: Vec<f32> = model
        .exact(None, &input)
        .iter()
        .map(|&x| x as f32)
        .collect();
    let exact = model.exact(None, &middle);
    assert_near("two layers", &found.unwrap(), &exact, LAYER);
    let error = block_on(async {
        let rows = GpuTensor::from_slice_async(device, &input, Shape::new(&[48, 5])?).await?;
        first.apply_async(&rows).await
    });
    assert!(matches!(
        error,
        Err(Error::ShapeMismatch { left, right, .. }) if left.dims() == [48, 5] && right.dims() == [48, 48]
    ));
}

pub fn wrong_weights_are_typed_errors(subject: &Subject) {
    let model = Model::new(LayerConfig::decoder(48, 4, 70), true);
    let input = [0.0; 48];
    let code = |config: &LayerConfig, weights: &LayerWeights<'_>| match subject {
        Subject::Cpu => {
            cpu::layer_forward(config, weights, None, &input, &mut [0.0; 48]).unwrap_err()
        }
        Subject::Gpu(device) => {
            WgslForwardPass::new(device.clone(), config.clone(), weights).unwrap_err()
        }
    };
    let short = &model.matrices[0][1..];
    let weights = LayerWeights {
        q: short.into(),
        ..model.weights()
    };
    let error = code(&model.config, &weights);
    let expected = Error::LengthMismatch {
        name: "q",
        expected: 48 * 48,
        actual: 48 * 48 - 1,
    };
    assert_eq!(error, expected);
    let weights = LayerWeights {
        gate: None,
        ..model.weights()
    };
    assert_eq!(code(&model.config, &weights).code(), "INVALID_ARGUMENT");
    let wrong: [fn(&mut LayerConfig); 7] = [
        |config| config.hidden = 0,
        |config| config.n_kv_heads = 3,
        |config| config.head_dim = 257,
        |config| config.head_dim = 7,
        |config| config.max_positions = usize::MAX,
        |config| config.window = Some(0),
        |config| (config.causal, config.window) = (false, Some(3)),
    ];
    for change in wrong {
        let mut config = model.config.clone();
        change(&mut config);
        assert_eq!(
            code(&config, &model.weights()).code(),
            "INVALID_ARGUMENT",
            "{config:?}"
        );
    }
}

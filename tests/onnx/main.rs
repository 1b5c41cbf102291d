//! ONNX's test cases of single operations, on the CPU and every engine. `PAGEPRESS_ONNX` is the folder with the cases:
//! `onnx/backend/test/data/node` of the Python package `onnx` 1.17; later versions do not contain the data.
//!
//! All cases of `OPERATIONS` run, except those that need a feature that our operations do not have; these are listed by
//! reason.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

#[path = "../common/mod.rs"]
mod common;
mod model;
mod operations;
mod proto;
#[path = "../tensor/subject.rs"]
#[allow(dead_code, reason = "no operation of ONNX is a dot product alone")]
mod subject;

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use model::{Model, Value};
use operations::{Inputs, OPERATIONS};
use pagepress_test_harness::test;
use subject::{Subject, Tensor};

fn main() -> ExitCode {
    let outcome = common::harness::run();
    common::devices::close();
    outcome
}

/// Tolerance of results relative to those of ONNX, which are computed in single precision, too. ONNX's own tolerances
/// are 1e-3 relative and 1e-7 absolute.
const RELATIVE: f32 = 1e-5;
const ABSOLUTE: f32 = 1e-6;

/// Operations of which at least one case must run.
const NEEDED: &[&str] = &[
    "Add",
    "Clip",
    "Conv",
    "Elu",
    "Gelu",
    "Gemm",
    "LeakyRelu",
    "LogSoftmax",
    "MatMul",
    "Mul",
    "ReduceMax",
    "ReduceMin",
    "ReduceSum",
    "Relu",
    "Sigmoid",
    "Softmax",
    "Tanh",
];

/// Returns the folder of the cases, or ends the running test as ignored if there is none.
fn folder() -> PathBuf {
    match std::env::var_os("PAGEPRESS_ONNX") {
        Some(folder) => folder.into(),
        None => common::harness::ignore("PAGEPRESS_ONNX names no folder of ONNX's cases"),
    }
}

/// Asserts that all cases agree.
fn cases_agree(name: &str, on: &Subject) {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    let mut n_ran: BTreeMap<String, u32> = BTreeMap::new();
    let mut left_out: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut wrong = Vec::new();
    for path in paths {
        let Ok(bytes) = std::fs::read(path.join("model.onnx")) else {
            continue;
        };
        let model = Model::read(&bytes);
        let is_covered = |operation: &str| OPERATIONS.contains(&operation);
        if !model.nodes.iter().all(|node| is_covered(&node.operation)) {
            continue;
        }
        let case = path.file_name().unwrap().to_string_lossy().into_owned();
        match agrees(on, &model, &path.join("test_data_set_0")) {
            Ok(Ok(())) => {
                let operation = &model.nodes[model.nodes.len() - 1].operation;
                *n_ran.entry(operation.clone()).or_default() += 1;
            }
            Ok(Err(difference)) => wrong.push(format!("{case}: {difference}")),
            Err(reason) => left_out.entry(reason).or_default().push(case),
        }
    }
    let n: u32 = n_ran.values().sum();
    println!("{name}: {n} cases of ONNX ran: {n_ran:?}");
    for (reason, cases) in &left_out {
        println!("{name}: left out for {reason}: {cases:?}");
    }
    assert!(wrong.is_empty(), "{name}: {}", wrong.join("\n"));
    let missing: Vec<_> = NEEDED
        .iter()
        .filter(|it| !n_ran.contains_key(**it))
        .collect();
    assert!(missing.is_empty(), "{name}: no case of {missing:?} ran");
}

/// Runs a case. Returns `Ok(Ok(()))` if its results are right, `Ok(Err(difference))` if they are wrong, and
/// `Err(reason)` if it is skipped.
fn agrees(on: &Subject, model: &Model, data: &Path) -> Result<Result<(), String>, String> {
    let mut values: HashMap<String, Value> = model.constants.iter().cloned().collect();
    for (i, (name, is_tensor)) in model.inputs.iter().enumerate() {
        if !is_tensor {
            return Err("inputs that are no tensors".into());
        }
        let bytes = std::fs::read(data.join(format!("input_{i}.pb"))).unwrap();
        values.insert(name.clone(), Value::read(&bytes));
    }
    for node in &model.nodes {
        let inputs = node.inputs.iter().map(|name| values.get(name)).collect();
        let result = operations::run(on, node, &Inputs(inputs))?;
        values.insert(node.outputs[0].clone(), Value::Floats(result));
    }
    for (i, name) in model.outputs.iter().enumerate() {
        let bytes = std::fs::read(data.join(format!("output_{i}.pb"))).unwrap();
        let (Value::Floats(expected), Value::Floats(found)) = (Value::read(&bytes), &values[name])
        else {
            return Err("results that are no floats".into());
        };
        if let Err(difference) = compare(found, &expected) {
            return Ok(Err(difference));
        }
    }
    Ok(Ok(()))
}

fn compare(found: &Tensor, expected: &Tensor) -> Result<(), String> {
    if found.dims() != expected.dims() {
        return Err(format!("{:?}, not {:?}", found.dims(), expected.dims()));
    }
    for (i, (found, expected)) in found.elements.iter().zip(&expected.elements).enumerate() {
        let is_near = (found - expected).abs() <= ABSOLUTE + RELATIVE * expected.abs();
        if !(is_near || found == expected || found.is_nan() && expected.is_nan()) {
            return Err(format!("element {i} is {found:e}, not {expected:e}"));
        }
    }
    Ok(())
}

#[test]
fn on_the_cpu() {
    cases_agree("cpu", &Subject::Cpu);
}

#[cfg(feature = "wgpu")]
#[test]
fn on_wgpu() {
    folder();
    let request = pagepress::gpu::DeviceRequest::default();
    let [wgpu] = pagepress::gpu::runtime::block_on(Subject::wgpu(request));
    cases_agree("wgpu", &wgpu);
}

#[cfg(cuda_engine)]
#[test]
fn on_cuda() {
    folder();
    let [cuda] = Subject::cuda(pagepress::gpu::DeviceRequest::default());
    cases_agree("cuda", &cuda);
}

//! Cases compute what they compute as NVIDIA's compiler builds them.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use pagepress::gpu::runtime::block_on;
use pagepress::gpu::{Backend, EngineChoice, GpuDevice};
use pagepress_test_harness::test;

use crate::case::{Arg, Case};
use crate::common::foreign::Foreign;
use crate::nvcc::{self, Built, build};
use crate::options::options;
use crate::{all_cases, common, device, sources, through};

/// Ends the running test as ignored where no `nvcc` is named.
fn need_nvcc() -> PathBuf {
    match std::env::var_os("PAGEPRESS_NVCC") {
        Some(path) => path.into(),
        None => common::harness::ignore(
            "PAGEPRESS_NVCC is not set: this needs CUDA's toolkit and a GPU",
        ),
    }
}

/// Builds all cases on all cores.
fn build_all(nvcc: &Path, architecture: &str, cases: &[Case]) -> Vec<Result<Built, String>> {
    let next = Mutex::new(cases.iter().enumerate());
    let built = Mutex::new(Vec::new());
    let work = || loop {
        let taken = next.lock().unwrap().next();
        let Some((index, case)) = taken else { break };
        let result = build(nvcc, architecture, case);
        built.lock().unwrap().push((index, result));
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    let mut built = built.into_inner().unwrap();
    built.sort_by_key(|(index, _)| *index);
    built.into_iter().map(|(_, result)| result).collect()
}

/// Returns a case that expects `outputs` where it expected its reference.
fn expecting(case: &Case, outputs: &[Vec<u8>]) -> Case {
    let mut case = case.clone();
    let mut outputs = outputs.iter();
    for arg in &mut case.args {
        if let Arg::Buffer { after, .. } = arg {
            let output = outputs.next().unwrap();
            *after = after
                .take()
                .map(|(data, tolerance)| (data.of_bytes(output), tolerance));
        }
    }
    case
}

/// Compares the results of an engine with those of `nvcc`, and describes the agreement.
fn agreement(engine: &GpuDevice, case: &Case, outputs: &[Vec<u8>]) -> Result<&'static str, String> {
    let found = block_on(device::outputs(engine, case))?;
    device::compare(&expecting(case, outputs), &found)?;
    Ok(if found == outputs {
        "same bits"
    } else {
        "within tolerance"
    })
}

/// Runs cases as `nvcc` builds them and through the engines, prints a line for each, and returns those that differ.
fn compare_all(cases: &[Case], has_references: bool) -> Vec<String> {
    let compiler = need_nvcc();
    // Keeps the context from one case to the next.
    let foreign = Foreign::new();
    let built = build_all(&compiler, &nvcc::architecture(&foreign), cases);
    let engines: Vec<(&str, GpuDevice)> =
        [("CUDA", EngineChoice::Cuda), ("wgpu", EngineChoice::Wgpu)]
            .into_iter()
            .filter_map(|(name, engine)| Some((name, GpuDevice::open(&through(engine)).ok()?)))
            .collect();
    let mut failures = Vec::new();
    for (case, built) in cases.iter().zip(built) {
        let title = format!("{} ({})", case.name, case.entry);
        let outputs = built.and_then(|built| nvcc::run(&built, case));
        let outputs = match outputs {
            Ok(outputs) => outputs,
            Err(why) => {
                failures.push(format!("{title}: nvcc: {why}"));
                continue;
            }
        };
        if has_references && let Err(why) = device::compare(case, &outputs) {
            failures.push(format!("{title}: nvcc and the reference: {why}"));
        }
        for (name, engine) in &engines {
            if !case.runs_on(engine.capabilities()) {
                continue;
            }
            match agreement(engine, case, &outputs) {
                Ok(how) => println!("{title}: {name}: {how}"),
                Err(why) => failures.push(format!("{title}: {name}: {why}")),
            }
        }
    }
    failures
}

fn assert_none(failures: &[String]) {
    let n_failures = failures.len();
    assert!(
        failures.is_empty(),
        "{n_failures} differ:\n{}",
        failures.join("\n")
    );
}

#[test]
fn cases_agree_with_nvcc() {
    assert_none(&compare_all(&all_cases(), true));
}

/// Returns kernels of others, which are not part of this project.
fn cases_of_others() -> Vec<Case> {
    match std::env::var_os("PAGEPRESS_CUDA_SOURCES") {
        Some(folder) => sources::cases(Path::new(&folder)),
        None => common::harness::ignore(
            "PAGEPRESS_CUDA_SOURCES is not set: a folder of kernels with their launches",
        ),
    }
}

#[test]
fn sources_of_others_agree_with_nvcc() {
    assert_none(&compare_all(&cases_of_others(), false));
}

#[test]
fn sources_of_others_compile() {
    let cases = cases_of_others();
    let error = |case: &Case| {
        let error = cuda_c::compile_cuda(case.source, &options(case).int64(true)).err()?;
        Some(format!("{} ({}): {error}", case.name, case.entry))
    };
    let errors: Vec<String> = cases.iter().filter_map(error).collect();
    println!("{} launches, {} do not compile", cases.len(), errors.len());
    assert_none(&errors);
}

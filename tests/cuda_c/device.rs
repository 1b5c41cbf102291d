//! Runs cases on a device.

use pagepress::gpu::runtime::block_on;
use pagepress::gpu::{Backend, CudaArg, DeviceRequest, GpuDevice, Waitable, compile_cuda};

use crate::case::{Arg, Case};
#[cfg(cuda_engine)]
use crate::common;
use crate::options::options;

/// Runs a case, and returns its buffers after it in the order of its arguments.
pub async fn outputs<B: Backend>(device: &B, case: &Case) -> Result<Vec<Vec<u8>>, String> {
    let failed = |error: pagepress::Error| error.to_string();
    let kernel = compile_cuda(device, case.source, &options(case)).await;
    let kernel = kernel.map_err(failed)?;
    let mut buffers = Vec::new();
    for arg in &case.args {
        if let Arg::Buffer { before, .. } = arg {
            let buffer = device
                .allocate_memory(before.len() as u64)
                .map_err(failed)?;
            let uploaded = device.upload_async(&buffer, 0, before).await;
            uploaded.map_err(failed)?;
            buffers.push((buffer, before.len() as u64));
        }
    }
    let mut next = buffers.iter();
    let args: Vec<CudaArg<'_, B::Buffer>> = case
        .args
        .iter()
        .map(|arg| match arg {
            Arg::Buffer { .. } => CudaArg::Buffer(&next.next().unwrap().0),
            Arg::I32(value) => CudaArg::I32(*value),
            Arg::U32(value) => CudaArg::U32(*value),
            Arg::F32(value) => CudaArg::F32(*value),
            Arg::I64(value) => CudaArg::I64(*value),
            Arg::U64(value) => CudaArg::U64(*value),
            Arg::Bytes(bytes) => CudaArg::Bytes(bytes),
        })
        .collect();
    let launched = kernel.launch(device, case.grid, &args).map_err(failed)?;
    launched.wait_async().await.map_err(failed)?;
    let mut outputs = Vec::new();
    for (buffer, length) in &buffers {
        let output = device.download_async(buffer, 0..*length).await;
        outputs.push(output.map_err(failed)?);
    }
    Ok(outputs)
}

/// Compares buffers after a case with its reference.
pub fn compare(case: &Case, outputs: &[Vec<u8>]) -> Result<(), String> {
    let mut next = outputs.iter();
    for (position, arg) in case.args.iter().enumerate() {
        let Arg::Buffer { before, after } = arg else {
            continue;
        };
        let found = next.next().unwrap();
        let compared = match after {
            Some((expected, tolerance)) => expected.compare(found, *tolerance),
            None if found == before => Ok(()),
            None => Err("an input was changed".into()),
        };
        compared.map_err(|why| format!("argument {position}: {why}"))?;
    }
    Ok(())
}

/// Runs all cases, and fails with the names of those that are wrong.
pub fn check(engine: &str, request: &DeviceRequest, cases: Vec<Case>) {
    #[cfg(cuda_engine)]
    if engine == "cuda" {
        common::cuda::need_cuda();
    }
    let device = GpuDevice::open(request).expect("needs a GPU, a software one will do");
    let only = std::env::var("PAGEPRESS_CUDA_CASE").ok();
    let capabilities = device.capabilities();
    let is_selected = |case: &&Case| {
        only.as_ref().is_none_or(|only| case.name == only) && case.runs_on(capabilities)
    };
    let selected: Vec<&Case> = cases.iter().filter(is_selected).collect();
    println!(
        "{} of {} cases run on {engine}",
        selected.len(),
        cases.len()
    );
    let failures: Vec<String> = selected
        .into_iter()
        .filter_map(|case| {
            let outputs = block_on(outputs(&device, case));
            let why = outputs.and_then(|outputs| compare(case, &outputs)).err()?;
            Some(format!("{} ({}): {why}", case.name, case.entry))
        })
        .collect();
    let n_failures = failures.len();
    assert!(
        failures.is_empty(),
        "{n_failures} of {} on {engine}:\n{}",
        cases.len(),
        failures.join("\n")
    );
}

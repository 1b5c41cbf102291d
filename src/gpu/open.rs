//! Opens a device: chooses the engine, and reports a reason for each rejected candidate.

#[cfg(cuda_engine)]
use super::choice::PowerPreference;
use super::choice::{DeviceRequest, EngineChoice, Rejected};
use super::engine::Engine;
#[cfg(cuda_engine)]
use super::info::DeviceKind;
use super::info::GpuDeviceInfo;
use crate::engine::CUDA;
#[cfg(any(cuda_engine, not(feature = "wgpu")))]
use crate::engine::WGPU;
use crate::{Error, Result};

/// A newly opened device, the reason for it, and the rejected candidates.
#[derive(Debug)]
pub(super) struct Opened {
    pub engine: Engine,
    pub reason: String,
    pub rejected: Vec<Rejected>,
}

/// Lists all adapters: those of CUDA, then those of wgpu.
pub(super) async fn list_async() -> Vec<GpuDeviceInfo> {
    let mut found = Vec::new();
    #[cfg(cuda_engine)]
    found.extend(super::cuda::list().unwrap_or_default());
    #[cfg(feature = "wgpu")]
    found.extend(super::wgpu::list().await);
    found
}

/// Opens the device that `request` describes.
pub(super) async fn open_async(request: &DeviceRequest) -> Result<Opened> {
    match request.engine {
        EngineChoice::Cuda => cuda(request, "CUDA was asked for"),
        EngineChoice::Wgpu => wgpu_async(request).await,
        EngineChoice::Auto => auto_async(request).await,
    }
}

#[cfg(cuda_engine)]
fn cuda(request: &DeviceRequest, reason: &str) -> Result<Opened> {
    let gpus = super::cuda::list()?;
    let candidates = match request.adapter_index {
        Some(index) => index..index.saturating_add(1),
        None => 0..gpus.len(),
    };
    let mut failed = Vec::new();
    for index in candidates {
        match super::cuda::open(index, request) {
            Ok(device) => {
                return Ok(Opened {
                    engine: Engine::Cuda(device),
                    reason: match request.adapter_index {
                        Some(index) => format!("adapter {index} was asked for"),
                        None => reason.to_owned(),
                    },
                    rejected: others(&gpus, index, &failed),
                });
            }
            Err(error) => failed.push(self::reason(error)),
        }
    }
    Err(Error::BackendUnavailable {
        backend: CUDA,
        reason: failed.join("; "),
    })
}

/// Returns all GPUs except the one at `taken`, with reasons; `failed` has those of the first ones.
#[cfg(cuda_engine)]
fn others(gpus: &[GpuDeviceInfo], taken: usize, failed: &[String]) -> Vec<Rejected> {
    let others = gpus.iter().enumerate().filter(|&(i, _)| i != taken);
    let rejected = others.map(|(i, gpu)| Rejected {
        candidate: gpu.to_string(),
        reason: match failed.get(i) {
            Some(why) => why.clone(),
            None => "another GPU was taken; an index asks for this one".into(),
        },
    });
    rejected.collect()
}

#[cfg(not(cuda_engine))]
fn cuda(_: &DeviceRequest, _: &str) -> Result<Opened> {
    Err(Error::BackendUnavailable {
        backend: CUDA,
        reason: "this build has no CUDA; the feature `cuda` adds it to native builds".into(),
    })
}

#[cfg(feature = "wgpu")]
async fn wgpu_async(request: &DeviceRequest) -> Result<Opened> {
    let opened = super::wgpu::open(request).await?;
    Ok(Opened {
        engine: Engine::Wgpu(opened.device),
        reason: opened.reason,
        rejected: opened.rejected,
    })
}

#[cfg(not(feature = "wgpu"))]
async fn wgpu_async(_: &DeviceRequest) -> Result<Opened> {
    Err(Error::BackendUnavailable {
        backend: WGPU,
        reason: "this build has no wgpu; the feature `wgpu` adds it".into(),
    })
}

#[cfg(not(cuda_engine))]
async fn auto_async(request: &DeviceRequest) -> Result<Opened> {
    wgpu_async(request).await
}

#[cfg(cuda_engine)]
async fn auto_async(request: &DeviceRequest) -> Result<Opened> {
    if let Some(index) = request.adapter_index {
        return at_index_async(request, index).await;
    }
    if request.power_preference == PowerPreference::LowPower
        && let Ok(mut opened) = wgpu_async(request).await
        && kind(&opened.engine) == DeviceKind::Integrated
    {
        let cuda = super::cuda::list().unwrap_or_default().into_iter();
        opened.rejected.extend(cuda.map(|gpu| Rejected {
            candidate: gpu.to_string(),
            reason: "an integrated GPU draws less power".into(),
        }));
        return Ok(opened);
    }
    match cuda(request, "CUDA comes first") {
        Ok(mut opened) => {
            opened.rejected.push(Rejected {
                candidate: WGPU.into(),
                reason: "CUDA comes first; its adapters were not looked at".into(),
            });
            Ok(opened)
        }
        Err(no_cuda) => after_cuda_async(request, no_cuda).await,
    }
}

#[cfg(cuda_engine)]
fn kind(engine: &Engine) -> DeviceKind {
    use super::backend::Backend;
    super::handles::on_engine!(engine, Engine, device => device.info().kind)
}

/// Opens the adapter at `index` of the whole list.
#[cfg(cuda_engine)]
async fn at_index_async(request: &DeviceRequest, index: usize) -> Result<Opened> {
    let n_cuda = super::cuda::list().map_or(0, |found| found.len());
    if index < n_cuda {
        return cuda(request, "");
    }
    let among_wgpu = DeviceRequest {
        adapter_index: Some(index - n_cuda),
        ..request.clone()
    };
    let missing = |error| match error {
        Error::BackendUnavailable { backend, reason } if n_cuda > 0 => Error::BackendUnavailable {
            backend,
            reason: format!("{reason}; the first {n_cuda} of the list are CUDA's"),
        },
        other => other,
    };
    wgpu_async(&among_wgpu).await.map_err(missing)
}

/// Falls back to wgpu after CUDA failed.
#[cfg(cuda_engine)]
async fn after_cuda_async(request: &DeviceRequest, no_cuda: Error) -> Result<Opened> {
    match wgpu_async(request).await {
        Ok(mut opened) => {
            opened.rejected.push(Rejected {
                candidate: CUDA.into(),
                reason: reason(no_cuda),
            });
            Ok(opened)
        }
        Err(no_wgpu) => Err(Error::BackendUnavailable {
            backend: "GPU",
            reason: format!("cuda: {}; wgpu: {}", reason(no_cuda), reason(no_wgpu)),
        }),
    }
}

#[cfg(cuda_engine)]
fn reason(error: Error) -> String {
    match error {
        Error::BackendUnavailable { reason, .. } => reason,
        other => other.to_string(),
    }
}

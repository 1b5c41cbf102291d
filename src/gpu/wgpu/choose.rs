//! Chooses the adapters to try, their order, and the reasons against the others. Pure: [`adapter`](super::adapter) enumerates.

use super::ENGINE;
#[cfg(not(target_arch = "wasm32"))]
use crate::gpu::choice::Rejected;
use crate::gpu::choice::{DeviceRequest, PowerPreference};
use crate::gpu::info::{DeviceKind, GpuDeviceInfo};
use crate::{Error, Result};

/// Returns the rank of a kind of device; lower is better.
pub(super) fn rank(kind: DeviceKind, preference: PowerPreference) -> u32 {
    match (kind, preference) {
        (DeviceKind::Discrete, PowerPreference::HighPerformance)
        | (DeviceKind::Integrated, PowerPreference::LowPower) => 0,
        (DeviceKind::Integrated, PowerPreference::HighPerformance)
        | (DeviceKind::Discrete, PowerPreference::LowPower) => 1,
        (DeviceKind::Unknown, _) => 2,
        (DeviceKind::Virtual, _) => 3,
        (DeviceKind::Software, _) => 4,
    }
}

/// Returns the positions of the adapters that `request` allows, in the order in which to try them.
pub(super) fn candidates(
    adapters: &[GpuDeviceInfo],
    request: &DeviceRequest,
) -> Result<Vec<usize>> {
    if let Some(index) = request.adapter_index {
        return match index < adapters.len() {
            true => Ok(vec![index]),
            false => Err(unavailable(format!(
                "there is no adapter {index}: {} found",
                adapters.len()
            ))),
        };
    }
    let allowed = |&i: &usize| request.allow_software || !adapters[i].is_software();
    let mut allowed: Vec<usize> = (0..adapters.len()).filter(allowed).collect();
    allowed.sort_by_key(|&i| (rank(adapters[i].kind, request.power_preference), i));
    if !allowed.is_empty() {
        return Ok(allowed);
    }
    if adapters.is_empty() {
        return Err(unavailable(
            if cfg!(target_arch = "wasm32") {
                "no adapter found: this browser or runtime gives none"
            } else {
                "no adapter found; install a Vulkan driver"
            }
            .into(),
        ));
    }
    let names: Vec<String> = adapters.iter().map(ToString::to_string).collect();
    Err(unavailable(format!(
        "only software adapters found ({}) and they were not allowed",
        names.join("; ")
    )))
}

/// Adapters that could not be opened, each with the reason.
pub(super) type Failed = Vec<(usize, String)>;

/// Returns the reason for the adapter at `taken`, after those in `failed` could not be opened.
pub(super) fn reason(
    adapters: &[GpuDeviceInfo],
    request: &DeviceRequest,
    taken: usize,
    failed: &Failed,
) -> String {
    let adapter = &adapters[taken];
    if let Some(index) = request.adapter_index {
        format!("adapter {index} was asked for")
    } else if !failed.is_empty() {
        format!("best adapter that could be opened: {}", adapter.kind)
    } else if adapter.is_software() {
        "only a software adapter was found".into()
    } else {
        format!("best adapter found: {}", adapter.kind)
    }
}

/// Returns all adapters but the one at `taken`, each with the reason.
#[cfg(not(target_arch = "wasm32"))]
pub(super) fn rejected(
    adapters: &[GpuDeviceInfo],
    request: &DeviceRequest,
    taken: usize,
    failed: &Failed,
) -> Vec<Rejected> {
    let others = adapters.iter().enumerate().filter(|&(i, _)| i != taken);
    let rejected = others.map(|(i, other)| Rejected {
        candidate: other.to_string(),
        reason: if let Some((_, why)) = failed.iter().find(|(at, _)| *at == i) {
            why.clone()
        } else if request.adapter_index.is_some() {
            "another index was asked for".into()
        } else if other.is_software() && !request.allow_software {
            "software adapter, slower than the CPU path".into()
        } else {
            format!("{} comes first", adapters[taken])
        },
    });
    rejected.collect()
}

/// Returns the error for the case that no candidate could be opened.
pub(super) fn none_opened(failed: &Failed) -> Error {
    let reasons: Vec<&str> = failed.iter().map(|(_, why)| why.as_str()).collect();
    unavailable(reasons.join("; "))
}

fn unavailable(reason: String) -> Error {
    Error::BackendUnavailable {
        backend: ENGINE,
        reason,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn adapter(name: &str, kind: DeviceKind) -> GpuDeviceInfo {
        GpuDeviceInfo {
            name: name.into(),
            vendor: String::new(),
            engine: "wgpu",
            api: "vulkan",
            kind,
            driver: String::new(),
            subgroup_size: (32, 32),
        }
    }

    fn three() -> Vec<GpuDeviceInfo> {
        vec![
            adapter("soft", DeviceKind::Software),
            adapter("small", DeviceKind::Integrated),
            adapter("big", DeviceKind::Discrete),
        ]
    }

    #[test]
    fn discrete_wins_and_all_others_have_reasons() {
        let (adapters, request) = (three(), DeviceRequest::default());
        assert_eq!(candidates(&adapters, &request).unwrap(), [2, 1]);
        let rejected = rejected(&adapters, &request, 2, &Vec::new());
        assert_eq!(rejected.len(), 2);
        assert!(rejected[0].reason.contains("software"));
        assert!(rejected[1].reason.contains("big"));
    }

    #[test]
    fn failures_to_open_are_reported() {
        let (adapters, request) = (three(), DeviceRequest::default());
        let failed = vec![(2, "the driver is broken".into())];
        let rejected = rejected(&adapters, &request, 1, &failed);
        assert_eq!(rejected[1].reason, "the driver is broken");
        assert!(reason(&adapters, &request, 1, &failed).contains("could be opened"));
        assert!(none_opened(&failed).to_string().contains("broken"));
    }

    #[test]
    fn low_power_prefers_integrated_gpus() {
        let request = DeviceRequest {
            power_preference: PowerPreference::LowPower,
            allow_software: true,
            ..DeviceRequest::default()
        };
        assert_eq!(candidates(&three(), &request).unwrap(), [1, 2, 0]);
    }

    #[test]
    fn software_only_if_allowed_or_requested() {
        let soft = &three()[..1];
        let refused = candidates(soft, &DeviceRequest::default()).unwrap_err();
        assert_eq!(refused.code(), "BACKEND_UNAVAILABLE");
        let allowed = DeviceRequest {
            allow_software: true,
            ..DeviceRequest::default()
        };
        assert_eq!(candidates(soft, &allowed).unwrap(), [0]);
        let indexed = DeviceRequest {
            adapter_index: Some(0),
            ..DeviceRequest::default()
        };
        assert_eq!(candidates(soft, &indexed).unwrap(), [0]);
    }

    #[test]
    fn a_missing_index_and_an_empty_list_are_errors() {
        let indexed = DeviceRequest {
            adapter_index: Some(3),
            ..DeviceRequest::default()
        };
        let missing = candidates(&three(), &indexed).unwrap_err();
        assert!(missing.to_string().contains("no adapter 3"));
        let none = candidates(&[], &DeviceRequest::default()).unwrap_err();
        assert!(none.to_string().contains("no adapter found"));
    }
}

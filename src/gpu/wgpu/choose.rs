//! Which adapter to open, and why not the others. Pure; [`adapter`](super::adapter) lists, this chooses.

use super::ENGINE;
use crate::gpu::choice::{DeviceRequest, PowerPreference, Rejected};
use crate::gpu::info::{DeviceKind, GpuDeviceInfo};
use crate::{Error, Result};

/// The adapter taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Chosen {
    /// Position in the list.
    pub index: usize,
    /// Why this one.
    pub reason: String,
    /// All others.
    pub rejected: Vec<Rejected>,
}

/// Rank of a kind of device; lower is better.
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

/// Chooses among `adapters`.
pub(super) fn choose(adapters: &[GpuDeviceInfo], request: &DeviceRequest) -> Result<Chosen> {
    let (index, reason) = match request.adapter_index {
        Some(index) if index < adapters.len() => (index, format!("adapter {index} was asked for")),
        Some(index) => {
            return Err(unavailable(format!(
                "there is no adapter {index}: {} found",
                adapters.len()
            )));
        }
        None => best(adapters, request)?,
    };
    let rejected = adapters.iter().enumerate().filter(|&(i, _)| i != index);
    let rejected = rejected.map(|(_, other)| Rejected {
        candidate: other.to_string(),
        reason: if request.adapter_index.is_some() {
            "another index was asked for".into()
        } else if other.is_software() && !request.allow_software {
            "software adapter, slower than the CPU path".into()
        } else {
            format!("{} comes first", adapters[index])
        },
    });
    Ok(Chosen {
        index,
        reason,
        rejected: rejected.collect(),
    })
}

fn best(adapters: &[GpuDeviceInfo], request: &DeviceRequest) -> Result<(usize, String)> {
    let allowed = adapters
        .iter()
        .enumerate()
        .filter(|(_, a)| request.allow_software || !a.is_software());
    match allowed.min_by_key(|(i, a)| (rank(a.kind, request.power_preference), *i)) {
        Some((index, adapter)) if adapter.is_software() => {
            Ok((index, "only a software adapter was found".into()))
        }
        Some((index, adapter)) => Ok((index, format!("best adapter found: {}", adapter.kind))),
        None if adapters.is_empty() => Err(unavailable(
            if cfg!(target_arch = "wasm32") {
                "no adapter found: this browser or runtime gives none"
            } else {
                "no adapter found; install a Vulkan driver"
            }
            .into(),
        )),
        None => {
            let names: Vec<String> = adapters.iter().map(ToString::to_string).collect();
            Err(unavailable(format!(
                "only software adapters found ({}) and they were not allowed",
                names.join("; ")
            )))
        }
    }
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
        let chosen = choose(&three(), &DeviceRequest::default()).unwrap();
        assert_eq!(chosen.index, 2);
        assert_eq!(chosen.rejected.len(), 2);
        assert!(chosen.rejected[0].reason.contains("software"));
        assert!(chosen.rejected[1].reason.contains("big"));
    }

    #[test]
    fn low_power_takes_the_integrated_one() {
        let request = DeviceRequest {
            power_preference: PowerPreference::LowPower,
            ..DeviceRequest::default()
        };
        assert_eq!(choose(&three(), &request).unwrap().index, 1);
    }

    #[test]
    fn software_only_when_allowed_or_asked_for() {
        let soft = &three()[..1];
        assert_eq!(
            choose(soft, &DeviceRequest::default()).unwrap_err().code(),
            "BACKEND_UNAVAILABLE"
        );
        let allowed = DeviceRequest {
            allow_software: true,
            ..DeviceRequest::default()
        };
        assert_eq!(choose(soft, &allowed).unwrap().index, 0);
        let indexed = DeviceRequest {
            adapter_index: Some(0),
            ..DeviceRequest::default()
        };
        assert_eq!(choose(soft, &indexed).unwrap().index, 0);
    }

    #[test]
    fn a_missing_index_and_an_empty_list_are_errors() {
        let indexed = DeviceRequest {
            adapter_index: Some(3),
            ..DeviceRequest::default()
        };
        assert!(
            choose(&three(), &indexed)
                .unwrap_err()
                .to_string()
                .contains("no adapter 3")
        );
        assert!(
            choose(&[], &DeviceRequest::default())
                .unwrap_err()
                .to_string()
                .contains("no adapter found")
        );
    }
}

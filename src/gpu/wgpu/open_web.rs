//! Opens the browser's adapter: asks for others where one cannot be opened.

use super::adapter;
use super::adapter_web::Ask;
use super::choose;
use super::device::{Opened, open_allowed};
use crate::gpu::choice::{DeviceRequest, PowerPreference, Rejected};
use crate::gpu::info::GpuDeviceInfo;
use crate::{Error, Result};

/// Number of requests for each adapter of a browser: the first after a page load may yield none.
const TRIES: [u32; 3] = [4, 1, 1];

/// Returns the description of the browser's adapter, if it gives one.
pub(crate) async fn list() -> Vec<GpuDeviceInfo> {
    for (ask, tries) in Ask::all(PowerPreference::default()).into_iter().zip(TRIES) {
        if let Some(adapter) = ask.adapter(tries).await {
            return vec![adapter::describe(&adapter.get_info())];
        }
    }
    Vec::new()
}

/// Opens the device that `request` describes: asks the browser for an adapter, and for others until one can be opened.
pub(crate) async fn open(request: &DeviceRequest) -> Result<Opened> {
    let (mut infos, mut failed) = (Vec::new(), choose::Failed::new());
    let mut rejected = Vec::new();
    let mut reject = |ask: Ask, reason: String| {
        let candidate = ask.text().into();
        rejected.push(Rejected { candidate, reason });
    };
    for (ask, tries) in Ask::all(request.power_preference).into_iter().zip(TRIES) {
        let Some(adapter) = ask.adapter(tries).await else {
            reject(ask, "the browser gives none".into());
            continue;
        };
        let info = adapter::describe(&adapter.get_info());
        infos.push(info.clone());
        // A browser has one adapter for each request.
        if request.adapter_index.is_some_and(|index| index > 0) {
            choose::candidates(&infos[..1], request)?;
        }
        let why = match open_allowed(&adapter, info, request).await {
            Ok(device) => {
                let at = infos.len() - 1;
                let reason = match ask {
                    Ask::Core(_) => choose::reason(&infos, request, at, &failed),
                    Ask::Compatibility => ask.text().into(),
                };
                return Ok(Opened {
                    device,
                    reason,
                    rejected,
                });
            }
            Err(Error::BackendUnavailable { reason, .. }) => reason,
            Err(other) => other.to_string(),
        };
        reject(ask, why.clone());
        failed.push((infos.len() - 1, why));
    }
    if infos.is_empty() {
        choose::candidates(&[], request)?;
    }
    Err(choose::none_opened(&failed))
}

//! Opening of a device if the best adapter cannot be opened.

use pagepress::Error;
use pagepress::gpu::{Backend, GpuDevice, fail_opening};

use crate::{child, request};

/// Drivers of software adapters.
const DRIVERS: [&str; 2] = [
    "/usr/share/vulkan/icd.d/lvp_icd.x86_64.json",
    "/usr/lib/chromium/vk_swiftshader_icd.json",
];

#[test]
fn the_next_adapter_is_taken_where_the_best_cannot_be_opened() {
    let there = DRIVERS
        .iter()
        .filter(|path| std::path::Path::new(path).exists());
    let there: Vec<&str> = there.copied().collect();
    let set: &[(&str, String)] = match there.len() {
        2 => &[("VK_ICD_FILENAMES", there.join(":"))],
        _ => &[],
    };
    child::alone(
        "opening::the_next_adapter_is_taken_where_the_best_cannot_be_opened",
        None,
        set,
        || {
            let adapters = GpuDevice::list_adapters();
            let n = adapters
                .iter()
                .filter(|adapter| adapter.engine == "wgpu")
                .count();
            println!("{n} adapters");
            let best = GpuDevice::open(&request()).unwrap();
            for n_failing in 1..=n {
                fail_opening(n_failing as u32);
                match GpuDevice::open(&request()) {
                    Ok(device) => {
                        assert!(n_failing < n);
                        assert_ne!(device.info(), best.info());
                        assert_eq!(device.rejected().len(), n - 1);
                        let failed = device.rejected().iter();
                        let failed = failed.filter(|other| other.reason.contains("a test"));
                        assert_eq!(failed.count(), n_failing, "{:?}", device.rejected());
                        assert!(device.reason().contains("could be opened"));
                    }
                    Err(Error::BackendUnavailable { reason, .. }) => {
                        assert_eq!(n_failing, n);
                        assert_eq!(reason.matches("a test").count(), n, "{reason}");
                    }
                    Err(other) => panic!("{other}"),
                }
            }
            // `is_available` opens no adapter, and an index selects one adapter without a fallback.
            fail_opening(1);
            let has_hardware = adapters.iter().any(|adapter| !adapter.is_software());
            let clock = std::time::Instant::now();
            assert_eq!(GpuDevice::is_available(), has_hardware);
            println!("is_available took {:?}", clock.elapsed());
            let error = GpuDevice::new_with_adapter_index(0).unwrap_err();
            assert!(error.to_string().contains("a test"), "{error}");
            GpuDevice::new_with_adapter_index(0).unwrap();
        },
    );
}

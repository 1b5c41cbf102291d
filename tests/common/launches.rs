//! What the crate launches.

use std::collections::BTreeMap;

use pagepress::kernels::lz4::{compress_job, decompress_job};
use pagepress::kernels::{Launch, Processors};
use pagepress::lz4::Level;

/// Processors with room for copies of small pages.
const ROOMY: Processors = Processors {
    n: 132,
    workgroup_bytes: 228 << 10,
};

/// Every launch that some job makes, once for each kernel and set of overrides, by their names.
pub fn launches() -> BTreeMap<String, Launch> {
    let mut found = BTreeMap::new();
    for page_size in [4096, 8192, 16_384, 32_768, 65_536] {
        let n_bytes = 3000 * u64::from(page_size) - 5;
        let mut jobs = vec![decompress_job(n_bytes, page_size, n_bytes / 2)];
        for level in [Level::Fast, Level::High] {
            let of = |processors| compress_job(n_bytes, page_size, level, processors);
            jobs.extend([of(None), of(Some(ROOMY))]);
        }
        for launch in jobs.into_iter().flat_map(|job| job.launches) {
            let name = format!("{} {:?}", launch.kernel.name, launch.overrides);
            found.insert(name, launch);
        }
    }
    found
}

//! Jobs by launches of their own, on slices of larger buffers with canaries before and after each.

use std::collections::BTreeMap;

use pagepress::gpu::runtime::block_on;
use pagepress::gpu::{Backend, Buffer, GpuDevice, KernelArg, KernelSource, Waitable, shaders};
use pagepress::internals::Job;
use pagepress::internals::lz4::{compress_job, decompress_job, dictionary_words};
use pagepress::internals::{Limits, limits_of};
use pagepress::kernels::{Arg, Launch, Slot};
use pagepress::lz4::{BlockError, Dictionary, Level, PackedPages, PageEntry};

/// Value of guard bytes around the regions, which must not change.
pub const CANARY: u8 = 0xa5;
/// Guard bytes before and after a region; a multiple of the required alignment of binding offsets.
pub const GUARD: usize = 4096;

/// A buffer with its slot, the size of its region in bytes, and its content on upload.
struct Guarded {
    slot: Slot,
    buffer: Buffer,
    n_bytes: usize,
    bytes: Vec<u8>,
}

/// Decompresses pages with canaries around every buffer, and with a dictionary if there is one. `variant` selects the numbers of invocations
/// that read and that write a page, which a job selects by its number of pages, and workgroups for subgroups of 64 invocations.
pub fn decompress(
    device: &GpuDevice,
    pages: &PackedPages,
    dictionary: Option<&Dictionary>,
    variant: usize,
) -> (Vec<u8>, Vec<Option<BlockError>>) {
    let packed_bytes = pages.packed.len() as u64;
    let size = dictionary.map_or(0, |dictionary| dictionary.as_bytes().len() as u32);
    let subgroup = if variant % 2 == 1 { 64 } else { 32 };
    let limits = Limits {
        subgroup,
        ..limits_of(device)
    };
    let job = decompress_job(pages.n_bytes, pages.page_size, packed_bytes, limits, size);
    let mut job = job.expect("sizes of a job");
    let n_pages = pages.table.len() as u32;
    let [tokens, copy] = &mut job.launches[..] else {
        panic!("two launches decompress");
    };
    let readers = [1, 2, 4, 8, 16, 32][variant / 2 % 6];
    let name = ["lz4_tokens", "lz4_tokens_many"][usize::from(readers > 1)];
    tokens.kernel = shaders::named(name).unwrap();
    tokens.overrides.retain(|o| o.0 != "PAGES");
    if readers > 1 {
        tokens.overrides.push(("PAGES", subgroup / readers));
    }
    tokens.grid = [n_pages.div_ceil(subgroup / readers), 1, 1];
    let writers = [8, 16, 32][variant % 3];
    copy.overrides.retain(|o| o.0 != "LANES");
    copy.overrides.push(("LANES", writers));
    copy.grid = [n_pages.div_ceil(subgroup / writers), 1, 1];
    let given = [
        (Slot::Packed, pages.packed.clone()),
        (Slot::Table, table_bytes(pages)),
        (Slot::Dictionary, dictionary_bytes(dictionary)),
    ];
    let mut found = run_job(device, &job, &given);
    let mut content = found.remove(&Slot::Pages).unwrap();
    content.truncate(pages.n_bytes as usize);
    let status = found[&Slot::Status].chunks_exact(4).map(status).collect();
    (content, status)
}

/// Compresses pages with canaries around every buffer. Returns table and blocks.
pub fn compress(
    device: &GpuDevice,
    bytes: &[u8],
    (page_size, level): (u32, Level),
    dictionary: Option<&Dictionary>,
    limits: Limits,
) -> PackedPages {
    let n_bytes = bytes.len() as u64;
    let size = dictionary.map_or(0, |dictionary| dictionary.as_bytes().len() as u32);
    let job = compress_job(n_bytes, page_size, level, limits, size);
    let mut pages = bytes.to_vec();
    pages.resize(bytes.len().next_multiple_of(4), 0);
    let given = [
        (Slot::Pages, pages),
        (Slot::Dictionary, dictionary_bytes(dictionary)),
    ];
    let found = run_job(device, &job.expect("sizes of a job"), &given);
    let word = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().unwrap());
    let packed_bytes = 4 * word(&found[&Slot::Places][..4]) as usize;
    let packed = found[&Slot::Packed][..packed_bytes].to_vec();
    let entries = found[&Slot::Table].chunks_exact(8);
    let entry = |entry: &[u8]| {
        let words = [word(&entry[..4]), word(&entry[4..])];
        PageEntry::from_words(words, &packed).expect("an entry of the kernels")
    };
    PackedPages {
        table: entries.map(entry).collect(),
        packed,
        page_size,
        n_bytes,
        dictionary_id: dictionary.map_or(0, Dictionary::id),
    }
}

fn dictionary_bytes(dictionary: Option<&Dictionary>) -> Vec<u8> {
    let words = dictionary.map(|dictionary| dictionary_words(dictionary).unwrap());
    words
        .into_iter()
        .flatten()
        .flat_map(u32::to_le_bytes)
        .collect()
}

/// Runs a job with canaries around every buffer, and returns the content of each. Those that are `given` must stay as they are.
fn run_job(device: &GpuDevice, job: &Job, given: &[(Slot, Vec<u8>)]) -> BTreeMap<Slot, Vec<u8>> {
    let guard = [CANARY; GUARD];
    let buffers = job.buffers.iter().map(|&(slot, n_bytes)| {
        let region = given.iter().find(|(role, _)| *role == slot);
        let region = region.map_or(vec![CANARY; n_bytes as usize], |(_, bytes)| bytes.clone());
        assert_eq!(region.len() as u64, n_bytes, "{slot:?}");
        let bytes = [&guard[..], &region, &guard].concat();
        Guarded {
            slot,
            buffer: upload(device, &bytes),
            n_bytes: region.len(),
            bytes,
        }
    });
    let buffers: Vec<Guarded> = buffers.collect();
    for launch in &job.launches {
        run(device, launch, &buffers);
    }
    let read = |guarded: Guarded| {
        let (slot, n_bytes) = (guarded.slot, guarded.n_bytes);
        let now = download(device, &guarded.buffer, guarded.bytes.len());
        assert_canaries(&now[..GUARD], "before a buffer");
        assert_canaries(&now[GUARD + n_bytes..], "behind a buffer");
        let is_given = given.iter().any(|(role, _)| *role == slot);
        assert!(!is_given || now == guarded.bytes, "{slot:?} was written");
        (slot, now[GUARD..GUARD + n_bytes].to_vec())
    };
    buffers.into_iter().map(read).collect()
}

fn run(device: &GpuDevice, launch: &Launch, buffers: &[Guarded]) {
    let overrides: Vec<(&str, f64)> = launch
        .overrides
        .iter()
        .map(|&(n, v)| (n, v.into()))
        .collect();
    // SAFETY: `compress_job` or `decompress_job` created the launch, or `decompress` changed it to a form of it that other jobs have, and every slice
    // below has exactly the size that the job states. The test checks that the kernel stays in bounds without the engine's
    // checks.
    let mut source = unsafe { KernelSource::of(launch.kernel, &overrides).without_checks() };
    if launch.kernel.fills_workgroup() {
        // SAFETY: the table of kernels says so.
        source = unsafe { source.without_clearing() };
    }
    let kernel = block_on(device.compile_kernel(&source)).unwrap();
    let args: Vec<_> = launch
        .args
        .iter()
        .map(|arg| match arg {
            Arg::Params(words) => KernelArg::Params(words),
            Arg::Buffer(slot) | Arg::Slice(slot, _) => {
                let found = buffers.iter().find(|b| b.slot == *slot).unwrap();
                KernelArg::Slice(&found.buffer, GUARD as u64..(GUARD + found.n_bytes) as u64)
            }
        })
        .collect();
    let launched = device.launch_kernel(&kernel, launch.grid, &args).unwrap();
    block_on(launched.wait_async()).unwrap();
}

fn status(word: &[u8]) -> Option<BlockError> {
    let code = u32::from_le_bytes(word.try_into().unwrap());
    let all = [
        BlockError::Truncated,
        BlockError::OutputOverrun,
        BlockError::ZeroOffset,
        BlockError::OffsetTooFar,
        BlockError::OutputUnderrun,
        BlockError::BadTableEntry,
    ];
    let found = all.into_iter().find(|&error| error as u32 == code);
    assert!(code == 0 || found.is_some(), "status {code}");
    found
}

pub fn table_bytes(pages: &PackedPages) -> Vec<u8> {
    let words = pages
        .table
        .iter()
        .flat_map(|entry| entry.to_words().expect("it fits"));
    words.flat_map(u32::to_le_bytes).collect()
}

pub fn assert_canaries(bytes: &[u8], what: &str) {
    let changed = bytes.iter().position(|&byte| byte != CANARY);
    assert_eq!(changed, None, "{what}: a canary was written");
}

pub fn upload(device: &GpuDevice, bytes: &[u8]) -> Buffer {
    let buffer = device.allocate_memory(bytes.len() as u64).unwrap();
    block_on(device.upload_async(&buffer, 0, bytes)).unwrap();
    buffer
}

pub fn download(device: &GpuDevice, buffer: &Buffer, n_bytes: usize) -> Vec<u8> {
    block_on(device.download_async(buffer, 0..n_bytes as u64)).unwrap()
}

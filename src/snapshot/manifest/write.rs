//! Writes manifests.

use super::{
    ADDED, ADDED_BYTES, FILL, FILL_BYTES, FOOT_BYTES, FOOT_SIGNATURE, FRAME_HEADER, INDEX_BYTES,
    MAGIC, MAX_RUN, MOVED, RUN_BITS, SAME, SIGNATURE, UNCHANGED,
};
use crate::lz4::frame::{put, put_word};
use crate::memory::reserve;
use crate::snapshot::hash::ContentHash;
use crate::snapshot::version::{Block, Counts, Origin, Version};
use crate::{Error, Result};

/// Appends the manifest of `version`.
pub(in crate::snapshot) fn write(version: &Version, out: &mut Vec<u8>) -> Result<()> {
    let table = &*version.0;
    let start = out.len();
    let regions = &table.layout.regions;
    let names: usize = regions.iter().map(|region| 9 + region.name.len()).sum();
    reserve(out, 128 + names)?;
    put_word(out, MAGIC);
    put_word(out, 0);
    put(out, &SIGNATURE);
    put_word(out, table.layout.page_size);
    put(out, &table.id.to_le_bytes());
    put(out, &table.base.map_or([0; 16], ContentHash::to_le_bytes));
    put_word(out, regions.len() as u32);
    for region in regions {
        put(out, &region.n_bytes.to_le_bytes());
        put(out, &[region.name.len() as u8]);
        put(out, region.name.as_bytes());
    }
    write_runs(&table.origins, out)?;
    let Counts {
        filled,
        copied,
        added,
        ..
    } = version.counts();
    let n_bytes = filled * FILL_BYTES + copied * INDEX_BYTES + added * ADDED_BYTES;
    reserve(out, n_bytes as usize + FOOT_BYTES)?;
    let pages = || table.pages.iter().zip(&table.origins);
    for (page, &origin) in pages() {
        if let (Block::Fill(word), Origin::Fill) = (page.block, origin) {
            put(out, &word.to_le_bytes());
        }
    }
    for &origin in &table.origins {
        if let Origin::Same(page) | Origin::Moved(page) = origin {
            put_word(out, page);
        }
    }
    for (page, _) in pages().filter(|(_, origin)| **origin == Origin::Added) {
        put(out, &page.hash.to_le_bytes());
    }
    for (page, &origin) in pages() {
        if let (Block::At { length, .. }, Origin::Added) = (page.block, origin) {
            put(out, &((length - 1) as u16).to_le_bytes());
        }
    }
    let n_bytes = out.len() - start + FOOT_BYTES;
    let Ok(length) = u32::try_from(n_bytes) else {
        let expected = "take larger pages: a manifest has at most 4 GiB";
        return Err(Error::invalid(
            "number of pages",
            table.pages.len() as u64,
            expected,
        ));
    };
    out[start + 4..start + 8].copy_from_slice(&(length - FRAME_HEADER as u32).to_le_bytes());
    put(out, &ContentHash::of(&out[start..]).to_le_bytes());
    put_word(out, length);
    put(out, &FOOT_SIGNATURE);
    Ok(())
}

/// Appends the runs of pages with one kind of origin.
fn write_runs(origins: &[Origin], out: &mut Vec<u8>) -> Result<()> {
    let at = out.len();
    put_word(out, 0);
    let mut n_runs = 0_u32;
    for run in origins.chunk_by(|a, b| kind_of(*a) == kind_of(*b)) {
        for part in run.chunks(MAX_RUN as usize) {
            reserve(out, 4)?;
            put_word(out, kind_of(part[0]) << RUN_BITS | part.len() as u32);
            n_runs += 1;
        }
    }
    out[at..at + 4].copy_from_slice(&n_runs.to_le_bytes());
    Ok(())
}

const fn kind_of(origin: Origin) -> u32 {
    match origin {
        Origin::Fill => FILL,
        Origin::Added => ADDED,
        Origin::Same(_) => SAME,
        Origin::Unchanged => UNCHANGED,
        Origin::Moved(_) => MOVED,
    }
}

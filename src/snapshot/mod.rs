//! Snapshots of memory: versions of an image of which each stores only the pages that changed.
//!
//! An *image* is the memory of a machine: one region or several, each with a name. It is divided into pages. A *version* is the
//! state of the image at one time. For each page it has the content hash and the place of the content:
//! - nowhere, if one 64-bit word fills the page: the word is in the page's entry;
//! - in a block of an earlier version, if the page is unchanged, or equals any page of the version before;
//! - in a block that another page of this version has, too;
//! - in a block of its own, compressed.
//!
//! The blocks that a version added are a *layer*. A version that continues another one (an *increment*) needs the layers of
//! that one; [`Version::flatten`] makes a version that needs no other.
//!
//! # Files
//! A version is saved as an LZ4 file (see `frames.rs`). One without a base restores the image with `lz4 -d`: it has a frame for
//! each region, with a block for each page. An increment has one frame with the pages that it added. A manifest follows in a
//! skippable frame, which every LZ4 program skips (see `manifest.rs`): the regions, the id of the version, that of its base,
//! and an entry for each page.
//!
//! # Identity
//! The content hash of a page is XXH3 with 128 bits; the id of a version is the hash of its page size, its regions and the hashes
//! of its pages. Equal images have equal ids, whether they were flattened or not. A restored page is compared with its hash. XXH3 is
//! not a cryptographic hash: pages are not confused by accident, but a program that knows the algorithm can construct two pages with
//! one hash. See `docs/decisions/033-content-hash.md`.
//!
//! [`Snapshot`] takes, restores and saves versions natively, and [`SnapshotStore`] keeps them in a folder. The types under them have the
//! format and no I/O: callers of a [`Capture`] compress the pages that it returns, on any engine, and callers of a [`Restore`] read
//! the bytes that it wants. The npm package has its own I/O.

mod capture;
mod diff;
mod file;
mod flatten;
mod frames;
mod hash;
mod manifest;
mod pages;
mod staging;
#[cfg(not(target_arch = "wasm32"))]
mod store;
#[cfg(not(target_arch = "wasm32"))]
mod stored;
#[cfg(test)]
mod tests;
mod version;

pub use capture::Capture;
pub use diff::{ChangedRange, Diff};
pub use file::FileWriter;
pub use hash::ContentHash;
pub use pages::Region;
pub use staging::{Piece, Restore};
#[cfg(not(target_arch = "wasm32"))]
pub use store::{SnapshotStore, StoredVersion};
#[cfg(not(target_arch = "wasm32"))]
pub use stored::{Snapshot, SnapshotOptions};
pub use version::{Counts, Version};

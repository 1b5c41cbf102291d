//! The transfer pipeline of one device: jobs that fit its limits, a ring of staging buffers, recovery from losses.

pub(crate) mod compress;
pub(crate) mod decompress;
pub(crate) mod dictionary;
#[cfg(web_pages)]
pub(crate) mod frame_blocks;
pub(crate) mod framing;
pub(crate) mod gather;
pub(crate) mod job;
#[cfg(web_pages)]
pub(crate) mod js;
pub(crate) mod piece;
pub(crate) mod placement;
pub(crate) mod plan;
pub(crate) mod recover;
pub(crate) mod ring;
pub(crate) mod shared;
pub(crate) mod sink;
pub(crate) mod source;
pub(crate) mod status;
#[cfg(not(target_arch = "wasm32"))]
mod workers;

//! Files and pages on the CPU. Calls are synchronous.

mod blocks;
mod frames;
mod layout;
mod pages;

#[cfg(feature = "web-snapshot")]
pub(super) use pages::compress_each;
#[cfg(feature = "web-dictionary")]
pub(super) use {
    blocks::{Format, compress_at_once, decompress_at_once},
    frames::{FrameEncoder, WebFrameDecoder, frame_options},
    layout::layout_words,
    pages::{PageDecoder, compress_to_pages},
};

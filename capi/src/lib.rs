//! The C interface of Pagepress, declared in `include/pagepress.h`. [docs/c.md](../../docs/c.md) describes it.
//!
//! Every function checks pointers for null and sizes for overflow, catches panics, and returns a [`pp_status`]. Pointers
//! that are not null must be valid as the function's section on safety says; nobody can check that.
//!
//! # Threads
//! All functions may be called from several threads at once. Calls on one context or one stream take turns. A handle must not
//! be freed while another thread uses it.
#![cfg(not(target_arch = "wasm32"))]
#![expect(
    non_camel_case_types,
    reason = "the names are those of the C interface"
)]

mod batch;
mod block;
mod buffer;
mod call;
mod chunks;
mod context;
mod device;
mod dictionary;
mod frame;
mod memory;
mod options;
mod page;
mod status;
mod stream;

pub use batch::{pp_compress_blocks, pp_decompress_blocks};
pub use block::{
    pp_block_content_size, pp_compress_block, pp_compress_block_bound, pp_decompress_block,
};
pub use buffer::{pp_buffer, pp_buffer_data, pp_buffer_free, pp_buffer_size};
pub use context::{
    pp_context, pp_context_close, pp_context_engine, pp_context_open, pp_context_reason,
};
pub use device::{
    pp_batch, pp_batch_block_bound, pp_batch_close, pp_batch_compress_async,
    pp_batch_compress_scratch_size, pp_batch_decompress_async, pp_batch_decompress_scratch_size,
    pp_batch_open, pp_block_status,
};
pub use dictionary::{
    pp_dictionary, pp_dictionary_free, pp_dictionary_id, pp_dictionary_new, pp_dictionary_train,
};
pub use frame::{
    pp_compress_frame, pp_compress_frame_bound, pp_decompress_frame, pp_decompress_frame_to_buffer,
    pp_frame_content_size,
};
pub use options::{
    pp_context_options, pp_context_options_init, pp_engine, pp_frame_options,
    pp_frame_options_init, pp_level,
};
pub use page::{
    pp_compress_pages, pp_compress_pages_bound, pp_decompress_pages, pp_page_count, pp_page_entry,
    pp_page_kind,
};
pub use status::{pp_last_error, pp_status, pp_status_text, pp_version};
pub use stream::{
    pp_compressor, pp_compressor_finish, pp_compressor_flush, pp_compressor_free,
    pp_compressor_open, pp_compressor_write, pp_decompressor, pp_decompressor_finish,
    pp_decompressor_free, pp_decompressor_open, pp_decompressor_write,
};

/*
 * Pagepress: LZ4 frames, blocks and memory pages, on any GPU and on the CPU.
 *
 * Every function checks pointers for null and sizes for overflow, and returns a pp_status; pp_last_error() has the message.
 * Pointers that are not null must be valid as the function's section on safety says.
 *
 * All functions may be called from several threads at once. Calls on one context or one stream take turns. A handle must not be
 * freed while another thread uses it.
 *
 * Written by cbindgen from capi/src; change it there.
 */

#ifndef PAGEPRESS_H
#define PAGEPRESS_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

/**
 * `pp_frame_content_size` of a frame that does not state its size.
 */
#define PP_CONTENT_SIZE_UNKNOWN UINT64_MAX

/**
 * The version of this header: 65536 * major + 256 * minor + patch.
 */
#define PP_VERSION 256

/**
 * Result of a call. Codes never change meaning; later versions may add some.
 */
typedef enum pp_status {
  /**
   * The call succeeded.
   */
  PP_OK = 0,
  /**
   * A block is not valid LZ4, or needs a dictionary.
   */
  PP_CORRUPT_PAGE = 1,
  /**
   * The input does not start with an LZ4 frame.
   */
  PP_NOT_LZ4 = 2,
  /**
   * A frame ends before its end mark.
   */
  PP_TRUNCATED_FRAME = 3,
  /**
   * A checksum does not match its data.
   */
  PP_CHECKSUM_MISMATCH = 4,
  /**
   * A header breaks the frame format.
   */
  PP_INVALID_FRAME = 5,
  /**
   * The content has another size than the one stated.
   */
  PP_CONTENT_SIZE_MISMATCH = 6,
  /**
   * The data was compressed with a dictionary, and none was given.
   */
  PP_DICTIONARY_NEEDED = 7,
  /**
   * The data was compressed with another dictionary than the given one.
   */
  PP_WRONG_DICTIONARY = 8,
  /**
   * The output does not fit in the capacity or the limit given.
   */
  PP_OUTPUT_LIMIT = 9,
  /**
   * An argument is null, out of range or contradicts another one.
   */
  PP_INVALID_ARGUMENT = 10,
  /**
   * The requested engine is not available on this machine or in this build.
   */
  PP_BACKEND_UNAVAILABLE = 11,
  /**
   * The GPU was lost and could not be reopened.
   */
  PP_DEVICE_LOST = 12,
  /**
   * There is not enough memory, on the GPU or on the host.
   */
  PP_OUT_OF_MEMORY = 13,
  /**
   * The GPU's driver rejected a call.
   */
  PP_ENGINE = 14,
  /**
   * A defect of the library. The call had no effect but on its output memory.
   */
  PP_INTERNAL = 15,
} pp_status;

/**
 * Status of a block in device memory.
 */
typedef enum pp_block_status {
  /**
   * The block is right.
   */
  PP_BLOCK_OK = 0,
  /**
   * The block ends inside a sequence.
   */
  PP_BLOCK_TRUNCATED = 1,
  /**
   * The content does not fit in its capacity or in the maximum size of the batch.
   */
  PP_BLOCK_TOO_LONG = 2,
  /**
   * A match has offset 0.
   */
  PP_BLOCK_ZERO_OFFSET = 3,
  /**
   * A match begins before the content.
   */
  PP_BLOCK_OFFSET_TOO_FAR = 4,
  /**
   * The size of the block is 0, or more than the content of any block has.
   */
  PP_BLOCK_BAD_SIZE = 6,
} pp_block_status;

/**
 * Engines, for parameters of type `uint32_t`.
 */
typedef enum pp_engine {
  /**
   * A hardware GPU where it is measured to be faster, else the CPU.
   */
  PP_ENGINE_AUTO = 0,
  /**
   * The CPU.
   */
  PP_ENGINE_CPU = 1,
  /**
   * A GPU through Vulkan, Metal or DX12, or an error.
   */
  PP_ENGINE_WGPU = 2,
  /**
   * An NVIDIA GPU through CUDA, or an error.
   */
  PP_ENGINE_CUDA = 3,
} pp_engine;

/**
 * Levels of compression, for parameters of type `uint32_t`.
 */
typedef enum pp_level {
  /**
   * The quickest level of the engine in use: sequential on the CPU, fast on a GPU.
   */
  PP_LEVEL_AUTO = 0,
  /**
   * A greedy data-parallel parse; the same bytes on every engine.
   */
  PP_LEVEL_FAST = 1,
  /**
   * The ratio of `lz4 -9`; the same bytes on every engine.
   */
  PP_LEVEL_HIGH = 2,
  /**
   * The classic parse of LZ4, on the CPU only.
   */
  PP_LEVEL_SEQUENTIAL = 3,
} pp_level;

/**
 * Kinds of blocks, for `pp_page_entry`.
 */
typedef enum pp_page_kind {
  /**
   * One LZ4 block.
   */
  PP_PAGE_LZ4 = 0,
  /**
   * The page itself, because LZ4 does not make it smaller.
   */
  PP_PAGE_STORED = 1,
  /**
   * Eight bytes that are repeated over the page.
   */
  PP_PAGE_FILL = 2,
} pp_page_kind;

/**
 * Kernels for batches of blocks in device memory. Calls from several threads and on several streams run at once.
 */
typedef struct pp_batch pp_batch;

/**
 * A result that the library allocated. Immutable.
 */
typedef struct pp_buffer pp_buffer;

/**
 * A frame that is being written. Calls from several threads take turns.
 */
typedef struct pp_compressor pp_compressor;

/**
 * An open engine. Calls from several threads take turns.
 */
typedef struct pp_context pp_context;

/**
 * Frames that are being read. Calls from several threads take turns.
 */
typedef struct pp_decompressor pp_decompressor;

/**
 * Bytes that stand before each block. Immutable: several threads may use one at the same time.
 */
typedef struct pp_dictionary pp_dictionary;

/**
 * Options of a context. `pp_context_options_init` sets the defaults.
 */
typedef struct pp_context_options {
  /**
   * A value of `pp_engine`. The default is `PP_ENGINE_AUTO`.
   */
  uint32_t engine;
  /**
   * Index of the adapter among those of the engine; `UINT32_MAX`, which is the default, for the best one.
   */
  uint32_t adapter;
  /**
   * Not 0: `PP_ENGINE_WGPU` may use a software adapter. The default is 0.
   */
  uint32_t allow_software;
  /**
   * Must be 0.
   */
  uint32_t reserved[5];
} pp_context_options;

/**
 * Options of a frame. `pp_frame_options_init` sets the defaults.
 */
typedef struct pp_frame_options {
  /**
   * A value of `pp_level`. The default is `PP_LEVEL_AUTO`.
   */
  uint32_t level;
  /**
   * Bytes of content in a block, 4096 to 4 MiB. The default is 65536. GPUs compress blocks of at most 65536.
   */
  uint32_t block_size;
  /**
   * Not 0: a checksum of the content ends the frame. The default is 1.
   */
  uint32_t content_checksum;
  /**
   * Not 0: each block has a checksum. The default is 0.
   */
  uint32_t block_checksums;
  /**
   * Not 0: an index for random access follows, in a skippable frame. The default is 0.
   */
  uint32_t index;
  /**
   * Not 0: the header states the size of the content. The default is 1. Ignored by `pp_compressor_open`.
   */
  uint32_t content_size;
  /**
   * Stands before each block; null for none, which is the default.
   */
  const struct pp_dictionary *dictionary;
  /**
   * Must be 0.
   */
  uint64_t reserved[4];
} pp_frame_options;

/**
 * Place and kind of the block of a page.
 */
typedef struct pp_page_entry {
  /**
   * Start of the block in bytes, a multiple of 4.
   */
  uint64_t offset;
  /**
   * Length of the block in bytes.
   */
  uint32_t length;
  /**
   * A value of `pp_page_kind`.
   */
  uint32_t kind;
} pp_page_entry;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * Compresses `n` blocks from any addresses to any addresses, on all cores. `written[i]` and `statuses[i]` are the size of block `i` and its
 * `pp_status`; one that fails does not affect others. Returns the first status that is not `PP_OK`.
 *
 * # Safety
 * All arrays have `n` elements; `sources[i]` has `source_sizes[i]` bytes and `targets[i]` has `capacities[i]`; no target overlaps
 * anything else.
 */
enum pp_status pp_compress_blocks(const void *const *sources,
                                  const uintptr_t *source_sizes,
                                  uintptr_t n,
                                  uint32_t level,
                                  void *const *targets,
                                  const uintptr_t *capacities,
                                  uintptr_t *written,
                                  int32_t *statuses);

/**
 * Decompresses `n` blocks, whose contents have exactly `content_sizes[i]` bytes, on all cores. Else as `pp_compress_blocks`; `written[i]` is
 * `content_sizes[i]`, or 0 after an error.
 *
 * # Safety
 * As `pp_compress_blocks`, with `content_sizes` in place of `capacities`.
 */
enum pp_status pp_decompress_blocks(const void *const *sources,
                                    const uintptr_t *source_sizes,
                                    uintptr_t n,
                                    void *const *targets,
                                    const uintptr_t *content_sizes,
                                    uintptr_t *written,
                                    int32_t *statuses);

/**
 * Returns the most bytes of a block of `content_size` bytes; 0 if that exceeds `SIZE_MAX`.
 */
uintptr_t pp_compress_block_bound(uintptr_t content_size);

/**
 * Compresses `source` to one block, as `LZ4_compress_default` does. Levels fast and high take at most 4 MiB, sequential 2,113,929,216
 * bytes. `dictionary` may be null. `*written` is the size of the block; 0 after an error.
 *
 * # Safety
 * `source` has `source_size` bytes, `target` has `capacity` bytes and overlaps nothing else; `dictionary` is null or was not
 * freed; `written` points to a size.
 */
enum pp_status pp_compress_block(const void *source,
                                 uintptr_t source_size,
                                 uint32_t level,
                                 const struct pp_dictionary *dictionary,
                                 void *target,
                                 uintptr_t capacity,
                                 uintptr_t *written);

/**
 * Decompresses a block whose content has exactly `content_size` bytes. `target` is all zeros after `PP_CORRUPT_PAGE`. Without knowledge of the
 * size, `pp_block_content_size` finds it.
 *
 * # Safety
 * `source` has `source_size` bytes, `target` has `content_size` bytes and overlaps nothing else; `dictionary` is null or was not
 * freed.
 */
enum pp_status pp_decompress_block(const void *source,
                                   uintptr_t source_size,
                                   const struct pp_dictionary *dictionary,
                                   void *target,
                                   uintptr_t content_size);

/**
 * Sets `*content_size` to the size of the content of a block that needs no dictionary, from its sequences, without decoding it. A block
 * can hold 255 times its size, so compare it with a limit before allocating.
 *
 * # Safety
 * `source` has `source_size` bytes; `content_size` points to a number.
 */
enum pp_status pp_block_content_size(const void *source,
                                     uintptr_t source_size,
                                     uint64_t *content_size);

/**
 * Returns the first byte; null for null. It is valid until the buffer is freed.
 *
 * # Safety
 * `buffer` is null or a buffer that was not freed.
 */
const void *pp_buffer_data(const struct pp_buffer *buffer);

/**
 * Returns the number of bytes; 0 for null.
 *
 * # Safety
 * `buffer` is null or a buffer that was not freed.
 */
uintptr_t pp_buffer_size(const struct pp_buffer *buffer);

/**
 * Frees a buffer. Null is ignored.
 *
 * # Safety
 * `buffer` is null or a buffer that was not freed.
 */
void pp_buffer_free(struct pp_buffer *buffer);

/**
 * Opens an engine. `options` may be null for the defaults. `*context` is null after an error.
 *
 * # Safety
 * `options` is null or points to options; `context` points to a pointer. Close the context with `pp_context_close`.
 */
enum pp_status pp_context_open(const struct pp_context_options *options, struct pp_context **context);

/**
 * Closes a context. Null is ignored.
 *
 * # Safety
 * `context` is null or a context that was not closed, and that no other thread uses.
 */
void pp_context_close(struct pp_context *context);

/**
 * Returns the engine that was chosen: "cpu", "wgpu" or "cuda"; null for null. Valid until the context is closed. With
 * `PP_ENGINE_AUTO` a call still runs on the CPU where that is measured to be faster.
 *
 * # Safety
 * `context` is null or a context that was not closed.
 */
const char *pp_context_engine(const struct pp_context *context);

/**
 * Returns the reason for the choice of the engine; null for null. Valid until the context is closed.
 *
 * # Safety
 * `context` is null or a context that was not closed.
 */
const char *pp_context_reason(const struct pp_context *context);

/**
 * Compiles the kernels for chunks of at most `max_chunk_size` bytes, 1 to 65536, on CUDA's GPU `device`, counted from 0. `*batch` is null
 * after an error.
 *
 * # Safety
 * `batch` points to a pointer. Close the batch with `pp_batch_close`.
 */
enum pp_status pp_batch_open(uint32_t device,
                             uintptr_t max_chunk_size,
                             struct pp_batch **batch);

/**
 * Closes a batch, after all work on the device. Null is ignored.
 *
 * # Safety
 * `batch` is null or a batch that was not closed, and that no other thread uses. No CUDA graph with its calls is launched afterwards.
 */
void pp_batch_close(struct pp_batch *batch);

/**
 * Returns the most bytes of a block of a chunk of at most 65536 bytes, for which `pp_batch_compress_async` needs room; 0 if a chunk
 * is larger.
 */
uintptr_t pp_batch_block_bound(uintptr_t max_chunk_size);

/**
 * Returns the scratch memory with which `n` chunks are compressed in as few launches as possible, at most 2.4 gigabytes.
 * Less takes more launches; that for one chunk is the least.
 *
 * # Safety
 * `batch` is a batch that was not closed; `size` points to a size.
 */
enum pp_status pp_batch_compress_scratch_size(const struct pp_batch *batch,
                                              uintptr_t n,
                                              uintptr_t *size);

/**
 * Returns the scratch memory with which `n` blocks are decompressed in as few launches as possible, at most 2.4 gigabytes.
 * Less takes more launches; that for one chunk is the least.
 *
 * # Safety
 * As `pp_batch_compress_scratch_size`.
 */
enum pp_status pp_batch_decompress_scratch_size(const struct pp_batch *batch,
                                                uintptr_t n,
                                                uintptr_t *size);

/**
 * Enqueues the compression of `n` chunks on a stream, and returns: nothing waits, and nothing is allocated. Each becomes one LZ4 block, which
 * `LZ4_decompress_safe` reads. All arrays, `scratch`, chunks and blocks are in device memory; chunks and blocks have any alignment,
 * the arrays that of their elements. `block_sizes[i]` becomes the size of block `i`, 0 for a chunk of more than the maximum of the batch.
 * `stream` is a `CUstream` or `cudaStream_t`, null for the default stream, in the primary context of the device.
 *
 * # Safety
 * `batch` is a batch that was not closed. When the stream gets to this work, and until it is done: arrays have `n` elements; `chunks[i]` has
 * `chunk_sizes[i]` bytes, `blocks[i]` has `pp_batch_block_bound` of the maximum, and `scratch` has `scratch_size`; what is
 * written overlaps nothing, and nothing else uses it. `stream` was not destroyed.
 */
enum pp_status pp_batch_compress_async(const struct pp_batch *batch,
                                       const void *const *chunks,
                                       const uintptr_t *chunk_sizes,
                                       uintptr_t n,
                                       void *scratch,
                                       uintptr_t scratch_size,
                                       void *const *blocks,
                                       uintptr_t *block_sizes,
                                       void *stream);

/**
 * Enqueues the decompression of `n` blocks on a stream, and returns, as `pp_batch_compress_async`. `chunk_sizes[i]` becomes the size of chunk
 * `i`, at most `capacities[i]`, and `statuses[i]` a `pp_block_status`. A block that is not right writes nothing to its chunk, has size
 * 0, and does not affect others. `chunk_sizes` and `statuses` may be null.
 *
 * # Safety
 * As `pp_batch_compress_async`, where `blocks[i]` has `block_sizes[i]` bytes and `chunks[i]` has `capacities[i]`.
 */
enum pp_status pp_batch_decompress_async(const struct pp_batch *batch,
                                         const void *const *blocks,
                                         const uintptr_t *block_sizes,
                                         const uintptr_t *capacities,
                                         uintptr_t *chunk_sizes,
                                         uintptr_t n,
                                         void *scratch,
                                         uintptr_t scratch_size,
                                         void *const *chunks,
                                         uint32_t *statuses,
                                         void *stream);

/**
 * Makes a dictionary of the last 65,536 of these bytes, or of all if there are fewer. Its id is their xxHash32.
 * `*dictionary` is null after an error.
 *
 * # Safety
 * `bytes` has `size` bytes; `dictionary` points to a pointer. Free the dictionary with `pp_dictionary_free`.
 */
enum pp_status pp_dictionary_new(const void *bytes, uintptr_t size, struct pp_dictionary **dictionary);

/**
 * Trains a dictionary of at most `dictionary_size` bytes on `n_samples` samples, which follow each other in `samples`. A sample is what
 * becomes one block. `*dictionary` is null after an error.
 *
 * # Safety
 * `sizes` has `n_samples` elements and `samples` as many bytes as their sum; `dictionary` points to a pointer. Free the
 * dictionary with `pp_dictionary_free`.
 */
enum pp_status pp_dictionary_train(const void *samples,
                                   const uintptr_t *sizes,
                                   uintptr_t n_samples,
                                   uintptr_t dictionary_size,
                                   struct pp_dictionary **dictionary);

/**
 * Returns the id that frames state; 0 for null.
 *
 * # Safety
 * `dictionary` is null or a dictionary that was not freed.
 */
uint32_t pp_dictionary_id(const struct pp_dictionary *dictionary);

/**
 * Frees a dictionary. Null is ignored. Contexts and streams that were opened with it keep working.
 *
 * # Safety
 * `dictionary` is null or a dictionary that was not freed.
 */
void pp_dictionary_free(struct pp_dictionary *dictionary);

/**
 * Returns the most bytes of a frame of `content_size` bytes with any options; 0 if that exceeds `SIZE_MAX`.
 */
uintptr_t pp_compress_frame_bound(uintptr_t content_size);

/**
 * Compresses `source` to one frame. `context` may be null for the CPU, `options` for the defaults.
 * `*written` is the size of the frame; 0 after an error.
 *
 * # Safety
 * `context` is null or was not closed; `source` has `source_size` bytes, `target` has `capacity` bytes and overlaps nothing else;
 * `options` is null or points to options; `written` points to a size.
 */
enum pp_status pp_compress_frame(const struct pp_context *context,
                                 const void *source,
                                 uintptr_t source_size,
                                 const struct pp_frame_options *options,
                                 void *target,
                                 uintptr_t capacity,
                                 uintptr_t *written);

/**
 * Decompresses all frames in `source` to `target`. The content must have at most `capacity` bytes; a larger one is `PP_OUTPUT_LIMIT`.
 * `context` may be null for the CPU, `dictionary` for none; with one, the CPU decompresses. `*written` is the size of the content; 0 after an error, when
 * `target` has arbitrary bytes.
 *
 * # Safety
 * As `pp_compress_frame`; `dictionary` is null or was not freed.
 */
enum pp_status pp_decompress_frame(const struct pp_context *context,
                                   const void *source,
                                   uintptr_t source_size,
                                   const struct pp_dictionary *dictionary,
                                   void *target,
                                   uintptr_t capacity,
                                   uintptr_t *written);

/**
 * As `pp_decompress_frame`, for content of unknown size, to memory of the library. Content above `limit` bytes is `PP_OUTPUT_LIMIT`, and no
 * more is allocated; `UINT64_MAX` is no limit. `*buffer` is null after an error.
 *
 * # Safety
 * As `pp_decompress_frame`; `buffer` points to a pointer. Free the buffer with `pp_buffer_free`.
 */
enum pp_status pp_decompress_frame_to_buffer(const struct pp_context *context,
                                             const void *source,
                                             uintptr_t source_size,
                                             const struct pp_dictionary *dictionary,
                                             uint64_t limit,
                                             struct pp_buffer **buffer);

/**
 * Sets `*content_size` to the size that the header of the first frame states, or to `PP_CONTENT_SIZE_UNKNOWN`. The start of the
 * frame is enough: `source` may be cut off behind the header. A frame can state a false size, so compare it with a limit before
 * allocating. `dictionary` is that of the frame; null for none.
 *
 * # Safety
 * `source` has `source_size` bytes; `dictionary` is null or was not freed; `content_size` points to a number.
 */
enum pp_status pp_frame_content_size(const void *source,
                                     uintptr_t source_size,
                                     const struct pp_dictionary *dictionary,
                                     uint64_t *content_size);

/**
 * Sets all options of a frame to their defaults.
 *
 * # Safety
 * `options` points to a `pp_frame_options`.
 */
enum pp_status pp_frame_options_init(struct pp_frame_options *options);

/**
 * Sets all options of a context to their defaults.
 *
 * # Safety
 * `options` points to a `pp_context_options`.
 */
enum pp_status pp_context_options_init(struct pp_context_options *options);

/**
 * Returns the number of pages of `size` bytes: that of the table's entries; 0 if `page_size` is 0.
 */
uintptr_t pp_page_count(uintptr_t size, uint32_t page_size);

/**
 * Returns the most bytes of the blocks of `size` bytes of pages; 0 if that exceeds `SIZE_MAX`.
 */
uintptr_t pp_compress_pages_bound(uintptr_t size);

/**
 * Compresses pages of `page_size` bytes: 4096, 8192, 16384, 32768 or 65536. The last page may be shorter. `context` may be null for the
 * CPU. `entries[i]` is the place of page `i` in `target`, `*written` the bytes of all blocks; 0 after an error.
 *
 * # Safety
 * `context` is null or was not closed; `source` has `source_size` bytes, `target` has `capacity` bytes, `entries` has `n_entries`
 * elements, and both overlap nothing else; `written` points to a size.
 */
enum pp_status pp_compress_pages(const struct pp_context *context,
                                 const void *source,
                                 uintptr_t source_size,
                                 uint32_t page_size,
                                 uint32_t level,
                                 void *target,
                                 uintptr_t capacity,
                                 uintptr_t *written,
                                 struct pp_page_entry *entries,
                                 uintptr_t n_entries);

/**
 * Decompresses pages to `target`, which has exactly their bytes. If `page_errors` is not null, `page_errors[i]` is 0 if page `i` is valid and
 * else the reason, a number above 0; then corrupt pages, which become zeros, are no error of the call. If it is null, the
 * first corrupt page is `PP_CORRUPT_PAGE`.
 *
 * # Safety
 * `context` is null or was not closed; `source` has `source_size` bytes, `entries` has `n_entries` elements; `target` has
 * `target_size` bytes, `page_errors` is null or has `n_entries` elements, and both overlap nothing else.
 */
enum pp_status pp_decompress_pages(const struct pp_context *context,
                                   const void *source,
                                   uintptr_t source_size,
                                   const struct pp_page_entry *entries,
                                   uintptr_t n_entries,
                                   uint32_t page_size,
                                   void *target,
                                   uintptr_t target_size,
                                   uint32_t *page_errors);

/**
 * Returns the text of a status: a constant string in English. Any number is accepted.
 */
const char *pp_status_text(int32_t status);

/**
 * Returns the message of the last call that failed on this thread, which names values and the remedy; an empty string if none
 * failed. The string is valid until the next call on this thread that fails.
 */
const char *pp_last_error(void);

/**
 * Returns the version of the library: 65536 * major + 256 * minor + patch. `PP_VERSION` is that of the header.
 */
uint32_t pp_version(void);

/**
 * Starts a frame on the engine of `context`, of which the stream opens its own; null is the CPU. `options` may be null for the
 * defaults; the header states no size. `*compressor` is null after an error.
 *
 * # Safety
 * `context` is null or was not closed; `options` is null or points to options; `compressor` points to a pointer. Free the stream
 * with `pp_compressor_free`.
 */
enum pp_status pp_compressor_open(const struct pp_context *context,
                                  const struct pp_frame_options *options,
                                  struct pp_compressor **compressor);

/**
 * Adds content. `*buffer` has the compressed bytes of complete parts, 16 MiB of content on the CPU and 128 MiB on a GPU; it may be
 * empty, and is null after an error.
 *
 * # Safety
 * `compressor` was not freed; `source` has `source_size` bytes; `buffer` points to a pointer. Free the buffer with `pp_buffer_free`.
 */
enum pp_status pp_compressor_write(const struct pp_compressor *compressor,
                                   const void *source,
                                   uintptr_t source_size,
                                   struct pp_buffer **buffer);

/**
 * Compresses all content so far, so that it can be decompressed. Frequent calls lower the ratio. `*buffer` is as for
 * `pp_compressor_write`.
 *
 * # Safety
 * As `pp_compressor_write`.
 */
enum pp_status pp_compressor_flush(const struct pp_compressor *compressor, struct pp_buffer **buffer);

/**
 * Ends the frame. `*buffer` has its last bytes. Only `pp_compressor_free` may follow.
 *
 * # Safety
 * As `pp_compressor_write`.
 */
enum pp_status pp_compressor_finish(const struct pp_compressor *compressor, struct pp_buffer **buffer);

/**
 * Frees a stream. Null is ignored. The frame is truncated unless `pp_compressor_finish` was called.
 *
 * # Safety
 * `compressor` is null or was not freed, and no other thread uses it.
 */
void pp_compressor_free(struct pp_compressor *compressor);

/**
 * Starts to read frames on the engine of `context`, of which the stream opens its own; null is the CPU. `dictionary` may be null.
 * Content above `limit` bytes is `PP_OUTPUT_LIMIT`; `UINT64_MAX` is no limit. `*decompressor` is null after an error.
 *
 * # Safety
 * `context` is null or was not closed; `dictionary` is null or was not freed; `decompressor` points to a pointer. Free the stream
 * with `pp_decompressor_free`.
 */
enum pp_status pp_decompressor_open(const struct pp_context *context,
                                    const struct pp_dictionary *dictionary,
                                    uint64_t limit,
                                    struct pp_decompressor **decompressor);

/**
 * Adds compressed bytes. `*buffer` has the content that they complete: all of it, so pass pieces of a few MiB. It may be empty, and is null
 * after an error.
 *
 * # Safety
 * `decompressor` was not freed; `source` has `source_size` bytes; `buffer` points to a pointer. Free the buffer with
 * `pp_buffer_free`.
 */
enum pp_status pp_decompressor_write(const struct pp_decompressor *decompressor,
                                     const void *source,
                                     uintptr_t source_size,
                                     struct pp_buffer **buffer);

/**
 * Ends the input: `PP_TRUNCATED_FRAME` inside a frame. Only `pp_decompressor_free` may follow.
 *
 * # Safety
 * `decompressor` was not freed.
 */
enum pp_status pp_decompressor_finish(const struct pp_decompressor *decompressor);

/**
 * Frees a stream. Null is ignored.
 *
 * # Safety
 * `decompressor` is null or was not freed, and no other thread uses it.
 */
void pp_decompressor_free(struct pp_decompressor *decompressor);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* PAGEPRESS_H */

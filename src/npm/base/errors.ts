const CODES = [
  "CORRUPT_PAGE",
  "NOT_LZ4",
  "TRUNCATED_FRAME",
  "CHECKSUM_MISMATCH",
  "INVALID_FRAME",
  "CONTENT_SIZE_MISMATCH",
  "DICTIONARY_NEEDED",
  "WRONG_DICTIONARY",
  "OUTPUT_LIMIT",
  "INVALID_ARGUMENT",
  "SHAPE_MISMATCH",
  "LENGTH_MISMATCH",
  "BACKEND_UNAVAILABLE",
  "DEVICE_LOST",
  "OUT_OF_MEMORY",
  "KERNEL_COMPILE",
  "ENGINE",
  "INTERNAL",
  "INVALID_SNAPSHOT",
  "WRONG_BASE",
  "STORAGE_FULL",
  "NOT_FOUND",
  "CANCELLED",
  "DISPOSED",
  "NOT_READY",
  "READ",
  "MODULE_LOAD",
] as const;

/** Codes of errors: those of the Rust library; `DISPOSED` for the use of a disposed object, `NOT_READY` for a synchronous
 * call before a module is loaded, `MODULE_LOAD` for WebAssembly that cannot be loaded, `READ` for a blob or server that
 * does not return the requested bytes, and `INTERNAL` for a bug in the package. */
export type PagepressErrorCode = (typeof CODES)[number];

/** Class of all errors that this package throws or rejects with. */
export class PagepressError extends Error {
  override readonly name = "PagepressError";
  /** Stable identifier of the error. */
  readonly code: PagepressErrorCode;
  /** Line and column in the source of a kernel in CUDA C, from 1, with the code `KERNEL_COMPILE`. */
  declare readonly line?: number;
  declare readonly column?: number;

  constructor(code: PagepressErrorCode, message: string, options?: ErrorOptions) {
    // Node prints a cause that is undefined, too.
    super(message, options?.cause === undefined ? undefined : options);
    this.code = code;
  }
}

/** Converts `error` to a `PagepressError`. Errors of the modules carry their code, failed allocations are `OUT_OF_MEMORY`,
 * and all others are bugs of this package, `INTERNAL`. */
export function toPagepressError(error: unknown): PagepressError {
  if (error instanceof PagepressError) return error;
  const message = error instanceof Error ? error.message : String(error);
  const { code } = (error ?? {}) as { code?: PagepressErrorCode };
  // Errors of Node have other codes.
  if (code !== undefined && CODES.includes(code)) return new PagepressError(code, message);
  // JavaScript engines throw such a message if an array or a memory cannot be allocated.
  const isMemory = error instanceof RangeError && /alloc|memory|array (buffer )?length/i.test(message);
  if (isMemory) return new PagepressError("OUT_OF_MEMORY", `out of memory: ${message}`, { cause: error });
  return new PagepressError("INTERNAL", `the engine stopped: ${message}`, { cause: error });
}

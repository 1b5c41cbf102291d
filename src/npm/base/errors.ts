const CODES = [
  "CORRUPT_PAGE",
  "NOT_LZ4",
  "TRUNCATED_FRAME",
  "CHECKSUM_MISMATCH",
  "INVALID_FRAME",
  "CONTENT_SIZE_MISMATCH",
  "DICTIONARY_NEEDED",
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
  "CANCELLED",
  "DISPOSED",
  "NOT_READY",
  "READ",
  "MODULE_LOAD",
] as const;

/** What went wrong: the codes of the Rust library; `DISPOSED` for what was given up, `NOT_READY` for a synchronous call before
 * a module is loaded, `MODULE_LOAD` for WebAssembly that cannot be had, `READ` for a blob or server that does not give what
 * it is asked for, and `INTERNAL` for a fault of the package. */
export type PagepressErrorCode = (typeof CODES)[number];

/** Every error that this package throws or rejects with. */
export class PagepressError extends Error {
  override readonly name = "PagepressError";
  /** The stable name of the error. */
  readonly code: PagepressErrorCode;

  constructor(code: PagepressErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** `error` as a `PagepressError`: errors of the modules carry their code, others are faults of ours. */
export function toPagepressError(error: unknown): PagepressError {
  if (error instanceof PagepressError) return error;
  const message = error instanceof Error ? error.message : String(error);
  const { code } = (error ?? {}) as { code?: PagepressErrorCode };
  // Errors of Node have codes of their own.
  if (code !== undefined && CODES.includes(code)) return new PagepressError(code, message);
  // Messages of JavaScript for an array or a memory that cannot be allocated.
  const isMemory = error instanceof RangeError && /alloc|memory|array (buffer )?length/i.test(message);
  if (isMemory) return new PagepressError("OUT_OF_MEMORY", `out of memory: ${message}`, { cause: error });
  return new PagepressError("INTERNAL", `the engine stopped: ${message}`, { cause: error });
}

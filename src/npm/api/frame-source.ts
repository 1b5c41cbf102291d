import { bytesOf, fail as invalid } from "../base/arguments.js";
import { PagepressError } from "../base/errors.js";
import { unshared } from "../base/views.js";

/** Bytes per read of a blob whose reads are sequential. */
const READ_AHEAD_BYTES = 2 ** 20;
/** Maximum gap in bytes between two reads that count as sequential. */
const MAX_GAP_BYTES = 2 ** 18;

/** A file in memory, in a `Blob` or `File`, or at a URL. */
export type FrameSource = Uint8Array | ArrayBuffer | Blob | URL | string;

/** A file that is read in parts. */
export interface Source {
  readonly byteLength: number;
  /** True if each read is a request to a server. */
  readonly isRemote: boolean;
  read(start: number, end: number, signal?: AbortSignal): Promise<Uint8Array>;
}

/** Opens `source`. For a URL, requests the length of the file. */
export async function openSource(source: FrameSource, init: RequestInit, signal?: AbortSignal): Promise<Source> {
  if (typeof source === "string" || source instanceof URL) return openUrl(requestOf(source, init), signal);
  if (typeof Blob === "function" && source instanceof Blob) return openBlob(source);
  return openBytes(unshared(bytesOf("source", source)));
}

function requestOf(url: string | URL, init: RequestInit): Request {
  try {
    return new Request(url, init);
  } catch (error) {
    return invalid("source", String(url), "give a URL", { cause: error });
  }
}

function openBytes(bytes: Uint8Array): Source {
  return { byteLength: bytes.length, isRemote: false, read: async (start, end) => bytes.subarray(start, end) };
}

/** Opens a blob, with read-ahead for sequential reads, such as those of block sizes. */
function openBlob(blob: Blob): Source {
  let ahead = { start: 0, end: 0, bytes: new Uint8Array() };
  const slice = async (start: number, end: number): Promise<Uint8Array<ArrayBuffer>> => {
    try {
      return new Uint8Array(await blob.slice(start, end).arrayBuffer());
    } catch (error) {
      throw new PagepressError("READ", `the blob cannot be read: ${String(error)}`, { cause: error });
    }
  };
  const read = async (start: number, end: number): Promise<Uint8Array> => {
    const isSequential = start >= ahead.end && start - ahead.end < MAX_GAP_BYTES && ahead.end > 0;
    if (start < ahead.start || end > ahead.start + ahead.bytes.length) {
      const bytes = await slice(start, Math.max(end, isSequential ? start + READ_AHEAD_BYTES : 0));
      ahead = { start, end, bytes };
    }
    ahead.end = end;
    return ahead.bytes.subarray(start - ahead.start, end - ahead.start);
  };
  return { byteLength: blob.size, isRemote: false, read };
}

/** Opens a URL for range requests. A server that does not support them sends the whole file, which is kept in memory. */
async function openUrl(request: Request, signal?: AbortSignal): Promise<Source> {
  // Requests the first byte, since the response header `content-range` contains the length of the file. A HEAD request could
  // return the length after compression for transport.
  const first = await get(request, 0, 1, signal);
  if (first.status === 200) return openBytes(await body(first));
  const total = Number(/\/(\d+)$/.exec(first.headers.get("content-range") ?? "")?.[1] ?? NaN);
  const byteLength = Number.isNaN(total) ? await lengthOf(request, signal) : total;
  const tag = first.headers.get("etag");
  await first.body?.cancel();
  const read = async (start: number, end: number, abort?: AbortSignal): Promise<Uint8Array> => {
    const response = await get(request, start, end, abort);
    if (response.status !== 206) fail(request, `asked for bytes, it answers with status ${response.status}`);
    if (response.headers.get("etag") !== tag) fail(request, "it was changed since it was opened; open it again");
    const bytes = await body(response);
    if (bytes.length !== end - start) fail(request, `asked for ${end - start} bytes, it gives ${bytes.length}`);
    return bytes;
  };
  return { byteLength, isRemote: true, read };
}

async function get(request: Request, start: number, end: number, signal?: AbortSignal): Promise<Response> {
  const headers = new Headers(request.headers);
  headers.set("range", `bytes=${start}-${end - 1}`);
  const response = await send(request, { headers, ...(signal && { signal }) });
  // An empty file has no first byte.
  if (response.status === 416) return new Response(null, { status: 200 });
  if (!response.ok) fail(request, `it answers with status ${response.status}`);
  return response;
}

/** Requests the length of the file by HEAD, for servers of another origin that do not expose the header `content-range`. */
async function lengthOf(request: Request, signal?: AbortSignal): Promise<number> {
  const response = await send(request, { method: "HEAD", ...(signal && { signal }) });
  const length = Number(response.headers.get("content-length") ?? NaN);
  const isPlain = !response.headers.has("content-encoding");
  if (!response.ok || !isPlain || Number.isNaN(length)) fail(request, "it does not tell its length");
  return length;
}

async function send(request: Request, init: RequestInit): Promise<Response> {
  try {
    return await fetch(request.clone(), init);
  } catch (error) {
    init.signal?.throwIfAborted();
    return fail(request, String(error), error);
  }
}

async function body(response: Response): Promise<Uint8Array> {
  return new Uint8Array(await response.arrayBuffer());
}

function fail(request: Request, message: string, cause?: unknown): never {
  throw new PagepressError("READ", `${request.url} cannot be read: ${message}`, { cause });
}

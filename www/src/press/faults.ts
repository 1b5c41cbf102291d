// Provokes faults: corrupted input and lost devices.
import { createCompressor, PAGE_STATUS, PagepressError } from "pagepress";
import type { Compressor } from "pagepress";
import type { Control } from "../rpc/serve";
import type { CancelResult, CorruptResult, EngineChoice, LossResult } from "./calls";
import { compressorFor } from "./compressors";
import { makeSample } from "./samples";

type Bytes = Uint8Array<ArrayBuffer>;

const RANDOM_FLIPS = 100;
const PAGE_SIZE = 4096;
/** Number of bytes that are enough for the call to be running when the device is destroyed. */
const LOSS_BYTES = { hardware: 32 << 20, software: 1 << 20 };

/** Changes one byte of the compressed file, then random bytes one at a time, then a block in a batch of pages. */
export async function corrupt(
  { file, offset, choice }: { file: Blob; offset: number; choice: EngineChoice },
  { signal, progress }: Control<{ done: number; of: number }>,
): Promise<CorruptResult> {
  const content = new Uint8Array(await file.arrayBuffer());
  const compressor = await compressorFor(choice);
  const frame = await compressor.compress(content, { signal });
  const at = Math.min(offset, frame.length - 1);
  const before = frame[at] ?? 0;
  const asked = await flip(compressor, frame, at, 0xff, content);

  const tally: Record<string, number> = {};
  const unnoticed = { same: 0, changed: 0 };
  for (let i = 0; i < RANDOM_FLIPS; i += 1) {
    signal.throwIfAborted();
    const random = new Uint32Array(2);
    crypto.getRandomValues(random);
    const where = (random[0] ?? 0) % frame.length;
    const outcome = await flip(compressor, frame, where, 1 + ((random[1] ?? 0) % 255), content);
    tally[outcome.code] = (tally[outcome.code] ?? 0) + 1;
    if (outcome.code === "none") unnoticed[outcome.isSame ? "same" : "changed"] += 1;
    progress({ done: i + 1, of: RANDOM_FLIPS });
  }
  const pages = await corruptPage(compressor, content, signal);
  return { offset: at, before, after: before ^ 0xff, ...asked, tally, nTried: RANDOM_FLIPS, unnoticed, pages };
}

/** Decompresses `frame` with one byte changed by XOR with `bits`. */
async function flip(
  compressor: Compressor,
  frame: Bytes,
  at: number,
  bits: number,
  content: Bytes,
): Promise<{ code: string; message: string; isSame: boolean }> {
  const broken = frame.slice();
  broken[at] = (broken[at] ?? 0) ^ bits;
  try {
    const back = await compressor.decompress(broken, { maxOutputSize: 2 * content.length + 65536 });
    return { code: "none", message: "no error", isSame: equal(back, content) };
  } catch (error) {
    if (!(error instanceof PagepressError)) throw error;
    return { code: error.code, message: error.message, isSame: false };
  }
}

/** Damages the block of one page in a batch and checks the status and the content of all pages. */
async function corruptPage(compressor: Compressor, content: Bytes, signal: AbortSignal): Promise<CorruptResult["pages"]> {
  const batch = await compressor.compressPages(content, { pageSize: PAGE_SIZE, signal });
  const nPages = batch.table.length / 2;
  const isLz4 = (page: number): boolean => (batch.table[2 * page + 1] ?? 0) >>> 30 === 0;
  let hit = nPages >> 1;
  for (let i = 0; i < nPages && !isLz4(hit); i += 1) hit = (hit + 1) % nPages;
  const at = 4 * (batch.table[2 * hit] ?? 0);
  const packed = batch.packed.slice();
  // Claims more literals than the block contains.
  packed.fill(0xff, at, at + Math.min(8, (batch.table[2 * hit + 1] ?? 0) & (2 ** 30 - 1)));
  const { bytes, status } = await compressor.checkPages({ ...batch, packed }, { signal });
  const wrong: CorruptResult["pages"]["wrong"] = [];
  let othersIntact = true;
  for (let page = 0; page < nPages; page += 1) {
    const number = status[page] ?? 0;
    const [start, end] = [page * PAGE_SIZE, (page + 1) * PAGE_SIZE];
    if (number !== 0) wrong.push({ page, status: PAGE_STATUS[number] ?? String(number) });
    else othersIntact &&= page === hit || equal(bytes.subarray(start, end), content.subarray(start, end));
  }
  return { nPages, hit, wrong, othersIntact };
}

/** Destroys the device during a call, and checks that call and the next. */
export async function loseDevice({ allowSoftware }: { allowSoftware: boolean }, control: Control<never>): Promise<LossResult> {
  const lossMessages: string[] = [];
  const compressor = await createCompressor({
    backend: "webgpu",
    allowSoftware,
    onDeviceLost: ({ reason, message, lost }) => lossMessages.push(`${lost}: ${reason}${message ? `, ${message}` : ""}`),
  });
  try {
    const { signal } = control;
    const bytes = compressor.backend.software ? LOSS_BYTES.software : LOSS_BYTES.hardware;
    const blob = await makeSample({ sample: "memory", bytes }, { signal, progress: () => undefined });
    const content = new Uint8Array(await blob.arrayBuffer());
    const right = await compressor.compress(content, { signal });
    const before = compressor.backend;
    const start = performance.now();
    const during = compressor.compress(content, { signal });
    // The call starts after pending microtasks.
    await new Promise((resolve) => setTimeout(resolve, 1));
    (compressor.device as { destroy?(): void } | null)?.destroy?.();
    const duringEqual = equal(await during, right);
    const afterEqual = equal(await compressor.compress(content, { signal }), right);
    const milliseconds = performance.now() - start;
    const { backend: after, deviceCounters: counters } = compressor;
    return { before, after, counters, lossMessages, duringEqual, afterEqual, milliseconds };
  } finally {
    await compressor.dispose();
  }
}

/** Bytes of a call that is cancelled, and the time after which it is. */
const CANCEL_BYTES = 64 << 20;
const CANCEL_AFTER_MS = 10;

/** Cancels a call on the CPU while it runs, and checks the next one. */
export async function cancelCall(_: null, { signal }: Control<never>): Promise<CancelResult> {
  const compressor = await compressorFor({ backend: "cpu", allowSoftware: false });
  const blob = await makeSample({ sample: "memory", bytes: 1 << 20 }, { signal, progress: () => undefined });
  const content = new Uint8Array(await blob.arrayBuffer());
  const right = await compressor.compress(content, { signal });
  const large = new Uint8Array(CANCEL_BYTES);
  for (let at = 0; at < large.length; at += content.length) large.set(content, at);
  const controller = new AbortController();
  const begin = performance.now();
  const call = compressor.compress(large, { signal: controller.signal, transfer: true }).then(
    () => "none",
    (error: unknown) => (error instanceof Error ? error.name : String(error)),
  );
  await new Promise((resolve) => setTimeout(resolve, CANCEL_AFTER_MS));
  const afterMs = performance.now() - begin;
  controller.abort();
  const error = await call;
  const stoppedMs = performance.now() - begin - afterMs;
  const afterEqual = equal(await compressor.compress(content, { signal }), right);
  return { bytes: CANCEL_BYTES, afterMs, stoppedMs, error, afterEqual };
}

function equal(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}

import { checkSize, checkUnchanged, MAX_BYTES } from "./arguments.js";
import { checkLimit, Content } from "./content.js";
import { Draft } from "./draft.js";
import { PagepressError } from "./errors.js";
import type { Call, Codec, Decompression, Outcome } from "./codec.js";
import type { Job } from "./job.js";
import { loadedPlain } from "./modules.js";
import { NotThisWay } from "./promise-call.js";
import type { Format, FrameOptions, Level } from "./types.js";

type Bytes = Uint8Array<ArrayBuffer>;

/** All options of a frame. */
export function frameOptions(options: FrameOptions, defaultLevel: Level): Required<FrameOptions> {
  const { blockSize = 65536, level = defaultLevel } = options;
  const { contentChecksum = true, blockChecksums = false, index = false } = options;
  checkSize("blockSize", blockSize, 0xffff_ffff);
  return { blockSize, level, contentChecksum, blockChecksums, index };
}

/** Compresses `bytes` to a frame. */
export async function compressFrame(
  codec: Codec,
  bytes: Uint8Array,
  options: Required<FrameOptions>,
  maxOutputSize: number,
  job: Job,
): Promise<Outcome<Bytes>> {
  await codec.prepare?.({ kind: "compress", length: bytes.length, blockSize: options.blockSize, level: options.level });
  try {
    const whole = await runWhole(codec.compressFrame?.(bytes, options), bytes.length, maxOutputSize, job);
    return whole ?? (await compressByParts(codec, bytes, options, maxOutputSize, job));
  } catch (error) {
    if (!codec.giveUp?.(error)) throw error;
    return compressFrame(codec, bytes, options, maxOutputSize, job);
  }
}

/** The outcome of a call for a whole frame; undefined if there is none, or if it is not for this frame. */
async function runWhole(
  call: Call<Bytes> | undefined,
  length: number,
  maxOutputSize: number,
  job: Job,
): Promise<Outcome<Bytes> | undefined> {
  if (!call) return undefined;
  try {
    job.check();
    const outcome = await job.drive(call);
    checkLimit(outcome.value.length, maxOutputSize);
    job.report(length, outcome.value.length, outcome.timing.engine);
    return outcome;
  } catch (error) {
    if (error instanceof NotThisWay) return undefined;
    throw error;
  }
}

async function compressByParts(
  codec: Codec,
  bytes: Uint8Array,
  options: Required<FrameOptions>,
  maxOutputSize: number,
  job: Job,
): Promise<Outcome<Bytes>> {
  const { length } = bytes;
  const draft = new Draft(maxOutputSize, length);
  const session = codec.beginCompression(options, length, false);
  session.into?.(() => draft.room());
  try {
    let timing;
    for (let at = 0; !timing || at < length; await job.rest()) {
      checkUnchanged(bytes, length);
      job.check();
      at += session.add(bytes.subarray(at));
      const outcome = await job.drive(codec.compressPart(session, at === length));
      draft.add(outcome.value);
      timing = outcome.timing;
      job.report(session.bytesIn(), session.bytesOut(), timing.engine);
    }
    return { value: draft.finish(), timing };
  } finally {
    session.free();
    draft.free();
  }
}

/** Decompresses the frames in `bytes`. */
export async function decompressFrames(
  codec: Codec,
  bytes: Uint8Array,
  maxOutputSize: number,
  job: Job,
): Promise<Outcome<Bytes>> {
  await codec.prepare?.({ kind: "decompress", length: bytes.length, start: bytes });
  try {
    const whole = await runWhole(codec.decompressFrames?.(bytes, maxOutputSize), bytes.length, maxOutputSize, job);
    return whole ?? (await decompressByParts(codec, bytes, maxOutputSize, job));
  } catch (error) {
    if (!codec.giveUp?.(error)) throw error;
    return decompressFrames(codec, bytes, maxOutputSize, job);
  }
}

async function decompressByParts(
  codec: Codec,
  bytes: Uint8Array,
  maxOutputSize: number,
  job: Job,
): Promise<Outcome<Bytes>> {
  const { length } = bytes;
  const content = new Content(maxOutputSize, bytes);
  const session = codec.beginDecompression(maxOutputSize, false);
  session.into((part) => content.add(part));
  try {
    let timing;
    for (let at = 0; !timing || at < length; ) {
      checkUnchanged(bytes, length);
      at += session.add(bytes.subarray(at));
      for (let isMore = true; isMore; await job.rest()) {
        job.check();
        const outcome = await job.drive(codec.decompressPart(session));
        timing = outcome.timing;
        isMore = outcome.value !== null;
        // The last byte is done when the end was found sound.
        if (session.bytesIn() < length) job.report(session.bytesIn(), session.bytesOut(), timing.engine);
      }
    }
    session.end();
    job.report(length, session.bytesOut(), timing.engine);
    return { value: content.finish(), timing };
  } catch (error) {
    throw explained(error, session, bytes);
  } finally {
    session.free();
  }
}

/** Decompresses the one block in `bytes`. It cannot be stopped in the middle. */
export async function decompressBlock(
  bytes: Uint8Array,
  format: Format,
  maxOutputSize: number,
  job: Job,
): Promise<Outcome<Bytes>> {
  const start = performance.now();
  const plain = loadedPlain();
  if (!plain) throw new PagepressError("NOT_READY", "no module is loaded");
  const value = plain.decompressSync(bytes, format, maxOutputSize);
  const totalNs = (performance.now() - start) * 1e6;
  const reason = "blocks without a frame are the CPU's";
  job.report(bytes.length, value.length, "cpu");
  return { value, timing: { engine: "cpu", reason, uploadNs: null, kernelNs: null, readbackNs: null, totalNs } };
}

/** The error; if it says that the input is no frame, with what it is instead. */
function explained(error: unknown, session: Decompression, bytes: Uint8Array): unknown {
  const isNoFrame = (error as { code?: unknown }).code === "NOT_LZ4" && session.bytesIn() === 0;
  return (isNoFrame && bytes.length <= MAX_BYTES && loadedPlain()?.notLz4(bytes)) || error;
}

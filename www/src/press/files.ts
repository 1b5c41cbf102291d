// Compresses and decompresses files of any size through the package's streams in bounded memory, and verifies the result.
import { Lz4CompressionStream, Lz4DecompressionStream } from "pagepress";
import type { Compressor, Dictionary, Progress } from "pagepress";
import { FrameError } from "../lz4/error";
import { firstBlock } from "../lz4/frame";
import { OffsetError, sequencesOf } from "../lz4/sequences";
import type { Control } from "../rpc/serve";
import type { Digest, EngineChoice, FileOptions, FileProgress, FileResult } from "./calls";
import { compressorFor } from "./compressors";
import { ContentDigest } from "./digest";
import { Output } from "./storage";

type Bytes = Uint8Array<ArrayBuffer>;

/** Minimum time between two progress messages. */
const PROGRESS_INTERVAL_MS = 50;

/** Returns a function that reports progress of a stage, rate-limited to keep the page responsive. */
function progressReporter(
  stage: FileProgress["stage"],
  totalBytes: number,
  { progress }: Control<FileProgress>,
): (done: Pick<Progress, "bytesIn" | "bytesOut">) => void {
  let last = -Infinity;
  return ({ bytesIn, bytesOut }) => {
    const now = performance.now();
    if (now - last < PROGRESS_INTERVAL_MS && bytesIn < totalBytes) return;
    last = now;
    progress({ stage, bytesIn, bytesOut, totalBytes });
  };
}

/** Returns a stream that updates `digest` with the bytes it forwards. */
function digesting(digest: ContentDigest): TransformStream<Bytes, Bytes> {
  return new TransformStream({
    async transform(bytes, controller) {
      await digest.add(bytes);
      controller.enqueue(bytes);
    },
  });
}

async function write(stream: ReadableStream<Bytes>, signal: AbortSignal): Promise<Output> {
  const output = new Output();
  try {
    await stream.pipeTo(new WritableStream({ write: (bytes) => output.write(bytes) }), { signal });
    return output;
  } catch (error) {
    output.discard();
    throw error;
  }
}

/** Compresses a file, then decompresses the output and returns the digests of both contents. */
export async function compressFile(
  { file, options }: { file: Blob; options: FileOptions },
  control: Control<FileProgress>,
): Promise<FileResult> {
  const compressor = await compressorFor(options);
  const { blockSize, level, index } = options;
  const { signal } = control;
  const digest = new ContentDigest(file.size);
  const start = performance.now();
  const compression = new Lz4CompressionStream({
    compressor,
    blockSize,
    level,
    index,
    contentSize: file.size,
    signal,
    onProgress: progressReporter("compressing", file.size, control),
  });
  const packed = (file.stream() as ReadableStream<Bytes>).pipeThrough(digesting(digest)).pipeThrough(compression);
  const output = await write(packed, signal);
  const milliseconds = performance.now() - start;
  const engine = engineOf(compressor);
  const blob = await output.finish();
  const roundTrip = await digestOfContent(blob, file.size, compressor, control);
  const inputBytes = file.size;
  return { output: blob, inputBytes, outputBytes: blob.size, milliseconds, digest: await digest.finish(), roundTrip, ...engine };
}

/** Decompresses an LZ4 file and returns the digest of its content. */
async function digestOfContent(
  file: Blob,
  contentBytes: number,
  compressor: Compressor,
  control: Control<FileProgress>,
): Promise<Digest> {
  const digest = new ContentDigest(contentBytes);
  const { signal } = control;
  const options = { compressor, inputSize: file.size, signal, onProgress: progressReporter("checking", file.size, control) };
  await (file.stream() as ReadableStream<Bytes>)
    .pipeThrough(new Lz4DecompressionStream(options))
    .pipeTo(new WritableStream({ write: (bytes) => digest.add(bytes) }), { signal });
  return digest.finish();
}

/** Decompresses an LZ4 file, with a dictionary if one is given. */
export async function decompressFile(
  { file, choice, dictionary }: { file: Blob; choice: EngineChoice; dictionary: Blob | null },
  control: Control<FileProgress>,
): Promise<FileResult> {
  const compressor = await compressorFor(choice);
  const { signal } = control;
  const start = performance.now();
  const onProgress = progressReporter("decompressing", file.size, control);
  const options = { compressor, inputSize: file.size, signal, onProgress, dictionary: dictionary ? await dictionaryOf(dictionary) : undefined };
  const content = (file.stream() as ReadableStream<Bytes>).pipeThrough(new Lz4DecompressionStream(options));
  const output = await write(content, signal).catch(async (error: unknown) => {
    if (!signal.aborted && !dictionary && (await reachesBack(file))) throw new FrameError("DICTIONARY_NEEDED", NEEDS_DICTIONARY);
    throw error;
  });
  const milliseconds = performance.now() - start;
  const blob = await output.finish();
  const digest = new ContentDigest(blob.size);
  await (blob.stream() as ReadableStream<Bytes>).pipeTo(
    new WritableStream({ write: (bytes) => digest.add(bytes) }),
    { signal },
  );
  const sizes = { inputBytes: file.size, outputBytes: blob.size };
  return { output: blob, ...sizes, milliseconds, digest: await digest.finish(), roundTrip: null, ...engineOf(compressor) };
}

const NEEDS_DICTIONARY =
  "the first block refers to bytes before its start, as blocks of lz4 -D do. Choose the dictionary with which the file was compressed.";

/** Loads the module of dictionaries on first use. The id 0 fits frames of `lz4 -D`, which state none. */
async function dictionaryOf(bytes: Blob): Promise<Dictionary> {
  const { createDictionary } = await import("pagepress/dictionary");
  return createDictionary(await bytes.arrayBuffer(), { id: 0 });
}

/** Returns true if the first block of a file has a match before its start, so that it was compressed with a dictionary. */
async function reachesBack(file: Blob): Promise<boolean> {
  try {
    const block = await firstBlock(file);
    if (block) sequencesOf(block);
    return false;
  } catch (error) {
    return error instanceof OffsetError;
  }
}

function engineOf({ lastTiming, backend }: Compressor): Pick<FileResult, "engine" | "reason"> {
  return { engine: lastTiming?.engine ?? backend.engine, reason: lastTiming?.reason ?? backend.reason };
}

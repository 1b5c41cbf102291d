// Does all the work, so that the page stays responsive.
import { createCompressor, PagepressError } from "pagepress";
import type { Compressor } from "pagepress";
import type { CallName, Calls, EngineChoice, Failure, Reply, Request } from "./messages";
import { makeSample } from "./samples";

/** gzip takes a second per 25 MB, so it sees at most this much of a file. */
const GZIP_SAMPLE_BYTES = 64 * 1024 * 1024;

/** Enough to load and warm up all that a first call needs. */
const WARM_UP_BYTES = 1024 * 1024;

type Stage = (stage: string) => void;
type Handlers = {
  [Name in CallName]: (argument: Calls[Name]["argument"], stage: Stage) => Promise<Calls[Name]["answer"]>;
};

/** The open compressor, or why there is none. */
let compressor: Compressor | null = null;
let notOpen: unknown = new Error("no engine is open");

function opened(): Compressor {
  if (compressor === null) throw notOpen;
  return compressor;
}

async function warmedUp(choice: EngineChoice): Promise<Compressor> {
  const next = await createCompressor(choice);
  const sample = makeSample("memory", WARM_UP_BYTES);
  await next.decompress(await next.compress(sample));
  return next;
}

async function timed<Value>(work: () => Promise<Value>): Promise<[Value, number]> {
  const begin = performance.now();
  const value = await work();
  return [value, performance.now() - begin];
}

async function bytesOf(file: Blob): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await file.arrayBuffer());
}

function equal(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}

const handlers: Handlers = {
  async open(choice) {
    await compressor?.dispose();
    compressor = null;
    try {
      compressor = await warmedUp(choice);
    } catch (error) {
      notOpen = error;
      throw error;
    }
    return compressor.backend;
  },

  async generate({ sample, size }) {
    return new Blob([makeSample(sample, size)]);
  },

  async compress({ file, choice }, stage) {
    const engine = opened();
    stage("reading");
    const input = await bytesOf(file);
    stage("compressing");
    const [output, compressMs] = await timed(() => engine.compress(input, choice));
    const { backend, lastTiming: timing } = engine;
    stage("checking the round trip");
    const maxOutputSize = Math.max(input.length, 1);
    const [back, decompressMs] = await timed(() => engine.decompress(output, { maxOutputSize }));
    const verified = equal(input, back);
    return { output: new Blob([output]), compressMs, decompressMs, verified, backend, timing };
  },

  async decompress({ file, maxOutputSize }, stage) {
    const engine = opened();
    stage("reading");
    const input = await bytesOf(file);
    stage("decompressing");
    const [output, decompressMs] = await timed(() => engine.decompress(input, { maxOutputSize }));
    const { backend, lastTiming: timing } = engine;
    return { output: new Blob([output]), decompressMs, backend, timing };
  },

  async gzip({ file }, stage) {
    stage("comparing with gzip");
    const input = await bytesOf(file.slice(0, GZIP_SAMPLE_BYTES));
    const through = (bytes: Uint8Array<ArrayBuffer>, by: CompressionStream | DecompressionStream) =>
      timed(async () => bytesOf(await new Response(new Blob([bytes]).stream().pipeThrough(by)).blob()));
    const [output, compressMs] = await through(input, new CompressionStream("gzip"));
    const [back, decompressMs] = await through(output, new DecompressionStream("gzip"));
    return { inputBytes: back.length, outputBytes: output.length, compressMs, decompressMs };
  },
};

function failureOf(error: unknown): Failure {
  if (error instanceof PagepressError) return { code: error.code, message: error.message };
  if (error instanceof DOMException) return { code: error.name, message: error.message };
  return { code: "UNEXPECTED", message: error instanceof Error ? error.message : String(error) };
}

async function handle<Name extends CallName>({ id, name, argument }: Request<Name>): Promise<void> {
  const reply = (message: Reply) => self.postMessage(message);
  try {
    reply({ id, answer: await handlers[name](argument, (stage) => reply({ id, stage })) });
  } catch (error) {
    reply({ id, failure: failureOf(error) });
  }
}

/** Calls run one after the other: they share one compressor. */
let last: Promise<void> = Promise.resolve();
self.addEventListener("message", (event: MessageEvent<Request>) => {
  last = last.then(() => handle(event.data));
});

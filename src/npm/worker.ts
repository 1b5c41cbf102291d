// What a worker of the pool runs. Bundlers that do not follow `new Worker(new URL(..))` build this entry as a file of
// its own, and `createWorker` starts it.
import { CpuCodec } from "./cpu-codec.js";
import { drive } from "./drive.js";
import { toPagepressError } from "./errors.js";
import type { Call, Codec } from "./codec.js";
import { type BlockOptions, start, type Plain } from "./plain.js";
import type { Answer, Order, WorkerCall } from "./pool.js";

interface Port {
  postMessage(message: Answer, transfer: Transferable[]): void;
  addEventListener?(type: "message", listener: (event: { data: Order }) => void): void;
  on?(type: "message", listener: (order: Order) => void): void;
}

let cpu: Plain | undefined;
let last: Promise<unknown> = Promise.resolve();

async function obey(order: Order): Promise<Answer> {
  try {
    if (order.call === "start") {
      cpu = await start(order.module);
      return { id: order.id, value: undefined };
    }
    if (!cpu) throw new Error("the worker was not started");
    return { id: order.id, value: await make(cpu, order.call, order.args) };
  } catch (error) {
    const { code, message } = toPagepressError(error);
    return { id: order.id, error: { code, message } };
  }
}

/** What `call` gives. Frames and their blocks are made at once, pages by the codec. */
async function make(module: Plain, call: WorkerCall, args: unknown[]): Promise<unknown> {
  if (call === "compressLent") {
    const [content, options] = args as [Uint8Array<ArrayBuffer>, BlockOptions];
    return module.compressBlocks(content, options, new Uint8Array(content.buffer));
  }
  if (call === "compressBlocks" || call === "decompressSync") {
    return (module[call] as (...args: unknown[]) => Uint8Array).apply(module, args);
  }
  const codec: Codec = new CpuCodec(module);
  const method = codec[call] as (...args: unknown[]) => Call<unknown>;
  return (await drive(method.apply(codec, args))).value;
}

function listen(port: Port): void {
  const take = (order: Order): void => {
    last = last.then(async () => {
      const answer = await obey(order);
      port.postMessage(answer, buffersOf(answer.value));
    });
  };
  if (port.on) port.on("message", take);
  else port.addEventListener?.("message", ({ data }) => take(data));
}

/** The memory of an answer, which goes over without a copy. */
function buffersOf(value: unknown): ArrayBuffer[] {
  if (typeof value !== "object" || value === null) return [];
  const parts = ArrayBuffer.isView(value) ? [value] : Object.values(value).filter((part) => ArrayBuffer.isView(part));
  return [...new Set(parts.map((part) => (part as Uint8Array<ArrayBuffer>).buffer))];
}

const scope = globalThis as unknown as Port & { postMessage?: unknown };
if (typeof scope.postMessage === "function") {
  listen(scope);
} else {
  // Node. Bundlers for browsers do not see this import.
  const name = "node:worker_threads";
  void import(/* @vite-ignore */ /* webpackIgnore: true */ /* turbopackIgnore: true */ name).then(
    ({ parentPort }: { parentPort: Port | null }) => parentPort && listen(parentPort),
  );
}

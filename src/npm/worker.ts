// The script of the workers of the pool. Bundlers that do not recognise `new Worker(new URL(..))` build this entry as a
// separate file, which `createWorker` starts.
import * as glue from "./wasm/cpu.js";
import * as dictionaryGlue from "./wasm/dictionary.js";
import { CpuModule } from "./modules/cpu-module.js";
import { DictionaryModule, type SentDictionary } from "./modules/dictionary-module.js";
import { toPagepressError } from "./base/errors.js";
import { perform } from "./workers/perform.js";
import type { Answer, Order } from "./workers/pool.js";

interface Port {
  postMessage(message: Answer, transfer: Transferable[]): void;
  addEventListener?(type: "message", listener: (event: { data: Order }) => void): void;
  on?(type: "message", listener: (order: Order) => void): void;
}

let cpu: CpuModule | undefined;
/** The instance of the dictionary module, and the last dictionary that was sent. */
let starting: Promise<CpuModule> | undefined;
let last: DictionaryModule | undefined;

async function answer(order: Order): Promise<Answer> {
  try {
    if (order.call === "start") {
      await glue.default({ module_or_path: order.module });
      cpu = new CpuModule(glue);
      return { id: order.id, value: undefined };
    }
    if (!cpu) throw new Error("the worker was not started");
    const module = order.dictionary ? await withDictionary(order.dictionary) : cpu;
    return { id: order.id, value: perform(module, order.call, order.args) };
  } catch (error) {
    const { code, message } = toPagepressError(error);
    return { id: order.id, error: { code, message } };
  }
}

/** Returns the module that works with this dictionary. Calls with one follow each other, so the last is kept. */
async function withDictionary(sent: SentDictionary): Promise<CpuModule> {
  starting ??= dictionaryGlue.default({ module_or_path: sent.module }).then(() => new CpuModule(dictionaryGlue));
  const shared = await starting;
  if (last?.sent.key !== sent.key) last = new DictionaryModule(shared, sent);
  return last;
}

function listen(port: Port): void {
  const take = async (order: Order): Promise<void> => {
    const reply = await answer(order);
    port.postMessage(reply, buffersOf(reply.value));
  };
  if (port.on) port.on("message", (order) => void take(order));
  else port.addEventListener?.("message", ({ data }) => void take(data));
}

/** Returns the buffers of an answer, which are transferred. */
function buffersOf(value: unknown): ArrayBuffer[] {
  if (typeof value !== "object" || value === null) return [];
  const parts = ArrayBuffer.isView(value) ? [value] : Object.values(value).filter((part) => ArrayBuffer.isView(part));
  return [...new Set(parts.map((part) => (part as Uint8Array<ArrayBuffer>).buffer))];
}

const scope = globalThis as unknown as Port & { postMessage?: unknown };
if (typeof scope.postMessage === "function") {
  listen(scope);
} else {
  // Node. The name is a variable so that bundlers for browsers do not resolve the import.
  const name = "node:worker_threads";
  void import(/* @vite-ignore */ /* webpackIgnore: true */ /* turbopackIgnore: true */ name).then(
    ({ parentPort }: { parentPort: Port | null }) => parentPort && listen(parentPort),
  );
}

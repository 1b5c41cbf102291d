// The engines for tensors, each in its own worker, in rounds of random order.
import { interleaved } from "../measure/measure";
import { spreadOf, type Spread } from "../measure/stats";
import { Client, failureOf } from "../rpc/client";
import { allowsSoftware } from "../shell/press";
import type { TensorCalls, TensorEngine, TensorRound } from "./calls";

/** The engines in the order in which they are shown. */
export const ENGINES: { id: TensorEngine; label: string; colour: string }[] = [
  { id: "webgpu", label: "Pagepress, GPU", colour: "gpu" },
  { id: "cpu", label: "Pagepress, CPU", colour: "cpu" },
  { id: "tfjs", label: "TensorFlow.js", colour: "peer" },
];

const ROUNDS = 3;
/** A round that took this long in milliseconds is not repeated. */
const LONG_MS = 1500;

const clients = new Map<string, Client<TensorCalls>>();

/** Returns the worker of an engine; the first call starts it. A GPU worker is kept per choice of software adapters. */
function clientOf(engine: TensorEngine, allowSoftware: boolean): Client<TensorCalls> {
  const key = `${engine} ${allowSoftware}`;
  const client =
    clients.get(key) ?? new Client<TensorCalls>(() => new Worker(new URL("./worker.ts", import.meta.url), { type: "module", name: engine }));
  clients.set(key, client);
  return client;
}

/** The engines that could be opened, with their names, and why others could not. */
export interface Opened {
  names: Partial<Record<TensorEngine, string>>;
  absent: Partial<Record<TensorEngine, string>>;
}

const opened = new Map<Client<TensorCalls>, string>();

/** Opens the engines. */
export async function openEngines(engines: TensorEngine[], signal: AbortSignal): Promise<Opened> {
  const result: Opened = { names: {}, absent: {} };
  const allowSoftware = allowsSoftware();
  for (const engine of engines) {
    const client = clientOf(engine, allowSoftware);
    try {
      const name = opened.get(client) ?? (await client.call("open", { engine, allowSoftware }, { signal }));
      opened.set(client, name);
      result.names[engine] = name;
    } catch (error) {
      signal.throwIfAborted();
      result.absent[engine] = failureOf(error).message;
    }
  }
  return result;
}

/** The rounds of an engine. */
export interface TensorResult {
  engine: TensorEngine;
  times: Spread;
  error: number;
  checked: number;
}

/** Runs one call on the engines in rounds of random order. */
export async function measureEach(
  engines: TensorEngine[],
  call: (client: Client<TensorCalls>) => Promise<TensorRound>,
  before: (engine: TensorEngine) => void,
): Promise<TensorResult[]> {
  const allowSoftware = allowsSoftware();
  const rounds = new Map<TensorEngine, TensorRound[]>(engines.map((engine) => [engine, []]));
  await interleaved(
    engines,
    ROUNDS,
    async (engine) => {
      before(engine);
      rounds.get(engine)?.push(await call(clientOf(engine, allowSoftware)));
    },
    (engine) => (rounds.get(engine)?.at(-1)?.milliseconds ?? 0) < LONG_MS,
  );
  return engines.map((engine) => {
    const all = rounds.get(engine) ?? [];
    return {
      engine,
      times: spreadOf(all.map(({ milliseconds }) => milliseconds)),
      error: Math.max(...all.map(({ error }) => error)),
      checked: all[0]?.checked ?? 0,
    };
  });
}

import { checkSize } from "../base/arguments.js";
import type { CompressorOptions } from "../base/types.js";
import { compile } from "../modules/load.js";
import { perform } from "./perform.js";
import { Pool, Workers } from "./pool.js";
import { hardwareConcurrency, startWorker } from "./start-worker.js";

/** Options of pools. */
export type PoolOptions = Pick<CompressorOptions, "createWorker" | "workers">;

/** Workers by the function that starts them. */
const shared = new WeakMap<object, Workers>();

/** Options that were set by `configure`. */
let defaults: PoolOptions = {};

/** Sets default options of pools that are opened later. */
export function setDefaults(options: PoolOptions): void {
  defaults = { ...defaults, ...options };
}

/** Returns a pool of `workers`, by default one per core, which start when there is work; undefined for 0. */
export async function openPool({ workers = defaults.workers, createWorker = defaults.createWorker }: PoolOptions): Promise<Pool | undefined> {
  checkSize("workers", workers ?? 0, 1024);
  const size = workers ?? (await hardwareConcurrency());
  return size === 0 ? undefined : new Pool(size, workersOf(createWorker));
}

/** Returns the workers that `createWorker` starts. All compressors, streams and trainings with the same function share them. */
function workersOf(createWorker: PoolOptions["createWorker"]): Workers {
  const key = createWorker ?? startWorker;
  const workers = shared.get(key) ?? new Workers(async () => key(), () => compile("cpu"), perform);
  shared.set(key, workers);
  return workers;
}

import { findObstacles, unavailable } from "../base/adapters.js";
import { checkOneOf, checkSize, fail } from "../base/arguments.js";
import type { BackendInfo, CompressorOptions, Device } from "../base/types.js";
import { LEVELS } from "../modules/enums.js";
import { compile, load } from "../modules/load.js";
import { perform } from "../workers/perform.js";
import { Pool, Workers } from "../workers/pool.js";
import { hardwareConcurrency, startWorker } from "../workers/start-worker.js";
import { AutoCodec } from "./auto.js";
import type { Codec } from "./codec.js";
import { CpuCodec } from "./cpu.js";
import { GpuCodec, type OpenGpu } from "./gpu.js";
import { PooledCodec } from "./pooled.js";

/** A codec, and the reasons for the choice of its engine. */
export interface Opened {
  codec: Codec;
  /** Reasons against WebGPU that were found before a module was loaded. */
  obstacles: BackendInfo["rejected"];
}

/** Workers by the function that starts them. */
const shared = new WeakMap<object, Workers>();

/** Options that were set by `configure`. */
let defaults: Pick<CompressorOptions, "createWorker" | "workers"> = {};

/** Sets default options of engines that are opened later. */
export function setDefaults(options: typeof defaults): void {
  defaults = { ...defaults, ...options };
}

/** Opens the engine that `options` select. Loads the GPU module only if an adapter can be used. */
export async function open(options: CompressorOptions): Promise<Opened> {
  const { backend = "auto", powerPreference = "high-performance", allowSoftware = false } = options;
  checkOneOf("backend", backend, ["auto", "cpu", "webgpu"]);
  checkOneOf("powerPreference", powerPreference, ["high-performance", "low-power"]);
  checkOneOf("level", options.level ?? "auto", LEVELS);
  checkSize("workers", options.workers ?? 0, 1024);
  if (options.device !== undefined) return openDevice(options.device, options);
  if (backend === "cpu") return { codec: await openCpu(options), obstacles: [] };
  const mayBeSoftware = allowSoftware && backend === "webgpu";
  const obstacles = await findObstacles(powerPreference, mayBeSoftware);
  if (obstacles.length > 0) {
    if (backend === "webgpu") throw unavailable(obstacles);
    return { codec: await openCpu(options), obstacles };
  }
  const gpu = await openGpu(options, ({ glue }) => glue.GpuCodec.open(powerPreference === "low-power", mayBeSoftware));
  const codec = backend === "webgpu" ? gpu : new AutoCodec(gpu, () => openCpu(options), options.calibration ?? undefined);
  return { codec, obstacles };
}

/** Opens a codec on a device of the page. */
async function openDevice(device: Device, options: CompressorOptions): Promise<Opened> {
  const { backend = "webgpu" } = options;
  if (backend !== "webgpu") fail("device", `with backend ${backend}`, "leave the backend out, or give \"webgpu\"");
  return { codec: await openGpu(options, ({ glue }) => glue.GpuCodec.fromDevice(device)), obstacles: [] };
}

async function openGpu({ modules }: CompressorOptions, open: OpenGpu): Promise<Codec> {
  const [module, cpu] = await Promise.all([load("gpu", modules?.gpu), load("cpu", modules?.cpu)]);
  return GpuCodec.open(module, cpu, open);
}

/** Opens the CPU codec. Its workers start when there is work for them. */
async function openCpu(options: CompressorOptions): Promise<Codec> {
  const cpu = await load("cpu", options.modules?.cpu);
  const inPlace = new CpuCodec(cpu);
  const pool = await openPool(options);
  return pool ? new PooledCodec(inPlace, pool, cpu) : inPlace;
}

/** Returns a pool of `workers`, by default one per core, which start when there is work; undefined for 0. */
export async function openPool({ workers = defaults.workers, createWorker = defaults.createWorker }: typeof defaults): Promise<Pool | undefined> {
  checkSize("workers", workers ?? 0, 1024);
  const size = workers ?? (await hardwareConcurrency());
  return size === 0 ? undefined : new Pool(size, workersOf(createWorker));
}

/** Returns the workers that `createWorker` starts. All compressors and streams with the same function share them. */
function workersOf(createWorker: CompressorOptions["createWorker"]): Workers {
  const key = createWorker ?? startWorker;
  const workers = shared.get(key) ?? new Workers(async () => key(), () => compile("cpu"), perform);
  shared.set(key, workers);
  return workers;
}

import { checkOneOf, checkSize } from "./arguments.js";
import { AutoCodec } from "./auto.js";
import { CpuCodec } from "./cpu-codec.js";
import type { CpuModule } from "./cpu-module.js";
import { PagepressError } from "./errors.js";
import type { Codec } from "./codec.js";
import { compile, load } from "./modules.js";
import { Pool, Workers } from "./pool.js";
import { perform } from "./perform.js";
import { PooledCodec } from "./pooled.js";
import { LEVELS } from "./frames.js";
import { GpuCodec } from "./gpu-codec.js";
import { findObstacles } from "./probe.js";
import { hardwareConcurrency, startWorker } from "./start-worker.js";
import type { BackendInfo, CompressorOptions } from "./types.js";

/** A codec, and what is known about the choice of its engine. */
export interface Opened {
  codec: Codec;
  /** Reasons against WebGPU that were found before a module was loaded. */
  obstacles: BackendInfo["rejected"];
}

/** Workers by what starts them. */
const shared = new WeakMap<object, Workers>();

/** Opens the engine that `options` asks for. The GPU module is loaded only where an adapter can be used. */
export async function open(options: CompressorOptions): Promise<Opened> {
  const { backend = "auto", powerPreference = "high-performance", allowSoftware = false } = options;
  checkOneOf("backend", backend, ["auto", "cpu", "webgpu"]);
  checkOneOf("powerPreference", powerPreference, ["high-performance", "low-power"]);
  checkOneOf("level", options.level ?? "auto", LEVELS);
  checkSize("workers", options.workers ?? 0, 1024);
  if (backend === "cpu") return { codec: await openCpu(options), obstacles: [] };
  const obstacles = await findObstacles({ backend, powerPreference, allowSoftware });
  if (obstacles.length === 0) {
    const { modules } = options;
    const [module, cpu] = await Promise.all([load("gpu", modules?.gpu), load("cpu", modules?.cpu)]);
    const [lowPower, software] = [powerPreference === "low-power", allowSoftware && backend === "webgpu"];
    const gpu = await GpuCodec.open(module, cpu, ({ glue }) => glue.GpuCodec.open(lowPower, software));
    if (backend === "webgpu") return { codec: gpu, obstacles };
    return { codec: new AutoCodec(gpu, () => openCpu(options), options.calibration ?? undefined), obstacles };
  }
  if (backend === "webgpu") {
    const reasons = obstacles.map(({ candidate, reason }) => `${candidate}: ${reason}`).join("; ");
    throw new PagepressError("BACKEND_UNAVAILABLE", `backend webgpu is not available: ${reasons}`);
  }
  return { codec: await openCpu(options), obstacles };
}

/** The codec of the CPU, with workers where they are wanted. They start when there is work for them. */
async function openCpu({ workers, createWorker, modules }: CompressorOptions): Promise<Codec> {
  const cpu = await load("cpu", modules?.cpu);
  const alone = new CpuCodec(cpu);
  const size = workers ?? (await hardwareConcurrency());
  if (size === 0) return alone;
  return new PooledCodec(alone, new Pool(size, workersOf(createWorker, cpu)), cpu);
}

/** The workers that all compressors and streams share which start them by the same function. */
function workersOf(createWorker: CompressorOptions["createWorker"], cpu: CpuModule): Workers {
  const key = createWorker ?? startWorker;
  const workers = shared.get(key) ?? new Workers(async () => key(), () => compile("cpu"), (...order) => perform(cpu, ...order));
  shared.set(key, workers);
  return workers;
}

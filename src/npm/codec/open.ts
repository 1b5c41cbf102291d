import { findObstacles, unavailable } from "../base/adapters.js";
import { checkOneOf, checkSize, fail } from "../base/arguments.js";
import type { BackendInfo, CompressorOptions, Device } from "../base/types.js";
import { LEVELS } from "../modules/enums.js";
import { load } from "../modules/load.js";
import { openPool } from "../workers/open-pool.js";
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

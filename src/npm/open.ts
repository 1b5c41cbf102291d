import { checkOneOf } from "./arguments.js";
import { PagepressError } from "./errors.js";
import type { Codec } from "./glue.js";
import { load } from "./modules.js";
import { findObstacles } from "./probe.js";
import type { BackendInfo, CompressorOptions } from "./types.js";

/** A codec, and what is known about the choice of its engine. */
export interface Opened {
  codec: Codec;
  /** Reasons against WebGPU that were found before a module was loaded. */
  obstacles: BackendInfo["rejected"];
}

/** Opens the engine that `options` asks for. The GPU module is loaded only where an adapter can be used. */
export async function open(options: CompressorOptions): Promise<Opened> {
  const { backend = "auto", powerPreference = "high-performance", allowSoftware = false } = options;
  checkOneOf("backend", backend, ["auto", "cpu", "webgpu"]);
  checkOneOf("powerPreference", powerPreference, ["high-performance", "low-power"]);
  checkOneOf("level", options.level ?? "fast", ["fast", "high"]);
  if (backend !== "cpu") {
    const obstacles = await findObstacles({ backend, powerPreference, allowSoftware });
    if (obstacles.length === 0) {
      const gpu = await load("gpu");
      return { codec: await gpu.Codec.open(backend, powerPreference, allowSoftware), obstacles };
    }
    if (backend === "webgpu") {
      const reasons = obstacles.map(({ candidate, reason }) => `${candidate}: ${reason}`).join("; ");
      throw new PagepressError("BACKEND_UNAVAILABLE", `backend webgpu is not available: ${reasons}`);
    }
    const cpu = await load("cpu");
    return { codec: await cpu.Codec.open("cpu", powerPreference, allowSoftware), obstacles };
  }
  const cpu = await load("cpu");
  return { codec: await cpu.Codec.open("cpu", powerPreference, allowSoftware), obstacles: [] };
}

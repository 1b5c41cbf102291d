import type { Timing } from "../base/types.js";
import type * as Gpu from "../wasm/gpu.js";

/** Reason for the engine where no measurement decided. */
export const REASON = "asked for; the adapter that the browser gives";

/** Returns the timing of a call of the GPU module. */
export function gpuTiming(timing: Gpu.GpuTiming): Timing {
  return { engine: "webgpu", reason: REASON, ...timing };
}

import type { BackendInfo, CompressorOptions } from "./types.js";

interface Adapter {
  readonly info?: {
    readonly vendor?: string;
    readonly architecture?: string;
    readonly isFallbackAdapter?: boolean;
  };
}

interface Gpu {
  requestAdapter(options: { powerPreference: string }): Promise<Adapter | null>;
}

/** The first requests after a page load may be answered with no adapter. */
const TRIES = 4;

/** Why no adapter can be used; empty if one can. Loads no module. */
export async function findObstacles(
  options: Required<Pick<CompressorOptions, "backend" | "powerPreference" | "allowSoftware">>,
): Promise<BackendInfo["rejected"]> {
  const { navigator, isSecureContext } = globalThis as {
    navigator?: { gpu?: Gpu };
    isSecureContext?: boolean;
  };
  const gpu = navigator?.gpu;
  if (!gpu) {
    const reason =
      isSecureContext === false
        ? "WebGPU needs a secure context: https or localhost"
        : "there is no navigator.gpu here";
    return [{ candidate: "webgpu", reason }];
  }
  const { powerPreference } = options;
  let adapter: Adapter | null = null;
  for (let tries = 0; !adapter && tries < TRIES; tries += 1) {
    adapter = await gpu.requestAdapter({ powerPreference });
  }
  if (!adapter) return [{ candidate: "webgpu", reason: "requestAdapter() gives no adapter" }];
  const { vendor = "", architecture = "", isFallbackAdapter = false } = adapter.info ?? {};
  const software = isFallbackAdapter || architecture === "swiftshader";
  if (!software || (options.allowSoftware && options.backend === "webgpu")) return [];
  const candidate = `${vendor} ${architecture}`.trim() || "unnamed adapter";
  return [{ candidate, reason: "software adapter" }];
}

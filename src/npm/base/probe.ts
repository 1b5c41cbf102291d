import type { BackendInfo, CompressorOptions } from "./types.js";

/** An adapter of WebGPU. */
export interface Adapter {
  readonly info?: {
    readonly vendor?: string;
    readonly architecture?: string;
    readonly description?: string;
    readonly isFallbackAdapter?: boolean;
  };
  readonly limits: Readonly<Record<string, number>>;
  readonly features: ReadonlySet<string>;
  requestDevice(descriptor: object): Promise<unknown>;
}

interface Gpu {
  requestAdapter(options: { powerPreference: string }): Promise<Adapter | null>;
}

/** Most requests while a page loads, which browsers may answer with no adapter. */
const TRIES = 4;

const isLoading = (): boolean => ((globalThis as { document?: { readyState: string } }).document?.readyState ?? "complete") !== "complete";

/** The adapter that the browser gives; null if it gives none. */
export async function requestAdapter(powerPreference: string): Promise<Adapter | null> {
  const { gpu } = (globalThis as { navigator?: { gpu?: Gpu } }).navigator ?? {};
  let adapter: Adapter | null = null;
  // Each answer without one is a warning on the console.
  for (let tries = 0; gpu && !adapter && (tries === 0 || (isLoading() && tries < TRIES)); tries += 1) {
    adapter = await gpu.requestAdapter({ powerPreference });
  }
  return adapter;
}

/** Whether a CPU imitates a GPU. */
export function isSoftware(adapter: Pick<Adapter, "info"> | null): boolean {
  const { architecture = "", isFallbackAdapter = false } = adapter?.info ?? {};
  return isFallbackAdapter || architecture === "swiftshader";
}

/** Why no adapter can be used; empty if one can. Loads no module. */
export async function findObstacles(
  options: Required<Pick<CompressorOptions, "backend" | "powerPreference" | "allowSoftware">>,
): Promise<BackendInfo["rejected"]> {
  const { navigator, isSecureContext } = globalThis as {
    navigator?: { gpu?: unknown };
    isSecureContext?: boolean;
  };
  if (!navigator?.gpu) {
    const reason =
      isSecureContext === false
        ? "WebGPU needs a secure context: https or localhost"
        : "there is no navigator.gpu here";
    return [{ candidate: "webgpu", reason }];
  }
  const adapter = await requestAdapter(options.powerPreference);
  if (!adapter) return [{ candidate: "webgpu", reason: "requestAdapter() gives no adapter" }];
  if (!isSoftware(adapter) || (options.allowSoftware && options.backend === "webgpu")) return [];
  const { vendor = "", architecture = "" } = adapter.info ?? {};
  const candidate = `${vendor} ${architecture}`.trim() || "unnamed adapter";
  return [{ candidate, reason: "software adapter" }];
}

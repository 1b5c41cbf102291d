import { PagepressError } from "./errors.js";
import type { AdapterInfo, BackendInfo, CompressorOptions } from "./types.js";

type PowerPreference = NonNullable<CompressorOptions["powerPreference"]>;

/** The subset of `GPUAdapter` that this package uses. Declared here since WebGPU types may not be installed. */
interface Adapter {
  readonly info?: Partial<Record<"vendor" | "architecture" | "device" | "description", string>> & { isFallbackAdapter?: boolean };
  readonly limits: object;
  readonly features: Iterable<string>;
}

/** The subset of `navigator.gpu` that this package uses. */
interface Gpu {
  requestAdapter(options: { powerPreference: PowerPreference } | { featureLevel: "compatibility" }): Promise<Adapter | null>;
}

/** Maximum number of requests for an adapter while a page loads. Until it is loaded, browsers may return no adapter. */
const TRIES_WHILE_LOADING = 4;
/** Maximum number of requests afterwards: Chromium returns no adapter for the first one until its GPU process has started. */
const TRIES = 2;

const gpu = (): Gpu | undefined => (globalThis as { navigator?: { gpu?: Gpu } }).navigator?.gpu;
const isLoading = (): boolean => ((globalThis as { document?: { readyState: string } }).document?.readyState ?? "complete") !== "complete";

/** Returns the high-performance and the low-power adapter, once if they are the same. */
export async function listAdapters(): Promise<AdapterInfo[]> {
  const found = new Map<string, AdapterInfo>();
  for (const powerPreference of ["high-performance", "low-power"] as const) {
    const adapter = await gpu()?.requestAdapter({ powerPreference }).catch(() => null);
    if (!adapter) continue;
    const one = describeAdapter(adapter);
    found.set(JSON.stringify(one), one);
  }
  return [...found.values()];
}

function describeAdapter(adapter: Adapter): AdapterInfo {
  const { vendor = "", architecture = "", device = "", description = "" } = adapter.info ?? {};
  const limits: Record<string, number> = {};
  // Limits are getters of the prototype, which only `for in` enumerates.
  for (const name in adapter.limits) {
    const value = (adapter.limits as Record<string, unknown>)[name];
    if (typeof value === "number") limits[name] = value;
  }
  return { vendor, architecture, device, description, software: isSoftware(adapter), limits, features: [...adapter.features].sort() };
}

/** Returns true for a software adapter. */
function isSoftware({ info }: Adapter): boolean {
  return (info?.isFallbackAdapter ?? false) || info?.architecture === "swiftshader";
}

/** Returns the adapter that the browser selects, or else its adapter in compatibility mode; null if there is none. */
async function requestAdapter(powerPreference: PowerPreference): Promise<Adapter | null> {
  let adapter: Adapter | null = null;
  // Browsers log a warning for each request that fails.
  for (let tries = 0; !adapter && tries < (isLoading() ? TRIES_WHILE_LOADING : TRIES); tries += 1) {
    adapter = (await gpu()?.requestAdapter({ powerPreference })) ?? null;
  }
  return adapter ?? (await gpu()?.requestAdapter({ featureLevel: "compatibility" })) ?? null;
}

/** Reasons why no adapter can be used; empty if one can. */
type Obstacles = BackendInfo["rejected"];

/** Returns the error `BACKEND_UNAVAILABLE` with the reasons why no adapter can be used. */
export function unavailable(obstacles: Obstacles): PagepressError {
  const reasons = obstacles.map(({ candidate, reason }) => `${candidate}: ${reason}`).join("; ");
  return new PagepressError("BACKEND_UNAVAILABLE", `backend webgpu is not available: ${reasons}`);
}

/** Returns the reasons why no adapter can be used; empty if one can. Does not load a WebAssembly module. */
export async function findObstacles(powerPreference: PowerPreference, allowSoftware: boolean): Promise<Obstacles> {
  if (!gpu()) {
    const isInsecure = (globalThis as { isSecureContext?: boolean }).isSecureContext === false;
    const reason = isInsecure ? "WebGPU needs a secure context: https or localhost" : "there is no navigator.gpu here";
    return [{ candidate: "webgpu", reason }];
  }
  const adapter = await requestAdapter(powerPreference);
  if (!adapter) return [{ candidate: "webgpu", reason: "requestAdapter() gives no adapter" }];
  if (!isSoftware(adapter) || allowSoftware) return [];
  const { vendor = "", architecture = "" } = adapter.info ?? {};
  return [{ candidate: `${vendor} ${architecture}`.trim() || "unnamed adapter", reason: "software adapter" }];
}

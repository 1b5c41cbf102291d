import { hardwareConcurrency } from "./start-worker.js";
import type { AdapterInfo, BackendInfo, Calibration, Capabilities } from "./types.js";

interface WebAdapter {
  readonly info?: Record<"vendor" | "architecture" | "device" | "description", string> & { isFallbackAdapter?: boolean };
  readonly limits: object;
  readonly features: Iterable<string>;
}

/** What this machine offers and what was made of it. */
export async function describe(backend: BackendInfo, calibration: Calibration | null): Promise<Capabilities> {
  const adapters = await listAdapters();
  const facts = { backend, adapters, calibration, hardwareConcurrency: await hardwareConcurrency() };
  return { ...facts, text: toText(facts) };
}

/** The adapters for speed and for battery, which are often one. */
async function listAdapters(): Promise<AdapterInfo[]> {
  const { navigator } = globalThis as {
    navigator?: { gpu?: { requestAdapter(options: object): Promise<WebAdapter | null> } };
  };
  const found: AdapterInfo[] = [];
  for (const powerPreference of ["high-performance", "low-power"]) {
    const adapter = await navigator?.gpu?.requestAdapter({ powerPreference }).catch(() => null);
    if (!adapter) continue;
    const one = describeAdapter(adapter);
    if (!found.some((other) => JSON.stringify(other) === JSON.stringify(one))) found.push(one);
  }
  return found;
}

function describeAdapter({ info, limits, features }: WebAdapter): AdapterInfo {
  const { vendor = "", architecture = "", device = "", description = "" } = info ?? {};
  const numbers: Record<string, number> = {};
  // Limits are getters of the prototype, which only `for in` lists.
  for (const name in limits) {
    const value = (limits as Record<string, unknown>)[name];
    if (typeof value === "number") numbers[name] = value;
  }
  const software = (info?.isFallbackAdapter ?? false) || architecture === "swiftshader";
  return { vendor, architecture, device, description, software, limits: numbers, features: [...features].sort() };
}

function toText({ backend, adapters, calibration, hardwareConcurrency: n }: Omit<Capabilities, "text">): string {
  const lines = [`engine: ${backend.engine}${backend.adapter ? `, ${backend.adapter}` : ""}: ${backend.reason}`];
  for (const { candidate, reason } of backend.rejected) lines.push(`not ${candidate}: ${reason}`);
  lines.push(`cores: ${n}`);
  for (const { vendor, architecture, device, description, software, limits, features } of adapters) {
    const name = [vendor, architecture, device, description].filter(Boolean).join(" ") || "unnamed";
    lines.push(`adapter: ${name}${software ? ", software" : ""}`);
    lines.push(`  features: ${features.join(", ")}`);
    for (const [limit, value] of Object.entries(limits)) lines.push(`  ${limit}: ${value}`);
  }
  for (const { bytes, compressMs, decompressMs } of calibration?.rows ?? []) {
    const times = ({ webgpu, cpu }: { webgpu: number; cpu: number }): string =>
      `GPU ${webgpu.toFixed(1)} ms, CPU ${cpu.toFixed(1)} ms`;
    lines.push(`measured, ${bytes} bytes: compress ${times(compressMs)}; decompress ${times(decompressMs)}`);
  }
  if (calibration) {
    const from = (bytes: number | null): string => (bytes === null ? "never" : `from ${bytes} bytes on`);
    const { compressFrom, decompressFrom } = calibration;
    lines.push(`GPU faster: compress ${from(compressFrom)}, decompress ${from(decompressFrom)}`);
  }
  return lines.join("\n");
}

import type { AdapterInfo } from "./types.js";

interface WebAdapter {
  readonly info?: Record<"vendor" | "architecture" | "device" | "description", string> & { isFallbackAdapter?: boolean };
  readonly limits: object;
  readonly features: Iterable<string>;
}

/** The adapters for speed and for battery, which are often one. */
export async function listAdapters(): Promise<AdapterInfo[]> {
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

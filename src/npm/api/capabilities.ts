import { listAdapters } from "../base/adapters.js";
import type { BackendInfo, Calibration, Capabilities } from "../base/types.js";
import { hardwareConcurrency } from "../workers/start-worker.js";

/** Describes the engines of this machine and the choice among them. */
export async function describe(backend: BackendInfo, calibration: Calibration | null): Promise<Capabilities> {
  const adapters = await listAdapters();
  const facts = { backend, adapters, calibration, hardwareConcurrency: await hardwareConcurrency() };
  return { ...facts, text: toText(facts) };
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

// Shows the time per stage of a call, from the package's timing of the last round: of the GPU or, without one, of the CPU.
import type { Timing } from "pagepress";
import { absence } from "../shell/absence";
import { element, make } from "../shell/dom";
import * as format from "../shell/format";
import { newestRace } from "../race/panel";
import type { Measured } from "../race/race";

const STAGES: [keyof Timing, string][] = [
  ["uploadNs", "Upload"],
  ["kernelNs", "Kernels"],
  ["readbackNs", "Read back"],
];

/** Shows the stages of the newest race. */
export function showStages(): void {
  const { gpu, cpu } = newestRace()?.engines ?? {};
  const measured = [gpu, cpu].find((one): one is Measured => one !== undefined && !("failure" in one) && one.timing !== null);
  const at = element("stages");
  if (!measured?.timing) return at.replaceChildren(make("p", "soft", "Shown after a race with Pagepress."));
  const { compress, decompress } = measured.timing;
  const isGpu = compress.engine === "webgpu";
  const note = isGpu ? "Jobs overlap, so stages may add up to more than the whole call." : "A call on the CPU has one stage, shared by its workers.";
  const absent = gpu && "failure" in gpu ? [make("p", "soft", `GPU. ${absence(gpu.failure.message)}`)] : [];
  at.replaceChildren(
    stagesOf("Compress", compress),
    stagesOf("Decompress", decompress),
    make("p", "soft", `${isGpu ? "GPU" : "CPU"}, ${measured.detail}, ${format.size(measured.inputBytes)}. ${note}`),
    ...absent,
  );
}

function stagesOf(title: string, timing: Timing): HTMLElement {
  const isGpu = timing.engine === "webgpu";
  const known = isGpu ? STAGES.map(([key, name]) => [name, timing[key] as number | null] as const) : [];
  const longest = Math.max(timing.totalNs, ...known.map(([, ns]) => ns ?? 0));
  const lines = known.map(([name, ns]) => stageLine(name, ns, longest, "stage"));
  const whole = isGpu ? "Whole call" : timing.workers ? format.plural(timing.workers, "worker") : "One thread";
  return make("div", "stages", make("h3", "", title), ...lines, stageLine(whole, timing.totalNs, longest, "whole"));
}

function stageLine(name: string, ns: number | null, longest: number, className: string): HTMLElement {
  const fill = make("i", `fill ${className}`);
  fill.style.transform = `scaleX(${(ns ?? 0) / longest})`;
  const track = make("div", "track", fill);
  track.ariaHidden = "true";
  const value = ns === null ? "not available" : format.duration(ns / 1e6);
  return make("div", "stage-line", make("span", "", name), track, make("span", "number", value));
}

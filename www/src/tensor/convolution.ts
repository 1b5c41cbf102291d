// A live convolution of moving images.
import { spreadOf } from "../compress/stats";
import { failureOf } from "../rpc/client";
import { element, failureCard } from "../shell/dom";
import * as format from "../shell/format";
import { announce } from "../shell/jobs";
import { allowsSoftware } from "../shell/press";
import { record } from "../shell/results";
import { isOpen, onTab } from "../shell/tabs";
import type { Convolved } from "./calls";
import { tensors } from "./client";
import { KERNELS } from "./kernels";
import { camera, COLS, generated, greyOf, ROWS, show, type Source } from "./source";

/** Number of images over which the displayed medians are taken. */
const MEDIAN_FRAMES = 30;

let stop: (() => void) | null = null;

const context = (id: string): CanvasRenderingContext2D =>
  element<HTMLCanvasElement>(id).getContext("2d", { willReadFrequently: true }) as CanvasRenderingContext2D;

async function openSource(): Promise<Source> {
  return element<HTMLSelectElement>("convolve-source").value === "camera" ? camera() : generated();
}

/** Draws one image of the source and its convolution. */
async function picture(source: Source, isChecked: boolean): Promise<Convolved> {
  const from = context("convolve-in");
  source.draw(from, performance.now());
  const { kernel, middle } = KERNELS[element<HTMLSelectElement>("convolve-kernel").value] as (typeof KERNELS)[string];
  const argument = { picture: greyOf(from), kernel, allowSoftware: allowsSoftware(), isChecked };
  const made = await tensors.call("convolve", argument);
  const to = context("convolve-out");
  to.clearRect(0, 0, COLS, ROWS);
  show(to, made, middle);
  return made;
}

function showSpeed(times: number[], frames: number[], { where }: Convolved, error: number): void {
  const perSecond = 1000 / spreadOf(frames).median;
  element("convolve-text").textContent =
    `${where}: ${format.duration(spreadOf(times).median)} per image of ${COLS} × ${ROWS}, with transfers; ` +
    `${format.round(perSecond)} images per second; largest error ${error.toExponential(1)}`;
}

async function run(): Promise<void> {
  const button = element<HTMLButtonElement>("convolve-start");
  let isOn = true;
  stop = () => (isOn = false);
  button.textContent = "Stop";
  let source: Source | null = null;
  const [times, frames]: [number[], number[]] = [[], []];
  let last: Convolved | null = null;
  let error = 0;
  try {
    source = await openSource();
    for (let before = performance.now(); isOn && isOpen("tensor"); ) {
      const made = await picture(source, last === null || frames.length % MEDIAN_FRAMES === 0);
      const now = performance.now();
      // The first image is not counted: it loads the module and compiles kernels.
      if (last) {
        times.push(made.milliseconds);
        frames.push(now - before);
        error = Math.max(error, made.error ?? 0);
        showSpeed(times.slice(-MEDIAN_FRAMES), frames.slice(-MEDIAN_FRAMES), made, error);
      }
      [last, before] = [made, now];
      await new Promise(requestAnimationFrame);
    }
  } catch (thrown) {
    const failure = failureOf(thrown);
    record({ kind: "failure", title: "Convolution", ...failure });
    element("convolve-text").replaceChildren(failureCard(failure));
  }
  source?.end();
  stop = null;
  button.textContent = "Start";
  if (!last || times.length === 0) return;
  const { where, isGpu } = last;
  record({ kind: "convolution", images: times.length, milliseconds: spreadOf(times).median, where, isGpu, error });
  announce("Convolution: stopped");
}

export function initConvolution(): void {
  for (const id of ["convolve-in", "convolve-out"]) {
    const canvas = element<HTMLCanvasElement>(id);
    [canvas.width, canvas.height] = [COLS, ROWS];
  }
  element("convolve-start").addEventListener("click", () => (stop ? stop() : void run()));
  // A still image before the start.
  onTab("tensor", () => stop ?? generated().draw(context("convolve-in"), 0));
}

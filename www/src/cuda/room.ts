// Kernels in CUDA C: translated as they are typed, and run on the visitor's GPU.
import { createEditor, type Editor } from "../playground/editor";
import { positionIn } from "../playground/position";
import { Client, failureOf } from "../rpc/client";
import type { Failure } from "../rpc/messages";
import { absence } from "../shell/absence";
import { button, copyText, make } from "../shell/dom";
import * as format from "../shell/format";
import { runJob, type JobControl } from "../shell/jobs";
import { allowsSoftware } from "../shell/press";
import { record } from "../shell/results";
import type { CudaCalls, CudaRun, Picture, ShownTarget } from "./calls";
import { EXAMPLE_NAMES, EXAMPLES, type ExampleName } from "./examples";

/** Milliseconds between the last change of the source and its translation. */
const PAUSE_MS = 250;
const TARGETS: Record<ShownTarget, string> = { wgsl: "WGSL", ptx: "PTX", msl: "MSL", hlsl: "HLSL" };

const start = (): Worker => new Worker(new URL("./worker.ts", import.meta.url), { type: "module", name: "cuda" });
const translator = new Client<CudaCalls>(start);
/** Apart from the translator, since a kernel may never return. */
const runner = new Client<CudaCalls>(start);
const example = make("select");
const target = make("select");
const output = make("pre");
const status = make("p", "cuda-status");
const result = make("p", "cuda-status");
const canvas = make("canvas", "cuda-picture");
let editor: Editor;
/** True once the visitor has asked for the translator. */
let isAsked = false;
/** Number of the newest translation, whose result is the only one to show. */
let newest = 0;
let timer: ReturnType<typeof setTimeout> | undefined;

const chosen = (): ExampleName => example.value as ExampleName;
const source = (): { source: string; example: ExampleName } => ({ source: editor.text(), example: chosen() });

function changed(): void {
  clearTimeout(timer);
  if (isAsked) timer = setTimeout(() => void translate(), PAUSE_MS);
}

async function translate(): Promise<void> {
  clearTimeout(timer);
  const number = ++newest;
  const language = target.value as ShownTarget;
  if (!isAsked) status.textContent = "Loading the translator …";
  isAsked = true;
  try {
    const { text, notes, milliseconds } = await translator.call("translate", { ...source(), target: language });
    if (number !== newest) return;
    output.textContent = text;
    editor.mark(null);
    const remarks = notes.map((note) => ` Line ${note}.`).join("");
    status.textContent = `Translated to ${TARGETS[language]} in ${format.duration(milliseconds)}.${remarks}`;
    record({ kind: "translation", target: language, error: null });
  } catch (error) {
    if (number !== newest) return;
    output.textContent = "";
    const failure = failureOf(error);
    status.textContent = marked(failure);
    record({ kind: "translation", target: language, error: failure });
  }
}

/** Marks an error in the editor, and returns its text. */
function marked({ code, message }: Failure): string {
  const position = code === "KERNEL_COMPILE" ? positionIn(message) : null;
  editor.mark(position ? { message, position } : null);
  if (!position) return code === "BACKEND_UNAVAILABLE" ? `${absence(message)}.` : `${code}: ${message}`;
  const { line, column } = position;
  // The lines that follow repeat the line of the source.
  const [first = ""] = message.split("\n", 1);
  return `Line ${line}, column ${column}: ${first.replace(/^.*? does not compile: \d+:\d+: /, "")}`;
}

async function perform({ signal }: JobControl): Promise<void> {
  const name = chosen();
  const end = (): void => runner.end();
  signal.addEventListener("abort", end, { once: true });
  try {
    const { picture, ...run } = await runner.call("run", { ...source(), allowSoftware: allowsSoftware() }, { signal });
    record({ kind: "cuda", example: name, ...run });
    if (name !== chosen()) return;
    result.textContent = described(run);
    draw(picture);
  } finally {
    signal.removeEventListener("abort", end);
  }
}

function described({ device, isSoftware, milliseconds, launches, checked, different, isRight }: Omit<CudaRun, "picture">): string {
  const where = `${device}${isSoftware ? ", a software GPU" : ""}`;
  const what = `${format.plural(launches, "launch", "launches")} in ${format.duration(milliseconds)} on ${where}.`;
  const equal = `${format.count(checked - different)} of ${format.count(checked)} elements equal those of JavaScript`;
  if (isRight) return `${what} ${equal}${different > 0 ? "; the others are at the border of the set, where rounding decides" : ""}.`;
  return `${what} Wrong result: only ${equal}.`;
}

function draw(picture: Picture | null): void {
  canvas.hidden = picture === null;
  if (!picture) return;
  canvas.width = picture.width;
  canvas.height = picture.height;
  canvas.ariaLabel = `${EXAMPLES[chosen()].label}, drawn from the result of the kernel`;
  canvas.getContext("2d")?.putImageData(new ImageData(picture.pixels, picture.width, picture.height), 0, 0);
}

function run(): void {
  void runJob("Kernel in CUDA C", perform, (failure) => {
    draw(null);
    result.textContent = marked(failure);
  });
}

function options(select: HTMLSelectElement, texts: readonly (readonly [value: string, text: string])[]): void {
  select.append(
    ...texts.map(([value, text]) => {
      const made = make("option", "", text);
      made.value = value;
      return made;
    }),
  );
}

function showExample(): void {
  editor.replace(EXAMPLES[chosen()].source, "cuda");
  result.textContent = "";
  draw(null);
}

function controls(): HTMLElement {
  example.id = "cuda-example";
  options(example, EXAMPLE_NAMES.map((name) => [name, EXAMPLES[name].label]));
  example.addEventListener("change", showExample);
  target.id = "cuda-target";
  options(target, Object.entries(TARGETS));
  target.addEventListener("change", () => isAsked && void translate());
  const translateButton = button("Translate", "primary", () => void translate());
  translateButton.id = "cuda-translate";
  const runButton = button("Run on this GPU", "secondary", run);
  runButton.id = "cuda-run";
  const copy = button("Copy", "secondary", () => void copyText(output.textContent ?? "", copy));
  copy.ariaLabel = "Copy the translation";
  return make("p", "actions", make("label", "inline", "Example ", example), make("label", "inline", "Language ", target), translateButton, runButton, copy);
}

export function mount(at: HTMLElement): void {
  const place = make("div", "editor");
  place.id = "cuda-editor";
  output.id = "cuda-output";
  output.tabIndex = 0;
  output.role = "region";
  output.ariaLabel = "Translation";
  for (const [id, line] of [["cuda-status", status], ["cuda-result", result]] as const) {
    line.id = id;
    line.role = "status";
  }
  canvas.role = "img";
  canvas.hidden = true;
  status.textContent = "The translator has 0.8 MB. It is loaded when you press Translate, and then follows your changes.";
  at.replaceChildren(
    make("h2", "", "Kernels in CUDA C"),
    make("p", "soft", "Translated in this browser, without a CUDA toolkit, and run through WebGPU. Results are checked against JavaScript. Control-Enter runs the kernel."),
    controls(),
    status,
    make("div", "playground", place, output),
    result,
    canvas,
  );
  editor = createEditor(place, run, { label: "Kernel in CUDA C", changed });
  showExample();
}

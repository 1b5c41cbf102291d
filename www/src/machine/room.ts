// Freezes a running machine: a WebAssembly program whose memory is stored in versions, of which each has only what changed.
import { Client, failureOf } from "../rpc/client";
import { button, failureCard, labelledRow, make } from "../shell/dom";
import * as format from "../shell/format";
import { announce } from "../shell/jobs";
import { record } from "../shell/results";
import { colour, onTheme } from "../shell/theme";
import { VIEW, type Frame, type Frozen, type MachineCalls } from "./calls";

const worker = new Client<MachineCalls>(() => new Worker(new URL("./worker.ts", import.meta.url), { type: "module", name: "machine" }));

const screen = make("canvas", "machine-screen");
const map = make("canvas", "machine-map");
const state = make("p", "soft");
const versions = make("tbody");
const message = make("div");
const run = button("Run", "primary", () => (isRunning ? stop() : void start()));
const freezeButton = button("Freeze", "secondary", () => void act(freeze));
const thawButton = button("Thaw", "secondary", () => void act(thaw));

const HEADS = ["Generation", "Stores", "Memory", "Pages stored", "File", "Time"];

let isRunning = false;
let isVisible = true;
let frame: Frame | null = null;
let frozen: Frozen | null = null;
/** The calls in progress, one after the other. */
let queue: Promise<void> = Promise.resolve();

function draw(): void {
  const context = screen.getContext("2d");
  if (!context || !frame) return;
  const image = context.createImageData(VIEW.width, VIEW.height);
  const words = new Uint32Array(image.data.buffer);
  const [alive, dead] = [wordOf(colour("gpu")), wordOf(colour("track"))];
  frame.cells.forEach((cell, i) => (words[i] = cell ? alive : dead));
  context.putImageData(image, 0, 0);
  state.textContent = `Generation ${format.count(frame.generation)}${isRunning ? "" : ", stopped"}`;
}

/** Returns a colour `rgb(r, g, b)` as a word of image data. */
function wordOf(rgb: string): number {
  const [red = 0, green = 0, blue = 0] = (rgb.match(/\d+/g) ?? []).map(Number);
  return new Uint32Array(Uint8Array.of(red, green, blue, 255).buffer)[0] ?? 0;
}

/** Draws a cell per page of memory: stored by the last version, or not. */
function drawMap(): void {
  const context = map.getContext("2d");
  if (!context || !frozen) return;
  const columns = 128;
  const side = 5;
  map.width = columns * side;
  map.height = Math.ceil(frozen.stored.length / columns) * side;
  const colours = [colour("track"), colour("cpu")];
  frozen.stored.forEach((isStored, page) => {
    context.fillStyle = colours[isStored] ?? "";
    context.fillRect((page % columns) * side, Math.floor(page / columns) * side, side - 1, side - 1);
  });
  map.ariaLabel = `Map of ${format.plural(frozen.stored.length, "page")} of memory, ${format.count(frozen.storedPages)} of them stored`;
}

/** Runs a step of the machine or a call after the one before. Shows errors. */
function act(work: () => Promise<void>): Promise<void> {
  queue = queue.then(work).catch((error: unknown) => {
    stop();
    const failure = failureOf(error);
    record({ kind: "failure", title: "Machine", ...failure });
    message.replaceChildren(failureCard(failure));
  });
  return queue;
}

async function start(): Promise<void> {
  isRunning = true;
  run.textContent = "Stop";
  while (isRunning) {
    if (isVisible && !document.hidden) {
      await act(async () => {
        frame = await worker.call("step", { generations: 1 });
        draw();
      });
    }
    await new Promise(requestAnimationFrame);
  }
}

function stop(): void {
  isRunning = false;
  run.textContent = "Run";
  draw();
}

async function freeze(): Promise<void> {
  frozen = await worker.call("freeze", null);
  const { generation, milliseconds, memoryBytes, storedPages, stored, fileBytes, isIncrement, isKept } = frozen;
  const cells = [
    format.count(generation),
    isIncrement ? "changes" : "all",
    format.size(memoryBytes),
    `${format.count(storedPages)} of ${format.count(stored.length)}`,
    format.size(fileBytes),
    format.duration(milliseconds),
  ];
  versions.append(labelledRow(HEADS, cells));
  thawButton.disabled = false;
  drawMap();
  const where = isKept ? "Kept in this browser: reload the page and thaw it." : "This browser offers no storage here: it lasts until the page is closed.";
  message.replaceChildren(make("p", "soft", where));
  announce("Frozen");
  record({ kind: "frozen", generation, milliseconds, memoryBytes, storedPages, pages: stored.length, fileBytes, isIncrement, isKept });
}

async function thaw(): Promise<void> {
  const thawed = await worker.call("thaw", null);
  frame = thawed.frame;
  draw();
  const { generation } = thawed.frame;
  message.replaceChildren(make("p", "verified", `A new machine continues at generation ${format.count(generation)}, after ${format.duration(thawed.milliseconds)}.`));
  announce("Thawed");
  record({ kind: "thawed", generation, milliseconds: thawed.milliseconds, cells: frame.cells.reduce((sum, cell) => sum + cell, 0) });
}

async function renew(): Promise<void> {
  const started = await worker.call("start", null);
  frame = started.frame;
  versions.replaceChildren();
  message.replaceChildren(...(started.hasKept ? [make("p", "soft", "An earlier visit kept a version: thaw it.")] : []));
  thawButton.disabled = !started.hasKept;
  draw();
}

function table(): HTMLElement {
  const heads = HEADS.map((text) => {
    const head = make("th", "", text);
    head.scope = "col";
    return head;
  });
  versions.id = "machine-versions";
  const frameOfTable = make("div", "scroll", make("table", "list stacked", make("thead", "", make("tr", "", ...heads)), versions));
  frameOfTable.tabIndex = 0;
  frameOfTable.role = "region";
  frameOfTable.ariaLabel = "Versions";
  return frameOfTable;
}

export async function mount(at: HTMLElement): Promise<void> {
  [screen.width, screen.height] = [VIEW.width, VIEW.height];
  screen.role = "img";
  screen.ariaLabel = "The cells of the machine";
  map.role = "img";
  map.ariaLabel = "Map of memory: not frozen yet";
  run.id = "machine-run";
  freezeButton.id = "machine-freeze";
  thawButton.id = "machine-thaw";
  state.id = "machine-state";
  message.id = "machine-message";
  message.ariaLive = "polite";
  const again = button("New board", "secondary", () => void act(renew));
  at.replaceChildren(
    make("h2", "", "Freeze a running machine"),
    make("p", "soft", "A Game of Life in WebAssembly. A freeze stores the pages that are not empty, the next one only those that changed."),
    make("p", "actions", run, freezeButton, thawButton, again),
    make("div", "machine", make("div", "", screen, state), make("div", "", map, message, table())),
  );
  new IntersectionObserver((entries) => (isVisible = entries.at(-1)?.isIntersecting ?? true)).observe(at);
  onTheme(() => (draw(), drawMap()));
  await act(renew);
}

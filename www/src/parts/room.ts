// Reads parts of a large LZ4 file: a view of its bytes that decompresses only the blocks it shows.
import { failureOf } from "../rpc/client";
import { button, failureCard, fileButton, make } from "../shell/dom";
import * as format from "../shell/format";
import { announce, runJob } from "../shell/jobs";
import { record } from "../shell/results";
import { currentCompressed } from "../shell/subject";
import { hexLines, positionOf, ROW_BYTES } from "./hex";
import { openBlob, openUrl, type OpenFile } from "./source";

const ROWS = 24;
const VIEW_BYTES = ROWS * ROW_BYTES;
/** Steps of the slider. */
const STEPS = 10_000;

const pre = make("pre", "hex");
const note = make("p", "soft", "Choose a .lz4 file with an index, of any size. Only the blocks in view are read.");
const slider = make("input");
const goal = make("input");
const view = make("div", "", pre, slider);
let file: OpenFile | null = null;
let position = 0;
/** The latest read; an older one that ends later is not shown. */
let latest = 0;

function last(): number {
  return Math.max(0, Math.ceil(((file?.contentBytes ?? 0) - VIEW_BYTES) / ROW_BYTES)) * ROW_BYTES;
}

/** Shows the bytes from `at`, rounded down to a row. */
async function show(at: number): Promise<void> {
  if (!file) return;
  const { name, contentBytes, fileBytes } = file;
  position = Math.max(0, Math.min(last(), Math.floor(at / ROW_BYTES) * ROW_BYTES));
  slider.value = String(last() === 0 ? 0 : Math.round((STEPS * position) / last()));
  const turn = (latest += 1);
  const start = performance.now();
  try {
    const bytes = await file.read(position, VIEW_BYTES);
    if (turn !== latest) return;
    pre.textContent = hexLines(bytes, position).join("\n");
    const { times, bytes: read } = file.reads();
    const took = format.duration(performance.now() - start);
    note.textContent = `${name}: ${format.size(contentBytes)} of content. Read ${format.plural(times, "part")}, ${format.size(read)} of ${format.size(fileBytes)}; the last read took ${took}.`;
    record({ kind: "part", name, position, times, read, fileBytes, contentBytes });
  } catch (error) {
    if (turn === latest) note.replaceChildren(failureCard(failureOf(error)));
  }
}

function open(name: string, opening: (signal: AbortSignal) => Promise<OpenFile>): void {
  const failed = (failure: { code: string; message: string }): void => note.replaceChildren(failureCard(failure));
  void runJob(
    `Opening ${name}`,
    async ({ signal }) => {
      file = await opening(signal);
      view.hidden = false;
      await show(0);
    },
    failed,
  );
}

function listen(): void {
  slider.addEventListener("input", () => void show((Number(slider.value) / STEPS) * last()));
  goal.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !file) return;
    const at = positionOf(goal.value, file.contentBytes);
    if (at === null) announce("Not a position");
    goal.ariaInvalid = String(at === null);
    if (at !== null) void show(at);
  });
  pre.addEventListener("keydown", (event) => {
    const steps: Record<string, number> = {
      ArrowUp: -ROW_BYTES,
      ArrowDown: ROW_BYTES,
      PageUp: -VIEW_BYTES,
      PageDown: VIEW_BYTES,
      Home: -Infinity,
      End: Infinity,
    };
    const step = steps[event.key];
    if (step === undefined) return;
    event.preventDefault();
    void show(position + step);
  });
  pre.addEventListener(
    "wheel",
    (event) => {
      if (event.deltaY === 0 || event.ctrlKey) return;
      event.preventDefault();
      void show(position + Math.sign(event.deltaY) * 4 * ROW_BYTES);
    },
    { passive: false },
  );
}

function dress(): void {
  pre.tabIndex = 0;
  pre.role = "region";
  pre.ariaLabel = "Bytes of the content. Arrow keys and Page keys move.";
  slider.type = "range";
  slider.id = "part-slider";
  slider.max = String(STEPS);
  slider.value = "0";
  slider.ariaLabel = "Position in the content";
  goal.type = "text";
  goal.id = "part-goal";
  goal.placeholder = "0x1000 or 50 %";
  note.id = "part-note";
  pre.id = "part-bytes";
  view.hidden = true;
}

export function mount(at: HTMLElement): void {
  dress();
  listen();
  const choose = fileButton("Choose an indexed .lz4", ".lz4", (chosen) => open(chosen.name, (signal) => openBlob(chosen.name, chosen, signal)));
  choose.id = "part-file";
  const own = button("Use the compressed file", "secondary", () => {
    const made = currentCompressed();
    if (made) open(made.name, (signal) => openBlob(made.name, made.blob, signal));
    else note.replaceChildren(failureCard({ code: "NO_FILE", message: "No file was compressed yet. Compress one, with “Add an index” in the options." }));
  });
  own.id = "part-own";
  const url = make("input");
  url.type = "text";
  url.id = "part-url";
  url.placeholder = "/archive.lz4";
  const fetchUrl = button("Open", "secondary", () => open(url.value, (signal) => openUrl(url.value, signal)));
  fetchUrl.id = "part-open";
  at.replaceChildren(
    make("h2", "", "Parts of a large file"),
    make("p", "actions", choose, own, make("label", "inline", "Path on this server ", url), fetchUrl, make("label", "inline", "Go to ", goal)),
    note,
    view,
  );
}

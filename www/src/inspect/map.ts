// The map of a file: one cell per page, coloured by its ratio. Hovering over a cell shows the page.
import { PAGE_KINDS, type PageMap } from "../press/calls";
import { element, failureCard, make } from "../shell/dom";
import * as format from "../shell/format";
import { runJob } from "../shell/jobs";
import { engineChoice, press } from "../shell/press";
import { record } from "../shell/results";
import { currentSubject, onSubject, type Subject } from "../shell/subject";
import { isOpen, onTab } from "../shell/tabs";
import { onTheme } from "../shell/theme";
import { BOUNDS, colourIndex, pageColours } from "./colours";
import { clearPage, showPage } from "./page-view";

/** Maximum bytes of a file that are mapped. */
const MOST_BYTES = 64 << 20;
/** Limits for the side of a cell, in CSS pixels. */
const CELL = { least: 4, most: 18 };

interface Shown {
  map: PageMap;
  columns: number;
  cell: number;
}

let shown: Shown | null = null;
let mappedFor: { subject: Subject; pageSize: number } | null = null;
let selected = 0;

const canvas = (): HTMLCanvasElement => element<HTMLCanvasElement>("map");
const pageNumber = (): HTMLInputElement => element<HTMLInputElement>("page-number");
const nPages = (): number => shown?.map.kinds.length ?? 0;

function chosenPageSize(): number {
  return Number(element<HTMLSelectElement>("page-size").value);
}

/** Maps the current input, unless there is none or it is mapped already. */
function mapSubject(): void {
  const subject = currentSubject();
  const pageSize = chosenPageSize();
  if (!subject || !isOpen("inspect")) return;
  if (mappedFor?.subject === subject && mappedFor.pageSize === pageSize) return;
  mappedFor = { subject, pageSize };
  shown = null;
  element("map-note").textContent = `Mapping ${subject.name}`;
  void runJob(
    `Mapping ${subject.name}`,
    async ({ signal, report }) => {
      const file = subject.blob.slice(0, MOST_BYTES);
      const onProgress = ({ bytes }: { bytes: number }): void => report(format.size(bytes), bytes / file.size);
      signal.addEventListener("abort", () => (mappedFor = null), { once: true });
      const map = await press.call("map", { owner: "inspect", file, pageSize, choice: engineChoice() }, { signal, onProgress });
      if (mappedFor?.subject === subject) await showMap(map, subject);
    },
    (failure) => {
      mappedFor = null;
      element("map-note").replaceChildren(failureCard(failure));
    },
  );
}

async function showMap(map: PageMap, { name, blob }: Subject): Promise<void> {
  const n = map.kinds.length;
  const kinds = PAGE_KINDS.map((kind, number) => [kind, map.kinds.filter((one) => one === number).length] as const);
  const ratio = n === 0 ? 0 : map.byteLength / (map.packedBytes + 8 * n);
  shown = { map, columns: 1, cell: CELL.least };
  element("map-figure").hidden = n === 0;
  layOut();
  const part = blob.size > map.byteLength ? `The first ${format.size(map.byteLength)} of ${name}` : name;
  const names: Record<string, string> = { lz4: "compressed", stored: "stored", fill: "filled with one word" };
  const counts = kinds.map(([kind, count]) => `${format.count(count)} ${names[kind]}`).join(", ");
  element("map-note").textContent =
    n === 0 ? `${name} is empty: it has no pages.` : `${part}: ${format.plural(n, "page")}, ${counts}. Ratio ${format.ratio(ratio)}, with the table.`;
  canvas().ariaLabel = `Map of ${format.plural(n, "page")}: ${counts}. Arrow keys choose a page.`;
  pageNumber().max = String(Math.max(n - 1, 0));
  record({ kind: "map", name, pageSize: map.pageSize, nPages: n, kinds: Object.fromEntries(kinds), ratio, engine: map.engine });
  if (n > 0) await select(Math.min(selected, n - 1));
  else clearPage();
}

/** Fits the size of the cells to the available width, and draws. */
function layOut(): void {
  if (!shown) return;
  const width = element("map-frame").clientWidth;
  if (width === 0) return;
  const n = nPages();
  let cell = Math.floor(Math.sqrt((width * 360) / Math.max(n, 1)));
  cell = Math.min(CELL.most, Math.max(CELL.least, cell));
  shown.cell = cell;
  shown.columns = Math.max(1, Math.floor(width / cell));
  const rows = Math.ceil(n / shown.columns);
  const scale = Math.min(devicePixelRatio, 2);
  canvas().style.width = `${shown.columns * cell}px`;
  canvas().style.height = `${rows * cell}px`;
  canvas().width = shown.columns * cell * scale;
  canvas().height = rows * cell * scale;
  draw(scale);
}

function draw(scale = Math.min(devicePixelRatio, 2)): void {
  const context = canvas().getContext("2d");
  if (!shown || !context) return;
  const { map, columns, cell } = shown;
  const colours = pageColours();
  const gap = cell > 6 ? 1 : cell > 4 ? 0.5 : 0;
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, canvas().width, canvas().height);
  for (let page = 0; page < map.kinds.length; page += 1) {
    context.fillStyle = colours[colourIndex(map.kinds[page] ?? 0, ratioOf(map, page))] ?? "";
    context.fillRect((page % columns) * cell, Math.floor(page / columns) * cell, cell - gap, cell - gap);
  }
}

/** Moves the frame around the selected cell. It is an element above the canvas, so that nothing is redrawn. */
function moveCursor(): void {
  if (!shown) return;
  const cursor = element("map-cursor");
  const { columns, cell } = shown;
  cursor.hidden = false;
  cursor.style.width = cursor.style.height = `${cell}px`;
  cursor.style.transform = `translate(${(selected % columns) * cell}px, ${Math.floor(selected / columns) * cell}px)`;
}

function bytesOf(map: PageMap, page: number): number {
  return Math.min(map.pageSize, map.byteLength - page * map.pageSize);
}

function ratioOf(map: PageMap, page: number): number {
  return bytesOf(map, page) / Math.max(map.lengths[page] ?? 1, 1);
}

/** Selects a page and shows it, unless another page is selected before the worker answers. */
async function select(page: number): Promise<void> {
  if (!shown || page < 0 || page >= nPages()) return;
  selected = page;
  moveCursor();
  if (Number(pageNumber().value) !== page) pageNumber().value = String(page);
  // Fails if another file was mapped in the meantime.
  const detail = await press.call("page", { owner: "inspect", page }).catch(() => null);
  if (detail && selected === page && shown) showPage(detail);
}

function pageAt(event: PointerEvent): number {
  if (!shown) return -1;
  const { columns, cell } = shown;
  const column = Math.floor(event.offsetX / cell);
  return column < columns ? Math.floor(event.offsetY / cell) * columns + column : -1;
}

function listen(): void {
  let wanted = -1;
  canvas().addEventListener("pointermove", (event) => {
    const page = pageAt(event);
    if (event.pointerType !== "mouse" || page === wanted || page === selected) return;
    wanted = page;
    requestAnimationFrame(() => wanted === page && void select(page));
  });
  canvas().addEventListener("pointerdown", (event) => void select(pageAt(event)));
  canvas().addEventListener("keydown", (event) => {
    const columns = shown?.columns ?? 1;
    const steps: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns };
    const step = steps[event.key];
    if (step === undefined) return;
    event.preventDefault();
    void select(Math.max(0, Math.min(nPages() - 1, selected + step)));
  });
  pageNumber().addEventListener("input", () => void select(Number(pageNumber().value)));
  element("page-size").addEventListener("change", mapSubject);
  new ResizeObserver(() => {
    layOut();
    moveCursor();
  }).observe(element("map-frame"));
}

function legend(): void {
  const entries = BOUNDS.map((bound, i) => [i, i + 1 < BOUNDS.length ? `${bound} to ${BOUNDS[i + 1]}` : `from ${bound}`] as const);
  const item = (i: number, text: string): HTMLElement => {
    const swatch = make("i", `swatch swatch-${i}`);
    return make("li", "", swatch, text);
  };
  element("map-legend").replaceChildren(
    ...entries.map(([i, text]) => item(i, text)),
    item(BOUNDS.length, "stored"),
    item(BOUNDS.length + 1, "one word"),
  );
}

export function initMap(): void {
  legend();
  listen();
  onSubject(() => {
    selected = 0;
    mapSubject();
  });
  onTab("inspect", mapSubject);
  onTheme(() => draw());
}

// A flight over points that stay compressed: an indexed LZ4 file of tiles, decompressed as they come into view.
import { compress } from "pagepress";
import { spreadOf } from "../measure/stats";
import { openIndexed, type IndexedFile } from "../parts/local";
import { failureOf } from "../rpc/client";
import { button, failureCard, make } from "../shell/dom";
import * as format from "../shell/format";
import { record } from "../shell/results";
import { onTab } from "../shell/tabs";
import { AHEAD } from "./camera";
import type { Renderer, Tile } from "./flight";
import { POINT_BYTES, SIDE, tile, TILE_BYTES, TILES } from "./terrain";

const WIDTH = 960;
const HEIGHT = 400;
/** Tiles per second. */
const SPEED = 0.7;
/** Colours of low and high points, as shares of red, green and blue. */
const [LOW, HIGH] = [[0.16, 0.48, 0.46], [0.98, 0.72, 0.52]];
/** Number of the last tiles over which the displayed time is taken. */
const RECENT = 20;

interface Made {
  file: IndexedFile;
  fileBytes: number;
}

let made: Promise<Made> | null = null;
let stop: (() => void) | null = null;

/** Generates the points and compresses them as one indexed file. */
async function makeFile(): Promise<Made> {
  const content = new Uint8Array(TILES * TILE_BYTES);
  for (let i = 0; i < TILES; i += 1) {
    content.set(new Uint8Array(tile(i).buffer), i * TILE_BYTES);
    // Yields, so that the page stays responsive.
    if (i % 4 === 3) await new Promise((resolve) => setTimeout(resolve));
  }
  const packed = await compress(content, { level: "high", blockSize: 65536, index: true });
  const file = await openIndexed(async (start, end) => packed.subarray(start, end), packed.length);
  if (!file) throw new Error("the file has no index");
  return { file, fileBytes: packed.length };
}

/** Loads the tiles in view, and frees those behind. */
class Strip {
  readonly #file: IndexedFile;
  readonly #renderer: Renderer;
  readonly #tiles = new Map<number, Tile>();
  readonly times: number[] = [];
  loaded = 0;
  readBytes = 0;

  constructor(file: IndexedFile, renderer: Renderer) {
    this.#file = file;
    this.#renderer = renderer;
  }

  /** Prepares the tiles from `position`, and returns them with their distances. */
  async at(position: number): Promise<{ tile: Tile; distance: number }[]> {
    const first = Math.floor(position);
    for (const [place, old] of this.#tiles) {
      if (place >= first && place <= first + AHEAD) continue;
      old.free();
      this.#tiles.delete(place);
    }
    for (let place = first; place <= first + AHEAD; place += 1) {
      if (!this.#tiles.has(place)) this.#tiles.set(place, await this.#load(place % TILES));
    }
    return [...this.#tiles].map(([place, ready]) => ({ tile: ready, distance: place - position }));
  }

  async #load(index: number): Promise<Tile> {
    const frame = await this.#file.frame(index * TILE_BYTES, TILE_BYTES);
    const start = performance.now();
    const ready = await this.#renderer.load(frame);
    this.times.push(performance.now() - start);
    this.loaded += 1;
    this.readBytes += frame.bytes.length;
    return ready;
  }

  free(): void {
    for (const old of this.#tiles.values()) old.free();
    this.#tiles.clear();
  }
}

/** Opens the GPU or, without one, the CPU. A canvas has one kind of context only, so each flight has a new one. */
async function openRenderer(place: HTMLElement): Promise<Renderer> {
  const canvas = (): HTMLCanvasElement => {
    const fresh = make("canvas", "points-screen");
    [fresh.width, fresh.height] = [WIDTH, HEIGHT];
    fresh.role = "img";
    fresh.ariaLabel = "A flight over terrain made of points";
    place.replaceChildren(fresh);
    return fresh;
  };
  try {
    return await (await import("./on-gpu")).onGpu(canvas(), LOW as number[], HIGH as number[]);
  } catch (error) {
    if (failureOf(error).code !== "BACKEND_UNAVAILABLE") throw error;
    return (await import("./on-cpu")).onCpu(canvas(), LOW as number[], HIGH as number[]);
  }
}

async function fly(place: HTMLElement, note: HTMLElement): Promise<void> {
  let isOn = true;
  stop = () => (isOn = false);
  note.textContent = "Compressing the points";
  made ??= makeFile();
  const { file, fileBytes } = await made;
  const renderer = await openRenderer(place);
  const strip = new Strip(file, renderer);
  let frames = 0;
  const begin = performance.now();
  try {
    while (isOn) {
      const position = ((performance.now() - begin) / 1000) * SPEED;
      await renderer.draw(await strip.at(position));
      frames += 1;
      const points = (AHEAD + 1) * SIDE * SIDE;
      note.textContent =
        `${renderer.name}. ${format.count(points)} points in view of ${format.count((TILES * TILE_BYTES) / POINT_BYTES)}; ` +
        `${format.plural(strip.loaded, "tile")} from ${format.size(strip.readBytes)}, ${format.duration(spreadOf(strip.times.slice(-RECENT)).median)} a tile; ` +
        `the file has ${format.size(fileBytes)} for ${format.size(file.contentBytes)}.`;
      await new Promise(requestAnimationFrame);
    }
  } finally {
    strip.free();
    await renderer.dispose();
    stop = null;
  }
  record({ kind: "flight", name: renderer.name, frames, tiles: strip.loaded, readBytes: strip.readBytes, fileBytes, contentBytes: file.contentBytes });
}

export function mount(at: HTMLElement): void {
  const place = make("div", "points");
  const note = make("p", "soft", "Not started.");
  note.id = "points-note";
  const start = button("Start", "secondary", () => {
    if (stop) return stop();
    start.textContent = "Stop";
    void fly(place, note)
      .catch((error: unknown) => {
        const failure = failureOf(error);
        record({ kind: "failure", title: "Flight", ...failure });
        note.replaceChildren(failureCard(failure));
        stop = null;
      })
      .finally(() => (start.textContent = "Start"));
  });
  start.id = "points-start";
  at.replaceChildren(
    make("div", "row", make("h2", "", "A flight over compressed points"), start),
    make("p", "soft", "One indexed .lz4 file of tiles. Blocks are decompressed as they come into view; on a GPU straight into vertex buffers."),
    place,
    note,
  );
  for (const tab of ["compress", "inspect", "verify", "learn"]) onTab(tab, () => stop?.());
}

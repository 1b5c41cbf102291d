// The worker that runs the machine, and takes and restores snapshots of its memory.
import { diff, restore, snapshot, SnapshotStore, type Snapshot } from "pagepress/snapshot";
import { serve } from "../rpc/serve";
import { VIEW, type Frame, type Frozen, type MachineCalls, type Thawed } from "./calls";
import life from "./life.wat";

const WIDTH = 2048;
const HEIGHT = 2048;
/** The name of the store and of the version in it. */
const STORE = "machine";
const NAME = "latest";

interface Machine {
  memory: WebAssembly.Memory;
  step(): void;
  cells(): number;
  generation(): number;
}

let machine: Machine;
let previous: Snapshot | undefined;
let store: Promise<SnapshotStore> | undefined;

async function newMachine(): Promise<Machine> {
  const { instance } = await WebAssembly.instantiate(life);
  return instance.exports as unknown as Machine;
}

function opened(): Promise<SnapshotStore> {
  store ??= SnapshotStore.open(STORE);
  return store;
}

/** Fills the middle of the board at random. */
function sow({ memory, cells }: Machine): void {
  const board = new Uint8Array(memory.buffer, cells(), WIDTH * HEIGHT);
  for (let row = -VIEW.height / 4; row < VIEW.height / 4; row += 1) {
    for (let column = -VIEW.width / 4; column < VIEW.width / 4; column += 1) {
      if (Math.random() < 0.3) board[(HEIGHT / 2 + row) * WIDTH + WIDTH / 2 + column] = 1;
    }
  }
}

/** Copies the middle of the board. */
function frameOf({ memory, cells, generation }: Machine): Frame {
  const board = new Uint8Array(memory.buffer, cells(), WIDTH * HEIGHT);
  const view = new Uint8Array(VIEW.width * VIEW.height);
  const [top, left] = [(HEIGHT - VIEW.height) / 2, (WIDTH - VIEW.width) / 2];
  for (let row = 0; row < VIEW.height; row += 1) {
    const at = (top + row) * WIDTH + left;
    view.set(board.subarray(at, at + VIEW.width), row * VIEW.width);
  }
  return { generation: generation(), cells: view };
}

/** Returns for each page if a version stores it or, for the first one, if it is not zero. */
function storedPages(version: Snapshot, memory: Uint8Array): Uint8Array<ArrayBuffer> {
  const { pageSize } = version;
  const pages = new Uint8Array(Math.ceil(memory.length / pageSize));
  if (previous) {
    for (const { start, end } of diff(previous, version).changed) pages.fill(1, start / pageSize, Math.ceil(end / pageSize));
    return pages;
  }
  for (let page = 0; page < pages.length; page += 1) {
    pages[page] = Number(memory.subarray(page * pageSize, (page + 1) * pageSize).some((byte) => byte !== 0));
  }
  return pages;
}

async function freeze(): Promise<Frozen> {
  const { memory } = machine;
  const start = performance.now();
  const version = await snapshot(memory, previous ? { previous } : {});
  const milliseconds = performance.now() - start;
  const stored = storedPages(version, new Uint8Array(memory.buffer));
  const fileBytes = (await version.toFile()).length;
  // Private windows may offer no storage: the version then lasts as long as the page.
  const isKept = await opened()
    .then((files) => files.save(NAME, version))
    .then(() => true, () => false);
  const isIncrement = previous !== undefined;
  previous = version;
  return {
    generation: machine.generation(),
    milliseconds,
    memoryBytes: memory.buffer.byteLength,
    pageSize: version.pageSize,
    stored,
    storedPages: version.counts.stored,
    fileBytes,
    isIncrement,
    isKept,
  };
}

async function thaw(): Promise<Thawed> {
  const start = performance.now();
  const version = previous ?? (await (await opened()).load(NAME));
  const fresh = await newMachine();
  await restore(version, fresh.memory);
  machine = fresh;
  previous = version;
  return { frame: frameOf(machine), milliseconds: performance.now() - start };
}

serve<MachineCalls>({
  async start() {
    machine = await newMachine();
    previous = undefined;
    sow(machine);
    const kept = await opened().then((files) => files.list(), () => []);
    return { frame: frameOf(machine), hasKept: kept.some(({ name }) => name === NAME) };
  },
  async step({ generations }) {
    for (let i = 0; i < generations; i += 1) machine.step();
    return frameOf(machine);
  },
  freeze,
  thaw,
});

// The inspector: what an LZ4 file is made of, part by part.
import type { Block, Descriptor, FramePart } from "../lz4/frame";
import { element, failureCard, make } from "../shell/dom";
import * as format from "../shell/format";
import { runJob } from "../shell/jobs";
import { press } from "../shell/press";
import { record } from "../shell/results";
import { currentMade, onMade, onSubject } from "../shell/subject";
import { sizeBar } from "./size-bar";

/** Blocks that are listed; the bar shows all. */
const MOST_LISTED = 200;

const yes = (value: boolean): string => (value ? "yes" : "no");
const word = (value: number): string => `0x${value.toString(16).padStart(8, "0")}`;

/** Shows the parts of an LZ4 file. */
export function inspect(name: string, file: Blob): void {
  void runJob(
    `Inspecting ${name}`,
    async ({ signal, report }) => {
      const onProgress = ({ bytes }: { bytes: number }): void => report(format.size(bytes), bytes / file.size);
      const parts = await press.call("inspect", { file }, { signal, onProgress });
      element("inspected").replaceChildren(
        make("h3", "", `${name}, ${format.size(file.size)}, ${parts.length} ${parts.length === 1 ? "part" : "parts"}`),
        ...parts.map(partCard),
      );
      record({ kind: "inspected", name, parts: parts.map(summary) });
    },
    (failure) => element("inspected").replaceChildren(make("h3", "", name), failureCard(failure)),
  );
}

/** A part without its blocks, of which there may be many. */
function summary(part: FramePart): Record<string, unknown> {
  if (part.kind === "skippable") return { ...part };
  const { blocks, ...rest } = part;
  return { ...rest, nBlocks: blocks.length, nStored: blocks.filter(({ stored }) => stored).length };
}

function partCard(part: FramePart): HTMLElement {
  const title = make("h4", "", `${titleOf(part)} at byte ${format.count(part.at)}`);
  const card = make("section", "part", title, facts([["Bytes", format.count(part.bytes)]]));
  if (part.kind === "frame") {
    const { contentChecksum } = part;
    const sum: [string, string] = ["Content checksum", contentChecksum === null ? "none" : word(contentChecksum)];
    card.append(facts([...descriptorFacts(part.descriptor), sum]));
  }
  if (part.kind === "skippable") card.append(facts(skippableFacts(part)));
  else card.append(...blocksView(part.blocks));
  return card;
}

function titleOf(part: FramePart): string {
  if (part.kind === "frame") return "Frame";
  if (part.kind === "legacy") return "Legacy frame";
  return part.index ? "Seek index" : "Skippable frame";
}

function descriptorFacts(descriptor: Descriptor): [string, string][] {
  const { headerChecksum, contentSize, dictionaryId } = descriptor;
  const { stored, computed } = headerChecksum;
  return [
    ["Blocks of up to", format.size(descriptor.blockBytes)],
    ["Independent blocks", yes(descriptor.independentBlocks)],
    ["Block checksums", yes(descriptor.blockChecksums)],
    ["Content size", contentSize === null ? "not told" : `${format.count(contentSize)} bytes`],
    ["Dictionary", dictionaryId === null ? "none" : word(dictionaryId)],
    ["Header checksum", `0x${format.hex(stored)}, ${stored === computed ? "right" : `wrong: 0x${format.hex(computed)}`}`],
  ];
}

function skippableFacts({ magic, index }: FramePart & { kind: "skippable" }): [string, string][] {
  if (!index) return [["Magic number", word(magic)]];
  return [
    ["Blocks", format.count(index.nBlocks)],
    ["Of a frame of", `${format.count(index.frameBytes)} bytes`],
    ["Content", `${format.count(index.contentBytes)} bytes`],
    ["Its checksum", index.sound ? "right" : "wrong"],
  ];
}

function facts(entries: [string, string][]): HTMLElement {
  const list = make("dl", "facts");
  for (const [name, value] of entries) list.append(make("div", "", make("dt", "", name), make("dd", "", value)));
  return list;
}

function blocksView(blocks: Block[]): HTMLElement[] {
  const stored = blocks.filter((block) => block.stored).length;
  const wrong = blocks.filter(({ sound }) => sound === false).length;
  const text = `${format.count(blocks.length)} blocks, ${format.count(stored)} of them stored${wrong > 0 ? `, ${wrong} with a wrong checksum` : ""}`;
  const rows = blocks.slice(0, MOST_LISTED).map((block, i) => {
    const sum = block.sound === null ? "none" : block.sound ? "right" : "wrong";
    const cells = [String(i), format.count(block.at), format.count(block.bytes), block.stored ? "stored" : "LZ4", sum];
    return make("tr", "", ...cells.map((cell) => make("td", "", cell)));
  });
  const head = make("tr", "", ...["Block", "At byte", "Bytes", "Kind", "Checksum"].map((cell) => {
    const th = make("th", "", cell);
    th.scope = "col";
    return th;
  }));
  const table = make("table", "list", make("thead", "", head), make("tbody", "", ...rows));
  const more = blocks.length > rows.length ? [make("p", "soft", `${format.count(blocks.length - rows.length)} more blocks are not listed.`)] : [];
  const frame = make("div", "scroll", table);
  frame.tabIndex = 0;
  frame.role = "region";
  frame.ariaLabel = "Blocks of the frame";
  return [sizeBar(blocks), make("p", "", `${text}.`), frame, ...more];
}

export function initInspector(): void {
  const input = element<HTMLInputElement>("inspect-file");
  input.addEventListener("change", () => {
    const [file] = input.files ?? [];
    input.value = "";
    if (file) inspect(file.name, file);
  });
  const mine = element<HTMLButtonElement>("inspect-made");
  onMade(({ name }) => {
    mine.disabled = false;
    mine.textContent = `Look into ${name}`;
  });
  mine.addEventListener("click", () => {
    const made = currentMade();
    if (made) inspect(made.name, made.blob);
  });
  // A file that was dropped or chosen to be decompressed is looked at, too.
  onSubject(({ name, blob, source }) => {
    if (source === "file" && name.endsWith(".lz4")) inspect(name, blob);
  });
}

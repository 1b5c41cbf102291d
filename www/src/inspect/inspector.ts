// The inspector: shows the structure of an LZ4 file.
import type { Block, Descriptor, FramePart } from "../lz4/frame";
import { element, failureCard, make } from "../shell/dom";
import * as format from "../shell/format";
import { runJob } from "../shell/jobs";
import { press } from "../shell/press";
import { record } from "../shell/results";
import { currentCompressed, onCompressed, type CompressedFile } from "../shell/subject";
import { sizeBar } from "./size-bar";

/** Maximum number of blocks in the list; the bar shows all of them. */
const MOST_LISTED = 200;

const yes = (value: boolean): string => (value ? "yes" : "no");
const word = (value: number): string => `0x${value.toString(16).padStart(8, "0")}`;

/** Parses an LZ4 file and shows its parts. */
export function inspect(name: string, file: Blob): void {
  void runJob(
    `Inspecting ${name}`,
    async ({ signal, report }) => {
      const onProgress = ({ bytes }: { bytes: number }): void => report(format.size(bytes), bytes / file.size);
      showInspected(name, file, await press.call("inspect", { file }, { signal, onProgress }));
    },
    (failure) => element("inspected").replaceChildren(make("h3", "", name), failureCard(failure)),
  );
}

/** Shows the parts of an LZ4 file. */
export function showInspected(name: string, file: Blob, parts: FramePart[]): void {
  element("inspected").replaceChildren(
    make("h3", "", `${name}, ${format.size(file.size)}, ${format.plural(parts.length, "part")}`),
    ...parts.map(partCard),
  );
  record({ kind: "inspected", name, parts: parts.map(summary) });
}

/** Returns a part with the number of its blocks in place of the blocks. */
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
  return part.index ? "Index" : "Skippable frame";
}

function descriptorFacts(descriptor: Descriptor): [string, string][] {
  const { headerChecksum, contentSize, dictionaryId } = descriptor;
  const { stored, computed } = headerChecksum;
  return [
    ["Block size", format.size(descriptor.blockBytes)],
    ["Independent blocks", yes(descriptor.independentBlocks)],
    ["Block checksums", yes(descriptor.blockChecksums)],
    ["Content size", contentSize === null ? "not stored" : `${format.count(contentSize)} bytes`],
    ["Dictionary", dictionaryId === null ? "none" : word(dictionaryId)],
    ["Header checksum", `0x${format.hex(stored)}, ${stored === computed ? "matches" : `should be 0x${format.hex(computed)}`}`],
  ];
}

function skippableFacts({ magic, index }: FramePart & { kind: "skippable" }): [string, string][] {
  if (!index) return [["Magic number", word(magic)]];
  return [
    ["Blocks", format.count(index.nBlocks)],
    ["Frame", `${format.count(index.frameBytes)} bytes`],
    ["Content", `${format.count(index.contentBytes)} bytes`],
    ["Index checksum", index.checksumMatches ? "matches" : "does not match"],
  ];
}

function facts(entries: [string, string][]): HTMLElement {
  const list = make("dl", "facts");
  for (const [name, value] of entries) list.append(make("div", "", make("dt", "", name), make("dd", "", value)));
  return list;
}

function blocksView(blocks: Block[]): HTMLElement[] {
  const stored = blocks.filter((block) => block.stored).length;
  const wrong = blocks.filter(({ checksumMatches }) => checksumMatches === false).length;
  const text = `${format.plural(blocks.length, "block")}, ${format.count(stored)} of them stored${wrong > 0 ? `, ${wrong} with a checksum error` : ""}`;
  const rows = blocks.slice(0, MOST_LISTED).map((block, i) => {
    const sum = block.checksumMatches === null ? "none" : block.checksumMatches ? "matches" : "error";
    const cells = [String(i), format.count(block.at), format.count(block.bytes), block.stored ? "stored" : "LZ4", sum];
    return make("tr", "", ...cells.map((cell) => make("td", "", cell)));
  });
  const head = make("tr", "", ...["Block", "Position", "Bytes", "Kind", "Checksum"].map((cell) => {
    const th = make("th", "", cell);
    th.scope = "col";
    return th;
  }));
  const table = make("table", "list", make("thead", "", head), make("tbody", "", ...rows));
  const more = blocks.length > rows.length ? [make("p", "soft", `${format.plural(blocks.length - rows.length, "more block", "more blocks")} not listed.`)] : [];
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
  const button = element<HTMLButtonElement>("inspect-made");
  const offer = ({ name }: CompressedFile): void => {
    button.disabled = false;
    button.textContent = `Inspect ${name}`;
  };
  onCompressed(offer);
  const earlier = currentCompressed();
  if (earlier) offer(earlier);
  button.addEventListener("click", () => {
    const file = currentCompressed();
    if (file) inspect(file.name, file.blob);
  });
}

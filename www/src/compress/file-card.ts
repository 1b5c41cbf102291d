// What became of a file: its sizes, the proof that it comes back, the download, and how to check it elsewhere.
import type { Digest, FileResult } from "../press/calls";
import { button, copyable, element, failureCard, make } from "../shell/dom";
import * as format from "../shell/format";
import type { Failure } from "../rpc/messages";
import type { Subject } from "../shell/subject";
import { shellWord } from "./shell-word";

let urls: string[] = [];

function link(blob: Blob, name: string, text: string, className: string): HTMLAnchorElement {
  const url = URL.createObjectURL(blob);
  urls.push(url);
  const made = make("a", className, text);
  made.href = url;
  made.download = name;
  made.ariaLabel = `${text} ${name}`;
  return made;
}

function show(...children: HTMLElement[]): void {
  element("file-card").replaceChildren(...children);
}

/** Gives up what the last card offered. */
export function clearCard(name: string): void {
  for (const url of urls.splice(0)) URL.revokeObjectURL(url);
  show(make("p", "soft", `Working on ${name}`));
}

/** How to check the file with the `lz4` command. */
export function checkLines({ name, source }: Pick<Subject, "name" | "source">): string {
  const [plain, packed] = [shellWord(name), shellWord(`${name}.lz4`)];
  const back = source === "archive" ? `lz4 -dc ${packed} | tar -tvf -` : `lz4 -dc ${packed} | cmp - ${plain} && echo same`;
  return `lz4 -t ${packed}\n${back}`;
}

function figures(entries: [string, string][]): HTMLElement {
  const list = make("dl", "figures");
  for (const [name, value] of entries) list.append(make("div", "", make("dt", "", name), make("dd", "", value)));
  return list;
}

const DIGESTS: Record<Digest["kind"], string> = {
  sha256: "SHA-256",
  "sha256-of-pieces": "SHA-256 of the SHA-256s of 4 MiB pieces",
  "xxh32-of-pieces": "XXH32 of the XXH32s of 4 MiB pieces, since there is no SHA-256 without https",
};

function digestLine({ hex, kind }: Digest): HTMLElement {
  const code = make("code", "digest", hex);
  return make("p", "soft", `${DIGESTS[kind]} `, code);
}

function engineWords({ engine, reason }: FileResult): string {
  return `${engine === "webgpu" ? "GPU" : "CPU"}: ${reason}`;
}

/** The card of a file that was compressed. */
export function showCompressed(subject: Subject, result: FileResult): void {
  const { digest, roundTrip, output, inputBytes, outputBytes, milliseconds } = result;
  const isSame = roundTrip?.hex === digest.hex;
  const check = isSame
    ? make("p", "verified", "Decompressed again: every byte is the same.")
    : failureCard({ code: "ROUND_TRIP", message: "The content did not come back: do not use this output." });
  const downloads = make("p", "actions", link(output, `${subject.name}.lz4`, "Download", "primary"));
  if (subject.source !== "file") downloads.append(link(subject.blob, subject.name, "The original", "secondary"));
  show(
    make("h2", "", subject.name),
    figures([
      ["Before", format.size(inputBytes)],
      ["After", format.size(outputBytes)],
      ["Ratio", inputBytes > 0 ? format.ratio(inputBytes / outputBytes) : "–"],
      ["Read, compressed, written in", format.duration(milliseconds)],
    ]),
    check,
    digestLine(digest),
    downloads,
    copyable(checkLines(subject), "commands that check the download"),
    make("p", "soft", engineWords(result)),
  );
}

/** The card of an LZ4 file that was decompressed. */
export function showDecompressed(name: string, outputName: string, result: FileResult, look: () => void): void {
  const { digest, output, inputBytes, outputBytes, milliseconds } = result;
  show(
    make("h2", "", `${name} → ${outputName}`),
    figures([
      ["Before", format.size(inputBytes)],
      ["After", format.size(outputBytes)],
      ["Ratio", format.ratio(outputBytes / inputBytes)],
      ["Read, decompressed, written in", format.duration(milliseconds)],
    ]),
    make("p", "verified", "Complete, and every checksum in it is right."),
    digestLine(digest),
    make("p", "actions", link(output, outputName, "Download", "primary"), button("Look inside the frame", "secondary", look)),
    make("p", "soft", engineWords(result)),
  );
}

/** The card of what went wrong. */
export function showFailure(name: string, failure: Failure): void {
  show(make("h2", "", name), failureCard(failure));
}

/** The card of what was cancelled. */
export function showCancelled(name: string): void {
  show(make("h2", "", name), make("p", "soft", "Cancelled."));
}

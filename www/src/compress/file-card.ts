// The card of a result: sizes, verification, download, and commands that check the file elsewhere.
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

/** Shows that `name` is being processed, and revokes the URLs of the last card's downloads. */
export function clearCard(name: string): void {
  for (const url of urls.splice(0)) URL.revokeObjectURL(url);
  show(make("p", "soft", `Working on ${name}`));
}

/** Returns shell commands that check the downloaded file with `lz4`. */
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
  "sha256-of-pieces": "SHA-256 over the SHA-256 digests of 4 MiB pieces",
  "xxh32-of-pieces": "XXH32 over the XXH32 digests of 4 MiB pieces (SHA-256 needs https)",
};

function digestLine({ hex, kind }: Digest): HTMLElement {
  const code = make("code", "digest", hex);
  return make("p", "soft", `${DIGESTS[kind]} `, code);
}

function engineText({ engine, reason }: FileResult): string {
  return `${engine === "webgpu" ? "GPU" : "CPU"}: ${reason}`;
}

/** Shows the result of compressing the input. */
export function showCompressed(subject: Subject, result: FileResult): void {
  const { digest, roundTrip, output, inputBytes, outputBytes, milliseconds } = result;
  const isSame = roundTrip?.hex === digest.hex;
  const check = isSame
    ? make("p", "verified", "Verified: decompression restores every byte.")
    : failureCard({ code: "ROUND_TRIP", message: "Decompression gives other content. Do not use this file." });
  const downloads = make("p", "actions", link(output, `${subject.name}.lz4`, "Download", "primary"));
  if (subject.source !== "file") downloads.append(link(subject.blob, subject.name, "Original", "secondary"));
  show(
    make("h2", "", subject.name),
    figures([
      ["Before", format.size(inputBytes)],
      ["After", format.size(outputBytes)],
      ["Ratio", inputBytes > 0 ? format.ratio(inputBytes / outputBytes) : "–"],
      ["Time with reading and writing", format.duration(milliseconds)],
    ]),
    check,
    digestLine(digest),
    downloads,
    copyable(checkLines(subject), "commands that check the download"),
    make("p", "soft", engineText(result)),
  );
}

/** Shows the result of decompressing an LZ4 file. */
export function showDecompressed(name: string, outputName: string, result: FileResult, inspectFrame: () => void): void {
  const { digest, output, inputBytes, outputBytes, milliseconds } = result;
  show(
    make("h2", "", `${name} → ${outputName}`),
    figures([
      ["Before", format.size(inputBytes)],
      ["After", format.size(outputBytes)],
      ["Ratio", format.ratio(outputBytes / inputBytes)],
      ["Time with reading and writing", format.duration(milliseconds)],
    ]),
    make("p", "verified", "Complete; all checksums match."),
    digestLine(digest),
    make("p", "actions", link(output, outputName, "Download", "primary"), button("Inspect the frame", "secondary", inspectFrame)),
    make("p", "soft", engineText(result)),
  );
}

/** Shows why a file could not be processed. */
export function showFailure(name: string, failure: Failure): void {
  show(make("h2", "", name), failureCard(failure));
}

/** Shows that the work on a file was cancelled. */
export function showCancelled(name: string): void {
  show(make("h2", "", name), make("p", "soft", "Cancelled."));
}

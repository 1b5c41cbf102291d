// The cards of jobs, the newest first: sizes, verification, download, and commands that check the file elsewhere.
import type { FramePart } from "../lz4/frame";
import type { Digest, FileResult } from "../press/calls";
import type { Failure } from "../rpc/messages";
import { button, copyable, element, failureCard, fileButton, make, type Child } from "../shell/dom";
import * as format from "../shell/format";
import { optionsText, type JobOptions } from "../shell/press";
import type { Subject } from "../shell/subject";
import { checksumText } from "./checksums";
import { shellWord } from "./shell-word";

/** The card of one input. Its downloads stay until it is removed. */
export class Card {
  readonly #root = make("article", "card");
  readonly #body = make("div", "card-body");
  readonly #name: string;
  readonly #urls: string[] = [];
  /** Aborts the job of the card. */
  readonly controller = new AbortController();
  #removed: () => void = () => undefined;

  constructor(name: string) {
    this.#name = name;
    const remove = button("Remove", "secondary small-button", () => this.remove());
    remove.ariaLabel = `Remove ${name}`;
    this.#root.append(make("div", "row", make("h2", "", name), remove), this.#body);
    element("cards").prepend(this.#root);
    this.#show("waiting", make("p", "soft", "Waiting for the job before"));
  }

  /** Calls `removed` when the visitor removes the card. */
  onRemove(removed: () => void): void {
    this.#removed = removed;
  }

  /** Aborts the job, if it has not ended, and removes the card with its downloads. */
  remove(): void {
    this.controller.abort(new DOMException("removed", "AbortError"));
    for (const url of this.#urls.splice(0)) URL.revokeObjectURL(url);
    this.#root.remove();
    this.#removed();
  }

  get root(): HTMLElement {
    return this.#root;
  }

  #show(state: string, ...children: Child[]): void {
    this.#root.dataset["state"] = state;
    this.#body.replaceChildren(...children);
  }

  #link(blob: Blob, name: string, text: string, className: string): HTMLAnchorElement {
    const url = URL.createObjectURL(blob);
    this.#urls.push(url);
    const made = make("a", className, text);
    made.href = url;
    made.download = name;
    made.ariaLabel = `${text} ${name}`;
    return made;
  }

  working(): void {
    this.#show("working", make("p", "soft", "Working"));
  }

  cancelled(): void {
    this.#show("cancelled", make("p", "soft", "Cancelled."));
  }

  failed(failure: Failure): void {
    this.#show("failed", failureCard(failure));
  }

  /** Shows that an `.lz4` file is not LZ4, and offers to compress it nevertheless. */
  notLz4(isEmpty: boolean, compress: () => void): void {
    const message = isEmpty
      ? "The file is empty. An LZ4 file has at least a header: it was probably not written to its end."
      : "The file is named .lz4, but does not begin like an LZ4 file: it is damaged, or something else.";
    const anyway = button("Compress it anyway", "secondary", compress);
    this.#show("failed", failureCard({ code: "NOT_LZ4", message }), make("p", "actions", anyway));
  }

  /** Shows that a file needs a dictionary, and asks for it. */
  needsDictionary(failure: Failure, use: (dictionary: File) => void): void {
    const choose = fileButton("Choose its dictionary", "", use);
    this.#show("failed", failureCard(failure), make("p", "actions", choose));
  }

  /** Shows the result of compressing the input. */
  compressed(subject: Subject, result: FileResult, options: JobOptions["file"]): void {
    const { digest, roundTrip, output, inputBytes, outputBytes } = result;
    const check =
      roundTrip?.hex === digest.hex
        ? make("p", "verified", "Verified: decompresses to the same bytes")
        : failureCard({ code: "ROUND_TRIP", message: "Decompression gives other bytes. Do not use this file." });
    const downloads = make("p", "actions", this.#link(output, `${subject.name}.lz4`, "Download", "primary"));
    if (subject.source !== "file") downloads.append(this.#link(subject.blob, subject.name, "Original", "secondary"));
    const ratio = inputBytes > 0 ? format.ratio(inputBytes / outputBytes) : "–";
    this.#show(
      "done",
      sizes(result, ratio),
      check,
      downloads,
      more(
        digestLine(digest),
        copyable(checkLines(subject), "commands that check the download"),
        make("p", "soft", `${engineText(result)}; ${optionsText(options)}${options.index ? ", with an index" : ""}`),
      ),
    );
  }

  /** Shows the result of decompressing an LZ4 file. */
  decompressed(outputName: string, result: FileResult, parts: FramePart[], inspectFrame: () => void): void {
    const { digest, output, inputBytes, outputBytes } = result;
    const actions = make("p", "actions", this.#link(output, outputName, "Download", "primary"), button("Inspect the frame", "secondary", inspectFrame));
    this.#show(
      "done",
      make("p", "soft", `Decompressed to ${outputName}`),
      sizes(result, format.ratio(outputBytes / inputBytes)),
      make("p", "verified", checksumText(parts)),
      actions,
      more(digestLine(digest), make("p", "soft", engineText(result))),
    );
  }
}

function more(...children: Child[]): HTMLElement {
  return make("details", "", make("summary", "", "Digest, commands, engine"), ...children);
}

function sizes({ inputBytes, outputBytes, milliseconds }: FileResult, ratio: string): HTMLElement {
  const entries: [string, string][] = [
    ["Before", format.size(inputBytes)],
    ["After", format.size(outputBytes)],
    ["Ratio", ratio],
    ["Total time", format.duration(milliseconds)],
  ];
  const list = make("dl", "figures");
  for (const [name, value] of entries) list.append(make("div", "", make("dt", "", name), make("dd", "", value)));
  return list;
}

/** Returns shell commands that check the downloaded file with `lz4`. */
function checkLines({ name, source }: Pick<Subject, "name" | "source">): string {
  const [plain, packed] = [shellWord(name), shellWord(`${name}.lz4`)];
  const back = source === "archive" ? `lz4 -dc ${packed} | tar -tvf -` : `lz4 -dc ${packed} | cmp - ${plain} && echo same`;
  return `lz4 -t ${packed}\n${back}`;
}

const DIGESTS: Record<Digest["kind"], string> = {
  sha256: "SHA-256",
  "sha256-of-pieces": "SHA-256 over the SHA-256 digests of 4 MiB pieces",
  "xxh32-of-pieces": "XXH32 over the XXH32 digests of 4 MiB pieces (SHA-256 needs https)",
};

function digestLine({ hex, kind }: Digest): HTMLElement {
  return make("p", "soft", `${DIGESTS[kind]} `, make("code", "digest", hex));
}

function engineText({ engine, reason }: FileResult): string {
  return `${engine === "webgpu" ? "GPU" : "CPU"}: ${reason}`;
}

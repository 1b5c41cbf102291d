// The playground: programs with the package, and WGSL kernels, on the visitor's file or on sample data.
import { Client, failureOf } from "../rpc/client";
import { button, copyText, failureCard, make } from "../shell/dom";
import * as format from "../shell/format";
import { runJob, type JobControl } from "../shell/jobs";
import { allowsSoftware } from "../shell/press";
import { record } from "../shell/results";
import { currentSubject } from "../shell/subject";
import type { Outcome, PlaygroundCalls } from "./calls";
import { createEditor, type Editor } from "./editor";
import { EXAMPLES, type Language } from "./examples";
import { linkTo, programOfLink } from "./link";

/** Invocations per workgroup of the example, from which the number of workgroups follows. */
const WORKGROUP = 64;
/** Maximum number of workgroups in a dimension that every device offers. */
const MOST_WORKGROUPS = 65535;
/** Most lines of output that are kept. */
const MOST_LINES = 500;

const runner = new Client<PlaygroundCalls>(
  () => new Worker(new URL("./playground-runner.ts", import.meta.url), { type: "module", name: "playground" }),
);
const language = make("select");
const source = make("select");
const output = make("pre");
const notice = make("p", "notice");
const programs: Record<Language, string> = { ...EXAMPLES };
let editor: Editor;

const chosenLanguage = (): Language => language.value as Language;

function line(text: string): void {
  const lines = [...(output.textContent ?? "").split("\n").filter(Boolean), text];
  output.textContent = `${lines.slice(-MOST_LINES).join("\n")}\n`;
}

function input(): Blob | null {
  return source.value === "file" ? (currentSubject()?.blob ?? null) : null;
}

async function perform({ signal }: JobControl): Promise<void> {
  const program = editor.text();
  const onProgress = ({ line: text }: { line: string }): void => line(text);
  const blob = input();
  const stop = (): void => runner.end();
  // A program may never return: cancelling ends its worker.
  signal.addEventListener("abort", stop, { once: true });
  let outcome: Outcome;
  if (chosenLanguage() === "javascript") {
    outcome = await runner.call("javascript", { program, input: blob }, { signal, onProgress });
  } else {
    const elements = blob ? Math.floor(Math.min(blob.size, 16 << 20) / 4) : 65536;
    const workgroups = Math.max(1, Math.min(MOST_WORKGROUPS, Math.ceil(elements / WORKGROUP)));
    const kernel = { words: blob, workgroups, allowSoftware: allowsSoftware() };
    outcome = await runner.call("wgsl", { program, input: kernel }, { signal, onProgress });
  }
  signal.removeEventListener("abort", stop);
  show(outcome);
}

function show({ milliseconds, error }: Outcome): void {
  editor.mark(error);
  if (error) {
    const place = error.position ? `line ${error.position.line}: ` : "";
    line(`${place}${error.code}: ${error.message}`);
  } else {
    line(`done in ${format.duration(milliseconds)}`);
  }
  record({ kind: "program", language: chosenLanguage(), milliseconds, error, output: output.textContent });
}

function run(): void {
  output.textContent = "";
  notice.hidden = true;
  editor.mark(null);
  void runJob("Program", perform, ({ code, message }) => line(`${code}: ${message}`));
}

function option(value: string, text: string): HTMLOptionElement {
  const made = make("option", "", text);
  made.value = value;
  return made;
}

function controls(): HTMLElement {
  language.id = "program-language";
  language.append(option("javascript", "JavaScript"), option("wgsl", "WGSL kernel"));
  let shown: Language = "javascript";
  language.addEventListener("change", () => {
    programs[shown] = editor.text();
    shown = chosenLanguage();
    editor.replace(programs[shown], shown);
    output.textContent = "";
  });
  source.id = "program-input";
  source.append(option("sample", "Sample data"), option("file", "Your file"));
  const runButton = button("Run", "primary", run);
  runButton.id = "program-run";
  const link = button("Copy link", "secondary", () => void linkTo(chosenLanguage(), editor.text()).then((text) => copyText(text, link)));
  link.id = "program-link";
  const fresh = button("Example", "secondary", () => editor.replace(EXAMPLES[chosenLanguage()], chosenLanguage()));
  return make("p", "actions", make("label", "inline", "Language ", language), make("label", "inline", "Input ", source), runButton, link, fresh);
}

/** Puts the program of the link into the editor. It is not run: the visitor reads it first. */
async function takeLink(): Promise<void> {
  const linked = await programOfLink().catch((error: unknown) => {
    notice.replaceChildren(failureCard(failureOf(error)));
    notice.hidden = false;
    return null;
  });
  if (!linked) return;
  notice.textContent = "This program came with the link. Read it before you run it.";
  notice.hidden = false;
  language.value = linked.language;
  language.dispatchEvent(new Event("change"));
  editor.replace(linked.program, linked.language);
}

export async function mount(at: HTMLElement): Promise<void> {
  const place = make("div", "editor");
  output.id = "program-output";
  output.tabIndex = 0;
  output.role = "region";
  output.ariaLabel = "Output of the program";
  output.ariaLive = "polite";
  notice.id = "program-notice";
  notice.hidden = true;
  at.replaceChildren(
    make("h2", "", "5. Edit and run a program"),
    make("p", "soft", "It runs in a worker of its own, without the page's storage. Control-Enter runs it."),
    controls(),
    notice,
    make("div", "playground", place, output),
  );
  editor = createEditor(place, run);
  editor.replace(programs.javascript, "javascript");
  await takeLink();
}

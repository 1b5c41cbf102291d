// Wires the page: input in, results out.
import { CallError, Client } from "./client";
import type { Backend, CompressChoice, EngineChoice, Failure, Gzipped, Sample, Timing } from "./messages";
import { addCompressed, addDecompressed, addFailure, element, showBackend, showNoBackend, showProgress } from "./view";

/** Input and output are held in memory. */
const MOST_BYTES = 1024 ** 3;

/** What tests read from `window.__results`, one entry for each file, in order. */
interface Outcome {
  name: string;
  action: "compress" | "decompress";
  outputName?: string;
  inputBytes: number;
  outputBytes?: number;
  ratio?: number;
  verified?: boolean;
  compressMs?: number;
  decompressMs?: number;
  backend?: Backend;
  timing?: Timing;
  gzip?: Gzipped;
  error?: Failure;
}

declare global {
  interface Window {
    __results: Outcome[];
    __backend: Backend | Failure | null;
  }
}

window.__results = [];
window.__backend = null;

const client = new Client();
const select = (id: string) => element<HTMLSelectElement>(id);
const query = new URLSearchParams(location.search);

function engineChoice(): EngineChoice {
  return {
    backend: select("backend").value as EngineChoice["backend"],
    allowSoftware: query.has("allow-software"),
  };
}

function compressChoice(): CompressChoice {
  return {
    blockSize: Number(select("block-size").value),
    level: select("level").value as CompressChoice["level"],
  };
}

function failureOf(error: unknown): Failure {
  if (error instanceof CallError) return { code: error.code, message: error.message };
  return { code: "UNEXPECTED", message: error instanceof Error ? error.message : String(error) };
}

/** Files wait their turn: one at a time keeps memory bounded and measurements clean. */
let last: Promise<void> = Promise.resolve();
let waiting = 0;

function enqueue(work: () => Promise<void>): void {
  waiting += 1;
  last = last.then(work).finally(() => {
    waiting -= 1;
    if (waiting === 0) showProgress(null);
  });
}

async function openEngine(): Promise<void> {
  showProgress("Starting the engine");
  window.__backend = null;
  try {
    const backend = await client.call("open", engineChoice());
    showBackend(backend);
    window.__backend = backend;
  } catch (error) {
    const failure = failureOf(error);
    showNoBackend(failure);
    window.__backend = failure;
  }
}

/** Whether the file is LZ4 by its name or its first four bytes: a frame, a legacy frame or a skippable one. */
async function isLz4(file: File): Promise<boolean> {
  if (file.name.endsWith(".lz4")) return true;
  if (file.size < 4) return false;
  const magic = new DataView(await file.slice(0, 4).arrayBuffer()).getUint32(0, true);
  return magic === 0x184d2204 || magic === 0x184c2102 || magic >>> 4 === 0x184d2a5;
}

async function compress(file: File, outcome: Outcome): Promise<void> {
  const choice = compressChoice();
  const stage = (text: string) => showProgress(`${file.name}: ${text}`);
  const result = await client.call("compress", { file, choice }, stage);
  const { output, compressMs, decompressMs, verified, backend, timing } = result;
  const ratio = output.size > 0 ? file.size / output.size : 0;
  const outputName = `${file.name}.lz4`;
  Object.assign(outcome, { outputName, outputBytes: output.size, ratio, verified, compressMs, decompressMs, backend, timing });
  showBackend(backend);
  const addGzip = addCompressed(file.name, file.size, choice, result);
  if (file.size === 0) return;
  outcome.gzip = await client.call("gzip", { file }, stage);
  addGzip(outcome.gzip);
}

async function decompress(file: File, outcome: Outcome): Promise<void> {
  const outputName = file.name.endsWith(".lz4") ? file.name.slice(0, -4) || "output" : `${file.name}.out`;
  const stage = (text: string) => showProgress(`${file.name}: ${text}`);
  const result = await client.call("decompress", { file, maxOutputSize: MOST_BYTES }, stage);
  const { output, decompressMs, backend, timing } = result;
  Object.assign(outcome, { outputName, outputBytes: output.size, decompressMs, backend, timing });
  showBackend(backend);
  addDecompressed(file.name, outputName, file.size, result);
}

async function handle(file: File): Promise<void> {
  const outcome: Outcome = { name: file.name, action: "compress", inputBytes: file.size };
  try {
    if (file.size > MOST_BYTES) {
      const message = "This page takes files up to 1 GiB; the command `pagepress compress` takes any size.";
      throw new CallError({ code: "FILE_TOO_LARGE", message });
    }
    if (await isLz4(file)) outcome.action = "decompress";
    await (outcome.action === "compress" ? compress(file, outcome) : decompress(file, outcome));
  } catch (error) {
    outcome.error = failureOf(error);
    addFailure(file.name, outcome.error);
  }
  window.__results.push(outcome);
}

function take(files: Iterable<File>): void {
  for (const file of files) enqueue(() => handle(file));
}

function takeSample(sample: Sample): void {
  enqueue(async () => {
    const name = `${sample}-${select("size").value}MiB${sample === "json" ? ".json" : sample === "text" ? ".txt" : ".bin"}`;
    showProgress(`Making ${name}`);
    const size = Number(select("size").value) * 1024 ** 2;
    const blob = await client.call("generate", { sample, size }).catch(failureOf);
    if (blob instanceof Blob) await handle(new File([blob], name));
    else addFailure(name, blob);
  });
}

function listen(): void {
  const drop = element("drop");
  const input = element<HTMLInputElement>("file");
  input.addEventListener("change", () => {
    take([...(input.files ?? [])]);
    input.value = "";
  });
  // Anywhere on the page: a file that misses the area must not replace the page.
  window.addEventListener("dragover", (event) => {
    event.preventDefault();
    drop.classList.add("over");
  });
  window.addEventListener("dragleave", () => drop.classList.remove("over"));
  window.addEventListener("drop", (event) => {
    event.preventDefault();
    drop.classList.remove("over");
    take([...(event.dataTransfer?.files ?? [])]);
  });
  for (const button of document.querySelectorAll<HTMLButtonElement>("[data-sample]")) {
    button.addEventListener("click", () => takeSample(button.dataset["sample"] as Sample));
  }
  select("backend").addEventListener("change", () => enqueue(openEngine));
}

const asked = query.get("backend");
if (asked === "webgpu" || asked === "cpu") select("backend").value = asked;
listen();
enqueue(openEngine);

// Runs a JavaScript program with the package.
import * as pagepress from "pagepress";
import * as dictionary from "pagepress/dictionary";
import { measure } from "../measure/measure";
import type { Control } from "../rpc/serve";
import { duration } from "../shell/format";
import { makeSample } from "../press/samples";
import type { Outcome, Position } from "./calls";

const SAMPLE_BYTES = 1 << 20;
/** Lines that the browser puts before the body of a function. */
const LINES_BEFORE = 2;
const NAME = "program.js";
/** Longest line of output. */
const MOST_CHARACTERS = 2000;

type Program = (
  api: typeof pagepress & typeof dictionary,
  input: Uint8Array<ArrayBuffer>,
  show: (...values: unknown[]) => void,
  time: (label: string, work: () => unknown) => Promise<unknown>,
) => Promise<void>;

const AsyncFunction = (async () => undefined).constructor as new (...parts: string[]) => Program;

export async function runJavaScript(
  { program, input }: { program: string; input: Blob | null },
  { signal, progress }: Control<{ line: string }>,
): Promise<Outcome> {
  const blob = input ?? (await makeSample({ sample: "json", bytes: SAMPLE_BYTES }, { signal, progress: () => undefined }));
  const bytes = new Uint8Array(await blob.arrayBuffer());
  const show = (...values: unknown[]): void => progress({ line: values.map(textOf).join(" ").slice(0, MOST_CHARACTERS) });
  const time = async (label: string, work: () => unknown): Promise<unknown> => {
    const { milliseconds, value } = await measure(work);
    show(`${label}: ${duration(milliseconds)}`);
    return value;
  };
  const start = performance.now();
  try {
    const run = new AsyncFunction("pagepress", "input", "show", "time", `${program}\n//# sourceURL=${NAME}`);
    await run({ ...pagepress, ...dictionary }, bytes, show, time);
    return { milliseconds: performance.now() - start, error: null };
  } catch (error) {
    return { milliseconds: performance.now() - start, error: described(error) };
  }
}

function described(error: unknown): NonNullable<Outcome["error"]> {
  if (!(error instanceof Error)) return { code: "THROWN", message: textOf(error), position: null };
  const code = "code" in error && typeof error.code === "string" ? error.code : error.name;
  return { code, message: error.message, position: positionIn(error.stack ?? "") };
}

/** Returns the first position of the program in a stack. */
function positionIn(stack: string): Position | null {
  const found = /program\.js:(\d+):(\d+)/.exec(stack);
  if (!found) return null;
  return { line: Math.max(1, Number(found[1]) - LINES_BEFORE), column: Number(found[2]) };
}

/** Formats a value as a line. */
function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  if (ArrayBuffer.isView(value)) {
    const bytes = value as Uint8Array;
    const first = Array.from(bytes.subarray(0, 16), String).join(" ");
    return `${value.constructor.name}(${bytes.length}) ${first}${bytes.length > 16 ? " …" : ""}`;
  }
  try {
    return typeof value === "object" ? (JSON.stringify(value) ?? String(value)) : String(value);
  } catch {
    return String(value);
  }
}

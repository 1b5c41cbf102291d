#!/usr/bin/env node
// The command of the npm package: LZ4 files, interchangeable with those of `lz4`.
import { createReadStream, readFileSync, type Stats, statSync } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { type Dictionary, Lz4CompressionStream, Lz4DecompressionStream, type PagepressError, type Progress } from "pagepress";
import { type Arguments, HELP, readArguments, UsageError } from "./arguments.js";
import { createFile, type Output, removePendingAtSignals, standardOutput } from "./output.js";

const CHUNK_BYTES = 2 ** 20;

/** An input, with its status if it is a file. */
interface Input {
  readonly name: string;
  readonly stream: NodeJS.ReadableStream;
  readonly stats: Stats | undefined;
}

function openInput(file: string): Input {
  if (file === "-") return { name: "standard input", stream: process.stdin, stats: undefined };
  const stats = statSync(file);
  if (stats.isDirectory()) throw new Error(`${file} is a directory; give the files in it`);
  return { name: file, stream: createReadStream(file, { highWaterMark: CHUNK_BYTES }), stats: stats.isFile() ? stats : undefined };
}

/** Returns the path of the output for `file`; null for `-t`. */
function outputPath(file: string, { mode, output }: Arguments): string | null {
  if (mode === "test") return null;
  if (output !== undefined || file === "-") return output ?? "-";
  if (mode === "compress") return `${file}.lz4`;
  if (file.endsWith(".lz4")) return file.slice(0, -".lz4".length);
  throw new Error(`${file} does not end in .lz4; name the output with -o OUT or give -c`);
}

function openOutput(path: string | null, { mode, force }: Arguments): Output | null {
  if (path === null) return null;
  if (path !== "-") return createFile(path, force);
  if (mode === "compress" && process.stdout.isTTY && !force) {
    throw new Error("will not write compressed data to a terminal; redirect it, give -o OUT, or force it with -f");
  }
  return standardOutput;
}

/** Returns the stream that compresses or decompresses `input`. */
function transformOf(args: Arguments, dictionary: Dictionary | undefined, input: Input, onProgress: (progress: Progress) => void) {
  const common = { backend: "cpu", dictionary, onProgress } as const;
  if (args.mode !== "compress") {
    return new Lz4DecompressionStream({ ...common, ...(args.limit === undefined ? {} : { maxOutputSize: args.limit }) });
  }
  const { level, blockSize, index } = args;
  const size = input.stats ? { contentSize: input.stats.size } : {};
  return new Lz4CompressionStream({ ...common, level, blockSize, index, ...size });
}

/** Reads the dictionary in `file`. */
async function openDictionary(file: string): Promise<Dictionary> {
  try {
    const bytes = readFileSync(file);
    const { createDictionary } = await import("pagepress/dictionary");
    return await createDictionary(bytes);
  } catch (error) {
    throw new Error(`-D ${file}: ${(error as Error).message}`, { cause: error });
  }
}

/** Returns the message of an error, with the option that gives a dictionary. */
function messageOf(error: unknown): string {
  const { code, message } = error as PagepressError;
  return code === "DICTIONARY_NEEDED" || code === "WRONG_DICTIONARY" ? `${message}: -D FILE` : message;
}

/** Compresses or decompresses `file`. After an error, the incomplete output is removed. */
async function convert(file: string, args: Arguments, dictionary: Dictionary | undefined): Promise<void> {
  if (file === "-" && args.mode !== "compress" && process.stdin.isTTY) {
    throw new Error("cannot read a compressed file from a terminal; give a FILE or redirect standard input");
  }
  const start = performance.now();
  const path = outputPath(file, args);
  const input = openInput(file);
  const output = openOutput(path, args);
  let last: Progress = { bytesIn: 0, bytesOut: 0, totalBytes: null, backend: "cpu" };
  try {
    const content = Readable.toWeb(Readable.from(input.stream)) as ReadableStream<Uint8Array<ArrayBuffer>>;
    const made = content.pipeThrough(transformOf(args, dictionary, input, (progress) => (last = progress)));
    if (output) await pipeline(Readable.fromWeb(made), output.stream, { end: !output.isShared });
    else for await (const _ of made);
    output?.commit(input.stats);
  } catch (error) {
    output?.discard();
    if ((error as NodeJS.ErrnoException).code === "EPIPE") throw error;
    throw new Error(`${input.name}: ${messageOf(error)}`, { cause: error });
  }
  if (args.quiet) return;
  const { bytesIn, bytesOut } = last;
  const ratio = Math.max(bytesIn, bytesOut) / Math.max(Math.min(bytesIn, bytesOut), 1);
  const seconds = ((performance.now() - start) / 1000).toFixed(2);
  const what = `${input.name} -> ${output?.name ?? "nothing"}: ${bytesIn} -> ${bytesOut} bytes`;
  console.error(`${what} (${ratio.toFixed(3)}x) in ${seconds} s on cpu`);
}

/** Runs the command line, and returns the exit code. */
async function main(): Promise<number> {
  const args = readArguments(process.argv.slice(2));
  if (args === "help") return void process.stdout.write(HELP), 0;
  if (args === "version") {
    const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as { version: string };
    return void process.stdout.write(`pagepress ${version}\n`), 0;
  }
  removePendingAtSignals();
  const dictionary = args.dictionary === undefined ? undefined : await openDictionary(args.dictionary);
  let code = 0;
  for (const file of args.files) {
    try {
      await convert(file, args, dictionary);
    } catch (error) {
      // The reader has closed the pipe: the exit code is that of a program ended by SIGPIPE.
      if ((error as NodeJS.ErrnoException).code === "EPIPE") return 141;
      console.error(`pagepress: ${(error as Error).message}`);
      code = 1;
    }
  }
  return code;
}

main().then(
  (code) => (process.exitCode = code),
  (error: unknown) => {
    console.error(`pagepress: ${(error as Error).message}${error instanceof UsageError ? "; see --help" : ""}`);
    process.exitCode = error instanceof UsageError ? 2 : 1;
  },
);

import { parseArgs } from "node:util";

export const HELP = `Compresses and decompresses LZ4 files, on the CPU.

Usage: pagepress [-z | -d | -t] [OPTIONS] [FILE]...
       pagepress compress | decompress [OPTIONS] [FILE]...

FILE is - or left out for standard input, which goes to standard output. Inputs are kept.

  -z, --compress        Compress to FILE.lz4 (default)
  -d, --decompress      Decompress FILE.lz4 to FILE
  -t, --test            Decompress, and write nothing
  -o, --output OUT      Output file, for one FILE; - is standard output
  -c, --stdout          Write to standard output, one FILE after the other
  -f, --force           Overwrite outputs, and write compressed data to a terminal
  -k, --keep            Keep inputs, as is always done
  -q, --quiet           Say nothing unless something fails
  -1, -9                --level sequential, --level high
      --level LEVEL     fast, high or sequential (default, the quickest)
      --block-size N    Content of a block in bytes, 4096 to 4194304 (default 65536)
  -D, --dictionary FILE The dictionary of the content; lz4 -D FILE reads and writes the same frames
      --index           Add an index of the blocks, which other LZ4 programs skip
      --limit N         Fail rather than decompress one FILE to more than N bytes
  -h, --help            Print this
  -V, --version         Print the version

Exit codes: 0 all done, 1 something failed, 2 wrong usage.
The native command (cargo install pagepress-cli) also runs on GPUs, reads parts of files and measures.
`;

/** An error of the command line. */
export class UsageError extends Error {}

export interface Arguments {
  mode: "compress" | "decompress" | "test";
  files: string[];
  /** Path of the output; `-` is standard output. If undefined, the output is written beside each file. */
  output: string | undefined;
  force: boolean;
  quiet: boolean;
  level: "fast" | "high" | "sequential";
  blockSize: number;
  index: boolean;
  /** Path of the dictionary. */
  dictionary: string | undefined;
  limit: number | undefined;
}

const flag = (short: string) => ({ type: "boolean", short }) as const;
const options = {
  compress: flag("z"),
  decompress: flag("d"),
  test: flag("t"),
  output: { type: "string", short: "o" },
  stdout: flag("c"),
  force: flag("f"),
  keep: flag("k"),
  quiet: flag("q"),
  "1": flag("1"),
  "9": flag("9"),
  level: { type: "string" },
  "block-size": { type: "string" },
  dictionary: { type: "string", short: "D" },
  index: { type: "boolean" },
  limit: { type: "string" },
  help: flag("h"),
  version: flag("V"),
} as const;

/** Subcommands of the native command, as flags. */
const words = new Map([["compress", "-z"], ["c", "-z"], ["decompress", "-d"], ["d", "-d"]]);

/** Parses the command line. Throws a `UsageError`. */
export function readArguments(given: string[]): Arguments | "help" | "version" {
  const [first = "", ...rest] = given;
  if (["bench", "devices", "ptx", "train"].includes(first)) {
    throw new UsageError(`only the native command has \`${first}\`: cargo install pagepress-cli`);
  }
  const word = words.get(first);
  const { values, positionals } = parsed(word ? [word, ...rest] : given);
  if (values.help) return "help";
  if (values.version) return "version";
  const modes = (["compress", "decompress", "test"] as const).filter((name) => values[name]);
  if (modes.length > 1) throw new UsageError("-z, -d and -t exclude each other");
  const [mode = "compress"] = modes;
  const output = values.output ?? (values.stdout ? "-" : undefined);
  if (values.stdout && values.output !== undefined) throw new UsageError("-o and -c exclude each other");
  if (mode === "test" && output !== undefined) throw new UsageError("-t writes nothing: leave out -o and -c");
  if (values.output !== undefined && positionals.length > 1) throw new UsageError("-o OUT is for one FILE; -c joins several");
  return {
    mode,
    files: positionals.length > 0 ? positionals : ["-"],
    output,
    force: values.force ?? false,
    quiet: values.quiet ?? false,
    level: levelOf(values.level ?? (values["9"] ? "high" : "sequential")),
    blockSize: numberOf("--block-size", values["block-size"] ?? "65536", 4096, 4 * 2 ** 20),
    index: values.index ?? false,
    dictionary: values.dictionary,
    limit: values.limit === undefined ? undefined : numberOf("--limit", values.limit, 0, Number.MAX_SAFE_INTEGER),
  };
}

function parsed(args: string[]) {
  try {
    return parseArgs({ args, options, allowPositionals: true });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

function levelOf(level: string): Arguments["level"] {
  if (level === "fast" || level === "high" || level === "sequential") return level;
  throw new UsageError(`--level is fast, high or sequential, not ${level}`);
}

function numberOf(name: string, text: string, least: number, most: number): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= least && value <= most) return value;
  throw new UsageError(`${name} is a number of bytes from ${least} to ${most}, not ${text}`);
}

// LZ4 for zarrita and numcodecs: the codecs `lz4` and `blosc` of Zarr.
import { checkOneOf, checkSize, fail } from "../base/arguments.js";
import type { Bytes } from "../base/bytes.js";
import { PagepressError } from "../base/errors.js";
import { levelNumber } from "../modules/enums.js";
import { type Checked, checkedOptions, cpuCalls, guarded, loading, taken, type WriterOptions } from "./calls.js";
import { type FormatsModule, loadFormats } from "./formats.js";

export { PagepressError } from "../base/errors.js";
export type { ReaderOptions, WriterOptions } from "./calls.js";

/** A codec that converts bytes, as zarrita and numcodecs expect it. */
export interface BytesCodec {
  readonly kind: "bytes_to_bytes";
  encode(bytes: Uint8Array): Bytes;
  /** Writes to the start of `out` and returns it, if it is given. */
  decode(bytes: Uint8Array, out?: Uint8Array): Bytes;
}

/** Class of a codec. `fromConfig` takes the configuration in the metadata of an array: a `BloscConfig`, or that of `lz4`, whose
 * `acceleration` has no effect. Of `meta` only the data type matters, whose size Blosc needs for its shuffle. */
export interface BytesCodecClass {
  readonly codecId: string;
  fromConfig(config?: unknown, meta?: { readonly dataType?: string }): BytesCodec;
}

/** Configuration of the codec `blosc`, of Zarr 2 and 3. Only encoding depends on it. Other names in it are ignored. */
export interface BloscConfig {
  /** Compressor: `"lz4"` (default) or `"lz4hc"`, which is the level `"high"`. */
  cname?: string;
  /** 0 stores the bytes; 1 to 9 compress. Default 5. */
  clevel?: number;
  /** 0 or `"noshuffle"`, 1 or `"shuffle"` (default), 2 or `"bitshuffle"`; -1 for bits of single bytes, else bytes. */
  shuffle?: number | string;
  /** Bytes of a block; 0 (default) for a suitable number. */
  blocksize?: number;
  /** Bytes of an element. Default: those of the array's data type, else 1. */
  typesize?: number;
}

/** The map `registry` of zarrita. */
export interface CodecRegistry {
  set(name: string, codec: () => Promise<BytesCodecClass>): unknown;
}

/** Loads the CPU module, and returns the codec `lz4`: a block with its size before it, as numcodecs writes it. */
export async function lz4(options: WriterOptions = {}): Promise<BytesCodecClass> {
  const calls = await cpuCalls(options, true);
  const codec: BytesCodec = {
    kind: "bytes_to_bytes",
    encode: (bytes) => calls.compress(bytes, "size-prefixed"),
    decode: (bytes, out) => written(calls.decompress(bytes, "size-prefixed"), out),
  };
  return { codecId: "lz4", fromConfig: () => codec };
}

/** Loads the module for formats, and returns the codec `blosc` for the compressors `lz4` and `lz4hc`. Chunks of others are the
 * error `NOT_LZ4`, which names the compressor. */
export async function blosc(options: WriterOptions = {}): Promise<BytesCodecClass> {
  return loading(async () => {
    const checked = checkedOptions(options, true);
    const module = await loadFormats(checked.sources.formats);
    return {
      codecId: "blosc",
      fromConfig: (config, meta) => new Blosc(module, checked, (config ?? {}) as BloscConfig, sizeOfType(meta?.dataType)),
    };
  });
}

/** Registers both codecs, under their names in Zarr 2 and 3. Modules are loaded when an array first needs them. */
export function register(registry: CodecRegistry, options: WriterOptions = {}): void {
  guarded(() => checkedOptions(options, true));
  for (const prefix of ["", "numcodecs."]) {
    registry.set(`${prefix}blosc`, () => blosc(options));
    registry.set(`${prefix}lz4`, () => lz4(options));
  }
}

/** Shuffles by their numbers in C-Blosc and in the module, with their names in Zarr 3. */
const SHUFFLES = ["noshuffle", "shuffle", "bitshuffle"];
const AUTO_SHUFFLE = -1;

class Blosc implements BytesCodec {
  readonly kind = "bytes_to_bytes";
  readonly #module: FormatsModule;
  readonly #options: Checked;
  readonly #config: BloscConfig;
  readonly #typeSize: number;

  constructor(module: FormatsModule, options: Checked, config: BloscConfig, typeSize: number) {
    this.#module = module;
    this.#options = options;
    this.#config = config;
    this.#typeSize = typeSize;
  }

  encode(bytes: Uint8Array): Bytes {
    return guarded(() => {
      const { cname = "lz4", clevel = 5, shuffle = 1, blocksize = 0, typesize = this.#typeSize } = this.#config;
      checkOneOf("cname", cname, ["lz4", "lz4hc"]);
      checkSize("clevel", clevel, 9);
      checkSize("blocksize", blocksize, 2 ** 31 - 1);
      checkSize("typesize", typesize, 2 ** 31 - 1);
      const level = cname === "lz4hc" ? "high" : this.#options.level;
      const number = clevel === 0 ? undefined : levelNumber(level, "sequential");
      const content = taken(bytes);
      return this.#module.run((formats) => formats.encodeBlosc(content, typesize, shuffleNumber(shuffle, typesize), blocksize, number));
    });
  }

  decode(bytes: Uint8Array, out?: Uint8Array): Bytes {
    const { limit } = this.#options;
    const content = guarded(() => this.#module.run(({ decodeBlosc }) => decodeBlosc(taken(bytes), limit)));
    return written(content, out);
  }
}

function shuffleNumber(shuffle: number | string, typeSize: number): number {
  if (shuffle === AUTO_SHUFFLE) return typeSize === 1 ? 2 : 1;
  const number = typeof shuffle === "string" ? SHUFFLES.indexOf(shuffle) : shuffle;
  if (SHUFFLES[number] === undefined) fail("shuffle", String(shuffle), `give 0, 1, 2, -1, or one of ${SHUFFLES.join(", ")}`);
  return number;
}

/** Returns the bytes of an element of a data type of zarrita, such as `"uint16"` or `"v2:U10"`; 1 if it is unknown. */
function sizeOfType(type: string | undefined): number {
  const [, name = "", digits = ""] = /^(u?int|float|complex|r|v2:[SU])(\d+)$/.exec(type ?? "") ?? [];
  const number = Number(digits);
  if (name === "v2:U") return Math.max(4 * number, 1);
  return Math.max(name === "v2:S" ? number : number / 8, 1);
}

/** Copies `content` to the start of `out` and returns that array, if it is given. */
function written(content: Bytes, out: Uint8Array | undefined): Bytes {
  if (!out) return content;
  if (out.length < content.length) {
    throw new PagepressError("OUTPUT_LIMIT", `the output has ${out.length} bytes, expected at least ${content.length}`);
  }
  out.set(content);
  return out as Bytes;
}

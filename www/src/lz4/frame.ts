// Parses the structure of LZ4 files: frames with descriptors and blocks, legacy frames, skippable frames, seek indexes.
//
// This folder shares no code with the package on purpose: the page shows the structure, the checksums and the sequences
// of the package's output as an independent reader of the LZ4 specification sees them, so an error in the package does
// not hide itself. It decompresses nothing; `www/test/modules.mjs` checks it against the `lz4` command.
import { FrameError } from "./error";
import { readIndex, type SeekIndex } from "./seek-index";
import { Window } from "./window";
import { xxh32 } from "./xxh32";

/** The descriptor of a frame. */
export interface Descriptor {
  version: number;
  independentBlocks: boolean;
  blockChecksums: boolean;
  contentChecksum: boolean;
  contentSize: number | null;
  dictionaryId: number | null;
  /** Maximum bytes of content per block. */
  blockBytes: number;
  /** The header checksum in the file, and the one computed from the descriptor. */
  headerChecksum: { stored: number; computed: number };
}

/** A block. `at` is the position of its size field in the file. */
export interface Block {
  at: number;
  /** Bytes of its data in the file. */
  bytes: number;
  stored: boolean;
  /** True if the block checksum matches; null if there is none. */
  checksumMatches: boolean | null;
}

export type FramePart =
  | { kind: "frame"; at: number; bytes: number; descriptor: Descriptor; blocks: Block[]; contentChecksum: number | null }
  | { kind: "legacy"; at: number; bytes: number; blocks: Block[] }
  | { kind: "skippable"; at: number; bytes: number; magic: number; index: SeekIndex | null };

const FRAME = 0x184d2204;
const LEGACY = 0x184c2102;
const isSkippable = (magic: number): boolean => magic >>> 4 === 0x184d2a5;
const STORED = 0x8000_0000;

/** Returns true if a number is the magic number of an LZ4 frame, a legacy frame or a skippable frame. */
export function isLz4Magic(magic: number): boolean {
  return magic === FRAME || magic === LEGACY || isSkippable(magic);
}

export interface WalkControl {
  signal?: AbortSignal;
  /** Called with the number of bytes parsed so far. */
  onProgress?: (bytes: number) => void;
}

/** Returns the parts of the LZ4 file in `blob`, in order. Reads the file in windows, so memory is bounded. */
export async function partsOf(blob: Blob, { signal, onProgress }: WalkControl = {}): Promise<FramePart[]> {
  const file = new Window(blob);
  const parts: FramePart[] = [];
  const checkpoint = (): void => {
    signal?.throwIfAborted();
    onProgress?.(file.at);
  };
  while (file.at < file.end) {
    const at = file.at;
    const magic = await file.word();
    if (magic === FRAME) parts.push(await readFrame(file, at, checkpoint));
    else if (magic === LEGACY) parts.push(await readLegacy(file, at, checkpoint));
    else if (isSkippable(magic)) parts.push(await readSkippable(file, at, magic));
    else throw new FrameError("NOT_LZ4", `at byte ${at} there is ${magic.toString(16).padStart(8, "0")}, not an LZ4 frame`);
    checkpoint();
  }
  return parts;
}

/** Returns the first block of the first frame in `blob`; null if the file begins with something else, or the block is stored. */
export async function firstBlock(blob: Blob): Promise<Uint8Array | null> {
  const file = new Window(blob);
  if ((await file.word()) !== FRAME) return null;
  const { blockBytes } = await readDescriptor(file);
  const word = await file.word();
  return word === 0 || word >>> 31 === 1 || word > blockBytes ? null : file.take(word);
}

async function readFrame(file: Window, at: number, checkpoint: () => void): Promise<FramePart> {
  const descriptor = await readDescriptor(file);
  const blocks: Block[] = [];
  for (;;) {
    const start = file.at;
    const word = await file.word();
    if (word === 0) break;
    const bytes = word & ~STORED;
    if (bytes > descriptor.blockBytes) {
      throw new FrameError("INVALID_FRAME", `the block at byte ${start} claims ${bytes} bytes, more than a block may have`);
    }
    let checksumMatches: boolean | null = null;
    if (descriptor.blockChecksums) {
      const data = await file.take(bytes);
      checksumMatches = xxh32(data) === (await file.word());
    } else {
      file.skip(bytes);
    }
    blocks.push({ at: start, bytes, stored: word >>> 31 === 1, checksumMatches });
    checkpoint();
  }
  const contentChecksum = descriptor.contentChecksum ? await file.word() : null;
  return { kind: "frame", at, bytes: file.at - at, descriptor, blocks, contentChecksum };
}

async function readDescriptor(file: Window): Promise<Descriptor> {
  const start = file.at;
  const [flags = 0, block = 0] = await file.take(2);
  const has = (bit: number): boolean => (flags & bit) !== 0;
  const code = (block >> 4) & 7;
  if (code < 4) throw new FrameError("INVALID_FRAME", `the descriptor at byte ${start} has the reserved block size code ${code}`);
  const contentSize = has(8) ? (await file.word()) + 2 ** 32 * (await file.word()) : null;
  const dictionaryId = has(1) ? await file.word() : null;
  const described = await file.range(start, file.at);
  const [stored = 0] = await file.take(1);
  return {
    version: flags >> 6,
    independentBlocks: has(0x20),
    blockChecksums: has(0x10),
    contentChecksum: has(4),
    contentSize,
    dictionaryId,
    blockBytes: 2 ** (8 + 2 * code),
    headerChecksum: { stored, computed: (xxh32(described) >>> 8) & 255 },
  };
}

/** Reads a legacy frame, which ends at the end of the file or at the magic number of another frame. */
async function readLegacy(file: Window, at: number, checkpoint: () => void): Promise<FramePart> {
  const blocks: Block[] = [];
  while (file.at < file.end) {
    const start = file.at;
    const bytes = await file.word();
    if (isLz4Magic(bytes)) {
      file.at = start;
      break;
    }
    file.skip(bytes);
    blocks.push({ at: start, bytes, stored: false, checksumMatches: null });
    checkpoint();
  }
  return { kind: "legacy", at, bytes: file.at - at, blocks };
}

async function readSkippable(file: Window, at: number, magic: number): Promise<FramePart> {
  const length = await file.word();
  const start = file.at;
  file.skip(length);
  const index = await readIndex(file, magic, start, length);
  return { kind: "skippable", at, bytes: file.at - at, magic, index };
}

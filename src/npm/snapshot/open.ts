import { openSource, type FrameSource, type Source } from "../api/frame-source.js";
import { checkOptions, checkSize } from "../base/arguments.js";
import { PagepressError } from "../base/errors.js";
import type { SnapshotModule } from "../modules/load.js";
import { loaded } from "./module.js";
import * as names from "./options.js";
import type { OpenSnapshotOptions, Snapshot } from "./types.js";
import { settled, stored, StoredSnapshot } from "./version.js";

/** Maximum bytes of an image by default: those of a memory of WebAssembly. */
const MAX_IMAGE_BYTES = 2 ** 32;
/** Bytes at the end of a file that show where its manifest is. */
const FOOT_BYTES = 24;

/** Opens the file of a snapshot in memory, in a `Blob` or `File`, or at a URL. Reads its manifest, and blocks when they are needed.
 *
 * Rejects with `WRONG_BASE` unless `previous` is the version that the file continues. */
export async function openSnapshot(source: FrameSource, options: OpenSnapshotOptions = {}): Promise<Snapshot> {
  checkOptions(options, names.open);
  const { previous, maxBytes = MAX_IMAGE_BYTES, signal, fetch = {}, modules } = options;
  checkSize("maxBytes", maxBytes);
  return settled({ signal }, null, async () => {
    const base = previous && stored("previous", previous);
    const module = await loaded(modules?.snapshot);
    return openFile(module, await openSource(source, fetch, signal), base, maxBytes, signal);
  });
}

/** Opens a file that is read in parts. */
export async function openFile(
  module: SnapshotModule,
  file: Source,
  base: StoredSnapshot | undefined,
  maxBytes = MAX_IMAGE_BYTES,
  signal?: AbortSignal,
): Promise<StoredSnapshot> {
  const { byteLength } = file;
  const manifest = await manifestOf(file, (foot) => module.run(({ Version }) => Version.manifestStart(foot, byteLength)), signal);
  const version = module.run(({ Version }) => Version.read(manifest, byteLength, base?.version.clone(), maxBytes));
  return new StoredSnapshot(module, version, file, version.base === undefined ? undefined : base);
}

/** Returns the manifest of a file, whose start `startOf` computes from the last bytes of the file. */
async function manifestOf(file: Source, startOf: (foot: Uint8Array) => number, signal?: AbortSignal): Promise<Uint8Array> {
  const { byteLength } = file;
  const foot = await file.read(Math.max(0, byteLength - FOOT_BYTES), byteLength, signal);
  const start = startOf(foot);
  const manifest = await file.read(start, byteLength, signal);
  if (manifest.length !== byteLength - start) throw new PagepressError("READ", "the file of a version was changed while it was opened");
  return manifest;
}

/** Returns the id of the version that the file of a snapshot continues; null if it needs no other. */
export async function previousIdOf(source: FrameSource): Promise<string | null> {
  return settled({}, null, async () => {
    const module = await loaded();
    const file = await openSource(source, {});
    const manifest = await manifestOf(file, (foot) => module.run(({ Version }) => Version.manifestStart(foot, file.byteLength)));
    return module.run(({ Version }) => Version.baseOf(manifest)) ?? null;
  });
}

import type { ModuleSource } from "../base/types.js";
import { loadSnapshot, type SnapshotModule } from "../modules/load.js";
import * as glue from "../wasm/snapshot.js";

/** Returns the URL of the module. */
function file(): URL {
  return new URL("./snapshot_bg.wasm", import.meta.url);
}

/** Returns the module that takes and restores snapshots. */
export function loaded(source?: ModuleSource): Promise<SnapshotModule> {
  return loadSnapshot(glue, file, source);
}

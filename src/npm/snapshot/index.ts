export { PagepressError, type PagepressErrorCode } from "../base/errors.js";
export type { FrameSource } from "../api/frame-source.js";
export { diff } from "./diff.js";
export { openSnapshot, previousIdOf } from "./open.js";
export { type LazyRestore, restore, restoreLazily } from "./restore.js";
export { type Collected, SnapshotStore, type SnapshotStoreOptions, type StoredVersion } from "./store/store.js";
export { snapshot } from "./take.js";
export type * from "./types.js";

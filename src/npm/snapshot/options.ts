// Names of the options of snapshots.
import { call, type Names } from "../api/options.js";
import type { ByteRangeOptions, OpenSnapshotOptions, RestoreOptions, SnapshotOptions } from "./types.js";

export const range: Names<ByteRangeOptions> = { region: true, start: true, end: true };
export const restore: Names<RestoreOptions> = { ...call, ...range };
export const take: Names<SnapshotOptions> = { ...call, previous: true, pageSize: true, level: true, compressor: true, modules: true };
export const open: Names<OpenSnapshotOptions> = { previous: true, maxBytes: true, signal: true, fetch: true, modules: true };

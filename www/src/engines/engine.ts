// The interface of the engines to the benchmark.
import type { BackendInfo, Timing } from "pagepress";

type Bytes = Uint8Array<ArrayBuffer>;

export interface Engine {
  /** Describes the engine; called after the runs. */
  detail(): string;
  compress(bytes: Bytes): Promise<Bytes>;
  /** Decompresses to `length` bytes. */
  decompress(packed: Bytes, length: number): Promise<Bytes>;
  /** Bytes that are enough for a warm-up. */
  readonly warmUpBytes: number;
  readonly backend: BackendInfo | null;
  /** Returns the timing of the last call, if it is known. */
  timing(): Timing | null;
  close(): Promise<void>;
}

/** The members that only Pagepress implements. */
export const peerDefaults = {
  backend: null,
  timing: () => null,
  close: () => Promise.resolve(),
};

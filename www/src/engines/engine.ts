// The interface of the engines to the race.
import type { BackendInfo, Timing } from "pagepress";

type Bytes = Uint8Array<ArrayBuffer>;

export interface Engine {
  /** Describes the engine; called after the rounds. */
  detail(): string;
  /** False for packages that only decompress: `compress` then prepares their input and is not timed. */
  readonly compresses: boolean;
  compress(bytes: Bytes): Promise<Bytes> | Bytes;
  /** Decompresses to `length` bytes. */
  decompress(packed: Bytes, length: number): Promise<Bytes> | Bytes;
  /** Bytes that are enough for a warm-up. */
  readonly warmUpBytes: number;
  readonly backend: BackendInfo | null;
  /** Returns the timing of the last call, if it is known. */
  timing(): Timing | null;
  close(): Promise<void>;
}

/** The members that only Pagepress implements. */
export const peerDefaults = {
  compresses: true,
  backend: null,
  timing: () => null,
  close: () => Promise.resolve(),
};

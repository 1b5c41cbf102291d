// What every engine offers to the bench.
import type { BackendInfo, Timing } from "pagepress";

type Bytes = Uint8Array<ArrayBuffer>;

export interface Engine {
  /** What runs, in words. Asked after the runs. */
  detail(): string;
  compress(bytes: Bytes): Promise<Bytes>;
  /** `length` is that of the content. */
  decompress(packed: Bytes, length: number): Promise<Bytes>;
  /** Bytes that are enough to warm it up. */
  readonly warmUpBytes: number;
  readonly backend: BackendInfo | null;
  /** Where the time of the last call went, where that is known. */
  timing(): Timing | null;
  close(): Promise<void>;
}

/** What engines other than Pagepress say of themselves: nothing. */
export const silent = {
  backend: null,
  timing: () => null,
  close: () => Promise.resolve(),
};

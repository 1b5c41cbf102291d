// The calls of the worker that runs the machine. Times are in milliseconds.

/** The part of the board that is shown, in cells. */
export const VIEW = { width: 640, height: 320 } as const;

export interface Frame {
  generation: number;
  /** The cells of the view, row by row; 1 is alive. */
  cells: Uint8Array<ArrayBuffer>;
}

/** A version of the machine's memory. */
export interface Frozen {
  generation: number;
  milliseconds: number;
  memoryBytes: number;
  pageSize: number;
  /** For each page 1 if the version stores it, else 0. */
  stored: Uint8Array<ArrayBuffer>;
  storedPages: number;
  /** Bytes of the version's file. */
  fileBytes: number;
  /** True if the version stores only what changed since the one before. */
  isIncrement: boolean;
  /** True if it is kept for a later visit. */
  isKept: boolean;
}

export interface Thawed {
  frame: Frame;
  milliseconds: number;
}

type Call<A, R> = { argument: A; answer: R; progress: never };

/** The calls of the worker. */
export type MachineCalls = {
  /** Starts a machine with a random board, and tells if an earlier visit kept a version. */
  start: Call<null, { frame: Frame; hasKept: boolean }>;
  step: Call<{ generations: number }, Frame>;
  freeze: Call<null, Frozen>;
  /** Starts a new machine from the version that was kept last. */
  thaw: Call<null, Thawed>;
};

// The calls of the worker that runs programs of the playground.

/** A position in a program, from 1. */
export interface Position {
  line: number;
  column: number;
}

/** The end of a program: without an error, or with one and its position, if that is known. */
export interface Outcome {
  milliseconds: number;
  error: { code: string; message: string; position: Position | null } | null;
}

/** The input of a WGSL program. */
export interface KernelInput {
  /** The words of binding 0; null for the numbers 0 to 65535. */
  words: Blob | null;
  workgroups: number;
  allowSoftware: boolean;
}

type Call<A> = { argument: A; answer: Outcome; progress: { line: string } };

/** The calls of the worker; progress is a line of output. */
export type PlaygroundCalls = {
  javascript: Call<{ program: string; input: Blob | null }>;
  wgsl: Call<{ program: string; input: KernelInput }>;
};

// What a page and its workers say to each other.

/** Why something failed: a stable code and a sentence. */
export interface Failure {
  code: string;
  message: string;
}

/** The calls that a worker takes, by name. */
export type Calls = Record<string, { argument: unknown; answer: unknown; progress: unknown }>;

export type Ask = { id: number; name: string; argument: unknown } | { id: number; cancel: true };

export type Reply =
  | { id: number; progress: unknown }
  | { id: number; answer: unknown }
  | { id: number; failure: Failure };

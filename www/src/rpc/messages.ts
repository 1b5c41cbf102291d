// The messages between the page and its workers.

/** An error as a stable code and a message. */
export interface Failure {
  code: string;
  message: string;
}

/** The types of the calls of a worker, by name. */
export type Calls = Record<string, { argument: unknown; answer: unknown; progress: unknown }>;

export type WorkerRequest = { id: number; name: string; argument: unknown } | { id: number; cancel: true };

export type WorkerReply =
  | { id: number; progress: unknown }
  | { id: number; answer: unknown }
  | { id: number; failure: Failure };

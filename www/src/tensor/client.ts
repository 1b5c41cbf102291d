// The worker that has tensors, as the page uses it.
import { Client } from "../rpc/client";
import type { TensorCalls } from "./calls";

/** It is started, and the module of tensors loaded, with the first call. */
export const tensors = new Client<TensorCalls>(
  () => new Worker(new URL("./worker.ts", import.meta.url), { type: "module", name: "tensors" }),
);

// The client of the worker for tensors.
import { Client } from "../rpc/client";
import type { TensorCalls } from "./calls";

/** The worker; the first call starts it and loads `pagepress/tensor`. */
export const tensors = new Client<TensorCalls>(
  () => new Worker(new URL("./worker.ts", import.meta.url), { type: "module", name: "tensors" }),
);

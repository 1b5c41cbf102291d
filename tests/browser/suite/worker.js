// Runs one case in a dedicated worker: the message says which.
import { runCase } from "./run-case.js";

self.onmessage = async ({ data }) => self.postMessage(await runCase(data));
self.postMessage("ready");

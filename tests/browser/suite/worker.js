// Runs the case that a message names in a dedicated worker.
import { runCase } from "./run-case.js";

self.onmessage = async ({ data }) => self.postMessage(await runCase(data));
self.postMessage("ready");

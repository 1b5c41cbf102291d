import { runAll } from "./run-all.js";

postMessage(await runAll());

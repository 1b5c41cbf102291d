// Runs mixed calls in a dedicated worker. A message contains the options to begin with, or a duration; an empty message
// calls `rest`.
import { begin, rest, soak } from "./soak.js";

let state;
self.onmessage = async ({ data: { backend, seconds } }) => {
  try {
    if (backend) state = await begin(backend);
    else if (!seconds) await rest(state);
    self.postMessage({ counts: seconds ? await soak(state, seconds) : {} });
  } catch (error) {
    self.postMessage({ error: String(error.stack ?? error) });
  }
};

// Mixed calls in a dedicated worker: messages say with what to begin, and for how long; an empty one asks for rest.
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

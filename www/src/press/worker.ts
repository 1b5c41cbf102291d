// The worker that runs Pagepress for everything but races.
import { partsOf } from "../lz4/frame";
import { serve } from "../rpc/serve";
import type { PressCalls } from "./calls";
import { compressorFor } from "./compressors";
import { cancelCall, corrupt, loseDevice } from "./faults";
import { compressFile, decompressFile } from "./files";
import { mapPages, pageDetail } from "./pages";
import { makeSample } from "./samples";
import { discardOutput, removeOutputs } from "./storage";
import { sweep } from "./sweep";

void removeOutputs();

serve<PressCalls>({
  async open(choice) {
    const { backend, lastTiming } = await compressorFor(choice);
    return { backend, timing: lastTiming };
  },
  capabilities: async (choice) => (await compressorFor(choice)).capabilities(),
  generate: makeSample,
  compress: compressFile,
  decompress: decompressFile,
  map: mapPages,
  page: pageDetail,
  sweep,
  inspect: ({ file }, { signal, progress }) => partsOf(file, { signal, onProgress: (bytes) => progress({ bytes }) }),
  corrupt,
  lose: loseDevice,
  cancel: cancelCall,
  discard: ({ name }) => discardOutput(name),
});

// The package's CPU path for tensors. It runs in a worker of its own from which the GPU is hidden, since the package offers
// no choice of the engine.
import { GpuBackend } from "pagepress/tensor";
import type { Operation } from "./calls";
import type { Floats, Prepared, TensorEngineRunner } from "./engine";

function prepared(work: () => Promise<Floats>): Prepared {
  let last: Floats = new Float32Array();
  return {
    async run() {
      last = await work();
    },
    read: async () => last,
    dispose: () => undefined,
  };
}

export function openCpu(): TensorEngineRunner {
  Object.defineProperty(navigator, "gpu", { value: undefined });
  const backend = new GpuBackend();
  const operate: Record<Operation, (a: Floats, cols: number) => Promise<Floats>> = {
    sum: async (a) => Float32Array.of(await backend.sum(a)),
    softmax: (a, cols) => backend.softmax(a, cols),
    "layer norm": (a, cols) => backend.layerNorm(a, { cols }),
    gelu: (a) => backend.elementwise(["gelu"], a),
  };
  return {
    name: "CPU",
    product: async (a, b, size) => prepared(() => backend.matmul(a, b, size, size, size)),
    operate: async (operation, a, _, cols) => prepared(() => operate[operation](a, cols)),
  };
}

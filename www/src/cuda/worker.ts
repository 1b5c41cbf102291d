// The worker that translates kernels in CUDA C and runs the examples on the GPU.
import { translateCuda } from "pagepress/cuda";
import { GpuDevice } from "pagepress/tensor";
import { measure } from "../measure/measure";
import { serve } from "../rpc/serve";
import type { CudaCalls, CudaRun } from "./calls";
import { EXAMPLES } from "./examples";
import { RUNS } from "./runs";

let opened: { allowSoftware: boolean; device: GpuDevice } | null = null;

async function deviceFor(allowSoftware: boolean): Promise<GpuDevice> {
  if (opened?.allowSoftware === allowSoftware) return opened.device;
  opened?.device.dispose();
  opened = null;
  opened = { allowSoftware, device: await GpuDevice.open({ allowSoftware }) };
  return opened.device;
}

serve<CudaCalls>({
  async translate({ source, example, target }) {
    const { entry, block } = EXAMPLES[example];
    const start = performance.now();
    // PTX has subgroups of 32 invocations.
    const { text, notes } = await translateCuda(source, { entry, block, target, subgroups: target === "ptx", float16: true, int64: target !== "wgsl" });
    return { text, notes, milliseconds: performance.now() - start };
  },

  async run({ source, example, allowSoftware }, { signal }): Promise<CudaRun> {
    const device = await deviceFor(allowSoftware);
    const { entry, block } = EXAMPLES[example];
    const kernel = await device.compileCuda(source, { entry, block });
    const { launch, launches, compare, tensors } = await RUNS[example](device, kernel);
    try {
      launch();
      const comparison = await compare();
      const { milliseconds } = await measure(() => (launch(), device.synchronize()), signal);
      return { device: device.info.name || "an unnamed adapter", isSoftware: device.info.software, milliseconds, launches, ...comparison };
    } finally {
      for (const tensor of tensors) tensor.dispose();
    }
  },
});

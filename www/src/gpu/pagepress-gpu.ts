// Tensors of the package in GPU memory.
import { GpuDevice, type GpuTensor } from "pagepress/tensor";
import type { Operation } from "./calls";
import type { Floats, Prepared, TensorEngineRunner } from "./engine";

const OPERATE: Record<Operation, (tensor: GpuTensor) => Promise<GpuTensor>> = {
  sum: (tensor) => tensor.sum(),
  softmax: (tensor) => tensor.softmax(),
  "layer norm": (tensor) => tensor.layerNorm(),
  gelu: (tensor) => tensor.gelu(),
};

/** Opens the GPU; rejects with the reason if there is none. */
export async function openGpu(allowSoftware: boolean): Promise<TensorEngineRunner> {
  const device = await GpuDevice.open({ allowSoftware });
  const { info } = device;
  const prepared = (inputs: GpuTensor[], work: () => Promise<GpuTensor>): Prepared => {
    let last: GpuTensor | null = null;
    return {
      async run() {
        last?.dispose();
        last = await work();
        await device.synchronize();
      },
      read: () => (last as GpuTensor).read(),
      dispose: () => [...inputs, last].forEach((tensor) => tensor?.dispose()),
    };
  };
  return {
    name: `${info.name || "unnamed adapter"}${info.software ? ", software" : ""}`,
    async product(a: Floats, b: Floats, size: number) {
      const [left, right] = [await device.tensor(a, [size, size]), await device.tensor(b, [size, size])];
      return prepared([left, right], () => left.matmul(right));
    },
    async operate(operation, a, rows, cols) {
      const input = await device.tensor(a, [rows, cols]);
      return prepared([input], () => OPERATE[operation](input));
    },
  };
}

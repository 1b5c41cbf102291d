// TensorFlow.js for comparison: its WebGPU backend where there is a GPU, else its CPU backend.
import * as tf from "@tensorflow/tfjs-core";
import type { Tensor2D } from "@tensorflow/tfjs-core";
import type { Floats, Prepared, TensorEngineRunner } from "./engine";

/** Opens TensorFlow.js on the first backend that works. */
export async function openTfjs(): Promise<TensorEngineRunner> {
  let isGpu = false;
  try {
    await import("@tensorflow/tfjs-backend-webgpu");
    isGpu = await tf.setBackend("webgpu");
  } catch {
    // Its backend throws where there is no adapter.
  }
  if (!isGpu) {
    await import("@tensorflow/tfjs-backend-cpu");
    await tf.setBackend("cpu");
  }
  await tf.ready();
  return {
    name: `${tf.version_core}, backend ${tf.getBackend()}`,
    product: async (a, b, size) => {
      const [left, right] = [tf.tensor2d(a, [size, size]), tf.tensor2d(b, [size, size])];
      return prepared(left, right);
    },
    operate: () => Promise.reject(new Error("TensorFlow.js takes part in products only")),
  };
}

function prepared(left: Tensor2D, right: Tensor2D): Prepared {
  let last: Tensor2D | null = null;
  return {
    async run() {
      last?.dispose();
      last = tf.matMul(left, right) as Tensor2D;
      // The backend has no call that waits for the GPU: reading one element does, and costs a copy of 4 bytes.
      const corner = tf.slice(last, [0, 0], [1, 1]);
      await corner.data();
      corner.dispose();
    },
    read: async () => (await (last as Tensor2D).data()) as Floats,
    dispose: () => [left, right, last].forEach((tensor) => tensor?.dispose()),
  };
}

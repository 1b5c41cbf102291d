// Convolves images on the GPU, or on the CPU where there is none.
import { GpuBackend } from "pagepress/tensor";
import type { Convolved, Picture } from "./calls";
import { nameOf, openDevice } from "./device";

/** Number of elements that a check recomputes. */
const CHECKED = 256;

const backends = new Map<boolean, Promise<[backend: GpuBackend, device: string | null]>>();

/** Returns the backend on the GPU with the name of the device, or the package's own choice if no GPU can be opened. */
function backendFor(allowSoftware: boolean): Promise<[GpuBackend, string | null]> {
  const earlier = backends.get(allowSoftware);
  if (earlier) return earlier;
  const opening = openDevice(allowSoftware).then(
    (device): [GpuBackend, string | null] => [new GpuBackend({ device }), nameOf(device)],
    (): [GpuBackend, string | null] => [new GpuBackend(), null],
  );
  backends.set(allowSoftware, opening);
  return opening;
}

export async function convolve({
  picture,
  kernel,
  allowSoftware,
  isChecked,
}: {
  picture: Picture;
  kernel: Picture;
  allowSoftware: boolean;
  isChecked: boolean;
}): Promise<Convolved> {
  const [backend, device] = await backendFor(allowSoftware);
  const start = performance.now();
  const pixels = await backend.convolve2d(
    picture.pixels,
    kernel.pixels,
    [picture.rows, picture.cols],
    [kernel.rows, kernel.cols],
  );
  const milliseconds = performance.now() - start;
  const made = { pixels, rows: picture.rows - kernel.rows + 1, cols: picture.cols - kernel.cols + 1 };
  const last = backend.lastBackend;
  const isGpu = last?.engine === "webgpu";
  const where = isGpu ? (device ?? last.device) : `CPU: ${last?.reason ?? "no GPU"}`;
  return { ...made, milliseconds, where, isGpu, error: isChecked ? errorOf(made, picture, kernel) : null };
}

/** Returns the largest error of evenly spaced elements of the result. */
function errorOf(made: Picture, picture: Picture, kernel: Picture): number {
  const step = Math.max(1, Math.floor(made.pixels.length / CHECKED)) | 1;
  let error = 0;
  for (let at = 0; at < made.pixels.length; at += step) {
    const [row, col] = [Math.floor(at / made.cols), at % made.cols];
    let sum = 0;
    for (let i = 0; i < kernel.rows; i += 1) {
      for (let j = 0; j < kernel.cols; j += 1) {
        sum += (kernel.pixels[i * kernel.cols + j] as number) * (picture.pixels[(row + i) * picture.cols + col + j] as number);
      }
    }
    error = Math.max(error, Math.abs((made.pixels[at] as number) - sum));
  }
  return error;
}

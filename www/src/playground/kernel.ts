// Runs a WGSL kernel of a program: binding 0 has the input, binding 1 the output, both of equal length.
import { GpuDevice, type GpuTensor } from "pagepress/tensor";
import { measure } from "../measure/measure";
import type { Control } from "../rpc/serve";
import { count, duration, three } from "../shell/format";
import type { KernelInput, Outcome } from "./calls";
import { positionIn } from "./position";

const NUMBERS = 65536;
/** Maximum bytes of a file that are passed to the kernel. */
const MOST_BYTES = 16 << 20;
/** Elements of the output that are shown. */
const SHOWN = 16;

let opened: { allowSoftware: boolean; device: GpuDevice } | null = null;

async function deviceFor(allowSoftware: boolean): Promise<GpuDevice> {
  if (opened?.allowSoftware === allowSoftware) return opened.device;
  opened?.device.dispose();
  opened = null;
  opened = { allowSoftware, device: await GpuDevice.open({ allowSoftware }) };
  return opened.device;
}

async function wordsOf(blob: Blob | null): Promise<Float32Array<ArrayBuffer>> {
  if (!blob) return Float32Array.from({ length: NUMBERS }, (_, i) => i);
  const part = blob.slice(0, Math.min(MOST_BYTES, blob.size & ~3));
  if (part.size === 0) throw new Error("the file has fewer than 4 bytes: choose a larger one, or numbers as input");
  return new Float32Array(await part.arrayBuffer());
}

export async function runKernel(
  { program, input }: { program: string; input: KernelInput },
  { signal, progress }: Control<{ line: string }>,
): Promise<Outcome> {
  const start = performance.now();
  const tensors: GpuTensor[] = [];
  try {
    const device = await deviceFor(input.allowSoftware);
    const kernel = await device.compileKernel(program, { bindings: ["read", "read-write"] });
    progress({ line: `compiled for ${device.info.name || "an unnamed adapter"} in ${duration(performance.now() - start)}` });
    const words = await wordsOf(input.words);
    const from = await device.tensor(words);
    const to = await device.zeros([words.length]);
    tensors.push(from, to);
    const launch = async (): Promise<void> => {
      device.launch(kernel, input.workgroups, [from, to]);
      await device.synchronize();
    };
    await launch();
    const { milliseconds } = await measure(launch, signal);
    const values = await to.read();
    progress({ line: `${count(words.length)} elements in ${duration(milliseconds)}` });
    progress({ line: `as f32: ${Array.from(values.subarray(0, SHOWN), three).join(" ")}` });
    const bits = new Uint32Array(values.buffer, values.byteOffset, Math.min(SHOWN, values.length));
    progress({ line: `as u32: ${Array.from(bits, (word) => word.toString(16).padStart(8, "0")).join(" ")}` });
    return { milliseconds: performance.now() - start, error: null };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const code = error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "ERROR";
    return { milliseconds: performance.now() - start, error: { code, message, position: positionIn(message) } };
  } finally {
    for (const tensor of tensors) tensor.dispose();
  }
}

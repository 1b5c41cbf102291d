import { type Host, orNone } from "./js-values.js";
import { type OpenDevice, openDevice } from "./webgpu-device.js";
import { type Kernel, submit, submitUntimed } from "./webgpu-submission.js";
import type { GpuBuffer, GpuDevice } from "./webgpu-types.js";

const MAP_READ = 1;
const MAP_WRITE = 2;
const COMPUTE_STAGE = 4;
/** What `src/kernels` calls read, read-write and uniform. */
const BINDING_TYPES = ["read-only-storage", "storage", "uniform"];

/** A range in the memory of a module. */
type Place = readonly [start: number, length: number];

async function compile(device: GpuDevice, memory: ArrayBuffer, description: number): Promise<Kernel> {
  const words = new Uint32Array(memory, description, 10);
  const [wgsl, entry, access, names, values] = [0, 2, 4, 6, 8].map((i) => [words[i], words[i + 1]] as unknown as Place) as [
    Place, Place, Place, Place, Place,
  ];
  const text = ([start, length]: Place): string => new TextDecoder().decode(new Uint8Array(memory, start, length));
  const numbers = new Float64Array(memory, ...values);
  const constants = Object.fromEntries(text(names).split("\n").slice(0, -1).map((name, i) => [name, numbers[i]]));
  const types = Array.from(new Uint8Array(memory, ...access), (i) => BINDING_TYPES[i]);
  const entries = types.map((type, binding) => ({ binding, visibility: COMPUTE_STAGE, buffer: { type } }));
  const entryPoint = text(entry);
  // What is wrong is told by the pipeline; here it is only not to be told twice.
  device.pushErrorScope("validation");
  const module = device.createShaderModule({ label: entryPoint, code: text(wgsl) });
  const layout = device.createBindGroupLayout({ label: entryPoint, entries });
  // A device that is lost meanwhile has no answer, and fails the pipeline too.
  const wrong = device.popErrorScope().catch(() => null);
  try {
    const pipeline = await device.createComputePipelineAsync({
      label: entryPoint,
      layout: device.createPipelineLayout({ bindGroupLayouts: [layout] }),
      compute: { module, entryPoint, constants },
    });
    return { pipeline, layout };
  } catch (error) {
    const { messages } = await module.getCompilationInfo();
    const lines = messages.filter(({ type }) => type === "error");
    const found = lines.map(({ lineNum, linePos, message }) => `${lineNum}:${linePos}: ${message}`);
    throw found.length > 0 ? new Error(found.join("\n")) : ((await wrong) ?? error);
  }
}

/** The functions `gpu` of a module: `src/gpu/webgpu/calls.rs`. None of them throws. */
export function gpuFunctions(host: Host): WebAssembly.ModuleImports {
  const { values, memory } = host;
  const deviceAt = (number: number): GpuDevice => values.get<OpenDevice>(number).device;
  const bufferAt = (number: number): GpuBuffer => values.get<GpuBuffer>(number);
  const addText = (text: string): number => values.add(new TextEncoder().encode(text));
  /** Answers with what `work` promises. */
  const later = (token: number, work: () => Promise<number>): void => {
    const promise = new Promise<number>((resolve) => resolve(work()));
    void promise.then((number) => host.answer(token, number), (error: unknown) => host.fail(token, error));
  };
  return {
    open_device: (lowPower: number, allowSoftware: number, token: number) =>
      later(token, async () => {
        const powerPreference = lowPower ? "low-power" : "high-performance";
        return values.add(await openDevice(powerPreference, allowSoftware !== 0));
      }),
    describe: (device: number) => {
      const { software, vendor, name } = values.get<OpenDevice>(device);
      return addText([software ? "1" : "0", vendor, name].join("\n"));
    },
    limits: (device: number, to: number) => {
      const open = values.get<OpenDevice>(device);
      const told = [...open.limits(), open.hasTimestamps ? 1 : 0];
      new Float64Array(memory(), to >>> 0, told.length).set(told);
    },
    destroy_device: (device: number) => deviceAt(device).destroy(),
    fault: (device: number) => {
      const fault = values.get<OpenDevice>(device).fault();
      return fault === undefined ? 0 : addText(fault);
    },
    create_buffer: (device: number, size: number, usage: number, isMapped: number) =>
      orNone(() => values.add(deviceAt(device).createBuffer({ size, usage, mappedAtCreation: isMapped !== 0 }))),
    destroy_buffer: (buffer: number) => bufferAt(buffer).destroy(),
    buffer_size: (buffer: number) => bufferAt(buffer)?.size ?? 0,
    buffer_usage: (buffer: number) => bufferAt(buffer)?.usage ?? 0,
    map: (buffer: number, isForWriting: number, start: number, length: number, token: number) =>
      later(token, () => bufferAt(buffer).mapAsync(isForWriting ? MAP_WRITE : MAP_READ, start, length).then(() => 0)),
    mapped: (buffer: number, start: number, length: number) =>
      orNone(() => values.add(new Uint8Array(bufferAt(buffer).getMappedRange(start, length)))),
    unmap: (buffer: number) => bufferAt(buffer).unmap(),
    compile: (device: number, description: number, token: number) =>
      later(token, () => compile(deviceAt(device), memory(), description >>> 0).then((kernel) => values.add(kernel))),
    submit: (device: number, steps: number, length: number, token: number) =>
      later(token, () => submit(values.get<OpenDevice>(device), host, steps, length)),
    submit_untimed: (device: number, steps: number, length: number) => {
      const open = values.get<OpenDevice>(device);
      open.noting(() => submitUntimed(open, host, steps, length));
    },
    synchronize: (device: number, token: number) =>
      later(token, () => deviceAt(device).queue.onSubmittedWorkDone().then(() => 0)),
  };
}

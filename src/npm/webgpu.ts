import { type Host, orNone } from "./js-values.js";
import { isSoftware, requestAdapter } from "./probe.js";

/** Runs of launches in one submission that are timed. */
const MOST_PASSES = 32;
const MAP_READ = 1;
const MAP_WRITE = 2;
/** Usages of buffers. */
const FOR_TIMES = { resolve: 0x0200 | 0x0004, read: 0x0001 | 0x0008 };
const COMPUTE_STAGE = 4;
/** What `src/kernels` calls read, read-write and uniform. */
const BINDING_TYPES = ["read-only-storage", "storage", "uniform"];
/** Steps of a submission: `src/gpu/webgpu/calls.rs`. */
const LAUNCH = 0;
const COPY = 1;

/** Limits that a device is asked for as the adapter has them. */
const RAISED = [
  "maxStorageBufferBindingSize",
  "maxBufferSize",
  "maxComputeWorkgroupStorageSize",
  "maxComputeInvocationsPerWorkgroup",
  "maxComputeWorkgroupSizeX",
];
/** Limits that the module wants to know, in its order. */
const TOLD = [
  "maxStorageBufferBindingSize",
  "maxBufferSize",
  "maxComputeWorkgroupStorageSize",
  "maxComputeInvocationsPerWorkgroup",
  "maxComputeWorkgroupsPerDimension",
  "maxStorageBuffersPerShaderStage",
];

interface GpuBuffer {
  readonly size: number;
  readonly usage: number;
  mapAsync(mode: number, start?: number, length?: number): Promise<void>;
  getMappedRange(start?: number, length?: number): ArrayBuffer;
  unmap(): void;
  destroy(): void;
}

interface Pass {
  setPipeline(pipeline: unknown): void;
  setBindGroup(index: number, group: unknown): void;
  dispatchWorkgroups(x: number, y: number, z: number): void;
  end(): void;
}

interface Encoder {
  beginComputePass(descriptor: object): Pass;
  copyBufferToBuffer(from: GpuBuffer, start: number, to: GpuBuffer, at: number, length: number): void;
  resolveQuerySet(queries: unknown, first: number, count: number, to: GpuBuffer, at: number): void;
  finish(): unknown;
}

interface ShaderModule {
  getCompilationInfo(): Promise<{ messages: readonly { type: string; lineNum: number; linePos: number; message: string }[] }>;
}

interface GpuDevice extends EventTarget {
  readonly limits: Readonly<Record<string, number>>;
  readonly features: ReadonlySet<string>;
  readonly lost: Promise<{ reason: string; message: string }>;
  readonly queue: {
    submit(commands: unknown[]): void;
    writeBuffer(buffer: GpuBuffer, at: number, from: ArrayBuffer, start: number, length: number): void;
    onSubmittedWorkDone(): Promise<void>;
  };
  createBuffer(descriptor: { size: number; usage: number; mappedAtCreation?: boolean }): GpuBuffer;
  createShaderModule(descriptor: { label: string; code: string }): ShaderModule;
  createBindGroupLayout(descriptor: object): unknown;
  createPipelineLayout(descriptor: object): unknown;
  createComputePipelineAsync(descriptor: object): Promise<unknown>;
  createBindGroup(descriptor: object): unknown;
  createCommandEncoder(): Encoder;
  createQuerySet(descriptor: { type: string; count: number }): unknown;
  pushErrorScope(filter: string): void;
  popErrorScope(): Promise<{ message: string } | null>;
  destroy(): void;
}

/** Timestamps of one submission. */
interface Timer {
  readonly queries: unknown;
  readonly resolved: GpuBuffer;
  readonly read: GpuBuffer;
}

interface Kernel {
  readonly pipeline: unknown;
  readonly layout: unknown;
}

/** An open device, and what became of it. */
export class OpenDevice {
  readonly device: GpuDevice;
  readonly software: boolean;
  readonly vendor: string;
  readonly name: string;
  /** Timers that no submission has. */
  readonly timers: Timer[] = [];
  #lost: string | undefined;
  #fault: string | undefined;

  constructor(device: GpuDevice, adapter: Awaited<ReturnType<typeof requestAdapter>>) {
    const { vendor = "", architecture = "", description = "" } = adapter?.info ?? {};
    this.device = device;
    this.software = isSoftware(adapter);
    this.vendor = vendor;
    this.name = description || `${vendor} ${architecture}`.trim();
    void device.lost.then(({ reason, message }) => (this.#lost = `${reason} ${message}`));
    device.addEventListener("uncapturederror", (event) => {
      const { error } = event as Event & { error: { message: string } };
      this.#fault ??= (error.constructor.name === "GPUOutOfMemoryError" ? "M" : "E") + error.message;
    });
  }

  /** What went wrong, after a letter for its kind; what is not a loss is told once. */
  fault(): string | undefined {
    const fault = this.#lost === undefined ? this.#fault : `L${this.#lost}`;
    this.#fault = undefined;
    return fault;
  }

  /** A timer, where the device has timestamps. */
  timer(): Timer | undefined {
    const { device } = this;
    if (!device.features.has("timestamp-query")) return undefined;
    const size = 16 * MOST_PASSES;
    return (
      this.timers.pop() ?? {
        queries: device.createQuerySet({ type: "timestamp", count: 2 * MOST_PASSES }),
        resolved: device.createBuffer({ size, usage: FOR_TIMES.resolve }),
        read: device.createBuffer({ size, usage: FOR_TIMES.read }),
      }
    );
  }
}

async function openDevice(powerPreference: string, allowSoftware: boolean): Promise<OpenDevice> {
  const adapter = await requestAdapter(powerPreference);
  if (!adapter) throw new Error("requestAdapter() gives no adapter");
  if (isSoftware(adapter) && !allowSoftware) throw new Error("only a software adapter found, and it was not allowed");
  const requiredLimits = Object.fromEntries(RAISED.map((name) => [name, adapter.limits[name] as number]));
  const requiredFeatures = adapter.features.has("timestamp-query") ? ["timestamp-query"] : [];
  const device = (await adapter.requestDevice({ label: "pagepress", requiredLimits, requiredFeatures })) as GpuDevice;
  return new OpenDevice(device, adapter);
}

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
  const wrong = device.popErrorScope();
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

/** Submits steps; gives the nanoseconds of all launches once all is done, -1 if they were not measured. */
function submit(open: OpenDevice, { values, memory }: Host, start: number, length: number): Promise<number> {
  const { device } = open;
  const steps = new Float64Array(memory(), start >>> 0, length);
  const next = ((at) => () => steps[at++] as number)(0);
  const buffer = (): GpuBuffer => values.get<GpuBuffer>(next());
  const encoder = device.createCommandEncoder();
  const timer = steps.includes(LAUNCH) ? open.timer() : undefined;
  let passes = 0;
  let pass: Pass | undefined;
  const endPass = (): void => {
    pass?.end();
    pass = undefined;
  };
  const beginPass = (): Pass => {
    const first = 2 * passes++;
    if (!timer || passes > MOST_PASSES) return encoder.beginComputePass({});
    const times = { querySet: timer.queries, beginningOfPassWriteIndex: first, endOfPassWriteIndex: first + 1 };
    return encoder.beginComputePass({ timestampWrites: times });
  };
  for (let left = length; left > 0; ) {
    const step = next();
    if (step === LAUNCH) {
      const { pipeline, layout } = values.get<Kernel>(next());
      const [x, y, z, nArguments] = [next(), next(), next(), next()] as const;
      const entries = Array.from({ length: nArguments }, (_, binding) => {
        return { binding, resource: { buffer: buffer(), offset: next(), size: next() } };
      });
      pass ??= beginPass();
      pass.setPipeline(pipeline);
      pass.setBindGroup(0, device.createBindGroup({ layout, entries }));
      pass.dispatchWorkgroups(x, y, z);
      left -= 6 + 3 * nArguments;
    } else if (step === COPY) {
      endPass();
      encoder.copyBufferToBuffer(buffer(), next(), buffer(), next(), next());
      left -= 6;
    } else {
      device.queue.writeBuffer(buffer(), 0, memory(), next(), next());
      left -= 4;
    }
  }
  endPass();
  const isTimed = timer && passes <= MOST_PASSES;
  if (isTimed) {
    encoder.resolveQuerySet(timer.queries, 0, 2 * passes, timer.resolved, 0);
    encoder.copyBufferToBuffer(timer.resolved, 0, timer.read, 0, 16 * passes);
  }
  device.queue.submit([encoder.finish()]);
  if (isTimed) return readTimes(open, timer, passes);
  return device.queue.onSubmittedWorkDone().then(() => -1);
}

async function readTimes(open: OpenDevice, timer: Timer, passes: number): Promise<number> {
  await timer.read.mapAsync(MAP_READ, 0, 16 * passes);
  const times = new BigUint64Array(timer.read.getMappedRange(0, 16 * passes));
  let total = 0n;
  for (let i = 0; i < times.length; i += 2) {
    const [begin, end] = [times[i], times[i + 1]] as [bigint, bigint];
    // A clock that runs backwards measures nothing.
    if (end < begin || total < 0n) total = -1n;
    else total += end - begin;
  }
  timer.read.unmap();
  open.timers.push(timer);
  return Number(total);
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
      const { limits, features } = deviceAt(device);
      const told = [...TOLD.map((name) => limits[name] as number), features.has("timestamp-query") ? 1 : 0];
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
    synchronize: (device: number, token: number) =>
      later(token, () => deviceAt(device).queue.onSubmittedWorkDone().then(() => 0)),
  };
}

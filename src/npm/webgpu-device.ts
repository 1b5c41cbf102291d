import { type Adapter, isSoftware, requestAdapter } from "./probe.js";
import type { GpuBuffer, GpuDevice } from "./webgpu-types.js";

/** Runs of launches in one submission that are timed. */
export const MOST_PASSES = 32;
/** Usages of buffers. */
const FOR_TIMES = { resolve: 0x0200 | 0x0004, read: 0x0001 | 0x0008 };

/** Limits that a device is asked for as the adapter has them. */
const RAISED = [
  "maxStorageBufferBindingSize",
  "maxBufferSize",
  "maxComputeWorkgroupStorageSize",
  "maxComputeInvocationsPerWorkgroup",
  "maxComputeWorkgroupSizeX",
];

/** Limits that kernels and plans depend on, in the order of `src/gpu/webgpu/device.rs`; the first two count bytes, of which
 * kernels use multiples of 4, whatever a driver reports. */
const TOLD = [
  "maxStorageBufferBindingSize",
  "maxBufferSize",
  "maxComputeWorkgroupStorageSize",
  "maxComputeInvocationsPerWorkgroup",
  "maxComputeWorkgroupsPerDimension",
  "maxStorageBuffersPerShaderStage",
];

/** Timestamps of one submission. */
export interface Timer {
  readonly queries: unknown;
  readonly resolved: GpuBuffer;
  readonly read: GpuBuffer;
}

/** An open device, and what became of it. */
export class OpenDevice {
  readonly device: GpuDevice;
  readonly software: boolean;
  readonly vendor: string;
  readonly name: string;
  /** Timers that no submission has. */
  readonly timers: Timer[] = [];
  readonly #isBorrowed: boolean;
  #lost: string | undefined;
  #fault: string | undefined;

  constructor(device: GpuDevice, adapter: Pick<Adapter, "info">, isBorrowed = false) {
    const { vendor = "", architecture = "", description = "" } = adapter.info ?? {};
    this.device = device;
    this.#isBorrowed = isBorrowed;
    this.software = isSoftware(adapter);
    this.vendor = vendor;
    this.name = description || `${vendor} ${architecture}`.trim();
    void device.lost.then(({ reason, message }) => (this.#lost = `${reason} ${message}`));
    device.addEventListener("uncapturederror", (event) => {
      const { error } = event as Event & { error: { message: string } };
      this.#fault ??= (error.constructor.name === "GPUOutOfMemoryError" ? "M" : "E") + error.message;
    });
  }

  /** Destroys the device, unless it is the page's. */
  giveUp(): void {
    if (!this.#isBorrowed) this.device.destroy();
  }

  /** What went wrong, after a letter for its kind; what is not a loss is told once. */
  fault(): string | undefined {
    const fault = this.#lost === undefined ? this.#fault : `L${this.#lost}`;
    this.#fault = undefined;
    return fault;
  }

  /** Whether the device has timestamps. */
  get hasTimestamps(): boolean {
    return this.device.features.has("timestamp-query");
  }

  /** The limits above. */
  limits(): number[] {
    const limits = TOLD.map((name) => this.device.limits[name] as number);
    return limits.map((limit, i) => (i < 2 ? limit - (limit % 4) : limit));
  }

  /** Does `work`; what it throws is a fault of the device. */
  noting(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#fault ??= `E${error instanceof Error ? error.message : String(error)}`;
    }
  }

  /** A timer, where the device has timestamps. */
  timer(): Timer | undefined {
    const { device } = this;
    if (!this.hasTimestamps) return undefined;
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

/** Opens a device on the adapter that the browser gives. */
export async function openDevice(powerPreference: string, allowSoftware: boolean): Promise<OpenDevice> {
  const adapter = await requestAdapter(powerPreference);
  if (!adapter) throw new Error("requestAdapter() gives no adapter");
  if (isSoftware(adapter) && !allowSoftware) throw new Error("only a software adapter found, and it was not allowed");
  const requiredLimits = Object.fromEntries(RAISED.map((name) => [name, adapter.limits[name] as number]));
  const requiredFeatures = adapter.features.has("timestamp-query") ? ["timestamp-query"] : [];
  const device = (await adapter.requestDevice({ label: "pagepress", requiredLimits, requiredFeatures })) as GpuDevice;
  return new OpenDevice(device, adapter);
}

/** A device of the page's, which is not asked for more than it has, and stays the page's. */
export function borrowDevice(device: GpuDevice): OpenDevice {
  return new OpenDevice(device, { info: device.adapterInfo ?? {} }, true);
}

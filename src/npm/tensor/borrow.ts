import { fail } from "../arguments.js";
import { PagepressError } from "../errors.js";
import type { Device } from "../types.js";

/** What is used of WebGPU here, whether or not its types are installed. */
interface RawDevice {
  readonly adapterInfo?: unknown;
  readonly features: unknown;
  readonly limits: unknown;
  onuncapturederror: ((event: unknown) => void) | null;
}

/** Has the module, which asks the browser for an adapter and that for a device, get `device` by what `begin` begins. */
export function lending<T>(device: Device, begin: () => T): T {
  const raw = device as unknown as RawDevice;
  if (typeof device !== "object" || device === null || !raw.features || !raw.limits) {
    fail("device", typeof device, "give a GPUDevice");
  }
  const { navigator } = globalThis as { navigator?: { gpu?: { requestAdapter?: unknown } } };
  const gpu = navigator?.gpu;
  if (!gpu) throw new PagepressError("BACKEND_UNAVAILABLE", "backend webgpu is not available: there is no navigator.gpu here");
  const { features, limits, adapterInfo } = raw;
  const adapter = { features, limits, info: adapterInfo ?? {}, requestDevice: async () => device };
  gpu.requestAdapter = async () => adapter;
  try {
    return begin();
  } finally {
    // The browser's own function is the prototype's, and is seen again.
    delete gpu.requestAdapter;
  }
}

/** Keeps the page's own handler of errors beside the module's, which takes its place while `open` works. */
export async function keepingHandler<T>(device: Device, open: () => Promise<T>): Promise<T> {
  const raw = device as unknown as RawDevice;
  const own = raw.onuncapturederror;
  const opened = await open();
  const modules = raw.onuncapturederror;
  if (own) {
    raw.onuncapturederror = (event) => {
      own.call(device, event);
      modules?.call(device, event);
    };
  }
  return opened;
}

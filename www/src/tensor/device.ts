// The GPU of the worker, opened once with and once without software adapters.
import { GpuDevice } from "pagepress/tensor";

const opened = new Map<boolean, Promise<GpuDevice>>();

/** Opens the device; rejects with the reason if there is none. */
export function openDevice(allowSoftware: boolean): Promise<GpuDevice> {
  const earlier = opened.get(allowSoftware);
  if (earlier) return earlier;
  const opening = GpuDevice.open({ allowSoftware });
  opened.set(allowSoftware, opening);
  // A later call tries again.
  opening.catch(() => opened.delete(allowSoftware));
  return opening;
}

/** Returns the display name of a device. */
export function nameOf({ info }: GpuDevice): string {
  return `${info.name || "unnamed adapter"}${info.software ? ", software" : ""}`;
}

/** Returns the message of an error. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

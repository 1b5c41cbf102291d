// The GPU of the worker, opened once for each answer to whether it may be one in software.
import { GpuDevice } from "pagepress/tensor";

const opened = new Map<boolean, Promise<GpuDevice>>();

/** The device; rejects with the reason if there is none. */
export function openDevice(allowSoftware: boolean): Promise<GpuDevice> {
  const earlier = opened.get(allowSoftware);
  if (earlier) return earlier;
  const opening = GpuDevice.open({ allowSoftware });
  opened.set(allowSoftware, opening);
  // Another try may find one.
  opening.catch(() => opened.delete(allowSoftware));
  return opening;
}

/** A device by its name. */
export function nameOf({ info }: GpuDevice): string {
  return `${info.name || "unnamed adapter"}${info.software ? ", software" : ""}`;
}

/** What an error says. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

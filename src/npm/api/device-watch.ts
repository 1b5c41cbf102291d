import type { Device, DeviceCounters, DeviceLoss } from "../base/types.js";

interface Watched {
  readonly lost?: Promise<{ readonly reason: string; readonly message: string }>;
}

/** Counts the devices that were lost and those that took their place, and tells of each loss when it happens. */
export class DeviceWatch {
  #tell: ((loss: DeviceLoss) => void) | undefined;
  #device: Device | null = null;
  #isOver = false;
  #lost = 0;
  #replaced = 0;

  constructor(tell: ((loss: DeviceLoss) => void) | undefined) {
    this.#tell = tell;
  }

  get counters(): DeviceCounters {
    return { lost: this.#lost, replaced: this.#replaced };
  }

  /** Watches `device` from now on, if it is another one than before. */
  watch(device: Device | null): void {
    if (!device || device === this.#device) return;
    if (this.#device) this.#replaced += 1;
    this.#device = device;
    void (device as Watched).lost?.then(({ reason, message }) => {
      if (this.#isOver) return;
      this.#lost += 1;
      this.#tell?.({ reason, message, lost: this.#lost });
    });
  }

  /** What happens from now on is meant. */
  end(): void {
    this.#isOver = true;
  }
}

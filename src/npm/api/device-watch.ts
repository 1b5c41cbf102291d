import type { Device, DeviceCounters, DeviceLoss } from "../base/types.js";

interface Watched {
  readonly lost?: Promise<{ readonly reason: string; readonly message: string }>;
}

/** Counts lost and replaced devices, and reports each loss when it happens. */
export class DeviceWatch {
  #onLost: ((loss: DeviceLoss) => void) | undefined;
  #device: Device | null = null;
  #isOver = false;
  #lost = 0;
  #replaced = 0;

  constructor(onLost: ((loss: DeviceLoss) => void) | undefined) {
    this.#onLost = onLost;
  }

  get counters(): DeviceCounters {
    return { lost: this.#lost, replaced: this.#replaced };
  }

  /** Watches `device` from now on, unless it is already watched. */
  watch(device: Device | null): void {
    if (!device || device === this.#device) return;
    if (this.#device) this.#replaced += 1;
    this.#device = device;
    void (device as Watched).lost?.then(({ reason, message }) => {
      if (this.#isOver) return;
      this.#lost += 1;
      this.#onLost?.({ reason, message, lost: this.#lost });
    });
  }

  /** Ignores losses from now on: the caller destroys the device. */
  end(): void {
    this.#isOver = true;
  }
}

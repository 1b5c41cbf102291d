// Opens compressors in states that the public API reaches only by timing or with hardware.
import { AutoCodec, Compressor, CpuCodec, GpuCodec, load, MIN_SHARED_BYTES, Sharing } from "/dist/internals.js";

/** `Sharing.prototype.isWorth`, which decides by measured times. */
export const isWorthByMeasurement = Sharing.prototype.isWorth;

/** Divides all calls that are large enough among workers, whether or not that is faster: for compressors of internals.js. */
export function shareAlways() {
  Sharing.prototype.isWorth = (_, nBytes) => nBytes >= MIN_SHARED_BYTES;
}

/** Starts a worker of the package. */
export const startWorker = () => new Worker("/dist/worker.js", { type: "module" });

/** Waits until calls of `compressor` run on workers; they run on the calling thread while the first worker starts. */
export async function startWorkers(compressor) {
  const end = performance.now() + 20_000;
  do {
    await compressor.compress(new Uint8Array(1_000_000).fill(7), { level: "fast" });
  } while (compressor.lastTiming.workers === undefined && performance.now() < end);
  if (compressor.lastTiming.workers === undefined) throw new Error("no worker started");
  return compressor;
}

/** Opens a compressor in `"auto"` mode on the software GPU with a given calibration. */
export async function openAuto(calibration, onDeviceLost) {
  const [gpu, cpu] = [await load("gpu"), await load("cpu")];
  const onGpu = await GpuCodec.open(gpu, cpu, ({ glue }) => glue.GpuCodec.open(false, true));
  const given = calibration && { adapter: onGpu.backend().adapter, rows: [], milliseconds: 0, ...calibration };
  const codec = new AutoCodec(onGpu, async () => new CpuCodec(cpu), given);
  return new Compressor({ codec, obstacles: [] }, { level: "fast", onDeviceLost });
}

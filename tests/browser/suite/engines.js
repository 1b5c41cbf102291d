// Compressors for tests, opened in ways that the public interface leaves to chance or to hardware.
import { AutoCodec, Compressor, CpuCodec, GpuCodec, load } from "/dist/internals.js";

/** Waits until workers take part in the calls of `compressor`, which does them in place while the first one starts. */
export async function startWorkers(compressor) {
  const end = performance.now() + 20_000;
  do {
    await compressor.compress(new Uint8Array(1_000_000).fill(7), { level: "fast" });
  } while (compressor.lastTiming.workers === undefined && performance.now() < end);
  if (compressor.lastTiming.workers === undefined) throw new Error("no worker started");
  return compressor;
}

/** A compressor in `"auto"` mode on the software GPU, with what was measured given. */
export async function openAuto(calibration, onDeviceLost) {
  const [gpu, cpu] = [await load("gpu"), await load("cpu")];
  const onGpu = await GpuCodec.open(gpu, cpu, ({ glue }) => glue.GpuCodec.open(false, true));
  const given = calibration && { adapter: onGpu.backend().adapter, rows: [], milliseconds: 0, ...calibration };
  const codec = new AutoCodec(onGpu, async () => new CpuCodec(cpu), given);
  return new Compressor({ codec, obstacles: [] }, "fast", onDeviceLost);
}

// Compressors for tests, opened in ways that the public interface leaves to chance or to hardware.
import { AutoCodec } from "/dist/auto.js";
import { Compressor } from "/dist/compressor.js";
import { CpuCodec } from "/dist/cpu-codec.js";
import { load } from "/dist/modules.js";

/** A compressor in `"auto"` mode on the software GPU, with what was measured given. */
export async function openAuto(calibration, onDeviceLost) {
  const [gpu, cpu] = [await load("gpu"), await load("cpu")];
  const onGpu = await gpu.open("high-performance", true, cpu);
  const given = calibration && { adapter: onGpu.backend().adapter, rows: [], milliseconds: 0, ...calibration };
  const codec = new AutoCodec(onGpu, async () => new CpuCodec(cpu), given);
  return new Compressor({ codec, obstacles: [] }, "fast", onDeviceLost);
}

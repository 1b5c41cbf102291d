// Tests the choice between two engines, the loss of a device, and the reasons that the package reports. A software GPU
// replaces hardware, since the same code chooses both.
import { crossover } from "/dist/internals.js";
import { createCompressor, decompressSync, Lz4CompressionStream, PagepressError } from "/dist/index.js";
import { check, rejects, same } from "./check.js";
import { kinds, mixed } from "./data.js";
import { openAuto } from "./engines.js";
import { collect } from "./pipes.js";

const software = { backend: "webgpu", allowSoftware: true };

function findsTheCrossover() {
  const rows = [[1, 1, 9], [2, 2, 8], [4, 4, 6], [8, 8, 2]];
  check(crossover(rows) === 5, `between two sizes: ${crossover(rows)}`);
  check(crossover(rows.slice(0, 3)) === 5, `past the last size: ${crossover(rows.slice(0, 3))}`);
  check(crossover([[1, 5, 1], [2, 9, 2]]) === 1, "at once");
  check(crossover([[1, 1, 2], [2, 2, 4]]) === null, "never");
  check(crossover([[4, 2, 3]]) === null && crossover([]) === null, "too few rows for a crossover");
  check(crossover([[1, 5, 1], [2, 3, 4], [4, 9, 5]]) === 3, "a stray gain at first");
}

async function choosesBySize() {
  const auto = await openAuto({ compressFrom: 2_000_000, decompressFrom: null });
  const [small, middle, large] = [100_000, 1_500_000, 2_200_000].map(kinds.text);
  for (const [bytes, engine, word] of [[small, "cpu", "too small"], [middle, "cpu", "2000000"], [large, "webgpu", "measured"]]) {
    const frame = await auto.compress(bytes);
    const { engine: actual, reason } = auto.lastTiming;
    check(actual === engine && reason.includes(word), `${bytes.length} bytes: ${actual}: ${reason}`);
    same(await auto.decompress(frame), bytes, "content");
    check(auto.lastTiming.engine === "cpu", "the GPU never decompresses faster");
  }
  await auto.compress(large, { blockSize: 1 << 20 });
  check(auto.lastTiming.engine === "cpu" && auto.lastTiming.reason.includes("1048576"), auto.lastTiming.reason);
  await auto.dispose();
}

/** The lengths of compressed bytes are far below the measured sizes, which are those of content. */
async function choosesBySizeOfContent() {
  const auto = await openAuto({ compressFrom: null, decompressFrom: 2_000_000 });
  for (const [length, engine, word] of [[3_000_000, "webgpu", "measured"], [1_500_000, "cpu", "2000000"], [500_000, "cpu", "too small"]]) {
    const bytes = kinds.zeros(length);
    const frame = await auto.compress(bytes);
    check(frame.length < 100_000, `a frame of ${frame.length} bytes`);
    same(await auto.decompress(frame), bytes, `content of ${length}`);
    const { engine: actual, reason } = auto.lastTiming;
    check(actual === engine && reason.includes(word), `${length} bytes: ${actual}: ${reason}`);
  }
  await auto.dispose();
}

async function measuresOnce() {
  const auto = await openAuto();
  const { calibration, adapters, text, backend, hardwareConcurrency } = await auto.capabilities();
  check(calibration.rows.length >= 1 && calibration.milliseconds < 100_000, JSON.stringify(calibration));
  for (const { bytes, compressMs, decompressMs } of calibration.rows) {
    const times = [compressMs.cpu, compressMs.webgpu, decompressMs.cpu, decompressMs.webgpu];
    check(bytes > 0 && times.every((ms) => ms >= 0), JSON.stringify(calibration.rows));
  }
  check(calibration.adapter === backend.adapter && hardwareConcurrency >= 1, JSON.stringify(backend));
  const [adapter] = adapters;
  check(adapter.software && adapter.limits.maxBufferSize > 0 && adapter.features.length > 0, JSON.stringify(adapter));
  for (const part of ["adapter: ", "maxBufferSize: ", "measured, ", "GPU faster: ", "cores: "]) {
    check(text.includes(part), `no ${part} in ${text}`);
  }
  const again = await openAuto();
  check((await again.capabilities()).calibration === calibration, "it measured again");
  await auto.dispose();
  await again.dispose();
}

/** A device destroyed during a call is replaced, the work is repeated, and both are reported. */
async function replaysAfterLoss() {
  const losses = [];
  const gpu = await createCompressor({ ...software, onDeviceLost: (loss) => losses.push(loss) });
  const bytes = mixed(65536, 8);
  const expected = await gpu.compressPages(bytes);
  const first = gpu.device;
  const running = gpu.compressPages(bytes);
  await new Promise((resolve) => setTimeout(resolve, 30));
  first.destroy();
  same((await running).packed, expected.packed, "repeated");
  check(gpu.device !== first, "the lost device is in use");
  await first.lost;
  check(losses.length === 1 && losses[0].reason === "destroyed" && losses[0].lost === 1, JSON.stringify(losses));
  same(Object.values(gpu.deviceCounters), [1, 1], "counters");
  await gpu.dispose();
  check(losses.length === 1, "dispose was reported as a loss");
}

/** A stream replaces a lost device as calls do, and reports it to its own `onDeviceLost`. */
async function streamsReportLosses() {
  const { requestDevice } = GPUAdapter.prototype;
  const [devices, losses] = [[], []];
  GPUAdapter.prototype.requestDevice = async function (...args) {
    const device = await requestDevice.apply(this, args);
    devices.push(device);
    return device;
  };
  try {
    const bytes = mixed(65536, 40);
    const stream = new Lz4CompressionStream({ ...software, blockSize: 65536, onDeviceLost: (loss) => losses.push(loss) });
    const frame = collect(stream.readable);
    const writer = stream.writable.getWriter();
    await writer.write(bytes.subarray(0, bytes.length / 2));
    while (devices.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    devices[0].destroy();
    await devices[0].lost;
    await writer.write(bytes.subarray(bytes.length / 2));
    await writer.close();
    same(decompressSync(await frame), bytes, "content");
    check(losses.length === 1 && losses[0].reason === "destroyed", JSON.stringify(losses));
  } finally {
    GPUAdapter.prototype.requestDevice = requestDevice;
  }
}

/** Every device is lost as soon as it is created: `"webgpu"` fails, `"auto"` falls back to the CPU. */
async function fallsBackAfterLoss() {
  const { requestDevice } = GPUAdapter.prototype;
  const bytes = kinds.text(3_000_000);
  const forced = await createCompressor(software);
  const auto = await openAuto({ compressFrom: 0, decompressFrom: 0 });
  try {
    GPUAdapter.prototype.requestDevice = async function (...args) {
      const device = await requestDevice.apply(this, args);
      device.destroy();
      return device;
    };
    forced.device.destroy();
    auto.device.destroy();
    await rejects(forced.compressPages(bytes), "DEVICE_LOST", PagepressError);
    same(await auto.decompress(await auto.compress(bytes)), bytes, "content");
    check(auto.lastTiming.engine === "cpu" && auto.lastTiming.reason.includes("GPU"), auto.lastTiming.reason);
    check(auto.backend.engine === "cpu" && auto.backend.rejected.length > 0, JSON.stringify(auto.backend));
    check(auto.device === null, "a device after the GPU was given up");
  } finally {
    GPUAdapter.prototype.requestDevice = requestDevice;
  }
  same(await forced.decompressPages(await forced.compressPages(bytes)), bytes, "on the next device");
  await forced.dispose();
  await auto.dispose();
}

export const cases = [
  ["finds the crossover", async () => findsTheCrossover()],
  ["chooses by size", choosesBySize],
  ["chooses by the size of the content", choosesBySizeOfContent],
  ["calibrates once", measuresOnce],
  ["repeats a call after its device is lost", replaysAfterLoss],
  ["reports a device lost during a stream", streamsReportLosses],
  ["falls back when devices are lost repeatedly", fallsBackAfterLoss],
];

// Exports internals of the package for tests. The build bundles this file to dist/internals.js, which is not published.
export * from "../../../src/npm/index.ts";
export { AutoCodec } from "../../../src/npm/codec/auto.ts";
export { crossover } from "../../../src/npm/codec/calibrate.ts";
export { Compressor } from "../../../src/npm/api/compressor.ts";
export { CpuCodec } from "../../../src/npm/codec/cpu.ts";
export { MIN_SHARED_BYTES, Sharing } from "../../../src/npm/codec/sharing.ts";
export { GpuCodec } from "../../../src/npm/codec/gpu.ts";
export { moduleWith } from "../../../src/npm/modules/dictionaries.ts";
export { load } from "../../../src/npm/modules/load.ts";
export * as cpuGlue from "../../../src/npm/wasm/cpu.js";

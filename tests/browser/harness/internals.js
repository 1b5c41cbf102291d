// What tests see of the package beside its entries. The build bundles it to dist/internals.js, which is not packed.
export * from "../../../src/npm/index.ts";
export { AutoCodec } from "../../../src/npm/codec/auto.ts";
export { crossover } from "../../../src/npm/codec/calibrate.ts";
export { Compressor } from "../../../src/npm/api/compressor.ts";
export { CpuCodec } from "../../../src/npm/codec/cpu.ts";
export { GpuCodec } from "../../../src/npm/codec/gpu.ts";
export { load } from "../../../src/npm/modules/load.ts";
export * as cpuGlue from "../../../src/npm/wasm/cpu.js";

export { PagepressError, type PagepressErrorCode } from "../base/errors.js";
export type { AdapterInfo, Device, DeviceBuffer, ModuleSource } from "../base/types.js";
export type { ArrayOperations } from "./arrays.js";
export { GpuBackend, type GpuBackendOptions } from "./backend.js";
export { BufferId, GpuCommandBatch } from "./batch.js";
export { GpuDevice } from "./device.js";
export { GpuKernel, type KernelArgument } from "./kernel.js";
export { GpuTensor, type QuantizedWeights } from "./tensor.js";
export type * from "./types.js";

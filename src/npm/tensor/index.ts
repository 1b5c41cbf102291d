export { PagepressError, type PagepressErrorCode } from "../base/errors.js";
export type { AdapterInfo, Device, DeviceBuffer, ModuleSource } from "../base/types.js";
export type { ArrayOperations } from "./arrays.js";
export { GpuBackend } from "./backend.js";
export { BufferId, GpuCommandBatch } from "./batch.js";
export { GpuDevice } from "./device.js";
export { GpuKernel, type KernelArgument } from "./kernel.js";
export type { QuantizedWeights } from "./quantized.js";
export { GpuTensor } from "./tensor.js";
export type {
  AttentionOptions,
  BackendUsed,
  GpuBackendOptions,
  GpuCapabilities,
  GpuDeviceInfo,
  GpuDeviceOptions,
  Grid,
  KernelAccess,
  KernelOptions,
  NormOptions,
  Quantization,
  Reduction,
  Shape,
  Size2d,
  Step,
  TensorModules,
} from "./types.js";

export { PagepressError, type PagepressErrorCode } from "../base/errors.js";
export type { CudaArgument, CudaKernel } from "./kernel.js";
export { listCudaKernels, translateCuda } from "./translate.js";
export type * from "./types.js";

// Tests the translation of kernels in CUDA C where there is no GPU.
export { translations as cases } from "./cuda.js";

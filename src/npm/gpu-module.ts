import type { CallExports, CallModule } from "./module-call.js";

/** What the module of the GPU exports; `src/web/gpu` says what each function takes and gives. */
export interface GpuExports extends CallExports {
  open_codec(isLowPower: number, allowSoftware: number): number;
  codec_device(codec: number): number;
  free_codec(codec: number): void;
  gpu_compress_pages(codec: number, bytes: number, pageSize: number, flags: number): number;
  gpu_decompress_pages(
    codec: number,
    packed: number,
    table: number,
    tableLength: number,
    pageSize: number,
    byteLength: number,
    isStrict: number,
  ): number;
  compress_resident(
    codec: number,
    buffer: number,
    byteLength: number,
    pageSize: number,
    flags: number,
    maker: number,
  ): number;
  decompress_resident(codec: number, parts: number, partsLength: number, pageSize: number, buffer: number): number;
}

/** The module of the GPU. It knows pages; files are the CPU's module's. */
export type GpuModule = CallModule<GpuExports>;

// What is used of WebGPU here, whether or not its types are installed.
import type { Adapter } from "./probe.js";

export interface GpuBuffer {
  readonly size: number;
  readonly usage: number;
  mapAsync(mode: number, start?: number, length?: number): Promise<void>;
  getMappedRange(start?: number, length?: number): ArrayBuffer;
  unmap(): void;
  destroy(): void;
}

export interface Pass {
  setPipeline(pipeline: unknown): void;
  setBindGroup(index: number, group: unknown): void;
  dispatchWorkgroups(x: number, y: number, z: number): void;
  end(): void;
}

export interface Encoder {
  beginComputePass(descriptor: object): Pass;
  copyBufferToBuffer(from: GpuBuffer, start: number, to: GpuBuffer, at: number, length: number): void;
  resolveQuerySet(queries: unknown, first: number, count: number, to: GpuBuffer, at: number): void;
  finish(): unknown;
}

export interface ShaderModule {
  getCompilationInfo(): Promise<{ messages: readonly { type: string; lineNum: number; linePos: number; message: string }[] }>;
}

export interface GpuDevice extends EventTarget {
  /** Missing in older browsers. */
  readonly adapterInfo?: NonNullable<Adapter["info"]>;
  readonly limits: Readonly<Record<string, number>>;
  readonly features: ReadonlySet<string>;
  readonly lost: Promise<{ reason: string; message: string }>;
  readonly queue: {
    submit(commands: unknown[]): void;
    writeBuffer(buffer: GpuBuffer, at: number, from: ArrayBuffer, start: number, length: number): void;
    onSubmittedWorkDone(): Promise<void>;
  };
  createBuffer(descriptor: { size: number; usage: number; mappedAtCreation?: boolean }): GpuBuffer;
  createShaderModule(descriptor: { label: string; code: string }): ShaderModule;
  createBindGroupLayout(descriptor: object): unknown;
  createPipelineLayout(descriptor: object): unknown;
  createComputePipelineAsync(descriptor: object): Promise<unknown>;
  createBindGroup(descriptor: object): unknown;
  createCommandEncoder(): Encoder;
  createQuerySet(descriptor: { type: string; count: number }): unknown;
  pushErrorScope(filter: string): void;
  popErrorScope(): Promise<{ message: string } | null>;
  destroy(): void;
}

// Runs kernels that `cuda-c` compiled from CUDA C, and compares their results with those of the references in Rust.
import { contentOf } from "./buffers.js";
import { check } from "./check.js";

/** Returns a buffer on the device that contains `words`. */
function bufferOf(device, words, usage) {
  const buffer = device.createBuffer({ size: 4 * words.length, usage: usage | GPUBufferUsage.COPY_DST });
  device.queue.writeBuffer(buffer, 0, new Uint32Array(words));
  return buffer;
}

/** Returns true if two numbers are equal within a tolerance. */
function isEqual(expected, found, { absolute, relative }) {
  if (expected === found || (Number.isNaN(expected) && Number.isNaN(found))) return true;
  return Math.abs(expected - found) <= absolute + relative * Math.abs(expected);
}

/** Fails if `bytes` differ from the results that the reference expects. */
function compare(bytes, { array, length, words, tolerance }, what) {
  const expected = new globalThis[array](new Uint32Array(words).buffer, 0, length);
  const found = new globalThis[array](bytes, 0, length);
  const wrong = [];
  for (let i = 0; i < length; i += 1) {
    if (!isEqual(expected[i], found[i], tolerance)) wrong.push(`[${i}] is ${found[i]}, not ${expected[i]}`);
  }
  const few = wrong.length <= tolerance.share * length;
  check(few, `${what}: ${wrong.length} wrong: ${wrong.slice(0, 4).join(", ")}`);
}

/** Returns the layout of a kernel's bindings; one that is derived from the shader lacks parameters that it does not use. */
function layoutOf(device, buffers, uniform) {
  const visibility = GPUShaderStage.COMPUTE;
  const entries = buffers.map(({ binding, writable }) => {
    return { binding, visibility, buffer: { type: writable ? "storage" : "read-only-storage" } };
  });
  if (uniform.length > 0) entries.push({ binding: buffers.length, visibility, buffer: { type: "uniform" } });
  return device.createBindGroupLayout({ entries });
}

async function launchOn(device, { wgsl, entry, grid, buffers, uniform }) {
  const module = device.createShaderModule({ code: wgsl });
  const { messages } = await module.getCompilationInfo();
  const errors = messages.filter(({ type }) => type === "error");
  const lines = errors.map(({ lineNum, linePos, message }) => `${lineNum}:${linePos}: ${message}\n${wgsl.split("\n")[lineNum - 1]}`);
  check(lines.length === 0, lines.join("\n"));
  const bindings = layoutOf(device, buffers, uniform);
  const layout = device.createPipelineLayout({ bindGroupLayouts: [bindings] });
  const pipeline = await device.createComputePipelineAsync({ layout, compute: { module, entryPoint: entry } });
  const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC;
  const bound = buffers.map(({ binding, before }) => ({ binding, buffer: bufferOf(device, before, usage) }));
  const entries = bound.map(({ binding, buffer }) => ({ binding, resource: { buffer } }));
  if (uniform.length > 0) {
    const buffer = bufferOf(device, uniform, GPUBufferUsage.UNIFORM);
    entries.push({ binding: buffers.length, resource: { buffer } });
  }
  const group = device.createBindGroup({ layout: bindings, entries });
  const encoder = device.createCommandEncoder();
  const pass = encoder.beginComputePass();
  pass.setPipeline(pipeline);
  pass.setBindGroup(0, group);
  pass.dispatchWorkgroups(...grid);
  pass.end();
  device.queue.submit([encoder.finish()]);
  return bound;
}

/** Runs one case; returns null or the text of its error. */
export async function runCudaCase(one) {
  if (one.error) return one.error;
  const adapter = await navigator.gpu.requestAdapter();
  const { maxStorageBuffersPerShaderStage } = adapter.limits;
  if (one.buffers.length > maxStorageBuffersPerShaderStage) return null;
  const device = await adapter.requestDevice({ requiredLimits: { maxStorageBuffersPerShaderStage } });
  try {
    device.pushErrorScope("validation");
    const bound = await launchOn(device, one);
    const fault = await device.popErrorScope();
    check(fault === null, fault?.message);
    for (const [i, { binding, after }] of one.buffers.entries()) {
      if (after) compare((await contentOf(device, bound[i].buffer)).buffer, after, `binding ${binding}`);
    }
    return null;
  } catch (error) {
    return error.message ?? String(error);
  } finally {
    device.destroy();
  }
}

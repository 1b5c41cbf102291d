// Tests that work of one turn of the event loop, of which the engine holds some back, runs in the order of its calls.
import { contentOf } from "./buffers.js";
import { same } from "./check.js";

const DOUBLE = `
@group(0) @binding(0) var<storage, read_write> values: array<f32>;
@compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3u) { values[id.x] *= 2; }`;

const times = (n) => [1, 2, 3, 4].map((value) => n * value);

/** Checks the order of tensors' operations, of a kernel of the user, and of commands of the page. */
export async function checkOrder(gpu) {
  const one = await gpu.tensor(Float32Array.from(times(1)));
  /** Returns `one` multiplied by `n` in `n - 1` operations; memory of the sums between is used again. */
  const multiple = async (n) => {
    let sum = await one.apply([]);
    for (let i = 1; i < n; i += 1) {
      const next = await sum.add(one);
      sum.dispose();
      sum = next;
    }
    return sum;
  };
  for (const n of [1, 2, 3, 4, 5, 6, 7, 50]) same(await (await multiple(n)).read(), times(n), `${n} operations and a read`);
  const several = await Promise.all(Array.from({ length: 9 }, (_, i) => multiple(i + 1)));
  for (const [i, sum] of several.entries()) same(await sum.read(), times(i + 1), `sum ${i} of several`);
  const double = await gpu.compileKernel(DOUBLE, { bindings: ["read-write"] });
  const sum = await multiple(3);
  gpu.launch(double, 1, [sum]);
  same(await (await sum.add(one)).read(), times(7), "a kernel of the user between operations");
  const shown = await multiple(3);
  const bytes = await contentOf(gpu.raw, shown.buffer, 16, 4 * shown.offset);
  same(new Float32Array(bytes.buffer), times(3), "a command of the page after operations");
  const lent = gpu.raw.createBuffer({ size: 16, usage: GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_DST | GPUBufferUsage.COPY_SRC });
  gpu.raw.queue.writeBuffer(lent, 0, Float32Array.from(times(10)));
  const before = await multiple(2);
  const read = await gpu.tensorFromBuffer(lent, [4]).add(before);
  gpu.raw.queue.writeBuffer(lent, 0, Float32Array.from(times(20)));
  same(await read.read(), times(12), "memory of the page, which it overwrites after the operation");
  lent.destroy();
}

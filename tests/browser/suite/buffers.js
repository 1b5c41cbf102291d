// Reads buffers of a GPU by the page's own commands.

/** Returns `byteLength` bytes of `buffer` from `offset` on, a multiple of 4. */
export async function contentOf(device, buffer, byteLength = buffer.size, offset = 0) {
  const size = Math.ceil(byteLength / 4) * 4;
  const staging = device.createBuffer({ size, usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST });
  const encoder = device.createCommandEncoder();
  encoder.copyBufferToBuffer(buffer, offset, staging, 0, size);
  device.queue.submit([encoder.finish()]);
  await staging.mapAsync(GPUMapMode.READ);
  const bytes = new Uint8Array(staging.getMappedRange()).slice(0, byteLength);
  staging.destroy();
  return bytes;
}

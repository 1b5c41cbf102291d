// Draws the flight on the GPU: blocks are decompressed straight into vertex buffers, and no points are read back.
import { createCompressor } from "pagepress";
import type { PartFrame } from "../parts/local";
import { allowsSoftware } from "../shell/press";
import { AHEAD, matrix } from "./camera";
import type { Renderer, Tile } from "./flight";
import { openScreen } from "./screen";
import { POINT_BYTES, SIDE } from "./terrain";

const SHADER = `
struct View { matrix: mat4x4f, low: vec4f, high: vec4f }
@group(0) @binding(0) var<uniform> view: View;

struct Point { @builtin(position) at: vec4f, @location(0) colour: vec4f }

@vertex fn vertex(@location(0) point: vec4f, @location(1) distance: f32) -> Point {
  let z = point.z + distance;
  let fade = clamp(1.0 - z / ${AHEAD}.0, 0.0, 1.0);
  return Point(view.matrix * vec4f(2.0 * point.x - 1.0, point.y, z, 1.0), vec4f(mix(view.low.rgb, view.high.rgb, point.w) * fade, 1.0));
}

@fragment fn fragment(point: Point) -> @location(0) vec4f { return point.colour; }
`;

interface Vertices extends Tile {
  buffer: GPUBuffer;
}

/** Opens the GPU; rejects with the reason if there is none. */
export async function onGpu(canvas: HTMLCanvasElement, low: number[], high: number[]): Promise<Renderer<Vertices>> {
  const compressor = await createCompressor({ backend: "webgpu", allowSoftware: allowsSoftware() });
  const device = compressor.device as GPUDevice;
  const { software, adapter } = compressor.backend;
  const screen = openScreen(device, canvas, software);
  const module = device.createShaderModule({ code: SHADER });
  const pipeline = device.createRenderPipeline({
    layout: "auto",
    vertex: {
      module,
      buffers: [
        { arrayStride: POINT_BYTES, attributes: [{ shaderLocation: 0, offset: 0, format: "unorm16x4" }] },
        { arrayStride: 4, stepMode: "instance", attributes: [{ shaderLocation: 1, offset: 0, format: "float32" }] },
      ],
    },
    fragment: { module, targets: [{ format: screen.format }] },
    primitive: { topology: "point-list" },
    depthStencil: { format: "depth24plus", depthWriteEnabled: true, depthCompare: "less" },
  });
  const size = [canvas.width, canvas.height];
  const depth = device.createTexture({ size, format: "depth24plus", usage: GPUTextureUsage.RENDER_ATTACHMENT });
  const view = device.createBuffer({ size: 96, usage: GPUBufferUsage.UNIFORM | GPUBufferUsage.COPY_DST });
  device.queue.writeBuffer(view, 0, Float32Array.of(...matrix(canvas.width / canvas.height), ...low, 1, ...high, 1));
  const distances = device.createBuffer({ size: 4 * (AHEAD + 2), usage: GPUBufferUsage.VERTEX | GPUBufferUsage.COPY_DST });
  const bindings = device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries: [{ binding: 0, resource: { buffer: view } }] });
  return {
    name: `GPU, ${adapter ?? "unnamed adapter"}: decompressed into vertex buffers, ${screen.isCopied ? "only the picture" : "nothing"} is read back`,
    async load({ bytes }: PartFrame) {
      const { buffer } = await compressor.decompressResident(bytes, { usage: GPUBufferUsage.VERTEX });
      const vertices = buffer as GPUBuffer;
      return { buffer: vertices, free: () => vertices.destroy() };
    },
    async draw(tiles) {
      device.queue.writeBuffer(distances, 0, Float32Array.from(tiles, ({ distance }) => distance));
      const encoder = device.createCommandEncoder();
      const pass = encoder.beginRenderPass({
        colorAttachments: [{ view: screen.view(), loadOp: "clear", storeOp: "store", clearValue: [0, 0, 0, 1] }],
        depthStencilAttachment: { view: depth.createView(), depthLoadOp: "clear", depthStoreOp: "discard", depthClearValue: 1 },
      });
      pass.setPipeline(pipeline);
      pass.setBindGroup(0, bindings);
      pass.setVertexBuffer(1, distances);
      tiles.forEach(({ tile }, i) => {
        pass.setVertexBuffer(0, tile.buffer);
        pass.draw(SIDE * SIDE, 1, 0, i);
      });
      pass.end();
      screen.finish(encoder);
      device.queue.submit([encoder.finish()]);
      await screen.show();
    },
    dispose: () => compressor.dispose(),
  };
}

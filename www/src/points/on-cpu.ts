// Draws the flight without a GPU: blocks are decompressed in WebAssembly, and points are drawn into an image.
import { decompress } from "pagepress";
import { AHEAD, matrix } from "./camera";
import type { Renderer, Tile } from "./flight";

interface Points extends Tile {
  points: Uint16Array;
}

export function onCpu(canvas: HTMLCanvasElement, low: number[], high: number[]): Renderer<Points> {
  const context = canvas.getContext("2d") as CanvasRenderingContext2D;
  const { width, height } = canvas;
  const image = context.createImageData(width, height);
  const pixels = new Uint32Array(image.data.buffer);
  const depth = new Float32Array(width * height);
  const m = matrix(width / height);
  const at = (i: number): number => m[i] as number;
  const [xx, yy, yz, yw, zy, zz, zw, ty, tz, tw] = [0, 5, 6, 7, 9, 10, 11, 13, 14, 15].map(at) as [number, number, number, number, number, number, number, number, number, number];
  const shade = (share: number, fade: number): number => {
    const [red, green, blue] = low.map((from, i) => 255 * fade * (from + share * ((high[i] as number) - from))) as [number, number, number];
    return (255 << 24) | (blue << 16) | (green << 8) | red;
  };
  const drawTile = (points: Uint16Array, distance: number): void => {
    for (let i = 0; i < points.length; i += 4) {
      const z = (points[i + 2] as number) / 65535 + distance;
      const y = (points[i + 1] as number) / 65535;
      const w = yw * y + zw * z + tw;
      if (w <= 0.01) continue;
      const px = (0.5 + (xx * ((2 * (points[i] as number)) / 65535 - 1)) / w / 2) * width;
      const py = (0.5 - (yy * y + zy * z + ty) / w / 2) * height;
      const near = (yz * y + zz * z + tz) / w;
      if (!(px >= 0 && px < width && py >= 0 && py < height) || near > 1) continue;
      const pixel = Math.floor(py) * width + Math.floor(px);
      if (near >= (depth[pixel] as number)) continue;
      depth[pixel] = near;
      pixels[pixel] = shade((points[i + 3] as number) / 65535, Math.max(0, Math.min(1, 1 - z / AHEAD)));
    }
  };
  return {
    name: "CPU: decompressed in WebAssembly, drawn into an image",
    async load({ bytes, contentBytes }) {
      const content = await decompress(bytes, { maxOutputSize: contentBytes });
      return { points: new Uint16Array(content.buffer, content.byteOffset, content.length / 2), free: () => undefined };
    },
    draw(tiles) {
      pixels.fill(0xff000000);
      depth.fill(Infinity);
      for (const { tile, distance } of tiles) drawTile(tile.points, distance);
      context.putImageData(image, 0, 0);
    },
    dispose: () => Promise.resolve(),
  };
}

// Where the GPU draws to.

/** A texture to draw to, and a step that shows it. */
export interface Screen {
  format: GPUTextureFormat;
  view(): GPUTextureView;
  /** Adds commands after the drawing. */
  finish(encoder: GPUCommandEncoder): void;
  /** Shows the picture, once the commands are submitted. */
  show(): Promise<void>;
}

/** The canvas itself. */
export function canvasScreen(device: GPUDevice, canvas: HTMLCanvasElement): Screen {
  const context = canvas.getContext("webgpu");
  if (!context) throw new Error("the canvas offers no WebGPU context");
  const format = navigator.gpu.getPreferredCanvasFormat();
  context.configure({ device, format });
  return { format, view: () => context.getCurrentTexture().createView(), finish: () => undefined, show: () => Promise.resolve() };
}

/**
 * A texture that is copied to the canvas through the CPU, for software adapters: a canvas that shows their picture ends
 * the GPU process of Chromium 156 where it runs without a display.
 */
export function copiedScreen(device: GPUDevice, canvas: HTMLCanvasElement): Screen {
  const { width, height } = canvas;
  const context = canvas.getContext("2d") as CanvasRenderingContext2D;
  const usage = GPUTextureUsage.RENDER_ATTACHMENT | GPUTextureUsage.COPY_SRC;
  const texture = device.createTexture({ size: [width, height], format: "rgba8unorm", usage });
  const bytesPerRow = 256 * Math.ceil((4 * width) / 256);
  const buffer = device.createBuffer({ size: bytesPerRow * height, usage: GPUBufferUsage.COPY_DST | GPUBufferUsage.MAP_READ });
  const image = context.createImageData(width, height);
  return {
    format: "rgba8unorm",
    view: () => texture.createView(),
    finish: (encoder) => encoder.copyTextureToBuffer({ texture }, { buffer, bytesPerRow }, [width, height]),
    async show() {
      await buffer.mapAsync(GPUMapMode.READ);
      const rows = new Uint8Array(buffer.getMappedRange());
      for (let row = 0; row < height; row += 1) image.data.set(rows.subarray(row * bytesPerRow, row * bytesPerRow + 4 * width), row * 4 * width);
      buffer.unmap();
      context.putImageData(image, 0, 0);
    },
  };
}

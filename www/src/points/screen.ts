// The targets that the GPU draws to.

/** A texture to draw to, and a step that shows it. */
export interface Screen {
  /** True if the picture passes through the CPU. */
  isCopied: boolean;
  format: GPUTextureFormat;
  view(): GPUTextureView;
  /** Adds commands after the drawing. */
  finish(encoder: GPUCommandEncoder): void;
  /** Shows the picture, once the commands are submitted. */
  show(): Promise<void>;
}

/** Opens the canvas itself where its picture is shown, or else a texture that is copied. */
export function openScreen(device: GPUDevice, canvas: HTMLCanvasElement, software: boolean): Screen {
  return !software && isShown(device) ? canvasScreen(device, canvas) : copiedScreen(device, canvas);
}

/** Draws a white pixel to a canvas and reads it. In headless Chromium on Linux, canvases of a GPU stay empty, without an error. */
function isShown(device: GPUDevice): boolean {
  const canvas = new OffscreenCanvas(1, 1);
  const pixel = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const context = canvas.getContext("webgpu");
  if (!context || !pixel) return false;
  context.configure({ device, format: navigator.gpu.getPreferredCanvasFormat() });
  const encoder = device.createCommandEncoder();
  const view = context.getCurrentTexture().createView();
  encoder.beginRenderPass({ colorAttachments: [{ view, loadOp: "clear", storeOp: "store", clearValue: [1, 1, 1, 1] }] }).end();
  device.queue.submit([encoder.finish()]);
  pixel.drawImage(canvas, 0, 0);
  return pixel.getImageData(0, 0, 1, 1).data[0] === 255;
}

function canvasScreen(device: GPUDevice, canvas: HTMLCanvasElement): Screen {
  const context = canvas.getContext("webgpu");
  if (!context) throw new Error("the canvas offers no WebGPU context");
  const format = navigator.gpu.getPreferredCanvasFormat();
  context.configure({ device, format });
  return { isCopied: false, format, view: () => context.getCurrentTexture().createView(), finish: () => undefined, show: () => Promise.resolve() };
}

/**
 * A texture that is copied to the canvas through the CPU. Software adapters always use it: a canvas that shows their picture
 * ends the GPU process of Chromium 156 where it runs without a display.
 */
function copiedScreen(device: GPUDevice, canvas: HTMLCanvasElement): Screen {
  const { width, height } = canvas;
  const context = canvas.getContext("2d") as CanvasRenderingContext2D;
  const usage = GPUTextureUsage.RENDER_ATTACHMENT | GPUTextureUsage.COPY_SRC;
  const texture = device.createTexture({ size: [width, height], format: "rgba8unorm", usage });
  const bytesPerRow = 256 * Math.ceil((4 * width) / 256);
  const buffer = device.createBuffer({ size: bytesPerRow * height, usage: GPUBufferUsage.COPY_DST | GPUBufferUsage.MAP_READ });
  const image = context.createImageData(width, height);
  return {
    isCopied: true,
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

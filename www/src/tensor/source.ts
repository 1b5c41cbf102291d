// Sources of images to convolve: an animation or the camera.
import type { Picture } from "./calls";

export const ROWS = 360;
export const COLS = 640;

/** A source of images. */
export interface Source {
  /** Draws the image at `time`, in milliseconds. */
  draw(context: CanvasRenderingContext2D, time: number): void;
  end(): void;
}

/** Returns an animation of rings and text. */
export function generated(): Source {
  return {
    draw(context, time) {
      const turn = time / 1500;
      const sky = context.createLinearGradient(0, 0, COLS, ROWS);
      sky.addColorStop(0, "#223");
      sky.addColorStop(1, "#9ab");
      context.fillStyle = sky;
      context.fillRect(0, 0, COLS, ROWS);
      for (let ring = 0; ring < 7; ring += 1) {
        const [x, y] = [COLS / 2 + 180 * Math.cos(turn + ring), ROWS / 2 + 90 * Math.sin(1.7 * turn + 2 * ring)];
        context.beginPath();
        context.arc(x, y, 22 + 9 * ring, 0, 2 * Math.PI);
        context.lineWidth = 3 + ring;
        context.strokeStyle = `hsl(0 0% ${30 + 10 * ring}%)`;
        context.stroke();
      }
      context.fillStyle = "#fff";
      context.font = "bold 54px sans-serif";
      context.fillText("Pagepress", 40 + ((time / 20) % (COLS - 320)), ROWS - 40);
    },
    end() {
      // Holds no resources.
    },
  };
}

/** Opens the camera; rejects if there is none or the visitor does not allow it. */
export async function camera(): Promise<Source> {
  const stream = await navigator.mediaDevices.getUserMedia({ video: { width: COLS, height: ROWS }, audio: false });
  const video = document.createElement("video");
  video.muted = true;
  video.playsInline = true;
  video.srcObject = stream;
  await video.play();
  return {
    draw: (context) => context.drawImage(video, 0, 0, COLS, ROWS),
    end: () => stream.getTracks().forEach((track) => track.stop()),
  };
}

/** Returns the content of a canvas as a greyscale image. */
export function greyOf(context: CanvasRenderingContext2D): Picture {
  const { data } = context.getImageData(0, 0, COLS, ROWS);
  const pixels = new Float32Array(ROWS * COLS);
  for (let i = 0; i < pixels.length; i += 1) {
    const [red, green, blue] = [data[4 * i], data[4 * i + 1], data[4 * i + 2]] as [number, number, number];
    pixels[i] = (0.299 * red + 0.587 * green + 0.114 * blue) / 255;
  }
  return { pixels, rows: ROWS, cols: COLS };
}

/** Draws a greyscale image in the centre of a canvas; `middle` is the grey of 0. */
export function show(context: CanvasRenderingContext2D, { pixels, rows, cols }: Picture, middle: number): void {
  const image = context.createImageData(cols, rows);
  for (let i = 0; i < pixels.length; i += 1) {
    image.data.fill(255 * (middle + (pixels[i] as number)), 4 * i, 4 * i + 3);
    image.data[4 * i + 3] = 255;
  }
  const { width, height } = context.canvas;
  context.putImageData(image, Math.floor((width - cols) / 2), Math.floor((height - rows) / 2));
}

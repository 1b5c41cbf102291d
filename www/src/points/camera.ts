// The camera of the flight: looks along the strip, from above the valley.

/** How many tiles are in view. */
export const AHEAD = 6;
const HEIGHT = 0.62;
const TILT = 0.22;
const FOCAL = 1.3;

/**
 * Returns the matrix, column by column, that takes a point (across from -1 to 1, height, distance in tiles from the camera)
 * to clip space.
 */
export function matrix(aspect: number): Float32Array<ArrayBuffer> {
  const [sine, cosine] = [Math.sin(TILT), Math.cos(TILT)];
  const [near, far] = [0.05, AHEAD + 1];
  const [scale, shift] = [far / (far - near), (-near * far) / (far - near)];
  // y' = cos (y - h) + sin z; z' = -sin (y - h) + cos z.
  const [y0, z0] = [-HEIGHT * cosine, HEIGHT * sine];
  return Float32Array.of(
    FOCAL / aspect, 0, 0, 0,
    0, FOCAL * cosine, -sine * scale, -sine,
    0, FOCAL * sine, cosine * scale, cosine,
    0, FOCAL * y0, z0 * scale + shift, z0,
  );
}

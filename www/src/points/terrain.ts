// A strip of terrain as points, in tiles. A point is four 16-bit numbers: position across, height, position along the tile,
// and a shade.

export const POINT_BYTES = 8;
/** Points along each side of a tile. */
export const SIDE = 128;
export const TILE_BYTES = SIDE * SIDE * POINT_BYTES;
export const TILES = 64;

/** Returns a smooth pseudo-random height from 0 to 1; the strip continues with its start. */
function heightAt(x: number, z: number): number {
  const turn = (2 * Math.PI * z) / TILES;
  const wave = (fx: number, fz: number, phase: number): number => Math.sin(fx * x + fz * turn + phase) * Math.cos(0.7 * fx * x - fz * turn);
  const hills = wave(3.1, 9, 0.3) + 0.5 * wave(7.3, 23, 1.1) + 0.25 * wave(15.7, 61, 2.9) + 0.12 * wave(33.1, 140, 4.2);
  // A valley in the middle, through which the flight goes.
  return Math.min(1, Math.max(0, 0.45 + 0.3 * hills) * (0.25 + 1.2 * Math.abs(x)));
}

/** Returns the points of a tile. */
export function tile(index: number): Uint16Array<ArrayBuffer> {
  const points = new Uint16Array(4 * SIDE * SIDE);
  let at = 0;
  for (let row = 0; row < SIDE; row += 1) {
    for (let column = 0; column < SIDE; column += 1) {
      const x = (2 * column) / (SIDE - 1) - 1;
      const height = heightAt(x, index + row / SIDE);
      points[at] = Math.round((65535 * (x + 1)) / 2);
      // Heights in steps of 1/2048, so that neighbours often have the same bytes.
      points[at + 1] = Math.round(height * 2047) << 5;
      points[at + 2] = (row * 65536) / SIDE;
      points[at + 3] = Math.round(height * 15) << 12;
      at += 4;
    }
  }
  return points;
}

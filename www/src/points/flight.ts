// The interface of the ways to draw the flight.
import type { PartFrame } from "../parts/local";

/** A tile that is ready to be drawn. */
export interface Tile {
  free(): void;
}

export interface Renderer<T extends Tile = Tile> {
  /** The name of the engine, and how tiles reach it. */
  name: string;
  /** Decompresses a tile to where it is drawn from. */
  load(frame: PartFrame): Promise<T>;
  /** Draws tiles at their distances in tiles from the camera. */
  draw(tiles: { tile: T; distance: number }[]): Promise<void> | void;
  dispose(): Promise<void>;
}

// Digests of streamed content. The browser's SHA-256 accepts only whole buffers, so long content is cut into pieces, and
// the result is the digest over the digests of the pieces.
import { xxh32 } from "../lz4/xxh32";
import type { Digest } from "./calls";

/** Content up to this size is digested in one piece, so that `sha256sum` prints the same digest. */
const WHOLE_BYTES = 64 << 20;
const PIECE_BYTES = 4 << 20;

/** Computes the digest of content that arrives in parts. */
export class ContentDigest {
  readonly #kind: Digest["kind"];
  #piece: Uint8Array<ArrayBuffer>;
  #at = 0;
  #digests: Uint8Array<ArrayBuffer>[] = [];

  /** `totalBytes` is the expected size of the content. */
  constructor(totalBytes: number) {
    const kind = totalBytes <= WHOLE_BYTES ? "sha256" : "sha256-of-pieces";
    this.#kind = hasSha256() ? kind : "xxh32-of-pieces";
    this.#piece = new Uint8Array(this.#kind === "sha256" ? totalBytes : PIECE_BYTES);
  }

  async add(bytes: Uint8Array): Promise<void> {
    for (let from = 0; from < bytes.length; ) {
      if (this.#at === this.#piece.length) await this.#endPiece();
      const part = bytes.subarray(from, from + this.#piece.length - this.#at);
      this.#piece.set(part, this.#at);
      this.#at += part.length;
      from += part.length;
    }
  }

  async finish(): Promise<Digest> {
    if (this.#digests.length === 0 && this.#kind === "sha256") {
      return { hex: hex(await digestOf(this.#piece.subarray(0, this.#at))), kind: this.#kind };
    }
    await this.#endPiece();
    const all = new Uint8Array(await new Blob(this.#digests).arrayBuffer());
    return { hex: hex(await digestOf(all)), kind: hasSha256() ? "sha256-of-pieces" : "xxh32-of-pieces" };
  }

  async #endPiece(): Promise<void> {
    // The content is longer than expected: the remainder is digested in pieces.
    if (this.#piece.length === 0) this.#piece = new Uint8Array(PIECE_BYTES);
    if (this.#at > 0) this.#digests.push(await digestOf(this.#piece.subarray(0, this.#at)));
    this.#at = 0;
  }
}

/** Returns true if SHA-256 is available, which needs https. */
function hasSha256(): boolean {
  return (crypto as { subtle?: SubtleCrypto }).subtle !== undefined;
}

async function digestOf(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  if (hasSha256()) return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  const digest = new DataView(new ArrayBuffer(4));
  digest.setUint32(0, xxh32(bytes));
  return new Uint8Array(digest.buffer);
}

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

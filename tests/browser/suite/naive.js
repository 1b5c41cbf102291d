// Simple decoders of LZ4 blocks, frames and packed pages, written from the specification without code of the package. They
// check all checksums and sizes.
import { join } from "./data.js";

const P1 = 0x9e3779b1;
const P2 = 0x85ebca77;
const P3 = 0xc2b2ae3d;
const P4 = 0x27d4eb2f;
const P5 = 0x165667b1;

const rotate = (x, bits) => (x << bits) | (x >>> (32 - bits));
const viewOf = (bytes) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
const fail = (message) => {
  throw new Error(`naive decoder: ${message}`);
};

/** Returns the XXH32 of `bytes` with seed 0. */
export function xxh32(bytes) {
  const view = viewOf(bytes);
  let at = 0;
  let hash = P5;
  if (bytes.length >= 16) {
    const lanes = [(P1 + P2) | 0, P2 | 0, 0, -P1 | 0];
    for (; at + 16 <= bytes.length; at += 16) {
      for (let i = 0; i < 4; i += 1) {
        lanes[i] = Math.imul(rotate((lanes[i] + Math.imul(view.getInt32(at + 4 * i, true), P2)) | 0, 13), P1);
      }
    }
    hash = rotate(lanes[0], 1) + rotate(lanes[1], 7) + rotate(lanes[2], 12) + rotate(lanes[3], 18);
  }
  hash = (hash + bytes.length) | 0;
  for (; at + 4 <= bytes.length; at += 4) {
    hash = Math.imul(rotate((hash + Math.imul(view.getInt32(at, true), P3)) | 0, 17), P4);
  }
  for (; at < bytes.length; at += 1) hash = Math.imul(rotate((hash + Math.imul(bytes[at], P5)) | 0, 11), P1);
  hash = Math.imul(hash ^ (hash >>> 15), P2);
  hash = Math.imul(hash ^ (hash >>> 13), P3);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** Decodes a block to at most `most` bytes. */
export function decodeBlock(block, most) {
  const out = new Uint8Array(most);
  let [at, end] = [0, 0];
  const byte = () => (at < block.length ? block[at++] : fail("a block that ends within a sequence"));
  const extended = (length) => {
    if (length < 15) return length;
    for (let more = 255; more === 255; length += more) more = byte();
    return length;
  };
  while (at < block.length) {
    const token = byte();
    const literals = extended(token >> 4);
    if (at + literals > block.length || end + literals > most) fail("literals that leave the block or the output");
    out.set(block.subarray(at, at + literals), end);
    at += literals;
    end += literals;
    if (at === block.length) return out.subarray(0, end);
    const offset = byte() + 256 * byte();
    const length = 4 + extended(token & 15);
    if (offset === 0 || offset > end || end + length > most) fail("a match that leaves the output");
    for (let i = 0; i < length; i += 1, end += 1) out[end] = out[end - offset];
  }
  return fail("a block that ends with a match");
}

/** Decodes the frames in `bytes`, which must have independent blocks; ignores skippable frames. */
export function decodeFrames(bytes) {
  const view = viewOf(bytes);
  const parts = [];
  for (let at = 0; at < bytes.length; ) {
    const magic = view.getUint32(at, true);
    if (magic >>> 4 === 0x184d2a5) at += 8 + view.getUint32(at + 4, true);
    else if (magic === 0x184d2204) at = decodeFrame(bytes, view, at, parts);
    else fail(`no frame at byte ${at}`);
    if (at > bytes.length) fail("a frame that is cut off");
  }
  return join(parts);
}

function decodeFrame(bytes, view, start, parts) {
  const [flags, size] = [bytes[start + 4], bytes[start + 5]];
  if (flags >> 6 !== 1 || (flags & 0x23) !== 0x20 || (size & 0x8f) !== 0) fail("a descriptor of another kind");
  const mostBytes = 2 ** (8 + 2 * (size >> 4));
  let at = start + 6;
  const contentSize = flags & 8 ? Number(view.getBigUint64(at, true)) : null;
  if (contentSize !== null) at += 8;
  if (bytes[at] !== ((xxh32(bytes.subarray(start + 4, at)) >>> 8) & 255)) fail("a wrong checksum of the header");
  at += 1;
  const blocks = [];
  for (let word = view.getUint32(at, true); word !== 0; word = view.getUint32(at, true)) {
    const length = word & 0x7fff_ffff;
    const data = bytes.subarray(at + 4, at + 4 + length);
    at += 4 + length;
    if (flags & 0x10) {
      if (view.getUint32(at, true) !== xxh32(data)) fail(`a wrong checksum of block ${blocks.length}`);
      at += 4;
    }
    if (length > mostBytes) fail(`block ${blocks.length} is too long`);
    blocks.push(word >>> 31 === 1 ? data : decodeBlock(data, mostBytes));
  }
  at += 4;
  const content = join(blocks);
  if (contentSize !== null && contentSize !== content.length) fail(`${content.length} bytes, the header says ${contentSize}`);
  if (flags & 4) {
    if (view.getUint32(at, true) !== xxh32(content)) fail("a wrong checksum of the content");
    at += 4;
  }
  parts.push(content);
  return at;
}

/** Decodes packed pages. */
export function decodePages({ packed, table, pageSize, byteLength }) {
  const nPages = Math.ceil(byteLength / pageSize);
  if (table.length !== 2 * nPages) fail(`a table of ${table.length} words for ${nPages} pages`);
  const pages = Array.from({ length: nPages }, (_, page) => {
    const [start, word] = [4 * table[2 * page], table[2 * page + 1]];
    const block = packed.subarray(start, start + (word & 0x3fff_ffff));
    const length = Math.min(pageSize, byteLength - page * pageSize);
    if (block.length !== (word & 0x3fff_ffff)) fail(`page ${page} leaves the blocks`);
    if (word >>> 30 === 0) return exactly(decodeBlock(block, length), length, page);
    if (word >>> 30 === 1) return exactly(block, length, page);
    if (word >>> 30 !== 2 || block.length !== 8 || length % 8 !== 0) fail(`page ${page} is no fill`);
    return Uint8Array.from({ length }, (_, i) => block[i % 8]);
  });
  return join(pages);
}

function exactly(bytes, length, page) {
  return bytes.length === length ? bytes : fail(`page ${page} has ${bytes.length} bytes, expected ${length}`);
}

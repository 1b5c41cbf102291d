// Parses the sequences of an LZ4 block: literals and a match each; the last sequence has literals only.

/** A sequence. All positions and lengths are in bytes. */
export interface Sequence {
  /** Position of the token in the block. */
  at: number;
  /** Position of the literals in the block. */
  literalsAt: number;
  /** Length of the encoded sequence in the block. */
  length: number;
  /** Position of the literals in the content. */
  contentAt: number;
  nLiterals: number;
  /** Length of the match; 0 in the last sequence. */
  nMatch: number;
  /** Offset of the match; 0 in the last sequence. */
  offset: number;
}

/** The error of a block that violates the format. */
export class BlockError extends Error {
  readonly code = "BROKEN_BLOCK";
}

/** The error of a match that begins before the content: the block is damaged, or needs a dictionary. */
export class OffsetError extends BlockError {}

const LONG = 15;
const LEAST_MATCH = 4;

/** Returns the sequences of `block`. Throws a `BlockError` if the block is truncated or an offset exceeds the content. */
export function sequencesOf(block: Uint8Array): Sequence[] {
  const found: Sequence[] = [];
  let at = 0;
  let contentAt = 0;

  const byte = (): number => {
    const value = block[at];
    if (value === undefined) throw new BlockError(`the block ends at byte ${at}, within a sequence`);
    at += 1;
    return value;
  };
  const extended = (short: number): number => {
    let length = short;
    if (short === LONG) {
      let more = 255;
      while (more === 255) {
        more = byte();
        length += more;
      }
    }
    return length;
  };

  while (at < block.length) {
    const start = at;
    const token = byte();
    const nLiterals = extended(token >> 4);
    const literalsAt = at;
    at += nLiterals;
    if (at > block.length) throw new BlockError(`the block ends at byte ${block.length}, within literals`);
    const sequence = { at: start, literalsAt, length: 0, contentAt, nLiterals, nMatch: 0, offset: 0 };
    contentAt += nLiterals;
    if (at < block.length) {
      sequence.offset = byte() | (byte() << 8);
      if (sequence.offset === 0) throw new BlockError(`the match at byte ${start} has the offset 0`);
      if (sequence.offset > contentAt) {
        throw new OffsetError(`the match at byte ${start} reaches ${sequence.offset} bytes back from byte ${contentAt}`);
      }
      sequence.nMatch = LEAST_MATCH + extended(token & 15);
      contentAt += sequence.nMatch;
    }
    sequence.length = at - start;
    found.push(sequence);
  }
  return found;
}

// Builds a tar archive of several files as a Blob that references the files without reading them.
//
// Libraries for tar read each entry into memory or into a stream; the page needs a Blob of known size that it can slice
// and read several times, however large the files are.

export interface Entry {
  /** Path within the archive. */
  path: string;
  file: File;
}

const BLOCK = 512;

/** Returns the archive of `entries`. */
export function tarOf(entries: Entry[]): Blob {
  const parts: BlobPart[] = [];
  for (const { path, file } of entries) {
    const name = new TextEncoder().encode(path);
    // Paths over 100 bytes and sizes from 8 GiB on do not fit in the header and are stored in a pax record.
    if (name.length > 100 || file.size >= 8 ** 11) {
      const record = extended({ path, size: String(file.size) });
      parts.push(header("pax", record.length, 0, "x"), record, padding(record.length));
    }
    parts.push(header(path, file.size, Math.floor(file.lastModified / 1000), "0"), file, padding(file.size));
  }
  // Two empty blocks end an archive.
  parts.push(new Uint8Array(2 * BLOCK));
  return new Blob(parts);
}

function header(path: string, size: number, seconds: number, type: string): Uint8Array<ArrayBuffer> {
  const block = new Uint8Array(BLOCK);
  const put = (at: number, text: string, most: number): void => {
    block.set(new TextEncoder().encode(text).subarray(0, most), at);
  };
  const number = (at: number, value: number, digits: number): void => {
    put(at, Math.max(0, value % 8 ** digits).toString(8).padStart(digits, "0"), digits);
  };
  put(0, path, 100);
  number(100, 0o644, 7);
  number(108, 0, 7);
  number(116, 0, 7);
  number(124, size, 11);
  number(136, seconds, 11);
  put(148, " ".repeat(8), 8);
  put(156, type, 1);
  put(257, "ustar\u000000", 8);
  number(148, block.reduce((sum, byte) => sum + byte, 0), 6);
  block[154] = 0;
  return block;
}

/** Encodes the records of a pax header: `length key=value\n`, where the length includes itself. */
function extended(fields: Record<string, string>): Uint8Array<ArrayBuffer> {
  const encoder = new TextEncoder();
  const lines = Object.entries(fields).map(([key, value]) => {
    const rest = ` ${key}=${value}\n`;
    const bytes = encoder.encode(rest).length;
    let length = bytes + 1;
    while (String(length).length + bytes !== length) length += 1;
    return `${length}${rest}`;
  });
  return encoder.encode(lines.join(""));
}

function padding(size: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array((BLOCK - (size % BLOCK)) % BLOCK);
}

// cpio archives in the format "newc", that of initial file systems of Linux.

const MAGIC = "070701";
const HEAD_BYTES = 110;
const END = "TRAILER!!!";

const aligned = (length) => (length + 3) & ~3;

/** Yields the entries of an archive as `{ name, mode, data }`. */
export function* entries(bytes) {
  for (let at = 0; at + HEAD_BYTES <= bytes.length; ) {
    const head = Buffer.from(bytes.subarray(at, at + HEAD_BYTES)).toString("latin1");
    if (!head.startsWith(MAGIC)) throw new Error(`no entry of a cpio archive at byte ${at}`);
    const field = (i) => parseInt(head.slice(6 + 8 * i, 14 + 8 * i), 16);
    const [mode, length, nameLength] = [field(1), field(6), field(11)];
    const start = aligned(at + HEAD_BYTES + nameLength);
    const name = Buffer.from(bytes.subarray(at + HEAD_BYTES, at + HEAD_BYTES + nameLength - 1)).toString();
    if (name === END) return;
    yield { name, mode, data: bytes.subarray(start, start + length) };
    at = aligned(start + length);
  }
}

/** Returns an archive of entries. */
export function archive(files) {
  const parts = [];
  const add = (part) => parts.push(part, Buffer.alloc(aligned(part.length) - part.length));
  [...files, { name: END, mode: 0, data: new Uint8Array() }].forEach(({ name, mode, data }, i) => {
    const fields = [i + 1, mode, 0, 0, 1, 0, data.length, 0, 0, 0, 0, Buffer.byteLength(name) + 1, 0];
    const head = MAGIC + fields.map((value) => value.toString(16).padStart(8, "0")).join("");
    add(Buffer.from(`${head}${name}\0`));
    add(data);
  });
  return Buffer.concat(parts);
}

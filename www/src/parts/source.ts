// Open files of which parts are read, with a count of what was read.
import { openFrame } from "pagepress";
import { openIndexed } from "./local";

/** Reads of a file so far. */
export interface Reads {
  times: number;
  bytes: number;
}

/** An open file, of which parts can be read. */
export interface OpenFile {
  name: string;
  fileBytes: number;
  contentBytes: number;
  read(offset: number, length: number): Promise<Uint8Array>;
  /** Reads since the file was opened, those of opening it included. */
  reads(): Reads;
}

/** Opens a file on this machine. */
export async function openBlob(name: string, file: Blob, signal: AbortSignal): Promise<OpenFile> {
  const reads = { times: 0, bytes: 0 };
  const common = { name, fileBytes: file.size, reads: () => ({ ...reads }) };
  const read = async (start: number, end: number): Promise<Uint8Array> => {
    reads.times += 1;
    reads.bytes += end - start;
    return new Uint8Array(await file.slice(start, end).arrayBuffer());
  };
  const indexed = await openIndexed(read, file.size);
  if (indexed) return { ...common, ...indexed };
  // Without an index the whole file has to be scanned.
  const frame = await openFrame(file, { signal });
  const contentBytes = await frame.contentLength({ signal });
  Object.assign(reads, { times: 1, bytes: file.size });
  return { ...common, contentBytes, read: (offset, length) => frame.read(offset, length) };
}

/** Opens a file on the server of this page, by range requests. The page's policy allows no other server. */
export async function openUrl(address: string, signal: AbortSignal): Promise<OpenFile> {
  const url = new URL(address, location.href);
  if (url.origin !== location.origin) {
    throw new Error(`The page may read only from its own server, ${location.origin}. Give a path there, or download the file and choose it.`);
  }
  const reads = { times: 0, bytes: 0 };
  const count = (entries: PerformanceEntryList): void => {
    for (const entry of entries as PerformanceResourceTiming[]) {
      if (entry.name !== url.href) continue;
      reads.times += 1;
      reads.bytes += entry.encodedBodySize;
    }
  };
  const observer = new PerformanceObserver((list) => count(list.getEntries()));
  observer.observe({ type: "resource" });
  const frame = await openFrame(url, { signal });
  const contentBytes = await frame.contentLength({ signal });
  const all = (): Reads => {
    count(observer.takeRecords());
    return { ...reads };
  };
  const name = url.pathname.split("/").at(-1) || url.href;
  return { name, fileBytes: frame.byteLength, contentBytes, read: (offset, length) => frame.read(offset, length), reads: all };
}

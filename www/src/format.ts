// Numbers as people read them.

/** A size in bytes, for example `1.5 MiB`. */
export function size(bytes: number): string {
  if (bytes < 1024) return `${bytes} ${bytes === 1 ? "byte" : "bytes"}`;
  const units = ["KiB", "MiB", "GiB"];
  const power = Math.min(units.length, Math.floor(Math.log2(bytes) / 10));
  return `${(bytes / 1024 ** power).toFixed(1).replace(/\.0$/, "")} ${units[power - 1]}`;
}

/** Bytes per second from bytes and milliseconds, for example `1.2 GB/s`; `null` when too short to tell. */
export function speed(bytes: number, milliseconds: number): string | null {
  if (bytes === 0 || milliseconds <= 0) return null;
  const megabytes = bytes / 1e3 / milliseconds;
  if (megabytes >= 1000) return `${(megabytes / 1000).toFixed(1)} GB/s`;
  return `${megabytes.toFixed(megabytes < 10 ? 1 : 0)} MB/s`;
}

/** A time in milliseconds, for example `3.1 ms` or `1.25 s`. */
export function duration(milliseconds: number): string {
  return milliseconds < 1000 ? `${milliseconds.toFixed(1)} ms` : `${(milliseconds / 1000).toFixed(2)} s`;
}

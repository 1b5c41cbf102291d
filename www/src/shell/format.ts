// Formats numbers for display.

/** Formats a size in bytes, for example `1.5 MiB`. */
export function size(bytes: number): string {
  if (bytes < 1024) return `${bytes} ${bytes === 1 ? "byte" : "bytes"}`;
  const units = ["KiB", "MiB", "GiB"];
  const power = Math.min(units.length, Math.floor(Math.log2(bytes) / 10));
  return `${(bytes / 1024 ** power).toFixed(1).replace(/\.0$/, "")} ${units[power - 1]}`;
}

/** Formats a throughput, for example `1.2 GB/s`; null when the time is below the clock's resolution. */
export function speed(bytes: number, milliseconds: number): string | null {
  if (bytes === 0 || milliseconds <= 0) return null;
  const megabytes = bytes / 1e3 / milliseconds;
  if (megabytes >= 1000) return `${(megabytes / 1000).toFixed(1)} GB/s`;
  return `${megabytes.toFixed(megabytes < 10 ? 1 : 0)} MB/s`;
}

/** Formats a time in milliseconds, for example `40 µs`, `3.1 ms` or `1.25 s`. */
export function duration(milliseconds: number): string {
  if (milliseconds > 0 && milliseconds < 0.95) return `${(milliseconds * 1000).toFixed(0)} µs`;
  return milliseconds < 1000 ? `${milliseconds.toFixed(1)} ms` : `${(milliseconds / 1000).toFixed(2)} s`;
}

/** Formats a number with two significant digits, or as an integer from 10 on: `0.35`, `3.5`, `35`. */
export function round(value: number): string {
  if (!Number.isFinite(value)) return "–";
  if (value >= 10) return count(Math.round(value));
  return value.toFixed(value >= 1 ? 1 : 2);
}

/** Formats an integer with thin spaces between thousands. */
export function count(value: number): string {
  return value.toLocaleString("en").replaceAll(",", "\u202f");
}

/** Formats a compression ratio, for example `3.52`; from 100 on without decimals. */
export function ratio(value: number): string {
  if (!Number.isFinite(value)) return "–";
  return value >= 100 ? count(Math.round(value)) : value.toFixed(2);
}

/** Formats a byte as two hexadecimal digits. */
export function hex(byte: number): string {
  return byte.toString(16).padStart(2, "0");
}

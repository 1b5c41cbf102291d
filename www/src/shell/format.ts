// Formats numbers for display: three significant digits and one unit.

/** Formats a number with three significant digits: `0.0123`, `1.23`, `12.3`, `123`, `1 230`. */
export function three(value: number): string {
  if (!Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  if (Math.abs(value) >= 1000) return count(Number(value.toPrecision(3)));
  return value.toPrecision(3).includes("e") ? value.toExponential(2) : value.toPrecision(3);
}

/** Formats a size in bytes, for example `1.5 MiB`. */
export function size(bytes: number): string {
  if (bytes < 1024) return plural(bytes, "byte");
  const units = ["KiB", "MiB", "GiB"];
  const power = Math.min(units.length, Math.floor(Math.log2(bytes) / 10));
  return `${three(bytes / 1024 ** power).replace(/\.0+$/, "")} ${units[power - 1]}`;
}

/** Formats a throughput, for example `1.23 GB/s`; null without bytes or time. */
export function speed(bytes: number, milliseconds: number): string | null {
  if (bytes === 0 || milliseconds <= 0) return null;
  const megabytes = bytes / 1e3 / milliseconds;
  return megabytes >= 999.5 ? `${three(megabytes / 1000)} GB/s` : `${three(megabytes)} MB/s`;
}

/** Formats a time in milliseconds, for example `40.0 µs`, `3.10 ms` or `1.25 s`. */
export function duration(milliseconds: number): string {
  if (milliseconds > 0 && milliseconds < 0.9995) return `${three(milliseconds * 1000)} µs`;
  return milliseconds < 999.5 ? `${three(milliseconds)} ms` : `${three(milliseconds / 1000)} s`;
}

/** Formats a relative error, for example `1.2e-7`. */
export function error(value: number): string {
  return value === 0 ? "0" : value.toExponential(1);
}

/** Formats an integer with thin spaces between thousands. */
export function count(value: number): string {
  return value.toLocaleString("en").replaceAll(",", "\u202f");
}

/** Formats a number of things: `1 page`, `2 pages`. */
export function plural(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/** Formats a compression ratio or a factor, for example `3.52`. */
export const ratio = three;

/** Formats a byte as two hexadecimal digits. */
export function hex(byte: number): string {
  return byte.toString(16).padStart(2, "0");
}

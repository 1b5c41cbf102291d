// Reads the figures of measured machines from `benches/results` for the page.
import { readFileSync } from "node:fs";

/** Returns the rows of the first table in `text` whose header has all of `columns`, as objects by column. */
function tableWith(text, columns) {
  const lines = text.split("\n");
  const cells = (line) => line.split("|").slice(1, -1).map((cell) => cell.trim());
  const at = lines.findIndex((line) => line.startsWith("|") && columns.every((column) => cells(line).includes(column)));
  if (at < 0) throw new Error(`no table has the columns ${columns.join(", ")}`);
  const header = cells(lines[at]);
  const rows = [];
  for (let i = at + 2; lines[i]?.startsWith("|"); i += 1) {
    rows.push(Object.fromEntries(cells(lines[i]).map((cell, column) => [header[column], cell])));
  }
  return rows;
}

/** Returns the row whose first column is `name`. */
function rowOf(rows, name) {
  const row = rows.find((one) => Object.values(one)[0] === name);
  if (!row) throw new Error(`the table has no row ${name}`);
  return row;
}

/** Returns `{machine, engine, family, compress, decompress}` with speeds in MB/s; `folder` is the URL of `benches/results`. */
export function machines(folder) {
  const read = (name) => readFileSync(new URL(name, folder), "utf8");
  const host = tableWith(read("chromium-h200.md"), ["engine", "compress, MB/s", "decompress, MB/s"]);
  const onHost = (name, engine, family) => {
    const row = rowOf(host, name);
    return { machine: "NVIDIA H200 and its host", engine, family, compress: Number(row["compress, MB/s"]), decompress: Number(row["decompress, MB/s"]) };
  };
  const peers = read("chromium-peers-xeon.md");
  const column = "pages, MB/s";
  const [compress, decompress] = ["compress", "decompress"].map((way) => tableWith(peers, [way, column]));
  const onXeon = (name, engine, family) => {
    const [packed, back] = [compress, decompress].map((rows) => Number(rowOf(rows, name)[column]));
    return { machine: "Intel Xeon, one worker", engine, family, compress: packed, decompress: back };
  };
  const all = [
    onHost("GPU", "Pagepress, GPU", "gpu"),
    onHost("16 workers", "Pagepress, 16 workers", "cpu"),
    onHost("lz4-wasm, one block, no checksum", "lz4-wasm", "peer"),
    onXeon("auto, 64 KiB", "Pagepress", "cpu"),
    onXeon("lz4-wasm 0.9.2", "lz4-wasm", "peer"),
  ];
  for (const { machine, engine, compress: packed, decompress: back } of all) {
    if (!(packed > 0 && back > 0)) throw new Error(`no figures for ${engine} on ${machine}`);
  }
  return all;
}

// Cases of tables: Arrow, MCAP, Parquet.
import { McapIndexedReader, McapStreamReader, McapWriter } from "@mcap/core";
import { CompressionType, compressionRegistry, tableFromArrays, tableFromIPC, tableToIPC } from "apache-arrow";
import { parquetReadObjects } from "hyparquet";
import { parquetWriteBuffer } from "hyparquet-writer";
import { lz4Frame } from "pagepress/adapters/arrow";
import { compressChunk, decompressHandlers } from "pagepress/adapters/mcap";
import { compressors, decompressors } from "pagepress/adapters/parquet";
import { half, message, MESSAGES, name, numbers, refused, ROWS, same } from "./content.js";

const columns = () => ({
  number: Int32Array.from(numbers("u4")),
  half: Float64Array.from({ length: ROWS }, (_, i) => half(i)),
  name: Array.from({ length: ROWS }, (_, i) => name(i)),
});

function checkRows(rows) {
  const { number } = columns();
  if (rows.length !== ROWS) throw new Error(`${rows.length} rows`);
  rows.forEach((row, i) => {
    const isSame = row.number === number[i] && row.half === half(i) && row.name === name(i);
    if (!isSame) throw new Error(`row ${i} is ${row.number}, ${row.half}, ${row.name}`);
  });
}

async function arrow({ read, write }) {
  const codec = await lz4Frame();
  compressionRegistry.set(CompressionType.LZ4_FRAME, codec);
  for (const file of ["table.arrow", "table.arrows"]) checkRows(tableFromIPC(await read(file)).toArray());
  const table = tableFromArrays(columns());
  for (const [kind, file] of [["file", "written.arrow"], ["stream", "written.arrows"]]) {
    const bytes = tableToIPC(table, kind, CompressionType.LZ4_FRAME);
    if (bytes.length > 200_000) throw new Error(`${bytes.length} bytes: not compressed`);
    checkRows(tableFromIPC(bytes).toArray());
    await write(file, bytes);
  }
  await write("written.lz4", codec.encode(new Uint8Array(numbers("f8").buffer)));
  const { decode } = await lz4Frame({ maxOutputSize: 10 });
  const { encode } = await lz4Frame({ level: "high" });
  await refused("OUTPUT_LIMIT", () => decode(encode(new Uint8Array(11))));
  await refused("NOT_LZ4", () => decode(new Uint8Array(8)));
  await refused("INVALID_ARGUMENT", () => lz4Frame({ levels: "high" }));
}

/** A readable and a writable in memory. */
const readable = (bytes) => ({
  size: async () => BigInt(bytes.length),
  read: async (offset, length) => bytes.subarray(Number(offset), Number(offset + length)),
});

function writable() {
  const parts = [];
  let length = 0;
  return {
    parts,
    position: () => BigInt(length),
    async write(bytes) {
      parts.push(bytes.slice());
      length += bytes.length;
    },
  };
}

async function checkMessages(bytes) {
  const handlers = await decompressHandlers();
  const reader = await McapIndexedReader.Initialize({ readable: readable(bytes), decompressHandlers: handlers });
  const texts = [];
  for await (const { data } of reader.readMessages()) texts.push(new TextDecoder().decode(data));
  same(texts, Array.from({ length: MESSAGES }, (_, i) => message(i)), "messages");
  const stream = new McapStreamReader({ decompressHandlers: handlers });
  let n = 0;
  for (let at = 0; at < bytes.length; at += 1000) {
    stream.append(bytes.subarray(at, at + 1000));
    for (let record = stream.nextRecord(); record; record = stream.nextRecord()) if (record.type === "Message") n += 1;
  }
  if (n !== MESSAGES) throw new Error(`the stream has ${n} messages`);
}

async function mcap({ read, write }) {
  await checkMessages(await read("messages.mcap"));
  const file = writable();
  const writer = new McapWriter({ writable: file, chunkSize: 4096, compressChunk: await compressChunk() });
  await writer.start({ profile: "", library: "" });
  const schemaId = await writer.registerSchema({ name: "text", encoding: "jsonschema", data: new TextEncoder().encode("{}") });
  const channelId = await writer.registerChannel({ schemaId, topic: "/texts", messageEncoding: "json", metadata: new Map() });
  for (let i = 0; i < MESSAGES; i += 1) {
    const data = new TextEncoder().encode(message(i));
    await writer.addMessage({ channelId, sequence: i, logTime: BigInt(i), publishTime: BigInt(i), data });
  }
  await writer.end();
  const bytes = new Uint8Array(await new Blob(file.parts).arrayBuffer());
  await checkMessages(bytes);
  await write("written.mcap", bytes);
  const { lz4 } = await decompressHandlers();
  const chunk = (await compressChunk())(new Uint8Array(1000)).compressedData;
  await refused("CONTENT_SIZE_MISMATCH", () => lz4(chunk, 1001n));
  await refused("OUTPUT_LIMIT", () => lz4(chunk, 999n));
  await refused("OUTPUT_LIMIT", () => lz4(chunk, 2n ** 40n));
}

async function parquet({ read, write }) {
  const reading = await decompressors();
  for (const file of ["raw.parquet", "pages2.parquet"]) {
    const bytes = await read(file);
    const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
    checkRows(await parquetReadObjects({ file: buffer, compressors: reading }));
  }
  const page = new Uint8Array(numbers("u4").length * 2);
  new Uint16Array(page.buffer).set(numbers("u4"));
  for (const framing of ["hadoop", "records", "frame", "block"]) {
    same(reading.LZ4(await read(`page.${framing}`), page.length), page, framing);
  }
  same(reading.LZ4_RAW(await read("page.block"), page.length), page);
  await refused("CONTENT_SIZE_MISMATCH", async () => reading.LZ4_RAW(await read("page.block"), page.length + 1));
  const { number, half: halves, name: names } = columns();
  const columnData = [{ name: "number", data: number }, { name: "half", data: halves }, { name: "name", data: names }];
  for (const codec of ["LZ4", "LZ4_RAW"]) {
    const file = parquetWriteBuffer({ columnData, codec, compressors: await compressors() });
    checkRows(await parquetReadObjects({ file, compressors: reading }));
    await write(`written.${codec}.parquet`, new Uint8Array(file));
  }
}

export const tables = { arrow, mcap, parquet };

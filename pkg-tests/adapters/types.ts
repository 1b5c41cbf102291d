// The types of the adapters fit those of the libraries.
import { McapIndexedReader, McapStreamReader, McapWriter } from "@mcap/core";
import type { IReadable, IWritable } from "@mcap/core";
import { CompressionType, compressionRegistry } from "apache-arrow";
import { parquetReadObjects } from "hyparquet";
import { parquetWriteBuffer } from "hyparquet-writer";
import type { Codec } from "numcodecs";
import { lz4Frame } from "pagepress/adapters/arrow";
import { bitshuffle, type Hdf5Filter, lz4 as hdf5Lz4 } from "pagepress/adapters/hdf5";
import { compressChunk, decompressHandlers } from "pagepress/adapters/mcap";
import { compressors, decompressors } from "pagepress/adapters/parquet";
import { blosc, lz4, register } from "pagepress/adapters/zarr";
import { registry } from "zarrita";

declare const readable: IReadable;
declare const writable: IWritable;
declare const file: ArrayBuffer;

compressionRegistry.set(CompressionType.LZ4_FRAME, await lz4Frame({ level: "high" }));
new McapStreamReader({ decompressHandlers: await decompressHandlers({ maxOutputSize: 2 ** 20 }) });
await McapIndexedReader.Initialize({ readable, decompressHandlers: await decompressHandlers() });
new McapWriter({ writable, compressChunk: await compressChunk() });
await parquetReadObjects({ file, compressors: await decompressors() });
parquetWriteBuffer({ columnData: [], codec: "LZ4_RAW", compressors: await compressors() });
register(registry);
registry.set("blosc", () => blosc()).set("lz4", () => lz4());
const codec: Codec = (await blosc()).fromConfig({ cname: "lz4", shuffle: "bitshuffle" });
const filters = new Map<number, Hdf5Filter>([[32004, await hdf5Lz4()], [32008, await bitshuffle()]]);
export const all = [codec, filters];

"""Writes files that adapters read: python3 write.py FOLDER. Content is defined in `content.js` too."""
import json
import struct
import sys
from pathlib import Path

import h5py
import hdf5plugin
import lz4.block
import lz4.frame
import numpy as np
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet
import zarr
from mcap.writer import CompressionType, Writer
from numcodecs import LZ4, Blosc

ROWS = 20_000
MESSAGES = 500
folder = Path(sys.argv[1])


def numbers(dtype, n=ROWS):
    """The numbers of `numbers(n)` in content.js."""
    i = np.arange(n, dtype=np.int64)
    return (i // 3 + (i * i) % 7).astype(dtype)


def table():
    i = np.arange(ROWS)
    names = [f"name {n % 17}" for n in range(ROWS)]
    return pa.table({"number": numbers("i4"), "half": i * 0.5, "name": names})


def write_arrow():
    options = pa.ipc.IpcWriteOptions(compression="lz4")
    with pa.OSFile(str(folder / "table.arrow"), "wb") as file, pa.ipc.new_file(file, table().schema, options=options) as writer:
        writer.write_table(table(), max_chunksize=6000)
    with pa.OSFile(str(folder / "table.arrows"), "wb") as file, pa.ipc.new_stream(file, table().schema, options=options) as writer:
        writer.write_table(table(), max_chunksize=6000)


def write_mcap():
    with open(folder / "messages.mcap", "wb") as file:
        writer = Writer(file, chunk_size=4096, compression=CompressionType.LZ4)
        writer.start()
        schema = writer.register_schema(name="text", encoding="jsonschema", data=b"{}")
        channel = writer.register_channel(topic="/texts", message_encoding="json", schema_id=schema)
        for i in range(MESSAGES):
            writer.add_message(channel, log_time=i, publish_time=i, data=f"message {i} of the topic".encode())
        writer.finish()


def hadoop(*contents):
    """Records of Hadoop, each of one chunk, with blocks by liblz4."""
    blocks = [(content, lz4.block.compress(content, store_size=False)) for content in contents]
    return b"".join(struct.pack(">II", len(content), len(block)) + block for content, block in blocks)


def write_parquet():
    pa.parquet.write_table(table(), folder / "raw.parquet", compression="lz4", row_group_size=6000)
    pa.parquet.write_table(table(), folder / "pages2.parquet", compression="lz4", data_page_version="2.0")
    page = numbers("u2").tobytes()
    block = lz4.block.compress(page, store_size=False)
    pages = {"hadoop": hadoop(page), "records": hadoop(page[:9000], page[9000:]), "frame": lz4.frame.compress(page), "block": block}
    for name, data in pages.items():
        (folder / f"page.{name}").write_bytes(data)


BLOSC = {
    "byte": Blosc("lz4", 5, Blosc.SHUFFLE),
    "bit": Blosc("lz4", 5, Blosc.BITSHUFFLE),
    "none": Blosc("lz4", 5, Blosc.NOSHUFFLE),
    "auto": Blosc("lz4", 5, Blosc.AUTOSHUFFLE),
    "hc": Blosc("lz4hc", 9, Blosc.SHUFFLE),
    "stored": Blosc("lz4", 0, Blosc.SHUFFLE),
    "blocks": Blosc("lz4", 5, Blosc.BITSHUFFLE, blocksize=4096),
    "zstd": Blosc("zstd", 5, Blosc.SHUFFLE),
    "lz4": LZ4(),
}


def write_zarr():
    for dtype in ("u1", "i2", "u4", "f8"):
        for name, compressor in BLOSC.items():
            path = folder / f"zarr2/{dtype}_{name}"
            array = zarr.create_array(path, shape=(ROWS,), chunks=(3001,), dtype=dtype, zarr_format=2, compressors=compressor)
            array[:] = numbers(dtype)
        for shuffle in ("noshuffle", "shuffle", "bitshuffle"):
            codec = zarr.codecs.BloscCodec(cname="lz4", shuffle=shuffle)
            array = zarr.create_array(folder / f"zarr3/{dtype}_{shuffle}", shape=(ROWS,), chunks=(3001,), dtype=dtype, compressors=codec)
            array[:] = numbers(dtype)


HDF5 = {
    "lz4": hdf5plugin.LZ4(),
    "lz4_blocks": hdf5plugin.LZ4(nbytes=1000),
    "bitshuffle": hdf5plugin.Bitshuffle(cname="lz4"),
    "bitshuffle_blocks": hdf5plugin.Bitshuffle(nelems=1024, cname="lz4"),
    "bitshuffle_alone": hdf5plugin.Bitshuffle(cname="none"),
    "bitshuffle_alone_blocks": hdf5plugin.Bitshuffle(nelems=1024, cname="none"),
    "bitshuffle_zstd": hdf5plugin.Bitshuffle(cname="zstd"),
}


def write_hdf5():
    for version in ("earliest", "v108"):
        with h5py.File(folder / f"{version}.h5", "w", libver=version) as file:
            for dtype in ("u1", "i2", "u4", "f8"):
                for name, options in HDF5.items():
                    file.create_dataset(f"{dtype}_{name}", data=numbers(dtype), chunks=(3001,), **options)
    with h5py.File(folder / "shuffled.h5", "w") as file:
        file.create_dataset("u4", data=numbers("u4"), chunks=(3001,), shuffle=True, **hdf5plugin.LZ4())


if __name__ == "__main__":
    for write in (write_arrow, write_mcap, write_parquet, write_zarr, write_hdf5):
        write()
    files = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    (folder / "files.json").write_text(json.dumps(files))

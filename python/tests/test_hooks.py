"""The hooks of other libraries, and that each reads without Pagepress what was written with it."""

import subprocess
import sys

import numcodecs
import numpy as np
import pytest
from conftest import make_content

import pagepress


def run_apart(code, *args):
    """Runs code in another process, in which nothing of Pagepress is registered."""
    subprocess.run([sys.executable, "-W", "ignore", "-c", code, *map(str, args)], check=True, timeout=120)


READ_ZARR = """
import sys, numpy as np, zarr
array = zarr.open_array(sys.argv[1], mode="r")
assert (array[:] == np.arange(30_000, dtype="i4")).all()
assert "pagepress" not in type(array.compressors[0]).__module__
"""

WRITE_ZARR = """
import sys, numpy as np, zarr
compressor = zarr.codecs.numcodecs.LZ4() if sys.argv[2] == "3" else __import__("numcodecs").LZ4()
array = zarr.create_array(sys.argv[1], shape=30_000, chunks=1001, dtype="i4", zarr_format=int(sys.argv[2]), compressors=compressor)
array[:] = np.arange(30_000, dtype="i4")
"""


def test_numcodecs():
    codec = numcodecs.get_codec({"id": "pagepress_lz4"})
    theirs = numcodecs.LZ4()
    assert codec.get_config() == theirs.get_config()
    array = np.arange(30_000, dtype="f4").reshape(100, 300)
    for content in (array, b"", b"abc", make_content(70_000)):
        raw = np.frombuffer(content, "u1") if isinstance(content, bytes) else content
        if raw.nbytes:
            assert bytes(theirs.decode(codec.encode(content))) == raw.tobytes()
        encoded = codec.encode(content)
        assert bytes(codec.decode(encoded)) == raw.tobytes()
        if raw.nbytes:
            assert bytes(codec.decode(theirs.encode(content))) == raw.tobytes()
    out = np.empty_like(array)
    codec.decode(theirs.encode(array), out)
    assert (out == array).all()
    blocks = codec.encode_batch([array, array[:10]])
    assert blocks == [codec.encode(array), codec.encode(array[:10])]
    assert codec.decode_batch(blocks) == [array.tobytes(), array[:10].tobytes()]
    outs = [np.empty_like(array), np.empty_like(array[:10])]
    codec.decode_batch(blocks, outs)
    assert (outs[0] == array).all() and (outs[1] == array[:10]).all()
    with pytest.raises(pagepress.FormatError):
        codec.decode(blocks[0][:-5])


def test_zarr_2(tmp_path):
    import zarr

    codec = numcodecs.get_codec({"id": "pagepress_lz4"})
    options = {"shape": 30_000, "chunks": 1001, "dtype": "i4", "zarr_format": 2}
    array = zarr.create_array(tmp_path / "ours", compressors=codec, **options)
    array[:] = np.arange(30_000, dtype="i4")
    run_apart(READ_ZARR, tmp_path / "ours")
    run_apart(WRITE_ZARR, tmp_path / "theirs", 2)
    before = numcodecs.registry.codec_registry["lz4"]
    try:
        pagepress_numcodecs().use()
        array = zarr.open_array(tmp_path / "theirs")
        assert type(array.compressors[0]).__name__ == "PagepressLZ4"
        assert (array[:] == np.arange(30_000)).all()
    finally:
        numcodecs.register_codec(before, "lz4")


def pagepress_numcodecs():
    import pagepress.numcodecs

    return pagepress.numcodecs


@pytest.fixture
def zarr_3():
    import zarr

    import pagepress.zarr

    before = dict(zarr.config.get("codecs"))
    pagepress.zarr.use()
    yield zarr
    zarr.config.set({"codecs": before})


def test_zarr_3(tmp_path, zarr_3):
    options = {"shape": 30_000, "chunks": 1001, "dtype": "i4"}
    with zarr_3.config.set({"codec_pipeline.batch_size": 8}):
        compressor = {"name": "numcodecs.lz4", "configuration": {"acceleration": 1}}
        array = zarr_3.create_array(tmp_path / "ours", compressors=compressor, **options)
        assert type(array.compressors[0]).__name__ == "PagepressLZ4Codec"
        array[:] = np.arange(30_000, dtype="i4")
        assert (zarr_3.open_array(tmp_path / "ours")[:] == np.arange(30_000)).all()
        run_apart(READ_ZARR, tmp_path / "ours")
        run_apart(WRITE_ZARR, tmp_path / "theirs", 3)
        array = zarr_3.open_array(tmp_path / "theirs")
        assert type(array.compressors[0]).__name__ == "PagepressLZ4Codec"
        assert (array[:] == np.arange(30_000)).all()
        assert (array[5:2000] == np.arange(5, 2000)).all()


def test_zarr_3_by_its_entry_point(tmp_path):
    run_apart(WRITE_ZARR, tmp_path / "array", 3)
    code = """
import sys, numpy as np, zarr
path = "pagepress.zarr.PagepressLZ4Codec"
zarr.config.set({"codecs": {**zarr.config.get("codecs"), "numcodecs.lz4": path}})
array = zarr.open_array(sys.argv[1])
assert type(array.compressors[0]).__name__ == "PagepressLZ4Codec", array.compressors
assert (array[:] == np.arange(30_000)).all()
"""
    run_apart(code, tmp_path / "array")


def test_zarr_3_damaged_chunk(tmp_path, zarr_3):
    compressor = {"name": "numcodecs.lz4", "configuration": {"acceleration": 1}}
    array = zarr_3.create_array(tmp_path / "a", shape=3000, chunks=1000, dtype="i4", compressors=compressor)
    array[:] = np.arange(3000, dtype="i4")
    chunk = tmp_path / "a/c/1"
    chunk.write_bytes(chunk.read_bytes()[:-7])
    assert (array[:1000] == np.arange(1000)).all()
    with pytest.raises(pagepress.FormatError):
        array[:]


def test_fsspec(tmp_path):
    import fsspec

    import pagepress.fsspec

    pagepress.fsspec.register()
    content = make_content(300_000)
    with fsspec.open(str(tmp_path / "file.lz4"), "wb", compression="infer") as file:
        file.write(content)
        assert isinstance(file, pagepress.File) or "pagepress" in type(file).__module__
    with fsspec.open(str(tmp_path / "file.lz4"), "rb", compression="lz4") as file:
        assert file.read() == content
    with fsspec.open("memory://text.lz4", "wt", compression="lz4", encoding="utf-8") as file:
        file.write("größer\n")
    with fsspec.open("memory://text.lz4", "rt", compression="lz4", encoding="utf-8") as file:
        assert file.read() == "größer\n"
    read = "import sys, lz4.frame; assert len(lz4.frame.open(sys.argv[1]).read()) == 300_000"
    run_apart(read, tmp_path / "file.lz4")


def test_dask_messages():
    import lz4.block
    from distributed.protocol import compression, deserialize, serialize

    import pagepress.dask

    before = dict(compression.compressions)
    try:
        theirs = compression.compressions["lz4"]
        pagepress.dask.register()
        ours = compression.compressions["lz4"]
        content = make_content(300_000)
        assert bytes(theirs.decompress(ours.compress(content))) == content
        assert bytes(ours.decompress(theirs.compress(content))) == content
        assert bytes(ours.decompress(lz4.block.compress(b""))) == b""
        name, compressed = compression.maybe_compress(memoryview(content), compression="lz4")
        assert name == "lz4" and len(compressed) < len(content)
        array = np.arange(100_000)
        assert (deserialize(*serialize(array)) == array).all()
        for hostile in (b"\xff\xff\xff\xff\x00", b"\x01", b""):
            with pytest.raises(pagepress.FormatError):
                ours.decompress(hostile)
    finally:
        compression.compressions.clear()
        compression.compressions.update(before)


def test_pyarrow(tmp_path):
    import pyarrow as pa

    content = make_content(300_000)
    frame = pagepress.compress(content)
    assert pa.decompress(frame, len(content), "lz4").to_pybytes() == content
    assert pagepress.decompress(pa.compress(content, "lz4")) == content
    table = pa.table({"number": np.arange(10_000), "name": [f"name {n % 17}" for n in range(10_000)]})
    path = tmp_path / "table.arrows.lz4"
    with pagepress.open(path, "wb") as file, pa.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table)
    with pa.input_stream(str(path), compression="lz4") as file:
        assert pa.ipc.open_stream(file).read_all().equals(table)
    other = tmp_path / "other.arrows.lz4"
    with pa.output_stream(str(other), compression="lz4") as file, pa.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table)
    with pagepress.open(other) as file:
        assert pa.ipc.open_stream(file).read_all().equals(table)
    indexed = tmp_path / "table.arrow.lz4"
    with pagepress.open(indexed, "wb", index=True) as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table, max_chunksize=1000)
    with pagepress.open(indexed) as file:
        reader = pa.ipc.open_file(file)
        assert reader.get_batch(7).equals(table.slice(7000, 1000).to_batches()[0])

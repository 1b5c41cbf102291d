"""Checks the files that the libraries wrote with adapters: python3 read.py FOLDER."""
import sys
from pathlib import Path

import lz4.frame
import numpy as np
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet
import zarr
from mcap.reader import make_reader

from write import MESSAGES, numbers, table

folder = Path(sys.argv[1])


def check_table(found):
    expected = table()
    for name in expected.column_names:
        assert found.column(name).to_pylist() == expected.column(name).to_pylist(), name


def check_frame():
    with open(folder / "written.lz4", "rb") as file:
        frame = file.read()
    expected = numbers("f8").tobytes()
    assert lz4.frame.decompress(frame) == expected
    assert pa.Codec("lz4").decompress(frame, len(expected)).to_pybytes() == expected


def check_arrow_files():
    """apache-arrow 21.2.0 writes the length of the compressed buffer where the format has that of the content, whatever the
    codec (apache/arrow-js#470). With a version that has the correction, this is `check_table(...)` of both files."""
    for name in ("written.arrow", "written.arrows"):
        with pa.OSFile(str(folder / name)) as file:
            reader = (pa.ipc.open_stream if name.endswith("s") else pa.ipc.open_file)(file)
            try:
                reader.read_all()
            except OSError as error:
                assert "buffer too small" in str(error), error
            else:
                raise AssertionError("apache-arrow is corrected: check the content")


def check_parquet():
    for codec in ("LZ4", "LZ4_RAW"):
        check_table(pa.parquet.read_table(folder / f"written.{codec}.parquet"))


def check_messages():
    with open(folder / "written.mcap", "rb") as file:
        found = [message.data for _, _, message in make_reader(file, validate_crcs=True).iter_messages()]
    assert found == [f"message {i} of the topic".encode() for i in range(MESSAGES)]


def check_arrays():
    for name in ("byte", "bit", "none"):
        array = zarr.open_array(folder / "written.zarr" / name, mode="r")
        assert np.array_equal(array[:], numbers("f8")), name


if __name__ == "__main__":
    check_frame()
    check_arrow_files()
    check_parquet()
    check_messages()
    check_arrays()
    print("pyarrow, mcap and zarr read all files")

"""Exchanges arrays between zarr and zarrs: python exchange.py COPY-ARRAY FOLDER"""

import subprocess
import sys
from pathlib import Path

import numcodecs
import numpy as np
import zarr

program, folder = sys.argv[1], Path(sys.argv[2])
numbers = (np.arange(300_000, dtype="i4") // 3).reshape(300, 1000)
# zarrs leaves an empty configuration out of the metadata that it copies, which zarr does not accept.
for version, compressor in ((2, numcodecs.LZ4()), (3, zarr.codecs.numcodecs.LZ4(acceleration=1))):
    theirs, ours = folder / f"by-zarr-{version}", folder / f"by-zarrs-{version}"
    array = zarr.create_array(
        theirs, shape=numbers.shape, chunks=(70, 300), dtype="i4", zarr_format=version, compressors=compressor, overwrite=True
    )
    array[:] = numbers
    subprocess.run([program, theirs, ours], check=True)
    copy = zarr.open_array(ours, mode="r")
    assert (copy[:] == numbers).all()
    assert "pagepress" not in type(copy.compressors[0]).__module__
print("zarr and zarrs read each other's arrays")

"""Times device arrays of the Python package beside NVIDIA's nvCOMP for Python, on contents in GPU memory: python gpu_peers.py FILE...

Needs a GPU, cupy, nvidia-nvcomp and python-lz4. Each file is repeated to 1 GiB. Results are compared with the content first, and a part of the frame with what python-lz4
reads. A round times every call once, in changing order; the median of the rounds counts. Figures are GB/s of content.

Both libraries return new GPU memory with the compressed chunks packed. `memory to bytes` includes the copy of the result to host memory.
"""

import os
import statistics
import sys
import time

import cupy
import lz4.frame
import numpy as np
from nvidia import nvcomp

import pagepress.cuda

ROUNDS = 9
GIB = 1 << 30


def resident(path):
    """Returns the bytes of a file in GPU memory, repeated to 1 GiB."""
    content = np.fromfile(path, "u1")
    repeated = np.resize(content, max(GIB // len(content), 1) * len(content))
    return cupy.asarray(repeated)


def cases(array, chunk):
    """Returns the calls by their name, and a function that compares their results."""
    ours = pagepress.cuda.Chunks(chunk_size=chunk)
    theirs = nvcomp.Codec(algorithm="LZ4", uncomp_chunk_size=chunk)
    source = nvcomp.as_array(array)
    blocks, packed = ours.compress(array), theirs.encode(source)
    out = cupy.empty_like(array)

    def verify():
        assert (cupy.from_dlpack(ours.decompress(blocks)) == array).all()
        assert (cupy.asarray(theirs.decode(packed)).view("u1") == array).all()
        part = array[: 256 * chunk]
        assert lz4.frame.decompress(ours.compress(part).tobytes()) == part.get().tobytes()

    def kept():
        ours.decompress(blocks, out=out)

    ratios = {"pagepress": array.nbytes / blocks.data.nbytes, "nvcomp": array.nbytes / packed.buffer_size}
    calls = {
        "compress": {"pagepress": lambda: ours.compress(array), "nvcomp": lambda: theirs.encode(source)},
        "decompress": {
            "pagepress": lambda: ours.decompress(blocks),
            "pagepress, out": kept,
            "nvcomp": lambda: theirs.decode(packed),
        },
        "memory to bytes": {
            "pagepress": lambda: ours.compress(array).tobytes(),
            "nvcomp": lambda: bytes(theirs.encode(source).cpu()),
        },
    }
    return calls, ratios, verify


def measure(calls):
    """Returns the median seconds of each call."""
    times = {name: [] for name in calls}
    names = list(calls)
    for round in range(ROUNDS + 1):
        names = names[1:] + names[:1]
        for name in names:
            cupy.cuda.Device().synchronize()
            begin = time.perf_counter()
            result = calls[name]()
            cupy.cuda.Device().synchronize()
            seconds = time.perf_counter() - begin
            del result
            # The first round fills pools of memory.
            if round > 0:
                times[name].append(seconds)
    return {name: statistics.median(seconds) for name, seconds in times.items()}


def main():
    for path in sys.argv[1:]:
        array = resident(path)
        for chunk in (4096, 65536):
            calls, ratios, verify = cases(array, chunk)
            verify()
            shown = ", ".join(f"{name} {ratio:.3f}" for name, ratio in ratios.items())
            print(f"{os.path.basename(path)}, {array.nbytes} bytes, chunks of {chunk}; ratios: {shown}")
            for title, group in calls.items():
                rates = {name: array.nbytes / seconds / 1e9 for name, seconds in measure(group).items()}
                print(f"  {title}: " + ", ".join(f"{name} {rate:.1f}" for name, rate in rates.items()), flush=True)
            del calls, verify


if __name__ == "__main__":
    main()

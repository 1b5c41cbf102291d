"""Times the Python package beside python-lz4 and numcodecs: python peers.py FILE... Each result is compared with the content first.

Calls of one thread are those of contents up to 256 KiB and of single blocks; larger frames, and batches, run on all cores. A round times every
library once, in changing order; the best of the rounds counts. Figures are MB/s of content; `x` is the ratio to python-lz4 or numcodecs.
"""

import os
import sys
import time

import lz4.block
import lz4.frame
import numcodecs
import numpy as np

import pagepress
import pagepress.numcodecs

ROUNDS = 25
CHUNK = 1 << 20


def split(content):
    return [content[at : at + CHUNK] for at in range(0, len(content), CHUNK)]


def cases(content):
    """Returns the calls by their name; the first is the peer that the others are compared with."""
    frame = lz4.frame.compress(content, block_linked=False)
    chunks = split(content)
    blocks = [lz4.block.compress(chunk) for chunk in chunks]
    ours, theirs = pagepress.numcodecs.PagepressLZ4(), numcodecs.LZ4()
    out = np.empty(len(content), "u1")
    outs = [np.empty(len(chunk), "u1") for chunk in chunks]
    return {
        "compress a frame": {
            "python-lz4": lambda: lz4.frame.compress(content, block_linked=False),
            "pagepress": lambda: pagepress.compress(content, content_checksum=False),
        },
        "decompress a frame": {
            "python-lz4": lambda: lz4.frame.decompress(frame),
            "pagepress": lambda: pagepress.decompress(frame),
            "pagepress, into": lambda: pagepress.decompress(frame, into=out),
        },
        "compress blocks of 1 MiB": {
            "python-lz4": lambda: [lz4.block.compress(chunk) for chunk in chunks],
            "pagepress": lambda: [pagepress.compress_block(chunk, size_prefix=True) for chunk in chunks],
            "pagepress, batch": lambda: pagepress.compress_blocks(chunks, size_prefix=True),
        },
        "decompress blocks of 1 MiB": {
            "python-lz4": lambda: [lz4.block.decompress(block) for block in blocks],
            "pagepress": lambda: [pagepress.decompress_block(block, size_prefix=True) for block in blocks],
            "pagepress, batch": lambda: pagepress.decompress_blocks(blocks, size_prefix=True),
            "pagepress, batch into": lambda: pagepress.decompress_blocks(blocks, size_prefix=True, into=outs),
        },
        "numcodecs, encode": {
            "numcodecs": lambda: [theirs.encode(chunk) for chunk in chunks],
            "pagepress": lambda: [ours.encode(chunk) for chunk in chunks],
            "pagepress, batch": lambda: ours.encode_batch(chunks),
        },
        "numcodecs, decode": {
            "numcodecs": lambda: [theirs.decode(block) for block in blocks],
            "pagepress": lambda: [ours.decode(block) for block in blocks],
            "pagepress, batch": lambda: ours.decode_batch(blocks),
        },
    }


def verify(content):
    chunks = split(content)
    assert lz4.frame.decompress(pagepress.compress(content)) == content
    assert pagepress.decompress(lz4.frame.compress(content)) == content
    blocks = pagepress.compress_blocks(chunks, size_prefix=True)
    assert [lz4.block.decompress(block) for block in blocks] == chunks
    assert pagepress.decompress_blocks(blocks, size_prefix=True) == chunks


def measure(calls):
    """Returns the best seconds of each call."""
    times = {name: [] for name in calls}
    names = list(calls)
    for call in calls.values():
        call()
    for number in range(ROUNDS):
        for name in names[number % len(names) :] + names[: number % len(names)]:
            start = time.perf_counter()
            calls[name]()
            times[name].append(time.perf_counter() - start)
    return {name: min(found) for name, found in times.items()}


def main():
    print(f"{os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f}")
    for path in sys.argv[1:]:
        with open(path, "rb") as file:
            content = file.read(8 << 20)
        verify(content)
        print(f"\n{os.path.basename(path)}, {len(content)} bytes")
        for case, calls in cases(content).items():
            seconds = measure(calls)
            peer = next(iter(seconds.values()))
            line = ", ".join(f"{name} {len(content) / found / 1e6:.0f} (x {peer / found:.2f})" for name, found in seconds.items())
            print(f"  {case}: {line}")


if __name__ == "__main__":
    main()

"""Batches of chunks as size-prefixed blocks, on the engine of the caller.

A GPU takes chunks of 4, 8, 16, 32 or 64 KiB, all of one size; others run on the CPU, at the same level, so that the bytes depend on the request
and not on the engine that a process has.
"""

import numpy as np

from ._pagepress import Pages, compress_block, compress_blocks, decompress_blocks

_PAGE_SIZES = frozenset((4096, 8192, 16_384, 32_768, 65_536))
_ENTRY = np.dtype([("offset", "<u8"), ("length", "<u4"), ("kind", "<u4")])
_PREFIX_BYTES = 4


def _codec(engine):
    """Returns the open engine of this process; None for the CPU."""
    if engine == "cpu":
        return None
    from . import _codec as open_codec

    codec = open_codec(engine)
    return None if codec.engine == "cpu" else codec


def encode(arrays, level="auto", engine="cpu"):
    """Compresses contiguous arrays. Another engine than the CPU makes ``"auto"`` the level fast."""
    if engine != "cpu" and level == "auto":
        level = "fast"
    codec = _codec(engine) if level in ("fast", "high") else None
    size = arrays[0].nbytes if arrays else 0
    if codec is None or size not in _PAGE_SIZES or any(array.nbytes != size for array in arrays):
        return compress_blocks(arrays, level=level, size_prefix=True)
    joined = np.concatenate([np.frombuffer(array, "u1") for array in arrays])
    pages = codec.compress_pages(joined, page_size=size, level=level)
    packed, prefix = memoryview(pages.packed), size.to_bytes(_PREFIX_BYTES, "little")
    blocks = []
    for array, (offset, length, kind) in zip(arrays, np.frombuffer(pages.table, _ENTRY).tolist(), strict=True):
        if kind == 0:
            blocks.append(prefix + packed[offset : offset + length])
        else:
            # A page that is stored or repeats one word has no block yet.
            blocks.append(compress_block(array, level=level, size_prefix=True))
    return blocks


def decode(arrays, engine="cpu"):
    """Decompresses size-prefixed blocks in contiguous arrays."""
    codec = _codec(engine)
    views = [memoryview(array).cast("B") for array in arrays] if codec is not None else []
    sizes = {int.from_bytes(view[:_PREFIX_BYTES], "little") for view in views}
    if len(sizes) != 1 or not sizes <= _PAGE_SIZES or any(len(view) <= _PREFIX_BYTES for view in views):
        return decompress_blocks(arrays, size_prefix=True)
    (size,) = sizes
    table = np.zeros(len(views), _ENTRY)
    table["length"] = [len(view) - _PREFIX_BYTES for view in views]
    aligned = (table["length"].astype("u8") + 3) // 4 * 4
    table["offset"] = np.concatenate([np.zeros(1, "u8"), np.cumsum(aligned)[:-1]])
    packed = bytearray(int(aligned.sum()))
    for view, offset, length in zip(views, table["offset"].tolist(), table["length"].tolist(), strict=True):
        packed[offset : offset + length] = view[_PREFIX_BYTES:]
    content = memoryview(codec.decompress_pages(Pages(packed, table, size, size * len(views))))
    return [bytes(content[at : at + size]) for at in range(0, len(content), size)]

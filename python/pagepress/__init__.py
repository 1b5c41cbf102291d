"""LZ4 frames, blocks and memory pages, on any GPU and on all cores of the CPU.

``compress`` and ``decompress`` read and write LZ4 frames, the content of ``.lz4`` files. ``Codec`` keeps an engine open, ``open`` reads any
part of a file, and ``pagepress.lz4`` has the names of the package ``lz4``.
"""

import os as _os

from ._pagepress import (
    Codec,
    Compressor,
    Decompressor,
    Dictionary,
    Pages,
    __version__,
    after_fork_in_child as _after_fork_in_child,
    compress_block,
    compress_blocks,
    decompress_block,
    decompress_blocks,
    train_dictionary,
)
from ._file import File, open
from .errors import (
    ArgumentError,
    DictionaryError,
    EngineError,
    Error,
    FormatError,
    OutOfMemoryError,
    OutputLimitError,
)

__all__ = [
    "ArgumentError",
    "Codec",
    "Compressor",
    "Decompressor",
    "Dictionary",
    "DictionaryError",
    "EngineError",
    "Error",
    "File",
    "FormatError",
    "OutOfMemoryError",
    "OutputLimitError",
    "Pages",
    "__version__",
    "compress",
    "compress_block",
    "compress_blocks",
    "compress_pages",
    "decompress",
    "decompress_block",
    "decompress_blocks",
    "decompress_pages",
    "open",
    "train_dictionary",
]

if hasattr(_os, "register_at_fork"):
    _os.register_at_fork(after_in_child=_after_fork_in_child)

#: The open engines of the functions below, by process and name.
_codecs: dict[tuple[int, str], Codec] = {}


def _codec(engine: str) -> Codec:
    key = (_os.getpid(), engine)
    codec = _codecs.get(key)
    if codec is None:
        codec = _codecs.setdefault(key, Codec(engine))
    return codec


def compress(data, *, engine="cpu", **options):
    """Compresses any buffer to one LZ4 frame.

    ``engine`` is ``"cpu"``, ``"auto"``, ``"wgpu"`` or ``"cuda"``; the engine stays open. The options are those of ``Codec.compress``.
    """
    # A codec does one call at a time, and the CPU needs no opening.
    return (Codec("cpu") if engine == "cpu" else _codec(engine)).compress(data, **options)


def decompress(data, *, engine="cpu", max_size=None, dictionary=None, into=None):
    """Decompresses all LZ4 frames in any buffer.

    Returns ``bytes`` or, with ``into``, writes to that buffer and returns the number of bytes. Content above ``max_size`` bytes is an
    ``OutputLimitError``.
    """
    codec = Codec("cpu") if engine == "cpu" else _codec(engine)
    return codec.decompress(data, max_size=max_size, dictionary=dictionary, into=into)


def compress_pages(data, *, engine="cpu", page_size=4096, level="auto"):
    """Compresses pages of 4096, 8192, 16384, 32768 or 65536 bytes to ``Pages``. The last one may be shorter."""
    codec = Codec("cpu") if engine == "cpu" else _codec(engine)
    return codec.compress_pages(data, page_size=page_size, level=level)


def decompress_pages(pages, *, engine="cpu", into=None):
    """Decompresses ``Pages`` to ``bytes``, or to the buffer ``into``."""
    codec = Codec("cpu") if engine == "cpu" else _codec(engine)
    return codec.decompress_pages(pages, into=into)

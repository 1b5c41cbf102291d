"""``lz4.block``: blocks without a frame."""

from .._pagepress import Dictionary, compress_block, decompress_block
from ..errors import Error

__all__ = ["LZ4BlockError", "compress", "decompress"]

_MODES = ("default", "fast", "high_compression")
#: Largest content, as of ``LZ4_MAX_INPUT_SIZE``.
_MOST_CONTENT = 0x7E000000
#: Largest buffer that the C library can be given.
_MOST_BYTES = 0x7FFFFFFF
#: Largest content of one block of the level high.
_MOST_HIGH = 4 << 20


class LZ4BlockError(Error):
    """A block is damaged, or its content has another size than the one given."""


def _view(data, name, most):
    view = memoryview(data)
    if view.nbytes > most:
        raise OverflowError(f"{name} too large for LZ4 API")
    return view


def _dictionary(data):
    if data is None or len(data) == 0:
        return None
    view = _view(data, "Dictionary", _MOST_BYTES)
    return Dictionary(view)


def compress(
    source,
    mode="default",
    acceleration=1,
    compression=0,
    return_bytearray=False,
    store_size=True,
    dict=None,
):
    """Compresses ``source`` to one block, after its size in four bytes if ``store_size``.

    ``mode`` ``"high_compression"`` is the level high, up to 4 MiB of content; others and longer content are the level sequential.
    ``acceleration`` and ``compression`` change nothing.
    """
    if mode not in _MODES:
        raise ValueError(f"Invalid mode argument: {mode}. Must be one of: {', '.join(_MODES)}")
    view = _view(source, "Input", _MOST_CONTENT)
    is_high = mode == "high_compression" and view.nbytes <= _MOST_HIGH
    level = "high" if is_high else "sequential"
    block = compress_block(view, level=level, size_prefix=bool(store_size), dictionary=_dictionary(dict))
    return bytearray(block) if return_bytearray else block


def decompress(source, uncompressed_size=-1, return_bytearray=False, dict=None):
    """Decompresses a block. Without ``uncompressed_size`` its first four bytes are the size of the content, else that is the most."""
    view = _view(source, "Input", _MOST_BYTES)
    dictionary = _dictionary(dict)
    if uncompressed_size > _MOST_BYTES:
        raise OverflowError(f"uncompressed_size is {uncompressed_size}; give at most {_MOST_BYTES}")
    if uncompressed_size < 0 and view.nbytes < 4:
        raise ValueError("Input source data size too small")
    try:
        if uncompressed_size < 0:
            content = decompress_block(view, size_prefix=True, dictionary=dictionary)
        else:
            content = decompress_block(view, size=uncompressed_size, dictionary=dictionary)
    except Error as error:
        raise LZ4BlockError(f"Decompression failed: {error}", error.code) from error
    return bytearray(content) if return_bytearray else content

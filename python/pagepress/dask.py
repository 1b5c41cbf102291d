"""Compression of messages between workers of Dask: ``register()`` makes the compression ``lz4`` of distributed use Pagepress.

The bytes are those of python-lz4, so workers with and without Pagepress talk to each other. Each process calls ``register()``, for which
workers have ``--preload pagepress.dask``.
"""

from distributed.protocol.compression import Compression, compressions

from ._pagepress import compress_block, decompress_block

__all__ = ["dask_setup", "register"]


def _compress(data):
    return compress_block(data, size_prefix=True)


def _decompress(data):
    size = int.from_bytes(memoryview(data).cast("B")[:4], "little")
    # Arrays made of the result are writable, which those of bytes are not. The size is checked again before anything is written.
    if size > 255 * memoryview(data).nbytes:
        return decompress_block(data, size_prefix=True)
    content = bytearray(size)
    decompress_block(data, size_prefix=True, into=content)
    return content


def register():
    """Registers the compression ``lz4``, and makes it that of the setting ``auto``."""
    compressions["lz4"] = compressions["auto"] = Compression("lz4", _compress, _decompress)


async def dask_setup(server):
    """Registers in a worker or scheduler that preloads this module."""
    register()

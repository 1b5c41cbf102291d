"""A codec of numcodecs that writes the bytes of ``numcodecs.LZ4``: a size in four bytes, then one LZ4 block.

``numcodecs.get_codec({"id": "pagepress_lz4"})`` returns it. Its configuration, which stores keep, is that of ``numcodecs.LZ4``, so what it writes is
read without Pagepress; ``use()`` makes it the codec that reads such stores, too.
"""

from numcodecs.abc import Codec
from numcodecs.compat import ensure_contiguous_ndarray
from numcodecs.registry import register_codec

from . import _chunks
from ._pagepress import compress_block, decompress_block, decompress_blocks

__all__ = ["PagepressLZ4", "use"]

#: Largest input of ``numcodecs.LZ4``.
_MOST_BYTES = 0x7E000000


class PagepressLZ4(Codec):
    """LZ4 blocks after their size.

    ``level`` is ``"auto"``, ``"fast"``, ``"high"`` or ``"sequential"``, ``engine`` that of batches, ``"cpu"``, ``"auto"``, ``"wgpu"`` or ``"cuda"``; stores keep neither. A GPU takes batches of
    chunks of 4 to 64 KiB; with another engine than the CPU, ``"auto"`` is the level fast on all of them. ``acceleration`` is kept in the configuration for
    ``numcodecs.LZ4`` and changes nothing here.
    """

    codec_id = "lz4"
    max_buffer_size = _MOST_BYTES

    def __init__(self, acceleration=1, level="auto", engine="cpu"):
        self.acceleration = acceleration
        self.level = "fast" if level == "auto" and engine != "cpu" else level
        self.engine = engine

    def encode(self, buf):
        """Compresses a buffer."""
        return compress_block(self._array(buf), level=self.level, size_prefix=True)

    def decode(self, buf, out=None):
        """Decompresses a buffer, to ``out`` if there is one."""
        if out is None:
            return decompress_block(self._array(buf), size_prefix=True)
        decompress_block(self._array(buf), size_prefix=True, into=self._array(out))
        return out

    def encode_batch(self, bufs):
        """Compresses many buffers, on all cores or on a GPU."""
        return _chunks.encode([self._array(buf) for buf in bufs], self.level, self.engine)

    def decode_batch(self, bufs, outs=None):
        """Decompresses many buffers, on all cores or on a GPU; to ``outs``, if there are any, on all cores."""
        arrays = [self._array(buf) for buf in bufs]
        if outs is None:
            return _chunks.decode(arrays, self.engine)
        decompress_blocks(arrays, size_prefix=True, into=[self._array(out) for out in outs])
        return outs

    def _array(self, buf):
        return ensure_contiguous_ndarray(buf, self.max_buffer_size)

    def get_config(self):
        """Returns the configuration of ``numcodecs.LZ4``."""
        return {"id": self.codec_id, "acceleration": self.acceleration}

    @classmethod
    def from_config(cls, config):
        """Returns the codec of a configuration."""
        return cls(**config)

    def __repr__(self):
        return f"{type(self).__name__}(acceleration={self.acceleration}, level={self.level!r}, engine={self.engine!r})"


def use():
    """Makes this the codec of the id ``lz4`` in this process."""
    register_codec(PagepressLZ4, codec_id="lz4")

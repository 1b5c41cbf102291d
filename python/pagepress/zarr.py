"""A codec of zarr v3 in the place of ``zarr.codecs.numcodecs.LZ4``: the same name and bytes, chunks of a batch on all cores.

zarr finds it by its entry point and uses it if its configuration says so::

    pagepress.zarr.use()

What it writes is read without Pagepress. ``zarr.config.set({"codec_pipeline.batch_size": 64})`` gives it batches.
"""

import asyncio
import dataclasses

import numpy as np
import zarr
from zarr.abc.codec import BytesBytesCodec
from zarr.core.common import parse_named_configuration

from . import _chunks

__all__ = ["PagepressLZ4Codec", "use"]

_NAME = "numcodecs.lz4"


@dataclasses.dataclass(frozen=True)
class PagepressLZ4Codec(BytesBytesCodec):
    """LZ4 blocks after their size. ``level`` and ``engine`` are not stored; ``acceleration`` is, for ``numcodecs.LZ4``, and changes nothing here."""

    is_fixed_size = False

    acceleration: int = 1
    level: str = "auto"
    engine: str = "cpu"

    @classmethod
    def from_dict(cls, data):
        """Returns the codec of the metadata of an array."""
        _, configuration = parse_named_configuration(data, _NAME, require_configuration=False)
        configuration = dict(configuration or {})
        configuration.pop("id", None)
        return cls(**{**_defaults, **configuration})

    def to_dict(self):
        """Returns the metadata, which is that of ``zarr.codecs.numcodecs.LZ4``."""
        return {"name": _NAME, "configuration": {"acceleration": self.acceleration}}

    def compute_encoded_size(self, input_byte_length, chunk_spec):
        raise NotImplementedError

    async def decode(self, chunks_and_specs):
        """Decompresses a batch of chunks, on all cores or on a GPU."""
        return await self._batch(chunks_and_specs, self._decode_all)

    async def encode(self, chunks_and_specs):
        """Compresses a batch of chunks, on all cores or on a GPU."""
        return await self._batch(chunks_and_specs, self._encode_all)

    async def _decode_single(self, chunk_data, chunk_spec):
        return (await self.decode([(chunk_data, chunk_spec)]))[0]

    async def _encode_single(self, chunk_data, chunk_spec):
        return (await self.encode([(chunk_data, chunk_spec)]))[0]

    @staticmethod
    async def _batch(chunks_and_specs, work):
        given = list(chunks_and_specs)
        # Chunks that a store lacks are None, and stay so.
        present = [(at, chunk, spec) for at, (chunk, spec) in enumerate(given) if chunk is not None]
        results = [None] * len(given)
        if present:
            done = await asyncio.to_thread(work, [chunk.as_numpy_array() for _, chunk, _ in present])
            for (at, _, spec), data in zip(present, done, strict=True):
                results[at] = spec.prototype.buffer.from_bytes(data)
        return results

    def _encode_all(self, arrays):
        return _chunks.encode([np.ascontiguousarray(array) for array in arrays], self.level, self.engine)

    def _decode_all(self, arrays):
        return _chunks.decode([np.ascontiguousarray(array) for array in arrays], self.engine)


#: Level and engine of codecs that are made from the metadata of an array, which has neither.
_defaults = {"level": "auto", "engine": "cpu"}


def use(level="auto", engine="cpu"):
    """Makes this the codec of the name ``numcodecs.lz4`` in this process, at this level and on this engine.

    A GPU takes batches of chunks of 4 to 64 KiB; with another engine than the CPU, ``"auto"`` is the level fast on all of them.
    """
    _defaults.update(level=level, engine=engine)
    path = f"{PagepressLZ4Codec.__module__}.{PagepressLZ4Codec.__qualname__}"
    zarr.registry.register_codec(_NAME, PagepressLZ4Codec)
    zarr.config.set({"codecs": {**zarr.config.get("codecs", {}), _NAME: path}})

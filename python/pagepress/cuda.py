"""LZ4 on arrays in the memory of an NVIDIA GPU: of PyTorch, CuPy, JAX, Numba and every library with DLPack or ``__cuda_array_interface__``.

``Chunks`` compresses an array to ``Blocks``, an LZ4 frame in the memory of the GPU, and decompresses these to a ``DeviceArray``, which other libraries
take without a copy::

    chunks = pagepress.cuda.Chunks()
    blocks = chunks.compress(tensor)                            # torch, cupy, jax, numba
    pathlib.Path("tensor.lz4").write_bytes(blocks.tobytes())    # `lz4 -d` reads it
    back = torch.from_dlpack(chunks.decompress(blocks)).view(tensor.dtype).reshape(tensor.shape)

Calls return when their work is done. They run on a stream of their own, which waits for the stream of the array as its protocol says, or on ``stream``,
the handle of a stream of the caller, such as ``torch.cuda.current_stream().cuda_stream``.
"""

from ._pagepress import Blocks, Chunks, DeviceArray

__all__ = ["Blocks", "Chunks", "DeviceArray"]

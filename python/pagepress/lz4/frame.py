"""``lz4.frame``: frames, the content of ``.lz4`` files."""

import functools
import io

from .._file import File
from .._pagepress import Codec, Compressor, Decompressor, frame_info, frame_size
from ..errors import Error

__all__ = [
    "BLOCKSIZE_DEFAULT",
    "BLOCKSIZE_MAX1MB",
    "BLOCKSIZE_MAX256KB",
    "BLOCKSIZE_MAX4MB",
    "BLOCKSIZE_MAX64KB",
    "COMPRESSIONLEVEL_MAX",
    "COMPRESSIONLEVEL_MIN",
    "COMPRESSIONLEVEL_MINHC",
    "LZ4FrameCompressor",
    "LZ4FrameDecompressor",
    "LZ4FrameError",
    "LZ4FrameFile",
    "compress",
    "compress_begin",
    "compress_chunk",
    "compress_flush",
    "create_compression_context",
    "create_decompression_context",
    "decompress",
    "decompress_chunk",
    "get_frame_info",
    "open",
    "reset_decompression_context",
]

BLOCKSIZE_DEFAULT = 0
BLOCKSIZE_MAX64KB = 4
BLOCKSIZE_MAX256KB = 5
BLOCKSIZE_MAX1MB = 6
BLOCKSIZE_MAX4MB = 7

COMPRESSIONLEVEL_MIN = 0
COMPRESSIONLEVEL_MINHC = 3
COMPRESSIONLEVEL_MAX = 16

_BLOCK_SIZES = {0: 1 << 16, 4: 1 << 16, 5: 1 << 18, 6: 1 << 20, 7: 1 << 22}
_BLOCK_SIZE_IDS = {size: number for number, size in _BLOCK_SIZES.items() if number != 0}
#: Bytes of content that are compressed at a time, unless a chunk has more.
_PART_SIZE = 4 << 20


class LZ4FrameError(Error, RuntimeError):
    """A frame is damaged or incomplete, or a stream is used out of order."""


def _lz4_errors(call):
    """Raises errors of the call as ``RuntimeError``, as ``lz4`` does."""

    @functools.wraps(call)
    def wrapper(*args, **kwargs):
        try:
            return call(*args, **kwargs)
        except LZ4FrameError:
            raise
        except Error as error:
            raise LZ4FrameError(str(error), error.code) from error

    return wrapper


def _misused(message):
    return LZ4FrameError(message, "INVALID_ARGUMENT")


def _options(block_size, compression_level, content_checksum, block_checksum):
    if block_size not in _BLOCK_SIZES:
        raise _misused(f"invalid block_size: {block_size}; give one of the constants BLOCKSIZE_...")
    return {
        "level": "high" if compression_level >= COMPRESSIONLEVEL_MINHC else "sequential",
        "block_size": _BLOCK_SIZES[block_size],
        "content_checksum": bool(content_checksum),
        "block_checksums": bool(block_checksum),
    }


def _as(data, return_bytearray):
    return bytearray(data) if return_bytearray else data


@_lz4_errors
def compress(
    data,
    compression_level=COMPRESSIONLEVEL_MIN,
    block_size=BLOCKSIZE_DEFAULT,
    content_checksum=False,
    block_linked=True,
    store_size=True,
    return_bytearray=False,
    block_checksum=False,
):
    """Compresses ``data`` to one frame. Blocks are independent, whatever ``block_linked`` says."""
    options = _options(block_size, compression_level, content_checksum, block_checksum)
    return _as(Codec("cpu").compress(data, store_size=bool(store_size), **options), return_bytearray)


@_lz4_errors
def decompress(data, return_bytearray=False, return_bytes_read=False):
    """Decompresses the first frame in ``data``; with ``return_bytes_read`` returns its size too."""
    view = memoryview(data).cast("B") if not isinstance(data, bytes) else memoryview(data)
    size = frame_size(view)
    content = _as(Codec("cpu").decompress(view[:size]), return_bytearray)
    return (content, size) if return_bytes_read else content


@_lz4_errors
def get_frame_info(frame):
    """Returns the properties of a frame, from its header."""
    info = frame_info(frame)
    return {
        "block_size": info["block_size"],
        "block_size_id": _BLOCK_SIZE_IDS.get(info["block_size"], 0),
        "block_linked": info["block_linked"],
        "content_checksum": info["content_checksum"],
        "block_checksum": info["block_checksums"],
        "skippable": False,
        "content_size": info["content_size"] or 0,
    }


class _CompressionContext:
    def __init__(self):
        self.compressor = None
        self.auto_flush = False


class _DecompressionContext:
    def __init__(self):
        self.decompressor = Decompressor()
        self.n_fed = 0


def create_compression_context():
    """Returns a context for ``compress_begin``."""
    return _CompressionContext()


@_lz4_errors
def compress_begin(
    context,
    source_size=0,
    compression_level=COMPRESSIONLEVEL_MIN,
    block_size=BLOCKSIZE_DEFAULT,
    content_checksum=False,
    block_linked=True,
    block_checksum=False,
    auto_flush=False,
    return_bytearray=False,
):
    """Starts a frame, and returns its header."""
    options = _options(block_size, compression_level, content_checksum, block_checksum)
    context.compressor = Compressor(content_size=source_size or None, part_size=_PART_SIZE, **options)
    context.auto_flush = bool(auto_flush)
    return _as(context.compressor.flush(), return_bytearray)


@_lz4_errors
def compress_chunk(context, data, return_bytearray=False):
    """Compresses ``data``; returns the bytes that are complete."""
    if context.compressor is None:
        raise _misused("compress_chunk called before compress_begin()")
    compressed = context.compressor.compress(data)
    if context.auto_flush:
        compressed += context.compressor.flush()
    return _as(compressed, return_bytearray)


@_lz4_errors
def compress_flush(context, end_frame=True, return_bytearray=False):
    """Compresses the content so far, and ends the frame unless ``end_frame`` is false."""
    if context.compressor is None:
        raise _misused("compress_flush called before compress_begin()")
    if not end_frame:
        return _as(context.compressor.flush(), return_bytearray)
    compressor, context.compressor = context.compressor, None
    return _as(compressor.finish(), return_bytearray)


def create_decompression_context():
    """Returns a context for ``decompress_chunk``."""
    return _DecompressionContext()


def reset_decompression_context(context):
    """Makes a context ready for another frame, after an error too."""
    context.__init__()


@_lz4_errors
def decompress_chunk(context, data, max_length=-1, return_bytearray=False):
    """Decompresses a part of a frame; returns ``(content, bytes_read, end_of_frame)``. After the end the context is ready for another frame.

    All of ``data`` is read, also where ``max_length`` leaves content for later calls, which may give no data.
    """
    decompressor = context.decompressor
    content = decompressor.decompress(data, max_length)
    n_read = memoryview(data).nbytes
    is_end = decompressor.eof
    if is_end:
        n_read -= len(decompressor.unused_data)
        context.__init__()
    return _as(content, return_bytearray), max(n_read, 0), is_end


class LZ4FrameCompressor:
    """Compresses a frame in parts."""

    def __init__(
        self,
        block_size=BLOCKSIZE_DEFAULT,
        block_linked=True,
        compression_level=COMPRESSIONLEVEL_MIN,
        content_checksum=False,
        block_checksum=False,
        auto_flush=False,
        return_bytearray=False,
    ):
        self.block_size = block_size
        self.block_linked = block_linked
        self.compression_level = compression_level
        self.content_checksum = content_checksum
        self.block_checksum = block_checksum
        self.auto_flush = auto_flush
        self.return_bytearray = return_bytearray
        self._context = None
        self._started = False

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.reset()

    def begin(self, source_size=0):
        """Starts a frame, and returns its header."""
        if self._started:
            raise _misused("LZ4FrameCompressor.begin() called after already initialized")
        self._context = create_compression_context()
        header = compress_begin(
            self._context,
            source_size=source_size,
            compression_level=self.compression_level,
            block_size=self.block_size,
            content_checksum=self.content_checksum,
            block_linked=self.block_linked,
            block_checksum=self.block_checksum,
            auto_flush=self.auto_flush,
            return_bytearray=self.return_bytearray,
        )
        self._started = True
        return header

    def compress(self, data):
        """Compresses ``data``; returns the bytes that are complete."""
        if self._context is None:
            raise _misused("compress called after flush()")
        return compress_chunk(self._context, data, return_bytearray=self.return_bytearray)

    def flush(self):
        """Ends the frame. Another one can be started then."""
        if self._context is None:
            raise _misused("flush called before begin()")
        context = self._context
        self.reset()
        return compress_flush(context, return_bytearray=self.return_bytearray)

    def reset(self):
        """Makes the object ready for another frame, after an error too."""
        self._context = None
        self._started = False

    def has_context(self):
        """Returns true between ``begin`` and ``flush``."""
        return self._context is not None

    def started(self):
        """Returns true between ``begin`` and ``flush``."""
        return self._started


class LZ4FrameDecompressor:
    """Decompresses a frame in parts."""

    def __init__(self, return_bytearray=False):
        self._return_bytearray = return_bytearray
        self.reset()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.reset()

    def reset(self):
        """Makes the object ready for another frame, after an error too."""
        self._decompressor = Decompressor()
        self.eof = False
        self.needs_input = True
        self.unused_data = None

    @_lz4_errors
    def decompress(self, data, max_length=-1):
        """Returns at most ``max_length`` bytes of content, or all if that is negative."""
        if self.eof:
            self.reset()
        content = self._decompressor.decompress(data, max_length)
        self.eof = self._decompressor.eof
        self.needs_input = self._decompressor.needs_input
        if self.eof:
            unused = self._decompressor.unused_data
            self.unused_data = unused or None
            self.needs_input = True
        return _as(content, self._return_bytearray)


class LZ4FrameFile(File):
    """A file object over a frame."""

    def __init__(
        self,
        filename=None,
        mode="r",
        block_size=BLOCKSIZE_DEFAULT,
        block_linked=True,
        compression_level=COMPRESSIONLEVEL_MIN,
        content_checksum=False,
        block_checksum=False,
        auto_flush=False,
        return_bytearray=False,
        source_size=0,
    ):
        if mode not in ("r", "rb", "w", "wb", "a", "ab", "x", "xb"):
            raise ValueError(f"Invalid mode: {mode!r}")
        if not (isinstance(filename, (str, bytes)) or hasattr(filename, "__fspath__")) and not (
            hasattr(filename, "read") or hasattr(filename, "write")
        ):
            raise TypeError("filename must be a str, bytes, file or PathLike object")
        self._auto_flush = auto_flush
        if mode[0] == "r":
            super().__init__(filename, mode)
            return
        options = _options(block_size, compression_level, content_checksum, block_checksum)
        super().__init__(filename, mode, content_size=source_size or None, part_size=_PART_SIZE, **options)

    def write(self, data):
        """Compresses ``data``; returns its size."""
        n_bytes = super().write(data)
        if self._auto_flush:
            self.flush()
        return n_bytes

    def readall(self):
        """Returns the rest of the content."""
        return self.read()


for _name in ("read", "read1", "readinto", "readline", "peek", "seek", "readall"):
    setattr(LZ4FrameFile, _name, _lz4_errors(getattr(LZ4FrameFile, _name)))


def open(
    filename,
    mode="rb",
    encoding=None,
    errors=None,
    newline=None,
    block_size=BLOCKSIZE_DEFAULT,
    block_linked=True,
    compression_level=COMPRESSIONLEVEL_MIN,
    content_checksum=False,
    block_checksum=False,
    auto_flush=False,
    return_bytearray=False,
    source_size=0,
):
    """Opens a frame, in binary or text mode."""
    if "t" in mode:
        if "b" in mode:
            raise ValueError(f"Invalid mode: {mode!r}")
    else:
        for name, value in (("encoding", encoding), ("errors", errors), ("newline", newline)):
            if value is not None:
                raise ValueError(f"Argument {name!r} not supported in binary mode")
    binary = LZ4FrameFile(
        filename,
        mode=mode.replace("t", ""),
        block_size=block_size,
        block_linked=block_linked,
        compression_level=compression_level,
        content_checksum=content_checksum,
        block_checksum=block_checksum,
        auto_flush=auto_flush,
        return_bytearray=return_bytearray,
        source_size=source_size,
    )
    return io.TextIOWrapper(binary, encoding, errors, newline) if "t" in mode else binary

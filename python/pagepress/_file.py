"""File objects over LZ4 files."""

import builtins
import io
import os
import threading

from ._pagepress import Compressor, Decompressor, SeekableReader
from .errors import ArgumentError, Error, FormatError

#: Bytes of compressed data that a sequential read takes from the file at a time.
_READ_SIZE = 1 << 20
#: Bytes of content that a buffered reader holds: a seek within them reads nothing.
_BUFFER_SIZE = 1 << 16

_MODES = {"r": "rb", "rb": "rb", "w": "wb", "wb": "wb", "x": "xb", "xb": "xb", "a": "ab", "ab": "ab"}


class _Reader(io.RawIOBase):
    """Reads from the start and verifies checksums, until the first seek; then decodes only the blocks that a read needs."""

    def __init__(self, file, dictionary):
        self._file = file
        self._dictionary = dictionary
        self._position = 0
        self._stream = Decompressor(dictionary=dictionary)
        self._rest = b""
        self._has_frame = False
        self._is_between = True
        self._seekable = None
        self._ended = False
        self._size = None

    def readable(self):
        return True

    def seekable(self):
        self._check_open()
        seekable = getattr(self._file, "seekable", None)
        return hasattr(self._file, "seek") and (seekable is None or seekable())

    def readinto(self, buffer):
        self._check_open()
        if self._seekable is not None:
            n_bytes = self._seekable.read_into(self._position, buffer)
        else:
            with memoryview(buffer).cast("B") as view:
                content = self._next(len(view))
                n_bytes = len(content)
                view[:n_bytes] = content
        self._position += n_bytes
        return n_bytes

    def _next(self, n_bytes):
        """Returns some content, or nothing at the end of the last frame."""
        while n_bytes > 0 and not self._ended:
            if self._stream.eof:
                self._rest = self._stream.unused_data
                self._stream = Decompressor(dictionary=self._dictionary)
                self._is_between = True
                self._has_frame = True
            if not self._rest and self._stream.needs_input:
                self._rest = self._file.read(_READ_SIZE)
                if not self._rest:
                    self._end()
                    return b""
            given, self._rest = self._rest, b""
            if given:
                self._is_between = False
            content = self._stream.decompress(given, n_bytes)
            if content:
                return content
        return b""

    def _end(self):
        self._ended = True
        if not self._is_between:
            self._stream.finish()
        elif not self._has_frame:
            raise FormatError("truncated LZ4 frame: the file is empty", "TRUNCATED_FRAME")

    def seek(self, offset, whence=io.SEEK_SET):
        self._check_open()
        if not self.seekable():
            raise io.UnsupportedOperation("the file is not seekable")
        if whence == io.SEEK_CUR:
            offset += self._position
        elif whence == io.SEEK_END:
            offset += self._open_seekable().size()
        elif whence != io.SEEK_SET:
            raise ArgumentError(f"invalid whence: {whence}; give 0, 1 or 2")
        if offset < 0:
            raise ArgumentError(f"invalid offset: {offset}; give a position at or behind the start")
        if offset != self._position:
            self._open_seekable()
            self._position = offset
        return self._position

    def _open_seekable(self):
        if self._seekable is None:
            self._seekable = SeekableReader(self._file, dictionary=self._dictionary)
        return self._seekable

    def tell(self):
        self._check_open()
        return self._position

    def _check_open(self):
        if self.closed:
            raise ValueError("I/O operation on closed file")


class _Writer(io.RawIOBase):
    """Compresses what is written to one frame."""

    def __init__(self, file, options):
        self._file = file
        self._compressor = Compressor(**options)
        self._position = 0
        # What one thread compresses reaches the file before what the next one does.
        self._lock = threading.RLock()
        self._has_gap = False

    def writable(self):
        return True

    def write(self, data):
        self._check_open()
        with self._lock, memoryview(data) as view:
            self._pass_on(self._compressor.compress, view)
            self._position += view.nbytes
            return view.nbytes

    def flush(self):
        self._check_open()
        with self._lock:
            self._pass_on(self._compressor.flush)
            if hasattr(self._file, "flush"):
                self._file.flush()

    def finish(self):
        """Ends the frame, unless an earlier write failed, after which it stays truncated."""
        with self._lock:
            if not self._has_gap:
                self._pass_on(self._compressor.finish)

    def _pass_on(self, step, *content):
        """Writes the result of a step. A write that fails leaves a gap, so that nothing may follow."""
        if self._has_gap:
            raise Error("an earlier write failed, so the file has a gap; write it anew", "ENGINE")
        self._has_gap = True
        view = memoryview(step(*content))
        while len(view) > 0:
            written = self._file.write(view)
            # Files of a few libraries return nothing.
            view = view[len(view) if written is None else written :]
        self._has_gap = False

    def tell(self):
        self._check_open()
        return self._position

    def _check_open(self):
        if self.closed:
            raise ValueError("I/O operation on closed file")


class File(io.BufferedIOBase):
    """A file object over an LZ4 file: a path, or a file object with ``read`` or ``write``.

    Reading from the start verifies all checksums. After a seek only the blocks that a read needs are decoded, which an index in the
    file (``index=True`` when writing) finds directly; checksums of blocks are verified then.
    """

    def __init__(self, file, mode="rb", *, dictionary=None, **options):
        if mode not in _MODES:
            raise ArgumentError(f"invalid mode: {mode!r}; give \"rb\", \"wb\", \"xb\" or \"ab\"")
        self._mode = _MODES[mode]
        self._raw = None
        self._buffered = None
        self._owned = None
        if self._mode == "rb" and options:
            raise ArgumentError(f"{sorted(options)[0]} is an option of writing; the mode is {mode!r}")
        is_path = isinstance(file, (str, bytes, os.PathLike))
        if not is_path and not hasattr(file, "read" if self._mode == "rb" else "write"):
            raise TypeError(f"file is a {type(file).__name__}; give a path or a file object")
        if self._mode != "rb":
            # Options are checked before a file is made.
            Compressor(dictionary=dictionary, **options)
        self._file = builtins.open(file, self._mode) if is_path else file
        if is_path:
            self._owned = self._file
        if self._mode == "rb":
            self._raw = _Reader(self._file, dictionary)
            self._buffered = io.BufferedReader(self._raw, _BUFFER_SIZE)
        else:
            self._raw = _Writer(self._file, {"dictionary": dictionary, **options})

    @property
    def mode(self):
        return self._mode

    @property
    def name(self):
        return getattr(self._file, "name", None)

    @property
    def closed(self):
        return self._raw is None or self._raw.closed

    def readable(self):
        self._check_open()
        return self._mode == "rb"

    def writable(self):
        self._check_open()
        return self._mode != "rb"

    def seekable(self):
        self._check_open()
        return self._mode == "rb" and self._raw.seekable()

    def _check_open(self):
        if self.closed:
            raise ValueError("I/O operation on closed file")

    def _reader(self):
        self._check_open()
        if self._buffered is None:
            raise io.UnsupportedOperation("the file is open for writing")
        return self._buffered

    def read(self, size=-1):
        return self._reader().read(size)

    def read1(self, size=-1):
        return self._reader().read1(size)

    def readinto(self, buffer):
        return self._reader().readinto(buffer)

    def readinto1(self, buffer):
        return self._reader().readinto1(buffer)

    def peek(self, size=-1):
        return self._reader().peek(max(size, 0))

    def readline(self, size=-1):
        return self._reader().readline(-1 if size is None else size)

    def __next__(self):
        return next(self._reader())

    def seek(self, offset, whence=io.SEEK_SET):
        return self._reader().seek(offset, whence)

    def tell(self):
        self._check_open()
        return self._raw.tell() if self._buffered is None else self._buffered.tell()

    def write(self, data):
        self._check_open()
        if self._buffered is not None:
            raise io.UnsupportedOperation("the file is open for reading")
        return self._raw.write(data)

    def flush(self):
        self._check_open()
        if self._buffered is None:
            self._raw.flush()

    def fileno(self):
        self._check_open()
        return self._file.fileno()

    def close(self):
        """Ends the frame, and closes the file if it was opened by its path."""
        if self.closed:
            return
        try:
            if self._buffered is None:
                self._raw.finish()
        finally:
            raw, self._raw = self._raw, None
            try:
                if self._owned is not None:
                    self._owned.close()
            finally:
                self._abandon(raw)

    @staticmethod
    def _abandon(raw):
        """Closes the inner object without a flush, for which the frame has ended."""
        if isinstance(raw, _Writer):
            raw.flush = lambda: None
        raw.close()


def open(file, mode="rb", *, encoding=None, errors=None, newline=None, dictionary=None, **options):
    """Opens an LZ4 file for reading any part of it, or for writing.

    ``mode`` is ``"rb"``, ``"wb"``, ``"xb"`` or ``"ab"``, or one of these with ``"t"`` for text. Options of writing are those of ``Compressor``.
    """
    is_text = "t" in mode
    if is_text and "b" in mode:
        raise ArgumentError(f"invalid mode: {mode!r}; give text or binary")
    if not is_text and (encoding is not None or errors is not None or newline is not None):
        raise ArgumentError("encoding, errors and newline are for text; add \"t\" to the mode")
    binary = File(file, mode.replace("t", ""), dictionary=dictionary, **options)
    return io.TextIOWrapper(binary, encoding, errors, newline) if is_text else binary

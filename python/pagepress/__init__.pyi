import os
from io import BufferedIOBase, TextIOWrapper
from typing import IO, Literal, overload

from typing_extensions import Buffer

from ._pagepress import Codec as Codec
from ._pagepress import Compressor as Compressor
from ._pagepress import Decompressor as Decompressor
from ._pagepress import Dictionary as Dictionary
from ._pagepress import Pages as Pages
from ._pagepress import __version__ as __version__
from ._pagepress import compress_block as compress_block
from ._pagepress import compress_blocks as compress_blocks
from ._pagepress import decompress_block as decompress_block
from ._pagepress import decompress_blocks as decompress_blocks
from ._pagepress import train_dictionary as train_dictionary
from .errors import ArgumentError as ArgumentError
from .errors import DictionaryError as DictionaryError
from .errors import EngineError as EngineError
from .errors import Error as Error
from .errors import FormatError as FormatError
from .errors import OutOfMemoryError as OutOfMemoryError
from .errors import OutputLimitError as OutputLimitError

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

_Level = Literal["auto", "fast", "high", "sequential"]
_Engine = Literal["auto", "cpu", "wgpu", "cuda"]
_PageSize = Literal[4096, 8192, 16384, 32768, 65536]
_Path = str | bytes | os.PathLike[str] | os.PathLike[bytes]

class File(BufferedIOBase):
    def __init__(
        self,
        file: _Path | IO[bytes],
        mode: str = "rb",
        *,
        dictionary: Dictionary | None = None,
        level: _Level = ...,
        block_size: int = ...,
        content_checksum: bool = ...,
        block_checksums: bool = ...,
        index: bool = ...,
        content_size: int | None = ...,
        codec: Codec | None = ...,
        part_size: int | None = ...,
    ) -> None: ...
    @property
    def mode(self) -> str: ...
    @property
    def name(self) -> object: ...
    def read(self, size: int | None = -1) -> bytes: ...
    def read1(self, size: int = -1) -> bytes: ...
    def readinto(self, buffer: Buffer) -> int: ...
    def readinto1(self, buffer: Buffer) -> int: ...
    def readline(self, size: int | None = -1) -> bytes: ...
    def peek(self, size: int = -1) -> bytes: ...
    def seek(self, offset: int, whence: int = 0) -> int: ...
    def write(self, data: Buffer) -> int: ...

def open(
    file: _Path | IO[bytes],
    mode: str = "rb",
    *,
    encoding: str | None = None,
    errors: str | None = None,
    newline: str | None = None,
    dictionary: Dictionary | None = None,
    level: _Level = ...,
    block_size: int = ...,
    content_checksum: bool = ...,
    block_checksums: bool = ...,
    index: bool = ...,
    content_size: int | None = ...,
    codec: Codec | None = ...,
    part_size: int | None = ...,
) -> File | TextIOWrapper: ...
def compress(
    data: Buffer,
    *,
    engine: _Engine = "cpu",
    level: _Level = "auto",
    block_size: int = 65536,
    content_checksum: bool = True,
    block_checksums: bool = False,
    index: bool = False,
    store_size: bool = True,
    dictionary: Dictionary | None = None,
) -> bytes: ...
@overload
def decompress(
    data: Buffer,
    *,
    engine: _Engine = "cpu",
    max_size: int | None = None,
    dictionary: Dictionary | None = None,
    into: None = None,
) -> bytes: ...
@overload
def decompress(
    data: Buffer,
    *,
    engine: _Engine = "cpu",
    max_size: int | None = None,
    dictionary: Dictionary | None = None,
    into: Buffer,
) -> int: ...
def compress_pages(
    data: Buffer, *, engine: _Engine = "cpu", page_size: _PageSize = 4096, level: _Level = "auto"
) -> Pages: ...
@overload
def decompress_pages(pages: Pages, *, engine: _Engine = "cpu", into: None = None) -> bytes: ...
@overload
def decompress_pages(pages: Pages, *, engine: _Engine = "cpu", into: Buffer) -> int: ...

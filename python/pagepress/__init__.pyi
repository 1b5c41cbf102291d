import os
from collections.abc import Sequence
from io import BufferedIOBase, TextIOWrapper
from typing import IO, Literal, overload

from typing_extensions import Buffer

from .errors import ArgumentError as ArgumentError
from .errors import DictionaryError as DictionaryError
from .errors import EngineError as EngineError
from .errors import Error as Error
from .errors import FormatError as FormatError
from .errors import OutOfMemoryError as OutOfMemoryError
from .errors import OutputLimitError as OutputLimitError

__version__: str

_Level = Literal["auto", "fast", "high", "sequential"]
_Engine = Literal["auto", "cpu", "wgpu", "cuda"]
_PageSize = Literal[4096, 8192, 16384, 32768, 65536]
_Path = str | bytes | os.PathLike[str] | os.PathLike[bytes]

class Dictionary:
    def __new__(cls, data: Buffer, id: int | None = None) -> Dictionary: ...
    @property
    def id(self) -> int: ...
    def __bytes__(self) -> bytes: ...

class Pages:
    def __new__(cls, packed: Buffer, table: Buffer, page_size: int, size: int) -> Pages: ...
    @property
    def packed(self) -> bytes: ...
    @property
    def table(self) -> bytes: ...
    @property
    def page_size(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def ratio(self) -> float: ...
    def __len__(self) -> int: ...

class Codec:
    def __new__(cls, engine: _Engine = "auto", *, adapter: int | None = None, allow_software: bool = False) -> Codec: ...
    @property
    def engine(self) -> str: ...
    @property
    def reason(self) -> str: ...
    def compress(
        self,
        data: Buffer,
        *,
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
        self, data: Buffer, *, max_size: int | None = None, dictionary: Dictionary | None = None, into: None = None
    ) -> bytes: ...
    @overload
    def decompress(
        self, data: Buffer, *, max_size: int | None = None, dictionary: Dictionary | None = None, into: Buffer
    ) -> int: ...
    def compress_pages(self, data: Buffer, *, page_size: _PageSize = 4096, level: _Level = "auto") -> Pages: ...
    @overload
    def decompress_pages(self, pages: Pages, *, into: None = None) -> bytes: ...
    @overload
    def decompress_pages(self, pages: Pages, *, into: Buffer) -> int: ...

class Compressor:
    def __new__(
        cls,
        *,
        level: _Level = "auto",
        block_size: int = 65536,
        content_checksum: bool = True,
        block_checksums: bool = False,
        index: bool = False,
        content_size: int | None = None,
        dictionary: Dictionary | None = None,
        codec: Codec | None = None,
        part_size: int | None = None,
    ) -> Compressor: ...
    def compress(self, data: Buffer) -> bytes: ...
    def flush(self) -> bytes: ...
    def finish(self) -> bytes: ...

class Decompressor:
    def __new__(cls, *, max_size: int | None = None, dictionary: Dictionary | None = None) -> Decompressor: ...
    def decompress(self, data: Buffer, max_length: int = -1) -> bytes: ...
    def finish(self) -> None: ...
    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...

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
def compress_block(
    data: Buffer, *, level: _Level = "auto", size_prefix: bool = False, dictionary: Dictionary | None = None
) -> bytes: ...
@overload
def decompress_block(
    data: Buffer,
    *,
    size: int | None = None,
    size_prefix: bool = False,
    dictionary: Dictionary | None = None,
    into: None = None,
) -> bytes: ...
@overload
def decompress_block(
    data: Buffer,
    *,
    size: int | None = None,
    size_prefix: bool = False,
    dictionary: Dictionary | None = None,
    into: Buffer,
) -> int: ...
def compress_blocks(chunks: Sequence[Buffer], *, level: _Level = "auto", size_prefix: bool = False) -> list[bytes]: ...
@overload
def decompress_blocks(
    blocks: Sequence[Buffer], *, sizes: Sequence[int] | None = None, size_prefix: bool = False, into: None = None
) -> list[bytes]: ...
@overload
def decompress_blocks(
    blocks: Sequence[Buffer], *, sizes: Sequence[int] | None = None, size_prefix: bool = False, into: Sequence[Buffer]
) -> list[int]: ...
def train_dictionary(samples: Sequence[Buffer], size: int) -> Dictionary: ...

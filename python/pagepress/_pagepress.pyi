import os
from collections.abc import Sequence
from typing import IO, Literal, TypedDict, final, overload

from typing_extensions import Buffer

__version__: str

_Level = Literal["auto", "fast", "high", "sequential"]
_Engine = Literal["auto", "cpu", "wgpu", "cuda"]
_PageSize = Literal[4096, 8192, 16384, 32768, 65536]

class _FrameInfo(TypedDict):
    block_size: int
    block_linked: bool
    content_checksum: bool
    block_checksums: bool
    content_size: int | None
    legacy: bool
    header_end: int

@final
class Dictionary:
    def __new__(cls, data: Buffer, id: int | None = None) -> Dictionary: ...
    @property
    def id(self) -> int: ...
    def __bytes__(self) -> bytes: ...

@final
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

@final
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

@final
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

@final
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

@final
class SeekableReader:
    def __new__(
        cls,
        file: str | bytes | os.PathLike[str] | IO[bytes],
        *,
        dictionary: Dictionary | None = None,
    ) -> SeekableReader: ...
    @property
    def has_index(self) -> bool: ...
    def size(self) -> int: ...
    def read_into(self, at: int, into: Buffer) -> int: ...

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
def frame_info(data: Buffer) -> _FrameInfo: ...
def frame_size(data: Buffer) -> int: ...
def after_fork_in_child() -> None: ...

"""Exceptions of the package. Each has the attribute ``code``, a stable name that Rust, JavaScript and C share."""

__all__ = [
    "ArgumentError",
    "DictionaryError",
    "EngineError",
    "Error",
    "FormatError",
    "OutOfMemoryError",
    "OutputLimitError",
]


class Error(Exception):
    """Any error of Pagepress."""

    #: Stable name of the error, for example ``"TRUNCATED_FRAME"``.
    code: str = "ENGINE"

    def __init__(self, message: str, code: str | None = None) -> None:
        super().__init__(message)
        if code is not None:
            self.code = code

    def __reduce__(self):
        return type(self), (str(self), self.code)


class FormatError(Error):
    """The input is not LZ4, or it is damaged."""


class DictionaryError(Error):
    """The data needs a dictionary, or another one than the given one."""


class OutputLimitError(Error):
    """The content does not fit in the limit or the buffer given."""


class ArgumentError(Error, ValueError):
    """An argument is outside its domain, or a stream has ended."""

    code = "INVALID_ARGUMENT"


class EngineError(Error):
    """The requested engine is not available, or it failed."""


class OutOfMemoryError(Error, MemoryError):
    """There is not enough memory, on the GPU or on the host."""


_CLASSES: dict[str, type[Error]] = {
    "CORRUPT_PAGE": FormatError,
    "NOT_LZ4": FormatError,
    "TRUNCATED_FRAME": FormatError,
    "CHECKSUM_MISMATCH": FormatError,
    "INVALID_FRAME": FormatError,
    "CONTENT_SIZE_MISMATCH": FormatError,
    "DICTIONARY_NEEDED": DictionaryError,
    "WRONG_DICTIONARY": DictionaryError,
    "OUTPUT_LIMIT": OutputLimitError,
    "INVALID_ARGUMENT": ArgumentError,
    "BACKEND_UNAVAILABLE": EngineError,
    "DEVICE_LOST": EngineError,
    "ENGINE": EngineError,
    "KERNEL_COMPILE": EngineError,
    "OUT_OF_MEMORY": OutOfMemoryError,
}


def from_code(code: str, message: str) -> Error:
    """Returns the exception of an error of the native module."""
    return _CLASSES.get(code, Error)(message, code)

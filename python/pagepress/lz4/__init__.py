"""The names of the package ``lz4``, with its arguments and results.

Frames have independent blocks, whatever ``block_linked`` says, and compression levels from 3 on are one level. Errors are subclasses of
those that ``lz4`` raises, with other messages.
"""

from .._pagepress import __version__

__all__ = ["VERSION", "__version__", "library_version_number", "library_version_string"]

VERSION = __version__


def library_version_number() -> int:
    """Returns the version of the C library whose features are there."""
    return 11000


def library_version_string() -> str:
    """As ``library_version_number``, as text."""
    return "1.10.0"

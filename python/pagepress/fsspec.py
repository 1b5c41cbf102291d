"""LZ4 files of fsspec: ``register()`` makes ``compression="lz4"`` and names that end in ``.lz4`` use Pagepress."""

from fsspec.compression import register_compression

from ._file import open as _open

__all__ = ["register"]


def _open_lz4(file, mode="rb", **options):
    return _open(file, mode if "b" in mode or "t" in mode else mode + "b", **options)


def register():
    """Registers the compression ``lz4`` in this process, in place of another one."""
    register_compression("lz4", _open_lz4, "lz4", force=True)

"""File objects and streams."""

import errno
import io
import os
import random
import threading

import lz4.frame
import pytest
from conftest import make_content

import pagepress


@pytest.mark.parametrize("index", [False, True])
def test_random_access(tmp_path, content, index):
    path = tmp_path / "file.lz4"
    with pagepress.open(path, "wb", index=index, block_size=4096) as file:
        for at in range(0, len(content), 10_007):
            assert file.write(content[at : at + 10_007]) == len(content[at : at + 10_007])
    assert lz4.frame.decompress(path.read_bytes()) == content
    choose = random.Random(5)
    with pagepress.open(path) as file:
        assert file.read(1000) == content[:1000] and file.tell() == 1000
        for _ in range(100):
            at, n = choose.randrange(len(content) + 100), choose.randrange(10_000)
            assert file.seek(at) == at
            assert file.read(n) == content[at : at + n]
        assert file.seek(-10, os.SEEK_END) == len(content) - 10
        assert file.read() == content[-10:]
        assert file.seek(0) == 0 and file.read() == content
        with pytest.raises(ValueError):
            file.seek(-1)


def test_file_objects(content):
    file = io.BytesIO()
    with pagepress.open(file, "wb", index=True) as writer:
        writer.write(content)
    assert not file.closed
    file.seek(0)
    with pagepress.open(file) as reader:
        assert reader.seek(100_000) == 100_000 and reader.read(50) == content[100_000:100_050]
    assert not file.closed


class Pipe(io.RawIOBase):
    """A stream without positions."""

    def __init__(self, data):
        self.inner = io.BytesIO(data)

    def readable(self):
        return True

    def read(self, size=-1):
        return self.inner.read(min(size, 777))


def test_pipes(content):
    two = pagepress.compress(content) + pagepress.compress(b"more", index=True)
    with pagepress.open(Pipe(two)) as file:
        assert file.read() == content + b"more"
        assert not file.seekable()
        with pytest.raises(io.UnsupportedOperation):
            file.seek(0)


def test_text(tmp_path):
    path = tmp_path / "text.lz4"
    lines = [f"Zeile {n}: größer\n" for n in range(5000)]
    with pagepress.open(path, "wt", encoding="utf-8") as file:
        file.writelines(lines)
    with pagepress.open(path, "rt", encoding="utf-8") as file:
        assert list(file) == lines
    with pagepress.open(path) as file:
        assert file.readline() == lines[0].encode()
        assert next(file) == lines[1].encode()


def test_append_and_exclusive(tmp_path):
    path = tmp_path / "file.lz4"
    for mode, text in (("xb", b"one "), ("ab", b"two")):
        with pagepress.open(path, mode) as file:
            file.write(text)
    assert pagepress.open(path).read() == b"one two"
    with pytest.raises(FileExistsError):
        pagepress.open(path, "xb")


def test_misuse(tmp_path, content):
    path = tmp_path / "file.lz4"
    with pytest.raises(pagepress.ArgumentError):
        pagepress.open(path, "wb", level="best")
    assert not path.exists()
    with pytest.raises(TypeError):
        pagepress.open(path, "wb", speed=1)
    with pytest.raises(pagepress.ArgumentError, match="level is an option of writing"):
        pagepress.open(path, "rb", level="fast")
    for mode in ("r+", "q", "rbt"):
        with pytest.raises(ValueError):
            pagepress.open(path, mode)
    with pytest.raises(TypeError):
        pagepress.open(5)
    with pytest.raises(FileNotFoundError):
        pagepress.open(tmp_path / "missing")
    writer = pagepress.open(path, "wb")
    with pytest.raises(io.UnsupportedOperation):
        writer.read()
    writer.close()
    writer.close()
    for call in (lambda: writer.write(b""), writer.flush, writer.tell):
        with pytest.raises(ValueError, match="closed"):
            call()
    reader = pagepress.open(path)
    assert reader.read() == b""
    with pytest.raises(io.UnsupportedOperation):
        reader.write(b"a")
    reader.close()
    with pytest.raises(ValueError, match="closed"):
        reader.read()


def test_damaged_files(tmp_path, content):
    path = tmp_path / "file.lz4"
    frame = pagepress.compress(content)
    for data, code in [
        (frame[:-1], "TRUNCATED_FRAME"),
        (frame[: len(frame) // 2], "TRUNCATED_FRAME"),
        (b"", "TRUNCATED_FRAME"),
        (b"gzip or something", "NOT_LZ4"),
        (frame[:-1] + bytes([frame[-1] ^ 1]), "CHECKSUM_MISMATCH"),
        (frame + b"trailing garbage", "NOT_LZ4"),
    ]:
        path.write_bytes(data)
        with pytest.raises(pagepress.FormatError) as caught:
            pagepress.open(path).read()
        assert caught.value.code == code


class FullDisk(io.RawIOBase):
    """A file that takes some bytes and then fails."""

    def __init__(self, room):
        self.room = room

    def writable(self):
        return True

    def write(self, data):
        if len(data) > self.room:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self.room -= len(data)
        return len(data)


def test_full_disk():
    file = pagepress.open(FullDisk(1000), "wb")
    file.write(os.urandom(100_000))
    with pytest.raises(OSError) as caught:
        file.close()
    assert caught.value.errno == errno.ENOSPC
    assert file.closed


def test_nothing_follows_a_gap(content):
    target = FullDisk(20_000)
    file = pagepress.open(target, "wb")
    file.write(os.urandom(10_000))
    file.flush()
    file.write(os.urandom(30_000))
    with pytest.raises(OSError):
        file.flush()
    target.room = 1 << 20
    for call in (file.flush, lambda: file.write(b"more")):
        with pytest.raises(pagepress.Error, match="gap"):
            call()
    # The frame stays truncated, which readers find.
    file.close()
    assert target.room == 1 << 20


def test_threads_that_write_one_file(tmp_path):
    """Each line is whole, whichever thread wrote it first."""
    path = tmp_path / "file.lz4"
    lines = [bytes([n]) * 99 + b"\n" for n in range(65, 69)]
    with pagepress.open(path, "wb", part_size=1, block_size=4096) as file:

        def write(line):
            for _ in range(500):
                file.write(line)

        threads = [threading.Thread(target=write, args=(line,)) for line in lines]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    found = pagepress.open(path).read().splitlines(keepends=True)
    assert sorted(found) == sorted(lines * 500)


class Broken(io.BytesIO):
    """A file of which reads fail after a while."""

    n_reads = 0

    def read(self, size=-1):
        self.n_reads += 1
        if self.n_reads > 3:
            raise OSError(errno.EIO, "broken")
        return super().read(size)


def test_errors_of_files_pass_through(content):
    file = pagepress.open(Broken(pagepress.compress(os.urandom(8 << 20))))
    with pytest.raises(OSError) as caught:
        file.seek(7 << 20)
        while file.read(100_000):
            pass
    assert caught.value.errno == errno.EIO


def test_streams(content):
    compressor = pagepress.Compressor(part_size=65_536)
    frame = b"".join(compressor.compress(content[at : at + 7000]) for at in range(0, len(content), 7000))
    frame += compressor.finish()
    with pytest.raises(pagepress.ArgumentError, match="ended"):
        compressor.compress(b"")
    assert lz4.frame.decompress(frame) == content
    decompressor = pagepress.Decompressor()
    back = b"".join(decompressor.decompress(frame[at : at + 1001]) for at in range(0, len(frame), 1001))
    assert back == content and decompressor.eof and decompressor.unused_data == b""


def test_bounded_output(content):
    frame = pagepress.compress(content) + b"rest"
    decompressor = pagepress.Decompressor()
    parts = [decompressor.decompress(frame, 1000)]
    while not decompressor.eof:
        assert not decompressor.needs_input and len(parts[-1]) == 1000
        parts.append(decompressor.decompress(b"", 1000))
    assert b"".join(parts) == content and decompressor.unused_data == b"rest"
    broken = pagepress.Decompressor()
    with pytest.raises(pagepress.FormatError):
        broken.decompress(b"not lz4!")
    with pytest.raises(pagepress.FormatError):
        broken.decompress(frame)
    limited = pagepress.Decompressor(max_size=10)
    with pytest.raises(pagepress.OutputLimitError):
        limited.decompress(frame)


def test_legacy_frames():
    block = pagepress.compress_block(b"legacy " * 100)
    frame = b"\x02\x21\x4c\x18" + len(block).to_bytes(4, "little") + block
    assert pagepress.open(io.BytesIO(frame)).read() == b"legacy " * 100
    assert pagepress.decompress(frame) == b"legacy " * 100


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_fork():
    """The threads of this process do not exist in a forked one."""
    content = make_content(4 << 20)
    frame = pagepress.compress(content)
    child = os.fork()
    if child == 0:
        same = pagepress.compress(content) == frame and pagepress.decompress(frame) == content
        os._exit(0 if same else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0

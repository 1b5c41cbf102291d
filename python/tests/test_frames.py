"""Frames in memory, beside the package lz4."""

import array
import threading

import lz4.frame
import numpy as np
import pytest
from conftest import SIZES, make_content

import pagepress

LEVELS = ["auto", "fast", "high", "sequential"]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("level", LEVELS)
def test_round_trip_and_lz4(size, level):
    content = make_content(size)
    frame = pagepress.compress(content, level=level, block_checksums=True)
    assert pagepress.decompress(frame) == content
    assert lz4.frame.decompress(frame) == content


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("linked", [False, True])
def test_reads_lz4(size, linked):
    content = make_content(size)
    frame = lz4.frame.compress(content, block_linked=linked, store_size=size % 2 == 0)
    assert pagepress.decompress(frame) == content
    two = frame + lz4.frame.compress(b"more")
    assert pagepress.decompress(two) == content + b"more"


@pytest.mark.parametrize(
    "convert",
    [bytes, bytearray, memoryview, lambda b: np.frombuffer(b, "u1"), lambda b: array.array("B", b)],
)
def test_any_buffer(content, convert):
    frame = pagepress.compress(convert(content))
    assert frame == pagepress.compress(content)
    assert pagepress.decompress(convert(frame)) == content


def test_arrays_of_numbers():
    numbers = np.arange(10_000, dtype="f8").reshape(100, 100)
    frame = pagepress.compress(numbers)
    assert pagepress.decompress(frame) == numbers.tobytes()
    back = np.empty_like(numbers)
    assert pagepress.decompress(frame, into=back) == numbers.nbytes
    assert (back == numbers).all()
    with pytest.raises(pagepress.ArgumentError, match="contiguous"):
        pagepress.compress(numbers[:, ::2])
    with pytest.raises(pagepress.ArgumentError, match="contiguous"):
        pagepress.decompress(frame, into=back[:, ::2])


def test_into(content):
    frame = pagepress.compress(content)
    larger = bytearray(len(content) + 10)
    assert pagepress.decompress(frame, into=larger) == len(content)
    assert larger[: len(content)] == content
    with pytest.raises(pagepress.OutputLimitError) as caught:
        pagepress.decompress(frame, into=bytearray(len(content) - 1))
    assert caught.value.code == "OUTPUT_LIMIT"
    with pytest.raises(pagepress.ArgumentError, match="read-only"):
        pagepress.decompress(frame, into=bytes(10))
    both = bytearray(frame)
    with pytest.raises(pagepress.ArgumentError, match="overlaps"):
        pagepress.decompress(memoryview(both)[:-1], into=memoryview(both)[5:])


def test_limit(content):
    for store_size in (False, True):
        frame = pagepress.compress(content, store_size=store_size)
        assert pagepress.decompress(frame, max_size=len(content)) == content
        with pytest.raises(pagepress.OutputLimitError):
            pagepress.decompress(frame, max_size=len(content) - 1)


def test_a_false_size_allocates_nothing(content):
    frame = bytearray(lz4.frame.compress(b"small", content_checksum=False))
    # The size of the content, in a header whose checksum is that of the changed bytes: half of all memory.
    import xxhash_of_header

    frame[6:14] = (1 << 62).to_bytes(8, "little")
    frame[14] = xxhash_of_header.checksum(bytes(frame[4:14]))
    with pytest.raises(pagepress.FormatError) as caught:
        pagepress.decompress(bytes(frame))
    assert caught.value.code == "CONTENT_SIZE_MISMATCH"


def test_corrupt(content):
    frame = pagepress.compress(content[:3000])
    for at in range(len(frame)):
        changed = bytearray(frame)
        changed[at] ^= 1 << at % 8
        try:
            assert pagepress.decompress(changed) == content[:3000]
        except (pagepress.FormatError, pagepress.DictionaryError):
            pass
    for end in range(len(frame)):
        with pytest.raises(pagepress.FormatError):
            pagepress.decompress(frame[:end])
    with pytest.raises(pagepress.FormatError) as caught:
        pagepress.decompress(b"\x1f\x8b\x08 gzip")
    assert caught.value.code == "NOT_LZ4"


def test_wrong_types():
    for wrong in ("text", 5, None, [1, 2]):
        with pytest.raises(TypeError):
            pagepress.compress(wrong)
        with pytest.raises(TypeError):
            pagepress.decompress(wrong)
    with pytest.raises(pagepress.ArgumentError, match="invalid level: 'best'|invalid level: \"best\""):
        pagepress.compress(b"", level="best")
    with pytest.raises(ValueError, match="engine"):
        pagepress.compress(b"", engine="gpu")
    with pytest.raises(pagepress.ArgumentError, match="block size|page size"):
        pagepress.compress(b"abc", block_size=100)
    with pytest.raises(OverflowError):
        pagepress.compress(b"abc", block_size=-1)


def test_engines_that_are_missing():
    with pytest.raises(pagepress.EngineError) as caught:
        pagepress.Codec("cuda", adapter=1000)
    assert caught.value.code == "BACKEND_UNAVAILABLE"
    assert pagepress.Codec("cpu").engine == "cpu"
    assert pagepress.decompress(pagepress.compress(b"pages", engine="auto"), engine="auto") == b"pages"


def test_dictionary(content):
    dictionary = pagepress.Dictionary(content[:20_000])
    frame = pagepress.compress(content[:30_000], dictionary=dictionary, level="high")
    assert pagepress.decompress(frame, dictionary=dictionary) == content[:30_000]
    with pytest.raises(pagepress.DictionaryError) as caught:
        pagepress.decompress(frame)
    assert caught.value.code == "DICTIONARY_NEEDED"
    trained = pagepress.train_dictionary([content[i : i + 500] for i in range(0, 50_000, 500)], 2048)
    assert len(bytes(trained)) == 2048 and trained.id != dictionary.id
    with pytest.raises(pagepress.DictionaryError):
        pagepress.decompress(frame, dictionary=trained)


def test_threads(content):
    codec = pagepress.Codec("cpu")
    frame = codec.compress(content)
    failed = []

    def work():
        for _ in range(10):
            if codec.decompress(codec.compress(content)) != content or codec.compress(content) != frame:
                failed.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed


def test_errors_can_be_pickled():
    import pickle

    with pytest.raises(pagepress.FormatError) as caught:
        pagepress.decompress(b"not lz4!")
    copy = pickle.loads(pickle.dumps(caught.value))
    assert type(copy) is pagepress.FormatError and copy.code == "NOT_LZ4" and str(copy) == str(caught.value)

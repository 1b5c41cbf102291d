"""Blocks and pages, beside the package lz4."""

import lz4.block
import numpy as np
import pytest
from conftest import SIZES, make_content

import pagepress


@pytest.mark.parametrize("size", SIZES)
def test_blocks(size):
    content = make_content(size)
    for level in ("auto", "fast", "high"):
        block = pagepress.compress_block(content, level=level)
        assert pagepress.decompress_block(block) == content
        assert lz4.block.decompress(block, uncompressed_size=size) == content
        with pytest.raises(pagepress.OutputLimitError):
            pagepress.decompress_block(block, size=size - 1) if size else pagepress.decompress_block(
                pagepress.compress_block(b"a"), size=0
            )
    prefixed = lz4.block.compress(content)
    assert pagepress.decompress_block(prefixed, size_prefix=True) == content
    assert lz4.block.decompress(pagepress.compress_block(content, size_prefix=True)) == content


def test_batches():
    contents = [make_content(n * 1111, n) for n in range(40)]
    for size_prefix in (False, True):
        blocks = pagepress.compress_blocks(contents, size_prefix=size_prefix)
        assert blocks == [pagepress.compress_block(content, size_prefix=size_prefix) for content in contents]
        assert pagepress.decompress_blocks(blocks, size_prefix=size_prefix) == contents
        outs = [bytearray(len(content)) for content in contents]
        sizes = pagepress.decompress_blocks(blocks, size_prefix=size_prefix, into=outs)
        assert sizes == [len(content) for content in contents] and outs == contents
    with pytest.raises(pagepress.FormatError):
        pagepress.decompress_blocks([*blocks[:5], b"\x00\x01"], size_prefix=True)
    with pytest.raises(pagepress.ArgumentError, match="one element for each of 40"):
        pagepress.decompress_blocks(blocks, into=outs[:2])
    with pytest.raises(pagepress.ArgumentError, match="overlaps"):
        pagepress.decompress_blocks(blocks[:2], size_prefix=True, into=[outs[5], outs[5]])
    with pytest.raises(pagepress.OutputLimitError):
        pagepress.decompress_blocks(blocks[3:4], size_prefix=True, into=[bytearray(5)])
    assert pagepress.compress_blocks([]) == [] == pagepress.decompress_blocks([])


def test_false_prefix():
    with pytest.raises(pagepress.FormatError) as caught:
        pagepress.decompress_block(b"\xff\xff\xff\xff\x10a", size_prefix=True)
    assert caught.value.code == "CONTENT_SIZE_MISMATCH"
    with pytest.raises(pagepress.FormatError):
        pagepress.decompress_block(b"\x01", size_prefix=True)


@pytest.mark.parametrize("page_size", [4096, 65_536])
@pytest.mark.parametrize("size", [0, 5, 300_001])
def test_pages(page_size, size):
    content = make_content(size) + bytes(10_000)
    pages = pagepress.compress_pages(content, page_size=page_size, level="fast")
    assert len(pages) == -(-len(content) // page_size) and pages.size == len(content)
    assert pagepress.decompress_pages(pages) == content
    back = np.empty(len(content), "u1")
    assert pagepress.decompress_pages(pages, into=back) == len(content) and back.tobytes() == content
    again = pagepress.Pages(pages.packed, pages.table, pages.page_size, pages.size)
    assert pagepress.decompress_pages(again) == content
    table = np.frombuffer(pages.table, [("offset", "<u8"), ("length", "<u4"), ("kind", "<u4")])
    assert (np.diff(table["offset"]) > 0).all() and table["kind"].max() <= 2


def test_hostile_pages():
    pages = pagepress.compress_pages(make_content(20_000))
    for table, size in [(pages.table[:-16], 20_000), (pages.table, 1 << 60), (pages.table, 5000)]:
        with pytest.raises(pagepress.ArgumentError):
            pagepress.decompress_pages(pagepress.Pages(pages.packed, table, 4096, size))
    with pytest.raises(pagepress.ArgumentError):
        pagepress.Pages(pages.packed, pages.table[:-1], 4096, 20_000)
    with pytest.raises(pagepress.ArgumentError):
        pagepress.decompress_pages(pagepress.Pages(pages.packed, pages.table, 0, 20_000))
    table = bytearray(pages.table)
    table[0:8] = (1 << 62).to_bytes(8, "little")
    with pytest.raises(pagepress.FormatError):
        pagepress.decompress_pages(pagepress.Pages(pages.packed, table, 4096, 20_000))
    table[12] = 9
    with pytest.raises(pagepress.FormatError):
        pagepress.Pages(pages.packed, table, 4096, 20_000)
    with pytest.raises(pagepress.OutputLimitError):
        pagepress.decompress_pages(pages, into=bytearray(19_999))

"""Engines: a GPU writes the bytes of the CPU. A software GPU is enough; a build without engines has none."""

import os

import pytest
from conftest import make_content

import pagepress
from pagepress.numcodecs import PagepressLZ4


@pytest.fixture(scope="module", params=["wgpu", "cuda"])
def gpu(request):
    try:
        return pagepress.Codec(request.param, allow_software=True)
    except pagepress.EngineError as error:
        pytest.skip(str(error))


def test_a_gpu_writes_the_bytes_of_the_cpu(gpu):
    cpu = pagepress.Codec("cpu")
    content = make_content(300_001)
    frame = gpu.compress(content, level="fast", block_size=4096)
    assert frame == cpu.compress(content, level="fast", block_size=4096)
    assert gpu.decompress(frame) == content
    pages = gpu.compress_pages(content, level="fast")
    assert pages.packed == cpu.compress_pages(content, level="fast").packed
    assert gpu.decompress_pages(pages) == content
    stream = pagepress.Compressor(codec=gpu, level="fast", block_size=4096, content_size=len(content))
    assert stream.compress(content) + stream.finish() == frame
    with pytest.raises(pagepress.FormatError):
        gpu.decompress(frame[:-1])


def test_chunks_on_a_gpu(gpu, monkeypatch):
    """Chunks have the bytes of the CPU, whichever of them a GPU takes."""
    monkeypatch.setattr(pagepress, "_codec", lambda engine: gpu)
    codec = PagepressLZ4(engine="cuda")
    cpu = PagepressLZ4(level="fast")
    chunks = [make_content(4096, n) for n in range(10)] + [bytes(4096), os.urandom(4096)]
    mixed = [*chunks, make_content(5000)]
    for batch in (chunks, mixed, [make_content(70_000)], []):
        blocks = codec.encode_batch(batch)
        assert blocks == cpu.encode_batch(batch)
        assert codec.decode_batch(blocks) == batch
    blocks = codec.encode_batch(chunks)
    for wrong in (blocks[3][:-3], blocks[3][:4], blocks[3][:2], b""):
        with pytest.raises(pagepress.FormatError):
            codec.decode_batch([*blocks[:3], wrong])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_gpu_does_not_survive_a_fork(gpu):
    child = os.fork()
    if child == 0:
        try:
            gpu.compress(b"pages")
        except pagepress.EngineError as error:
            os._exit(0 if "forked" in str(error) else 2)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0

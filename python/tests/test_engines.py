"""Engines: a GPU writes the bytes of the CPU. A software GPU is enough; a build without engines has none."""

import os

import pytest
from conftest import make_content

import pagepress


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

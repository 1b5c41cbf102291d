"""Arrays in the memory of a GPU, of whichever of PyTorch, CuPy and JAX is there. Without a GPU, most are skipped."""

import os
import random
import shutil
import subprocess
import threading

import pytest
from conftest import make_content
from device_arrays import Capsule, CuPy, Interface, Jax, OldTensor, Torch

import pagepress
import pagepress.cuda


@pytest.fixture(scope="module")
def chunks():
    try:
        return pagepress.cuda.Chunks()
    except pagepress.EngineError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module", params=[Torch, CuPy, Jax], ids=["torch", "cupy", "jax"])
def library(request, chunks):
    return request.param()


@pytest.fixture
def torch(chunks):
    return Torch()


def mixed(size):
    """Returns content some of whose chunks do not compress."""
    choose = random.Random(size)
    parts = [make_content(50_000, n) + choose.randbytes(50_000) for n in range(0, size, 100_000)]
    return b"".join(parts)[:size]


def on_gpu(chunks, content):
    """Returns an array of this package, which needs no other library."""
    return chunks.decompress(pagepress.compress(content, content_checksum=False))


def test_without_a_gpu_the_error_names_a_remedy():
    with pytest.raises(pagepress.ArgumentError, match="1 to 65536"):
        pagepress.cuda.Chunks(0)
    with pytest.raises(pagepress.ArgumentError, match="1 to 65536"):
        pagepress.cuda.Chunks(65_537)
    with pytest.raises(pagepress.EngineError, match="install|build|update|there is no GPU|finds no"):
        pagepress.cuda.Chunks(device=99)


def test_names():
    assert set(pagepress.cuda.__all__) == {"Blocks", "Chunks", "DeviceArray"}
    with pytest.raises(TypeError):
        pagepress.cuda.DeviceArray()
    assert pagepress.cuda.Chunks.__module__ == "pagepress.cuda"


@pytest.mark.parametrize("size", [0, 1, 65_535, 65_536, 65_537, 1_000_003])
def test_round_trip(library, chunks, size):
    content = mixed(size)
    array = library.array(content)
    blocks = chunks.compress(array)
    assert blocks.n_bytes == size and len(blocks) == -(-size // 65_536) and blocks.chunk_size == 65_536
    frame = blocks.tobytes()
    assert pagepress.decompress(frame) == content
    for at, length in zip(blocks.offsets, blocks.sizes, strict=True):
        assert int.from_bytes(frame[at - 4 : at], "little") & 0x7FFF_FFFF == length
    back = chunks.decompress(blocks)
    assert back.nbytes == size == len(back) and back.shape == (size,) and back.dtype == "uint8"
    assert back.tobytes() == content
    assert library.to_bytes(library.take(back)) == content
    assert chunks.decompress(frame).tobytes() == content


@pytest.mark.parametrize("chunk_size", [1000, 4096, 5000, 32_768])
def test_sizes_of_chunks(chunks, chunk_size):
    content = mixed(300_001)
    small = pagepress.cuda.Chunks(chunk_size)
    blocks = small.compress(on_gpu(chunks, content))
    frame = blocks.tobytes()
    assert len(blocks) == -(-300_001 // chunk_size) and pagepress.decompress(frame) == content
    assert small.decompress(blocks).tobytes() == content == chunks.decompress(frame).tobytes()
    with pytest.raises(pagepress.ArgumentError, match=r"open Chunks\(65536\)"):
        small.decompress(chunks.compress(on_gpu(chunks, content)))


def test_other_libraries_share_the_memory(library, chunks):
    content = make_content(200_000)
    back = chunks.decompress(chunks.compress(library.array(content)))
    pointer = back.__cuda_array_interface__["data"][0]
    taken = library.take(back)
    assert library.pointer(taken) == pointer
    del back
    assert library.to_bytes(taken) == content


def test_any_type_in_c_order(library, chunks):
    content = mixed(640_000)
    floats = library.floats(content)
    assert chunks.decompress(chunks.compress(floats)).tobytes() == content


@pytest.mark.parametrize("stream", [None, 0, 1, 2])
def test_protocols(chunks, stream):
    """Arrays with a dictionary or a capsule only, of either version, on the default streams."""
    content = mixed(200_000)
    array = on_gpu(chunks, content)
    shaped = Interface(array, shape=(1, 25_000), typestr="<f8", strides=(7, 8))
    waiting = [Interface(array, stream=stream) for stream in (1, 2)]
    for given in (array, OldTensor(array), Interface(array), shaped, *waiting):
        blocks = chunks.compress(given, stream=stream)
        assert chunks.decompress(blocks, stream=stream).tobytes() == content


def test_capsules(chunks):
    content = mixed(200_000)
    array = on_gpu(chunks, content)
    old, new = array.__dlpack__(), array.__dlpack__(max_version=(1, 1))
    assert '"dltensor"' in repr(old) and '"dltensor_versioned"' in repr(new)
    for capsule in (old, new):
        given = Capsule(capsule)
        assert chunks.decompress(chunks.compress(given)).tobytes() == content
        assert '"used_dltensor' in repr(capsule)
        with pytest.raises(pagepress.ArgumentError, match="used"):
            chunks.compress(given)
    with pytest.raises(BufferError, match="tobytes"):
        array.__dlpack__(dl_device=(1, 0))


def test_copies(torch, chunks):
    content = mixed(200_000)
    array = on_gpu(chunks, content)
    from_dlpack = torch.module.utils.dlpack.from_dlpack
    copied = from_dlpack(array.__dlpack__(copy=True))
    assert torch.pointer(copied) != array.__cuda_array_interface__["data"][0]
    assert torch.to_bytes(copied) == content
    assert torch.to_bytes(from_dlpack(array.__dlpack__())) == content
    assert torch.to_bytes(torch.module.as_tensor(array, device="cuda")) == content


def test_refused_dictionaries(chunks):
    array = on_gpu(chunks, mixed(64_000))
    refused = [
        ({"shape": (16, 4000), "strides": (1, 16)}, "not contiguous"),
        ({"mask": array}, "mask"),
        ({"stream": 0}, "forbids"),
        ({"version": 4}, "version 4"),
        ({"typestr": "|O8"}, "type"),
        ({"typestr": "<f"}, "type"),
        ({"shape": (-1,)}, "shape"),
        ({"shape": (1 << 40, 1 << 40)}, "shape"),
        ({"data": (12_345, False)}, "no memory of a GPU"),
    ]
    for changes, words in refused:
        with pytest.raises(pagepress.ArgumentError, match=words):
            chunks.compress(Interface(array, **changes))
    for other in (b"bytes", bytearray(5), None):
        with pytest.raises(pagepress.ArgumentError, match="neither __dlpack__ nor"):
            chunks.compress(other)


def test_refused_arrays(torch, chunks):
    tensor = torch.floats(mixed(64_000))
    host = tensor.cpu()
    refused = [
        (tensor.T, "not contiguous"),
        (Interface(tensor.T), "not contiguous"),
        (tensor[:, ::2], "not contiguous"),
        (host, "on the CPU; give one on CUDA device 0"),
        (host.numpy(), "on the CPU"),
    ]
    for array, words in refused:
        with pytest.raises(pagepress.ArgumentError, match=words):
            chunks.compress(array)
    if torch.module.cuda.device_count() > 1:
        for array in (tensor.to("cuda:1"), Interface(tensor.to("cuda:1"))):
            with pytest.raises(pagepress.ArgumentError, match="device 1"):
                chunks.compress(array)
    assert chunks.decompress(chunks.compress(tensor)).tobytes() == torch.to_bytes(tensor)


def test_lz4_reads_the_frame(chunks, tmp_path):
    content = mixed(1_000_003)
    frame = chunks.compress(on_gpu(chunks, content)).tobytes()
    try:
        import lz4.frame
    except ImportError:
        pass
    else:
        assert lz4.frame.decompress(frame) == content
        info = lz4.frame.get_frame_info(frame)
        assert info["content_size"] == len(content) and not info["block_linked"] and info["block_size"] == 65_536
    if program := shutil.which("lz4"):
        (tmp_path / "array.lz4").write_bytes(frame)
        done = subprocess.run([program, "-dc", tmp_path / "array.lz4"], check=True, stdout=subprocess.PIPE)
        assert done.stdout == content


@pytest.mark.parametrize("size", [0, 5, 65_536, 700_001])
def test_frames_of_the_cpu(chunks, size):
    content = mixed(size)
    frames = [
        pagepress.compress(content, **options)
        for options in (
            {"level": "high"},
            {"block_size": 4096, "store_size": False},
            {"block_checksums": True, "index": True},
        )
    ]
    try:
        import lz4.frame
    except ImportError:
        pass
    else:
        frames.append(lz4.frame.compress(content, block_size=lz4.frame.BLOCKSIZE_MAX64KB, block_linked=False))
    for frame in frames:
        assert chunks.decompress(frame).tobytes() == content
        assert chunks.decompress(bytearray(frame)).tobytes() == content
        assert pagepress.decompress(chunks.upload(frame).tobytes()) == content


def test_refused_frames(chunks):
    content = mixed(700_001)
    with pytest.raises(pagepress.ArgumentError, match="-B4"):
        chunks.decompress(pagepress.compress(make_content(700_001), block_size=262_144))
    frame = pagepress.compress(content)
    with pytest.raises(pagepress.ArgumentError, match="several"):
        chunks.decompress(frame + frame)
    with pytest.raises(pagepress.FormatError):
        chunks.decompress(frame[:-9])
    with pytest.raises(pagepress.FormatError):
        chunks.decompress(b"no frame at all")
    with pytest.raises(pagepress.FormatError):
        chunks.decompress(b"")
    linked = bytearray(frame)
    linked[4] &= ~0x20
    with pytest.raises(pagepress.Error):
        chunks.decompress(linked)


def test_corrupt_blocks(chunks):
    content = make_content(300_000)
    blocks = chunks.compress(on_gpu(chunks, content))
    frame = bytearray(blocks.tobytes())
    sound = bytes(frame)
    # The offset of the first match, behind its literals, becomes 0.
    block = blocks.offsets[2]
    literals, at = frame[block] >> 4, block + 1
    if literals == 15:
        while frame[at] == 255:
            literals, at = literals + 255, at + 1
        literals, at = literals + frame[at], at + 1
    frame[at + literals : at + literals + 2] = b"\0\0"
    with pytest.raises(pagepress.FormatError, match="block 2: .*offset 0"):
        chunks.decompress(frame)
    assert chunks.decompress(sound).tobytes() == content
    frame[blocks.offsets[1] + 1 : blocks.offsets[1] + 40] = b"\xff" * 39
    with pytest.raises(pagepress.FormatError, match="block 1"):
        chunks.decompress(frame)
    assert chunks.decompress(blocks).tobytes() == content


def test_blocks_that_others_overwrote(torch, chunks):
    content = make_content(300_000)
    blocks = chunks.compress(torch.array(content))
    data = torch.take(blocks.data)
    sound = data.clone()
    data[blocks.offsets[3] : blocks.offsets[3] + 60] = 0xF7
    torch.module.cuda.synchronize()
    with pytest.raises(pagepress.FormatError, match="block 3"):
        chunks.decompress(blocks)
    data.copy_(sound)
    torch.module.cuda.synchronize()
    assert chunks.decompress(blocks).tobytes() == content


def test_out(torch, chunks):
    content = mixed(300_001)
    blocks = chunks.compress(torch.array(content))
    out = torch.module.full((300_100,), 7, dtype=torch.module.uint8, device="cuda")
    assert chunks.decompress(blocks, out=out) is out
    assert torch.to_bytes(out) == content + b"\7" * 99
    with pytest.raises(pagepress.OutputLimitError, match="300001"):
        chunks.decompress(blocks, out=out[:300_000])
    with pytest.raises(pagepress.ArgumentError, match="read-only"):
        chunks.decompress(blocks, out=Interface(out, data=(out.data_ptr(), True)))
    with pytest.raises(pagepress.ArgumentError, match="overlaps"):
        chunks.decompress(blocks, out=blocks.data)
    own = chunks.decompress(blocks)
    assert chunks.decompress(blocks, out=own) is own and own.tobytes() == content


def test_memory_is_freed(torch, chunks):
    def free():
        return torch.module.cuda.mem_get_info()[0]

    tensor = torch.module.zeros(512 << 20, dtype=torch.module.uint8, device="cuda")
    chunks.decompress(chunks.compress(tensor))
    before = free()
    back = chunks.decompress(chunks.compress(tensor))
    assert free() <= before - (512 << 20)
    taken = torch.take(back)
    del back
    assert free() <= before - (512 << 20)
    del taken
    assert free() >= before - (16 << 20)
    arrays = [chunks.decompress(chunks.compress(tensor)) for _ in range(2)]
    capsules = [array.__dlpack__(max_version=version) for array, version in zip(arrays, (None, (1, 0)), strict=True)]
    arrays.clear()
    assert free() <= before - (1024 << 20)
    capsules.clear()
    assert free() >= before - (16 << 20)


def test_threads(chunks):
    contents = [mixed(200_000 + n) for n in range(6)]
    arrays = [on_gpu(chunks, content) for content in contents]
    wrong = []

    def work(array, content):
        for _ in range(10):
            if chunks.decompress(chunks.compress(array)).tobytes() != content:
                wrong.append(len(content))

    threads = [threading.Thread(target=work, args=pair) for pair in zip(arrays, contents, strict=True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.parametrize("is_given", [False, True])
def test_streams(torch, chunks, is_given):
    """Work on the array that is still enqueued comes first."""
    stream = torch.module.cuda.Stream()
    handle = stream.cuda_stream if is_given else None
    content = mixed(1 << 20)
    source = torch.array(content)
    slow = torch.module.ones(6000, 6000, device="cuda")
    torch.module.cuda.synchronize()
    with torch.module.cuda.stream(stream):
        tensor = torch.module.zeros_like(source)
        for _ in range(20):
            slow @ slow
        tensor.copy_(source)
        blocks = chunks.compress(tensor, stream=handle)
        out = torch.module.zeros_like(source)
        for _ in range(20):
            slow @ slow
        out.zero_()
        chunks.decompress(blocks, out=out, stream=handle)
    assert pagepress.decompress(blocks.tobytes()) == content
    assert torch.to_bytes(out) == content
    default = torch.module.cuda.default_stream().cuda_stream
    assert chunks.decompress(chunks.compress(tensor, stream=default), stream=default).tobytes() == content


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_gpu_does_not_survive_a_fork(chunks):
    array = on_gpu(chunks, b"pages" * 1000)
    child = os.fork()
    if child == 0:
        try:
            chunks.compress(array)
        except pagepress.EngineError as error:
            os._exit(0 if "forked" in str(error) else 2)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0

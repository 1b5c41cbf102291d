"""Times PyTorch, with cuBLAS and cuDNN, on tensors in GPU memory, as the examples `tensor_bench` and `attention_bench` time ours: python tensor_peers.py

Needs a GPU and PyTorch. Uniform random numbers from -1 to 1; medians of five series of calls after 0.7 s of the same work, by the host's clock, each
result in new memory.
"""

import statistics
import time

import torch
import torch.nn.functional as nn
from torch.nn.attention import SDPBackend, sdpa_kernel

HEADS = 16


def seconds(call, n_calls):
    """Returns the median seconds of a call."""

    def series():
        begin = time.perf_counter()
        for _ in range(n_calls):
            call()
        torch.cuda.synchronize()
        return (time.perf_counter() - begin) / n_calls

    warm = time.perf_counter() + 0.7
    while time.perf_counter() < warm:
        series()
    return statistics.median(series() for _ in range(5))


def numbers(*shape, dtype):
    return (torch.rand(*shape, device="cuda") * 2 - 1).to(dtype)


def products():
    for name, dtype, tf32 in [
        ("f32", torch.float32, False),
        ("tf32", torch.float32, True),
        ("f16", torch.float16, False),
        ("bf16", torch.bfloat16, False),
    ]:
        torch.backends.cuda.matmul.allow_tf32 = tf32
        for n in (512, 1024, 2048, 4096, 8192):
            a, b = numbers(n, n, dtype=dtype), numbers(n, n, dtype=dtype)
            taken = seconds(lambda: a @ b, min(max((1 << 40) // n**3, 16), 200))
            print(f"matmul {n:>5} {name}: {taken * 1e6:>9.1f} us  {2 * n**3 / taken / 1e12:>7.2f} TFLOP/s", flush=True)
    torch.backends.cuda.matmul.allow_tf32 = False


def attention():
    kinds = {"flash": SDPBackend.FLASH_ATTENTION, "cudnn": SDPBackend.CUDNN_ATTENTION, "efficient": SDPBackend.EFFICIENT_ATTENTION}
    for dtype, names in [(torch.float16, ["flash", "cudnn"]), (torch.float32, ["efficient"])]:
        for dim in (64, 128):
            for rows in (512, 2048, 8192):
                q, k, v = (numbers(1, HEADS, rows, dim, dtype=dtype) for _ in range(3))
                for name in names:
                    with sdpa_kernel(kinds[name]):
                        taken = seconds(lambda: nn.scaled_dot_product_attention(q, k, v, is_causal=True), 20)
                    rate = 2 * HEADS * dim * rows * (rows + 1) / taken / 1e12
                    print(f"attention {dtype} {rows:>5} rows of {dim:>3}, {name}: {taken * 1e6:>9.1f} us  {rate:>7.2f} TFLOP/s", flush=True)


def rows():
    for height, width in ((4096, 32768), (131072, 1024), (4096, 8192)):
        x = numbers(height, width, dtype=torch.float32)
        weight, bias = numbers(width, dtype=torch.float32), numbers(width, dtype=torch.float32)
        for name, call in [
            ("softmax", lambda: torch.softmax(x, -1)),
            ("RMS norm", lambda: nn.rms_norm(x, (width,), weight)),
            ("layer norm", lambda: nn.layer_norm(x, (width,), weight, bias)),
        ]:
            taken = seconds(call, 20)
            print(f"{name}, {height} x {width}: {taken * 1e6:>9.1f} us  {8 * x.numel() / taken / 1e9:>7.0f} GB/s", flush=True)


if __name__ == "__main__":
    print(torch.cuda.get_device_name(), "PyTorch", torch.__version__)
    products()
    attention()
    rows()

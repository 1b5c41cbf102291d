"""Times PyTorch, with cuBLAS and cuDNN, on tensors in GPU memory, as the examples `tensor_bench` and `attention_bench` time ours: python tensor_peers.py [products] [attention] [rows]

Needs a GPU and PyTorch. Uniform random numbers from -1 to 1; medians of five series of calls after 0.7 s of the same work, by the host's clock, each
result in new memory.
"""

import statistics
import sys
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
    for dtype in (torch.float32, torch.float16, torch.bfloat16):
        for height, width in ((4096, 32768), (131072, 1024), (4096, 8192)):
            x, y = numbers(height, width, dtype=dtype), numbers(height, width, dtype=dtype)
            weight, bias = numbers(width, dtype=dtype), numbers(width, dtype=dtype)
            for name, n_tensors, call in [
                ("GELU", 2, lambda: nn.gelu(x)),
                ("add", 3, lambda: x + y),
                ("sum", 1, lambda: torch.sum(x)),
                ("softmax", 2, lambda: torch.softmax(x, -1)),
                ("RMS norm", 2, lambda: nn.rms_norm(x, (width,), weight)),
                ("layer norm", 2, lambda: nn.layer_norm(x, (width,), weight, bias)),
            ]:
                taken = seconds(call, 20)
                n_bytes = n_tensors * x.element_size() * x.numel()
                print(f"{name} {dtype}, {height} x {width}: {taken * 1e6:>9.1f} us  {n_bytes / taken / 1e9:>7.0f} GB/s", flush=True)


if __name__ == "__main__":
    print(torch.cuda.get_device_name(), "PyTorch", torch.__version__)
    chosen = sys.argv[1:] or ["products", "attention", "rows"]
    for part in (products, attention, rows):
        if part.__name__ in chosen:
            part()

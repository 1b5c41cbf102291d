"""Writes the files that `tests/gguf` reads, by ggml's own package: python3 write.py FOLDER [LIBRARY]

LIBRARY is ggml's `ggml-quants.c` as a shared library, whose functions `quantize_row_*_ref` pack the blocks of `packed.gguf`; without
it that file is not written. PyPI has the source in the package `ggml-python` (0.0.45 was used).
"""
import ctypes
import sys
from pathlib import Path

import gguf
import numpy as np
from gguf import GGMLQuantizationType as Type
from gguf import GGUFEndian, GGUFValueType, GGUFWriter

folder = Path(sys.argv[1])
random = np.random.default_rng(20261126)


def write(name, fill, **options):
    writer = GGUFWriter(folder / name, "test", **options)
    fill(writer)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def metadata(writer):
    writer.add_uint8("a.u8", 200)
    writer.add_int8("a.i8", -100)
    writer.add_uint16("a.u16", 60_000)
    writer.add_int16("a.i16", -30_000)
    writer.add_uint32("a.u32", 4_000_000_000)
    writer.add_int32("a.i32", -2_000_000_000)
    writer.add_float32("a.f32", 0.1)
    writer.add_bool("a.true", True)
    writer.add_bool("a.false", False)
    writer.add_string("a.string", "Übergrößenträger 🚛")
    writer.add_uint64("a.u64", 2**64 - 1)
    writer.add_int64("a.i64", -(2**63))
    writer.add_float64("a.f64", 0.1)
    writer.add_array("b.strings", ["", "one", "two words", "▁three"])
    writer.add_array("b.bools", [True, False, True])
    writer.add_key_value("b.u8", bytes([0, 1, 255]), GGUFValueType.ARRAY, GGUFValueType.UINT8)
    writer.add_key_value("b.i16", [-1, 2, -3], GGUFValueType.ARRAY, GGUFValueType.INT16)
    writer.add_key_value("b.f32", [0.5, -0.25], GGUFValueType.ARRAY, GGUFValueType.FLOAT32)
    writer.add_key_value("b.u64", list(range(520)), GGUFValueType.ARRAY, GGUFValueType.UINT64)


def packed(kind, rows, cols):
    """Random blocks whose factors are finite, and numbers small."""
    block, n_bytes = gguf.GGML_QUANT_SIZES[kind]
    data = random.integers(0, 256, (rows, cols // block, n_bytes), dtype=np.uint8)
    for at in {Type.Q8_0: [1], Type.Q6_K: [209]}.get(kind, [1, 3]):
        data[..., at] = data[..., at] & 0x83 | 0x28
    return data.reshape(rows, cols // block * n_bytes)


def tensors(writer):
    """Each tensor has a twin in f32, which ggml's package unpacked."""
    numbers = random.normal(0, 1, (3, 2, 5)).astype(np.float32)
    writer.add_tensor("f32", numbers)
    writer.add_tensor("f16", numbers.astype(np.float16))
    writer.add_tensor("f16.twin", numbers.astype(np.float16).astype(np.float32))
    bits = (numbers.view(np.uint32) >> 16).astype(np.uint16)
    writer.add_tensor("bf16", bits.view(np.uint8).reshape(3, 2, 10), raw_dtype=Type.BF16)
    writer.add_tensor("bf16.twin", gguf.dequantize(bits.view(np.uint8).reshape(3, 2, 10), Type.BF16))
    for kind, shape in ((Type.Q4_K, (2, 256)), (Type.Q5_K, (1, 512)), (Type.Q6_K, (2, 256)), (Type.Q8_0, (3, 96))):
        data = packed(kind, *shape)
        writer.add_tensor(kind.name.lower(), data, raw_dtype=kind)
        writer.add_tensor(f"{kind.name.lower()}.twin", gguf.dequantize(data, kind))
    writer.add_tensor("q4_0", gguf.quantize(random.normal(0, 1, (2, 64)).astype(np.float32), Type.Q4_0), raw_dtype=Type.Q4_0)
    writer.add_tensor("i32", np.arange(6, dtype=np.int32).reshape(2, 3))
    writer.add_tensor("one", np.array([2.5], dtype=np.float32))


def everything(writer):
    metadata(writer)
    tensors(writer)


def aligned(writer):
    writer.add_custom_alignment(256)
    writer.add_tensor("a", np.arange(5, dtype=np.float32))
    writer.add_tensor("b", np.arange(7, dtype=np.float32) + 0.5)


def blocks_of_ggml(writer, library):
    """Numbers of three kinds, and their blocks as ggml's reference packs them."""
    n = 1280
    outliers = random.laplace(0, 0.02, n)
    outliers[::97] *= 20
    kinds = {"normal": random.normal(0, 0.02, n), "outliers": outliers, "positive": random.uniform(0.5, 1.5, n)}
    for name, numbers in kinds.items():
        halves = numbers.astype(np.float16)
        writer.add_tensor(name, halves)
        numbers = np.ascontiguousarray(halves.astype(np.float32))
        for kind, function in ((Type.Q4_K, "q4_K"), (Type.Q5_K, "q5_K"), (Type.Q6_K, "q6_K"), (Type.Q8_0, "q8_0")):
            block, n_bytes = gguf.GGML_QUANT_SIZES[kind]
            data = np.zeros(n // block * n_bytes, dtype=np.uint8)
            pointers = [array.ctypes.data_as(ctypes.c_void_p) for array in (numbers, data)]
            getattr(library, f"quantize_row_{function}_ref")(*pointers, ctypes.c_int64(n))
            writer.add_tensor(f"{name}.{kind.name.lower()}", data.reshape(1, -1), raw_dtype=kind)


write("everything.gguf", everything)
write("aligned.gguf", aligned)
write("big_endian.gguf", lambda writer: writer.add_uint32("a", 1), endianess=GGUFEndian.BIG)
write("empty.gguf", lambda writer: None)
# Files of version 2 differ in nothing but the version.
version_2 = bytearray((folder / "aligned.gguf").read_bytes())
version_2[4] = 2
(folder / "version_2.gguf").write_bytes(version_2)
if len(sys.argv) > 2:
    random = np.random.default_rng(7)
    write("packed.gguf", lambda writer: blocks_of_ggml(writer, ctypes.CDLL(sys.argv[2])))

"""Arrays of other libraries in the memory of a GPU, for tests, with the same functions for each library."""

import importlib
import os

import pytest


class Torch:
    def __init__(self):
        self.module = pytest.importorskip("torch")
        if not self.module.cuda.is_available():
            pytest.skip("PyTorch finds no GPU")

    def array(self, content):
        if not content:
            return self.module.empty(0, dtype=self.module.uint8, device="cuda")
        return self.module.frombuffer(bytearray(content), dtype=self.module.uint8).cuda()

    def take(self, device_array):
        return self.module.from_dlpack(device_array)

    def pointer(self, array):
        return array.data_ptr()

    def to_bytes(self, array):
        return array.contiguous().view(-1).view(self.module.uint8).cpu().numpy().tobytes()

    def floats(self, content):
        return self.array(content).view(self.module.float32).reshape(16, -1)


class CuPy:
    def __init__(self):
        self.module = pytest.importorskip("cupy")
        try:
            self.module.cuda.runtime.getDeviceCount()
        except self.module.cuda.runtime.CUDARuntimeError as error:
            pytest.skip(str(error))

    def array(self, content):
        numpy = importlib.import_module("numpy")
        return self.module.asarray(numpy.frombuffer(content, "u1"))

    def take(self, device_array):
        return self.module.from_dlpack(device_array)

    def pointer(self, array):
        return array.data.ptr

    def to_bytes(self, array):
        return array.tobytes()

    def floats(self, content):
        return self.array(content).view("f4").reshape(16, -1)


class Jax:
    def __init__(self):
        os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
        self.module = pytest.importorskip("jax")
        try:
            self.device = self.module.devices("gpu")[0]
        except RuntimeError as error:
            pytest.skip(str(error))

    def array(self, content):
        numpy = importlib.import_module("numpy")
        return self.module.device_put(numpy.frombuffer(content, "u1"), self.device)

    def take(self, device_array):
        return importlib.import_module("jax.dlpack").from_dlpack(device_array)

    def pointer(self, array):
        return array.unsafe_buffer_pointer()

    def to_bytes(self, array):
        return importlib.import_module("numpy").asarray(array).tobytes()

    def floats(self, content):
        numpy = importlib.import_module("numpy")
        return self.module.device_put(numpy.frombuffer(content, "f4").reshape(16, -1), self.device)


class Interface:
    """An array that has nothing but a dictionary."""

    def __init__(self, array, **changes):
        self.array = array
        self.__cuda_array_interface__ = {**array.__cuda_array_interface__, **changes}


class OldTensor:
    """An array of a library from before version 1 of DLPack."""

    def __init__(self, array):
        self.array = array

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    def __dlpack__(self, stream=None):
        return self.array.__dlpack__(stream=stream)


class Capsule:
    """An array whose library returns one capsule again and again."""

    def __init__(self, capsule):
        self.capsule = capsule

    def __dlpack_device__(self):
        return (2, 0)

    def __dlpack__(self, stream=None, max_version=None):
        return self.capsule

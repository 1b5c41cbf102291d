"""Content that tests share."""

import random

import pytest

collect_ignore = ["as_lz4.py"]


def make_content(size, seed=1):
    """Returns bytes that compress about twofold."""
    choose = random.Random(seed)
    words = [choose.randbytes(choose.randrange(3, 12)) for _ in range(200)]
    parts, total = [], 0
    while total < size:
        parts.append(choose.choice(words))
        total += len(parts[-1])
    return b"".join(parts)[:size]


@pytest.fixture(scope="session")
def content():
    """Content of several blocks, of a size that is no multiple of one."""
    return make_content(700_001)


SIZES = [0, 1, 12, 13, 4096, 65_536, 65_537, 300_000]

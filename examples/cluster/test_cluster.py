"""One hash for any number of workers, for two processes over the network, and with a worker killed in the middle."""

import os
import random
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import zarr
from compress import array_name, compress, store_hash
from distributed import Client, LocalCluster

CHUNK, BATCH = 65_536, 4
HERE = os.path.dirname(__file__)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Three files, of sizes that are no multiple of a chunk; one is empty."""
    folder = tmp_path_factory.mktemp("files")
    choose = random.Random(3)
    words = [choose.randbytes(choose.randrange(3, 12)) for _ in range(500)]
    paths = []
    for name, size in (("a", 7_000_001), ("b", 100_000), ("empty", 0)):
        content = b"".join(choose.choices(words, k=size // 5))[:size]
        path = folder / name
        path.write_bytes(content)
        paths.append(str(path))
    return paths


@pytest.fixture(scope="module")
def expected(files, tmp_path_factory):
    """The hash by one worker in this process."""
    store = str(tmp_path_factory.mktemp("one") / "store.zarr")
    with Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=None) as client:
        compress(client, store, files, CHUNK, BATCH)
    for path in files:
        with open(path, "rb") as file:
            array = zarr.open_array(store, path=array_name(path), mode="r")
            assert array[:].tobytes() == file.read()
    return store_hash(store)


def cluster(n_workers):
    return LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=None)


@pytest.mark.parametrize("n_workers", [2, 4])
def test_workers(files, expected, tmp_path, n_workers):
    seen = []
    with cluster(n_workers) as local, Client(local) as client:
        figures = compress(client, str(tmp_path / "s"), files, CHUNK, BATCH, lambda done, total: seen.append((done, total)))
    assert store_hash(str(tmp_path / "s")) == expected
    assert seen == sorted(seen) and seen[-1] == (figures["bytes"], figures["bytes"])


def test_killed_worker(files, expected, tmp_path):
    killed = []
    with cluster(2) as local, Client(local) as client:

        def kill(done, total):
            if not killed and done > total // 5:
                address, pid = next(iter(client.run(os.getpid).items()))
                os.kill(pid, signal.SIGKILL)
                killed.append(address)
                # A worker that is killed while it writes a chunk leaves a file of this name.
                (tmp_path / "s" / f"0.{len(killed)}.partial").write_bytes(b"half a chunk")

        compress(client, str(tmp_path / "s"), files, CHUNK, BATCH, kill)
    assert killed
    assert store_hash(str(tmp_path / "s")) == expected


def test_two_processes_over_the_network(files, expected, tmp_path):
    environment = {**os.environ, "DASK_DISTRIBUTED__DASHBOARD__LINK": ""}
    options = {"env": environment, "stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True}
    address_file = tmp_path / "scheduler.json"
    scheduler = ["scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(address_file)]
    worker = ["worker", "--host", "127.0.0.1", "--nthreads", "1", "--no-dashboard", "--scheduler-file", str(address_file)]
    worker += ["--preload", "pagepress.dask", "--local-directory", str(tmp_path)]
    processes = []
    try:
        processes.append(subprocess.Popen([sys.executable, "-m", "dask", *scheduler], **options))
        for _ in range(300):
            if address_file.exists() and address_file.stat().st_size:
                break
            time.sleep(0.1)
        for _ in range(2):
            processes.append(subprocess.Popen([sys.executable, "-m", "dask", *worker], **options))
        with Client(scheduler_file=str(address_file)) as client:
            client.wait_for_workers(2, timeout=60)
            address = client.scheduler.address
        command = [sys.executable, os.path.join(HERE, "compress.py"), "--scheduler", address]
        command += ["--store", str(tmp_path / "s"), "--chunk", str(CHUNK), "--batch", str(BATCH), *files]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        assert "by 2 workers" in done.stdout and done.stdout.split()[-1] == expected
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.communicate(timeout=30)


def test_a_file_that_shrinks_is_an_error(files, tmp_path):
    with Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=None) as client:
        from compress import compress_part, make_array

        zarr.create_group(str(tmp_path / "s"))
        make_array(str(tmp_path / "s"), files[1], CHUNK)
        with pytest.raises(OSError, match="has changed"):
            client.submit(compress_part, str(tmp_path / "s"), files[1], 0, 200_000, 1).result()


def test_damaged_chunk(files, tmp_path):
    import pagepress

    with Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=None) as client:
        compress(client, str(tmp_path / "s"), files, CHUNK, BATCH)
    chunk = tmp_path / "s/a/c/50"
    chunk.write_bytes(chunk.read_bytes()[:-100])
    array = zarr.open_array(str(tmp_path / "s"), path="a", mode="r")
    with pytest.raises(pagepress.FormatError):
        array[:]
    assert len(array[: 50 * CHUNK]) == 50 * CHUNK and isinstance(array[:10], np.ndarray)

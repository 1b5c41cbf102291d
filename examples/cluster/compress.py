"""Compresses files to a Zarr of LZ4 chunks on a cluster of Dask.

    python compress.py --store corpus.zarr FILES                          a cluster of this machine
    python compress.py --store corpus.zarr --scheduler tcp://HOST:8786 FILES    workers that share the files and the store

Each file becomes an array of bytes, which zarr reads with or without Pagepress. A task compresses some chunks, which no other task writes, so a task
that runs again after its worker died writes the same bytes to the same names. The hash of the store depends on nothing but the files and
the sizes of chunks, and on whether a GPU was asked for.

With ``--engine cuda`` each worker compresses batches of chunks of 64 KiB on its GPU: the first that CUDA_VISIBLE_DEVICES names, as dask-cuda sets it for
each worker.
"""

import argparse
import hashlib
import os
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import zarr
from distributed import Client, LocalCluster, as_completed

MIB = 1 << 20


def make_array(store: str, path: str, chunk: int) -> int:
    """Makes the array of a file; returns the bytes of the file."""
    import pagepress.zarr

    size = os.path.getsize(path)
    pagepress.zarr.use()
    zarr.create_array(
        store,
        name=array_name(path),
        shape=size,
        chunks=max(1, min(chunk, size)),
        dtype="u1",
        # The name of the codec in the store, which zarr has without Pagepress too.
        compressors={"name": "numcodecs.lz4", "configuration": {"acceleration": 1}},
        fill_value=None,
        config={"write_empty_chunks": True},
        overwrite=True,
    )
    return size


def array_name(path: str) -> str:
    """Returns the name of a file's array."""
    return os.path.basename(path)


def compress_part(store: str, path: str, start: int, end: int, batch: int, engine: str = "cpu") -> int:
    """Compresses the chunks of a part of a file. Runs on a worker; returns the bytes of the part."""
    import pagepress.zarr

    pagepress.zarr.use(engine=engine)
    with open(path, "rb") as file:
        file.seek(start)
        content = np.frombuffer(file.read(end - start), "u1")
    if len(content) != end - start:
        raise OSError(f"{path} has changed: {len(content)} bytes from {start} on, expected {end - start}")
    with zarr.config.set({"codec_pipeline.batch_size": batch}):
        array = zarr.open_array(store, path=array_name(path), mode="r+")
        array[start:end] = content
    return end - start


def parts(path: str, size: int, chunk: int, batch: int):
    """Returns the parts of a file, which are whole chunks."""
    step = chunk * batch
    return [(path, start, min(start + step, size)) for start in range(0, size, step)]


def compress(client: Client, store: str, paths: list[str], chunk: int, batch: int, report=None, engine: str = "cpu") -> dict:
    """Compresses files; calls `report(done, total)` after each part. Returns figures of the run."""
    started = time.perf_counter()
    names = [array_name(path) for path in paths]
    if len(set(names)) != len(names):
        raise ValueError("two files have one name; their arrays would be one")
    zarr.create_group(store, overwrite=True)
    work = []
    for path in paths:
        work += parts(path, make_array(store, path, chunk), chunk, batch)
    total = sum(end - start for _, start, end in work)
    futures = [client.submit(compress_part, store, *part, batch, engine, pure=False) for part in work]
    done = 0
    for future in as_completed(futures):
        done += future.result()
        if report is not None:
            report(done, total)
    remove_partial(store)
    seconds = time.perf_counter() - started
    stored = sum(file.stat().st_size for file in Path(store).rglob("*") if file.is_file())
    return {"bytes": total, "stored": stored, "parts": len(work), "seconds": seconds}


def remove_partial(store: str) -> None:
    """Removes the temporary files of chunks that killed workers were writing; others have written the chunks since."""
    for file in Path(store).rglob("*.partial"):
        file.unlink(missing_ok=True)


def store_hash(store: str) -> str:
    """Returns the SHA-256 of the names and contents of all files of a store."""
    digest = hashlib.sha256()
    for file in sorted(path for path in Path(store).rglob("*") if path.is_file()):
        content = file.read_bytes()
        digest.update(f"{file.relative_to(store)} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()


def progress(done: int, total: int) -> None:
    """Prints one line that is written over."""
    end = "\n" if done == total else "\r"
    print(f"{done / MIB:.0f} of {total / MIB:.0f} MiB", end=end, file=sys.stderr, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="Compresses files to a Zarr of LZ4 chunks on a cluster of Dask.")
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.add_argument("--store", required=True, help="folder of the Zarr; it is replaced")
    parser.add_argument("--scheduler", help="address of a scheduler; without it the workers run on this machine")
    parser.add_argument("--workers", type=int, default=os.cpu_count(), help="workers on this machine")
    parser.add_argument("--chunk", type=int, default=4 * MIB, help="bytes of a chunk")
    parser.add_argument("--batch", type=int, default=16, help="chunks of a task, which a worker compresses at once")
    parser.add_argument("--engine", default="cpu", choices=("cpu", "auto", "wgpu", "cuda"), help="a GPU takes chunks of 4 to 64 KiB")
    options = parser.parse_args()
    paths = [os.path.abspath(path) for path in options.files]
    store = os.path.abspath(options.store)
    if options.scheduler:
        client = Client(options.scheduler)
    else:
        scratch = tempfile.gettempdir()
        cluster = LocalCluster(
            n_workers=options.workers, threads_per_worker=1, dashboard_address=None, local_directory=scratch
        )
        client = Client(cluster)
    with client:
        figures = compress(client, store, paths, options.chunk, options.batch, progress, options.engine)
        workers = len(client.scheduler_info(n_workers=-1)["workers"])
    rate = figures["bytes"] / figures["seconds"] / 1e6
    print(f"{figures['bytes']} bytes to {figures['stored']} in {figures['parts']} parts by {workers} workers: {rate:.0f} MB/s")
    print(store_hash(store))


if __name__ == "__main__":
    main()

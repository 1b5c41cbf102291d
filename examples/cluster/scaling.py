"""Computes the tables of docs/scaling.md from measured figures of one worker: python scaling.py

A worker reads content, compresses it and writes the result to a store that all workers share. Its stages overlap, so the slowest one bounds it;
the scheduler starts one task after the other. GB/s are 10^9 bytes of content a second.
"""

import dataclasses
import heapq


@dataclasses.dataclass(frozen=True)
class Worker:
    """Speeds of one worker in GB/s of content, and the ratio, as benches/results has them."""

    name: str
    compress: float
    decompress: float
    ratio: float


#: One core: docs/rust.md (Xeon, blocks of 64 KiB, mix4, sequential). 16 cores: 0.9 of linear, as rayon's threads share memory. GPU: pipeline-cuda-h200.md
#: (mix4, 1 GiB, pages of 4 KiB) and lz4-gpu-h200.md (mix4, 64 KiB).
WORKERS = (
    Worker("1 core", 0.66, 2.98, 2.35),
    Worker("16 cores", 0.66 * 16 * 0.9, 2.98 * 16 * 0.9, 2.35),
    Worker("H200, host memory", 17.0, 16.7, 1.82),
    Worker("H200, pinned memory", 46.9, 48.1, 1.82),
    Worker("H200, GPU memory", 94.3, 213.8, 2.35),
)
#: Speed of networks by name, in GB/s.
NETWORKS = {"1 Gb/s": 0.125, "10 Gb/s": 1.25, "25 Gb/s": 3.125, "100 Gb/s": 12.5, "200 Gb/s": 25.0, "400 Gb/s": 50.0}
COUNTS = (1, 2, 4, 10, 100, 1000)
#: Seconds that Dask's scheduler spends on a task: its documentation says 200 microseconds to 1 millisecond.
TASK_SECONDS = 0.001
#: Of the tables for many workers: the network of a worker and the speed of the store, in GB/s.
NETWORK, STORE = 3.125, 200.0


def transfer_gain(worker, network):
    """Returns how much faster content crosses a network compressed than as it is."""
    return min(worker.compress, worker.decompress, network * worker.ratio) / network


def bounds(worker, n_workers, network, store, part):
    """Returns the bound of each stage for `n_workers`, in GB/s of content; `part` is the GB of content of a task."""
    return {
        "kernel": n_workers * worker.compress,
        "network": n_workers * network * worker.ratio,
        "store": store * worker.ratio,
        "scheduler": part / TASK_SECONDS,
    }


def simulate(worker, n_workers, network, store, part, tasks_each=20):
    """Returns GB/s of content of a run, task by task: scheduler and store serve one task after the other."""
    n_tasks = n_workers * tasks_each
    free = [(0.0, number) for number in range(n_workers)]
    heapq.heapify(free)
    scheduler = store_free = last = 0.0
    busy = part / min(worker.compress, network * worker.ratio)
    for _ in range(n_tasks):
        idle, number = heapq.heappop(free)
        scheduler = max(scheduler, idle) + TASK_SECONDS
        computed = scheduler + busy
        # The store takes a result while later ones are computed; its time for one is its share of all.
        store_free = max(store_free, computed - busy) + part / worker.ratio / store
        last = max(computed, store_free)
        heapq.heappush(free, (last, number))
    return n_tasks * part / last


def table(head, rows):
    """Returns a table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def network_table():
    rows = []
    for worker in WORKERS:
        gains = [transfer_gain(worker, network) for network in NETWORKS.values()]
        rows.append([worker.name, *(f"{gain:.2f}" if gain >= 1 else f"*{gain:.2f}*" for gain in gains)])
    return table(["worker", *NETWORKS], rows)


def limit_table():
    rows = [
        [worker.name, f"{8 * min(worker.compress, worker.decompress):.0f}", f"{8 * min(worker.compress, worker.decompress) / worker.ratio:.0f}"]
        for worker in WORKERS
    ]
    return table(["worker", "pays below, Gb/s", "full gain below, Gb/s"], rows)


def workers_table(part):
    rows = []
    for worker in WORKERS[:3]:
        cells = []
        for n_workers in COUNTS:
            found = bounds(worker, n_workers, NETWORK, STORE, part)
            stage = min(found, key=found.get)
            simulated = simulate(worker, n_workers, NETWORK, STORE, part)
            cells.append(f"{found[stage]:.1f} {stage}, {simulated:.1f}")
        rows.append([worker.name, *cells])
    return table(["worker", *(f"{n:,}" for n in COUNTS)], rows)


def main():
    for title, text in tables().items():
        print(f"{title}\n\n{text}\n")


def tables():
    """Returns the tables of docs/scaling.md."""
    return {
        "gain by network": network_table(),
        "where compression stops paying": limit_table(),
        "tasks of 64 MB": workers_table(0.064),
        "tasks of 1 GB": workers_table(1.0),
    }


if __name__ == "__main__":
    main()

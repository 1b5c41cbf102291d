"""The tables of docs/scaling.md are those of scaling.py, and the simulation agrees with the bounds."""

from pathlib import Path

import pytest
import scaling

DOCUMENT = Path(__file__).parents[2] / "docs/scaling.md"


@pytest.mark.parametrize("title", scaling.tables())
def test_document(title):
    assert scaling.tables()[title] in DOCUMENT.read_text(encoding="utf-8")


@pytest.mark.parametrize("worker", scaling.WORKERS, ids=lambda worker: worker.name)
@pytest.mark.parametrize("n_workers", scaling.COUNTS)
def test_simulation(worker, n_workers):
    bounds = scaling.bounds(worker, n_workers, scaling.NETWORK, scaling.STORE, 1.0)
    found = scaling.simulate(worker, n_workers, scaling.NETWORK, scaling.STORE, 1.0)
    # Beyond the slowest stage, tasks wait for the scheduler and the last ones of the run end apart.
    assert 0.95 * min(bounds.values()) < found <= 1.001 * min(bounds.values())

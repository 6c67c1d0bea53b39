"""Many fits and scorings at once: the same scores, and nothing of the process is changed."""

import json
import subprocess
import sys
import textwrap

import pytest

PROGRAM = """
import json, os, sys, threading
from concurrent.futures import ThreadPoolExecutor

import numba
import numpy as np
import torch
from threadpoolctl import threadpool_info

from skgraphkde import GCN, MMD, Contrastive, Density, GraphKDEDetector
from skgraphkde.datasets import load_mutag

molecules = load_mutag().graphs
train, test = molecules[:40], molecules[40:60]
torch.set_num_threads(2)
SETTINGS = [
    {},
    {"encoder": GCN(hidden_dim=8), "training": Contrastive(max_iter=2)},
    {"views": (Density(MMD(method="random_features", n_components=32)), "novelty")},
    {"views": "density"},
]


def fit_and_score(i):
    barrier.wait(timeout=60) if i < N_THREADS else None  # the first ones start together
    detector = GraphKDEDetector(random_state=0, **SETTINGS[i % len(SETTINGS)]).fit(train)
    return detector.score_samples(test)


def state():
    in_thread = []
    thread = threading.Thread(target=lambda: in_thread.append(torch.get_num_threads()))
    thread.start()
    thread.join()
    return {
        "libraries": sorted((x["filepath"], x["num_threads"]) for x in threadpool_info()),
        "torch": torch.get_num_threads(),
        "torch in a new thread": in_thread,
        "numba": numba.get_num_threads(),
        # torch sets its own when it first needs a compiler
        "environment": {k: v for k, v in os.environ.items() if not k.startswith("TORCH")},
        "grad": torch.is_grad_enabled(),
    }


N_THREADS, N_FITS = 12, int(sys.argv[1])
barrier = threading.Barrier(N_THREADS)
np.ones((64, 64)) @ np.ones((64, 64))  # loads what BLAS loads
before = state()
with ThreadPoolExecutor(N_THREADS) as pool:
    at_once = list(pool.map(fit_and_score, range(N_FITS)))
after = state()
N_THREADS = 0
alone = [fit_and_score(i) for i in range(len(SETTINGS))]
known = {path for path, _ in before["libraries"]}
after["libraries"] = [x for x in after["libraries"] if x[0] in known]  # DGL may load more
changed = [name for name in before if json.dumps(before[name]) != json.dumps(after[name])]
wrong = [i for i, scores in enumerate(at_once) if not np.array_equal(scores, alone[i % len(alone)])]
print(json.dumps({"changed": changed, "wrong": wrong, "before": str(before), "after": str(after)}))
"""


@pytest.mark.slow
@pytest.mark.parametrize("n_fits", [12, 60])
def test_many_fits_at_once(n_fits):
    """In a process of its own, in which DGL is imported for the first time by several threads."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(PROGRAM), str(n_fits)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    result = json.loads(done.stdout.splitlines()[-1])
    assert not result["changed"], result
    assert not result["wrong"], result

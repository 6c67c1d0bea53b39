"""Many fits and scorings at once, and in children that are forked, which have no threads.

None of them leaves a limit on threads that was not there.
"""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import networkx as nx
import numpy as np
import pytest
from threadpoolctl import ThreadpoolController, threadpool_info, threadpool_limits

from skgraphkde import GraphKDEDetector
from skgraphkde._utils import _blas, one_blas_thread
from skgraphkde.explanation import results
from tests.conftest import spied, with_data

PROGRAM = """
import json, os, sys, threading
from concurrent.futures import ThreadPoolExecutor

import numba
import numpy as np
import torch
from threadpoolctl import threadpool_info

from skgraphkde import GCN, MMD, Density, GraphKDEDetector
from skgraphkde.datasets import load_mutag

molecules = load_mutag().graphs
train, test = molecules[:40], molecules[40:60]
torch.set_num_threads(2)
SETTINGS = [
    {},
    {"encoder": GCN(hidden_dim=8)},
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


FORKS = """
import multiprocessing
import os
import sys
import threading

import networkx as nx
import numpy as np
import torch
from joblib import Parallel, delayed

import skgraphkde
from skgraphkde import GCN, GraphKDEDetector

torch.set_num_threads(2)
graphs = [nx.gnp_random_graph(30, 0.2, seed=seed) for seed in range(40)]
GraphKDEDetector(encoder=GCN(device="cpu"), random_state=0).fit(graphs).save(sys.argv[1])
detector = skgraphkde.load(sys.argv[1])
torch.ones(400, 400).exp()  # torch's threads have started, whatever the number of cores
expected = detector.score_samples(graphs)
parts = [graphs[i : i + 10] for i in range(0, 40, 10)]


class Scores(torch.utils.data.Dataset):
    def __len__(self):
        return len(parts)

    def __getitem__(self, i):
        return detector.score_samples(parts[i])


def same(name, scores):
    np.testing.assert_allclose(np.concatenate(scores), expected, rtol=1e-9)
    print(name)


def fitted(seed):
    detector = GraphKDEDetector(encoder=GCN(device="cpu"), random_state=seed)
    return detector.fit(graphs).score_samples(graphs)


with multiprocessing.get_context("fork").Pool(2) as pool:
    same("pool", pool.map(detector.score_samples, parts))
    assert np.isfinite(pool.map(fitted, [0, 1])).all()
    print("fit")
scored = delayed(detector.score_samples)
same("joblib", Parallel(2, backend="multiprocessing")(scored(part) for part in parts))
loader = torch.utils.data.DataLoader(
    Scores(), batch_size=None, num_workers=2, multiprocessing_context="fork"
)
same("loader", list(loader))
assert torch.get_num_threads() == 2
"""


def run(program, *arguments, **environment):
    """What a process of its own prints."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program, *arguments],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def blas_threads():
    """The numbers of threads of all libraries of BLAS."""
    return [x["num_threads"] for x in threadpool_info() if x["user_api"] == "blas"]


def in_a_thread(function, *arguments, **options):
    """Call a function in a thread that ends: threadpoolctl lets the first that lives set limits."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(function, *arguments, **options).result()


@pytest.fixture
def two_threads():
    """Two threads of BLAS, whatever the machine and the environment."""
    if not blas_threads():
        pytest.skip("threadpoolctl does not know this BLAS")
    limits = in_a_thread(threadpool_limits, 2, user_api="blas")
    yield [2] * len(blas_threads())
    in_a_thread(limits.restore_original_limits)


@pytest.mark.parametrize("last", [0, 1])
def test_of_threads_at_once_one_sets_the_limit(two_threads, last):
    inside = [one_blas_thread(), one_blas_thread()]
    with ThreadPoolExecutor(1) as first, ThreadPoolExecutor(1) as second:
        threads = list(zip((first, second), inside, strict=True))
        for thread, context in threads:
            thread.submit(context.__enter__).result()
            assert blas_threads() == [1] * len(two_threads)
        for thread, context in threads if last else threads[::-1]:
            thread.submit(context.__exit__, None, None, None).result()
        assert blas_threads() == two_threads


def test_an_error_restores_the_limit(two_threads):
    def fail():
        with one_blas_thread(), one_blas_thread():
            raise KeyError(max(blas_threads()))

    for _ in range(2):
        with pytest.raises(KeyError, match="1"):
            in_a_thread(fail)
        assert blas_threads() == two_threads


def test_calls_at_once_leave_no_limit(two_threads):
    graphs = [nx.gnp_random_graph(60, 0.1, seed=seed) for seed in range(40)]
    detector = GraphKDEDetector(views="density", random_state=0).fit(graphs[:30])
    alone = detector.score_samples(graphs[30:])
    with ThreadPoolExecutor(4) as pool:
        at_once = list(pool.map(detector.score_samples, [graphs[30:]] * 8))
    assert blas_threads() == two_threads
    np.testing.assert_array_equal(at_once, [alone] * 8)


def test_scikit_learn_sets_no_limit(monkeypatch):
    """It would restore what it has found, which may be a limit of another thread."""
    calls = spied(monkeypatch, ThreadpoolController, "limit")
    rng, graphs = np.random.RandomState(0), []
    for i in range(60):
        graph = nx.cycle_graph(6 + i % 5)
        graphs.append(with_data(graph, {"feature": lambda _: rng.standard_normal(20).tolist()}))
    results(GraphKDEDetector(schema="all", random_state=0).fit(graphs))
    assert {controller for (controller,) in calls} == {_blas()}


@pytest.mark.slow
@pytest.mark.parametrize("n_fits", [12, 60])
def test_many_fits_at_once(n_fits):
    """In a process of its own, in which DGL is imported for the first time by several threads."""
    result = json.loads(run(PROGRAM, str(n_fits)).splitlines()[-1])
    assert not result["changed"], result
    assert not result["wrong"], result


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_forked_workers_score_and_fit(tmp_path):
    settings = {"OMP_NUM_THREADS": "2", "OMP_WAIT_POLICY": "passive"}
    done = run(FORKS, str(tmp_path / "model.skg"), **settings)
    assert done.split() == ["pool", "fit", "joblib", "loader"]

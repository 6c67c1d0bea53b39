"""A child that is forked computes: it has none of the threads that its parent had."""

import os
import subprocess
import sys

import pytest

PROGRAM = """
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

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")


@pytest.mark.slow
def test_forked_workers_score_and_fit(tmp_path):
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROGRAM, str(tmp_path / "model.skg")],
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
        env={**os.environ, "OMP_NUM_THREADS": "2", "OMP_WAIT_POLICY": "passive"},
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.split() == ["pool", "fit", "joblib", "loader"]

"""Scores from several processes: joblib's own, and those of a Dask cluster."""

import pickle

import numpy as np
import pytest
from joblib import parallel_config
from sklearn import config_context, get_config

from skgraphkde import GraphKDEDetector, read_graphs
from skgraphkde.detectors import processes
from skgraphkde.detectors.processes import GRAPHS_PER_PART, in_parallel
from tests.conftest import random_graphs, spied

DETECTOR = GraphKDEDetector(random_state=0).fit(random_graphs(20, seed=1))
SOME = read_graphs(random_graphs(50, seed=2, max_nodes=40))
#: Enough graphs for four parts, of very different sizes.
MANY = SOME[np.random.RandomState(0).randint(50, size=4 * GRAPHS_PER_PART)]


@pytest.fixture(scope="module")
def expected():
    return DETECTOR.score_samples(MANY)


def node_counts(graphs):
    return graphs.n_nodes_per_graph.astype(float)


# -- parts -----------------------------------------------------------------------------------------


def test_parts_hold_every_graph_once_in_order_and_are_of_one_size():
    sizes = []

    def function(graphs):
        sizes.append(graphs.n_nodes)
        return node_counts(graphs)

    with parallel_config("threading"):
        values = in_parallel(function, MANY, n_jobs=2)
    np.testing.assert_array_equal(values, MANY.n_nodes_per_graph)
    assert len(sizes) == 2
    assert max(sizes) - min(sizes) <= 2 * 40


@pytest.mark.parametrize(("n_graphs", "n_jobs"), [(2 * GRAPHS_PER_PART - 1, 2), (2000, 1)])
def test_few_graphs_and_one_process_stay_here(monkeypatch, n_graphs, n_jobs):
    monkeypatch.setattr(processes, "Parallel", None)
    assert len(in_parallel(node_counts, MANY[:n_graphs], n_jobs)) == n_graphs


# -- joblib ----------------------------------------------------------------------------------------


# loky starts Python anew, which takes seconds.
LOKY = pytest.param("loky", marks=pytest.mark.slow)


@pytest.mark.parametrize("backend", [LOKY, "threading", "multiprocessing"])
def test_scores_are_those_of_one_process(backend, expected):
    with parallel_config(backend, n_jobs=2):
        np.testing.assert_allclose(DETECTOR.score_samples(MANY), expected, rtol=1e-9)


@pytest.mark.parametrize("backend", [LOKY, "threading"])
def test_working_memory_reaches_the_workers(backend):
    def memory(graphs):
        return np.full(len(graphs), float(get_config()["working_memory"]))

    with parallel_config(backend), config_context(working_memory=7):
        np.testing.assert_array_equal(in_parallel(memory, MANY, n_jobs=2), 7.0)


def test_n_jobs_of_the_detector(expected, monkeypatch):
    used = spied(monkeypatch, processes, "Parallel")
    with_jobs = pickle.loads(pickle.dumps(DETECTOR)).set_params(n_jobs=2)
    with parallel_config("threading"):
        np.testing.assert_allclose(with_jobs.score_samples(MANY), expected, rtol=1e-9)
        np.testing.assert_array_equal(
            with_jobs.predict(MANY), np.where(expected < DETECTOR.offset_, -1, 1)
        )
    assert used == [(2,), (2,)]

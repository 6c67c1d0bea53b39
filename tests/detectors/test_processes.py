"""Scores from several processes: joblib's own, and those of a Dask cluster."""

import contextlib
import os
import pickle
import signal

import networkx as nx
import numpy as np
import pytest
from joblib import parallel_config
from sklearn import config_context, get_config
from sklearn.model_selection import GridSearchCV

from skgraphkde import GraphKDEDetector, read_graphs
from skgraphkde.detectors import processes
from skgraphkde.detectors.processes import GRAPHS_PER_PART, in_parallel
from tests.conftest import random_graphs


@pytest.fixture(scope="module")
def detector():
    return GraphKDEDetector(random_state=0).fit(random_graphs(20, seed=1))


@pytest.fixture(scope="module")
def many():
    """Enough graphs for four parts, of very different sizes."""
    some = read_graphs(random_graphs(50, seed=2, max_nodes=40))
    return some[np.random.RandomState(0).randint(50, size=4 * GRAPHS_PER_PART)]


@pytest.fixture(scope="module")
def expected(detector, many):
    return detector.score_samples(many)


def node_counts(graphs):
    return graphs.n_nodes_per_graph.astype(float)


# -- parts -----------------------------------------------------------------------------------------


def test_parts_hold_every_graph_once_in_order_and_are_of_one_size(many):
    sizes = []

    def function(graphs):
        sizes.append(graphs.n_nodes)
        return node_counts(graphs)

    with parallel_config("threading"):
        values = in_parallel(function, many, n_jobs=2)
    np.testing.assert_array_equal(values, many.n_nodes_per_graph)
    assert len(sizes) == 4
    assert max(sizes) - min(sizes) <= 2 * 40


def test_one_graph_with_most_of_the_nodes():
    graphs = read_graphs([nx.path_graph(5000), *(nx.path_graph(2) for _ in range(1200))])
    with parallel_config("threading"):
        values = in_parallel(node_counts, graphs, n_jobs=2)
    np.testing.assert_array_equal(values, graphs.n_nodes_per_graph)


@pytest.mark.parametrize(("n_graphs", "n_jobs"), [(2 * GRAPHS_PER_PART - 1, 2), (2000, 1)])
def test_few_graphs_and_one_process_stay_here(monkeypatch, many, n_graphs, n_jobs):
    monkeypatch.setattr(processes, "Parallel", None)
    assert len(in_parallel(node_counts, many[:n_graphs], n_jobs)) == n_graphs


def test_no_networkx_graph_travels(many):
    assert b"networkx" not in pickle.dumps(many[:3])


# -- joblib ----------------------------------------------------------------------------------------


# loky starts Python anew, which takes seconds.
LOKY = pytest.param("loky", marks=pytest.mark.slow)


@pytest.mark.parametrize("backend", [LOKY, "threading", "multiprocessing"])
def test_scores_are_those_of_one_process(backend, detector, many, expected):
    with parallel_config(backend, n_jobs=2):
        np.testing.assert_allclose(detector.score_samples(many), expected, rtol=1e-9)


@pytest.mark.parametrize("backend", [LOKY, "threading"])
def test_working_memory_reaches_the_workers(backend, many):
    def memory(graphs):
        return np.full(len(graphs), float(get_config()["working_memory"]))

    with parallel_config(backend), config_context(working_memory=7):
        np.testing.assert_array_equal(in_parallel(memory, many, n_jobs=2), 7.0)


def test_n_jobs_of_the_detector(detector, many, expected, monkeypatch):
    used, parallel = [], processes.Parallel
    monkeypatch.setattr(processes, "Parallel", lambda n: used.append(n) or parallel(n))
    with_jobs = pickle.loads(pickle.dumps(detector)).set_params(n_jobs=2)
    with parallel_config("threading"):
        np.testing.assert_allclose(with_jobs.score_samples(many), expected, rtol=1e-9)
        np.testing.assert_array_equal(
            with_jobs.predict(many), np.where(expected < detector.offset_, -1, 1)
        )
    assert used == [2, 2]


def test_errors_name_the_graph_by_its_index_among_all(detector, many, monkeypatch):
    scores = np.zeros(len(many))
    scores[1700] = np.nan
    monkeypatch.setattr("skgraphkde.detectors.base.in_parallel", lambda *_: scores)
    with pytest.raises(ValueError, match="graph 1700 is not a finite number"):
        detector.score_samples(many)


# -- a cluster of two processes --------------------------------------------------------------------


@pytest.fixture(scope="module")
def client():
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, memory_limit=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture
def files(tmp_path):
    graphs = random_graphs(24, seed=3)
    for i, graph in enumerate(graphs):
        plain = nx.Graph()
        plain.add_nodes_from(graph)
        plain.add_edges_from(graph.edges)
        nx.write_graphml(plain, tmp_path / f"{i:02}.graphml")
    return sorted(tmp_path.iterdir())


def score_files(paths, detector):
    """A partition of a Dask bag."""
    return detector.score_samples([nx.read_graphml(path) for path in paths]).tolist()


def die_once(path):
    """Kill the worker that comes here first."""
    with contextlib.suppress(FileExistsError), open(path, "x"):
        os.kill(os.getpid(), signal.SIGKILL)


needs_signals = pytest.mark.skipif(
    not hasattr(signal, "SIGKILL"), reason="this system does not kill processes by signals"
)


@pytest.mark.slow
def test_scores_from_a_cluster(client, detector, many, expected):
    with parallel_config("dask"):
        np.testing.assert_allclose(detector.score_samples(many), expected, rtol=1e-9)


@pytest.mark.slow
def test_grid_search_on_a_cluster(client):
    graphs = read_graphs(random_graphs(30, seed=4))
    search = GridSearchCV(GraphKDEDetector(random_state=0), {"encoder__n_layers": [0, 1]}, cv=2)
    here = search.fit(graphs).cv_results_["mean_test_score"]
    with parallel_config("dask"):
        there = search.fit(graphs).cv_results_["mean_test_score"]
    np.testing.assert_allclose(there, here, rtol=1e-9)


@pytest.mark.slow
@needs_signals
@pytest.mark.usefixtures("client")
def test_a_worker_killed_half_way_costs_no_score(detector, many, expected, tmp_path):
    flag, here = str(tmp_path / "died"), os.getpid()

    def score_and_die(graphs):
        assert os.getpid() != here, "no worker computes"
        scores = detector.score_samples(graphs)
        die_once(flag)
        return scores

    with parallel_config("dask"):
        scores = in_parallel(score_and_die, many, n_jobs=None)
    assert os.path.exists(flag), "no worker was killed"
    np.testing.assert_allclose(scores, expected, rtol=1e-9)


@pytest.mark.slow
@needs_signals
def test_a_bag_of_files_survives_a_killed_worker(client, files, tmp_path, detector):
    bag = pytest.importorskip("dask.bag")

    def score_or_die(paths, detector):
        paths = list(paths)
        if paths[0].name == "12.graphml":
            die_once(flag)
        return score_files(paths, detector)

    flag = str(tmp_path / "died")
    plain = GraphKDEDetector().fit([nx.read_graphml(path) for path in files[:12]])
    scores = bag.from_sequence(files, npartitions=4).map_partitions(score_or_die, plain).compute()
    assert os.path.exists(flag), "no worker was killed"
    np.testing.assert_allclose(scores, score_files(files, plain), rtol=1e-9)

"""The harness of the benchmarks, on a table that costs nothing."""

import importlib
import importlib.util
import json
import os
import subprocess
import sys
import types
from contextlib import suppress
from pathlib import Path
from unittest import SkipTest

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator
from sklearn.neighbors import KernelDensity
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

if any(importlib.util.find_spec(package) is None for package in ("pandas", "tabulate")):
    pytest.skip("the benchmarks are not installed", allow_module_level=True)

import skgraphkde
from benchmarks import __main__ as command_line
from benchmarks import harness, paper_protocol, random_graphs, render
from skgraphkde import (
    GCN,
    MMD,
    Contrastive,
    Density,
    GraphKDEDetector,
    Neighbors,
    NodeFeatures,
    Novelty,
    Numbers,
    Split,
    Statistics,
    Tanimoto,
    Twins,
    load,
    paper_settings,
    read_graphs,
)
from skgraphkde.datasets import load_mutag
from skgraphkde.testing import _checks as checks
from skgraphkde.testing import graph_estimator_checks


class Guess(BaseEstimator):
    def __init__(self, offset=0.0):
        self.offset = offset


@pytest.fixture
def table(monkeypatch):
    """Two data sets, three folds; calls are written down, and fold 2 of "b" fails once."""
    table = types.ModuleType("a_table")
    table.offset, table.calls, table.failures = 0.0, [], 1
    table.cells = lambda datasets, n_folds: [
        {"dataset": dataset, "fold": fold} for dataset in datasets for fold in range(n_folds)
    ]
    table.estimator = lambda dataset, fold: Guess(table.offset)

    def measure(estimator, dataset, fold):
        table.calls.append((dataset, fold))
        if (dataset, fold) == ("b", 2) and table.failures:
            table.failures -= 1
            raise RuntimeError("out of luck")
        return {"auroc": 50.0 + fold + estimator.offset}

    table.measure = measure
    monkeypatch.setitem(sys.modules, "a_table", table)
    return table


def run(table, path, n_folds=3):
    return harness.run(table, table.cells(["a", "b"], n_folds), 1, path)


def test_a_failed_cell_is_empty_and_tried_again(table, tmp_path, capsys):
    path = tmp_path / "results" / "a_table.csv"
    assert run(table, path) == 1
    assert "out of luck" in capsys.readouterr().err
    assert len(harness.read(table, path)) == 5
    assert run(table, path) == 0
    assert table.calls[6:] == [("b", 2)]
    rows = harness.read(table, path)
    assert len(rows) == 6
    assert rows[["dataset", "fold", "auroc"]].to_numpy().tolist()[-1] == ["b", 2, 52.0]
    assert {"settings", "versions", "machine", "threads", "seconds"} <= set(rows)


@pytest.mark.parametrize("n_bytes", [1, 30, 200])
def test_a_killed_run_resumes(table, tmp_path, n_bytes):
    path = tmp_path / "a_table.csv"
    table.failures = 0
    run(table, path)
    whole = harness.read(table, path)
    path.write_bytes(path.read_bytes()[:-n_bytes])  # killed while it wrote
    table.calls.clear()
    run(table, path)
    assert 0 < len(table.calls) < 6
    again = harness.read(table, path)
    pd.testing.assert_frame_equal(
        whole[["dataset", "fold", "auroc"]],
        again[["dataset", "fold", "auroc"]].reset_index(drop=True),
    )


def test_more_folds_add_to_what_is_there(table, tmp_path):
    path = tmp_path / "a_table.csv"
    run(table, path, n_folds=1)
    run(table, path, n_folds=2)
    assert table.calls == [("a", 0), ("b", 0), ("a", 1), ("b", 1)]


def test_other_settings_are_measured_anew(table, tmp_path):
    path = tmp_path / "a_table.csv"
    run(table, path, n_folds=1)
    table.offset = 7.0
    assert harness.read(table, path).empty
    run(table, path, n_folds=1)
    assert harness.read(table, path)["auroc"].tolist() == [57.0, 57.0]
    table.offset = 0.0
    assert harness.read(table, path)["auroc"].tolist() == [50.0, 50.0]


def settings_of(estimator):
    table = types.SimpleNamespace(estimator=lambda: estimator)
    return harness.settings(table, {})


def test_settings_have_all_parameters():
    settings = json.loads(settings_of(GraphKDEDetector(**paper_settings(), random_state=3)))
    assert settings["class"] == "GraphKDEDetector"
    assert settings["random_state"] == 3
    assert settings["references"] is None
    assert settings["encoder"] == (
        "GCN(backend='auto', batch_norm=True, dropout=0.2, hidden_dim=128, n_layers=2)"
    )
    assert "twins=Twins(edges=SpectralEdges(energy_thresholds=[0.5, 0.75]" in settings["training"]


@pytest.mark.parametrize(
    ("short", "long"),
    [
        ({"encoder": "gcn"}, {"encoder": GCN()}),
        ({"calibration": "split"}, {"calibration": Split()}),
        ({"training": "contrastive"}, {"training": Contrastive(twins=Twins(edges="spectrum"))}),
        (
            {"views": "density"},
            {"views": Density(MMD(gammas=list(np.array([0.01, 0.1, 1, 10, 100]))))},
        ),
        (
            {},
            {
                "views": (
                    Density(MMD((10.0,), estimator="biased")),
                    Density(MMD((1.0,), estimator="unbiased")),
                    *(Novelty(), Tanimoto(), Neighbors(), Statistics(), Numbers()),
                )
            },
        ),
        ({}, {"n_jobs": 2, "verbose": 1}),
        ({"training": Contrastive()}, {"training": Contrastive(checkpoint="training.pt")}),
    ],
)
def test_equal_settings_are_written_the_same(short, long):
    estimator = GraphKDEDetector(random_state=0)
    texts = [settings_of(GraphKDEDetector(random_state=0, **changes)) for changes in (short, long)]
    assert texts[0] == texts[1]
    assert (texts[0] == settings_of(estimator)) == (not short)


def test_parameters_that_came_later_are_named_if_they_change_something():
    text = settings_of(GraphKDEDetector(encoder=GCN(out_dim=8, last_relu=True)))
    assert "out_dim=8" in text
    assert "last_relu" not in text
    for name, added in harness.ADDED.items():
        defaults = getattr(skgraphkde, name)().get_params(deep=False)
        assert added == {parameter: defaults[parameter] for parameter in added}


def test_the_tables_are_there():
    for package in ("grakel", "netlsd", "pyod", "rdkit"):
        pytest.importorskip(package, reason=f"{package} is not installed")
    for name in command_line.TABLES:
        table = command_line._table(name)
        cells = table.cells(None, 1)
        assert cells
        for cell in cells:
            harness.settings(table, cell)
        assert len({harness._key(cell) for cell in cells}) == len(cells)


@pytest.mark.parametrize("path", sorted(render.PAPER.glob("*.csv")), ids=lambda path: path.stem)
def test_figures_of_the_paper_say_where_they_stand(path):
    assert path.read_text().startswith(("# Table", "# Text"))
    figures = render.read_paper(path.stem)
    assert figures.iloc[:, 2:].select_dtypes("number").notna().any().all()


def test_what_did_not_run_stays_empty():
    rows = pd.DataFrame(
        {
            "dataset": ["A", "A", "B", "A"],
            "method": ["x", "y", "x", "y"],
            "fold": [0, 0, 0, 1],
            "auroc": [60, 69, 80, 71],
        }
    )
    paper = pd.DataFrame({"method": ["X"], "dataset": ["A"], "mean": [61.5], "std": [0.1]})
    text = render.against_paper(rows, "auroc", ["A", "B"], ["x", "y"], paper, {"x": "X"})
    lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines()]
    assert lines[0] == ["method", "A (2)", "B (1)", "mean", "rank"]
    assert lines[2] == ["x", "60.0 (1)", "80.0", "60.0", "2.0"]
    assert lines[3] == ["*in the paper*", "*61.5*", "", "*61.5*", ""]
    assert lines[4] == ["y", "70.0 ± 1.0", "", "70.0", "1.0"]
    assert "Mean and rank over A." in text


# -- peers -----------------------------------------------------------------------------------------

# Module, class, parameters, and the packages that the module needs.
PEERS = {
    "size": ("size", "SizeKDE", {}, []),
    "PK-SVM": (
        "graph_kernel",
        "GraphKernelDetector",
        {"kernel": "propagation", "detector": "one_class_svm"},
        ["grakel"],
    ),
    "WL-iF": (
        "graph_kernel",
        "GraphKernelDetector",
        {"kernel": "weisfeiler_lehman", "detector": "isolation_forest"},
        ["grakel"],
    ),
    "NetLSD+iF": (
        "descriptors",
        "DescriptorDetector",
        {"descriptor": "netlsd"},
        ["netlsd", "pyod"],
    ),
    "statistics+ECOD": (
        "descriptors",
        "DescriptorDetector",
        {"descriptor": "statistics"},
        ["netlsd", "pyod"],
    ),
    "GAE+KDE": ("graph_autoencoder", "GraphAutoencoderKDE", {"max_iter": 1}, []),
    "InfoGraph+KDE": ("infograph", "InfoGraphKDE", {"max_iter": 1}, []),
    "OCGIN": ("ocgin", "OCGIN", {"max_iter": 2}, []),
    "OCGTL": ("ocgtl", "OCGTL", {"max_iter": 1, "hidden_dim": 8, "n_layers": 2}, []),
    "GLocalKD": ("glocalkd", "GLocalKD", {"max_iter": 1, "hidden_dim": 32}, []),
    "SIGNET": ("signet", "SIGNET", {"max_iter": 1, "n_layers": 2}, []),
}
# Graphs without edges look alike to NetLSD, so that no threshold can flag a tenth of the graphs; a
# forest of kernel rows takes graphs that resemble nothing for typical ones.
BLIND = {"NetLSD+iF": "check_contamination", "WL-iF": "check_anomalies_score_lower"}
# One epoch does not train them; `python -m benchmarks planted` has what they learn in more.
UNTRAINED = {"GLocalKD": "check_anomalies_score_lower", "SIGNET": "check_anomalies_score_lower"}
SMALL_FOREST = {"n_estimators": 20}


def peer(name, **changes):
    module, cls, parameters, packages = PEERS[name]
    for package in packages:
        pytest.importorskip(package, reason=f"{package} is not installed")
    detector = getattr(importlib.import_module(f"benchmarks.peers.{module}"), cls)
    return detector(**{**parameters, **changes})


@pytest.fixture(scope="module")
def molecules():
    return load_mutag().graphs


def trees_and_complete_graphs():
    rng = np.random.RandomState(0)
    graphs = [nx.random_labeled_tree(n, seed=n) for n in range(6, 22)]
    graphs += [nx.complete_graph(n) for n in range(22, 26)]
    for graph in graphs:
        graph.graph["anomaly"] = nx.density(graph) == 1
        for node in graph:
            graph.nodes[node].update(label="ab"[node % 2], x=rng.standard_normal(2))
    return graphs


def slow(names):
    return [pytest.param(name, marks=pytest.mark.slow) for name in names]


# One without training, and one with it.
QUICK = ("size", "GAE+KDE")
# Those that take longest, whose code the others share.
SHARED = ("InfoGraph+KDE", "OCGTL", "NetLSD+iF")


@pytest.mark.parametrize("name", ["size", *slow(x for x in PEERS if x not in ("size", *SHARED))])
def test_peers_keep_the_contract(name, monkeypatch):
    detector = peer(name)
    module = sys.modules[type(detector).__module__]
    if hasattr(module, "IsolationForest"):  # 200 trees take 10 times as long
        forest = module.IsolationForest
        monkeypatch.setattr(module, "IsolationForest", lambda **x: forest(**x | SMALL_FOREST))
    with threadpool_limits(1):  # threads would wait for each other longer than they compute
        for _, check in graph_estimator_checks(detector):
            if check.__name__ == BLIND.get(name):
                with pytest.raises(AssertionError):
                    check(detector)
                getattr(checks, check.__name__)(detector, trees_and_complete_graphs())
            elif check.__name__ != UNTRAINED.get(name):
                with suppress(SkipTest):
                    check(detector)


@pytest.mark.filterwarnings("ignore:node labels that fit did not see")
@pytest.mark.parametrize("random_state", [0, pytest.param(None, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", [*QUICK, *slow(x for x in PEERS if x not in QUICK)])
def test_peers_can_be_saved(name, random_state, molecules, tmp_path):
    detector = peer(name, random_state=random_state).fit(molecules[:40])
    detector.save(tmp_path / "peer.skg")
    loaded = load(tmp_path / "peer.skg")
    assert type(loaded) is type(detector)
    assert loaded.offset_ == detector.offset_
    expected, scores = (d.score_samples(molecules[40:60]) for d in (detector, loaded))
    np.testing.assert_array_equal(scores, expected)


@pytest.mark.parametrize("name", ["PK-SVM", "WL-iF", "statistics+ECOD"])
def test_labels_that_training_has_not_seen(name, molecules):
    """GraKeL draws random numbers for them, for all graphs of a call together."""
    graphs = molecules[:12].to_networkx()
    for i, graph in enumerate(graphs[8:]):
        nx.set_node_attributes(graph, {0: f"new {i}", 1: "new"}, "label")
    detector = peer(name, random_state=0).fit(graphs[:8])
    together = detector.score_samples(graphs)
    np.testing.assert_array_equal(detector.score_samples(graphs), together)
    alone = np.concatenate([detector.score_samples([graph]) for graph in graphs])
    np.testing.assert_allclose(alone, together, rtol=1e-9)


@pytest.mark.parametrize("name", ["PK-SVM", "WL-iF", "statistics+ECOD", "GAE+KDE"])
def test_graphs_without_the_labels_of_training(name, molecules):
    detector = peer(name).fit(molecules[:20])
    with pytest.raises(ValueError, match="earlier graphs had"):
        detector.score_samples([nx.path_graph(5)])


def test_size_kde_is_that_of_scikit_learn(molecules):
    detector = peer("size").fit(molecules[:60])
    sizes = np.log(np.c_[molecules.n_nodes_per_graph, 1 + molecules.n_edges_per_graph])
    expected = make_pipeline(StandardScaler(), KernelDensity(bandwidth="scott")).fit(sizes[:60])
    np.testing.assert_allclose(
        detector.score_samples(molecules), expected.score_samples(sizes), rtol=1e-9
    )
    standardized = expected[0].transform(sizes[:60])
    others = KernelDensity(bandwidth=60 ** (-1 / 6)).fit(np.delete(standardized, 7, axis=0))
    score = others.score_samples(standardized[7:8])[0]
    assert detector.calibration_scores_[7] == pytest.approx(score, rel=1e-9)


@pytest.mark.parametrize("name", ["PK-SVM"])
def test_peers_in_the_shell(name, tmp_path):
    """Another process, which hashes strings differently, gives the same scores."""
    detector = peer(name, random_state=0)
    for folder, seeds in (("normal", range(20)), ("new", range(20, 24))):
        (tmp_path / folder).mkdir()
        for seed in seeds:
            graph = nx.gnp_random_graph(8 + seed % 7, 0.4, seed=seed)
            nx.set_node_attributes(graph, {node: "CNO"[node % 3] for node in graph}, "label")
            nx.write_graphml(graph, tmp_path / folder / f"{seed:02}.graphml")
    normal, new = (
        read_graphs([nx.read_graphml(path) for path in sorted((tmp_path / folder).iterdir())])
        for folder in ("normal", "new")
    )
    model, named = str(tmp_path / "peer.skg"), type(detector)
    option = ["--detector", f"{named.__module__}:{named.__name__}"]
    settings = [f"--set={key}={value}" for key, value in PEERS[name][2].items()]
    shell(["fit", str(tmp_path / "normal"), "-o", model, *option, *settings])
    lines = shell(["score", model, str(tmp_path / "new"), *option]).splitlines()
    scores = [float(line.split(",")[1]) for line in lines[1:]]
    # Sums over 20 graphs, of kernels of size 1, may be rounded differently in another process.
    expected = detector.fit(normal).score_samples(new)
    np.testing.assert_allclose(scores, expected, rtol=1e-9, atol=1e-12)


def shell(arguments):
    result = subprocess.run(
        [sys.executable, "-m", "skgraphkde", *arguments],
        cwd=Path(__file__).parents[1],
        env={**os.environ, "PYTHONHASHSEED": "7"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


# -- the paper's protocol --------------------------------------------------------------------------

DEGREES = NodeFeatures(("degree",))


def test_recorded_scores_are_those_of_the_detector():
    train, test = (load_mutag().graphs[part] for part in (slice(30), slice(30, 50)))
    training = Contrastive(4, learning_rate=0.1)
    settings = paper_settings(features=DEGREES, encoder=GCN(8), training=training)
    detector = GraphKDEDetector(**settings, random_state=0)
    recorded = paper_protocol.scores_by_epoch(detector, train, test)
    assert len(recorded) == 5
    kept = int(np.argmin(detector.history_["validation_loss"]))
    # In single precision the distance between equal graphs is 1e-3 or so, and h = 0.01 sees it.
    np.testing.assert_allclose(recorded[kept], detector.score_samples(test), atol=0.01)
    assert np.abs(recorded[0] - recorded[4]).max() > 0.05
    alone = GraphKDEDetector(**settings, random_state=0).fit(train)
    np.testing.assert_array_equal(detector.score_samples(test), alone.score_samples(test))


@pytest.mark.parametrize(
    ("losses", "epoch"), [([3, 1, 2, 1, 1, 0], 1), ([1, 2, 2, 2], 0), ([3, 2, 1, 0, -1, -2], 5)]
)
def test_the_epoch_at_which_the_package_stops(losses, epoch):
    """As in the test of the trainer."""
    assert paper_protocol.stopped_at(losses, patience=3) == epoch


def test_the_random_split_has_all_anomalies_in_its_test(monkeypatch):
    data = load_mutag()
    monkeypatch.setattr(paper_protocol, "load", lambda dataset: data)
    train, test, y = paper_protocol.random_split("MUTAG", 0)
    assert len(train) == 100
    assert (len(test), (y == -1).sum()) == (88, 63)
    first = paper_protocol.random_split("MUTAG", 1)[0].n_nodes_per_graph
    assert first.tolist() != train.n_nodes_per_graph.tolist()


@pytest.mark.parametrize(
    "family", ["erdos_renyi", "barabasi_albert", "watts_strogatz", "stochastic_block"]
)
def test_makers_of_random_graphs(family):
    make = getattr(random_graphs, f"make_{family}")
    drawn, again = (make(6, 4, n_nodes=(10, 15), random_state=0) for _ in range(2))
    assert drawn.target.tolist() == [1] * 6 + [-1] * 4
    assert np.isfinite(drawn.density).all()
    assert (again.graphs.adjacency != drawn.graphs.adjacency).nnz == 0
    sizes = drawn.graphs.n_nodes_per_graph
    assert 10 <= sizes.min() <= sizes.max() <= 15
    np.testing.assert_allclose(
        drawn.graphs.attributes[:, 0] * (np.repeat(sizes, sizes) - 1), drawn.graphs.degrees
    )


@pytest.mark.parametrize(("scenario", "mean"), [("in_distribution", 0.5), ("sparse", 0.3)])
def test_a_distribution_shifts(scenario, mean):
    drawn = random_graphs.make_distribution_shift(scenario, n_train=99, n_test=99, random_state=0)
    for graphs, expected in ((drawn.train, 0.5), (drawn.test[:99], mean)):
        n = graphs.n_nodes_per_graph
        shares = graphs.n_edges_per_graph / (n * (n - 1) / 2)
        assert shares.mean() == pytest.approx(expected, abs=0.04)

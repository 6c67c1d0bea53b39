"""The harness of the benchmarks, on a table that costs nothing; peers; the paper's protocol."""

import sys
import types

import networkx as nx
import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from threadpoolctl import threadpool_limits

pytest.importorskip("tabulate", reason="the benchmarks are not installed")

from benchmarks import __main__ as command_line
from benchmarks import gpu, harness, lgkde, paper_protocol, protocol, referee, render, sampling
from benchmarks.methods import DEEP, METHODS
from benchmarks.paper_tables import MAKERS, RandomEdges, Readout
from benchmarks.peers.two_stage import GAEKDE, InfoGraphKDE
from skgraphkde import LGKDE, NodeFeatures
from skgraphkde.core.distances.measures import DiscreteMeasures
from skgraphkde.core.distances.mmd import FIVE_DECADES
from skgraphkde.datasets import load_mutag
from tests.estimator_checks import check_graph_detector


@pytest.fixture
def table(monkeypatch):
    """Two data sets, three folds; calls are written down, and fold 2 of "b" fails once."""
    table = types.ModuleType("a_table")
    table.calls, table.failures = [], 1
    table.cells = lambda datasets, n_folds: [
        {"dataset": dataset, "fold": fold} for dataset in datasets for fold in range(n_folds)
    ]
    table.estimator = lambda dataset, fold: BaseEstimator()

    def measure(estimator, dataset, fold):
        table.calls.append((dataset, fold))
        if (dataset, fold) == ("b", 2) and table.failures:
            table.failures -= 1
            raise RuntimeError("out of luck")
        return {"auroc": 50.0 + fold}

    table.measure = measure
    monkeypatch.setitem(sys.modules, "benchmarks.a_table", table)
    return table


@pytest.mark.parametrize("n_bytes", [1, 30, 200])
def test_a_run_that_failed_or_was_killed_is_completed_by_the_next(table, tmp_path, capsys, n_bytes):
    def run(n_folds):
        return harness.run("a_table", table.cells(["a", "b"], n_folds), 1, path)

    path = tmp_path / "results" / "a_table.csv"
    assert (run(1), run(3)) == (0, 1)  # more folds add to what is there
    assert "out of luck" in capsys.readouterr().err
    assert len(harness.read(path)) == 5
    path.write_bytes(path.read_bytes()[:-n_bytes])  # killed while it wrote
    table.calls.clear()
    assert run(3) == 0
    assert ("b", 2) in table.calls
    assert len(table.calls) < 6
    rows = harness.read(path)
    expected = [[x, fold, 50.0 + fold] for x in "ab" for fold in range(3)]
    assert sorted(rows[["dataset", "fold", "auroc"]].to_numpy().tolist()) == expected
    assert {"settings", "versions", "machine", "threads", "seconds"} <= set(rows)


@pytest.mark.parametrize("name", command_line.TABLES)
def test_tables_have_cells_and_their_pages_are_those_of_the_results(name, monkeypatch, tmp_path):
    """Peers need packages of their own; a page needs none of these."""
    table = harness.find_table(name)
    cells = table.cells(None, 1)
    assert len({tuple(cell.values()) for cell in cells}) == len(cells) > 0
    ours = [cell for cell in cells if cell.get("method") not in METHODS]
    for cell in ours:
        table.estimator(**cell)
    page = (command_line.DOCS / f"{name}.md").read_text(encoding="utf-8")
    monkeypatch.setattr(command_line, "DOCS", tmp_path)
    assert command_line.render(name, harness.RESULTS) == page


@pytest.mark.filterwarnings("ignore:node categories that fit did not see")
@pytest.mark.parametrize("name", ["masking", "typed"])
def test_a_cell_of_a_table_that_needs_no_data_runs(name):
    table = harness.find_table(name)
    cell = table.cells(None, 1)[0]
    values = table.measure(table.estimator(**cell), **cell)
    assert all(np.isfinite(value) for value in values.values())


@pytest.mark.parametrize("path", sorted(render.PAPER.glob("*.csv")), ids=lambda path: path.stem)
def test_figures_of_the_paper_say_where_they_stand(path):
    assert path.read_text().startswith(("# Table", "# Text"))
    figures = render.read_paper(path.stem)
    assert figures.iloc[:, 2:].select_dtypes("number").notna().any().all()


def test_what_is_measured_on_a_card_runs_on_the_cpu(monkeypatch):
    graphs = load_mutag().graphs
    monkeypatch.setattr(gpu, "load", lambda dataset: graphs)
    monkeypatch.setattr(gpu, "fold", lambda graphs, index: (graphs[:60], graphs[:10], None))
    monkeypatch.setattr(gpu, "DEVICES", ("cpu", "cpu"))
    row = gpu.measure("MUTAG", gpu.ONE_EPOCH)
    assert (row["scores differ by"], row["distances differ by"]) == ("0", "0")


def test_weights_that_are_learned_after_the_network_leave_the_network():
    graphs = load_mutag().graphs[:20]
    settings = {"hidden_dim": 4, "learn_encoder": True, "max_iter": 2, "random_state": 0}
    both, network = (kind(**settings).fit(graphs) for kind in (lgkde.WeightsAfter, LGKDE))
    np.testing.assert_array_equal(*(x.pairwise_distances(graphs) for x in (both, network)))
    assert np.abs(both.mixture_weights_ - network.mixture_weights_).max() > 1e-3


class Oracle:
    """Scores and p-values of graphs that are numbers: odd ones are negative."""

    def fit(self, graphs):
        assert (graphs >= 0).all()

    def score_samples(self, graphs):
        return graphs

    def p_values(self, graphs):
        return np.where(graphs < 0, 1e-4, 0.5)


def test_the_referee_finds_all_that_an_oracle_finds(monkeypatch):
    numbers = np.r_[np.arange(100.0), -1 - np.arange(60.0)]
    fold = (np.arange(50.0), numbers, np.where(numbers < 0, -1, 1))
    monkeypatch.setattr(referee.suites, "fold", lambda case, index: fold)
    values = referee.measure(Oracle(), "T/MUTAG", "oracle", 0)
    assert (values["auroc"], values["alarms"]) == (100, 0)
    for prevalence in referee.PREVALENCES:
        of_list = [values[f"{name}_{prevalence}"] for name in ("precision", "fdp", "power")]
        assert of_list == [100, 0, 1]


class ByPlace(Oracle):
    """Scores by the place in the list: normal graphs are first in a fold."""

    def score_samples(self, graphs):
        return -np.arange(len(graphs))


def test_the_referee_sees_who_looks_at_the_list(monkeypatch):
    numbers = np.r_[np.arange(100.0), -1 - np.arange(60.0)]
    fold = (np.arange(50.0), numbers, np.where(numbers < 0, -1, 1))
    monkeypatch.setattr(referee.suites, "fold", lambda case, index: fold)
    values = referee.measure(ByPlace(), "T/MUTAG", "by place", 0)
    assert 35 < values["auroc"] < 65


def test_a_list_of_the_referee_by_hand():
    is_odd = np.array([True, False, True, False, False])
    scores = np.array([0.1, 0.2, 0.3, 0.4, 0.5])
    p_values = np.array([0.01, 0.02, 0.03, 0.5, 0.9])  # three are found at alpha = .1
    precision, fdp, power = referee._of_list(is_odd, scores, p_values)
    assert precision == pytest.approx(100 * (1 / 1 + 2 / 3) / 2)
    assert (fdp, power) == (pytest.approx(1 / 3), 1)


# -- peers -----------------------------------------------------------------------------------------


def peer(name):
    packages = {"NetLSD+iF": "netlsd", "statistics+ECOD": "netlsd"}  # one module has both
    if name in packages or name[:2] in ("PK", "WL"):
        pytest.importorskip(packages.get(name, "grakel"))
    return METHODS[name](0).set_params(
        **({"max_iter": 2, "hidden_dim": 8, "n_layers": 2} if name in DEEP else {})
    )


@pytest.mark.filterwarnings("ignore:node categories that fit did not see")
@pytest.mark.parametrize(
    "name",
    [
        x if x == "size only" else pytest.param(x, marks=pytest.mark.slow)
        for x in tuple(METHODS)[5:]
    ],
)
def test_peers_keep_the_contract(name):
    graphs = load_mutag().graphs[:20].to_networkx()
    for i, graph in enumerate(graphs[12:]):  # GraKeL draws random numbers for labels that are new
        nx.set_node_attributes(graph, {0: f"new {i}"}, "label")
    with threadpool_limits(1):  # threads would wait for each other longer than they compute
        check_graph_detector(peer(name), graphs)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:node categories that fit did not see")
@pytest.mark.parametrize("kind", [GAEKDE, InfoGraphKDE])
def test_two_stages_keep_the_contract(kind):
    graphs = load_mutag().graphs[:20].to_networkx()
    with threadpool_limits(1):
        check_graph_detector(kind(max_iter=2, hidden_dim=8, n_layers=2, random_state=0), graphs)


def test_the_density_of_two_stages_is_that_of_the_vectors():
    graphs = load_mutag().graphs[:12]
    detector = GAEKDE(max_iter=1, hidden_dim=8, random_state=0).fit(graphs)
    points = detector.network_(detector.features_.transform_batch(graphs)).detach().numpy()
    vectors = [x.mean(axis=0) for x in np.split(points, graphs.node_ptr[1:-1])]
    for vector, score in zip(vectors, detector.score_samples(graphs), strict=True):
        d = [np.linalg.norm(vector - other) for other in vectors]
        kernels = [
            np.exp(-((np.array(d) / h) ** 2) / 2) / (np.sqrt(2 * np.pi) * h) for h in FIVE_DECADES
        ]
        assert score == pytest.approx(np.log(np.mean(kernels)), abs=1e-6)


def test_the_loss_of_an_autoencoder_by_hand():
    graphs = load_mutag().graphs[:3]
    detector = GAEKDE(max_iter=1, hidden_dim=8, random_state=0).fit(graphs)
    graphs = detector.features_.transform_batch(graphs)
    points = detector.network_(graphs).detach().numpy()
    losses = {True: [], False: []}
    for first, last in zip(graphs.node_ptr, graphs.node_ptr[1:], strict=False):
        for u in range(first, last):
            for v in range(first, last):
                is_linked = u == v or graphs.adjacency[u, v] > 0
                logit = points[u] @ points[v]
                losses[is_linked].append(np.log1p(np.exp(-logit if is_linked else logit)))
    n_pairs = sum(map(len, losses.values()))
    weight = len(losses[False]) / len(losses[True])
    expected = (weight * sum(losses[True]) + sum(losses[False])) / n_pairs
    assert detector._loss(detector.network_, graphs).item() == pytest.approx(expected)


def test_readouts_are_distances_of_means_and_of_sums():
    points = np.random.default_rng(0).normal(size=(7, 2))
    measures = DiscreteMeasures.from_clouds(points, np.array([0, 3, 7]))
    for of_sums, read in ((False, np.mean), (True, np.sum)):
        squared = Readout(of_sums).build(2, 7, np.random.RandomState(0)).squared(measures)
        difference = read(points[:3], axis=0) - read(points[3:], axis=0)
        np.testing.assert_allclose(squared, (difference**2).sum() * (1 - np.eye(2)), atol=1e-12)


def test_random_edges_are_a_fifth_less_or_more():
    graphs = load_mutag().graphs[:10]
    removed, added = RandomEdges(swap=0).structural(graphs, np.random.RandomState(0))
    n = graphs.n_edges_per_graph
    change = np.round(0.2 * n)
    np.testing.assert_array_equal(removed.n_edges_per_graph, n - change)
    np.testing.assert_array_equal(added.n_edges_per_graph, n + change)
    A, less, more = ((x.adjacency > 0).toarray() for x in (graphs, removed, added))
    assert not (less & ~A).any()
    assert not (A & ~more).any()


def test_shares_of_references_follow_the_density():
    density = np.linspace(0, 1, 300)
    rng = np.random.RandomState(0)
    kept = sampling.sampled("stratified", 0.8, density, rng)
    assert np.histogram(kept, [0, 100, 200, 300])[0].tolist() == [90, 80, 70]
    drawn = [sampling.sampled("importance", 0.3, density, rng).mean() for _ in range(200)]
    alike = [sampling.sampled("at random", 0.3, density, rng).mean() for _ in range(200)]
    assert np.mean(alike) == pytest.approx(150, abs=5)
    assert np.mean(drawn) > np.mean(alike) + 5


def test_the_anomaly_of_a_further_set_is_its_rarest_class(monkeypatch):
    classes = np.array([1, 1, -1, 1])
    asked = []

    def fetch(name, anomaly_class):
        asked.append(anomaly_class)
        return types.SimpleNamespace(classes=classes, anomaly_class=anomaly_class)

    monkeypatch.setattr(protocol, "fetch_tu_dataset", fetch)
    protocol.load.cache_clear()
    assert protocol.load("FRANKENSTEIN").anomaly_class == -1
    protocol.load.cache_clear()
    assert asked == [None, -1]


# -- the paper's protocol --------------------------------------------------------------------------


def test_recorded_scores_are_those_of_the_detector():
    train, test = (load_mutag().graphs[part] for part in (slice(30), slice(30, 50)))
    detector = LGKDE.published(
        features=NodeFeatures(("degree",)),
        hidden_dim=8,
        max_iter=4,
        learning_rate=0.1,
        weights_learning_rate=0.1,
        calibration="loo",
        random_state=0,
    )
    recorded = paper_protocol.scores_by_epoch(detector, train, test)
    assert len(recorded) == 5
    kept = int(np.argmin(detector.history_["validation_loss"]))
    # In single precision the distance between equal graphs is 1e-3 or so, and h = 0.01 sees it.
    np.testing.assert_allclose(recorded[kept], detector.score_samples(test), atol=0.01)
    assert np.abs(recorded[0] - recorded[4]).max() > 0.05
    alone = clone(detector).fit(train)
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


# -- random graphs ---------------------------------------------------------------------------------


@pytest.mark.parametrize("family", MAKERS)
def test_makers_of_random_graphs(family):
    drawn, again = (MAKERS[family](6, 4, n_nodes=(10, 15), random_state=0) for _ in range(2))
    assert drawn.target.tolist() == [1] * 6 + [-1] * 4
    assert np.isfinite(drawn.density).all()
    assert (again.graphs.adjacency != drawn.graphs.adjacency).nnz == 0
    sizes = drawn.graphs.n_nodes_per_graph
    assert 10 <= sizes.min() <= sizes.max() <= 15
    degrees = drawn.graphs.attributes[:, 0] * (np.repeat(sizes, sizes) - 1)
    np.testing.assert_allclose(degrees, drawn.graphs.degrees)

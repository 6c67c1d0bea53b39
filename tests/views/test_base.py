"""A view of one's own, in all that a detector does; and what is wrong with some."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from skgraphkde.persistence.registry import _classes
from sklearn.base import clone

import skgraphkde
from skgraphkde import (
    GraphKDEDetector,
    GraphSchema,
    Neighbors,
    Novelty,
    Numbers,
    Rarity,
    References,
    Statistics,
    Tanimoto,
    View,
    read_graphs,
)
from skgraphkde.calibration import finite
from skgraphkde.inspection import explain, view_surprises
from skgraphkde.inspection.results import judge
from skgraphkde.reporting import nodes as page_nodes
from skgraphkde.views.confirmed import Confirmed
from tests.cli.conftest import run
from tests.conftest import densities, permuted, random_graphs
from tests.graphs.test_relations import typed_graphs


class DegreeEntropy(View):
    """Minus the distance of the entropy of degrees to that of the nearest reference."""

    def __init__(self, base=2.0):
        self.base = base

    def fit(self, references):
        self.entropies_ = self._entropies(references)
        return self

    def scores(self, graphs, own):
        away = abs(self._entropies(graphs)[:, np.newaxis] - self.entropies_)
        away[own >= 0, own[own >= 0]] = np.inf
        return -away.min(axis=1)

    def _entropies(self, graphs):
        degrees = np.split(graphs.degrees, graphs.node_ptr[1:-1])
        shares = [np.unique(x, return_counts=True)[1] / len(x) for x in degrees]
        return np.array([-(p * np.log(p)).sum() for p in shares]) / np.log(self.base)


TRAIN, NEW = random_graphs(40, seed=1), random_graphs(9, seed=2)
STAR = nx.star_graph(30)
nx.set_node_attributes(STAR, "C", "label")


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    monkeypatch.setitem(_classes, "DegreeEntropy", DegreeEntropy)


def made(**parameters):
    return GraphKDEDetector(views=(*densities(), DegreeEntropy(), "novelty"), **parameters)


@pytest.fixture(scope="module")
def detector():
    return made().fit(TRAIN)


def entropy_slow(graph, base=2.0):
    degrees = [degree for _, degree in graph.degree]
    shares = [degrees.count(x) / len(degrees) for x in set(degrees)]
    return -sum(p * np.log(p) for p in shares) / np.log(base)


def scores_slow(graphs, references):
    known = [entropy_slow(x) for x in references]
    return [-min(abs(entropy_slow(graph) - x) for x in known) for graph in graphs]


# -- in all that a detector does -------------------------------------------------------------------


def test_it_scores(detector):
    model = detector.model_
    assert model.view_names[2] == "degree entropy"
    scores = model.view_scores(detector.read(NEW))
    np.testing.assert_allclose(scores[2], scores_slow(NEW, TRAIN), atol=1e-12)
    surprises = view_surprises(detector, NEW)
    assert list(surprises) == list(model.view_names)
    np.testing.assert_allclose(-surprises.sum(axis=1), detector.score_samples(NEW), rtol=1e-12)
    without = GraphKDEDetector(views=(*densities(), "novelty")).fit(TRAIN)
    np.testing.assert_allclose(
        (surprises / model.view_weights).drop(columns="degree entropy"),
        view_surprises(without, NEW) / without.model_.view_weights,
    )
    assert detector.predict([STAR]) == [-1]


def test_its_training_scores_leave_the_graph_out(detector):
    expected = [scores_slow([x], TRAIN[:i] + TRAIN[i + 1 :])[0] for i, x in enumerate(TRAIN)]
    np.testing.assert_allclose(detector.model_.training_scores[2], expected, atol=1e-12)


def test_its_training_scores_with_fewer_references():
    """Graphs that are no reference are compared with all of these."""
    detector = made(references=References("uniform", 0.5), random_state=0).fit(TRAIN)
    references = detector.model_.references.to_networkx()
    entropies = [entropy_slow(x) for x in references]
    for graph, score in zip(TRAIN, detector.model_.training_scores[2], strict=True):
        own = [i for i, x in enumerate(references) if nx.utils.graphs_equal(x, graph)]
        others = np.delete(entropies, own[:1])
        assert score == pytest.approx(-abs(entropy_slow(graph) - others).min(), abs=1e-12)


def test_it_takes_part_in_updates():
    window = References("window", max_references=40)
    detector = made(references=window).fit(TRAIN)
    detector.partial_fit(NEW)
    assert len(detector.model_.views[2].entropies_) == 40
    known = [*TRAIN[9:], *NEW]
    new = random_graphs(5, seed=3)
    scores = detector.model_.view_scores(detector.read(new))[2]
    np.testing.assert_allclose(scores, scores_slow(new, known), atol=1e-12)
    before = scores_slow(NEW, TRAIN)
    np.testing.assert_allclose(detector.model_.training_scores[2, -9:], before, atol=1e-12)


def test_it_is_in_files(tmp_path):
    detector = GraphKDEDetector(views=("density", DegreeEntropy(base=3.0)), random_state=0).fit(
        TRAIN
    )
    detector.save(tmp_path / "a.skg")
    loaded = skgraphkde.load(tmp_path / "a.skg")
    np.testing.assert_array_equal(loaded.score_samples(NEW), detector.score_samples(NEW))
    assert loaded.model_.views[1].base == loaded.views[1].base == 3.0
    assert not hasattr(loaded.views[1], "entropies_")
    again = clone(loaded).fit(TRAIN)
    np.testing.assert_array_equal(again.score_samples(NEW), detector.score_samples(NEW))


def test_it_gives_reasons(detector):
    reasons = explain(detector, [STAR], n_reasons=50)
    [found] = reasons[reasons["kind"] == "degree entropy"].itertuples()
    assert found.what == "degree entropy"
    [score] = scores_slow([STAR], TRAIN)
    assert found.reason.startswith(f"degree entropy {score:.3g}; usually ")
    assert found.strength >= 1
    assert found.nodes == found.edges == ()


def test_it_is_in_the_report(detector):
    page = skgraphkde.report(detector, [STAR, *NEW])
    assert "degree entropy" in page


def test_nodes_have_shares_if_it_alone_is_surprised():
    """As the picture has, because there is no novelty that would name nodes."""
    detector = GraphKDEDetector(views=("density", DegreeEntropy())).fit(TRAIN)
    batch = detector.read(random_graphs(40, seed=9, max_nodes=25))
    n_near = 0
    for i, judged in enumerate(judge(detector, batch)):
        nodes = page_nodes.nodes_of(detector, batch[i : i + 1], judged)
        largest = np.argsort(-nodes.shares, kind="stable").tolist()
        others = [node for node in largest if node not in judged.nodes]
        listed = page_nodes.listed(nodes, judged)
        assert listed == judged.nodes + others[: page_nodes.LARGEST]
        n_near += nodes.is_near
    assert n_near > 5


def test_it_is_in_the_shell(detector, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    detector.save("a.skg")
    nx.write_graphml(STAR, "star.graphml")
    assert "degree entropy" in run("score a.skg star.graphml --reasons").stdout
    assert "degree entropy, weight" in run("info a.skg").stdout


# -- those of the library --------------------------------------------------------------------------


def measured_graphs(n_graphs, seed):
    """Graphs with categories and numbers of nodes, of edges, and of the graph."""
    rng, graphs = np.random.RandomState(seed), typed_graphs(n_graphs, seed)
    for graph in graphs:
        nx.set_node_attributes(graph, {v: float(rng.normal()) for v in graph}, "size")
        graph.graph.update(channel="ab"[rng.randint(2)], amount=float(rng.lognormal()))
    return graphs


SCHEMA = GraphSchema(
    node_categories="label",
    node_numbers="size",
    edge_categories="label",
    edge_numbers=("x", "w"),
    graph_categories="channel",
    graph_numbers="amount",
)
OF_LIBRARY = [Novelty(2), Rarity(edges=True), Tanimoto(2), Neighbors(2, 3), Statistics(), Numbers()]


@pytest.mark.parametrize("view", [*OF_LIBRARY, DegreeEntropy(), "confirmed"], ids=str)
@given(seed=st.integers(0, 10**6))
def test_neither_company_nor_the_order_of_nodes_matters(view, seed):
    known, batch = (read_graphs(measured_graphs(n, seed + n), schema=SCHEMA) for n in (8, 5))
    if view == "confirmed":
        verdicts = np.array([-1, 1, -1])
        removed = np.zeros(3, dtype=bool)
        fitted = Confirmed.of(Statistics().fit(known[:5]), known[5:], verdicts, removed)
    else:
        fitted = clone(view).fit(known)
    nobody = np.full(5, -1)
    expected = fitted.scores(batch, nobody)
    np.testing.assert_allclose(fitted.scores(permuted(batch, seed), nobody), expected, atol=1e-9)
    alone = np.hstack([fitted.scores(batch[i], nobody[:1]) for i in range(5)])
    np.testing.assert_allclose(alone, expected, atol=1e-9)


@pytest.mark.parametrize("view", [*OF_LIBRARY, DegreeEntropy()], ids=str)
def test_fitted_views_are_saved_and_not_fitted_again(view, tmp_path, monkeypatch):
    graphs, new = measured_graphs(12, 0), measured_graphs(4, 1)
    detector = GraphKDEDetector(views=("density", view), schema=SCHEMA).fit(graphs)
    assert not [name for name in vars(view) if name.endswith("_")]  # a copy is fitted
    detector.save(tmp_path / "a.skg")

    def fit(self, *arguments):
        pytest.fail("it is fitted again")

    with monkeypatch.context() as patched:
        patched.setattr(type(view), "fit", fit)
        patched.setattr(type(view), "_fit", fit, raising=False)
        loaded = skgraphkde.load(tmp_path / "a.skg")
        np.testing.assert_array_equal(loaded.score_samples(new), detector.score_samples(new))
        assert explain(loaded, new).equals(explain(detector, new))


# -- what is wrong ---------------------------------------------------------------------------------


def test_missing_methods_are_named():
    class Empty(View):
        pass

    class Fitted(View):
        def fit(self, references):
            return self

    for view, message in (
        (Empty(), r"Empty has no method fit\(references\)"),
        (Fitted(), r"Fitted has no method scores\(graphs, own\)"),
    ):
        with pytest.raises(NotImplementedError, match=message):
            GraphKDEDetector(views=("density", view)).fit(TRAIN)


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        (np.zeros((40, 1)), r"Wrong\.scores must return one score for each of 40 graphs"),
        (np.zeros(3), r"Wrong\.scores must return one score for each of 40 graphs, .*\(3,\)"),
        (np.full(40, np.nan), "scores returned nan: scores must be finite"),
    ],
)
def test_scores_that_are_none(scores, message):
    class Wrong(View):
        def fit(self, references):
            return self

        def scores(self, graphs, own):
            return scores

    with pytest.raises(ValueError, match=message):
        GraphKDEDetector(views=("density", Wrong())).fit(TRAIN)


def test_a_view_that_is_not_registered_is_not_saved(tmp_path, monkeypatch):
    detector = made().fit(TRAIN)
    monkeypatch.delitem(_classes, "DegreeEntropy")
    with pytest.raises(ValueError, match=r"DegreeEntropy\(\) is a DegreeEntropy\. A file can"):
        detector.save(tmp_path / "a.skg")
    assert not list(tmp_path.iterdir())


def test_a_view_that_applies_to_no_graph_can_be_named():
    """`applies_to` is for views="auto" alone."""

    class Never(DegreeEntropy):
        def applies_to(self, graphs):
            return False

    detector = GraphKDEDetector(views=("density", Never())).fit(TRAIN)
    assert detector.model_.view_names[1] == "never"
    finite(detector.score_samples(NEW))

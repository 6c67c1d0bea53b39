"""Numbers far beyond those of the training graphs: one check at the door, and no NaN behind it."""

import networkx as nx
import numpy as np
import pytest

from skgraphkde import MMD, Density, GraphKDEDetector, GraphSchema
from skgraphkde.inspection import explain, novel_nodes
from tests.conftest import densities

SCHEMA = GraphSchema(node_numbers="temp", edge_numbers="amount")
RANDOM = MMD(method="random_features", n_components=64)
# Questions that differ in what they compute, each with one number out of all bounds.
QUESTIONS = {
    "score_samples": (lambda detector, graphs: detector.score_samples(graphs), 1e20),
    "pairwise_distances": (lambda detector, graphs: detector.pairwise_distances(graphs), 1e20),
    "other": (lambda detector, graphs: detector.pairwise_distances(graphs[:1], graphs), 1e99),
    "novel_nodes": (lambda *asked: np.hstack(novel_nodes(*asked)), 1e20),
    "explain": (lambda *asked: explain(*asked)["strength"], 1e99),
}


def graph(seed, temp=None, amount=None, unit=1.0):
    rng = np.random.default_rng(seed)
    made = nx.gnp_random_graph(8 + seed % 4, 0.4, seed=seed)
    for node in made:
        made.nodes[node]["temp"] = unit * rng.normal()
    for edge in made.edges:
        made.edges[edge]["amount"] = unit * rng.normal()
    if temp is not None:
        made.nodes[1]["temp"] = temp
    if amount is not None:
        made.edges[next(iter(made.edges))]["amount"] = amount
    return made


def fitted(*distances, unit=1.0):
    views = (*densities(*distances), "novelty", "numbers")
    detector = GraphKDEDetector(schema=SCHEMA, views=views, random_state=0)
    return detector.fit([graph(seed, unit=unit) for seed in range(12)])


@pytest.fixture(scope="module")
def detectors():
    return {"random": fitted(RANDOM), "both": fitted(RANDOM, MMD()), "exact": fitted(MMD())}


@pytest.mark.parametrize(("question", "value"), QUESTIONS.values(), ids=QUESTIONS)
def test_what_random_features_cannot_compute_is_refused_by_name(detectors, question, value):
    for name in ("random", "both"):
        for odd, what in (
            (graph(50, temp=value), "graph 1, node 1: node attribute 'temp'"),
            (graph(50, amount=value), r"graph 1, edge \(\d, \d\): edge attribute 'amount'"),
        ):
            message = rf"{what} is {value:g}".replace("+", r"\+")
            with pytest.raises(ValueError, match=message) as caught:
                question(detectors[name], [graph(51), odd])
            assert "clip it, or use views=Density(MMD(method='exact'))" in str(caught.value)


@pytest.mark.parametrize(("question", "value"), QUESTIONS.values(), ids=QUESTIONS)
def test_the_cure_cures(detectors, question, value):
    graphs = [graph(50, temp=value), graph(50, amount=value), graph(51)]
    assert np.isfinite(question(detectors["exact"], graphs)).all()


@pytest.mark.parametrize("distances", [(MMD(),), (MMD(), MMD(gammas=(1.0,)))], ids=str)
def test_what_overflows_in_standard_deviations_is_refused(distances):
    detector = fitted(*distances, unit=1e-90)
    for odd in (graph(50, temp=1e99, unit=1e-90), graph(50, amount=1e99, unit=1e-90)):
        with pytest.raises(
            ValueError, match=r"is 1e\+99, more than .* which cannot be computed: clip it$"
        ):
            detector.pairwise_distances([odd])


def test_an_outlier_in_training_is_in_range():
    graphs = [graph(0, temp=1e99), *(graph(seed) for seed in range(1, 12))]
    for distance in (RANDOM, MMD()):
        views = Density(distance), "novelty", "numbers"
        detector = GraphKDEDetector(schema=SCHEMA, views=views, random_state=0).fit(graphs)
        assert np.isfinite(detector.calibration_scores_).all()
        assert np.isfinite(detector.pairwise_distances(graphs)).all()


@pytest.mark.parametrize("value", [1e8, 1e99])
def test_distances_do_not_depend_on_a_far_graph_beside_them(value):
    detector = fitted(MMD())
    graphs = [graph(50), graph(51)]
    alone = detector.pairwise_distances(graphs)[0, 1]
    beside = [*graphs, graph(52, temp=value)]
    for D in (detector.pairwise_distances(beside), detector.pairwise_distances(graphs, beside)):
        assert D[0, 1] == pytest.approx(alone, rel=1e-9)

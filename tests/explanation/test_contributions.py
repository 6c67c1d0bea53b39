import networkx as nx
import numpy as np
import pytest

from skgraphkde import (
    GCN,
    MMD,
    Density,
    GraphKDEDetector,
    GraphSchema,
    NodeFeatures,
    read_graphs,
)
from skgraphkde._words import usually
from skgraphkde.core.distances import DiscreteMeasures
from skgraphkde.core.distances.mmd import FittedMMD
from skgraphkde.core.points.propagation import MessageFlow
from skgraphkde.explanation import nearest_references, node_contributions
from skgraphkde.explanation.wording import Feature, feature_words, features_in_words
from tests.conftest import random_graphs, spied, with_data
from tests.core.scoring.common import squared_distances

SETTINGS = {
    "defaults": {},
    "biased": {"views": (Density(MMD(estimator="biased")), "novelty")},
    "random features": {"views": (Density(MMD(method="random_features")), "novelty")},
    "network": {"encoder": GCN(hidden_dim=8)},
}


@pytest.fixture(scope="module", params=SETTINGS)
def detector(request):
    options = {"random_state": 0, **SETTINGS[request.param]}
    return GraphKDEDetector(**options).fit(random_graphs(20, seed=1))


@pytest.fixture(scope="module")
def graphs():
    edge = with_data(nx.Graph([(0, 1)]), {"label": "C"})
    return [*random_graphs(8, seed=2), edge, *random_graphs(2, seed=1)]


def squared_of(detector, graphs, view):
    model = detector.model_
    return squared_distances(model, detector.read(graphs), model.references, view)


def rounding(detector):
    views = detector.model_.views
    methods = [getattr(views[i].distance_, "method", "exact") for i in detector.model_.densities]
    return 1e-5 if "random_features" in methods else 1e-9


@pytest.mark.parametrize("k", [1, 20])
def test_contributions_sum_to_the_squared_distance(detector, graphs, k):
    for view in detector.model_.densities:
        shares = node_contributions(detector, graphs, k, view=view)
        assert [len(x) for x in shares] == [len(graph) for graph in graphs]
        squared = squared_of(detector, graphs, view)
        _, indices = nearest_references(detector, graphs, k, view=view)
        expected = np.take_along_axis(squared, indices, axis=1).mean(axis=1)
        np.testing.assert_allclose([x.sum() for x in shares], expected, atol=rounding(detector))


def test_nearest_references_are_those_of_all_distances(detector, graphs):
    tolerance = rounding(detector)  # of squares: the root of a 0 that is rounded may be 1e-7
    for view in detector.model_.densities:
        distances, indices = nearest_references(detector, graphs, 4, view=view)
        squared = np.maximum(squared_of(detector, graphs, view), 0)
        np.testing.assert_allclose(distances**2, np.sort(squared, axis=1)[:, :4], atol=tolerance)
        found = np.take_along_axis(squared, indices, axis=1)
        np.testing.assert_allclose(found, distances**2, atol=tolerance)
    assert nearest_references(detector, graphs, 99)[1].shape == (len(graphs), 20)


def test_nodes_that_look_alike_have_the_shares_of_nodes_by_themselves(detector, monkeypatch):
    model, k = detector.model_, np.arange(5)
    calls = spied(monkeypatch, FittedMMD, "contributions")
    for graph in (nx.path_graph(30), nx.star_graph(30), random_graphs(1, seed=3)[0]):
        batch = detector.read([with_data(graph, {"label": "C"})])
        flow = MessageFlow.unmerged(model.embedding.featurized(batch), model.encoder.n_layers)
        nodes = DiscreteMeasures.from_clouds(model.encoder.encode(flow), batch.node_ptr)
        for view in model.densities:
            density = model.views[view]
            expected = density.distance_.contributions(nodes, model.clouds[density][k])
            found = model.contributions(batch, k, view=view)
            np.testing.assert_allclose(found, expected, atol=rounding(detector))
            assert len(calls[-1][1].points) < batch.n_nodes  # the time grows with the square


@pytest.mark.parametrize(
    ("own", "known", "words"),
    [
        (3.7, np.linspace(3.9, 4.1, 201), ("3.7", "usually 3.91 to 4.09, at least 3.9")),
        (4.0, [4.0], ("4", "usually 4")),
        (1.5851, [1.5853], ("1.5851", "always 1.5853")),
        (
            1.2,
            np.repeat([-3.47e-18, 3.47e-18], 10),
            ("1.2", "always 0"),
        ),  # rounding
        (3.0, [], ("3", "usually none")),
        (3.0, [1.0, *[2.0] * 30], ("3", "usually 2, at most 2")),
        (1e-9, [2e-9], ("1e-09", "always 2e-09")),
    ],
)
def test_usual_values_in_words(own, known, words):
    assert usually(own, np.array(known)) == words


def test_features_are_described_by_what_they_are_not_by_their_names():
    numbers = ["log(1+income)", "temp missing"]  # which look like names of features

    def graph(seed):
        rng = np.random.RandomState(seed)
        graph = nx.gnm_random_graph(12, 20, seed=seed, directed=True)
        of_edges = {"via": lambda edge: "ab"[sum(edge) % 2], "my wait": lambda _: rng.rand()}
        return with_data(graph, dict.fromkeys(numbers, lambda _: rng.rand()), of_edges)

    schema = GraphSchema(
        node_numbers=numbers, edge_categories="via", edge_numbers="my wait", missing="indicate"
    )
    fitted = NodeFeatures().fit(read_graphs([graph(seed) for seed in range(9)], schema=schema))
    batch = read_graphs([graph(0)], schema=schema)
    found = {x.name: x for x in features_in_words(fitted, batch.schema)}
    assert list(found) == fitted.get_feature_names_out().tolist()
    expected = {
        "log(1+income)": "average log(1+income) of nodes: 0.5; always 0.25",
        "temp missing": "average temp missing of nodes: 0.5; always 0.25",
        "temp missing missing": "temp missing is missing at 6 of 12 nodes (50%); always 25%",
        "log(1+out a edges)": "6 edges (via=a), 0.5 per node; always 0.25",
        "out b my wait": "average my wait of edges (via=b): 0.5; always 0.25",
        "out b my wait missing": "my wait is missing at 6 of 12 edges (via=b) (50%); always 25%",
    }
    known, words = np.full(5, 0.25), batch.schema.words
    told = {
        name: "; ".join(feature_words(found[name], 0.5, known, 12, words, "other graphs"))
        for name in expected
    }
    assert told == expected
    label = Feature("kind=a", "share", "have kind=a")
    for name in ("degree=1", "log(1+degree)", "log(1+in a edges)", "in b my wait"):
        assert not found[name].form  # others say the same
    one = feature_words(label, 1 / 12, known, 12, words, "other graphs")
    assert one == ("1 of 12 nodes (8%) has kind=a", "always 25%")
    none = feature_words(label, 0, np.array([0.0, 0.5, 1.0]), 12, words, "other graphs")
    assert none == ("no node has kind=a; 2 of 3 other graphs have one", "")
    assert found["out b my wait"].fact == found["out a my wait"].fact == ("edge", "my wait")

"""Scores follow from graphs: not from names, from orders, or from digits beyond single precision.

Categories of edges are left out: Propagation says what their names change.
"""

import networkx as nx
import numpy as np
import pytest

from skgraphkde import GraphKDEDetector, GraphSchema, Numbers
from skgraphkde.detectors.groups import find_groups

SCHEMA = GraphSchema(
    node_categories=("kind", "who"),
    node_numbers="time",
    edge_numbers="cost",
    graph_categories="site",
    graph_numbers="total",
)
VIEWS = ("density", "novelty", "tanimoto", "neighbors", "statistics", Numbers(n_points=60))
AS_GIVEN, ORDER = np.arange(70), np.random.RandomState(0).permutation(70)


def graph_of(seed, name=str, number=float, shuffled=False):
    """A random graph with data of all kinds, in these names and digits, or in another order."""
    rng = np.random.default_rng(seed)
    graph, n = nx.Graph(), int(rng.integers(4, 12))
    for node in range(n):
        kind = name("abcdef"[min(rng.geometric(0.4) - 1, 5)])
        graph.add_node(node, kind=kind, who=name(rng.integers(9)), time=number(rng.normal(20, 2)))
    for u, v in nx.gnm_random_graph(n, 2 * n, seed=seed).edges:
        graph.add_edge(u, v, cost=number(rng.lognormal()))
    graph.graph.update(site=name("xyz"[rng.integers(3)]), total=number(rng.normal(100, 10)))
    if not shuffled:
        return graph
    other = nx.Graph(**graph.graph)
    other.add_nodes_from((node, graph.nodes[node]) for node in rng.permutation(n))
    other.add_edges_from(reversed([(v, u, data) for u, v, data in graph.edges(data=True)]))
    return other


def renamed(value):
    """One name for each of these values, in another order."""
    return f"{ord(str(value)) * 37 % 101} of 101"


@pytest.fixture(scope="module", params=[None, 25], ids=["all", "25 references"])
def results(request):
    def results(order=AS_GIVEN, **changes):
        graphs = [graph_of(seed, **changes) for seed in order.tolist()]
        new = [graph_of(seed, **changes) for seed in range(100, 130)]
        settings = {"views": VIEWS, "max_references": request.param, "contamination": 0.2}
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("skgraphkde.views.density.MAX_SAMPLE", 20)  # of which there are more
            detector = GraphKDEDetector(schema=SCHEMA, **settings).fit(graphs)
        of_known = detector.training_scores_[np.argsort(order)]
        groups = {frozenset(order[x.members].tolist()) for x in find_groups(detector.model_)}
        suggested = order[detector.suggest(9)].tolist()
        scores = np.append(detector.score_samples(new), of_known)
        return scores, detector.predict(new).tolist(), suggested, groups

    return results, results()


@pytest.mark.parametrize(
    ("changes", "tolerance"),
    [
        ({"name": renamed}, 1e-9),
        ({"shuffled": True}, 1e-9),
        ({"order": ORDER}, 1e-9),
        ({"number": np.float32}, 1e-3),
    ],
    ids=["names", "order of nodes", "order of graphs", "single precision"],
)
def test_scores_do_not_depend_on_how_graphs_are_written(results, changes, tolerance):
    results_of, (expected, *others_expected) = results
    scores, *others = results_of(**changes)
    np.testing.assert_allclose(scores, expected, rtol=tolerance)
    assert others == others_expected

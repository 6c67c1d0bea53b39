"""Traces are what their maker says, and the faults in them are found."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from skgraphkde import GraphKDEDetector, read_graphs
from skgraphkde.datasets import make_traces
from skgraphkde.datasets._traces import _CALLS, _DELAYS, _FAULTS, _NEW


@given(
    n_normal=st.integers(0, 6),
    n_anomalies=st.integers(1, 7),
    kind=st.sampled_from(["mixed", *_FAULTS]),
    seed=st.integers(0, 99),
)
def test_what_the_maker_returns(n_normal, n_anomalies, kind, seed):
    keywords = {"kind": kind, "random_state": seed}
    drawn = make_traces(n_normal, n_anomalies, **keywords)
    graphs, n = drawn.graphs, n_normal + n_anomalies
    assert drawn.target.tolist() == [1] * n_normal + [-1] * n_anomalies
    assert len(graphs) == len(drawn.kind) == len(drawn.culprits) == n
    assert set(drawn.kind[:n_normal]) <= {"normal"}
    in_turn = (list(_FAULTS) * 2)[:n_anomalies] if kind == "mixed" else [kind] * n_anomalies
    assert drawn.kind[n_normal:].tolist() == in_turn
    assert graphs.directed
    assert graphs.schema.node_categories == ("service",)
    assert graphs.schema.edge_categories == ("status",)
    assert graphs.schema.edge_numbers == (("delay", 1),)
    assert (graphs.edge_attributes > 0).all()
    for graph, of_graph, culprits in zip(
        graphs.to_networkx(), drawn.kind, drawn.culprits, strict=True
    ):
        assert nx.is_arborescence(graph)
        assert graph.in_degree(0) == 0
        services = nx.get_node_attributes(graph, "service")
        assert services[0] == "gateway"
        assert of_graph == "new_service" or "database" in services.values()
        wrong = [(u, v) for u, v in graph.edges if services[v] not in _CALLS.get(services[u], ())]
        assert bool(wrong) == (of_graph in ("other_order", "new_service"))
        assert set(culprits.tolist()) <= set(graph)
        assert (len(culprits) > 0) == (of_graph != "normal")
    again, y = make_traces(n_normal, n_anomalies, **keywords, return_X_y=True)
    assert y.tolist() == drawn.target.tolist()
    assert (again.adjacency != graphs.adjacency).nnz == 0
    for name in ("labels", "edge_labels", "edge_attributes"):
        np.testing.assert_array_equal(getattr(again, name), getattr(graphs, name))


def calls_of(graphs):
    """Service, status and delay of all calls."""
    for graph in graphs.to_networkx():
        for _, call, data in graph.edges(data=True):
            yield graph.nodes[call]["service"], data["status"], data["delay"]


def test_delays_of_slow_traces():
    drawn = make_traces(100, 100, kind="slow", random_state=0)
    for graphs, factor in ((drawn.graphs[:100], 1.0), (drawn.graphs[100:], 1.6)):
        calls = list(calls_of(graphs))
        for service, mean in _DELAYS.items():
            delays = [delay for name, _, delay in calls if name == service]
            expected = mean * (factor if service == "database" else 1)
            assert np.mean(delays) == pytest.approx(expected, rel=0.03)
            assert np.std(delays) == pytest.approx(0.13 * expected, rel=0.15)


def test_share_of_retries():
    drawn = make_traces(200, 200, kind="retries", random_state=0)
    for graphs, share in ((drawn.graphs[:200], 0.03), (drawn.graphs[200:], 0.3)):
        status = [status for _, status, _ in calls_of(graphs)]
        assert status.count("error") == status.count("retry")
        made = status.count("ok") + status.count("retry")
        assert status.count("retry") / made == pytest.approx(share, rel=0.15)
    for graph in drawn.graphs[200:210].to_networkx():  # one that fails calls nothing
        failed = [call for _, call, status in graph.edges(data="status") if status == "error"]
        assert all(graph.out_degree(call) == 0 for call in failed)


def test_one_call_is_of_a_new_service():
    drawn = make_traces(5, 20, kind="new_service", random_state=0)
    (new,) = _NEW
    for i, graph in enumerate(drawn.graphs.to_networkx()):
        calls = [call for call, service in graph.nodes(data="service") if service == new]
        assert calls == drawn.culprits[i].tolist()
        assert len(calls) == (i >= 5)


def test_other_order_exchanges_a_call_and_its_caller():
    drawn = make_traces(0, 20, kind="other_order", random_state=0)
    for graph, culprits in zip(drawn.graphs.to_networkx(), drawn.culprits, strict=True):
        caller, call = culprits.tolist()
        assert graph.has_edge(caller, call)
        services = nx.get_node_attributes(graph, "service")
        services[caller], services[call] = services[call], services[caller]
        assert all(services[v] in _CALLS[services[u]] for u, v in graph.edges)


def test_names_survive_networkx():
    graphs = make_traces(4, 4, random_state=0).graphs
    again = read_graphs(graphs.to_networkx(), schema=graphs.schema.to_schema())
    assert (again.adjacency != graphs.adjacency).nnz == 0
    assert again.label_names == graphs.label_names
    np.testing.assert_array_equal(again.edge_labels, graphs.edge_labels)
    np.testing.assert_array_equal(again.edge_attributes, graphs.edge_attributes)


@pytest.mark.parametrize("kind", ["other_order", "slow"])
def test_faults_are_found(kind):
    drawn = make_traces(110, 30, kind=kind, random_state=0)
    detector = GraphKDEDetector(random_state=0).fit(drawn.graphs[:80])
    scores = detector.score_samples(drawn.graphs[80:])
    assert roc_auc_score(drawn.target[80:], scores) > 0.9


def test_global_random_state_is_left_alone():
    np.random.seed(1)
    before = np.random.get_state()[1].copy()
    make_traces(2, 4, random_state=3)
    np.testing.assert_array_equal(np.random.get_state()[1], before)


def test_bad_arguments():
    with pytest.raises(ValueError, match="ask for at least one graph"):
        make_traces(0, 0)
    with pytest.raises(ValueError, match="'kind' parameter of make_traces must be"):
        make_traces(3, 1, kind="fast")
    with pytest.raises(ValueError, match="n_normal"):
        make_traces(-1)

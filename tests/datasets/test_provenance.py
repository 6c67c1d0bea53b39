"""Provenance graphs are what their maker says, and the attacks in them are found."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from skgraphkde import GraphKDEDetector, read_graphs
from skgraphkde.datasets import make_provenance_graphs
from skgraphkde.datasets._provenance import _ACTIVITIES, _ATTACKS, _BYTES, _OPPOSITE, _Host

# What may follow what: the kinds at the ends of an arc, by its action.
ENDS = {
    "fork": ("process", "process"),
    "execute": ("file", "process"),
    "read": ("file", "process"),
    "write": ("process", "file"),
    "connect": ("process", "socket"),
    "send": ("process", "socket"),
    "receive": ("socket", "process"),
    "inject": ("process", "process"),
}


@given(
    n_normal=st.integers(0, 6),
    n_anomalies=st.integers(1, 7),
    kind=st.sampled_from(["mixed", *_ATTACKS]),
    seed=st.integers(0, 99),
)
def test_what_the_maker_returns(n_normal, n_anomalies, kind, seed):
    keywords = {"kind": kind, "random_state": seed}
    drawn = make_provenance_graphs(n_normal, n_anomalies, **keywords)
    graphs, n = drawn.graphs, n_normal + n_anomalies
    assert drawn.target.tolist() == [1] * n_normal + [-1] * n_anomalies
    assert len(graphs) == len(drawn.kind) == len(drawn.activity) == len(drawn.culprits) == n
    assert set(drawn.kind[:n_normal]) <= {"normal"}
    in_turn = (list(_ATTACKS) * 2)[:n_anomalies] if kind == "mixed" else [kind] * n_anomalies
    assert drawn.kind[n_normal:].tolist() == in_turn
    assert graphs.directed
    assert graphs.schema.node_categories == ("kind",)
    assert graphs.schema.edge_categories == ("action",)
    assert graphs.schema.edge_numbers == (("bytes", 1),)
    assert (graphs.edge_attributes >= 0).all()
    assert (graphs.degrees > 0).all()
    assert 10 <= graphs.n_nodes_per_graph.min() <= graphs.n_nodes_per_graph.max() <= 30
    for graph, of_graph, culprits in zip(
        graphs.to_networkx(), drawn.kind, drawn.culprits, strict=True
    ):
        kinds = nx.get_node_attributes(graph, "kind")
        for u, v, action in graph.edges(data="action"):
            assert (kinds[u], kinds[v]) == ENDS[action]
            assert action != "inject" or of_graph == "new_action"
        assert (len(culprits) == 0) == (of_graph == "normal")
        assert set(culprits.tolist()) <= set(graph)
    again, y = make_provenance_graphs(n_normal, n_anomalies, **keywords, return_X_y=True)
    assert y.tolist() == drawn.target.tolist()
    assert (again.adjacency != graphs.adjacency).nnz == 0
    for name in ("labels", "edge_labels", "edge_attributes"):
        np.testing.assert_array_equal(getattr(again, name), getattr(graphs, name))


def test_all_activities_are_drawn():
    drawn = make_provenance_graphs(400, random_state=0)
    activities, counts = np.unique(drawn.activity, return_counts=True)
    assert activities.tolist() == ["browser", "build", "server", "shell"]
    assert counts.min() > 70
    assert set(drawn.graphs.edge_label_names) == set(_BYTES)
    other = make_provenance_graphs(400, random_state=1)
    assert (other.activity != drawn.activity).any()


def test_names_survive_networkx():
    graphs = make_provenance_graphs(4, 4, random_state=0).graphs
    again = read_graphs(graphs.to_networkx(), schema=graphs.schema.to_schema())
    assert (again.adjacency != graphs.adjacency).nnz == 0
    assert again.edge_label_names == graphs.edge_label_names
    np.testing.assert_array_equal(again.edge_labels, graphs.edge_labels)
    np.testing.assert_array_equal(again.edge_attributes, graphs.edge_attributes)


# -- what attacks change ---------------------------------------------------------------------------


def attacked(kind, seed):
    """Graphs before and after an attack, with its culprits."""
    rng = np.random.RandomState(seed)
    for activity in _ACTIVITIES:
        host = _Host(rng)
        activity(host)
        host.graph.remove_nodes_from(list(nx.isolates(host.graph)))
        host.graph = nx.convert_node_labels_to_integers(host.graph)
        before = host.graph.copy()
        culprits = _ATTACKS[kind](host)
        yield before, host.graph, culprits


def n_arcs(graph, *actions):
    return sum(action in actions for *_, action in graph.edges(data="action"))


@pytest.mark.parametrize("seed", range(10))
def test_exfiltration(seed):
    for before, after, (thief, *sinks) in attacked("exfiltration", seed):
        assert len(after) == len(before)
        assert after.number_of_edges() == before.number_of_edges()
        assert n_arcs(after, "read") == n_arcs(before, "read")
        assert len(sinks) == 1
        assert after.edges[thief, sinks[0]]["action"] == "send"
        files = [v for v, kind in after.nodes(data="kind") if kind == "file"]
        touched = sum(after.has_edge(v, thief) or after.has_edge(thief, v) for v in files)
        assert touched >= 0.6 * len(files)


@pytest.mark.parametrize("seed", range(10))
def test_dropper(seed):
    for before, after, (dropper, dropped, site, program) in attacked("dropper", seed):
        assert 0 <= len(after) - len(before) <= 2
        assert abs(after.number_of_edges() - before.number_of_edges()) <= 3
        chain = [(site, dropper), (dropper, program), (dropper, dropped), (program, dropped)]
        actions = [after.edges[arc]["action"] for arc in [*chain, (dropped, site)]]
        assert actions == ["receive", "write", "fork", "execute", "connect"]
        parents = [u for u, v, a in after.edges(data="action") if v == dropped and a == "fork"]
        assert parents == [dropper]


def test_reversed_flow():
    for before, after, _ in attacked("reversed_flow", 0):
        assert dict(after.nodes(data=True)) == dict(before.nodes(data=True))
        expected = {
            (v, u, _OPPOSITE[a]) if a in _OPPOSITE else (u, v, a)
            for u, v, a in before.edges(data="action")
        }
        assert set(after.edges(data="action")) == expected


def test_new_action_and_volume_keep_the_shape():
    for kind in ("new_action", "volume"):
        for before, after, _ in attacked(kind, 1):
            assert set(after.edges) == set(before.edges)
            assert dict(after.nodes(data=True)) == dict(before.nodes(data=True))
            for arc, old in before.edges.items():
                new = after.edges[arc]
                factor = 2 if kind == "volume" else 1
                assert new["bytes"] == factor * old["bytes"]
                assert new["action"] in (old["action"], "inject")
            assert n_arcs(after, "inject") == (2 if kind == "new_action" else 0)


# -- detection, and arguments ----------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:edge categories that fit did not see")
@pytest.mark.parametrize("kind", ["volume", "new_action"])
def test_attacks_are_found(kind):
    drawn = make_provenance_graphs(110, 30, kind=kind, random_state=0)
    detector = GraphKDEDetector(random_state=0).fit(drawn.graphs[:80])
    scores = detector.score_samples(drawn.graphs[80:])
    assert roc_auc_score(drawn.target[80:], scores) > 0.9


def test_global_random_state_is_left_alone():
    np.random.seed(1)
    before = np.random.get_state()[1].copy()
    make_provenance_graphs(2, 5, random_state=3)
    np.testing.assert_array_equal(np.random.get_state()[1], before)


def test_bad_arguments():
    with pytest.raises(ValueError, match="ask for at least one graph"):
        make_provenance_graphs(0, 0)
    with pytest.raises(ValueError, match="'kind' parameter of make_provenance_graphs must be"):
        make_provenance_graphs(3, 1, kind="theft")
    with pytest.raises(ValueError, match="n_anomalies"):
        make_provenance_graphs(3, -1)

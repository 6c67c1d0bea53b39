"""Simulated graphs of the examples and benchmarks are what their makers say."""

import networkx as nx
import numpy as np
import pytest

from benchmarks import traces
from examples import provenance_graphs
from examples.provenance_graphs import ATTACKS, draw_provenance_graphs

# The kinds of nodes at the ends of an arc, by its action.
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


@pytest.mark.parametrize("kind", ["normal", *ATTACKS])
def test_provenance_graphs_have_arcs_between_the_right_kinds(kind):
    graphs, activities = draw_provenance_graphs([kind] * 40, seed=0)
    assert set(activities) == {"browser", "build", "server", "shell"}
    for graph in graphs:
        assert 10 <= len(graph) <= 30
        kinds = nx.get_node_attributes(graph, "kind")
        actions = [action for *_, action in graph.edges(data="action")]
        assert all((kinds[u], kinds[v]) == ENDS[a] for u, v, a in graph.edges(data="action"))
        assert actions.count("inject") == (2 if kind == "new_action" else 0)
        assert min(n_bytes for *_, n_bytes in graph.edges(data="bytes")) >= 0


def attacked(kind):
    """A graph of each activity, before and after an attack."""
    for i, activity in enumerate(provenance_graphs._ACTIVITIES):
        host = provenance_graphs._Host(np.random.RandomState(i))
        activity(host)
        host.graph.remove_nodes_from(list(nx.isolates(host.graph)))
        before = host.graph.copy()
        ATTACKS[kind](host)
        yield before, host.graph


def test_exfiltration_reads_most_files_and_keeps_the_counts():
    for before, after in attacked("exfiltration"):
        assert (len(after), after.size()) == (len(before), before.size())
        files = [v for v, kind in after.nodes(data="kind") if kind == "file"]
        senders = [u for u, _, action in after.edges(data="action") if action == "send"]
        touched = [
            sum(after.has_edge(v, u) or after.has_edge(u, v) for v in files) for u in senders
        ]
        assert max(touched) >= 0.6 * len(files)


def test_other_attacks_keep_nodes_and_change_what_they_say():
    opposite = {"read": "write", "write": "read"}
    for before, after in attacked("reversed_flow"):
        assert dict(after.nodes(data=True)) == dict(before.nodes(data=True))
        expected = {
            (v, u, opposite[a]) if a in opposite else (u, v, a)
            for u, v, a in before.edges(data="action")
        }
        assert set(after.edges(data="action")) == expected
    for before, after in attacked("volume"):
        for arc, data in before.edges.items():
            assert after.edges[arc] == {**data, "bytes": 2 * data["bytes"]}


@pytest.mark.parametrize("kind", ["normal", "slow", "other_order", "retries"])
def test_traces_are_trees_of_calls(kind):
    trees = traces.draw_traces([kind] * 200, seed=0)
    calls = []
    for tree in trees:
        assert nx.is_arborescence(tree)
        services = nx.get_node_attributes(tree, "service")
        assert "database" in services.values()
        is_call = [services[v] in traces._CALLS.get(services[u], ()) for u, v in tree.edges]
        assert all(is_call) == (kind != "other_order")
        calls += [(services[v], data["status"], data["delay"]) for _, v, data in tree.edges.data()]
    status = [status for _, status, _ in calls]
    made = status.count("ok") + status.count("retry")
    share = 0.3 if kind == "retries" else 0.03
    assert status.count("error") == status.count("retry")
    assert status.count("retry") / made == pytest.approx(share, rel=0.25)
    delays = [delay for service, _, delay in calls if service == "database"]
    assert np.mean(delays) == pytest.approx(32 if kind == "slow" else 20, rel=0.03)


def test_the_seed_decides():
    for draw in (lambda seed: draw_provenance_graphs(["normal"] * 3, seed)[0], _normal_traces):
        one, again, other = draw(0), draw(0), draw(1)
        assert [list(g.edges.data()) for g in one] == [list(g.edges.data()) for g in again]
        assert [list(g.edges.data()) for g in one] != [list(g.edges.data()) for g in other]


def _normal_traces(seed):
    return traces.draw_traces(["normal"] * 3, seed)

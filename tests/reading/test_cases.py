"""One table or graph -> cases: against slow, obvious ways to split it, and what is said of them."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skgraphkde.reading import split_cases
from skgraphkde.reading.cases import words_of_rows
from skgraphkde.reading.problems import UnreadableError
from tests.conftest import refused, warned

QUIET = pytest.mark.filterwarnings("ignore:.*(rows|row each|egos on average|left out)")


def payments(seed, n=40, n_nodes=12, days=30):
    rng = np.random.default_rng(seed)
    ends = rng.integers(n_nodes, size=(n, 2))
    times = pd.Timestamp("2026-01-05") + pd.to_timedelta(rng.integers(days * 24, size=n), "h")
    frame = pd.DataFrame(ends, columns=["payer", "payee"])
    return frame.assign(time=times, amount=np.arange(n) / 2)


COLUMNS = {"source": "payer", "target": "payee"}


def graph_of_rows(frame, rows):
    graph = nx.MultiGraph()
    for row in rows:
        u, v = frame.loc[row, ["payer", "payee"]]
        graph.add_edge(u, v)
    return graph


@QUIET
@given(st.integers(0, 10_000), st.sampled_from([None, "7D", "36h"]))
def test_components(seed, window):
    frame = payments(seed)
    found = split_cases(frame, **COLUMNS, time="time", window=window)
    length = pd.Timedelta(window or "1000D")
    start = frame["time"].min().normalize()
    expected = set()
    for _, of_window in frame.groupby((frame["time"] - start) // length):
        whole = graph_of_rows(frame, of_window.index)
        for nodes in nx.connected_components(whole):
            is_in = of_window["payer"].isin(nodes)
            expected.add(tuple(of_window.index[is_in]))
    assert {tuple(rows) for rows in found.rows} == expected
    assert sum(map(len, found.rows)) == len(frame)
    assert len({graph.graph["name"] for graph in found.graphs}) == len(found.graphs)


@QUIET
@given(st.integers(0, 10_000), st.integers(1, 3))
def test_egos(seed, hops):
    frame = payments(seed, n=25, n_nodes=15)
    whole = graph_of_rows(frame, frame.index)
    found = split_cases(frame, **COLUMNS, by="egos", hops=hops)
    by_name = dict(zip((x.graph["name"] for x in found.graphs), found.rows, strict=True))
    assert set(by_name) == set(map(str, whole))
    for node in whole:
        near = set(nx.ego_graph(nx.Graph(whole), node, radius=hops))
        is_in = frame["payer"].isin(near) & frame["payee"].isin(near)
        assert by_name[str(node)] == frame.index[is_in].tolist()


@QUIET
def test_the_graphs_are_those_of_their_rows():
    frame = payments(0)
    found = split_cases(frame, **COLUMNS, time="time", window="7D", directed=True)
    for graph, rows in zip(found.graphs, found.rows, strict=True):
        own = frame.loc[rows]
        hours = (own["time"] - own["time"].min()) / pd.Timedelta("1h")
        expected = [
            (u, v, {"amount": a, "hours since start": h})
            for u, v, a, h in zip(own["payer"], own["payee"], own["amount"], hours, strict=True)
        ]
        assert graph.is_directed()
        assert sorted(map(repr, graph.edges(data=True))) == sorted(map(repr, expected))


@QUIET
def test_windows_and_nodes_with_data():
    frame = payments(1)
    accounts = pd.DataFrame({"node": range(12), "kind": list("pqr") * 4})
    found = split_cases(frame, accounts, **COLUMNS, by="windows", time="time", window="7D")
    assert len(found.graphs) == 5
    for graph in found.graphs:
        assert all(kind == "pqr"[node % 3] for node, kind in graph.nodes(data="kind"))
    egos = split_cases(frame, accounts, **COLUMNS, by="egos", of="kind=p")
    assert {int(graph.graph["name"]) for graph in egos.graphs} <= {0, 3, 6, 9}


@QUIET
@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph])
def test_one_graph(kind):
    graph = kind(nx.disjoint_union(nx.path_graph(4), nx.cycle_graph(3)))
    nx.set_node_attributes(graph, {v: "ab"[v % 2] for v in graph}, "label")
    before = nx.node_link_data(graph, edges="links")
    found = split_cases(graph)
    assert nx.node_link_data(graph, edges="links") == before
    assert [len(x) for x in found.graphs] == [4, 3]
    assert sorted(edge for rows in found.rows for edge in rows) == sorted(
        graph.edges(keys=True) if graph.is_multigraph() else graph.edges
    )
    for part in found.graphs:
        assert type(part).__name__ in (kind.__name__, kind.__name__.removeprefix("Multi"))
        assert all(label == "ab"[v % 2] for v, label in part.nodes(data="label"))


def test_ids_that_only_look_alike_are_two():
    frame = pd.DataFrame({"source": [1, "1"], "target": [2, "2"]}, dtype=object)
    found = warned("one row each", split_cases, frame)
    assert found.rows == [[0], [1]]
    assert [graph.graph["name"] for graph in found.graphs] == ["1 #0", "1 #1"]


@QUIET
@pytest.mark.parametrize(
    "times",
    [
        ["2026-01-05", "2026-01-06", "2026-01-13"],
        [1767571200, 1767657600, 1768262400],
        [1767571200000, 1767657600000, 1768262400000],
        pd.to_datetime(["2026-01-05", "2026-01-06", "2026-01-13"]).date,
    ],
)
def test_times(times):
    frame = pd.DataFrame({"source": [1, 2, 1], "target": [2, 3, 2], "t": times})
    found = split_cases(frame, by="windows", time="t", window="7D")
    assert [graph.graph["name"] for graph in found.graphs] == ["2026-01-05", "2026-01-12"]
    assert [x for *_, x in found.graphs[0].edges(data="hours since start")] == [0.0, 24.0]


def test_what_is_said():
    frame = payments(0, n=60)
    message = r"one of \d+ cases has \d+ of 62 rows, and hides what is odd in it"
    with_pair = pd.concat([frame, frame[:2].assign(payer=[90, 91], payee=[91, 92])])
    warned(message, split_cases, with_pair.reset_index(drop=True), **COLUMNS)
    apart = pd.DataFrame({"source": range(0, 40, 2), "target": range(1, 41, 2)})
    warned("20 of 20 cases are one row each", split_cases, apart)
    rows = payments(1)
    warned(r"each edge is in \d.\d egos on average", split_cases, rows, **COLUMNS, by="egos")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"by": "parts"}, "cases are components, egos, windows, got 'parts'"),
        ({"by": "windows"}, "windows need their length"),
        ({"window": "7D"}, "windows need the column of the times"),
        ({"window": "week", "time": "time"}, "is no length of time"),
        ({"window": "0D", "time": "time"}, "longer than nothing"),
        ({"of": "kind=p"}, "only egos are of certain nodes"),
        ({"by": "egos", "of": "kind"}, "is not 'name=value'"),
        ({"by": "egos", "of": "kind=p"}, "needs the table of nodes"),
        ({"hops": 0}, "at least 1"),
        ({"hops": 2}, "only egos have hops"),
        ({"least": 100}, "no case has 100 edges"),
        ({"time": "when"}, "has no column 'when'"),
    ],
)
def test_what_cannot_be_split(options, message):
    refused(message, split_cases, payments(0), **COLUMNS, **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"nodes": pd.DataFrame({"node": [0]})}, "a graph has nodes of its own"),
        ({"directed": True}, "the graph is not directed"),
        ({"by": "egos", "of": "kin=p"}, "has no column 'kin', only .*'kind'"),
        ({"by": "egos", "of": "kind=z"}, "no node has the 'kind' 'z'"),
    ],
)
def test_what_cannot_be_split_of_one_graph(options, message):
    graph = nx.path_graph(4)
    nx.set_node_attributes(graph, "p", "kind")
    refused(message, split_cases, graph, **options)


def test_rows_that_cannot_be_used():
    frame = payments(0).astype(object)
    frame.loc[3, "payer"] = None
    refused("row 3: 'payer' is empty", split_cases, frame, **COLUMNS)
    frame = payments(0)
    frame.loc[4, "time"] = pd.NaT
    with pytest.raises(UnreadableError, match="row 4: 'time', its time, is empty"):
        split_cases(frame, **COLUMNS, time="time")
    refused("would be that of the cases", split_cases, payments(0).assign(case=1), **COLUMNS)
    nodes = pd.DataFrame({"node": range(5)})
    refused("is the end of an edge, and not in", split_cases, payments(0), nodes, **COLUMNS)
    nodes = pd.DataFrame({"node": [*range(12), 3]})
    refused("lists 3 twice", split_cases, payments(0), nodes, **COLUMNS)
    with pytest.raises(TypeError, match="the table of edges is a list"):
        split_cases([(1, 2)])


def test_rows_in_words():
    assert words_of_rows([2, 3, 4, 7, 9, 10]) == "2-4, 7, 9-10"
    assert words_of_rows(["a", "b"]) == "a, b"
    assert words_of_rows([]) == ""


def test_windows_in_which_nearly_all_hangs_together_are_said():
    rng = np.random.default_rng(0)
    rows = [
        (*rng.choice(12, 2, replace=False), day + k / 40) for day in range(5) for k in range(30)
    ]
    table = pd.DataFrame(rows, columns=["source", "target", "day"])
    table["time"] = pd.Timestamp("2026-01-05") + pd.to_timedelta(table.pop("day"), "D")
    with pytest.warns(UserWarning, match="5 of 5 cases have 150 of 150 rows: in most windows"):
        split_cases(table, time="time", window="1D")


def test_a_length_of_time_has_a_unit():
    frame = pd.DataFrame({"source": ["a"], "target": ["b"], "day": ["2026-01-01"]})
    with pytest.raises(ValueError, match="window='7' is no length of time"):
        split_cases(frame, by="windows", time="day", window="7")


def test_a_zone_may_be_an_hour():
    frame = pd.DataFrame({"source": list("ab"), "target": list("bc")})
    frame["time"] = ["2026-01-01 23:30:00", "2026-01-01 23:30:00+01"]
    with pytest.raises(UnreadableError, match="write all times with their zone"):
        split_cases(frame, time="time", window="1h")


def test_data_of_a_graph_are_in_its_cases():
    """Also those that are called like the columns of a table."""
    graph = nx.MultiGraph(country="US")
    graph.add_edge(1, 2, "call", source="web")
    graph.add_edge(1, 2, "mail", source="app")
    graph.nodes[1]["node"] = "x"
    graph.add_node(9)
    found = warned("left out, as no edge leads to them: 1 node, 9", split_cases, graph)
    (case,) = found.graphs
    data = [data for _, _, data in case.edges(data=True)]
    assert data == [{"source": "web", "key": "call"}, {"source": "app", "key": "mail"}]
    assert case.nodes[1] == {"node": "x"}
    assert case.graph["country"] == "US"
    assert found.rows == [[(1, 2, "call"), (1, 2, "mail")]]


@pytest.mark.parametrize("ids", [(1, 2, "a", "b"), ((1, 2), (2, 3), 3, "b")])
def test_centers_of_any_type(ids):
    graph = nx.relabel_nodes(nx.path_graph(4), dict(enumerate(ids)))
    nx.set_node_attributes(graph, "acc", "kind")
    found = warned("each edge is in", split_cases, graph, by="egos", of="kind=acc")
    assert [case.graph["name"] for case in found.graphs] == [str(x) for x in ids]


def test_years_and_what_is_no_time():
    frame = pd.DataFrame({"source": [1, 2], "target": [2, 3], "time": [2019, 2020]})
    options = {"by": "windows", "time": "time", "window": "1D"}
    warned("2019 under 'time' is read as seconds since 1970", split_cases, frame, **options)
    warned("days of a sp", split_cases, frame.assign(time=[45000.5, 45001.25]), **options)
    refused("has no times", split_cases, frame.assign(time=[1.0, np.inf]), **options)
    refused("20261345 is no date", split_cases, frame.assign(time=20261345), **options)
    refused("has no rows", split_cases, frame[:0], **options)
    of_hours = frame.assign(time=[0, 3600])
    refused("longer than nothing", split_cases, of_hours, **options | {"window": "nan"})
    with_hours = frame.assign(**{"hours since start": 1})
    refused("'hours since start', which the times would become", split_cases, with_hours, **options)
    nodes = pd.DataFrame({"id": [1, 2, 3]})
    refused("the table of nodes has no column 'node': it has 'id'", split_cases, frame, nodes)

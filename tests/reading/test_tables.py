"""Tables of edges, nodes and graphs, against graphs built by hand."""

from decimal import Decimal
from functools import partial

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from skgraphkde import GraphSchema, read_graphs, read_tables
from skgraphkde.reading.files import TableFiles, read_batch
from tests.conftest import refused
from tests.reading.common import COLUMNS, tables


def test_tables_are_the_graphs_built_by_hand():
    *given, graphs = tables()
    found = read_tables(*given, **COLUMNS, directed=True)
    for graph, expected in zip(found, graphs, strict=True):
        assert type(graph) is nx.DiGraph
        assert nx.utils.graphs_equal(graph, expected)
    alone = read_tables(given[0], **COLUMNS)  # the ends of edges are the nodes
    assert sorted(x.graph["name"] for x in alone) == [x.graph["name"] for x in graphs]
    assert all(type(x) in (nx.Graph, nx.MultiGraph) for x in alone)


def test_tables_of_other_packages():
    arrow = pytest.importorskip("pyarrow")
    *given, _ = tables()
    expected = read_tables(*given, **COLUMNS, directed=True)
    others = [arrow.Table.from_pandas(x, preserve_index=False) for x in given]
    found = read_tables(*others, **COLUMNS, directed=True)
    assert [dict(x.nodes(data=True)) for x in found] == [dict(x.nodes(data=True)) for x in expected]


def test_parallel_edges_and_unnamed_columns():
    edges = pd.DataFrame({"graph": [1, 1], "source": ["a", "a"], "target": ["b", "b"], 7: [0.5, 2]})
    (graph,) = read_tables(edges)
    assert type(graph) is nx.MultiGraph
    assert sorted(x["7"] for *_, x in graph.edges(data=True)) == [0.5, 2.0]
    assert graph.graph == {"name": "1"}


# The tables of edges, nodes and graphs -> those that are given, and the error.
BROKEN = {
    "no column": (
        lambda edges, *_: [edges.rename(columns={"to": "til"})],
        "edges has no column 'to': it has 'til'.*--target-column in the shell, target= in Python",
    ),
    "empty": (
        lambda edges, *_: [edges.replace({"case": {"case1": None}}).sort_values("from")],
        r"the table of edges, row \d+: 'case' is empty",
    ),
    "empty end": (
        lambda edges, *_: [edges.assign(to=edges["to"].where(edges.index != edges.index[3]))],
        r"graph 'case\d', the table of edges, row \d+: 'to' is empty: fill or remove it",
    ),
    "node twice": (
        lambda edges, nodes, _: [edges, pd.concat([nodes, nodes[:1]])],
        "graph 'case0' lists the node 's0' twice",
    ),
    "unknown end": (
        lambda edges, nodes, _: [edges, nodes[nodes["step"] != "s1"]],
        "'s1' is not among its nodes: add it",
    ),
    "unknown graph": (
        lambda edges, nodes, cases: [edges, nodes, cases[:2]],
        "graph 'case2' is in the table of nodes, and not among",
    ),
    "graph twice": (
        lambda edges, nodes, cases: [edges, nodes, pd.concat([cases, cases])],
        "graph 'case0' has two rows in the table",
    ),
    "lost zeros": (
        lambda edges, nodes, cases: [
            edges.assign(case=edges["case"].str.replace("case", "00")),
            nodes.assign(case=nodes["case"].str.replace("case", "00")),
            cases.assign(case=cases["case"].str.replace("case", "").astype(int)),
        ],
        "the table of nodes has the graph '000', and that of graphs 0: did you lose leading zeros",
    ),
    "no table": (lambda *_: [[("a", "b")]], "the table of edges is a list: give a DataFrame"),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_what_is_wrong_with_tables_is_said(kind):
    change, message = BROKEN[kind]
    with pytest.raises((ValueError, TypeError), match=message):
        read_tables(*change(*tables()[:3]), **COLUMNS)


@pytest.mark.parametrize("what", ["edges", "nodes", "graphs"])
def test_text_in_a_column_of_numbers_is_named(what):
    given = dict(zip(("edges", "nodes", "graphs"), tables(30)[:3], strict=True))
    frame = given[what].reset_index(drop=True)
    cost = pd.Series(frame.index / 8, dtype=object)
    cost[20] = "12 km"
    text = (
        f"^the table of {what}, row 20: '12 km' under 'cost' is not a number: correct.*to_numeric"
    )
    refused(text, read_tables, **given | {what: frame.assign(cost=cost)}, **COLUMNS)
    few = cost.where(frame.index % 4 > 0, "c")  # nothing says that these are numbers
    for cured in (pd.to_numeric(cost, errors="coerce"), cost.astype("category"), few):
        read_tables(**given | {what: frame.assign(cost=cured)}, **COLUMNS)


def test_columns_with_gaps_are_listed_in_the_order_of_the_table():
    cells = {"z": [None, 1, 2, None], "y": ["p", "q", "q", "p"], "w": [1, 2, None, None]}
    edges = pd.DataFrame({"graph": list("aabb"), "source": 1, "target": [2, 3, 2, 3]} | cells)
    ignored = read_graphs(read_tables(edges)).schema.ignored
    assert [x.name for x in ignored] == ["z", "y", "w"]


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_types_of_edges_are_directions(tmp_path, suffix):
    table = pd.DataFrame({"graph": ["p", "p", "q"], "source": list("aba"), "target": list("bcb")})
    types, path = ["Directed", "Undirected", "Directed"], tmp_path / f"edges.{suffix}"
    write = {"csv": partial(pd.DataFrame.to_csv, index=False), "parquet": pd.DataFrame.to_parquet}
    write[suffix](table.assign(Type=types), path)
    p, q = (graph for _, graph in TableFiles(path).read(GraphSchema()))
    assert set(p.edges) == {("a", "b"), ("b", "c"), ("c", "b")}
    assert list(q.edges(data=True)) == [("a", "b", {})]
    named = TableFiles(path).read(GraphSchema(edge_categories="Type"))
    assert named[1][1].edges["a", "b"] == {"Type": "Directed"}
    write[suffix](table.assign(Type="Undirected"), path)
    assert not TableFiles(path).read(GraphSchema())[0][1].is_directed()


def test_a_table_of_many_graphs_is_no_graph(tmp_path):
    path = tmp_path / "edges.csv"
    path.write_text("Case_ID,source,target\n1,a,b\n2,a,b\n")
    said = r"edges.csv: the column 'Case_ID' looks like that of many .* --graph-column Case_ID"
    refused(said, read_batch, [path])
    assert len(read_batch([path], GraphSchema(edge_categories="Case_ID"))) == 1


def test_decimals_of_databases_are_numbers():
    edges = pd.DataFrame({"graph": ["g"] * 3, "source": [0, 1, 2], "target": [1, 2, 3]})
    edges["cost"] = [Decimal("9.99"), None, Decimal("19.99")]
    schema = GraphSchema.everything(missing="indicate")
    batch = read_graphs(read_tables(edges), schema=schema)
    assert batch.schema.names("edge_numbers") == ("cost",)
    assert (np.nanmin(batch.edge_attributes), np.nanmax(batch.edge_attributes)) == (9.99, 19.99)
    cells = [Decimal(k) for k in range(100)]
    refused(
        "row 100: 'soon' under 'cost' is not a number",
        read_tables,
        pd.DataFrame({"graph": 1, "source": 1, "target": 2, "cost": [*cells, "soon"]}),
    )


def test_columns_may_have_the_names_of_arguments_of_networkx():
    """Parallel edges with a column called "key" are all there, with that column."""
    edges = {"graph": [1] * 3, "source": [1, 1, 2], "target": [2, 2, 3]}
    data = {"key": ["pay"] * 3, "u_for_edge": [1, 2, 3]}
    nodes = {"graph": [1] * 3, "node": [1, 2, 3], "node_for_adding": [7, 8, 9]}
    (graph,) = read_tables(pd.DataFrame(edges | data), pd.DataFrame(nodes))
    assert [x["u_for_edge"] for _, _, x in graph.edges(data=True)] == [1, 2, 3]
    assert {x["key"] for _, _, x in graph.edges(data=True)} == {"pay"}
    assert graph.nodes[3] == {"node_for_adding": 9}


@pytest.mark.parametrize("schema", [GraphSchema(), GraphSchema(directed=True)])
def test_undirected_rows_lead_both_ways_also_between_names_of_a_direction(tmp_path, schema):
    (tmp_path / "edges.csv").write_text("graph,from,to,Type\ng,a,b,Undirected\ng,b,c,Undirected\n")
    [(_, graph)] = TableFiles(tmp_path / "edges.csv").read(schema)
    assert graph.is_directed() == (schema.directed is True)  # the user has the last word
    assert len(graph.edges) == 2


def test_an_edge_table_is_a_table():
    with pytest.raises(TypeError, match="the table of edges is a NoneType"):
        read_tables(None)

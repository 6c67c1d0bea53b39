"""What is known beforehand: taken out of the data of every format, and said of each graph."""

import json

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from skgraphkde import GraphSchema, read_graphs, read_log, read_tables
from skgraphkde.core.graphs.problems import GraphError
from skgraphkde.reading.files import find_files, read_batch
from skgraphkde.reading.files.tables import TableFiles
from skgraphkde.reading.truth import Truth
from tests.conftest import refused, warned

N = 12
ODD = (3, 7)


def chains(**of_odd_and_normal):
    """Graphs of which two are odd, with the first of two values for those."""
    graphs = []
    for k in range(N):
        graph = nx.path_graph(3 + k % 3)
        for name, (odd, normal) in of_odd_and_normal.items():
            graph.graph[name] = odd if k in ODD else normal
        graphs.append(graph)
    return graphs


def said_of(graphs, column):
    """What the column says of graphs, and the graphs without it."""
    truth = Truth(column)
    copies = [graph.copy() for graph in graphs]
    for k, graph in enumerate(copies):
        truth.take(k, graph)
    return truth.verdicts(range(len(copies))).tolist(), copies, truth


EXPECTED = [-1 if k in ODD else 1 for k in range(N)]


@pytest.mark.parametrize(
    "values",
    [
        (1, 0),
        (True, False),
        (1.0, 0.0),
        (np.int64(-1), np.int64(1)),
        ("yes", "No"),
        ("Anomaly", "normal"),
        ("fraud", "benign"),
        ("ring", "chain"),
        (5, 2),
    ],
)
def test_values_that_mean_odd(values):
    verdicts, copies, truth = said_of(chains(status=values), "status")
    assert verdicts == EXPECTED
    assert not any("status" in graph.graph for graph in copies)
    assert len(truth.odd) == 1


def test_a_graph_is_odd_if_a_node_or_an_edge_is():
    graphs = chains()
    for graph in graphs:
        nx.set_node_attributes(graph, 0, "bad")
        nx.set_edge_attributes(graph, "no", "bad")
    graphs[ODD[0]].nodes[1]["bad"] = 1
    graphs[ODD[1]].edges[0, 1]["bad"] = "yes"
    verdicts, copies, truth = said_of(graphs, "bad")
    assert verdicts == EXPECTED
    assert truth.odd == ("1", "yes")
    data = [data for graph in copies for *_, data in [*graph.nodes.data(), *graph.edges.data()]]
    assert not any(data)


def test_nothing_said_is_neither():
    graphs = chains(status=("odd", "normal"))
    del graphs[0].graph["status"]
    graphs[1].graph["status"] = None
    graphs[2].graph["status"] = np.nan
    assert said_of(graphs, "status")[0] == [0, 0, 0, *EXPECTED[3:]]


@pytest.mark.parametrize(
    ("graphs", "message"),
    [
        (chains(status=("odd", "normal")), r"nothing says 'State', the truth.*'status'"),
        (chains(), r"nothing says 'State', the truth: .* no data"),
        (
            [
                nx.path_graph(
                    2,
                ),
                nx.path_graph(3),
            ],
            "nothing says",
        ),
    ],
)
def test_a_column_that_is_not_there(graphs, message):
    refused(message, said_of, graphs, "State")


def test_values_that_do_not_say_what_is_odd():
    graphs = chains(kind=("a", "b"))
    graphs[0].graph["kind"] = "c"
    message = r"'kind', the truth, does not say what is odd: it has 'b' \(9 graphs\), 'a' \(2"
    refused(message, said_of, graphs, "kind")
    alike = [nx.path_graph(2) for _ in range(4)]
    for k, graph in enumerate(alike):
        graph.graph["kind"] = "pq"[k % 2]
    refused("make a column of 1 for odd", said_of, alike, "kind")


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["fraud", "fraud", "ok"], [-1, -1, 1]),  # the word decides, and not how often it is there
        (["normal", "weird", "weird"], [1, -1, -1]),
        ([1, None, None], [-1, 0, 0]),
        ([1, 1, -1], [1, 1, -1]),
        (["", "", "fraud"], [0, 0, -1]),
        (["inf", "0", "1"], None),
        (["fraud", "normal", "unknown"], [-1, 1, 0]),
        ([10000001, 10000002, 10000002], [-1, 1, 1]),
    ],
)
@pytest.mark.filterwarnings("ignore:.* graphs are odd by")
def test_few_values(values, expected):
    graphs = [nx.path_graph(2) for _ in values]
    for graph, value in zip(graphs, values, strict=True):
        graph.graph["known"] = value
    if expected is None:
        refused("does not say what is odd", said_of, graphs, "known")
        return
    assert said_of(graphs, "known")[0] == expected


@pytest.mark.parametrize("column", ["is_normal", "isNormal", "valid", "Passed?"])
@pytest.mark.parametrize("values", [(0, 1), (False, True), ("no", "yes")])
def test_a_column_that_says_what_is_normal(column, values):
    assert said_of(chains(**{column: values}), column)[0] == EXPECTED


def test_most_are_odd():
    graphs = chains(status=("0", "1"))
    message = "10 of 12 graphs are odd by 'status', the truth, where it is '1': if it means"
    assert warned(message, said_of, graphs, "status")[0] == [-x for x in EXPECTED]


def test_the_truth_tells_no_edges_apart():
    edges = pd.DataFrame(
        {"graph": [0, 0, 1], "source": ["a", "b", "a"], "target": ["b", "a", "b"], "w": [2.0] * 3}
    )
    (first, _), target = read_tables(edges.assign(fraud=[1, 0, 0]), truth="fraud")
    assert target.tolist() == [-1, 1]
    assert list(first.edges(data="w")) == [("a", "b", 2.0)]


def test_a_name_that_is_no_text():
    with pytest.raises(TypeError, match="the truth is the name of a column, got 5"):
        read_tables(*frames(), truth=5)


# -- tables ----------------------------------------------------------------------------------------


def frames():
    """Tables of edges, nodes and graphs, each of which says which graphs are odd."""
    edges, nodes, graphs = [], [], []
    for k, graph in enumerate(chains()):
        odd = int(k in ODD)
        for u, v in graph.edges:
            edges.append(
                {"graph": k, "source": u, "target": v, "sum": 1.5 * u, "e": odd * (u == 0)}
            )
        for u in graph:
            nodes.append({"graph": k, "node": u, "who": "xy"[u % 2], "v": odd * (u == 1)})
        graphs.append({"graph": k, "of": "yes" if odd else "no"})
    return pd.DataFrame(edges), pd.DataFrame(nodes), pd.DataFrame(graphs)


@pytest.mark.parametrize("column", ["e", "v", "of"])
def test_tables_in_python(column):
    tables = frames()
    graphs, target = read_tables(*tables, truth=column)
    assert target.tolist() == EXPECTED
    without = [table.drop(columns=column, errors="ignore") for table in tables]
    for own, other in zip(graphs, read_tables(*without), strict=True):
        assert own.graph == other.graph
        assert list(own.nodes.data()) == list(other.nodes.data())
        assert list(own.edges.data()) == list(other.edges.data())
    assert isinstance(read_tables(*tables), list)


def test_a_column_of_ids_is_no_truth():
    refused("'source' is the truth and a column of ids", read_tables, *frames(), truth="source")


@pytest.mark.parametrize("column", ["e", "v", "of"])
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_tables_in_files(column, suffix, tmp_path):
    paths = []
    for table, name in zip(frames(), ("edges", "nodes", "graphs"), strict=True):
        paths.append(tmp_path / f"{name}.{suffix}")
        if suffix == "csv":
            table.to_csv(paths[-1], index=False)
        else:
            table.to_parquet(paths[-1])
    truth = Truth(column)
    schema = GraphSchema.everything()
    batch = read_batch([TableFiles(*paths)], schema, truth=truth)
    assert truth.verdicts(batch.names).tolist() == EXPECTED
    names = {
        name
        for kind in ("node", "edge", "graph")
        for name in (
            *batch.schema.names(f"{kind}_categories"),
            *batch.schema.names(f"{kind}_numbers"),
        )
    }
    assert names == {"sum", "who", "e", "v", "of"} - {column}
    assert schema.get_params() == GraphSchema.everything().get_params()


# -- other formats ---------------------------------------------------------------------------------


def write_graphml(folder, graphs):
    for k, graph in enumerate(graphs):
        nx.write_graphml(graph, folder / f"{k:02d}.graphml")


def write_gml(folder, graphs):
    for k, graph in enumerate(graphs):
        nx.write_gml(graph, folder / f"{k:02d}.gml")


def write_json(folder, graphs):
    content = [nx.node_link_data(graph, edges="links") for graph in graphs]
    (folder / "all.json").write_text(json.dumps(content))


def write_smi(folder, graphs):
    rows = ["smiles,name,Class"]
    rows += [f"{'C' * len(graph)},m{k},{graph.graph['Class']}" for k, graph in enumerate(graphs)]
    (folder / "all.csv").write_text("\n".join(rows))


@pytest.mark.parametrize("write", [write_graphml, write_gml, write_json, write_smi])
def test_files(write, tmp_path):
    write(tmp_path, chains(Class=("rare", "usual")))
    truth = Truth("Class")
    batch = read_batch(find_files([tmp_path]), "all", truth=truth)
    assert truth.verdicts(batch.names).tolist() == EXPECTED
    assert not any(x.name == "Class" for x in batch.schema.ignored)
    assert "Class" not in batch.schema.names("graph_categories")


@pytest.mark.parametrize("schema", [GraphSchema(graph_categories="Class"), "fitted"])
def test_a_truth_that_is_read_as_data(schema, tmp_path):
    write_graphml(tmp_path, chains(Class=("rare", "usual")))
    files = find_files([tmp_path])
    if schema == "fitted":
        schema = read_batch(files, GraphSchema(graph_categories="Class")).schema
    message = "'Class' is the truth, and the schema reads it as data of graphs"
    with pytest.raises(ValueError, match=message):
        read_batch(files, schema, truth=Truth("Class"))


# -- logs ------------------------------------------------------------------------------------------


def log():
    """Events of cases; "label" says of one step that it is odd."""
    rows = []
    for case in range(N):
        for k, step in enumerate("abc"):
            time = pd.Timestamp("2026-03-01") + pd.Timedelta(hours=5 * k)
            odd = int(case in ODD and k == 1)
            rows.append({"case": f"c{case}", "activity": step, "timestamp": time, "label": odd})
    return pd.DataFrame(rows)


def test_a_log_whose_truth_has_the_name_of_activities(tmp_path):
    graphs, target = read_log(log(), truth="label")
    assert target.tolist() == EXPECTED
    assert read_graphs(graphs).label_names == ("a", "b", "c")
    assert all("label" not in graph.graph for graph in graphs)
    log().to_csv(tmp_path / "log.csv", index=False)
    truth = Truth("label")
    files = find_files([tmp_path / "log.csv"])
    batch = warned("read as an event log", read_batch, files, truth=truth)
    assert truth.verdicts(batch.names).tolist() == EXPECTED
    assert batch.label_names == ("a", "b", "c")
    with pytest.raises(ValueError, match="'activity' is the truth and a column of the log"):
        read_log(log(), truth="activity")


def test_errors_are_not_hidden_by_the_truth():
    edges, nodes, graphs = frames()
    with pytest.raises(GraphError, match="two rows in the table of graphs"):
        read_tables(edges, nodes, pd.concat([graphs, graphs[:1]]), truth="of")


def test_a_truth_that_a_log_does_not_have(tmp_path):
    without = log().drop(columns="label")
    refused("the log has no column 'label', the truth", read_log, without, truth="label")
    without.to_csv(tmp_path / "log.csv", index=False)
    files = find_files([tmp_path])
    with pytest.warns(UserWarning, match="event log"), pytest.raises(ValueError, match="no column"):
        read_batch(files, truth=Truth("label"))
    of_cases = log().rename(columns={"label": "case:label"})
    graphs, target = read_log(of_cases, truth="label")
    assert target.tolist() == EXPECTED
    assert read_graphs(graphs).label_names == ("a", "b", "c")

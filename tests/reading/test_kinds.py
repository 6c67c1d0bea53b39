"""The same data in each way that they can be given: precisions, directions, durations, keys."""

import datetime
import json

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from skgraphkde import (
    GraphKDEDetector,
    GraphSchema,
    LeaveOneOut,
    read_graphs,
    read_log,
    read_tables,
)
from skgraphkde.core.graphs.problems import GraphError, IgnoredWarning
from skgraphkde.reading.files import find_files, iter_graphs, read_batch
from skgraphkde.reading.formats.common import as_doubles
from tests.conftest import refused, warned, with_data

# -- precision -------------------------------------------------------------------------------------


@given(
    arrays(
        np.float32,
        st.integers(1, 20),
        elements=st.floats(np.float32(1e-12), np.float32(1e12), width=32, allow_subnormal=False),
    ),
    st.sampled_from([1, -1]),
)
def test_numbers_of_single_precision_are_what_numpy_writes(numbers, sign):
    numbers = numbers * np.float32(sign)
    assert as_doubles(numbers).tolist() == [float(str(x)) for x in numbers]


def test_other_numbers_are_as_they_were():
    assert as_doubles(np.array([0.1, np.nan, np.inf])).tolist()[::2] == [0.1, np.inf]
    single = as_doubles(np.array([0, np.nan, -np.inf, 1e-40, 1e30], dtype=np.float32))
    np.testing.assert_array_equal(single[:3], [0, np.nan, -np.inf])
    assert (single[3:].astype(np.float32) == np.array([1e-40, 1e30], dtype=np.float32)).all()


def correlations(seed, noise):
    """A symmetric matrix of single precision; with noise, the upper half is a last digit larger."""
    rows = np.random.default_rng(seed).random((6, 6)).astype(np.float32)
    matrix = np.triu(rows, 1) + np.triu(rows, 1).T
    above = np.triu(np.ones((6, 6), dtype=bool), 1)
    return np.where(above & noise, np.nextafter(matrix, np.float32(2)), matrix)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array, lambda x: (x, None)])
def test_a_last_digit_gives_no_direction(make):
    clean, noisy = (correlations(0, noise) for noise in (False, True))
    assert (clean != noisy).any()
    one, other = (read_graphs([make(x)]) for x in (clean, noisy))
    assert not other.directed
    np.testing.assert_allclose(other.adjacency.data, one.adjacency.data, rtol=1e-6)
    assert read_graphs([make(clean * np.float32([1, 1, 1, 1, 1, 1.1]))]).directed


def test_edge_data_that_differ_in_a_last_digit_are_one_edge():
    pairs = np.array([[0, 1, 1, 2], [1, 0, 2, 1]])
    numbers = np.float32([0.1, np.nextafter(np.float32(0.1), np.float32(1)), 3, 3])
    graph = {"edge_index": pairs, "num_nodes": 3, "edge_attr": numbers}
    batch = read_graphs([graph])
    assert not batch.directed
    assert batch.edge_attributes.ravel().tolist() == [0.1, 0.1, 3.0, 3.0]
    graph["edge_attr"] = np.float32([0.1, 0.2, 3, 3])
    assert read_graphs([graph]).directed


# -- what data are of ------------------------------------------------------------------------------


def ring(n, **data):
    """A ring in both directions, as PyTorch Geometric and OGB hold it."""
    i = np.arange(n)
    pairs = np.stack([np.r_[i, (i + 1) % n], np.r_[(i + 1) % n, i]])
    return {"edge_index": pairs, "num_nodes": n, **data}


def test_data_without_a_prefix_are_of_the_edges_if_they_are_as_many():
    graphs = [ring(n, distance=np.ones(2 * n)) for n in (5, 6)]
    assert read_graphs(graphs, schema="all").schema.edge_numbers == (("distance", 1),)


def test_all_graphs_say_of_what_data_are():
    one_node = {"edge_index": np.empty((2, 0), dtype=int), "num_nodes": 1, "energy": [9.0]}
    graphs = [ring(5, energy=[5.0]), one_node]
    assert read_graphs(graphs, schema="all").schema.graph_numbers == (("energy", 1),)


def test_data_of_nodes_or_edges_are_read_as_of_nodes_and_said():
    graphs = []
    for n in (5, 6):
        one_way = np.stack([np.arange(n), (np.arange(n) + 1) % n])
        graphs.append({"edge_index": one_way, "num_nodes": n, "load": np.ones(n)})
    batch = warned("'load' has as many values as there", read_graphs, graphs, schema="all")
    assert batch.schema.node_numbers == (("load", 1),)
    schema = GraphSchema(edge_numbers="load")
    assert read_graphs(graphs, schema=schema).schema.edge_numbers == (("load", 1),)


def test_tensors_that_fit_nothing_else_are_of_the_graph():
    graphs = [ring(n, spectrum=np.arange(7.0)) for n in (5, 6)]
    assert read_graphs(graphs, schema="all").schema.graph_numbers == (("spectrum", 7),)
    uneven = [ring(n, spectrum=np.arange(n + 9.0)) for n in (5, 6)]
    assert [x.why for x in read_graphs(uneven, schema="all").schema.ignored] == ["nested"]


def test_vectors_of_several_widths_are_a_block_for_each_type():
    torch = pytest.importorskip("torch")
    geometric = pytest.importorskip("torch_geometric.data")
    graph = geometric.HeteroData()
    graph["user"].x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    graph["item"].x = torch.tensor([[5.0]])
    graph["user", "buys", "item"].edge_index = torch.tensor([[0, 1], [0, 0]])
    batch = read_graphs([graph], schema="all")
    assert batch.schema.node_numbers == (("x", 3),)
    kinds = np.array(batch.label_names, dtype=object)[batch.labels]
    assert batch.attributes[kinds == "item"].tolist() == [[5, 0, 0]]
    assert batch.attributes[kinds == "user"].tolist() == [[0, 1, 2], [0, 3, 4]]


def test_keys_of_parallel_edges_are_categories():
    graph = nx.MultiDiGraph([(0, 1, "calls"), (0, 1, "reads"), (1, 2, "calls")])
    batch = read_graphs([graph], schema="all")
    assert batch.schema.edge_categories == ("key",)
    assert sorted(batch.edge_label_names) == ["calls", "reads"]
    assert [str(x) for x in read_graphs([graph]).schema.ignored] == ["edge attribute 'key'"]
    plain = nx.MultiGraph([(0, 1), (0, 1), (1, 2)])
    assert read_graphs([plain], schema="all").schema.edge_categories == ()
    unique = nx.MultiGraph([(0, 1, "e1"), (1, 2, "e2")])
    assert read_graphs([unique], schema="all").schema.ignored == ()


@pytest.mark.parametrize("name", ["Class", "Y", "is_fraud", "target"])
def test_targets_are_read_if_they_are_named_and_said_if_not(name):
    graphs = [nx.path_graph(4) for _ in range(3)]
    for i, graph in enumerate(graphs):
        graph.graph[name] = i
    schema = read_graphs(graphs, schema="all").schema
    assert schema.graph_numbers == ()
    assert [x.why for x in schema.ignored] == ["target"]
    assert "it may be the target" in str(schema.ignored[0])
    named = GraphSchema(graph_numbers=name)
    assert read_graphs(graphs, schema=named).schema.graph_numbers == ((name, 1),)


@pytest.mark.parametrize(
    "hours",
    [
        [datetime.timedelta(hours=1), datetime.timedelta(minutes=30), datetime.timedelta(days=1)],
        pd.to_timedelta([60, 30, 1440], "min"),
        np.array([60, 30, 1440], dtype="timedelta64[m]"),
    ],
    ids=["datetime", "pandas", "numpy"],
)
def test_durations_are_hours(hours):
    graph = {"edges": [(0, 1), (1, 2)], "num_nodes": 3, "wait": list(hours)}
    batch = read_graphs([graph], schema="all")
    assert batch.attributes.ravel().tolist() == [1.0, 0.5, 24.0]


def test_dates_as_text_are_times_however_few():
    def month(m):
        graphs = [nx.path_graph(5) for _ in range(12)]
        for i, graph in enumerate(graphs):
            nx.set_node_attributes(graph, f"2026-{m:02}-{1 + i % 3:02}", "when")
            nx.set_node_attributes(graph, {v: "ab"[(v + i) % 2] for v in graph}, "kind")
        return graphs

    calibration = LeaveOneOut(copies="together")
    with pytest.warns(IgnoredWarning, match="'when' .a time"):
        detector = GraphKDEDetector(schema="all", calibration=calibration).fit(month(1))
    assert detector.schema_.node_categories == ("kind",)


# -- tables ----------------------------------------------------------------------------------------


def test_both_directions_of_a_table_are_one_edge_by_every_route(tmp_path):
    rng = np.random.default_rng(0)
    A = np.triu(rng.random((5, 5)).round(2), 1)
    A += A.T
    rows = [(i, j, A[i, j]) for i in range(5) for j in range(5) if i != j]
    table = pd.DataFrame(rows, columns=["source", "target", "weight"])
    schema = GraphSchema(edge_weight="weight")
    (tmp_path / "one").mkdir()
    table.to_csv(tmp_path / "one" / "a.csv", index=False)
    (tmp_path / "many").mkdir()
    table.assign(graph="a").to_csv(tmp_path / "many" / "edges.csv", index=False)
    (tmp_path / "many" / "graphs.csv").write_text("graph\na\n")
    (tmp_path / "json").mkdir()
    document = {"nodes": [{"id": i} for i in range(5)], "links": table.to_dict("records")}
    (tmp_path / "json" / "a.json").write_text(json.dumps(document))
    found = [read_graphs(read_tables(table.assign(graph="a")), schema=schema)]
    found += [read_batch(find_files([tmp_path / x]), schema) for x in ("one", "many", "json")]
    for batch in found:
        assert batch.adjacency.sum() == pytest.approx(A.sum())


def test_an_edge_that_is_listed_twice_in_one_direction_stays_two():
    table = pd.DataFrame({"graph": "a", "source": [1, 1, 2], "target": [2, 2, 1], "weight": 1.0})
    schema = GraphSchema(edge_weight="weight")
    assert read_graphs(read_tables(table), schema=schema).adjacency.data.tolist() == [2.0, 2.0]


def test_columns_and_ids_of_tables():
    edges = pd.DataFrame({"graph": ["1"], "source": ["a"], "target": ["b"], "kind": ["x"]})
    twice = pd.concat([edges, edges[["kind"]]], axis=1)
    refused("the table of edges has the column 'kind' twice", read_tables, twice)
    nodes = pd.DataFrame({"graph": [1, 1], "node": ["a", "b"]})
    refused("one is text, and the other a number", read_tables, edges, nodes)
    zeros = pd.DataFrame({"graph": ["01", "01"], "node": ["a", "b"]})
    refused("did you lose leading zeros", read_tables, edges, zeros)


def test_whole_numbers_with_gaps_stay_whole():
    pa = pytest.importorskip("pyarrow")
    numbers = pa.array([2**60 + 1, 2**60 + 2, None])
    table = pa.table({"graph": ["a"] * 3, "source": [1, 2, 3], "target": [2, 3, 4], "n": numbers})
    [graph] = read_tables(table)
    assert [data.get("n") for *_, data in graph.edges(data=True)] == [2**60 + 1, 2**60 + 2, None]


# -- logs and traces -------------------------------------------------------------------------------


def folder(tmp_path, **texts):
    for name, text in texts.items():
        (tmp_path / name.replace("__", ".")).write_text(text)
    return find_files([tmp_path])


def test_times_with_and_without_a_zone_are_refused(tmp_path):
    rows = "c,a,2026-01-01 10:00:00\nc,b,2026-01-01T12:00:00+02:00\n"
    files = folder(tmp_path, log__csv=f"case,activity,time\n{rows}")
    with pytest.warns(UserWarning, match="event log"):
        refused("row 3: .* has a time zone, and .* has none", lambda: list(iter_graphs(files)))


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        ("01-02-2026", "01-03-2026", "'01-02-2026 10:00' under 'time' is read as day and month"),
        ("01/02/2026", "01/03/2026", "'01/02/2026 10:00' under 'time' is read as month and day"),
        ("2026/01/02", "2026/01/03", None),
        ("2026-01-02", "2026-01-03", None),
    ],
)
def test_days_and_months_that_may_be_either_are_said(tmp_path, first, second, message, recwarn):
    text = f"case,activity,time\nc,a,{first} 10:00\nc,b,{second} 10:00\n"
    list(iter_graphs(folder(tmp_path, log__csv=text)))
    said = [str(x.message) for x in recwarn if "is read as" in str(x.message)]
    assert any(message in x for x in said) if message else len(said) == 1  # that it is a log


def test_a_case_in_two_files_is_said(tmp_path):
    rows = "case,activity,time\nc1,a,2026-0{0}-01\nc{0},b,2026-0{0}-02\n"
    files = folder(tmp_path, jan__csv=rows.format(1), feb__csv=rows.format(2))
    with pytest.warns(UserWarning, match="event log") as caught:
        list(iter_graphs(files))
    [said] = [str(x.message) for x in caught if "cases are in two event logs" in str(x.message)]
    assert "'c1' in" in said
    assert "'c2'" not in said


def test_texts_of_xes_are_texts(tmp_path):
    def event(room):
        return (
            '<event><string key="concept:name" value="a"/>'
            f'<date key="time:timestamp" value="2026-01-01"/>{room}</event>'
        )

    events = "".join(
        event(f'<string key="room" value="{x}"/><int key="n" value="7"/>') for x in ("1e3", "1000")
    )
    trace = f'<trace><string key="concept:name" value="c"/>{events}</trace>'
    [(_, graph)] = iter_graphs(folder(tmp_path, l__xes=f"<log>{trace}</log>"), "all")
    assert [data["room"] for data in graph.nodes.values()] == ["1e3", "1000"]
    assert [data["n"] for data in graph.nodes.values()] == [7, 7]


def test_a_column_called_label_is_the_target_of_a_log(tmp_path):
    rows = "c1,a,2026-01-01,normal\nc1,b,2026-01-02,normal\nc2,a,2026-01-01,anomaly\n"
    text = f"case,activity,timestamp,label\n{rows}"
    with pytest.warns(UserWarning, match="event log|may be the target: 'label'"):
        graphs = dict(iter_graphs(folder(tmp_path, log__csv=text)))
    assert [data["label"] for data in next(iter(graphs.values())).nodes.values()] == ["a", "b"]
    with pytest.warns(UserWarning, match="may be the target: 'label'"):
        [first, _] = read_log(pd.read_csv(tmp_path / "log.csv"))
    assert list(first.nodes(data="label")) == [("a", "a"), ("b", "b")]


def test_a_log_in_a_table():
    times = pd.date_range("2026-01-01", periods=4, freq="6h")
    log = pd.DataFrame({"case:concept:name": [2, 1, 1, 2], "concept:name": list("abab")})
    log = log.assign(**{"time:timestamp": times, "cost": [1, 2, 3, 4], "case:kind": list("xyyx")})
    second, first = read_log(log)
    assert first.graph == {"name": "1", "case:kind": "y"}
    assert list(second.edges(data="hours")) == [("a", "b", 18.0)]
    assert list(second.nodes(data="cost")) == [("a", 1), ("b", 4)]
    refused("no column 'who'", read_log, log, resource="who")
    refused("no column 'case:concept:name'.*case=", read_log, log[["concept:name"]])
    refused("event 1 has no 'concept:name'", read_log, log.replace("b", None))


def span(i, parent, kind, status):
    found = {"traceId": "t", "spanId": str(i), "name": "get", "kind": kind}
    found |= {"parentSpanId": parent, "startTimeUnixNano": "0", "endTimeUnixNano": "2000000"}
    return found | {"status": {"code": status}}


def otlp(kind, status):
    spans = [span(1, "", kind, status), span(2, "1", kind, status)]
    service = {"attributes": [{"key": "service.name", "value": {"stringValue": "web"}}]}
    return [{"resource": service, "scopeSpans": [{"spans": spans}]}]


ZIPKIN = [
    {"traceId": "t", "id": str(i), "name": "get", "timestamp": 1, "duration": 2000}
    | {"kind": "SERVER", "tags": {"error": ""}, "localEndpoint": {"serviceName": "web"}}
    | ({"parentId": "1"} if i == 2 else {})
    for i in (1, 2)
]
JAEGER_SPANS = [
    {"traceID": "t", "spanID": str(i), "operationName": "get", "startTime": 1, "duration": 2000}
    | {"processID": "p", "references": [{"refType": "CHILD_OF", "spanID": "1"}] * (i == 2)}
    | {"tags": [{"key": "span.kind", "value": "server"}, {"key": "error", "value": True}]}
    for i in (1, 2)
]
EXPORTS = {
    "OTLP": {"resourceSpans": otlp(2, 2)},
    "OTLP with names": {"resourceSpans": otlp("SPAN_KIND_SERVER", "STATUS_CODE_ERROR")},
    "Tempo": {"batches": otlp(2, 2)},
    "Zipkin": ZIPKIN,
    "Jaeger": {"data": [{"spans": JAEGER_SPANS, "processes": {"p": {"serviceName": "web"}}}]},
}


@pytest.mark.parametrize("export", EXPORTS)
def test_spans_of_every_program_are_the_same(tmp_path, export):
    [(_, graph)] = iter_graphs(folder(tmp_path, t__json=json.dumps(EXPORTS[export])))
    expected = {"label": "web get", "kind": "server", "status": "error", "ms": 2.0}
    assert list(graph.nodes.values()) == [expected, expected]
    assert list(graph.edges) == [("1", "2")]


def test_integers_of_spans_are_numbers_however_they_are_written(tmp_path):
    export = {"resourceSpans": otlp(2, 2)}
    first, second = export["resourceSpans"][0]["scopeSpans"][0]["spans"]
    first["attributes"] = [{"key": "code", "value": {"intValue": "200"}}]
    second["attributes"] = [{"key": "code", "value": {"intValue": 200}}]
    schema = GraphSchema(node_numbers="code")
    [(_, graph)] = iter_graphs(folder(tmp_path, t__json=json.dumps(export)), schema)
    assert [code for _, code in graph.nodes(data="code")] == [200, 200]


# -- molecules -------------------------------------------------------------------------------------


def test_fields_of_sdf_are_typed_as_cells_of_tables(tmp_path):
    Chem = pytest.importorskip("rdkit.Chem")
    block = Chem.MolToMolBlock(Chem.MolFromSmiles("CCO"))
    rows = [("007", "1.5", "A1"), ("012", "2", "1E5")]
    text = ""
    for code, ic50, well in rows:
        fields = {"code": code, "ic50": ic50, "well": well}
        said = "".join(f">  <{name}>\n{value}\n\n" for name, value in fields.items())
        text += f"{block}{said}$$$$\n"
    graphs = [graph.graph for _, graph in iter_graphs(folder(tmp_path, a__sdf=text), "molecule")]
    assert [x["code"] for x in graphs] == ["007", "012"]
    assert [x["ic50"] for x in graphs] == [1.5, 2]
    assert [x["well"] for x in graphs] == ["A1", "1E5"]


def test_molecules_that_were_not_sanitized_are_the_same():
    Chem = pytest.importorskip("rdkit.Chem")
    smiles = "C1=CC=CC=C1CO"
    clean, raw = (Chem.MolFromSmiles(smiles, sanitize=x) for x in (True, False))
    one, other = (read_graphs([mol], schema="molecule") for mol in (clean, raw))
    assert other.label_names == one.label_names
    np.testing.assert_array_equal(other.labels, one.labels)
    assert not raw.GetAtomWithIdx(0).GetIsAromatic()  # it is as it was
    broken = Chem.MolFromSmiles("C(C)(C)(C)(C)C", sanitize=False)
    warned("cannot be sanitized", read_graphs, [broken], schema="molecule")


def test_names_of_molecules_in_windows_1252(tmp_path):
    pytest.importorskip("rdkit")
    (tmp_path / "a.smi").write_bytes("CCO S\xe4ure\nCCC b\n".encode("cp1252"))
    found = warned("not in UTF-8", lambda: dict(iter_graphs(find_files([tmp_path]), "molecule")))
    assert [graph.graph["name"] for graph in found.values()] == ["S\xe4ure", "b"]


def test_made_up_names_avoid_given_ones(tmp_path):
    pytest.importorskip("rdkit")
    (tmp_path / "a.smi").write_text("CCO 1\nCCC x\nCCN 2\nCCCC 2\nCCCO\n")
    with pytest.warns(UserWarning, match="several molecules are called '2'"):
        names = [name.rpartition("/")[2] for name, _ in iter_graphs(find_files([tmp_path]))]
    assert names == ["a.smi#1", "a.smi#x", "a.smi#record 2", "a.smi#3", "a.smi#4"]


# -- messages --------------------------------------------------------------------------------------


def test_an_error_tells_graphs_of_one_name_apart():
    graphs = [with_data(nx.path_graph(3), {"label": "aaa"}) for _ in range(4)]
    for graph in graphs:
        graph.graph["name"] = "net"
    graphs[2].add_node("new")
    with pytest.raises(GraphError, match="net#2, node 'new'"):
        read_graphs(graphs)


def test_matrices_by_keys_are_matrices():
    A = nx.to_scipy_sparse_array(nx.path_graph(3)).todok()
    assert read_graphs([A]).n_edges_per_graph.tolist() == [2]


def test_verdicts_of_0_and_1_are_refused():
    graphs = [nx.cycle_graph(n) for n in range(5, 20)]
    labels = [0] * 14 + [1]
    refused("verdicts are 0 and 1 only", GraphKDEDetector().fit, graphs, verdicts=labels)
    refused("verdicts are 0 and 1 only", GraphKDEDetector().fit, graphs, verdicts=np.array(labels))
    GraphKDEDetector().fit(graphs, verdicts=["normal"] + [""] * 14)
    GraphKDEDetector().fit(graphs, verdicts=[1] * 15)


# -- numbers called x ------------------------------------------------------------------------------


@pytest.mark.parametrize("schema", [None, "all", GraphSchema(node_numbers="x")])
def test_numbers_called_x_count_unless_they_are_coordinates(schema):
    rng = np.random.default_rng(0)

    def graph(slow=False):
        found = nx.gnp_random_graph(10, 0.3, seed=int(rng.integers(1e6)))
        numbers = rng.normal(size=10)
        numbers[0] = 30.0 if slow else numbers[0]
        return with_data(found, {"x": numbers.tolist()})

    detector = GraphKDEDetector(schema=schema).fit([graph() for _ in range(60)])
    assert "numbers" in detector.model_.view_names
    assert detector.predict([graph(slow=True) for _ in range(3)]).tolist() == [-1] * 3


def test_a_category_within_a_vector_is_said():
    rng = np.random.default_rng(0)
    kinds = np.eye(3)[rng.integers(3, size=6)]
    numbers = rng.normal(size=(6, 1))
    graph = {"edges": [(0, 1), (1, 2)], "num_nodes": 6, "x": np.hstack([kinds, numbers])}
    message = "'x' has a category in its columns 0 to 2, .* kind = x\\[:, 0:3\\]"
    warned(message, read_graphs, [graph])
    read_graphs([graph | {"x": np.hstack([kinds[:, :2], numbers])}])  # of which some have none


# -- everyday files --------------------------------------------------------------------------------


def one_graph(tmp_path, name, text, schema="all"):
    (tmp_path / name).write_text(text)
    [(_, graph)] = iter_graphs(find_files([tmp_path / name]), schema)
    return graph


@pytest.mark.parametrize(
    ("text", "edges"),
    [
        ("1,2\n2,3\n", [("1", "2", None), ("2", "3", None)]),
        ("a7,b7,0.5\nb7,c7,1\n", [("a7", "b7", 0.5), ("b7", "c7", 1)]),
        ("1\t2\n# a comment\n2\t3\n", [("1", "2", None), ("2", "3", None)]),
    ],
)
def test_edge_lists_without_names(tmp_path, text, edges):
    graph = warned("without a row of names", one_graph, tmp_path, "a.csv", text)
    assert list(graph.edges(data="weight")) == edges
    assert not graph.is_directed()


@pytest.mark.parametrize(
    "text", ["src,dst,bytes\na,b,7\n", ":START_ID,:END_ID,bytes\na,b,7\n", "from,to,bytes\na,b,7\n"]
)
def test_ends_by_other_names_are_a_direction(tmp_path, text):
    graph = one_graph(tmp_path, "a.csv", text)
    assert graph.is_directed()
    assert list(graph.edges(data="bytes")) == [("a", "b", 7)]


def test_an_export_of_neo4j_has_nodes_and_edges_in_one_table(tmp_path):
    rows = "_id,_labels,age,_start,_end,_type\n5,:A,30,,,\n6,:B,31,,,\n,,,5,6,KNOWS\n"
    graph = one_graph(tmp_path, "a.csv", rows)
    assert dict(graph.nodes) == {
        "5": {"_labels": ":A", "age": 30},
        "6": {"_labels": ":B", "age": 31},
    }
    assert list(graph.edges(data="_type")) == [("5", "6", "KNOWS")]


@pytest.mark.parametrize("has_names", [True, False])
@pytest.mark.parametrize("is_directed", [True, False])
def test_square_tables_are_matrices(tmp_path, has_names, is_directed):
    A = np.triu(np.arange(16.0).reshape(4, 4), 1)
    A += A.T * (1 - 0.5 * is_directed)
    table = pd.DataFrame(A, index=list("abcd"), columns=list("abcd"))
    text = table.to_csv(index=has_names)
    graph = warned("square table", one_graph, tmp_path, "a.csv", text)
    assert graph.is_directed() == is_directed
    np.testing.assert_array_equal(nx.to_numpy_array(graph, nodelist=list("abcd")), A)


def test_a_square_of_numbers_without_names_is_a_matrix(tmp_path):
    """As `numpy.savetxt` writes it; cells of the first row are alike."""
    A = np.eye(5, k=1) + np.eye(5, k=-1)
    np.savetxt(tmp_path / "a.csv", A, delimiter=",")
    text = (tmp_path / "a.csv").read_text()
    graph = warned("square table", one_graph, tmp_path, "a.csv", text)
    np.testing.assert_array_equal(nx.to_numpy_array(graph), A)


SYMMETRIC = "1,.5,.2,.9\n.5,1,.3,.8\n.2,.3,1,.7\n.9,.8,.7,1\n"


@pytest.mark.parametrize(
    ("text", "nodes"),
    [
        ("1,.5,.2\n.5,1,.3\n.2,.3,1\n", "012"),
        ("0,1,0\n1,0,1\n0,1,0\n", "012"),
        (SYMMETRIC, "0123"),
        (SYMMETRIC + "\n\n", "0123"),
        (SYMMETRIC.replace("\n", ",\n"), "0123"),
        (SYMMETRIC.replace(",", ";"), "0123"),
        ("0,1,2,3\n1,0,5,0\n2,5,0,6\n3,0,6,0\n", "123"),  # a corner, and names
        ("nan,7,8,5\n7,0,5,0\n8,5,0,6\n5,0,6,0\n", "785"),
        (",7,8,5\n7,0,5,0\n8,5,0,6\n5,0,6,0\n", "785"),
        (",7,8\n7,0,5\n8,5,0\n", "78"),
        (",a,b,c,d\n0,0,1,0,0\n1,1,0,1,0\n2,0,1,0,1\n3,0,0,1,0\n", "abcd"),
    ],
)
def test_matrices_with_and_without_names(tmp_path, text, nodes):
    graph = warned("square table", one_graph, tmp_path, "a.csv", text)
    assert list(graph) == list(nodes)


@pytest.mark.parametrize(
    "header", ["source,target,weight,time", "from,to,amount,year", "source,target,a,b"]
)
def test_four_edges_with_two_numbers_are_no_matrix(tmp_path, header):
    rows = "".join(f"{u},{u + 1},{0.5 * u},7\n" for u in range(4))
    graph = one_graph(tmp_path, "a.csv", f"{header}\n{rows}")
    assert list(graph.edges) == [(str(u), str(u + 1)) for u in range(4)]


@pytest.mark.parametrize("n", [3, 4, 5])
def test_edges_without_names_are_no_matrix(tmp_path, n):
    rows = "".join(f"{u},{u + 7},{0.5 * u},{u}\n" for u in range(n))
    with pytest.raises(ValueError, match="cannot be read as an edge list"):
        one_graph(tmp_path, "a.csv", rows)


def test_a_matrix_whose_entries_are_mostly_missing(tmp_path):
    A = np.where(np.eye(9, k=1) + np.eye(9, k=-1) > 0, 2.0, np.nan)
    np.savetxt(tmp_path / "a.csv", A, delimiter=",")
    text = (tmp_path / "a.csv").read_text()
    missing = pytest.warns(UserWarning, match="write 0 where there is no edge")
    with missing, pytest.warns(UserWarning, match="square table of numbers"):
        one_graph(tmp_path, "a.csv", text)


def test_a_short_edge_list_is_no_matrix(tmp_path):
    text = "source,target,weight\n1,2,3\n2,3,4\n3,1,5\n"
    assert one_graph(tmp_path, "a.csv", text).edges["1", "2"] == {"weight": 3}


def test_graphml_of_programs_without_types(tmp_path):
    """All are texts, and typed as the cells of a table: numbers are numbers, and 007 is none."""
    graph = with_data(nx.path_graph(2), {"code": "007", "ms": "1.5", "label": "7"}, {"w": "12"})
    nx.write_graphml(graph, tmp_path / "a.graphml")
    [(_, found)] = iter_graphs(find_files([tmp_path]), "all")
    assert found.nodes["0"] == {"code": "007", "ms": 1.5, "label": 7}
    assert list(found.edges(data="w")) == [("0", "1", 12)]
    nx.set_node_attributes(graph, 1, "n")  # with a type, which says that the others are texts
    nx.write_graphml(graph, tmp_path / "a.graphml")
    [(_, found)] = iter_graphs(find_files([tmp_path]), "all")
    assert found.nodes["0"] == {"code": "007", "ms": "1.5", "label": "7", "n": 1}


def test_numbers_that_count_the_nodes_of_each_graph_are_left_out():
    rng = np.random.default_rng(0)
    graphs = []
    for n in range(8, 20):
        data = {"nr": list(range(1, n + 1)), "load": rng.random(n).tolist()}
        graphs.append(with_data(nx.cycle_graph(n), data))
    with pytest.warns(IgnoredWarning, match="'nr' .a running number"):
        detector = GraphKDEDetector(schema="all").fit(graphs)
    assert detector.schema_.names("node_numbers") == ("load",)


# -- numbers and names as text ---------------------------------------------------------------------


def streets(n_graphs=30):
    """Graphs whose data are all text, as some programs write them."""
    rng = np.random.default_rng(0)
    graphs = []
    count = 0
    for k in range(n_graphs):
        graph = nx.random_labeled_tree(6, seed=k)
        for node, data in graph.nodes.items():
            count += 1
            point = f"{rng.normal():.4f} {rng.normal():.4f}"
            data |= {
                "place": str(node + 1),
                "running": str(count),
                "osmid": str(10**8 + int(rng.integers(10**7))),
                "length": f"{rng.normal(10, 1):.2f}",
                "people": str(int(rng.integers(10**4, 10**6))),
                "lanes": "12"[node % 2],
                "geometry": f"POINT ({point})",
                "note": " ".join(rng.choice(list("abcdefgh"), 6)),
                "host": f"h{rng.integers(10**9)}",
            }
        graphs.append(graph)
    return graphs


@pytest.mark.parametrize("form", ["networkx", "graphml", "json"])
def test_text_is_read_as_what_it_says(form, tmp_path):
    graphs = streets()
    if form == "json":
        content = [nx.node_link_data(graph, edges="links") for graph in graphs]
        (tmp_path / "all.json").write_text(json.dumps(content))
    elif form == "graphml":
        for k, graph in enumerate(graphs):
            nx.write_graphml(graph, tmp_path / f"{k:02d}.graphml")
    batch = graphs if form == "networkx" else read_batch(find_files([tmp_path]), "all")
    detector = warned("not read", GraphKDEDetector(schema="all").fit, batch)
    schema = detector.schema_
    of_graphml = {"lanes"} if form == "graphml" else set()  # as all of its data are text
    assert set(schema.names("node_numbers")) == {"length", "people"} | of_graphml
    assert set(schema.names("node_categories")) == {"lanes"} - of_graphml
    why = {x.name: x.why for x in schema.ignored}
    running = dict.fromkeys(("place", "running"), "running number")
    ids = dict.fromkeys(("osmid", "host"), "identifier")
    assert why == {**running, **ids, "geometry": "shape", "note": "free text"}


@pytest.mark.parametrize(
    ("texts", "are_numbers"),
    [
        (["1.5", "2.25", "3"], True),
        ([str(7 * k) for k in range(30)], True),
        (["3.1", "3.10", "3.2"], False),  # versions
        (["1E5", "1E6", "2E5"], False),
        (["1.5e-3", "2.5", "4"], True),
        (["+41441234567", "+41441234568.5", "7"], False),
        (["inf", "1.5", "2"], False),
        (["1", "2", "3"] * 10, False),
    ],
)
def test_texts_that_are_numbers(texts, are_numbers):
    graphs = []
    for k in range(0, len(texts), 3):
        graph = nx.path_graph(3)
        nx.set_node_attributes(graph, dict(enumerate(texts[k : k + 3])), "x1")
        graphs.append(graph)
    schema = read_graphs(graphs, schema="all").schema
    assert ("x1" in schema.names("node_numbers")) == are_numbers


def test_numbers_that_count_edges_are_left_out():
    graphs = []
    for k in range(12):
        graph = nx.gnp_random_graph(8, 0.4, seed=k)
        for place, (_, _, data) in enumerate(graph.edges(data=True)):
            data |= {"fid": place, "text": str(place), "lanes": place % 3}
        graphs.append(graph)
    detector = warned("running number", GraphKDEDetector(schema="all").fit, graphs)
    assert detector.schema_.names("edge_numbers") == ("lanes",)
    assert detector.schema_.names("edge_categories") == ()


def test_vectors_are_read_as_fit_read_them():
    """A tuple of 0 and 1 is a position only if all that fit read were such vectors."""

    def graph_with(*values):
        graph = nx.path_graph(len(values) + 1)
        nx.set_edge_attributes(graph, dict(zip(graph.edges, values, strict=True)), "kind")
        return graph

    schema = GraphSchema(edge_categories="kind")
    mixed = read_graphs([graph_with((1, 0), (0, 1), (-1, 0))], schema=schema)
    part = read_graphs([graph_with((1, 0), (0, 1))], schema=mixed.schema)
    assert set(part.edge_label_names) == {(1, 0), (0, 1)}
    one_hot = read_graphs([graph_with([1, 0], [0, 1])], schema=schema)
    assert one_hot.edge_label_names == (0, 1)
    others = read_graphs([graph_with((1, 0), (1, 2)), graph_with((0, 1))], schema=one_hot.schema)
    assert others.edge_label_names == (0, 1, (1, 2))


def test_follows_from_is_a_call_and_true_may_be_text(tmp_path):
    first, second = [dict(x) for x in JAEGER_SPANS]
    second["references"] = [{"refType": "FOLLOWS_FROM", "spanID": "1"}]
    second["tags"] = [{"key": "error", "value": "true"}]
    export = {"data": [{"spans": [first, second], "processes": {"p": {"serviceName": "web"}}}]}
    [(_, graph)] = iter_graphs(folder(tmp_path, t__json=json.dumps(export)))
    assert list(graph.edges) == [("1", "2")]
    assert graph.nodes["2"]["status"] == "error"


def test_a_heterogeneous_graph_has_data_of_its_own():
    torch = pytest.importorskip("torch")
    geometric = pytest.importorskip("torch_geometric.data")
    graph = geometric.HeteroData()
    graph["a"].num_nodes = 2
    graph["a", "to", "a"].edge_index = torch.tensor([[0], [1]])
    graph.country = "US"
    schema = GraphSchema(graph_categories="country")
    assert read_graphs([graph], schema=schema).graph_label_names == ("US",)


def test_keys_that_fit_read_are_read_of_every_graph():
    """Also of one in which no key recurs."""
    graphs = []
    for keys in (("call", "mail", "call"), ("call", "mail", "text")):
        graph = nx.MultiGraph()
        for node, key in enumerate(keys):
            graph.add_edge(node, node + 1, key)
        graphs.append(graph)
    fitted = read_graphs(graphs[:1], schema="all")
    assert fitted.edge_label_names == ("call", "mail")
    assert read_graphs(graphs[1:], schema=fitted.schema).edge_label_names == (
        "call",
        "mail",
        "text",
    )
    counted = nx.MultiGraph([(0, 1, np.int64(0)), (0, 1, np.int64(1)), (1, 2, np.int64(0))])
    assert read_graphs([counted], schema="all").edge_label_names == ()


def test_vectors_of_other_types_are_refused():
    """Their blocks would stand in other columns."""
    torch = pytest.importorskip("torch")
    geometric = pytest.importorskip("torch_geometric.data")

    def graph_of(**widths):
        graph = geometric.HeteroData()
        for kind, width in widths.items():
            graph[kind].x = torch.ones((2, width))
        first, second = widths
        graph[first, "to", second].edge_index = torch.tensor([[0, 1], [0, 1]])
        return graph

    schema = GraphSchema(node_numbers="x")
    message = (
        "vectors 'x' of its types of nodes are b 0, b 1, b 2, c 0, c 1, and those of others a 0"
    )
    refused(message, read_graphs, [graph_of(a=2, b=3), graph_of(b=3, c=2)], schema=schema)
    fitted = read_graphs([graph_of(a=2, b=3)], schema=schema).schema
    refused(message, read_graphs, [graph_of(b=3, c=2)], schema=fitted)


def test_a_span_that_did_not_end_has_no_duration(tmp_path):
    first, second = [dict(x) for x in ZIPKIN]
    del second["duration"]
    [(_, graph)] = iter_graphs(folder(tmp_path, t__json=json.dumps([first, second])))
    assert graph.nodes["1"]["ms"] == 2
    assert "ms" not in graph.nodes["2"]


def test_targets_in_a_dict_are_no_data():
    """A node has a "y" and a "label" in a dict for other things than a prediction."""
    graphs = [nx.path_graph(3, create_using=nx.Graph) for _ in range(2)]
    for i, graph in enumerate(graphs):
        graph.graph["meta"] = {"label": "b", "y": i, "size": i}
        for node in graph:
            graph.nodes[node]["at"] = {"y": i + node, "is_fraud": i}
    schema = read_graphs(graphs, schema="all").schema
    assert schema.names("graph_numbers") == ("meta.size",)
    assert schema.names("node_numbers") == ("at.y",)
    named = GraphSchema(graph_categories="meta.label")
    assert read_graphs(graphs, schema=named).graph_label_names == ("b",)

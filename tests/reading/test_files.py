"""Files that networkx writes are read back unchanged; broken files get one clear error."""

import csv
import gzip
import json
import os
import re
import zipfile
from contextlib import suppress
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

from skgraphkde.core.graphs import GraphSchema
from skgraphkde.reading import read_graphs
from skgraphkde.reading.files import (
    find_files,
    iter_graphs,
    node_link_graphs,
    read_batch,
)
from skgraphkde.reading.files.common import name_of
from skgraphkde.reading.files.tables import TableFiles, read_cells, typed_columns
from tests.conftest import random_graphs, refused, warned, with_data
from tests.datasets.common import tu_files, write_zip
from tests.reading.common import measured_graphs


def named(graphs):
    """The graphs with strings as node ids, as in files."""
    return [nx.relabel_nodes(graph, lambda node: f"n{node}") for graph in graphs]


def write_json(path, content):
    path.write_text(json.dumps(content), encoding="utf-8")


def read_one(path, text, schema=None):
    """The graph of a file with this text."""
    path.write_text(text, encoding="utf-8")
    [(_, graph)] = iter_graphs([path], schema)
    return graph


def assert_same(batch, expected):
    """The same arrays and schema; graphs of files have names, and ids of nodes."""
    *arrays, _, _, _ = batch.__reduce__()[1]
    *others, _, _, _ = expected.__reduce__()[1]
    for ours, theirs in zip(arrays, others, strict=True):
        is_sparse = sp.issparse(ours)
        for name in ("data", "indices", "indptr") if is_sparse else ():
            np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name))
        if not is_sparse:
            np.testing.assert_equal(ours, theirs)


# -- which files -----------------------------------------------------------------------------------


def test_folders_are_searched_in_order(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    visible = ["a/b.gml", "a/c.GraphML", *(f"a/{letter}/z.json" for letter in "ABCDEFGH")]
    visible += ["a/I/a.zip", "a/I/b.zip", "a/J/a.csv", "a/J/b.CSV.GZ", "a/J/c.gexf", "a/J/d.Gml.gz"]
    beside = ["a/J/a.nodes.csv.gz", "a/J/b.nodes.CSV", "a/J/e.zip.gz"]
    others = ["a/readme.txt", "a/J/more.txt", "a/page.html", "a/model.skg", "a/.hidden.gml"]
    for name in [*visible, *beside, *others, "a/.git/x.json", "other.json"]:
        os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
        open(name, "w").close()
    message = "left out, as no graph files: 2 .txt, 1 .gz$"
    found = warned(message, find_files, ["other.json", "a"])
    assert [path.as_posix() for path in found] == ["other.json", *visible]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nowhere", "nowhere does not exist: give"),
        ("empty", r"contains no graph file \(.graphml, .*, .zip; all but .zip also .*parquet\)"),
        ("table.txt", "table.txt does not have the suffix of a graph file: give one of .graphml"),
        ("a.zip.gz", "a.zip.gz does not have the suffix of a graph file"),
    ],
)
def test_paths_that_lead_to_no_graph(tmp_path, name, message):
    (tmp_path / "empty").mkdir()
    for file in ("table.txt", "a.zip.gz"):
        (tmp_path / file).touch()
    refused(message, find_files, [tmp_path / name])


# -- formats ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (b"", "it contains no graph"),
        (b"\xff", "Expecting value"),
        ("[]", "it contains no graph"),
        ("3", 'a graph has no list "nodes"'),
        ("[" * 100_000, "maximum recursion depth"),
        ("[OK, {}]", 'graph 1: a graph has no list "nodes"'),
        ('[OK, OK, {"nodes": [{"id": {}}], "edges": []}]', r"graph 2: {} is no id of a node"),
        ('{"nodes": [{"id": null}], "edges": []}', "a node has the id null"),
        ('{"nodes": [{}, "b"], "edges": []}', "'b' is no node and no edge"),
        ('{"elements": [{}, 5]}', "5 is no node and no edge"),
        ('{"elements": null}', 'a graph has no list "nodes"'),
        ('[OK, {"nodes": [], "edges": [{"source": 1}]}]', r"graph 1: the edge \(1, None\) ends"),
    ],
)
def test_texts_that_are_no_graphs(text, why):
    text = text if isinstance(text, bytes) else text.replace("OK", '{"nodes": [{}], "edges": []}')
    refused(rf"^the text cannot be read as node-link JSON \({why}", node_link_graphs, text)
    with suppress(ValueError, RecursionError):  # what a parser makes of it
        message = rf"^the document cannot be read as node-link JSON \({why}"
        refused(message, node_link_graphs, json.loads(text))


MEASURED = GraphSchema(node_categories=("atom", "node_type"), node_numbers="temp", edge_weight="w")
KINDS = [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph]


def write_measured(graph, path):
    if path.suffix == ".json":
        write_json(path, nx.node_link_data(graph, edges="edges"))
    elif path.suffix == ".csv":
        ends = ("from", "to") if graph.is_directed() else ("source", "target")
        rows = [[u, v, *data.values()] for u, v, data in graph.edges(data=True)]
        write_csv(path, [[*ends, "label", "flow", "w"], *rows])
        nodes = [[node, *data.values()] for node, data in graph.nodes(data=True)]
        table = path.with_name(f"{path.stem}.nodes.csv")
        write_csv(table, [["id", "atom", "node_type", "temp"], *nodes])
    else:
        {".graphml": nx.write_graphml, ".gml": nx.write_gml, ".gexf": nx.write_gexf}[path.suffix](
            graph, path
        )


def write_csv(path, rows):
    path.write_text("".join(f"{','.join(map(str, row))}\n" for row in rows), encoding="utf-8")


def pack(path):
    path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
    path.unlink()


def zipped(path, **files):
    """A zip of texts, in which each member has its own name."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return path.read_bytes()


@pytest.mark.parametrize("suffix", ["graphml", "gml", "gexf", "json", "csv"])
@pytest.mark.parametrize("kind", KINDS)
def test_data_and_directions_there_and_back(tmp_path, suffix, kind):
    graphs = measured_graphs(kind)
    for i, graph in enumerate(graphs):
        write_measured(graph, tmp_path / f"{i}.{suffix}")
        if i % 3:
            pack(tmp_path / f"{i}.{suffix}")
    files, schema = find_files([tmp_path]), MEASURED.set_params(edge_numbers="flow")
    expected = read_graphs(graphs, schema=schema)
    assert expected.directed == graphs[0].is_directed()
    assert_same(read_batch(files, schema), expected)
    if suffix != "gml":  # where "label" is the name of a node
        assert_same(read_batch(files, "all"), read_graphs(graphs, schema="all"))
    for file, graph in zip(files, graphs, strict=True):
        assert read_batch([file], expected.schema).node_ids.tolist() == list(graph)


GRAPHML = """<graphml><key id="d" for="node" attr.name="label" attr.type="string">
<default>C</default></key><key id="w" for="edge" attr.name="order" attr.type="double">
<default>2</default></key><key id="c" attr.name="color" attr.type="string">
<default/></key>{}</graphml>"""
BOND = """<graph edgedefault="undirected"><node id="a"/><node id="b"><data key="d">N</data></node>
<edge id="e1" source="a" target="b"/></graph>"""


# A group of yEd has two graphs, and an inner graph of any other node is read alike. The arc in it
# makes the other edge two arcs.
INNER = """<graphml><graph edgedefault="undirected"><node id="a"/><node id="g"{}>
<graph edgedefault="directed"><node id="b"/><edge source="b" target="a"/></graph>
<graph edgedefault="directed"><node id="c"/></graph></node><edge source="a" target="c"/>
</graph></graphml>"""
NODES = '<nodes><node id="a"/><node id="b"/><node id="c"/></nodes>'
GEXF = f'<gexf xmlns="http://gexf.net/1.3"><graph defaultedgetype="{{}}">{NODES}{{}}</graph></gexf>'
# GEXF allows edges beside the nodes that a node contains.
NESTED = f'<gexf><graph><nodes><node id="d">{NODES}{{}}</node></nodes></graph></gexf>'
EDGE = '<edges><edge source="a" target="b"{}/></edges>'
TWO = '<edges><edge source="a" target="b"/><edge source="b" target="c" type="mutual"/></edges>'


def test_in_gexf_a_label_is_read_unless_it_repeats_the_id(tmp_path):
    path, graph = tmp_path / "a.gexf", nx.path_graph(["a", "b"])
    nx.write_gexf(graph, path)
    assert read_batch([path]).labels is None
    assert read_batch([path], GraphSchema(node_categories="label")).label_names == ("a", "b")
    nx.set_node_attributes(graph, "C", "label")
    nx.write_gexf(graph, path)
    assert read_batch([path]).label_names == ("C",)


GEPHI = """<?xml version="1.0" encoding="UTF-8"?>
<gexf xmlns="http://www.gexf.net/1.2draft" version="1.2" xmlns:viz="http://www.gexf.net/1.2draft/viz">
<meta><creator>Gephi</creator></meta><graph defaultedgetype="undirected">
<attributes class="node" mode="static"><attribute id="k" title="kind" type="string">
<default>pump</default></attribute><attribute id="s" title="small" type="byte"/></attributes>
<attributes class="edge"><attribute id="f" title="flow" type="double"/></attributes>
<nodes count="2"><node id="0" label="P1"><attvalues><attvalue for="s" value="3"/></attvalues>
<viz:size value="2"/></node><node id="1" label="V1"><attvalues><attvalue for="k" value="valve"/>
</attvalues></node></nodes><edges><edge id="0" source="0" target="1" weight="2.5" label="">
<attvalues><attvalue for="f" value="0.5"/></attvalues></edge></edges></graph></gexf>"""


def test_a_zip_of_the_tu_collection(tmp_path, monkeypatch):
    monkeypatch.setattr("skgraphkde.reading.files.tu.ZIP_BLOCK", 2)
    expected = read_graphs(random_graphs(5, n_attributes=2))
    write_zip(tmp_path, tu_files(expected))
    [path] = find_files([tmp_path])
    batch = read_batch([path], GraphSchema(node_categories=None))
    assert batch.labels is None
    # pandas before 3.1 trades the last digit of a decimal number for speed.
    np.testing.assert_allclose(batch.attributes, expected.attributes, atol=1e-15)
    np.testing.assert_array_equal(batch.adjacency.indices, expected.adjacency.indices)
    labels = read_batch([path]).labels
    np.testing.assert_array_equal(labels, expected.labels)  # the files hold codes, not names
    assert [name for name, _ in iter_graphs([path])] == [f"{path}#{i}" for i in range(5)]


def test_in_gml_label_is_a_label_if_the_user_says_so(tmp_path):
    text = 'graph [ node [ id 5 label "C" ] node [ id 7 label "{}" ] edge [ source 5 target 7 ] ]'
    for name in "CN":
        (tmp_path / f"{name}.gml").write_text(text.format(name))
    files, names = find_files([tmp_path]), ["C (5)", "C (7)", "C", "N"]
    message = "node labels repeat in GML files.*--node-category lab"
    for schema in (None, "all"):
        batch = warned(message, read_batch, files, schema)
        assert (batch.node_ids.tolist(), batch.labels) == (names, None)
    batch = read_batch(files, GraphSchema(node_categories="label"))
    assert [batch.label_names[code] for code in batch.labels] == ["C", "C", "C", "N"]
    batch = read_batch(files, GraphSchema(node_categories=None))
    assert (batch.node_ids.tolist(), batch.labels) == (names, None)


# -- edge lists ------------------------------------------------------------------------------------


def csv_graph(folder, edges, nodes=None, schema=None):
    write_csv(folder / "a.csv", [row.split(",") for row in edges])
    if nodes is not None:
        write_csv(folder / "a.nodes.csv", [row.split(",") for row in nodes])
    [(name, graph)] = iter_graphs(find_files([folder]), schema)
    assert name == str(folder / "a.csv")
    return graph


def test_cells_are_numbers_text_or_missing(tmp_path):
    graph = csv_graph(
        tmp_path,
        ["source,target,flow,kind", "01,x y,1.5,", " 01 ,3,-2e1,007", "3,x y,,inf"],
        ["size,id,on", "1,01,", ",x y,True", "3.,3,no"],
    )
    assert list(graph.nodes(data=True)) == [
        ("01", {"size": 1}),
        ("x y", {"on": "True"}),
        ("3", {"size": 3.0, "on": "no"}),
    ]
    assert {type(data.get("size")) for data in graph.nodes.values()} == {int, type(None), float}
    assert [data for *_, data in graph.edges(data=True)] == [
        {"flow": 1.5},
        {"flow": -20.0, "kind": "007"},
        {"kind": "inf"},
    ]


def test_categories_of_csv_are_as_written(tmp_path):
    cells = ["1.1", "1.10", "7", "+7", "007", "1E2", "1E+5", "-0", "Inf", "inf", "0.1"]
    nodes = ["id,version", *(f"{i},{cell}" for i, cell in enumerate(cells))]
    assert csv_graph(tmp_path, ["source,target", "0,1"], nodes[:4]).nodes["1"] == {"version": 1.1}
    csv_graph(tmp_path, ["source,target", "0,1"], nodes)
    named, path = GraphSchema(node_categories="version"), tmp_path / "a.csv"
    everything = read_batch([path], GraphSchema.everything()).schema
    for schema in (named, GraphSchema.everything(), everything.to_schema()):
        batch = read_batch([path], schema)  # the same in fit and later
        values = [batch.label_names[code] for code in batch.labels]
        assert values == [1.1, "1.10", 7, *cells[3:10], 0.1]


def test_both_directions_of_an_undirected_edge_are_one(tmp_path):
    rows = ["source,target,w", "a,b,2", "b,a,2", "b,c,1", "c,b,4", "c,d,1", "c,d,1", "d,d,9"]
    graph = csv_graph(tmp_path, rows)
    assert sorted(w for *_, w in graph.edges(data="w")) == [1, 1, 1, 2, 4, 9]
    batch = read_batch([tmp_path / "a.csv"], GraphSchema(edge_weight="w"))
    assert batch.adjacency.toarray()[0].tolist() == [0, 2, 0, 0]
    assert batch.adjacency.toarray()[2].tolist() == [0, 5, 0, 2]  # weights of parallel edges


def test_a_table_of_nodes_is_found_beside_a_packed_list(tmp_path):
    csv_graph(tmp_path, ["source,target", "u,v"], ["id,label", "u,C", "v,N", "w,O"])
    pack(tmp_path / "a.csv")
    every = [tmp_path / "a.csv.gz", tmp_path / "a.nodes.csv"]  # as a shell expands *.csv*
    assert find_files(every) == find_files([tmp_path]) == every[:1]
    assert read_batch(every[:1]).label_names == ("C", "N", "O")


UTF8_WITH_A_MARK = "source,target\nä,b\n\n".encode("utf-8-sig")
LATIN_CSV = "source,target\nä,b\n".encode("latin-1")


@pytest.mark.filterwarnings("ignore:.*a.csv is not in UTF-8. it is read as Windows-1252")
@pytest.mark.parametrize(
    ("content", "options", "first"),
    [
        (UTF8_WITH_A_MARK, {}, "ä"),
        (LATIN_CSV, {}, "ä"),
        (LATIN_CSV, {"encoding": "cp1251"}, "д"),
    ],
)
def test_marks_and_alphabets(tmp_path, content, options, first):
    path = tmp_path / "a.csv"
    path.write_bytes(content)
    assert read_batch([path], options=options).node_ids.tolist() == [first, "b"]
    for encoding in ("ascii", "utf-9"):
        refused("give another --encoding", read_batch, [path], options={"encoding": encoding})


ROWS = [["source", "target", "cost", "said"], ["u", "v", "1234.5", "a, b"], ["v", "w", "7", "c; d"]]


@pytest.mark.parametrize("index", [False, True])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_how_a_table_is_written_is_recognized(tmp_path, separator, encoding, index):
    rows = [[["", "5", "9"][k], *row] if index else row for k, row in enumerate(ROWS)]
    path = tmp_path / ("a.tsv" if separator == "\t" else "a.csv")
    with path.open("w", encoding=encoding, newline="") as file:
        csv.writer(file, delimiter=separator).writerows(rows)
    ((_, graph),) = iter_graphs(find_files([tmp_path]))
    assert [x for *_, x in graph.edges(data=True)] == [
        {"cost": 1234.5, "said": "a, b"},
        {"cost": 7, "said": "c; d"},
    ]
    refused("has no columns", read_batch, [path], options={"separator": "_"})


# The cells of a column -> its values, and the decimal mark that the user gives.
DECIMALS = {
    "comma": (["1,5", "20,25", "3"], [1.5, 20.25, 3], None),
    "comma and points": (["1.234,5", "20", "1.000"], [1234.5, 20, 1000], None),
    "comma and blanks": (["1 234,5", "20,0"], [1234.5, 20.0], None),
    "point and commas": (["1,234.5", "20", "1,000"], [1234.5, 20, 1000], None),
    "given comma": (["1,234", "2,345"], [1.234, 2.345], ","),
    "given point": (["1,234", "2,345"], [1234, 2345], "."),
    "places": (["52,13 N", "8,1 E"], ["52,13 N", "8,1 E"], None),
    "zeros": (["00,5", "01,5"], ["00,5", "01,5"], None),
    "both": (["1.5", "1.234", "7"], [1.5, 1.234, 7], ","),
    "exponents": (["1,07E+03", "2,5e-1"], [1070.0, 0.25], None),
    "apostrophes": (["1'234.50", "1\u2019234", "7"], [1234.5, 1234, 7], None),
    "minus": (["\u22125", "\u22120.5", "1"], [-5, -0.5, 1], None),
    "Arabic": (["\u0661\u0662\u066b\u0665", "\u0663"], [12.5, 3], None),
    "full width": (["\uff11\uff12", "\uff13\uff0e\uff15"], [12, 3.5], None),
    "units": (["49%", "$3.50", "x'234"], ["49%", "$3.50", "x'234"], None),
}


@pytest.mark.parametrize("kind", DECIMALS)
def test_decimal_marks(kind):
    texts, expected, mark = DECIMALS[kind]
    path, schema = Path("a.csv"), GraphSchema.everything()
    assert typed_columns(path, {"a": texts}, schema, "node", mark) == {"a": expected}
    # What one column says counts for another.
    columns = {"a": texts, "b": ["1.234"], "c": ["3,25"]}
    found = typed_columns(path, columns, schema, "node", mark or ",")
    assert found["b"] == [1.234 if mark == "." else 1234]


def test_points_that_may_be_between_thousands_are_said(tmp_path):
    text = "source;target;betrag;nr\na;b;987;1.5.2\nb;c;1.234;1.234.x\nc;d;12.500;0.123\n"
    message = r"such as '1\.234' under 'betrag' of .*a\.csv may .*--decimal ,"
    graph = warned(message, read_one, tmp_path / "a.csv", text)
    assert [x for *_, x in graph.edges(data="betrag")] == [987, 1.234, 12.5]
    for mark, amount in ((",", 1234), (".", 1.234)):
        [(_, graph)] = iter_graphs([tmp_path / "a.csv"], options={"decimal": mark})
        assert graph.edges["b", "c"]["betrag"] == amount
    # 0.5 has a point that no thousands have.
    read_one(tmp_path / "a.csv", "source;target;a;b\na;b;1.234;0.5\n")
    # A version is no number.
    read_one(tmp_path / "a.csv", "source;target;v\na;b;1.234\n", GraphSchema(edge_categories="v"))


def test_the_tables_of_a_call_have_one_decimal_mark(tmp_path):
    for name, amounts in {"a": "1,5 2,25", "b": "1.234 2.500", "c": "1,234 2,500"}.items():
        u, v = amounts.split()
        (tmp_path / f"{name}.csv").write_text(f"source;target;betrag\na;b;{u}\nb;c;{v}\n")
    found = [graph for _, graph in iter_graphs(find_files([tmp_path]))]
    amounts = [[x for *_, x in graph.edges(data="betrag")] for graph in found]
    assert amounts == [[1.5, 2.25], [1234, 2500], [1.234, 2.5]]
    # Where another file has points, each is read by itself.
    (tmp_path / "w.csv").write_text("source;target;betrag\na;b;0.5\n")
    with pytest.warns(UserWarning, match=r"b\.csv, .* under 'betrag' of .*c\.csv may have a"):
        found = dict(iter_graphs(find_files([tmp_path])))
    first = [found[str(tmp_path / f"{x}.csv")].edges["a", "b"]["betrag"] for x in "wab"]
    assert first == [0.5, 1.5, 1.234]


def test_tables_of_many_graphs_have_one_decimal_mark(tmp_path):
    (tmp_path / "edges.csv").write_text("graph;source;target;w\ng;a;b;1,5\n")
    (tmp_path / "nodes.csv").write_text("graph;node;u\ng;a;987\ng;b;1.234\n")
    (tmp_path / "graphs.csv").write_text("graph;total\ng;12.500\n")
    [(_, graph)] = iter_graphs(find_files([tmp_path]))
    assert [x for _, x in graph.nodes(data="u")] == [987, 1234]
    assert graph.graph["total"] == 12500
    (tmp_path / "x.csv").write_text("source;target;w\na;b;1,5\n")
    (tmp_path / "x.nodes.csv").write_text("id;u\na;987\nb;1.234\n")
    [(_, graph)] = iter_graphs([tmp_path / "x.csv"])
    assert [x for _, x in graph.nodes(data="u")] == [987, 1234]


def test_graphs_of_json_in_lines(tmp_path):
    graphs = [nx.path_graph(3), nx.cycle_graph(4)]
    lines = [json.dumps(nx.node_link_data(graph, edges="edges")) for graph in graphs]
    (tmp_path / "a.jsonl").write_text("\n".join(lines) + "\n")
    assert_same(read_batch(find_files([tmp_path])), read_graphs(graphs))


# -- any number of files ---------------------------------------------------------------------------


def test_errors_go_to_the_callback(tmp_path):
    good = nx.node_link_data(nx.path_graph(3), edges="edges")
    bad = good | {"nodes": [{"id": i, "x": "high"} for i in range(3)]}
    for name, content in (("a", good), ("b", {}), ("c", [good, bad, good]), ("d", [good])):
        write_json(tmp_path / f"{name}.json", content)
    errors = []
    names = read_batch(find_files([tmp_path]), on_error=errors.append).names
    found = [os.path.basename(name) for name in names]
    assert found == ["a.json", "c.json#0", "c.json#2", "d.json#0"]
    assert re.search(r"b\.json cannot", str(errors[0]))
    assert re.search(r"c\.json#1, node 0: the node attribute 'x' is not a number", str(errors[1]))


# -- files as programs write them ------------------------------------------------------------------

YED = """
  <?xml version="1.0" encoding="UTF-8" standalone="no"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns" xmlns:y="http://www.yworks.com/xml/graphml">
<key for="port" id="d1" yfiles.type="portgraphics"/>
<key attr.name="url" attr.type="string" for="node" id="d4"/>
<key for="node" id="d6" yfiles.type="nodegraphics"/>
<key for="edge" id="d10" yfiles.type="edgegraphics"/><graph edgedefault="directed" id="G">
<node id="n0"><data key="d4" xml:space="preserve"/><data key="d6"><y:ShapeNode>
<y:Geometry height="40.0" width="80.0" x="545.0" y="195.5"/><y:NodeLabel x="2" y="3">Open
<y:LabelModel/></y:NodeLabel><y:Shape type="diamond"/></y:ShapeNode></data></node>
<node id="n1" yfiles.foldertype="group"><data key="d6"><y:ProxyAutoBoundsNode><y:Realizers>
<y:GroupNode><y:Geometry x="1" y="2"/><y:NodeLabel>Branch</y:NodeLabel></y:GroupNode>
<y:GroupNode><y:NodeLabel>Folder 1</y:NodeLabel></y:GroupNode></y:Realizers>
</y:ProxyAutoBoundsNode></data></node>
<edge source="n0" target="n1"><data key="d10"><y:PolyLineEdge><y:EdgeLabel>yes</y:EdgeLabel>
</y:PolyLineEdge></data></edge></graph></graphml>"""


GRAPH_TOOL = """<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="k0" for="node" attr.name="pos" attr.type="vector_double"/>
<key id="k1" for="node" attr.name="size" attr.type="short"/>
<key id="k2" for="node" attr.name="on" attr.type="boolean"/>
<key id="k3" for="node" attr.name="tags" attr.type="vector_string"/>
<key id="k4" for="edge" attr.name="flow" attr.type="long double"/>
<graph edgedefault="undirected"><node id="n0"><data key="k0">0x1.8p+1, -0.5</data>
<data key="k1"> 3 </data><data key="k2">1</data><data key="k3">a, b</data></node>
<node id="n1"><data key="k0"></data><data key="k1"> </data><data key="k2">0</data></node>
<edge source="n0" target="n1"><data key="k4">0x1p-2</data></edge></graph></graphml>"""


BARE = """<{0}graphml {1}><{0}key id="XCOR" for="node"/><{0}key id="w" for="edge" attr.name="w"
attr.type="integer"/><{0}graph edgedefault="directed"><{0}node id="a"><{0}data key="XCOR">far
</{0}data><{0}data key="undeclared">b</{0}data></{0}node><{0}node id="b"/>
<{0}edge source="a" target="b"><{0}data key="w">2.0</{0}data></{0}edge></{0}graph></{0}graphml>"""
GRAPHML_SPACE = "http://graphml.graphdrawing.org/xmlns"


GEPHI_13 = """<gexf xmlns="http://gexf.net/1.3" version="1.3"><graph defaultedgetype="directed">
<attributes class="node"><attribute id="t" title="tags" type="liststring"/>
<attribute id="v" title="v" type="listdouble"/><attribute id="c" title="class" type="integer">
<default></default></attribute></attributes><nodes><node id="a"><attvalues>
<attvalue for="t" value="[x, 'y z']"/><attvalue for="v" value="1.5|2"/><attvalue for="c" value=""/>
</attvalues><viz:position x="12.0" y="-3.5" z="0.0"/><viz:color r="1" g="2" b="3"/></node>
<node id="b"><attvalues><attvalue for="v" value="[1, 2]"/><attvalue for="c" value="4"/>
</attvalues><viz:position x="1" y="2"/></node></nodes><edges/></graph></gexf>"""


DRAWN = """graph [ directed 1
node [ id 0 label "A" graphics [ x 1.5 y -3.5 fill "#000000" ] kind 3 ]
node [ id 1 label "B" graphics [ x 2 y 0 ] LabelGraphics [ text "B" ] kind 1 ]
edge [ source 0 target "1" graphics [ Line [ point [ x 1 ] point [ x 2 ] ] ] _w-1 5 2nd 6 ] ]"""


ONE_ARC = """<graphml><graph edgedefault="undirected"><node id="a"/><node id="b"/><node id="c"/>
<edge source="a" target="b" directed="true"/><edge source="b" target="c"/></graph></graphml>"""
BARE_A = {"XCOR": "far", "undeclared": "b"}


# -- texts and their graphs ------------------------------------------------------------------------

GEPHI_EDGES = "Source,Target,Type,Id,Weight\n1,2,{},0,1.0\n2,3,{},1,2.0\n3,2,{},2,2.0\n"
VIS = {
    "nodes": [{"id": x} for x in "abcd"],
    "edges": [
        {"from": "b", "to": "a", "arrows": "from"},
        {"from": "b", "to": "c", "arrows": "to"},
        {"from": "c", "to": "d", "arrows": "to, from"},
        {"from": "a", "to": "d"},
    ],
}
NEO4J = {
    "nodes": [{"identity": 1}, {"identity": 2}],
    "relationships": [{"start": 1, "end": 2, "properties": {}}],
}
MIXED = {
    "options": {"type": "mixed"},
    "nodes": [{"key": 1}, {"key": 2}],
    "edges": [{"source": 1, "target": 2}],
}
TEXT_AND_NUMBERS = {
    "directed": True,
    "nodes": [{"id": 1}, {"id": 2}],
    "edges": [{"source": "1", "target": "2"}],
}
GML = "node [ id 5 ] node [ id 7 ] edge [ source 5 target 7 ]"

# A file, whether its graph is directed, and the ends of its edges.
DIRECTIONS = [
    ("a.graphml", INNER.format(' yfiles.foldertype="group"'), True, "ac ba ca"),
    ("a.graphml", INNER.format(""), True, "ac ba ca"),
    ("a.graphml", ONE_ARC, True, "ab bc cb"),
    ("a.gexf", GEXF.format("directed", TWO), True, "ab bc cb"),
    ("a.gexf", GEXF.format("mutual", EDGE.format("")), True, "ab ba"),
    ("a.gexf", GEXF.format("mutual", EDGE.format(' type="directed"')), True, "ab"),
    ("a.gexf", NESTED.format(EDGE.format(' type="directed"')), True, "ab"),
    *[("a.gml", f"graph [ directed {x} {GML} ]", False, "57") for x in ("0", '"0"', '"false"')],
    *[("a.gml", f"graph [ directed {x} {GML} ]", True, "57") for x in ("1", '"1"', '"true"')],
    ("a.gml", f'Creator "edge [ 1" graph [ multigraph "0" directed "0" {GML} ]', False, "57"),
    ("a.gml", f'graph [ node [ id 9 note [ directed "1" ] ] {GML} ]', False, "57"),
    ("a.gml", f'graph [ {GML} directed "0" ]', False, "57"),
    ("a.gml", f"graph [ {GML} directed true ]", True, "57"),
    ("a.csv", "from,to\na,b\nb,c\n", True, "ab bc"),
    ("a.csv", "Source,Target\na,b\nb,c\n", False, "ab bc"),
    ("a.csv", "source,target,type\na,b,follows\nb,c,Directed\n", False, "ab bc"),
    ("a.csv", GEPHI_EDGES.format("Directed", "Directed", "Directed"), True, "12 23 32"),
    ("a.csv", GEPHI_EDGES.format("Undirected", "Directed", "directed"), True, "12 21 23 32"),
    ("a.csv", GEPHI_EDGES.format("Directed", "Mutual", "Directed"), True, "12 23 32 32"),
    ("a.csv", "Source,Target,Type\n1,2,Undirected\n2,3,undirected\n", False, "12 23"),
    ("a.csv", "from,to,Type\n1,2,Undirected\n2,3,undirected\n", False, "12 23"),
    ("a.json", json.dumps(VIS), True, "ab ad bc cd da dc"),
    ("a.cyjs", json.dumps(NEO4J), True, "12"),
    ("a.cyjs", json.dumps(MIXED), True, "12"),
    ("a.cyjs", json.dumps(TEXT_AND_NUMBERS), True, "12"),
    (
        "a.json",
        '{"nodes": [{"id": 1}, {"id": 3}], "links": [{"source": 1.0, "target": "3"}]}',
        False,
        "13",
    ),
]


@pytest.mark.parametrize(("name", "text", "directed", "edges"), DIRECTIONS)
def test_which_edges_have_a_direction(tmp_path, name, text, directed, edges):
    graph = read_one(tmp_path / name, text, "all")
    assert graph.is_directed() == directed
    assert sorted(f"{u}{v}" for u, v, *_ in graph.edges) == edges.split()
    assert not nx.get_edge_attributes(graph, "Type")
    undirected = read_batch(find_files([tmp_path]), GraphSchema(directed=False))
    assert undirected.n_edges_per_graph.tolist() == [len(set(map(frozenset, edges.split())))]


@pytest.mark.parametrize(
    ("text", "edges"),
    [
        ("target,source\na,b\nb,c\n", "ba cb"),
        ("Source,Target,Type\n1,2,Undirected\n2,3,undirected\n", "12 23"),
        ("from,to,Type\n1,2,Undirected\n2,3,undirected\n", "12 23"),
    ],
)
def test_the_user_has_the_last_word_on_directions(tmp_path, text, edges):
    graph = read_one(tmp_path / "a.csv", text, GraphSchema(directed=True))
    assert graph.is_directed()
    assert " ".join(map("".join, graph.edges)) == edges


KIND, W2 = {"a": {"kind": 1}, "b": {}}, [("a", "b", {"w": 2})]
CYTOSCAPE = {
    "nodes": [
        {"data": {"id": "a", "kind": 1}, "position": {"x": 1, "y": 2}},
        {"data": {"id": "b"}},
    ],
    "edges": [{"data": {"source": "a", "target": "b", "w": 2}}],
}
ONE_EDGE = [
    # Cytoscape, as its desktop, its library and networkx write it.
    {"data": {"name": "net"}, "elements": CYTOSCAPE},
    [*CYTOSCAPE["edges"], *CYTOSCAPE["nodes"]],
    {  # graphology
        "options": {"type": "undirected"},
        "nodes": [{"key": "a", "attributes": {"kind": 1}}, {"key": "b"}],
        "edges": [{"source": "a", "target": "b", "attributes": {"w": 2}}],
    },
    {  # vis.js
        "nodes": [{"id": "a", "kind": 1}, {"id": "b"}],
        "edges": [{"from": "a", "to": "b", "w": 2}],
    },
    {  # positions
        "nodes": [{"id": "a", "kind": 1}, {"id": "b"}],
        "links": [{"source": 0, "target": 1, "w": 2}],
    },
]
BY_NAME = {
    "nodes": [{"name": "a"}, {"name": "b"}],
    "links": [{"source": "a", "target": "b", "w": 2}],
}
DRAWN_BY_D3 = {
    "nodes": [{"id": "a", "index": 0}, {"id": "b", "index": 1}],
    "links": [{"source": {"id": "a"}, "target": {"id": "b"}, "w": 2}],
}
NAMED = with_data(nx.empty_graph(2), {"kind": ["a", "b"], "name": ["first", None]})
AB, COST = {"a": {}, "b": {}}, [("a", "b", {"cost": 1.5})]
STEPS = [("a", "b", {"#": 1}), ("b", "c", {"#": 2})]


def keyed(head, *keys):
    """A text of GML with parallel edges."""
    edges = [f"edge [ source 0 target 1 key {json.dumps(key)} w 1 ]" for key in keys]
    return f'Creator "my [v2]" graph [ {head} node [ id 0 ] node [ id 1 ] {" ".join(edges)} ]'


# A file, and the data of its nodes and edges.
TEXTS = [
    (
        "defaults.graphml",
        GRAPHML.format(BOND),
        {"a": {"label": "C", "color": ""}, "b": {"label": "N", "color": ""}},
        [("a", "b", {"order": 2, "color": ""})],
    ),
    (
        "yEd.graphml",
        YED,
        {"n0": {"url": "", "label": "Open", "shape_type": "diamond"}, "n1": {"label": "Branch"}},
        [("n0", "n1", {"label": "yes"})],
    ),
    (
        "graph-tool.graphml",
        GRAPH_TOOL,
        {
            "n0": {"pos": (3, -0.5), "size": 3, "on": True, "tags": ("a", "b")},
            "n1": {"size": None, "on": False},
        },
        [("n0", "n1", {"flow": 0.25})],
    ),
    *[
        (f"{name}.graphml", BARE.format(prefix, spaces), {"a": BARE_A, "b": {}}, W2)
        for name, prefix, spaces in (
            ("bare", "", ""),
            ("of NetLogo", "", f'xmlns="{GRAPHML_SPACE}/graphml"'),
            ("with prefixes", "g:", f'xmlns:g="{GRAPHML_SPACE}"'),
            ("with prefixes that no XML parser reads", "g:", ""),
        )
    ],
    (
        "Gephi 1.2.gexf",
        GEPHI,
        {"0": {"label": "P1", "small": 3, "kind": "pump"}, "1": {"label": "V1", "kind": "valve"}},
        [("0", "1", {"weight": 2.5, "flow": 0.5})],
    ),
    (
        "Gephi 1.3.gexf",
        GEPHI_13,
        {
            "a": {"tags": ("x", "y z"), "v": (1.5, 2), "class": None},
            "b": {"v": (1, 2), "class": 4},
        },
        [],
    ),
    (
        "yEd and Gephi.gml",
        DRAWN,
        {"A": {"kind": 3}, "B": {"kind": 1}},
        [("A", "B", {"_w-1": 5, "2nd": 6})],
    ),
    # The directions of nodes are data.
    (
        "directed.gml",
        'graph [ node [ id 5 directed "0" ] node [ id 7 directed "1" ] ]',
        {5: {"directed": "0"}, 7: {"directed": "1"}},
        [],
    ),
    # Names of nodes: labels, if these tell nodes apart.
    (
        "names.gml",
        '\ufeffgraph [ node [ id 0 label "a (1)" ] node [ id 1 label "a" ] node [ id 2 label "a"'
        " ] ]",
        {0: {}, 1: {}, 2: {}},
        [],
    ),
    (
        "x.gml",
        'graph [ node [ id 0 label "x" ] node [ id 1 label "y" ] node [ id 2 ] ]',
        {"x": {}, "y": {}, 2: {}},
        [],
    ),
    (
        "lists.gml",
        "graph [ node [ id 0 label 1 label 2 ] node [ id 1 label [ x 1 ] ] node [ id 2 ] ]",
        {"[1, 2]": {}, "{'x': 1}": {}, 2: {}},
        [],
    ),
    ("no id.gml", "graph [ node [ name 7 ] node [ id 7 ] ]", {"#0": {"name": 7}, 7: {}}, []),
    # Parallel edges need no declaration, nor keys, which are data if they are text.
    *[
        ("parallel.gml", keyed(head, 2, 2), {0: {}, 1: {}}, [(0, 1, {"w": 1})] * 2)
        for head in ("", "directed 1", "multigraph 0", 'Creator "x" multigraph "0"')
    ],
    *[
        (
            "parallel.gml",
            keyed(head, key, "rsa"),
            {0: {}, 1: {}},
            [(0, 1, {"key": key, "w": 1}), (0, 1, {"key": "rsa", "w": 1})],
        )
        for head in ("", "directed 1", "multigraph 0", 'Creator "x" multigraph "0"')
        for key in ("rsa", "dsa")
    ],
    *[("a.cyjs", json.dumps(x), KIND, W2) for x in ONE_EDGE],
    (
        "number and text.json",
        '{"nodes": [{"id": 1}, {"id": "1"}], "links": [{"source": "1", "target": 1}]}',
        {1: {}, "1": {}},
        [(1, "1", {})],
    ),
    ("names.json", json.dumps(BY_NAME), {x: {"name": x} for x in "ab"}, W2),
    ("D3.json", json.dumps(DRAWN_BY_D3), {"a": {"index": 0}, "b": {"index": 1}}, W2),
    (
        "networkx.cyjs",
        json.dumps(nx.cytoscape_data(NAMED)),
        {"0": {"kind": "a", "name": "first", "value": 0}, "1": {"kind": "b"}},
        [],
    ),
    ("data.json", '{"nodes": [{"id": 1}], "links": [], "graph": [1]}', {1: {}}, []),
    (
        "types.csv",
        "source,target,type\na,b,follows\nb,c,Directed\n",
        {**AB, "c": {}},
        [("a", "b", {"type": "follows"}), ("b", "c", {"type": "Directed"})],
    ),
    ("Excel.csv", "sep=;\nsource;target;cost\na;b;1,5\n", AB, COST),
    ("pandas.csv", "Unnamed: 0,source,target,cost\n7,a,b,1.5\n", AB, COST),  # twice
    ("blanks.csv", "source target cost\na b 1.5\n", AB, COST),
    ("quotes.csv", "'source','target','cost'\n'a','b','1.5'\n", AB, COST),
    ("commas.csv", "source,target,cost,\na,b,1.5,\n", AB, COST),
    ("R.csv", '"","source","target","cost"\n"1","a","b",1.5\n', AB, COST),
    *[
        ("comments.csv", f"{above}#,source,target\n1,a,b\n2,b,c\n", {**AB, "c": {}}, STEPS)
        for above in ("# a shop, 2026\n", "#\n", "## of\n# me: 1\n", "#export\r\n")
    ],
]


@pytest.mark.filterwarnings("ignore:node labels repeat")
@pytest.mark.parametrize(("name", "text", "nodes", "edges"), TEXTS)
def test_data_in_texts(tmp_path, name, text, nodes, edges):
    graph = read_one(tmp_path / name, text, "all")
    assert dict(graph.nodes(data=True)) == nodes
    assert list(graph.edges(data=True)) == edges


PAIRS = [[0, 1], [1, 2]]
LOG = 'Version 1 # a comment with "\ngraph [ node [ id a name "broken\n  &#228; &amp;" ] ]\n'


@pytest.mark.parametrize(
    ("name", "text", "names", "nodes"),
    [
        ("a.graphml", GRAPHML.format(BOND * 3), "012", ["a", "b"]),
        ("a.gml", 2 * LOG, "01", ["a"]),
        ("a.json", json.dumps({"x": PAIRS, "y": PAIRS}), "xy", [0, 1, 2]),
    ],
)
def test_files_of_several_graphs(tmp_path, name, text, names, nodes):
    (tmp_path / name).write_text(text, encoding="utf-8")
    found = dict(iter_graphs([tmp_path / name]))
    assert [*found] == [f"{tmp_path / name}#{x}" for x in names]
    for graph in found.values():
        assert list(graph) == nodes
        assert {*graph.nodes.data("name", "broken ä &")} == {(x, "broken ä &") for x in nodes}


@pytest.mark.parametrize("text", [PAIRS, {"edges": PAIRS}, [PAIRS], {"first": PAIRS}])
def test_edge_lists_in_json(text):
    for content in (json.dumps(text), text):
        [graph] = node_link_graphs(content)
        assert sorted(graph.edges) == [(0, 1), (1, 2)]


def test_a_vacant_options_object_says_nothing_of_directions():
    text = '{"options": null, "nodes": [{"id": 1}], "edges": []}'
    assert not node_link_graphs(text)[0].is_directed()


@pytest.mark.parametrize(
    ("name", "text", "place", "expected"),
    [
        ("a.gexf", GEPHI_13, "y", [[-3.5], [2]]),
        ("a.graphml", YED, "x", [[545], [1]]),
        ("a.graphml", YED, "y", [[195.5], [2]]),
        ("a.gml", DRAWN, "x", [[1.5], [2]]),
    ],
)
def test_places_can_be_named(tmp_path, name, text, place, expected):
    (tmp_path / name).write_text(text)
    schema = GraphSchema(node_numbers=place, node_categories=None)
    assert read_batch([tmp_path / name], schema).attributes.tolist() == expected


# Nodes as programs that draw write them, with x and y, and graphs that really have them.
PLACES = {
    "gephi.graphml": "<graphml><graph><node id='a'>{}</node></graph></graphml>".format(
        "".join(f'<data key="{name}">5</data>' for name in "rgbxy")
    ),
    "d3.json": '{"nodes": [{"id": "a", "x": 5, "y": 5, "vx": 0, "vy": 0}], "links": []}',
    "sigma.json": '{"nodes": [{"id": "a", "x": 5, "y": 5, "size": 1, "color": ""}], "edges": []}',
    "none.json": '{"nodes": [{"id": "a", "x": 5, "y": 5, "size": 1}], "links": []}',
    "flow.json": '{"nodes": [{"id": "a", "position": {"x": 5, "y": 5}}], "edges": []}',
    "igraph.gml": 'graph [ node [ id 0 x 5 y 5 size 1 color "red" ] ]',
}


@pytest.mark.parametrize("name", PLACES)
def test_places_in_a_drawing_are_no_data_unless_they_are_named(tmp_path, name):
    (tmp_path / name).write_text(PLACES[name])
    is_read = "x" in dict(read_batch([tmp_path / name], "all").schema.node_numbers)
    assert is_read == (name == "none.json")  # which nobody has drawn
    named = read_batch([tmp_path / name], GraphSchema(node_numbers=("x", "y")))
    assert named.attributes.tolist() == [[5, 5]]


LATIN = {
    "a.gml": 'graph [ node [ id 0 kind "M\xfcller \x80" ] ]',
    "a.json": '{"nodes": [{"kind": "M\xfcller \x80"}], "links": []}',
    "a.graphml": '<?xml version="1.0" encoding="UTF-8"?><graphml><graph><node id="a"><data '
    'key="kind">M\xfcller \x80</data></node></graph></graphml>',
}


@pytest.mark.parametrize("name", LATIN)
@pytest.mark.parametrize("encoding", ["latin-1", "utf-8", "utf-8-sig", "utf-16"])
def test_encodings(tmp_path, name, encoding):
    text = LATIN[name]
    if encoding != "latin-1":
        text = text.replace("\x80", "\u20ac").replace("UTF-8", encoding.replace("-sig", ""))
    (tmp_path / name).write_bytes(text.encode(encoding))
    [(_, graph)] = iter_graphs([tmp_path / name])
    assert [x for _, x in graph.nodes(data="kind")] == ["M\xfcller \u20ac"]


# -- broken and hostile files ----------------------------------------------------------------------

# Expanded, it would be a gigabyte of the letter "a".
ENTITIES = "".join(f'<!ENTITY e{i + 1} "{f"&e{i};" * 10}">' for i in range(9))
BOMB = f'<!DOCTYPE g [<!ENTITY e0 "a">{ENTITIES}]><graphml>&e9;</graphml>'
BROKEN = [
    ({"a.csv": "a,b\n"}, r'has no columns "source" and "target", or "from" and "to"; its f'),
    ({"a.csv": "source:target\na:b\n"}, "its first row is 'source:target'; in the shell, a"),
    ({"a.csv": "source,target,from,to\na,b,c,d\n"}, r'both columns .*, and "from"'),
    ({"a.csv": "source,target,w,w\na,b,1,2\n"}, "has the column 'w' twice"),
    ({"a.csv": ",source,target\nx,a,b\n"}, "row 2: column 1 has no name: name it or"),
    ({"a.csv": "source,target\na,b\nc\n"}, "row 3: 'target' is empty"),
    (
        {"a.csv": "source,target\na,b,c\n"},
        "row 2: column 3 has no name: .*; put quotes around cells that have",
    ),
    ({"a.csv": "source,target\na,\n"}, "row 2: 'target' is empty"),
    ({"a.csv": 'source,target\n"a,b\n'}, r"a\.csv: a quote is not closed"),
    (
        {"a.csv": f"source,target,note\na,b,{'x' * 140_000}\n"},
        r"a\.csv, line 2: a cell has more than 131072 characters: leave its column out",
    ),
    ({"a.csv": ""}, r"cannot be read as an edge list \(is empty: leave it out\)"),
    ({"a.csv": "source,target\n"}, "a.csv has no nodes: leave it out"),
    ({"a.csv": "source,target,x\na,b,NaN\n"}, r"edge \('a', 'b'\): the edge attribute 'x' is nan"),
    (
        {"a.csv": "source,target\na,b\na,z\n", "a.nodes.csv": "id\na\nb\n"},
        r"a\.csv cannot .*the edge \('a', 'z'\) ends at 'z', a node that is not listed",
    ),
    (
        {"a.csv": "source,target\n", "a.nodes.csv": "id\na\na\n"},
        "the node 'a' is listed twice: list it once",
    ),
    (
        {"a.csv": "source,target\n", "a.nodes.csv": "name\na\n"},
        r'a\.nodes\.csv has no column "id" or "node"; its',
    ),
    (
        {"a.csv": "source,target\n", "a.nodes.csv": "id,x\n,1\n"},
        r"a\.nodes\.csv, row 2: 'id' is empty",
    ),
    ({"a.nodes.csv": "id\na\n"}, r"a\.nodes\.csv is a table of nodes, and no edge list"),
    ({"text.gml.gz": b"graph [ ]"}, "text.gml.gz is damaged .*: delete it and get another copy"),
    ({"cut.gml.gz": gzip.compress(os.urandom(500))[:-20]}, "cut.gml.gz is damaged"),
    ({"flipped.gml.gz": gzip.compress(b"graph [ ]")[:-6] + bytes(6)}, "flipped.gml.gz is damaged"),
    (
        {"cut.graphml": "<graphml><graph>"},
        "cut.graphml cannot be read as GraphML .no element found",
    ),
    ({"none.graphml": "<graphml/>"}, "contains no graph.: correct it, or export it again"),
    ({"bomb.graphml": BOMB}, "limit on input amplification factor"),
    (
        {"twice.graphml": '<graphml><graph><node id="a"/><node id="a"/></graph></graphml>'},
        "the node 'a' is listed twice: list it once",
    ),
    (
        {
            "unlisted.graphml": '<graphml><graph><node id="a"/><edge source="a" target="b"/>'
            "</graph></graphml>"
        },
        r"the edge \('a', 'b'\) ends at 'b', a node that is not listed",
    ),
    ({"no-id.graphml": "<graphml><graph><node/></graph></graphml>"}, "None cannot be a node"),
    (
        {"no-end.graphml": '<graphml><graph><node id="a"/><edge source="a"/></graph></graphml>'},
        r"the edge \('a', None\) ends at None",
    ),
    ({"hyper.graphml": "<graphml><graph><hyperedge/></graph></graphml>"}, "it has a hyperedge"),
    (
        {
            "arc.graphml": '<graphml><graph><node id="a"/>'
            '<edge source="a" target="a" directed="yes"/></graph>'
            "</graphml>"
        },
        "cannot be read as GraphML .KeyError.'yes'",
    ),
    (
        {
            "comma.graphml": '<graphml><key id="d" for="node" attr.name="v" attr.type="double"/>'
            "<graph>"
            '<node id="a"><data key="d">1,5</data></node></graph></graphml>'
        },
        "node 'a', 'v': '1,5' is not a number: write it as 1234.5",
    ),
    (
        {
            "keys.graphml": '<graphml><key id="k" for="node" attr.name="v" attr.type="double"/>'
            '<key id="l" for="node" attr.name="v" attr.type="string"/>'
            '<graph edgedefault="undirected">'
            '<node id="a"><data key="k">1</data><data key="l">x</data></node></graph></graphml>'
        },
        "one node has several values of 'v'",
    ),
    ({"word.graphml": GRAPHML.format(BOND).replace("2<", "two<")}, "key .*'two' is not a number"),
    ({"cut.gexf": "<gexf><graph>"}, "cut.gexf cannot be read as GEXF .no element found"),
    ({"none.gexf": "<gexf/>"}, "contains no graph.: correct it, or export it again"),
    ({"twice.gexf": GEPHI.replace('id="1" ', 'id="0" ')}, "the node '0' is listed twice"),
    (
        {"unlisted.gexf": GEPHI.replace('target="1"', 'target="2"')},
        "'2', a node that is not listed",
    ),
    ({"no-id.gexf": GEPHI.replace('node id="1"', "node")}, "None cannot be a node"),
    ({"no-end.gexf": GEPHI.replace('target="1"', "")}, r"the edge \('0', None\) ends at None"),
    (
        {
            "moving.gexf": GEPHI.replace(
                '<attvalue for="f" value="0.5"/>', '<attvalue for="f" value="0.5"/>' * 2
            )
        },
        "one edge has several values of 'flow'",
    ),
    (
        {
            "type.gexf": '<gexf><graph><nodes><node id="a"/></nodes><edges>'
            '<edge source="a" target="a" type="one"/>'
            "</edges></graph></gexf>"
        },
        "cannot be read as GEXF .KeyError.'one'",
    ),
    (
        {
            "labels.gexf": '<gexf><graph><attributes class="node">'
            '<attribute id="0" title="label"/></attributes>'
            '<nodes><node id="a" label="C"><attvalues><attvalue for="0" value="N"/></attvalues>'
            "</node>"
            "</nodes></graph></gexf>"
        },
        "one node has several values of 'label': give each its own name",
    ),
    (
        {"maybe.gexf": GEPHI.replace('"byte"', '"boolean"')},
        "'3' is not a boolean: write true or false",
    ),
    ({"word.gexf": GEPHI.replace('"0.5"', '"half"')}, "edge .*'half' is not a number"),
    (
        {"cut.gml": "graph [ node [ id 0 ]"},
        "cut.gml cannot be read as GML .it ends before the last",
    ),
    ({"odd.gml": "graph [\n node [ id 0 7 ] ]"}, "line 2 has 7 where it cannot be"),
    ({"quote.gml": 'graph [ node [ id 0 label "x ] ]'}, 'line 1 has " where it cannot be'),
    ({"bare.gml": "graph [ node [ id 7 ] edge [ source 7 ] ]"}, "one edge has no 'target'"),
    ({"number.gml": "graph [ node 7 ]"}, "one node has no 'id'"),
    ({"none.gml": "Version 1"}, "it contains no graph"),
    ({"deep.gml": "graph [ " * 5000}, "deep.gml cannot be read as GML .maximum recursion depth"),
    ({"a.jsonl": '{"nodes": [{}], "edges": []}\n{nodes'}, "line 2 column 2"),
    ({"cut.json": '{"nodes": ['}, "cut.json cannot be read as node-link JSON"),
    (
        {"deep.json": "[" * 10**5 + "]" * 10**5},
        "maximum recursion depth .*: write what networkx.node_link_data",
    ),
    (
        {
            "positions.json": '{"nodes": [{"id": 1}, {"id": 2}], "links": [{"source": 0,'
            ' "target": 1}]}'
        },
        "ends at 0, a node that is not listed.* or positions of nodes that have no ids",
    ),
    (
        {"list.json": '{"nodes": [{"id": 3}], "links": [{"source": 3, "target": [3]}]}'},
        r"ends at \(3,\), a node that is not listed",
    ),
    ({"empty.json": "[]"}, "contains no graph"),
    ({"other.json": '{"a": 1}'}, 'no list "nodes"'),
    ({"no-edges.json": '{"nodes": []}'}, 'no list "edges" or "links"'),
    (
        {"no-source.json": '{"nodes": [{"id": 1}], "links": [{}]}'},
        r"the edge \(None, None\) ends at",
    ),
    (
        {"unlisted.json": '{"nodes": [{"id": 1}], "links": [{"source": 1, "target": 2}]}'},
        r"the edge \(1, 2\) ends at 2, a node that is not listed",
    ),
    ({"twice.json": '{"nodes": [{"id": 1}, {"id": 1}], "links": []}'}, "node 1 is listed twice"),
    ({"null.json": '{"nodes": [{"id": null}], "links": []}'}, "a node has the id null"),
    ({"twice.gml": "graph [ node [ id 0 ] node [ id 0 ] ]"}, "the node 0 is listed twice"),
    (
        {"unlisted.gml": "graph [ node [ id 0 ] edge [ source 0 target 1 ] ]"},
        "ends at 1, a node that is not listed",
    ),
    (
        {
            "arrows.json": '{"nodes": [{"id": 1}], "edges": [{"from": 1, "to": 1, "arrows":'
            ' {"to": {}}}]}'
        },
        'an edge has "arrows"',
    ),
    ({"words.json": '{"nodes": ["a", "b"], "links": []}'}, "no node and no edge: write objects"),
    ({"directed.json": '{"directed": "no", "nodes": [], "links": []}'}, "give true or false"),
    ({"no-nodes.json": '{"nodes": [], "links": []}'}, "no-nodes.json has no nodes: leave it out"),
    (
        {"nan.json": '{"nodes": [{"id": 1, "x": NaN}], "links": []}'},
        "nan.json, node 1: the node attribute 'x' is nan: impute",
    ),
    ({"label.json": '{"nodes": [{"id": 1, "label": [1]}], "links": []}'}, "must be hashable"),
    ({"text.zip": "PK"}, r"text.zip is damaged"),
]


@pytest.mark.parametrize(("files", "message"), BROKEN)
def test_broken_files_are_named(tmp_path, files, message):
    for name, content in files.items():
        content = content if isinstance(content, bytes) else content.encode()
        (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=message) as caught:
        read_batch(find_files([tmp_path]))
    assert str(caught.value).startswith(tuple(str(tmp_path / name) for name in files))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="a system without pipes")
def test_pipes_are_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe.json")
    refused(r"pipe\.json is not a regular file: leave it out", read_batch, find_files([tmp_path]))


def test_a_zip_may_have_several_tables_and_graph_files(tmp_path):
    here, edges = tmp_path / "all.zip", "graph,source,target\n{0},u,v\n{0},v,w\n"
    files = {"x/edges.csv": edges.format("one"), "x/more.csv": "source,target\nu,v\n"}
    files |= {"y/edges.csv": edges.format("two"), "y/graphs.csv": "graph,size\ntwo,3\n"}
    zipped(here, **files, **{"z.csv": "source,target\nu,v\n"})
    names = [f"{here}/x#one", f"{here}/x/more.csv", f"{here}/y#two", f"{here}/z.csv"]
    assert sorted(read_batch(find_files([here])).names) == names


def test_a_zip_of_graph_files_is_read_as_a_folder(tmp_path):
    graphs, folder = named(random_graphs(6)), tmp_path / "graphs"
    (folder / "more").mkdir(parents=True)
    nx.write_graphml(graphs[0], folder / "a.graphml")
    nx.write_gml(graphs[1], folder / "more" / "b.gml")
    pack(folder / "more" / "b.gml")
    write_json(folder / "more" / "c.json", [nx.node_link_data(x, edges="edges") for x in graphs])
    write_csv(folder / "d.csv", [["source", "target"], ["u", "v"]])
    write_csv(folder / "d.nodes.csv", [["id", "label"], ["u", "C"], ["v", "N"]])
    files, schema = find_files([folder]), GraphSchema(node_categories="label")
    expected = dict(iter_graphs(files, schema))
    with zipfile.ZipFile(tmp_path / "graphs.zip", "w") as archive:
        for name in ("__MACOSX/graphs/a.graphml", "readme.txt", ".hidden.gml", "more/e.zip"):
            archive.writestr(name, "junk")
        for path in folder.rglob("*"):
            archive.write(path, path.relative_to(folder))
    packed = find_files([tmp_path / "graphs.zip"])
    found = dict(iter_graphs(packed, schema))
    assert [*found] == [name.replace("graphs", "graphs.zip", 1) for name in expected]
    assert [x.nodes for x in found.values()] == [x.nodes for x in expected.values()]
    assert_same(read_batch(packed, schema), read_batch(files, schema))


def test_a_file_of_a_zip_is_named(tmp_path):
    path, errors = tmp_path / "a.zip", []
    content = zipped(path, **{"cases.csv": "case,source,target\n1,a,b\n", "bad.json": "{"})
    assert list(iter_graphs(find_files([path]), on_error=errors.append)) == []
    assert str(errors[0]).startswith(f"{path}/bad.json cannot be read as node-link JSON")
    assert re.search("cases.csv: the column 'case' looks.*in the zip edges.csv", str(errors[1]))
    path.write_bytes(content[:-10])
    refused(r"a\.zip is damaged", read_batch, find_files([path]))
    content = zipped(path, **{"a.csv": "source,target\na,b\n"})
    path.write_bytes(content.replace(b"\na,b", b"\na,c"))
    refused(r"a.zip/a.csv is damaged \(Bad CRC", read_batch, find_files([path]))


def test_a_line_may_be_longer_than_a_cell(tmp_path):
    names = [f"{i:080}" for i in range(2000)]
    (tmp_path / "a.csv").write_text(";".join(names))
    assert [*read_cells(tmp_path / "a.csv")] == names


@pytest.mark.parametrize(
    "name",
    ["/home/u/b.json", "../b.json", "a/../../b.json", "..\\b.json", "\\\\u\\b.json", "C:b.json"],
)
def test_a_member_of_a_zip_that_poses_as_a_file_beside_it(tmp_path, name):
    graph, errors = '{"nodes": [{"id": 1}], "edges": []}', []
    zipped(tmp_path / "a.zip", **{"a.json": graph, name: graph})
    (tmp_path / "b.json").write_text(graph)
    message = (
        rf"^{tmp_path}/a\.zip has a member called .*b\.json', which leads out of the zip: pack"
    )
    for path in (tmp_path, tmp_path / "a.zip"):
        refused(message, read_batch, find_files([path]))
    found = dict(iter_graphs(find_files([tmp_path]), on_error=errors.append))
    assert [*found] == [f"{tmp_path}/b.json"]
    assert len(errors) == 1


@pytest.mark.parametrize("name", ["b/a.json", "set_A.txt"])
def test_members_of_a_zip_of_the_same_name(tmp_path, name):
    graph = '{"nodes": [{"id": 1}], "edges": []}'
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("b/", "")
        warned("Duplicate name", archive.writestr, "b/", "")  # which some programs write
        archive.writestr("a.json", graph)
        archive.writestr("b/a.json", graph)
    assert len(read_batch(find_files([tmp_path]))) == 2
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr(name, "1")
        warned("Duplicate name", archive.writestr, name, graph)
    refused(f"a.zip has a member called '{name}' 2 times", read_batch, find_files([tmp_path]))


def test_a_dot_in_the_name_of_a_member_is_the_folder_itself(tmp_path):
    graph = '{"nodes": [{"id": 1}], "edges": []}'
    zipped(tmp_path / "a.zip", **{"./a.json": graph, "b/./c.json": graph, "b/d.json": graph})
    assert len(read_batch(find_files([tmp_path / "a.zip"]))) == 3
    zipped(tmp_path / "a.zip", **{"b/./c.json": graph, "b/c.json": graph})
    refused(r"a\.zip has a member called 'b/./c.json' 2 times", read_batch, find_files([tmp_path]))
    content = zipped(tmp_path / "a.zip", **{"a": graph})  # whose name is lost
    (tmp_path / "a.zip").write_bytes(content.replace(b"a" + graph.encode(), graph.encode()))
    with pytest.raises(ValueError, match=r"a\.zip"):
        read_batch(find_files([tmp_path / "a.zip"]))


@pytest.mark.parametrize(("place", "value"), [(6, 1), (8, 97)], ids=["password", "method"])
@pytest.mark.parametrize("name", ["a.csv", "edges.csv", "a.gml", "a_A.txt"])
def test_zips_that_python_cannot_unpack(tmp_path, name, place, value):
    path = tmp_path / "a.zip"
    content = bytearray(zipped(path, **{name: "graph,source,target\n1,a,b\n"}))
    content[place] = content[content.find(b"PK\1\2") + place + 2] = value
    path.write_bytes(content)
    refused(r"a\.zip.* cannot be unpacked .*: unpack it first", read_batch, find_files([path]))


def test_folders_behind_links_are_searched_once(tmp_path):
    (tmp_path / "a" / "deep").mkdir(parents=True)
    (tmp_path / "b").mkdir()
    for name in ("a/1.gml", "a/deep/2.gml", "b/3.gml"):
        nx.write_gml(nx.path_graph(3), tmp_path / name)
    (tmp_path / "a" / "other").symlink_to(tmp_path / "b")
    (tmp_path / "b" / "up").symlink_to(tmp_path / "a")
    found = [path.name for path in find_files([tmp_path / "a"])]
    assert found == ["1.gml", "2.gml", "3.gml"]


def test_paths_that_cannot_be_used_are_skipped_if_asked(tmp_path):
    nx.write_gml(nx.path_graph(3), tmp_path / "1.gml")
    (tmp_path / "empty").mkdir()
    (tmp_path / "README.txt").touch()
    (tmp_path / "dangling.gml").symlink_to(tmp_path / "gone.gml")
    errors, unusable = [], ["empty", "README.txt", "dangling.gml", "gone.gml"]
    found = find_files([tmp_path / name for name in ("1.gml", *unusable)], errors.append)
    assert [path.name for path in found] == ["1.gml"]
    assert all(name in str(error) for error, name in zip(errors, unusable, strict=True))


# -- directions of Gephi ---------------------------------------------------------------------------


def test_a_type_that_is_named_is_data_too(tmp_path):
    (tmp_path / "a.csv").write_text(GEPHI_EDGES.format("Directed", "Undirected", "Directed"))
    batch = read_batch([tmp_path / "a.csv"], GraphSchema(edge_categories="Type"))
    assert batch.directed
    assert batch.edge_label_names == ("Directed", "Undirected")


def test_a_text_that_is_nearly_always_missing_is_no_number(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("source,target,note\na,b,late\nb,c,\nc,d,\nd,e,\n")
    read_batch([path], GraphSchema.everything(missing="indicate"))  # warnings are errors


def test_names_of_files_on_windows(monkeypatch):
    """Which tables of graphs and verdicts match, and which pages shorten."""
    monkeypatch.setattr(os, "sep", "\\")
    assert name_of("scans\\a b.csv") == "scans/a b.csv"


def test_a_category_in_several_files_has_one_spelling(tmp_path):
    """Text in one of the files makes the column one of categories, in all as they are written."""
    paths = []
    for i, last in enumerate(("beta", "1.20", "1.2")):
        paths.append(tmp_path / f"{i}.csv")
        paths[i].write_text(f"source,target,version\na,b,1.10\nb,c,1.10\nc,d,1.10\nd,e,{last}\n")
    batch = warned("has 'beta' as edge attribute 'version'", read_batch, paths, "all")
    assert batch.edge_label_names == (1.2, "1.10", "1.20", "beta")
    again = read_batch(paths, batch.schema)
    assert again.edge_label_names == batch.edge_label_names
    numbers = read_batch(paths[1:], "all")
    assert numbers.schema.edge_columns == ("version",)
    assert np.unique(numbers.edge_attributes).tolist() == [1.1, 1.2]


def test_comments_that_may_be_rows_are_said(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("source,target,kind\na,b,x\n# a remark\n# 7,b,x\n#c,d\n#9,b,x\n")
    batch = warned("left out as comments, 2 lines that begin with #", read_batch, [path])
    assert batch.node_ids.tolist() == ["a", "b", "#9"]


def test_what_is_unclear_is_said_by_each_call(tmp_path):
    path = tmp_path / "edges.csv"
    path.write_text("graph,source,target,sum\ng,a,b,1.234\ng,b,c,2.345\n")
    for _ in range(2):
        warned("may have a decimal mark or thousands", read_batch, [TableFiles(path)], "all")
        warned("may have a decimal mark or thousands", TableFiles(path).read, GraphSchema())


def test_what_stands_beside_nodes_and_links_is_data_of_the_graph(tmp_path):
    path = tmp_path / "a.json"
    document = {"nodes": [{"id": 1}, {"id": 2}], "links": [{"source": 1, "target": 2}]}
    path.write_text(
        json.dumps(document | {"country": "US", "directed": False, "view": {"zoom": 2}})
    )
    schema = GraphSchema(graph_categories="country")
    assert read_batch([path], schema).graph_label_names == ("US",)
    edges = {"edges": [(1, 2)], "country": "US"}
    assert read_graphs([edges], schema=schema).graph_label_names == ("US",)


def test_an_empty_number_of_a_graphml_without_types_is_missing(tmp_path):
    graph = nx.path_graph(4)
    nx.set_node_attributes(graph, {0: "1.5", 1: "2.5", 2: "", 3: "4"}, "size")
    nx.write_graphml(graph, tmp_path / "a.graphml")
    schema = GraphSchema(node_numbers="size", missing="indicate")
    found = read_batch([tmp_path / "a.graphml"], schema).attributes
    np.testing.assert_array_equal(found, [[1.5], [2.5], [np.nan], [4]])

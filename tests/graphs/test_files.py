"""Files that networkx writes are read back unchanged; broken files get one clear error."""

import gc
import json
import os
import re
import zipfile

import networkx as nx
import numpy as np
import pytest

from skgraphkde.graphs import read_graphs
from skgraphkde.graphs.files import (
    Reading,
    chunks,
    find_files,
    iter_graphs,
    read_batch,
    read_files,
    walk,
)
from tests.conftest import random_graphs
from tests.datasets.test_tu import tu_files, write_zip


def named(graphs):
    """The graphs with strings as node ids, as in files."""
    return [nx.relabel_nodes(graph, lambda node: f"n{node}") for graph in graphs]


def write_json(path, content):
    path.write_text(json.dumps(content), encoding="utf-8")


def assert_same(batch, expected):
    np.testing.assert_array_equal(batch.node_ptr, expected.node_ptr)
    assert (batch.adjacency != expected.adjacency).nnz == 0
    names, others = np.array(batch.label_names), np.array(expected.label_names)
    assert (batch.labels is None) == (expected.labels is None)
    if expected.labels is not None:
        assert names[batch.labels].tolist() == others[expected.labels].tolist()
    if expected.attributes is None:
        assert batch.attributes is None
    else:
        np.testing.assert_array_equal(batch.attributes, expected.attributes)


# -- which files -----------------------------------------------------------------------------------


def test_folders_are_searched_in_order(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    visible = ["a/b.gml", "a/c.GraphML", *(f"a/{letter}/z.json" for letter in "ABCDEFGH")]
    visible += ["a/I/a.zip", "a/I/b.zip"]
    for name in [*visible, "a/readme.txt", "a/.hidden.gml", "a/.git/x.json", "other.json"]:
        os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
        open(name, "w").close()
    assert [path.as_posix() for path in find_files(["other.json", "a"])] == ["other.json", *visible]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nowhere", "nowhere does not exist: give"),
        ("empty", r"empty contains no graph file \(.graphml, .gml, .json, .zip\)"),
        ("table.csv", "table.csv does not have the suffix of a graph file: give one of .graphml"),
    ],
)
def test_paths_that_lead_to_no_graph(tmp_path, name, message):
    (tmp_path / "empty").mkdir()
    (tmp_path / "table.csv").touch()
    with pytest.raises(ValueError, match=message):
        find_files([tmp_path / name])


# -- formats ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", ["edges", "links"])
@pytest.mark.parametrize("n_attributes", [0, 2])
def test_json_there_and_back(tmp_path, key, n_attributes):
    graphs = random_graphs(6, seed=3, n_attributes=n_attributes)
    for graph in graphs if n_attributes else ():
        for data in graph.nodes.values():
            data["x"] = data["x"].tolist()
    documents = [nx.node_link_data(graph, edges=key) for graph in graphs]
    write_json(tmp_path / "all.json", documents[:4])
    write_json(tmp_path / "one.json", documents[4])
    write_json(tmp_path / "two.json", documents[5:])
    files = find_files([tmp_path])
    assert_same(read_batch(files), read_graphs(graphs))
    names = [os.path.basename(name) for name, _ in iter_graphs(files)]
    assert names == [*(f"all.json#{i}" for i in range(4)), "one.json", "two.json#0"]


def test_graphml_there_and_back(tmp_path):
    graphs = named(random_graphs(5, seed=1))
    for i, graph in enumerate(graphs):
        nx.write_graphml(graph, tmp_path / f"{i}.graphml")
    read = list(read_files(find_files([tmp_path])))
    assert [graph.name for graph in read] == [str(tmp_path / f"{i}.graphml") for i in range(5)]
    assert [graph.nodes for graph in read] == [list(graph) for graph in graphs]
    assert_same(read_batch(find_files([tmp_path])), read_graphs(graphs))


GRAPHML = """<graphml><key id="d" for="node" attr.name="label" attr.type="string">
<default>C</default></key><key id="w" for="edge" attr.name="order" attr.type="double">
<default>2</default></key><key id="c" for="node" attr.name="color" attr.type="string">
<default>red</default></key>{}</graphml>"""
BOND = """<graph edgedefault="undirected"><node id="a"/><node id="b"><data key="d">N</data></node>
<edge source="a" target="b"/></graph>"""


def test_graphml_with_defaults_and_without_namespace(tmp_path):
    (tmp_path / "bond.graphml").write_text(GRAPHML.format(BOND))
    batch = read_batch([tmp_path / "bond.graphml"], Reading(edge_weight="order"))
    assert [batch.label_names[code] for code in batch.labels] == ["C", "N"]
    assert batch.adjacency.toarray().tolist() == [[0, 2], [2, 0]]
    [(_, graph)] = iter_graphs([tmp_path / "bond.graphml"])
    assert dict(graph.nodes(data=True)) == {"a": {"label": "C"}, "b": {"label": "N"}}
    assert graph.graph == {}


def test_graphml_with_many_graphs(tmp_path):
    (tmp_path / "bonds.graphml").write_text(GRAPHML.format(BOND * 3))
    names = [name for name, _ in iter_graphs([tmp_path / "bonds.graphml"])]
    assert names == [str(tmp_path / f"bonds.graphml#{i}") for i in range(3)]


def test_a_zip_of_the_tu_collection(tmp_path, monkeypatch):
    monkeypatch.setattr("skgraphkde.graphs.files.tu.ZIP_BLOCK", 2)
    expected = read_graphs(random_graphs(5, n_attributes=2))
    write_zip(tmp_path, tu_files(expected))
    [path] = find_files([tmp_path])
    assert_same(read_batch([path], Reading(node_label="")), unlabeled(expected))
    labels = read_batch([path]).labels
    np.testing.assert_array_equal(labels, expected.labels)  # the files hold codes, not names
    assert [name for name, _ in iter_graphs([path])] == [f"{path}#{i}" for i in range(5)]


def unlabeled(batch):
    return type(batch)(batch.node_ptr, batch.adjacency, None, (), batch.attributes)


def test_in_gml_label_is_the_name_of_a_node(tmp_path):
    [graph] = named(random_graphs(1))
    nx.set_node_attributes(graph, {node: graph.nodes[node].pop("label") for node in graph}, "atom")
    nx.write_gml(graph, tmp_path / "a.gml")
    [read] = read_files([tmp_path / "a.gml"])
    assert read.nodes == list(graph)
    assert read.batch.labels is None
    atoms = read_batch([tmp_path / "a.gml"], Reading(node_label="atom"))
    assert_same(atoms, read_graphs([graph], node_label="atom"))


def test_in_gml_label_is_a_label_if_the_user_says_so(tmp_path):
    text = 'graph [ node [ id 5 label "C" ] node [ id 7 label "{}" ] edge [ source 5 target 7 ] ]'
    for name in "CN":
        (tmp_path / f"{name}.gml").write_text(text.format(name))
    files = find_files([tmp_path])
    with pytest.raises(
        ValueError, match=r"C\.gml cannot .* names of its nodes.*--node-label label, or"
    ):
        read_batch(files)
    batch = read_batch(files, Reading(node_label="label"))
    assert [batch.label_names[code] for code in batch.labels] == ["C", "C", "C", "N"]
    assert [graph.nodes for graph in read_files(files, Reading(node_label=""))] == [
        [5, 7],
        ["C", "N"],
    ]


# -- what is read of nodes and edges ---------------------------------------------------------------


@pytest.fixture
def points(tmp_path):
    """A file whose nodes have numbers, a vector and a string."""
    graph = nx.path_graph(3)
    for node, data in graph.nodes(data=True):
        data |= {"px": node / 2, "py": -node, "v": [node, node + 1], "kind": "ab"[node % 2]}
    nx.set_edge_attributes(graph, 2.5, "order")
    write_json(tmp_path / "points.json", nx.node_link_data(graph, edges="edges"))
    return tmp_path / "points.json"


def test_columns_side_by_side(points):
    reading = Reading("kind", ("px", "v", "py"), "order")
    batch = read_batch([points], reading)
    assert batch.attributes.tolist() == [[0, 0, 1, 0], [0.5, 1, 2, -1], [1, 2, 3, -2]]
    assert [batch.label_names[code] for code in batch.labels] == ["a", "b", "a"]
    assert batch.adjacency.max() == 2.5
    assert read_batch([points], Reading(node_attributes=("v",))).attributes.tolist()[2] == [2, 3]


def test_defaults_and_nothing(points):
    content = json.loads(points.read_text())
    for node in content["nodes"]:
        node |= {"x": 3.5, "label": "C"}
    write_json(points, content)
    batch = read_batch([points])
    assert batch.attributes.tolist() == [[3.5]] * 3
    assert batch.label_names == ("C",)
    bare = read_batch([points], Reading("", ()))
    assert (bare.attributes, bare.labels) == (None, None)


@pytest.mark.parametrize(
    ("reading", "message"),
    [
        (Reading("kin"), r"points.json has no node attribute 'kin': its nodes have 'kind', 'px'"),
        (Reading(node_attributes=("px", "z")), "has no node attribute 'z'"),
        (Reading(node_attributes=("px", "kind")), r"points.json, node 0: .*'px, kind' is not a nu"),
        (Reading(edge_weight="w"), r"points.json, edge \(0, 1\) has no 'w': give every edge"),
    ],
)
def test_what_the_user_named_must_be_there(points, reading, message):
    with pytest.raises(ValueError, match=message):
        read_batch([points], reading)


def test_a_node_that_lacks_a_column_is_named(points):
    content = json.loads(points.read_text())
    del content["nodes"][1]["py"]
    write_json(points, content)
    with pytest.raises(ValueError, match=r"points.json, node 1 has no 'px, py', but other nodes"):
        read_batch([points], Reading(node_attributes=("px", "py")))


def test_files_that_differ_in_what_nodes_have(tmp_path):
    with_labels, without = random_graphs(1, seed=1)[0], random_graphs(1, seed=2, labels="")[0]
    for name, graph in (("a", with_labels), ("b", without)):
        write_json(tmp_path / f"{name}.json", nx.node_link_data(graph, edges="edges"))
    expected = r"b\.json has no node labels and 0 .*a\.json has node labels and 0"
    with pytest.raises(ValueError, match=expected):
        read_batch(find_files([tmp_path]))
    assert read_batch(find_files([tmp_path]), Reading(node_label="")).labels is None


def test_reading_from_notes():
    notes = {"node_label": "a", "node_attributes": ["b", "c"], "edge_weight": None}
    assert Reading.of(notes) == Reading("a", ("b", "c"))
    assert Reading.of({"from": 5}) == Reading()
    for forged in ({"node_label": 5}, {"node_attributes": [["x"]]}, {"edge_weight": {}}):
        with pytest.raises(ValueError, match="do not name node data"):
            Reading.of(forged)


# -- any number of files ---------------------------------------------------------------------------


def test_files_are_read_one_by_one(tmp_path):
    for i, graph in enumerate(named(random_graphs(6))):
        nx.write_graphml(graph, tmp_path / f"{i:02d}.graphml")
    (tmp_path / "last.graphml").write_text("broken")
    names, before = [], n_graphs_in_memory()
    with pytest.raises(ValueError, match=r"last\.graphml"):  # noqa: PT012
        for graph in read_files(find_files([tmp_path])):
            names.append(graph.name)
            assert n_graphs_in_memory() <= before + 2
    assert len(names) == 6


def n_graphs_in_memory():
    gc.collect()
    return sum(issubclass(type(thing), nx.Graph) for thing in gc.get_objects())


@pytest.mark.parametrize("limit", ["CHUNK_GRAPHS", "CHUNK_NODES"])
def test_chunks_change_nothing(tmp_path, monkeypatch, limit):
    graphs = named(random_graphs(7, labels="CNOF"))
    for i, graph in enumerate(graphs):
        nx.write_graphml(graph, tmp_path / f"{i}.graphml")
    monkeypatch.setattr(walk, limit, 3)
    files = find_files([tmp_path])
    sizes = [len(chunk) for chunk in chunks(read_files(files))]
    assert sum(sizes) == 7
    assert max(sizes) <= 3
    assert_same(read_batch(files), read_graphs(graphs))


def test_errors_go_to_the_callback(tmp_path):
    good = nx.node_link_data(nx.path_graph(3), edges="edges")
    for name, content in (("a", good), ("b", {}), ("c", [good, good | {"directed": True}, good])):
        write_json(tmp_path / f"{name}.json", content)
    errors = []
    names = [graph.name for graph in read_files(find_files([tmp_path]), on_error=errors.append)]
    assert [os.path.basename(name) for name in names] == ["a.json", "c.json#0", "c.json#2"]
    assert re.search(r"b\.json cannot", str(errors[0]))
    assert re.search(r"c\.json#1 is directed: convert it with graph\.to_undirected", str(errors[1]))


# -- broken and hostile files ----------------------------------------------------------------------

DOCTYPE = '<?xml version="1.0"{}?><!DOCTYPE graphml [<!ENTITY a "b">]><graphml/>'
BROKEN = {
    "cut.graphml": ("<graphml><graph>", "cut.graphml cannot be read as GraphML .no element found"),
    "none.graphml": ("<graphml/>", "contains no graph.: rewrite it with networkx.write_graphml"),
    "wide.graphml": (DOCTYPE.format(' encoding="utf-16"').encode("utf-16"), "has a DOCTYPE"),
    "old.graphml": (DOCTYPE.format(""), "has a DOCTYPE, which no graph needs: remove that line"),
    "cut.gml": ("graph [ node [ id 0 ]", "cut.gml cannot be read as GML"),
    "latin.gml": (b'graph [ node [ id 0 label "\xe4" ] ]', "rewrite it with networkx.write_gml"),
    "deep.gml": ("graph [ " * 5000, "deep.gml cannot be read as GML .it is nested too deeply"),
    "cut.json": ('{"nodes": [', "cut.json cannot be read as node-link JSON"),
    "deep.json": (
        "[" * 10**5 + "]" * 10**5,
        "nested too deeply.: write what networkx.node_link_data",
    ),
    "empty.json": ("[]", "contains no graph"),
    "other.json": ('{"a": 1}', 'no list "nodes"'),
    "no-edges.json": ('{"nodes": []}', 'no list "edges" or "links"'),
    "no-source.json": ('{"nodes": [{"id": 1}], "links": [{}]}', "'source' is missing"),
    "unlisted.json": (
        '{"nodes": [{"id": 1}], "links": [{"source": 1, "target": 2}]}',
        "an edge ends at a node that is not listed",
    ),
    "twice.json": ('{"nodes": [{"id": 1}, {"id": 1}], "links": []}', "a node is listed twice"),
    "no-nodes.json": ('{"nodes": [], "links": []}', "no-nodes.json has no nodes: leave it out"),
    "nan.json": (
        '{"nodes": [{"id": 1, "x": NaN}], "links": []}',
        "nan.json, node 1: node attribute 0 is nan: impute",
    ),
    "label.json": ('{"nodes": [{"id": 1, "label": [1]}], "links": []}', "must be hashable"),
    "graph.json": ('{"nodes": [{"id": 1}], "links": [], "graph": [1]}', None),
    "text.zip": (
        "PK",
        r"text.zip cannot be read as a set of the TU collection \(is damaged or not",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_files_are_named(tmp_path, name):
    content, message = BROKEN[name]
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    if message is None:
        assert len(read_batch([path])) == 1
        return
    with pytest.raises(ValueError, match=message) as caught:
        read_batch([path])
    assert str(caught.value).startswith(str(path))


def test_entities_that_expand_are_never_expanded(tmp_path):
    """Expanded, the file would be a gigabyte of the letter "a"."""
    entities = "".join(f'<!ENTITY e{i + 1} "{f"&e{i};" * 10}">' for i in range(9))
    bomb = f'<!DOCTYPE g [<!ENTITY e0 "a">{entities}]><graphml>&e9;</graphml>'
    (tmp_path / "bomb.graphml").write_text(bomb)
    with pytest.raises(ValueError, match="DOCTYPE"):
        read_batch([tmp_path / "bomb.graphml"])


def test_pipes_are_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe.json")
    with pytest.raises(ValueError, match=r"pipe\.json is not a regular file: leave it out"):
        read_batch(find_files([tmp_path]))


def test_a_zip_writes_nothing(tmp_path):
    folder = tmp_path / "folder"
    write_zip(folder, tu_files(read_graphs(random_graphs(3))), prefix="../../TINY_")
    with zipfile.ZipFile(folder / "TINY.zip", "a") as archive:
        archive.writestr("../../evil.txt", "x")
    assert len(read_batch(find_files([folder]))) == 3
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["TINY.zip", "folder"]

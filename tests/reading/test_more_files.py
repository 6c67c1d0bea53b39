"""Matrices of NumPy and MATLAB, DOT, Pajek, lists of neighbors, trees, and what software needs."""

import json

import networkx as nx
import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from networkx.utils import graphs_equal

from skgraphkde import GraphSchema
from skgraphkde.reading.files import find_files, iter_graphs, read_batch
from skgraphkde.reading.files.matrices import HAS_WEIGHTS, graph_of_matrix
from tests.conftest import refused, warned


def read(path):
    """The graphs of a path by their names, without its folder."""
    return {name.rpartition("/")[2]: graph for name, graph in iter_graphs(find_files([path]))}


def symmetric(n, seed=0):
    matrix = np.random.default_rng(seed).random((n, n))
    return np.triu(matrix, 1) + np.triu(matrix, 1).T


# -- matrices --------------------------------------------------------------------------------------


@given(st.integers(1, 8), st.integers(0, 1000), st.booleans(), st.floats(0, 1))
def test_a_matrix_is_what_networkx_makes_of_it(n, seed, is_symmetric, share):
    rng = np.random.default_rng(seed)
    matrix = rng.integers(-3, 4, (n, n)) * (rng.random((n, n)) < share)
    if is_symmetric:
        matrix = np.triu(matrix) + np.triu(matrix, 1).T
    off_diagonal = matrix - np.diag(np.diag(matrix))
    kind = nx.Graph if (off_diagonal == off_diagonal.T).all() else nx.DiGraph
    expected = nx.from_numpy_array(off_diagonal.astype(float), create_using=kind)
    for form in (matrix, sp.csr_array(matrix), matrix.astype(np.int8)):
        found = graph_of_matrix(form, None)
        assert found.graph.pop(HAS_WEIGHTS) == bool(
            np.isin(off_diagonal, (0, 1), invert=True).any()
        )
        assert type(found) is kind
        assert graphs_equal(found, expected)


def test_a_last_digit_of_a_matrix_is_no_direction():
    matrix = symmetric(5).astype(np.float32)
    matrix[0, 1] = np.nextafter(matrix[0, 1], np.float32(2))
    assert not graph_of_matrix(matrix, None).is_directed()
    matrix[0, 1] += 0.01
    assert graph_of_matrix(matrix, None).is_directed()


@pytest.mark.parametrize(
    "rows",
    [
        [[0, 5e6, 0, 0], [5e6, 0, 3, 0], [0, 0, 0, 2], [0, 4, 0, 0]],
        [[0, 1e7, 0], [1e7, 0, 0], [1, 0, 0]],
    ],
)
def test_small_entries_beside_large_ones_have_a_direction(rows):
    expected = nx.from_numpy_array(np.array(rows), create_using=nx.DiGraph)
    found = graph_of_matrix(np.array(rows), None)
    assert found.graph.pop(HAS_WEIGHTS)
    assert graphs_equal(found, expected)


def test_matrices_with_gaps_and_of_half_precision():
    matrix = np.array([[0, np.nan], [np.nan, 0]])
    assert not graph_of_matrix(matrix, None).is_directed()
    half = graph_of_matrix(symmetric(3).astype(np.float16), None)
    assert half.number_of_edges() == 3
    single = graph_of_matrix(np.array([[0, 0.005], [0.005, 0]], dtype=np.float32), None)
    assert single.edges[0, 1]["weight"] == 0.005
    parts = sp.coo_array(([1.0, 2.0], ([0, 0], [1, 1])), shape=(2, 2))
    assert graph_of_matrix(parts, None).edges[0, 1]["weight"] == 3


def test_numpy(tmp_path):
    one, other = symmetric(4), symmetric(4, 1)
    np.save(tmp_path / "one.npy", one)
    np.save(tmp_path / "two.npy", np.stack([one, other]))
    found = read(tmp_path)
    assert list(found) == ["one.npy", "two.npy#0", "two.npy#1"]
    assert graphs_equal(found["one.npy"], graph_of_matrix(one, None))
    assert graphs_equal(found["two.npy#1"], graph_of_matrix(other, None))


def test_arrays_with_the_names_of_their_rows(tmp_path):
    one, other = symmetric(4), symmetric(4, 1)
    regions = np.array(["left", "right", "top", "stem"])
    np.savez(tmp_path / "both.npz", a=one, b=other, regions=regions, age=np.arange(3))
    found = warned("both.npz: no matrices, and not read: age", read, tmp_path / "both.npz")
    assert list(found) == ["both.npz#a", "both.npz#b"]
    assert graphs_equal(found["both.npz#b"], graph_of_matrix(other, regions.tolist()))
    sp.save_npz(tmp_path / "sparse.npz", sp.csr_matrix(one))
    assert graphs_equal(read(tmp_path / "sparse.npz")["sparse.npz"], graph_of_matrix(one, None))


@pytest.mark.parametrize("axis", [0, 2])
def test_matlab(axis, tmp_path):
    matrices = [symmetric(4, seed) for seed in range(3)]
    names = np.array(["a", "b", "c", "d"], dtype=object)
    variables = {"conn": np.stack(matrices, axis=axis), "names": names}
    scipy.io.savemat(tmp_path / "study.mat", variables)
    found = read(tmp_path)
    assert list(found) == ["study.mat#0", "study.mat#1", "study.mat#2"]
    for graph, matrix in zip(found.values(), matrices, strict=True):
        assert graphs_equal(graph, graph_of_matrix(matrix, list("abcd")))


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.ones((2, 3)), r"no square matrix of numbers.*shape \(2, 3\)"),
        (np.array([{}, 1], dtype=object), "allow_pickle"),
        (np.array(["a", "b"]), "no square matrix"),
        (np.ones((1, 1)), "no square matrix"),
    ],
)
def test_arrays_that_are_no_matrices(array, message, tmp_path):
    np.save(tmp_path / "x.npy", array)
    refused(f"x.npy cannot be read as a matrix of NumPy.*{message}", read, tmp_path / "x.npy")


# -- DOT and Pajek ---------------------------------------------------------------------------------


def test_dot(tmp_path):
    pytest.importorskip("pydot")
    text = """digraph calls {
        node [shape=box, color=red];
        main [label="the main", weight=2.5];
        subgraph cluster_0 { label="inner"; parse; subgraph cluster_1 { lex -> parse; } }
        main -> parse [kind="calls", style=dotted];
        main -> parse [kind="reads"];
        main:port -> {lex emit};
        "a:b" -> main;
    }"""
    (tmp_path / "calls.dot").write_text(text)
    (graph,) = read(tmp_path).values()
    assert graph.is_directed()
    expected = [("lex", "parse"), ("main", "parse"), ("main", "parse"), ("main", "lex")]
    assert sorted(graph.edges()) == sorted([*expected, ("main", "emit"), ("a:b", "main")])
    assert dict(graph.nodes.data())["main"] == {"label": "the main", "weight": 2.5}
    assert graph.nodes["lex"]["cluster"] == graph.nodes["parse"]["cluster"] == "cluster_1"
    assert sorted(x for *_, x in graph.edges(data="kind", default="")) == [
        "",
        "",
        "",
        "",
        "calls",
        "reads",
    ]
    (tmp_path / "calls.dot").write_text("graph { a -- b; c }")
    (graph,) = read(tmp_path).values()
    assert graphs_equal(graph, nx.Graph({"a": ["b"], "c": []}))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("graph { a -- b; c }", {("a", "b")}),
        ("digraph { {a -> b} -> c; {d; {e}} -> f }", {"ab", "ac", "bc", "df", "ef"}),
        ("digraph { a -> b [dir=back]; a -> c [dir=both] }", {"ba", "ac", "ca"}),
        ("strict graph { a -- b [w=2]; b -- a [w=2] }", {"ab"}),
        ('digraph { "a\\"b" [type=x]; "a\\"b" -> c }', {('a"b', "c")}),
        ('digraph { "node" [type=x]; "node" -> c }', {("node", "c")}),
        ("digraph { a:p:n -> b:q }", {"ab"}),
    ],
)
def test_forms_of_dot(text, expected, tmp_path):
    pytest.importorskip("pydot")
    (tmp_path / "g.dot").write_text(text)
    (graph,) = read(tmp_path).values()
    assert set(graph.edges()) == {tuple(pair) for pair in expected}
    assert len(graph) == len({*"".join(map(str, graph))}) or '"' in text


def test_dot_is_read_to_its_end(tmp_path, capfd):
    pytest.importorskip("pydot")
    (tmp_path / "g.dot").write_text("digraph a { a -> b }\ndigraph b { a -> ; }")
    refused("g.dot cannot be read as DOT", read, tmp_path / "g.dot")
    (tmp_path / "g.dot").write_text("digraph { subgraph s { x }; subgraph s -> y }")
    refused("list its nodes in braces", read, tmp_path / "g.dot")
    (tmp_path / "g.dot").write_text("digraph { node [type=x, color=red]; a -> b }")
    warned("defaults of nodes and edges are not read: type", read, tmp_path / "g.dot")
    assert capfd.readouterr() == ("", "")


PATH = {("one", "two"): 2.5, ("two", "3"): 1.0}


@pytest.mark.parametrize(
    ("sections", "directed"),
    [
        ("*Edges\n1 2 2.5\n2 3", False),
        ("*Arcs\n1 2 2.5 c Blue\n2 3", True),
        ("*Edgeslist\n2 1 3", False),
        ("*Arcslist\n1 2\n2 3", True),
        ("*Matrix\n0 2.5 0\n2.5 0 1\n0 1 0", False),
        ("*Matrix\n0 2.5 0\n0 0 1\n0 0 0", True),
    ],
)
def test_pajek(sections, directed, tmp_path):
    vertices = '*Network n\n*Vertices 3\n% a comment\n1 "one" 0.1 0.2 ellipse\n2 two\n'
    (tmp_path / "path.net").write_text(vertices + sections)
    (graph,) = read(tmp_path).values()
    assert graph.is_directed() == directed
    assert list(graph) == ["one", "two", "3"]
    ends = {tuple(sorted(pair)) for pair in graph.edges}
    assert ends == {tuple(sorted(pair)) for pair in PATH}
    for u, v, weight in graph.edges(data="weight"):
        assert weight in (None, PATH.get((u, v), PATH.get((v, u))))


def test_pajek_of_several_relations(tmp_path):
    text = (
        '*Vertices 2\n1 "x"\n2 "x"\n*Arcs :1 "likes"\n1 2 1\n*Edges :2 "knows"\n1 2 1\n*Partition p'
    )
    (tmp_path / "r.net").write_text(text)
    (graph,) = warned(r"r.net: not read: \*partition", read, tmp_path).values()
    found = sorted((u, v, x["relation"]) for u, v, x in graph.edges(data=True))
    one, other = "x (1)", "x (2)"
    assert found == [(one, other, "knows"), (one, other, "likes"), (other, one, "knows")]
    (tmp_path / "r.net").write_text("*Vertices 2\n*Edges\n1 3")
    refused("an edge joins 1 and 3, of 2 vertices", read, tmp_path / "r.net")


# -- JSON ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
@pytest.mark.parametrize("seed", range(5))
def test_lists_of_neighbors(kind, seed, tmp_path):
    rng = np.random.default_rng(seed)
    graph = kind(color="red")
    for k in range(6):
        graph.add_node(k, size=k / 2)
    for u, v in rng.integers(6, size=(9, 2)).tolist():
        graph.add_edge(u, v, weight=float(rng.integers(9)))
    (tmp_path / "adjacency.json").write_text(json.dumps(nx.adjacency_data(graph)))
    (found,) = read(tmp_path).values()
    assert found.graph == graph.graph
    assert dict(found.nodes.data()) == dict(graph.nodes.data())
    ends = (lambda u, v: (u, v)) if graph.is_directed() else (lambda u, v: (min(u, v), max(u, v)))
    of_found = sorted((*ends(u, v), x["weight"]) for u, v, x in found.edges(data=True))
    of_graph = sorted((*ends(u, v), x["weight"]) for u, v, x in graph.edges(data=True))
    assert of_found == of_graph


def test_trees(tmp_path):
    tree = nx.DiGraph([(1, 2), (1, 3), (3, 4)])
    nx.set_node_attributes(tree, {k: "xy"[k % 2] for k in tree}, "label")
    (tmp_path / "tree.json").write_text(json.dumps(nx.tree_data(tree, 1)))
    (found,) = read(tmp_path).values()
    assert graphs_equal(found, tree)
    leaf = {"name": "a", "size": 3}
    alike = {"name": "root", "children": [leaf, {"name": "a", "children": [leaf]}]}
    (tmp_path / "tree.json").write_text(json.dumps([alike, alike]))
    first, second = read(tmp_path).values()
    assert graphs_equal(first, second)
    assert [name for _, name in first.nodes(data="name")] == ["root", "a", "a", "a"]
    assert nx.is_arborescence(first)


def test_a_bill_of_materials(tmp_path):
    inner = {"bom-ref": "c", "name": "inner", "type": "library"}
    components = [
        {"bom-ref": "a", "name": "left-pad", "version": "1.3", "type": "library"},
        {"purl": "pkg:npm/b@2", "name": "b", "components": [inner]},
    ]
    content = {
        "bomFormat": "CycloneDX",
        "metadata": {"component": {"bom-ref": "app", "name": "shop", "type": "application"}},
        "components": components,
        "dependencies": [
            {"ref": "app", "dependsOn": ["a", "pkg:npm/b@2"]},
            {"ref": "a", "dependsOn": ["c"]},
            {"ref": "c"},
        ],
    }
    (tmp_path / "bom.json").write_text(json.dumps(content))
    (graph,) = read(tmp_path).values()
    assert set(graph.edges) == {("app", "a"), ("app", "pkg:npm/b@2"), ("a", "c")}
    assert graph.nodes["a"] == {"label": "left-pad", "version": "1.3", "type": "library"}
    content["dependencies"][1]["dependsOn"] = ["missing"]
    (tmp_path / "bom.json").write_text(json.dumps(content))
    refused("ends at 'missing', a node that is not listed", read, tmp_path / "bom.json")


def test_a_lock_file_of_npm(tmp_path):
    packages = {
        "": {"name": "shop", "dependencies": {"a": "^1", "b": "^1"}, "devDependencies": {"t": "1"}},
        "node_modules/a": {"version": "1.0.0", "dependencies": {"b": "^2", "@x/y": "1"}},
        "node_modules/a/node_modules/b": {"version": "2.0.0", "dependencies": {"t": "1"}},
        "node_modules/b": {"version": "1.0.0", "optionalDependencies": {"fsevents": "2"}},
        "node_modules/t": {"version": "1.0.0", "dev": True, "devDependencies": {"zzz": "1"}},
        "node_modules/@x/y": {"version": "0.1.0", "hasInstallScript": True},
    }
    content = {"name": "shop", "lockfileVersion": 3, "packages": packages}
    (tmp_path / "package-lock.json").write_text(json.dumps(content))
    (graph,) = read(tmp_path).values()
    place = {"a": "node_modules/a", "b2": "node_modules/a/node_modules/b", "b1": "node_modules/b"}
    place |= {"t": "node_modules/t", "y": "node_modules/@x/y", "": "."}
    pairs = [("", "a"), ("", "b1"), ("", "t"), ("a", "b2"), ("a", "y"), ("b2", "t")]
    assert set(graph.edges) == {(place[u], place[v]) for u, v in pairs}
    assert graph.nodes["node_modules/@x/y"]["label"] == "@x/y"
    assert graph.nodes["."]["label"] == "the project"  # as in all files
    (tmp_path / "package-lock.json").write_text(json.dumps({"lockfileVersion": 1}))
    refused("lockfileVersion 1", read, tmp_path / "package-lock.json")


def test_workspaces_of_npm(tmp_path):
    packages = {
        "": {"name": "shop", "dependencies": {"a": "*"}, "workspaces": ["packages/*"]},
        "node_modules/a": {"resolved": "packages/a", "link": True},
        "packages/a": {"version": "1.0.0", "dependencies": {"b": "1"}},
        "node_modules/b": {"version": "1.0.0", "peerDependencies": {"c": "1"}},
        "node_modules/c": {"version": "1.0.0"},
    }
    content = {"name": "shop", "lockfileVersion": 3, "packages": packages}
    (tmp_path / "package-lock.json").write_text(json.dumps(content))
    (graph,) = read(tmp_path).values()
    b, c = "node_modules/b", "node_modules/c"
    assert set(graph.edges) == {(".", "packages/a"), ("packages/a", b), (b, c)}
    assert graph.nodes["packages/a"]["label"] == "a"


def test_keys_of_parallel_edges_that_are_text(tmp_path):
    graph = nx.MultiDiGraph()
    graph.add_edge(1, 2, key="calls")
    graph.add_edge(1, 2, key="reads")
    for data in (nx.node_link_data(graph, edges="links"), nx.adjacency_data(graph)):
        (tmp_path / "g.json").write_text(json.dumps(data))
        (found,) = read(tmp_path).values()
        assert sorted(x for *_, x in found.edges(data="key")) == ["calls", "reads"]


def test_entries_of_matrices_are_read_unless_a_schema_says_what_of_edges(tmp_path):
    for i in range(2):
        np.save(tmp_path / f"{i}.npy", symmetric(4, i))
    np.save(tmp_path / "ones.npy", np.ones((4, 4)))

    def edge_data(schema=None):
        fitted = read_batch(find_files([str(tmp_path)]), schema).schema
        return fitted.edge_numbers, fitted.edge_weight

    assert edge_data() == ((("weight", 1),), None)
    assert edge_data(GraphSchema(edge_weight="weight")) == ((), "weight")
    assert edge_data(GraphSchema(edge_numbers=None)) == ((), None)
    (tmp_path / "edges.csv").write_text("source,target,weight\na,b,3\nb,c,1\n")
    assert edge_data() == ((), None)  # what else is there is no matrix


def test_a_cube_of_matrices_is_read_where_they_are_symmetric(tmp_path):
    matrices = [symmetric(3, seed) for seed in range(3)]
    for axis in (0, 2):
        np.save(tmp_path / "cube.npy", np.stack(matrices, axis=axis))
        for graph, matrix in zip(read(tmp_path).values(), matrices, strict=True):
            assert graphs_equal(graph, graph_of_matrix(matrix, None))
    np.save(tmp_path / "cube.npy", np.arange(27.0).reshape(3, 3, 3))
    refused(r"may be \(graphs, n, n\) or \(n, n, graphs\)", read, tmp_path)


def test_pajek_has_one_network_and_names_with_apostrophes(tmp_path):
    one = '*Vertices 2\n1 O\'Brien\n2 "de la Cruz"\n*Edges\n1 2\n'
    (tmp_path / "one.net").write_text(one)
    assert list(read(tmp_path)["one.net"]) == ["O'Brien", "de la Cruz"]
    (tmp_path / "one.net").write_text(one + one)
    refused("it has 2 networks", read, tmp_path)

"""MUTAG, and zips in the TU layout: intact ones are read, broken ones explain why."""

import re
import sys
from collections import Counter
from pathlib import Path

import networkx as nx
import numpy as np
import pooch
import pytest
import requests
from hypothesis import given
from hypothesis import strategies as st

from skgraphkde.datasets import fetch_tu_dataset, load_mutag
from skgraphkde.datasets._tu_sets import BENCHMARK
from skgraphkde.reading import read_graphs
from tests.conftest import refused
from tests.datasets.common import tu_files, write_zip

SHARED = Path(__file__).parents[3] / "shared" / "datasets"

# From ../shared/datasets/README.md: graphs, mean nodes, mean edges (a self-loop counts as one),
# classes with counts, distinct node labels, attributes, isolated nodes, smallest, largest.
STATISTICS = {
    "MUTAG": (188, 17.93, 19.79, {-1: 63, 1: 125}, 7, 0, 0, 10, 28),
    "PROTEINS": (1113, 39.06, 72.82, {1: 663, 2: 450}, 3, 1, 5, 4, 620),
    "DD": (1178, 284.32, 715.66, {1: 691, 2: 487}, 82, 0, 0, 30, 5748),
    "ENZYMES": (600, 32.63, 62.14, dict.fromkeys(range(1, 7), 100), 3, 18, 106, 2, 126),
    "DHFR": (756, 42.43, 44.54, {-1: 295, 1: 461}, 9, 3, 0, 20, 71),
    "BZR": (405, 35.75, 38.36, {-1: 319, 1: 86}, 10, 3, 0, 13, 57),
    "COX2": (467, 41.22, 43.45, {-1: 365, 1: 102}, 8, 3, 0, 32, 56),
    "AIDS": (2000, 15.69, 16.20, {0: 400, 1: 1600}, 38, 4, 210, 2, 95),
    "IMDB-BINARY": (1000, 19.77, 96.53, {0: 500, 1: 500}, 0, 0, 0, 12, 136),
    "NCI1": (4110, 29.87, 32.30, {0: 2053, 1: 2057}, 37, 0, 428, 3, 111),
    "COLLAB": (5000, 74.49, 2457.78, {1: 2600, 2: 775, 3: 1625}, 0, 0, 0, 32, 492),
    "REDDIT-BINARY": (2000, 429.63, 497.75, {-1: 1000, 1: 1000}, 0, 0, 21, 6, 3782),
}


@pytest.fixture(autouse=True)
def _cache(tmp_path, monkeypatch):
    """Keep all tests away from the user's cache and from the network."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("SKGRAPHKDE_DATA", raising=False)
    monkeypatch.setattr(pooch.core.time, "sleep", lambda seconds: None)
    monkeypatch.setattr(pooch.HTTPDownloader, "__call__", _no_network)


def _no_network(*_):
    raise requests.ConnectionError("no route to host")


def fetch(folder, files, **options):
    return fetch_tu_dataset("TINY", data_home=write_zip(folder, files), **options)


# -- MUTAG in the package --------------------------------------------------------------------------


def test_mutag_is_what_its_description_says():
    mutag, (typed, y) = load_mutag(), load_mutag(edge_data=True, return_X_y=True)
    sizes = mutag.graphs.n_nodes_per_graph
    assert (len(sizes), sizes.sum(), sizes.min(), sizes.max()) == (188, 3371, 10, 28)
    assert mutag.graphs.n_edges_per_graph.sum() == 3721
    assert mutag.graphs.label_names == ("C", "N", "O", "F", "I", "Cl", "Br")
    assert Counter(mutag.target.tolist()) == Counter(y.tolist()) == {-1: 63, 1: 125}
    assert mutag.target_names.tolist() == ["not mutagenic", "mutagenic"]
    assert "Debnath" in mutag.DESCR
    np.testing.assert_array_equal(mutag.graphs.adjacency.indices, typed.adjacency.indices)
    counts = dict(zip(typed.edge_label_names, np.bincount(typed.edge_labels), strict=True))
    assert counts == {"aromatic": 4708, "single": 2008, "double": 724, "triple": 2}


# -- whole zips ------------------------------------------------------------------------------------


def test_bunch_and_tuple(tmp_path, files):
    folder = write_zip(tmp_path / "data", files)
    bunch = fetch_tu_dataset("TINY", data_home=folder)
    assert bunch.target.tolist() == bunch.classes.tolist() == [1, 1, 2, 1, 2]
    assert bunch.target_names.tolist() == ["class 1", "class 2"]
    assert "Graphs by class: 1: 3, 2: 2." in bunch.DESCR
    graphs, y = fetch_tu_dataset("TINY", data_home=folder, anomaly_class=1, return_X_y=True)
    assert (len(graphs), y.tolist()) == (5, [-1, -1, 1, -1, 1])
    refused(
        r"no class 3: anomaly_class must be one of \[1, 2\]",
        fetch_tu_dataset,
        "TINY",
        data_home=folder,
        anomaly_class=3,
    )
    refused(
        "TINY have neither labels nor attributes: leave out edge",
        fetch_tu_dataset,
        "TINY",
        data_home=folder,
        edge_data=True,
    )


def test_benchmark_sets_name_their_anomaly(tmp_path):
    files = tu_files(read_graphs([nx.path_graph(3), nx.path_graph(2)]), [-1, 1])
    mutag = fetch_tu_dataset("MUTAG", data_home=write_zip(tmp_path, files, "MUTAG", "MUTAG_"))
    assert (mutag.anomaly_class, mutag.target.tolist()) == (-1, [-1, 1])
    assert mutag.target_names.tolist() == ["not mutagenic", "mutagenic"]
    assert "Debnath" in mutag.DESCR


def test_loops_and_repetitions_are_no_edges(tmp_path):
    edges = "1, 2\n2, 1\n1, 2\n2, 1\n3, 3\n3, 3\n2, 2\n"
    bunch = fetch(tmp_path, {"A": edges, "graph_indicator": "1\n1\n2\n", "graph_labels": "0\n0\n"})
    assert bunch.graphs.n_edges_per_graph.tolist() == [1, 0]
    assert bunch.graphs.adjacency.data.tolist() == [1, 1]
    assert bunch.n_self_loops == 2


# -- edge data -------------------------------------------------------------------------------------


@given(seed=st.integers(0, 10**6), directed=st.booleans(), parallel=st.booleans())
def test_data_there_and_back_in_any_order(tmp_path_factory, seed, directed, parallel):
    rng = np.random.RandomState(seed)
    kinds = [[nx.Graph, nx.MultiGraph], [nx.DiGraph, nx.MultiDiGraph]]
    graph = kinds[directed][parallel]()
    for node in range(5):
        graph.add_node(node, label=int(rng.randint(3)), x=rng.standard_normal(2))
    for u, v in [(0, 1), *rng.randint(5, size=(12, 2))]:
        if u != v:
            graph.add_edge(u, v, label=int(rng.randint(2)), x=rng.randint(3, size=2) / 4)
    expected = read_graphs([graph])
    files = tu_files(expected)
    lines = [files[part].splitlines() for part in ("A", "edge_labels", "edge_attributes")]
    order = rng.permutation(np.r_[np.arange(len(lines[0])), rng.randint(len(lines[0]), size=3)])
    for part, of_part in zip(("A", "edge_labels", "edge_attributes"), lines, strict=True):
        files[part] = "".join(f"{of_part[i]}\n" for i in order)
    read = fetch(tmp_path_factory.mktemp("tu"), files, edge_data=True).graphs
    np.testing.assert_array_equal(np.array(read.label_names)[read.labels], expected.labels)
    # pandas before 3.1 trades the last digit of a decimal number for speed.
    np.testing.assert_allclose(read.attributes, expected.attributes, atol=1e-15)
    arcs = sorted_arcs(expected)
    is_symmetric = arcs == sorted((v, u, *data) for u, v, *data in arcs)
    assert read.directed == (not is_symmetric)
    assert sorted_arcs(read) == sorted_arcs(expected)


def sorted_arcs(batch):
    """Each arc with its data, sorted."""
    row = batch.source_of_arc
    labels = batch.edge_labels.tolist()  # which tu_files writes in place of their names
    ends = zip(row.tolist(), batch.adjacency.indices.tolist(), strict=True)
    data = zip(labels, map(tuple, batch.edge_attributes.tolist()), strict=True)
    return sorted((*end, *values) for end, values in zip(ends, data, strict=True))


def test_several_labels_are_one_tuple(tmp_path):
    triangle = {
        "A": "1, 2\n2, 1\n2, 3\n3, 2\n3, 1\n1, 3\n",
        "graph_indicator": "1\n1\n1\n",
        "graph_labels": "0\n",
        "node_labels": "1, 7\n0, 7\n0, 7\n",
        "edge_labels": "0, 1\n0, 1\n0, 2\n0, 2\n0, 1\n0, 1\n",
    }
    graphs = fetch(tmp_path, triangle, edge_data=True).graphs
    assert (graphs.label_names, graphs.labels.tolist()) == (((0, 7), (1, 7)), [1, 0, 0])
    assert graphs.edge_label_names == ((0, 1), (0, 2))
    assert graphs.schema.edge_categories == ("label",)


# -- where data sets come from ---------------------------------------------------------------------


def test_the_environment_names_the_folder(tmp_path, files, monkeypatch):
    write_zip(tmp_path / "elsewhere", files)
    monkeypatch.setenv("SKGRAPHKDE_DATA", str(tmp_path / "elsewhere"))
    assert len(fetch_tu_dataset("TINY").graphs) == 5


# -- broken zips -----------------------------------------------------------------------------------

BROKEN = {
    "fewer labels than nodes": ({"node_labels": "1\n"}, "TINY_node_labels.txt has 1 lines, but"),
    "a word": ({"graph_labels": "1\n1\nx\n1\n2\n"}, "graph_labels.txt: expected numbers with co"),
    "a hole": ({"graph_labels": "1\n1\n\n1\n2\n"}, "line 3: expected integers"),
    "half a class": ({"graph_labels": "1\n1\n1.5\n1\n2\n"}, "line 3: expected integers"),
    "three ends": (
        {"A": "1, 2\n2, 1, 3\n"},
        "TINY_A.txt: expected numbers with commas; Expected 2",
    ),
    "one end": ({"A": "1, 2\n2\n"}, "TINY_A.txt, line 2: expected integers"),
    "no second end": ({"A": "1\n2\n"}, "TINY_A.txt has 1 columns, and must have 2"),
    "no edge at all": ({"A": ""}, "TINY_A.txt is empty"),
    "node 0": ({"A": "0, 1\n1, 0\n"}, "line 1: edge (0, 1), but nodes are 1 to"),
    "a node too many": ({"A": "1, 999\n999, 1\n"}, "line 1: edge (1, 999), but nodes are 1 to"),
    "two graphs": ({"A": "1, 23\n23, 1\n"}, "line 1: edge (1, 23) joins graph 1 and graph 5"),
    "fewer edge labels than edges": (
        {"edge_labels": "1\n1\n"},
        "TINY_edge_labels.txt has 2 lines, but TINY_A.txt has",
    ),
    "no order": (
        {"graph_indicator": "2\n1\n", "node_labels": "1\n1\n", "node_attributes": "1\n2\n"},
        "line 1: graph 2, but graphs are numbered 1, 2, ... in order",
    ),
    "a class too many": (
        {"graph_labels": "1\n" * 6},
        "has 5 graphs, but the data set has 6 graph labels",
    ),
    "an attribute": ({"node_attributes": "1, 2\nnan, 1\n"}, "line 2: expected finite numbers"),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_file_is_named(tmp_path, files, kind):
    changes, message = BROKEN[kind]
    refused(f"TINY.*{re.escape(message)}", fetch, tmp_path, files | changes)


# Every node of a ring has one edge out and one in.
@pytest.mark.parametrize("edges", ["1, 2\n", "2, 1\n", "1, 2\n2, 3\n3, 4\n4, 1\n"])
def test_edges_in_one_direction_only(tmp_path, files, edges):
    graphs = fetch(tmp_path, files | {"A": edges}).graphs
    assert graphs.directed
    assert graphs.adjacency.nnz == edges.count("\n")


@pytest.mark.parametrize("damage", [lambda x: x[:-100], lambda x: x[:60] + b"\xff\xff" + x[62:]])
def test_a_damaged_zip(tmp_path, files, damage):
    path = write_zip(tmp_path / "data", files) / "TINY.zip"
    path.write_bytes(damage(path.read_bytes()))
    refused(r"TINY\.zip is damaged .* delete it", fetch_tu_dataset, "TINY", data_home=path.parent)


def test_a_wrong_member_name(tmp_path, files):
    folder = write_zip(tmp_path, files, prefix="TINY/tiny_")
    message = r"has no TINY_A\.txt, TINY_graph_indicator\.txt.* it contains tiny_A\.txt"
    refused(message, fetch_tu_dataset, "TINY", data_home=folder)


# -- downloads ---------------------------------------------------------------------------


def test_downloads(tmp_path, files, monkeypatch):
    content = (write_zip(tmp_path / "site", files, "MUTAG", "MUTAG_") / "MUTAG.zip").read_bytes()
    urls, home = [], tmp_path / "home"

    def download(self, url, output_file, pooch):
        urls.append(url)
        Path(output_file).write_bytes(content)

    with pytest.raises(
        FileNotFoundError, match=r"False: get https://\S+/MUTAG.zip and put it into"
    ):
        fetch_tu_dataset("MUTAG", data_home=home, download_if_missing=False)
    with pytest.raises(FileNotFoundError, match=r"no route to host.*check the name .* put it into"):
        fetch_tu_dataset("MUTAG", data_home=home)
    monkeypatch.setattr(pooch.HTTPDownloader, "__call__", download)
    for _ in range(2):
        assert len(fetch_tu_dataset("MUTAG", data_home=home, anomaly_class=1).graphs) == 5
    assert urls == ["https://www.chrsmrrs.com/graphkerneldatasets/MUTAG.zip"]


def test_without_pooch(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(ImportError, match="downloads need pooch"):
        fetch_tu_dataset("MUTAG", data_home=tmp_path)


# -- the real ones ---------------------------------------------------------------------------------


@pytest.mark.skipif(not SHARED.exists(), reason="the data sets are not beside this checkout")
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if name == "MUTAG" else pytest.mark.slow)
        for name in STATISTICS
        if name != "COLLAB"  # which takes a minute
    ],
)
def test_statistics(name):
    data = fetch_tu_dataset(name, data_home=SHARED)
    graphs, sizes = data.graphs, data.graphs.n_nodes_per_graph
    edges = graphs.n_edges_per_graph.sum() + data.n_self_loops
    n_attributes = 0 if graphs.attributes is None else graphs.attributes.shape[1]
    n_isolated = (graphs.degrees == 0).sum()
    means = round(sizes.mean(), 2), round(edges / len(graphs), 2)
    of_data = Counter(data.classes.tolist()), len(graphs.label_names), n_attributes, n_isolated
    assert (len(graphs), *means, *of_data, sizes.min(), sizes.max()) == STATISTICS[name]
    assert data.n_self_loops == (2837 if name == "COLLAB" else 0)
    assert set(data.target) == {-1, 1}
    assert set(BENCHMARK[name].classes) == set(data.classes)

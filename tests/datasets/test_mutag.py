import io
import zipfile
from pathlib import Path

import numpy as np
import pytest

from skgraphkde.datasets import load_mutag

ARCHIVE = Path(__file__).parents[3] / "shared" / "datasets" / "MUTAG.zip"


def test_mutag_is_what_its_description_says():
    mutag = load_mutag()
    assert len(mutag.graphs) == 188
    assert mutag.graphs.n_nodes == 3371
    assert mutag.graphs.n_edges_per_graph.sum() == 3721
    assert (mutag.graphs.n_nodes_per_graph.min(), mutag.graphs.n_nodes_per_graph.max()) == (10, 28)
    assert mutag.graphs.label_names == ("C", "N", "O", "F", "I", "Cl", "Br")
    assert np.unique(mutag.target, return_counts=True)[1].tolist() == [63, 125]
    assert set(mutag.target) == {-1, 1}
    assert mutag.target_names.tolist() == ["not mutagenic", "mutagenic"]
    for words in ("GraKeL 0.1.11", "BSD", "Debnath", "125 are"):
        assert words in mutag.DESCR


def test_graphs_and_target():
    graphs, y = load_mutag(return_X_y=True)
    assert len(graphs) == len(y) == 188
    # Nearly every molecule has a nitro group, and hence an N with two O.
    first = graphs[0].to_networkx()[0]
    nitrogen = next(k for k in first if first.nodes[k]["label"] == "N")
    assert sorted(first.nodes[k]["label"] for k in first[nitrogen]) == ["C", "O", "O"]


def test_bonds_have_types_if_asked_for():
    plain, typed = load_mutag().graphs, load_mutag(edge_data=True).graphs
    assert plain.edge_labels is None
    assert typed.edge_label_names == ("aromatic", "single", "double", "triple")
    assert not typed.directed
    for part in ("data", "indices", "indptr"):
        ours, theirs = (getattr(graphs.adjacency, part) for graphs in (plain, typed))
        np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_array_equal(plain.labels, typed.labels)
    assert np.bincount(typed.edge_labels).tolist() == [2 * n for n in (2354, 1004, 362, 1)]
    for graph in typed.to_networkx():
        assert all(data["label"] in typed.edge_label_names for *_, data in graph.edges(data=True))
    # A nitro group has a single bond to its carbon, and two to the oxygens.
    first = typed[0].to_networkx()[0]
    nitrogen = next(k for k in first if first.nodes[k]["label"] == "N")
    bonds = {first.nodes[k]["label"]: data["label"] for k, data in first[nitrogen].items()}
    assert bonds["C"] == "single"
    graphs, y = load_mutag(return_X_y=True, edge_data=True)
    assert len(graphs.edge_labels) == graphs.adjacency.nnz
    assert len(y) == 188


@pytest.mark.skipif(not ARCHIVE.exists(), reason="the data sets are not next to this checkout")
def test_mutag_equals_the_files_of_the_collection():
    def read(name):
        with zipfile.ZipFile(ARCHIVE) as archive:
            return np.loadtxt(
                io.BytesIO(archive.read(f"MUTAG/MUTAG_{name}.txt")), delimiter=",", dtype=int
            )

    graphs, y = load_mutag(return_X_y=True)
    edges = graphs.adjacency.tocoo()
    ours = np.column_stack([edges.row, edges.col]) + 1
    np.testing.assert_array_equal(np.unique(ours, axis=0), np.unique(read("A"), axis=0))
    np.testing.assert_array_equal(graphs.graph_of_node + 1, read("graph_indicator"))
    np.testing.assert_array_equal(graphs.labels, read("node_labels"))
    np.testing.assert_array_equal(y, read("graph_labels"))
    bonds = dict(zip(map(tuple, read("A").tolist()), read("edge_labels").tolist(), strict=True))
    typed = load_mutag(edge_data=True).graphs
    assert [bonds[tuple(ends)] for ends in ours.tolist()] == typed.edge_labels.tolist()

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

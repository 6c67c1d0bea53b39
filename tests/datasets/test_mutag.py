import numpy as np

from skgraphkde.datasets import load_mutag


def test_mutag_is_what_its_description_says():
    mutag = load_mutag()
    sizes = mutag.graphs.n_nodes_per_graph
    assert (len(sizes), sizes.sum(), sizes.min(), sizes.max()) == (188, 3371, 10, 28)
    assert mutag.graphs.n_edges_per_graph.sum() == 3721
    assert mutag.graphs.label_names == ("C", "N", "O", "F", "I", "Cl", "Br")
    values, counts = np.unique(mutag.target, return_counts=True)
    assert (values.tolist(), counts.tolist()) == ([-1, 1], [63, 125])
    assert mutag.target_names.tolist() == ["not mutagenic", "mutagenic"]
    for words in ("GraKeL 0.1.11", "BSD", "Debnath", "125 are"):
        assert words in mutag.DESCR


def test_bonds_have_types_if_asked_for():
    plain, (typed, y) = load_mutag().graphs, load_mutag(edge_data=True, return_X_y=True)
    assert len(y) == 188
    assert plain.edge_labels is None
    assert typed.edge_label_names == ("aromatic", "single", "double", "triple")
    assert not typed.directed
    for part in ("data", "indices", "indptr"):
        ours, theirs = (getattr(graphs.adjacency, part) for graphs in (plain, typed))
        np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_array_equal(plain.labels, typed.labels)
    assert np.bincount(typed.edge_labels).tolist() == [2 * n for n in (2354, 1004, 362, 1)]
    # Nearly every molecule has a nitro group: N with a single bond to its carbon, and two O.
    first = typed[0].to_networkx()[0]
    nitrogen = next(k for k in first if first.nodes[k]["label"] == "N")
    bonds = [(first.nodes[k]["label"], data["label"]) for k, data in first[nitrogen].items()]
    assert sorted(atom for atom, _ in bonds) == ["C", "O", "O"]
    assert dict(bonds)["C"] == "single"

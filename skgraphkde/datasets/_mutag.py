"""MUTAG, inside the package."""

from __future__ import annotations

from importlib import resources
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import Bunch

from skgraphkde.graphs.arrays import offsets
from skgraphkde.graphs.batch import GraphBatch

ATOMS = ("C", "N", "O", "F", "I", "Cl", "Br")
BONDS = ("aromatic", "single", "double", "triple")


def load_mutag(*, return_X_y: bool = False, edge_data: bool = False) -> Any:
    """Load 188 nitroaromatic molecules, 125 of them mutagenic: a small, real data set.

    Nodes are atoms without the hydrogens, labeled by element; edges are bonds. As is usual in the
    literature on anomaly detection, the minority is the anomaly: the molecules that are *not*
    mutagenic.

    Parameters
    ----------
    return_X_y : bool, default=False
        Return ``(graphs, target)`` instead of a Bunch.
    edge_data : bool, default=False
        Read the types of bonds as the category "label" of the edges: aromatic, single, double or
        triple. Without them, the graphs are those on which detectors are compared in the
        literature.

    Returns
    -------
    Bunch
        - graphs : GraphBatch of 188 molecules, 10 to 28 atoms each;
        - target : ndarray of shape (188,), 1 (mutagenic, normal) or -1 (not mutagenic, the
          anomaly);
        - target_names : the meanings of -1 and 1, in this order;
        - DESCR : source of the data, and the articles to cite.

    References
    ----------
    Debnath et al., Structure-activity relationship of mutagenic aromatic and heteroaromatic nitro
    compounds, J. Med. Chem. 34, 1991. Kriege and Mutzel, Subgraph matching kernels for attributed
    graphs, ICML 2012. Morris et al., TUDataset, arXiv:2007.08663, 2020.

    Examples
    --------
    >>> from skgraphkde.datasets import load_mutag
    >>> mutag = load_mutag()
    >>> mutag.graphs
    GraphBatch(n_graphs=188, n_nodes=3371, n_edges=3721, n_labels=7)
    >>> int((mutag.target == -1).sum())
    63
    >>> load_mutag(edge_data=True).graphs.edge_label_names
    ('aromatic', 'single', 'double', 'triple')
    """
    folder = resources.files("skgraphkde.datasets") / "data"
    with (folder / "mutag.npz").open("rb") as file, np.load(file, allow_pickle=False) as arrays:
        node_ptr = offsets(arrays["n_nodes"])
        first_node = np.repeat(node_ptr[:-1], arrays["n_edges"])
        row, column = arrays["edges"].T + first_node
        labels, target = arrays["atoms"], arrays["target"].astype(np.int64)
        bonds = arrays["bonds"]

    def matrix(values: np.ndarray) -> sp.csr_array:
        upper = sp.coo_array((values, (row, column)), shape=(len(labels), len(labels)))
        return sp.csr_array(upper.tocsr() + upper.T.tocsr())

    of_edges: tuple = ()
    if edge_data:  # codes from 1, so that each is an entry of the matrix
        of_edges = (matrix(bonds.astype(np.int64) + 1).data - 1, BONDS)
    adjacency = matrix(np.ones(len(row)))
    graphs = GraphBatch(node_ptr, adjacency, labels, ATOMS, None, *of_edges)
    if return_X_y:
        return graphs, target
    return Bunch(
        graphs=graphs,
        target=target,
        target_names=np.array(["not mutagenic", "mutagenic"]),
        DESCR=(folder / "mutag.md").read_text(encoding="utf-8"),
    )

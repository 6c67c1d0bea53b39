"""Data sets: MUTAG, or the name of a set of the TU collection -> a Bunch of graphs and targets."""

from __future__ import annotations

import os
from importlib import resources
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import Bunch

from skgraphkde.core.graphs.arrays import offsets
from skgraphkde.core.graphs.batch import GraphBatch
from skgraphkde.core.specification import validate_params
from skgraphkde.datasets._tu_sets import BENCHMARK, UNKNOWN, TUSet
from skgraphkde.reading.files.tu import OF_EDGES, read_arrays, to_batch

__all__ = ["fetch_tu_dataset", "load_mutag"]

ATOMS = ("C", "N", "O", "F", "I", "Cl", "Br")
BONDS = ("aromatic", "single", "double", "triple")
SITE = "https://www.chrsmrrs.com/graphkerneldatasets"
#: Environment variable that names the folder of the zips.
DATA_HOME = "SKGRAPHKDE_DATA"


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
        labels = arrays["atoms"]
        target = arrays["target"].astype(np.int64)
        bonds = arrays["bonds"]

    def matrix(values: np.ndarray) -> sp.csr_array:
        upper = sp.coo_array((values, (row, column)), shape=(len(labels), len(labels)))
        return sp.csr_array(upper.tocsr() + upper.T.tocsr())

    of_edges: tuple = ()
    if edge_data:  # codes from 1, so that each is an entry of the matrix
        of_edges = (matrix(bonds.astype(np.int64) + 1).data - 1, BONDS)
    adjacency = matrix(np.ones(len(row)))
    graphs = GraphBatch(node_ptr, adjacency, (labels, ATOMS), of_edges)
    if return_X_y:
        return graphs, target
    return Bunch(
        graphs=graphs,
        target=target,
        target_names=np.array(["not mutagenic", "mutagenic"]),
        DESCR=(folder / "mutag.md").read_text(encoding="utf-8"),
    )


@validate_params(
    {
        "name": [str],
        "data_home": [str, os.PathLike, None],
        "download_if_missing": ["boolean"],
        "return_X_y": ["boolean"],
        "anomaly_class": [Integral, None],
        "edge_data": ["boolean"],
    },
    prefer_skip_nested_validation=True,
)
def fetch_tu_dataset(
    name: str,
    *,
    data_home: str | os.PathLike | None = None,
    download_if_missing: bool = True,
    return_X_y: bool = False,
    anomaly_class: int | None = None,
    edge_data: bool = False,
) -> Any:
    """Load a graph classification data set of the TU collection, downloading it if necessary.

    One class is taken for the anomaly. Downloading needs pooch: ``pip install pooch``.

    Parameters
    ----------
    name : str
        As in the collection, such as "MUTAG" or "REDDIT-BINARY".
    data_home : str or path-like, default=None
        Folder with ``NAME.zip``, or for the download. None: the folder that the environment
        variable ``SKGRAPHKDE_DATA`` names, or without it ``~/.cache/skgraphkde`` (under
        ``$XDG_CACHE_HOME``, if that is set).
    download_if_missing : bool, default=True
        Download a missing zip.
    return_X_y : bool, default=False
        Return ``(graphs, target)`` instead of a Bunch.
    anomaly_class : int, default=None
        The class that is the anomaly. None: for the twelve data sets of the paper, the one that
        the paper takes; for others, none.
    edge_data : bool, default=False
        Read labels and attributes of edges, such as the bonds of MUTAG. Without them,
        the graphs are those on which detectors are compared in the literature.

    Returns
    -------
    Bunch
        - graphs : GraphBatch; node labels are the collection's integers (tuples of them if a node
          has several), self-loops are omitted. With `edge_data`, labels of edges are the same. The
          graphs are directed if one direction of an edge is not listed, or has other data;
        - target : ndarray of shape (n_graphs,), 1 (normal) or -1 (of the anomaly class); without an
          anomaly class the classes themselves;
        - target_names : the meanings of the values of `target`, in ascending order;
        - classes : ndarray of shape (n_graphs,), the collection's classes;
        - anomaly_class : int or None;
        - n_self_loops : int, number of omitted self-loops;
        - DESCR : description of the graphs and their source.

    Raises
    ------
    FileNotFoundError
        If the zip is missing, and must not be or cannot be downloaded.
    ValueError
        If the set has no such class, its edges have no data and `edge_data` is True, or a file is
        damaged.

    Notes
    -----
    Every file is checked: members, counts, ids in range, no edge between two graphs. Lines that
    repeat an edge with the same data count once; edges with different data between the same nodes
    are parallel.

    References
    ----------
    Morris et al., TUDataset: A collection of benchmark datasets for learning with graphs,
    arXiv:2007.08663, 2020.

    Examples
    --------
    >>> from skgraphkde.datasets import fetch_tu_dataset
    >>> proteins = fetch_tu_dataset("PROTEINS")  # doctest: +SKIP
    >>> proteins.graphs  # doctest: +SKIP
    GraphBatch(n_graphs=1113, n_nodes=43471, n_edges=81044, n_labels=3, n_attributes=1)
    """
    cache = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "skgraphkde"
    path = Path(data_home or os.environ.get(DATA_HOME) or cache).expanduser() / f"{name}.zip"
    if not path.exists():
        _download(path, allowed=download_if_missing)
    arrays = read_arrays(path, name, edge_data=edge_data)
    if edge_data and arrays["is_symmetric"] and not set(OF_EDGES) & set(arrays):
        raise ValueError(
            f"the edges of {name} have neither labels nor attributes: leave out edge_data"
        )
    classes = arrays["classes"]
    facts = BENCHMARK.get(name, UNKNOWN)
    values = np.unique(classes).tolist()
    if anomaly_class is None:
        anomaly_class = facts.anomaly_class
    target = classes
    names = [facts.classes.get(value, f"class {value}") for value in values]
    if anomaly_class is not None:
        if anomaly_class not in values:
            raise ValueError(
                f"{name} has no class {anomaly_class}: anomaly_class must be one of {values}"
            )
        target = np.where(classes == anomaly_class, -1, 1)
        anomaly = names.pop(values.index(anomaly_class))
        names = [anomaly, " or ".join(names)]
    graphs = to_batch(arrays)
    if return_X_y:
        return graphs, target
    return Bunch(
        graphs=graphs,
        target=target,
        target_names=np.array(names),
        classes=classes,
        anomaly_class=anomaly_class,
        n_self_loops=int(arrays["n_self_loops"]),
        DESCR=_description(name, facts, graphs, classes),
    )


def _download(path: Path, *, allowed: bool) -> None:
    """Download a zip completely or not at all."""
    by_hand = f"get {SITE}/{path.name} and put it into {path.parent}"
    if not allowed:
        raise FileNotFoundError(f"{path} does not exist and download_if_missing=False: {by_hand}")
    try:
        import pooch
    except ImportError as error:
        raise ImportError(f"downloads need pooch: pip install pooch, or {by_hand}") from error
    # The collection has no checksums.
    site = pooch.create(path.parent, f"{SITE}/", registry={path.name: None}, retry_if_failed=2)
    try:
        site.fetch(path.name)
    except (OSError, ValueError) as error:  # requests' errors are OSErrors
        raise FileNotFoundError(
            f"{SITE}/{path.name} could not be downloaded ({error}): check the name of the set, or "
            f"{by_hand}"
        ) from error


def _description(name: str, facts: TUSet, graphs: GraphBatch, classes: np.ndarray) -> str:
    counts = zip(*np.unique(classes, return_counts=True), strict=True)
    return (
        f"{name}, a data set of the TU collection\n\n"
        f"{graphs.n_graphs} graphs with {graphs.n_nodes_per_graph.mean():.2f} nodes and "
        f"{graphs.n_edges_per_graph.mean():.2f} edges on average, self-loops left out.\n"
        f"Graphs by class: {', '.join(f'{value}: {count}' for value, count in counts)}.\n\n"
        f"{facts.about}\n\nPlease cite the source above, and: Morris et al., TUDataset: A "
        "collection of benchmark datasets for learning with graphs, arXiv:2007.08663, 2020.\n"
    )

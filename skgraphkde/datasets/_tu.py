"""Data sets of the TU collection: a name -> a Bunch of graphs.

The zip comes from a folder or from the collection's site.
"""

from __future__ import annotations

import difflib
import os
import zipfile
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils import Bunch
from sklearn.utils._param_validation import validate_params

from skgraphkde.datasets._tu_sets import BENCHMARK, UNKNOWN, TUSet, collection_names
from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.graphs.files.tu import OF_EDGES, check_both_directions, read_arrays, to_batch

SITE = "https://www.chrsmrrs.com/graphkerneldatasets"
#: Environment variable that names the folder of the zips.
DATA_HOME = "SKGRAPHKDE_DATA"


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

    One class is taken for the anomaly. Downloading needs pooch, which tries three times:
    ``pip install pooch``.

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
          has several), self-loops are omitted. With `edge_data`, labels of edges are the same, and
          the graphs are directed if the two directions of an edge differ in their data, or one is
          not listed;
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
        If there is no such set, the set has no such class, its edges have no data and `edge_data`
        is True, they are listed in one direction only and `edge_data` is False, or a file is
        damaged.

    Notes
    -----
    Every file is checked: members, counts, ids in range, no edge between two graphs, and without
    `edge_data` each edge in both directions. Lines that repeat an edge with the same data count
    once; edges with different data between the same nodes are parallel.

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
    folder = _folder(data_home)
    path = folder / f"{name}.zip"
    if not path.exists():
        _check_name(name, folder)
        if not download_if_missing:
            raise FileNotFoundError(
                f"{path} does not exist and download_if_missing=False: {_by_hand(name, folder)}"
            )
        _download(name, path)
    arrays = read_arrays(path, name)
    if not edge_data:
        check_both_directions(arrays, f"{path}, {name}")
    elif arrays["is_symmetric"] and not set(OF_EDGES) & set(arrays):
        raise ValueError(
            f"the edges of {name} have neither labels nor attributes: leave out edge_data"
        )
    classes = arrays["classes"]
    facts = BENCHMARK.get(name, UNKNOWN)
    if anomaly_class is None:
        anomaly_class = facts.anomaly_class
    if anomaly_class is not None and anomaly_class not in classes:
        raise ValueError(
            f"{name} has no class {anomaly_class}: anomaly_class must be one of "
            f"{np.unique(classes).tolist()}"
        )
    target = classes if anomaly_class is None else np.where(classes == anomaly_class, -1, 1)
    graphs = to_batch(arrays, edge_data=edge_data)
    if return_X_y:
        return graphs, target
    return Bunch(
        graphs=graphs,
        target=target,
        target_names=_target_names(facts, classes, anomaly_class),
        classes=classes,
        anomaly_class=anomaly_class,
        n_self_loops=int(arrays["n_self_loops"]),
        DESCR=_description(name, facts, graphs, classes),
    )


# -- the zip ------------------------------------------------------------------------------


def _folder(data_home: str | os.PathLike | None) -> Path:
    cache = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "skgraphkde"
    try:
        return Path(data_home or os.environ.get(DATA_HOME) or cache).expanduser()
    except RuntimeError as error:  # as for a user whom a container does not know
        raise FileNotFoundError(
            f"there is no home folder to keep data sets in: give data_home, or set {DATA_HOME}"
        ) from error


def _check_name(name: str, folder: Path) -> None:
    folded = {known.casefold(): known for known in collection_names()}
    if name in folded.values():
        return
    close = difflib.get_close_matches(name.casefold(), folded, n=3)
    hint = f", did you mean {' or '.join(repr(folded[c]) for c in close)}?" if close else "."
    raise ValueError(
        f"The TU collection has no data set {name!r}{hint} A data set of your own in the "
        f"collection's layout is read from {folder / name}.zip"
    )


def _by_hand(name: str, folder: Path) -> str:
    return f"get {SITE}/{name}.zip and put it into {folder}"


def _download(name: str, path: Path) -> None:
    """Download a zip completely or not at all."""
    try:
        import pooch
    except ImportError as error:
        raise ImportError(
            f"downloads need pooch: pip install pooch, or {_by_hand(name, path.parent)}"
        ) from error
    registry = {path.name: None}  # the collection has no checksums
    site = pooch.create(path.parent, f"{SITE}/", registry=registry, retry_if_failed=2)
    try:
        site.fetch(path.name)
        if not zipfile.is_zipfile(path):
            path.unlink()
            raise ValueError("the download is not a zip")
    except (OSError, ValueError) as error:  # requests' errors are OSErrors
        raise FileNotFoundError(
            f"{SITE}/{path.name} could not be downloaded ({error}): {_by_hand(name, path.parent)}"
        ) from error


# -- the result -----------------------------------------------------------------------------------


def _target_names(facts: TUSet, classes: np.ndarray, anomaly_class: int | None) -> np.ndarray:
    values = np.unique(classes).tolist()
    names = {value: facts.classes.get(value, f"class {value}") for value in values}
    if anomaly_class is None:
        return np.array(list(names.values()))
    normal = " or ".join(names[value] for value in values if value != anomaly_class)
    return np.array([names[anomaly_class], normal])


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

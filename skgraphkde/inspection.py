"""Reasons: the nodes and the references that a graph's score comes from."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skgraphkde.detectors.graph_kde import GraphKDEDetector

__all__ = ["mean_distances", "nearest_references", "node_contributions"]


def nearest_references(
    detector: GraphKDEDetector, graphs: Any, k: int = 5
) -> tuple[np.ndarray, np.ndarray]:
    """The references nearest to each graph.

    Parameters
    ----------
    detector : GraphKDEDetector
        Fitted.
    graphs : sequence of graphs, or GraphBatch
    k : int, default=5
        At least 1; all references if there are fewer.

    Returns
    -------
    distances : ndarray of shape (n_graphs, k)
        In ascending order. A graph that is a reference finds itself. The size kernel plays no part.
    indices : ndarray of shape (n_graphs, k), int
        Of the references in ``detector.density_.references``, which are the training graphs in
        their order, or those that `references` has chosen.

    Raises
    ------
    ValueError
        If `k` is less than 1.

    Examples
    --------
    >>> from skgraphkde import GraphKDEDetector
    >>> from skgraphkde.datasets import load_mutag
    >>> from skgraphkde.inspection import nearest_references
    >>> molecules = load_mutag().graphs
    >>> detector = GraphKDEDetector().fit(molecules[:50])
    >>> distances, indices = nearest_references(detector, molecules[48:52], k=1)
    >>> indices[:2].ravel().tolist(), distances[:2].round(3).ravel().tolist()
    ([48, 49], [0.0, 0.0])
    """
    if k < 1:
        raise ValueError(f"k must be at least 1, got {k!r}")
    batch = detector.read(graphs)
    D = detector.density_.distances(batch)
    indices = np.argsort(D, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(D, indices, axis=1), indices


def mean_distances(detector: GraphKDEDetector) -> np.ndarray:
    """Mean distance from each reference to the others, the smallest for the most typical graph.

    Parameters
    ----------
    detector : GraphKDEDetector
        Fitted.

    Returns
    -------
    ndarray of shape (n_references,)
        In the order of ``detector.density_.references``.
    """
    check_is_fitted(detector)
    D = detector.density_.reference_distances()
    np.fill_diagonal(D, 0)
    return D.sum(axis=1) / (len(D) - 1)


def node_contributions(detector: GraphKDEDetector, graphs: Any, k: int = 5) -> list[np.ndarray]:
    """Each node's share of the squared distance between its graph and the references.

    Parameters
    ----------
    detector : GraphKDEDetector
        Fitted, with a distance that is a sum over nodes, such as MMD.
    graphs : sequence of graphs, or GraphBatch
    k : int, default=5
        Number of nearest references over which shares are averaged, at least 1.

    Returns
    -------
    list of ndarray of shape (n_nodes,)
        One per graph, in the order of its nodes. They sum to the mean of the squared distances to
        its nearest references. A node with a large share is unlike their nodes; one with a negative
        share makes the graph look more like them.

    Raises
    ------
    ValueError
        If `k` is less than 1, or the distance is not a sum over nodes.

    Examples
    --------
    >>> import networkx as nx
    >>> from skgraphkde import GraphKDEDetector
    >>> from skgraphkde.inspection import node_contributions
    >>> detector = GraphKDEDetector().fit([nx.cycle_graph(n) for n in range(10, 30)])
    >>> tadpole = nx.lollipop_graph(3, 12)  # a triangle with a tail
    >>> shares = node_contributions(detector, [tadpole])[0]
    >>> sorted(shares.argsort()[-3:].tolist())
    [0, 1, 2]
    """
    batch = detector.read(graphs)
    distances, indices = nearest_references(detector, batch, k)
    shares = []
    for i, nearest in enumerate(indices):
        of_references = detector.density_.contributions(batch[i], nearest)
        squared, total = distances[i] ** 2, of_references.sum(axis=0).clip(min=0)
        if np.any(abs(total - squared) > 1e-4 * np.maximum(squared, 1e-2)):
            raise ValueError(
                f"distance={detector.distance!r} is not a sum over nodes: use 'mmd', or give a "
                "distance of your own a method `contributions`"
            )
        shares.append(of_references.mean(axis=1))
    return shares

"""Reasons: a fitted detector and graphs -> the nodes and the references that a score comes from."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from sklearn.utils.validation import check_is_fitted

from skgraphkde.detector import GraphKDEDetector
from skgraphkde.mmd import DiscreteMeasures, Distance, kernel_means
from skgraphkde.model import DensityModel
from skgraphkde.refinement import MessageFlow

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
        In ascending order; a graph that is a reference finds itself. The density's size term does
        not enter.
    places : ndarray of shape (n_graphs, k), int
        Of the references in ``detector.references_.graphs``, which are the training graphs in
        their order unless `reference_sampling` has chosen some of them.

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
    >>> distances, places = nearest_references(detector, molecules[48:52], k=1)
    >>> places[:2].ravel().tolist(), distances[:2].round(3).ravel().tolist()
    ([48, 49], [0.0, 0.0])
    """
    if k < 1:
        raise ValueError(f"k must be at least 1, got {k!r}")
    queries, model = detector._embed(graphs), detector._inference_model()
    D = model.distances(queries, detector._references_for(model).measures)
    places = np.argsort(D, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(D, places, axis=1), places


def mean_distances(detector: GraphKDEDetector) -> np.ndarray:
    """Mean distance from each reference to the others: the least is that of the most typical graph.

    Parameters
    ----------
    detector : GraphKDEDetector
        Fitted.

    Returns
    -------
    ndarray of shape (n_references,)
        In the order of ``detector.references_.graphs``.
    """
    check_is_fitted(detector)
    model = detector._inference_model()
    references = detector._references_for(model).measures
    D = model.distances(references, references)
    np.fill_diagonal(D, 0)
    return D.sum(axis=1) / (len(D) - 1)


def node_contributions(detector: GraphKDEDetector, graphs: Any, k: int = 5) -> list[np.ndarray]:
    """Each node's share of the squared distance between its graph and the references.

    The squared MMD between a graph G and a reference R is a sum over the nodes of G: of the witness
    function, which is the difference between the mean kernels to the nodes of G and to those of R
    (Gretton et al., JMLR 2012, section 2.3), and of the same of R, spread evenly over the nodes::

        d^2(G, R) = sum_p  (m_G(p) - m_R(p) + mean_q (m_R(q) - m_G(q))) / n

    Parameters
    ----------
    detector : GraphKDEDetector
        Fitted, with distance="mmd".
    graphs : sequence of graphs, or GraphBatch
    k : int, default=5
        The mean over this many nearest references is taken, at least 1.

    Returns
    -------
    list of ndarray of shape (n_nodes,)
        One a graph, in the order of its nodes. They sum to the mean of the squared distances to its
        nearest references. A node with a large share is unlike theirs; a negative one makes the
        graph look more like them.

    Raises
    ------
    ValueError
        If `k` is less than 1, or the distance is another.

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
    _, places = nearest_references(detector, graphs, k)
    if detector.distance != "mmd":
        raise ValueError(f"distance={detector.distance!r} is no sum over nodes: take 'mmd'")
    model = detector._inference_model()
    references = detector._references_for(model).measures
    features = detector.node_features_.transform(graphs)
    flow = MessageFlow.unmerged(features, model.encoder.n_layers)
    with torch.no_grad():
        Z = model.encoder(flow)
        return [
            _contributions(model, Z[start:stop], references[of_graph])
            for start, stop, of_graph in zip(
                features.node_ptr[:-1], features.node_ptr[1:], places, strict=True
            )
        ]


def _contributions(
    model: DensityModel, Z: torch.Tensor, references: DiscreteMeasures
) -> np.ndarray:
    """Shares of the nodes at Z of one graph."""
    distance, n = model.distance, len(Z)
    nodes = DiscreteMeasures.from_clouds(Z, np.arange(n + 1))
    graph = DiscreteMeasures.from_clouds(Z, np.array([0, n]))
    to_own = _mean_kernels(distance, nodes, graph)  # (n_gammas, n, 1)
    if n > 1:  # as in Distance.embed
        to_own = torch.lerp(to_own, (n * to_own - 1) / (n - 1), distance.correction)
    to_references = _mean_kernels(distance, nodes, references)  # (n_gammas, n, k)
    cross = to_references.mean(1)
    of_references = distance.embed(references).squared_norms - cross  # (n_gammas, k)
    shares = (to_own - to_references + of_references[:, None, :]) / n
    largest = shares.sum(1).argmax(0)  # the MMD is that of the gamma where it is largest
    return shares[largest, :, torch.arange(len(references))].mean(0).numpy(force=True)


def _mean_kernels(distance: Distance, P: DiscreteMeasures, Q: DiscreteMeasures) -> torch.Tensor:
    """Shape (n_gammas, len(P), len(Q)), as the detector computes them."""
    if distance.frequencies is None:
        return kernel_means(P, Q, distance.gammas)
    return distance.embed(P).features @ distance.embed(Q).features.mT

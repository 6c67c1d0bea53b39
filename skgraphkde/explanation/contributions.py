"""Reasons: the views, the nodes and the references that a graph's score comes from."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
import pandas as pd

from skgraphkde.core.graphs.batch import GraphBatch
from skgraphkde.core.scoring.calibration import finite
from skgraphkde.core.scoring.model import GraphModel
from skgraphkde.core.views.neighborhoods import Novelty
from skgraphkde.detectors.estimator import GraphKDEDetector

__all__ = [
    "nearest_references",
    "node_contributions",
    "novel_nodes",
    "view_surprises",
]


def view_surprises(detector: GraphKDEDetector, graphs: Any) -> pd.DataFrame:
    """Surprise of each view at each graph.

    Parameters
    ----------
    detector : GraphKDEDetector
        Fitted.
    graphs : sequence of graphs, or GraphBatch

    Returns
    -------
    DataFrame
        One row per graph, and one column per view, with its name. Minus the logarithm of a p-value:
        0 is as normal as can be, 3 is the most surprising of 20 graphs. Rows add up to minus the
        scores. With one view it is minus its score.

    Examples
    --------
    >>> import networkx as nx
    >>> from skgraphkde import GraphKDEDetector
    >>> from skgraphkde.explanation import view_surprises
    >>> detector = GraphKDEDetector().fit([nx.cycle_graph(n) for n in range(10, 30)])
    >>> graphs = [nx.cycle_graph(40), nx.lollipop_graph(3, 12)]
    >>> surprises = view_surprises(detector, graphs)
    >>> for view in surprises:
    ...     print(view)
    density (MMD with gamma 10, biased)
    density (MMD with gamma 1, unbiased)
    novelty of radius 5
    tanimoto
    neighbors
    statistics
    >>> long, tadpole = surprises["novelty of radius 5"]
    >>> bool(long < 0.1 < tadpole)  # every neighborhood of a cycle is known
    True
    """
    batch = detector.read(graphs)
    model = detector.model_
    if not len(batch):
        return pd.DataFrame(columns=list(model.view_names), dtype=float)
    surprises = surprises_of(model, model.view_scores(batch))
    return pd.DataFrame(surprises, columns=list(model.view_names))


def surprises_of(model: GraphModel, scores: np.ndarray) -> np.ndarray:
    """Minus the log p-values of graphs with these scores of views, shape (n_graphs, n_views)."""
    log_p_values = model.as_log_p_values(scores)
    finite(log_p_values.sum(axis=0))
    return 0.0 - log_p_values.T


def novel_nodes(detector: GraphKDEDetector, graphs: Any) -> list[np.ndarray]:
    """The smallest radius at which each node's neighborhood is in no reference.

    Parameters
    ----------
    detector : GraphKDEDetector
        Fitted, with a view of novelty.
    graphs : sequence of graphs, or GraphBatch
        Not those of `fit`, which are their own references.

    Returns
    -------
    list of ndarray of shape (n_nodes,), int
        One per graph, in the order of its nodes. 0: the node itself is new, by its label or degree;
        1: it is known, but not with these neighbors; ``radius + 1``: all up to `radius` is known.

    Raises
    ------
    ValueError
        If the detector has no view of novelty.

    Examples
    --------
    >>> import networkx as nx
    >>> from skgraphkde import GraphKDEDetector
    >>> from skgraphkde.explanation import novel_nodes
    >>> detector = GraphKDEDetector().fit([nx.cycle_graph(n) for n in range(20, 40)])
    >>> tadpole = nx.lollipop_graph(3, 12)  # a triangle with a tail, which begins at node 2
    >>> novel_nodes(detector, [tadpole])[0].tolist()
    [1, 1, 0, 1, 2, 3, 4, 5, 6, 5, 4, 3, 2, 1, 0]
    """
    batch = detector.read(graphs)
    novelty = detector.model_.first(Novelty)
    if novelty is None:
        raise ValueError("the detector has no view of novelty: add 'novelty' to its views")
    if not len(batch):
        return []
    own = np.full(len(batch), -1)
    new_from = novelty.new_from(own, detector.model_.context(batch))
    return np.split(new_from, batch.node_ptr[1:-1])


def nearest_references(
    detector: GraphKDEDetector, graphs: Any, k: int = 5, *, view: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Nearest references of each graph, and the distances from them.

    Parameters
    ----------
    detector : GraphKDEDetector
        Fitted.
    graphs : sequence of graphs, or GraphBatch
    k : int, default=5
        At least 1; all references if there are fewer.
    view : int, default=None
        Index of a density, whose distance is used; for those of other views, see
        :meth:`GraphKDEDetector.kneighbors`. None means the first.

    Returns
    -------
    distances : ndarray of shape (n_graphs, k)
        In ascending order. A graph that is a reference finds itself. The size kernel plays no part.
    indices : ndarray of shape (n_graphs, k), int
        Positions in ``detector.model_.references``: the training graphs in their order, or a sample
        of them.

    Raises
    ------
    ValueError
        If `k` is less than 1, or there is no such density.

    Examples
    --------
    >>> from skgraphkde import GraphKDEDetector
    >>> from skgraphkde.datasets import load_mutag
    >>> from skgraphkde.explanation import nearest_references
    >>> molecules = load_mutag().graphs
    >>> detector = GraphKDEDetector().fit(molecules[:50])
    >>> distances, indices = nearest_references(detector, molecules[48:52], k=1)
    >>> indices[:2].ravel().tolist(), distances[:2].round(3).ravel().tolist()
    ([48, 49], [0.0, 0.0])
    """
    if not isinstance(k, Integral) or k < 1:
        raise ValueError(f"k must be an integer of at least 1, got {k!r}")
    batch = detector.read(graphs)
    model = detector.model_
    if view is not None and view not in model.densities:
        raise ValueError(
            f"view must be the index of a density, one of {model.densities}, got {view!r}: for the "
            "distances of other views, call kneighbors"
        )
    return model.nearest(batch, int(k), view=view)


def node_contributions(
    detector: GraphKDEDetector, graphs: Any, k: int = 5, *, view: int | None = None
) -> list[np.ndarray]:
    """Each node's share of the squared distance between its graph and the references.

    Parameters
    ----------
    detector : GraphKDEDetector
        Fitted, with a distance that is a sum over nodes, such as MMD.
    graphs : sequence of graphs, or GraphBatch
    k : int, default=5
        Number of nearest references over which shares are averaged, at least 1.
    view : int, default=None
        Index of a view that is a density, whose distance is used. None means the first.

    Returns
    -------
    list of ndarray of shape (n_nodes,)
        One per graph, in the order of its nodes. They sum to the mean of the squared distances to
        its nearest references. A node with a large share is unlike their nodes; one with a negative
        share makes the graph look more like them.

    Raises
    ------
    ValueError
        If `k` is less than 1, there is no such density, or it is not a sum over nodes.

    Examples
    --------
    >>> import networkx as nx
    >>> from skgraphkde import GraphKDEDetector
    >>> from skgraphkde.explanation import node_contributions
    >>> detector = GraphKDEDetector().fit([nx.cycle_graph(n) for n in range(10, 30)])
    >>> cycle = nx.cycle_graph(15)
    >>> cycle.add_edges_from([(0, 15), (1, 15)])  # a triangle
    >>> shares = node_contributions(detector, [cycle])[0]
    >>> sorted(shares.argsort()[-3:].tolist())
    [0, 1, 15]
    """
    batch = detector.read(graphs)
    distances, indices = nearest_references(detector, batch, k, view=view)
    near = zip(indices, distances, strict=True)
    return [shares_of(detector, batch[i], *pair, view) for i, pair in enumerate(near)]


def shares_of(
    detector: GraphKDEDetector,
    graph: GraphBatch,
    references: np.ndarray,
    distances: np.ndarray,
    view: int | None,
) -> np.ndarray:
    """Mean shares of the nodes of one graph in the squared distances to some references.

    Raises
    ------
    ValueError
        If shares do not add up to the squares of the distances.
    """
    model = detector.model_
    shares = model.contributions(graph, references, view=view)
    squared = distances**2
    total = shares.sum(axis=0).clip(min=0)
    if not np.all(abs(total - squared) <= 1e-4 * np.maximum(squared, 1e-2)):  # or NaN
        meant = model.views[model.densities[0] if view is None else view]
        raise ValueError(
            f"the distance of {meant!r} is not a sum over nodes: use "
            "'mmd', or give a distance of your own a method `contributions`"
        )
    return shares.mean(axis=1)

"""Twins: perturbed copies of graphs with the same nodes (Algorithm 1 of the paper)."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval

from skgraphkde.graphs.arrays import ranges
from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.persistence import register
from skgraphkde.specification import Specification, at_least, shorthand_options
from skgraphkde.training.edges import (
    has_edge_data,
    listed_edges,
    random_edge_twins,
    spectral_twins,
    with_edges,
)


class EdgePerturbation(Specification):
    """Base class of specifications of twins with other edges."""

    def twins(self, batch: GraphBatch, rng: np.random.RandomState) -> list[GraphBatch]:
        """Make twins with removed edges and twins with added edges.

        Parameters
        ----------
        batch : GraphBatch
        rng : RandomState

        Returns
        -------
        list of GraphBatch
            ``[removed, added]``, both parallel to `batch`.
        """
        raise NotImplementedError


@register
class SpectralEdges(EdgePerturbation):
    """Twins with edges removed or added by a change of the spectrum (Algorithm 1 of the paper).

    A kept edge keeps its data. A new edge has the data of a random edge of its graph.

    Parameters
    ----------
    energy_thresholds : tuple of float, default=(0.5, 0.75)
        (tau_1, tau_2) with 0 < tau_1 <= tau_2 <= 1. To remove edges, the leading part of the
        spectrum with the share tau_1 of the energy is shrunk. To add edges, the part after the
        share tau_2 is stretched.
    max_ratio : float, default=10.0
        Upper bound of the factor, at least 1.
    """

    _parameter_constraints: dict = {
        "energy_thresholds": [tuple, list],
        "max_ratio": [at_least(1, Real)],
    }

    def __init__(self, energy_thresholds: Any = (0.5, 0.75), max_ratio: float = 10.0) -> None:
        self.energy_thresholds = energy_thresholds
        self.max_ratio = max_ratio

    def _validate_values(self) -> None:
        tau = self.energy_thresholds
        are_numbers = all(isinstance(x, Real) for x in tau)
        if not are_numbers or len(tau) != 2 or not 0 < tau[0] <= tau[1] <= 1:
            raise ValueError(
                "The 'energy_thresholds' parameter of SpectralEdges must be (tau_1, tau_2) with "
                f"0 < tau_1 <= tau_2 <= 1. Got {tau!r} instead."
            )

    def twins(self, batch: GraphBatch, rng: np.random.RandomState) -> list[GraphBatch]:
        """Make twins with removed edges and twins with added edges.

        Parameters
        ----------
        batch : GraphBatch
        rng : RandomState
            Generator of the data of new edges.

        Returns
        -------
        list of GraphBatch
            ``[removed, added]``, both parallel to `batch`.
        """
        tau_1, tau_2 = self.energy_thresholds
        return spectral_twins(batch, (tau_1, tau_2), self.max_ratio, rng=rng)


@register
class RandomEdges(EdgePerturbation):
    """Twins with edges removed or added at random (the paper's ablation).

    A new edge has the data of a random edge of its graph.

    Parameters
    ----------
    ratio : float, default=0.2
        Share of the edges to remove or add, in [0, 1].
    """

    _parameter_constraints: dict = {"ratio": [Interval(Real, 0, 1, closed="both")]}

    def __init__(self, ratio: float = 0.2) -> None:
        self.ratio = ratio

    def twins(self, batch: GraphBatch, rng: np.random.RandomState) -> list[GraphBatch]:
        """Make twins with removed edges and twins with added edges.

        Parameters
        ----------
        batch : GraphBatch
        rng : RandomState

        Returns
        -------
        list of GraphBatch
            ``[removed, added]``, both parallel to `batch`.
        """
        return random_edge_twins(batch, self.ratio, rng)


@register
class Twins(Specification):
    """Specification of the perturbed twins of graphs.

    Parameters
    ----------
    swap_ratio : float, default=0.2
        Share of a graph's nodes whose features are permuted among them, in [0, 1], rounded down: at
        0.2, graphs of fewer than 10 nodes swap none. If edges have categories or numbers, the data
        of the same share of a graph's edges are permuted, too.
    edges : {"spectrum", "random"}, SpectralEdges, RandomEdges or None, default="spectrum"
        Perturbation of edges: :class:`SpectralEdges` or :class:`RandomEdges`; the strings stand for
        their defaults. None keeps the edges.

    Examples
    --------
    >>> from skgraphkde import Contrastive, GraphKDEDetector, Twins
    >>> detector = GraphKDEDetector(training=Contrastive(twins=Twins(edges="random")))
    >>> detector.get_params()["training__twins__edges__ratio"]
    0.2
    """

    _shorthands: dict[str, dict[str, Callable[[], Any]]] = {
        "edges": {"spectrum": SpectralEdges, "random": RandomEdges}
    }
    _parameter_constraints: dict = {
        "swap_ratio": [Interval(Real, 0, 1, closed="both")],
        "edges": [*shorthand_options(_shorthands["edges"], EdgePerturbation), None],
    }

    def __init__(self, swap_ratio: float = 0.2, edges: Any = "spectrum") -> None:
        self.swap_ratio = swap_ratio
        self.edges = edges

    def _validate_values(self) -> None:
        if self.edges is None and self.swap_ratio == 0:
            raise ValueError(
                "with swap_ratio=0 and edges=None twins are copies of the graphs: raise "
                "swap_ratio, or use edges='spectrum'"
            )

    def structural(self, batch: GraphBatch, rng: np.random.RandomState) -> list[GraphBatch]:
        """Make twins with other edges, or with other data of edges.

        Parameters
        ----------
        batch : GraphBatch
            Graphs, before their features are computed.
        rng : RandomState

        Returns
        -------
        list of GraphBatch
            Batches parallel to `batch`; ``[batch]`` if edges do not change.
        """
        edges = self.specification("edges")
        twins = [batch] if edges is None else edges.twins(batch, rng)
        return [swap_edges(twin, self.swap_ratio, rng) for twin in twins]


def swap_features(batch: GraphBatch, swap_ratio: float, rng: np.random.RandomState) -> GraphBatch:
    """Permute the features of floor(swap_ratio * n) random nodes of each graph among these nodes.

    Parameters
    ----------
    batch : GraphBatch
        Graphs with their features as attributes.
    swap_ratio : float
        In [0, 1].
    rng : RandomState

    Returns
    -------
    GraphBatch
    """
    chosen, target = _exchanges(batch.node_ptr, swap_ratio, rng)
    attributes = np.array(batch.attributes)
    attributes[target] = attributes[chosen]
    return batch.replace(attributes=attributes)


def swap_edges(batch: GraphBatch, swap_ratio: float, rng: np.random.RandomState) -> GraphBatch:
    """Permute the data of floor(swap_ratio * m) random edges of each graph among these edges.

    The category and the numbers of an edge move together, in both directions if it is undirected.
    Weights do not move. Parallel edges count separately.

    Parameters
    ----------
    batch : GraphBatch
        Graphs with the data that were read, before their features are computed.
    swap_ratio : float
        In [0, 1].
    rng : RandomState

    Returns
    -------
    GraphBatch
        `batch` itself, without random draws, if its edges have no data or the ratio is 0.
    """
    if not (swap_ratio and has_edge_data(batch)):
        return batch
    row, column, edges = listed_edges(batch)
    chosen, target = _exchanges(np.searchsorted(row, batch.node_ptr), swap_ratio, rng)
    origin = edges.copy()
    origin[target] = edges[chosen]
    return with_edges(batch, row, column, batch.adjacency.data[edges], origin)


def _exchanges(
    ptr: np.ndarray, ratio: float, rng: np.random.RandomState
) -> tuple[np.ndarray, np.ndarray]:
    """Draw floor(ratio * n) random items of each graph, and a permutation of them.

    Graph i owns the items ``ptr[i]`` to ``ptr[i + 1] - 1``.
    """
    sizes = np.diff(ptr)
    graph = np.repeat(np.arange(len(sizes)), sizes)
    shuffled = np.lexsort((rng.random_sample(len(graph)), graph))  # random order in each graph
    count = np.floor(ratio * sizes + 1e-9).astype(int)
    chosen = shuffled[ranges(ptr[:-1], ptr[:-1] + count)]
    return chosen, chosen[np.lexsort((rng.random_sample(len(chosen)), graph[chosen]))]

"""Novelty: graphs -> the share of their nodes in neighborhoods that no reference has."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from skgraphkde.computing.blocks import blocks
from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.graphs.refinement import mix, refined
from skgraphkde.persistence import register
from skgraphkde.specification import Specification


@register
class Novelty(Specification):
    """A view of its own: how many nodes are in neighborhoods that no training graph has.

    The neighborhood of a node is its color after `radius` rounds of refinement (Weisfeiler and
    Leman, 1968), in which each node learns the colors of its neighbors. Two nodes have the same
    color if what can be reached from them in as many steps looks the same. A graph's surprise is
    the share of its nodes with a color that no reference has; a training graph does not count among
    its own references. Edge weights are ignored.

    Parameters
    ----------
    radius : int, default=5
        Rounds of refinement, in [0, 100].
    categories : {"auto", "label", "degree"}, default="auto"
        What nodes are told apart by before the first round. "auto" is the labels, or, if the
        training graphs have none, the degrees. A label that `fit` did not see is new by itself.

    See Also
    --------
    skgraphkde.inspection.novel_nodes : Which nodes are new, and from which radius on.

    Examples
    --------
    >>> from skgraphkde import GraphKDEDetector, Novelty
    >>> GraphKDEDetector(novelty=Novelty(radius=3)).get_params()["novelty__radius"]
    3
    """

    _parameter_constraints: dict = {
        "radius": [Interval(Integral, 0, 100, closed="both")],
        "categories": [StrOptions({"auto", "label", "degree"})],
    }

    def __init__(self, radius: int = 5, categories: str = "auto") -> None:
        self.radius = radius
        self.categories = categories

    def fit(self, references: GraphBatch) -> FittedNovelty:
        """Learn the neighborhoods of the references.

        Raises
        ------
        ValueError
            If `categories` is "label" and the graphs have none.
        """
        if self.categories == "label" and references.labels is None:
            raise ValueError(
                "novelty=Novelty(categories='label') needs node labels, and the graphs carry none: "
                "use categories='degree', or read them by read_graphs(graphs, node_label=...)"
            )
        return FittedNovelty(self, references)


class _Known(NamedTuple):
    """Colors of the references, ascending, and the only reference that has each (-2: several)."""

    colors: np.ndarray
    owners: np.ndarray


class FittedNovelty:
    """The neighborhoods that :class:`Novelty` has learned.

    Parameters
    ----------
    specification : Novelty
    references : GraphBatch

    Attributes
    ----------
    by_label : bool
        Whether nodes are told apart by labels, or by degrees.
    """

    def __init__(self, specification: Novelty, references: GraphBatch) -> None:
        self.specification, self._references = specification, references
        self.by_label = specification.categories != "degree" and references.labels is not None
        # Names that no reference uses are unknown.
        used = np.unique(np.asarray(references.labels)).tolist() if self.by_label else ()
        self._code_of = {references.label_names[code]: code for code in used}
        self._known = self._learn(specification.radius)

    @property
    def radius(self) -> int:
        """Rounds of refinement."""
        return self.specification.radius

    @property
    def name(self) -> str:
        """For tables and pictures."""
        return f"novelty of neighborhoods of radius {self.radius}"

    def check_batch(self, graphs: GraphBatch) -> None:
        """Raise a ValueError if graphs lack the labels by which nodes are told apart."""
        if self.by_label:
            graphs.check_labels()

    def scores(self, graphs: GraphBatch, own: np.ndarray | None = None) -> np.ndarray:
        """Minus the share of each graph's nodes that are new.

        Parameters
        ----------
        graphs : GraphBatch
        own : ndarray of shape (n_graphs,), default=None
            The reference that each graph is, to be left out (-1: none). None leaves nothing out.

        Returns
        -------
        ndarray of shape (n_graphs,)
            In [-1, 0].
        """
        scores = np.empty(len(graphs))
        for block in _blocks(graphs):
            some = graphs[block]
            is_new = self._is_new(
                self._last_colors(some, self.radius),
                self._known,
                -1 if own is None else np.repeat(own[block], some.n_nodes_per_graph),
            )
            scores[block] = -self._surprise(is_new, some)
        return scores

    def _surprise(self, is_new: np.ndarray, graphs: GraphBatch) -> np.ndarray:
        """One number for each graph, from one for each node."""
        counts = np.add.reduceat(is_new.astype(float), graphs.node_ptr[:-1])
        return counts / graphs.n_nodes_per_graph

    def new_from(self, graphs: GraphBatch) -> np.ndarray:
        """The smallest radius at which each node's neighborhood is new.

        Returns
        -------
        ndarray of shape (n_nodes,), int
            0 for a node that is new by itself; ``radius + 1`` if all its neighborhoods are known.
        """
        known_rounds = np.zeros(graphs.n_nodes, dtype=int)
        for colors, known in zip(self._rounds(graphs, self.radius), self._by_radius, strict=True):
            known_rounds += ~self._is_new(colors, known, -1)
        return known_rounds

    @cached_property
    def _by_radius(self) -> list[_Known]:
        """What is known at each radius; only reasons need more than the last."""
        blocks = [self._references[x] for x in _blocks(self._references)]
        rounds = zip(*(self._rounds(some, self.radius) for some in blocks), strict=True)
        return [self._summary(np.concatenate(colors)) for colors in rounds]

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_by_radius"}

    def _learn(self, radius: int) -> _Known:
        blocks = [self._references[x] for x in _blocks(self._references)]
        return self._summary(np.concatenate([self._last_colors(x, radius) for x in blocks]))

    def _summary(self, colors: np.ndarray) -> _Known:
        """The distinct colors of all nodes of the references."""
        graph = self._references.graph_of_node
        order = np.lexsort((graph, colors))
        colors, graph = colors[order], graph[order]
        first = np.flatnonzero(np.append(True, colors[1:] != colors[:-1]))
        last = np.append(first[1:], len(colors)) - 1
        return _Known(colors[first], np.where(graph[first] == graph[last], graph[first], -2))

    def _last_colors(self, graphs: GraphBatch, n_rounds: int) -> np.ndarray:
        """Colors after the last round, shape (n_nodes,)."""
        for colors in self._rounds(graphs, n_rounds):
            last = colors
        return last

    def _rounds(self, graphs: GraphBatch, n_rounds: int) -> Iterator[np.ndarray]:
        """Colors after 0, 1, ..., `n_rounds` rounds, each of shape (n_nodes,)."""
        codes = graphs.degrees
        if self.by_label:
            codes = graphs.label_codes(self._code_of, unknown=-1)  # a color of no reference
        return refined(mix(codes.astype(np.uint64)), graphs.adjacency, n_rounds, weighted=False)

    @staticmethod
    def _is_new(colors: np.ndarray, known: _Known, own: np.ndarray | int) -> np.ndarray:
        """Whether no reference, or none but a node's own, has its color; bool, (n_nodes,)."""
        position = np.minimum(np.searchsorted(known.colors, colors), len(known.colors) - 1)
        return (known.colors[position] != colors) | (known.owners[position] == own)


def _blocks(graphs: GraphBatch) -> list[slice]:
    """Blocks of graphs whose colors fit into working_memory."""
    n_arcs = np.diff(graphs.adjacency.indptr[graphs.node_ptr])
    return blocks(8.0 * (10 * graphs.n_nodes_per_graph + 4 * n_arcs))

"""Context: the work on some graphs that views share, during one call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from skgraphkde.distances.measures import DiscreteMeasures
from skgraphkde.graphs.batch import GraphBatch

# For each view that compares clouds of points, the clouds of some graphs.
Clouds = dict[Any, DiscreteMeasures]


class Context:
    """Work on some graphs that views share, during one call.

    A model makes a context for each block of graphs that it scores, passes it to each view, and
    drops it. A view without shared work ignores it.

    Parameters
    ----------
    graphs : GraphBatch
    embed : callable
        Function of the graphs that returns their clouds of points, for each view that has
        `uses_points`.
    known : dict of View -> DiscreteMeasures
        Clouds of the references; empty while views are fitted to them.

    Attributes
    ----------
    squared : dict of View -> ndarray of shape (n_graphs, n_graphs)
        Squared distances between all graphs, which `fit` computed, and `scores` uses again.
    """

    def __init__(
        self, graphs: GraphBatch, embed: Callable[[GraphBatch], Clouds], known: Clouds
    ) -> None:
        self.graphs, self.known = graphs, known
        self.squared: dict[Any, np.ndarray] = {}
        self._embed = embed
        self._shared: dict[tuple, Any] = {}

    @property
    def clouds(self) -> Clouds:
        """Clouds of points of the graphs, for each view that has `uses_points`."""
        return self.shared(self._embed)

    def shared(self, compute: Callable[..., Any], *arguments: Any) -> Any:
        """Result of ``compute(graphs, *arguments)``, which is computed once in a call.

        Parameters
        ----------
        compute : callable
        *arguments : hashable

        Returns
        -------
        object
        """
        key = compute, *arguments
        if key not in self._shared:
            self._shared[key] = compute(self.graphs, *arguments)
        return self._shared[key]

    def part(self, block: slice | np.ndarray) -> Context:
        """Context of some of the graphs."""
        known = self.known or self.clouds  # views were fitted to these graphs
        part = Context(self.graphs[block], lambda _: _parts(self.clouds, block), known)
        part.squared = {view: squared[block] for view, squared in self.squared.items()}
        return part


def _parts(clouds: Clouds, block: slice | np.ndarray) -> Clouds:
    return {view: measures[block] for view, measures in clouds.items()}

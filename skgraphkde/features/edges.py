"""EdgeBlock: numbers of edges and means of their data as features of nodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from skgraphkde.features.blocks import Block, moments
from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.graphs.relations import EdgeGroups
from skgraphkde.persistence import State, register

# Largest number of columns for means by category; with more, means are over all categories.
MOST_COLUMNS = 64


@register
@dataclass(frozen=True)
class EdgeBlock(Block):
    """Counts of the edges at each node and means of their numbers, by direction and category.

    The columns are, for each direction and category of edges, log(1 + count) and the mean of each
    numeric attribute, standardized on the training edges. The mean is 0 for a node without such
    edges. If means by category would have more than 64 columns, they are over all categories.

    Parameters
    ----------
    groups : EdgeGroups
        Directions and categories of edges.
    columns : tuple of str
        Names of the numeric attributes.
    mean, scale : ndarray of shape (n_numbers,)
        Mean and standard deviation of the numeric attributes over all arcs.
    indicates : bool
        Whether to exclude missing numbers from means, and to add columns with their share.
    """

    kind: ClassVar[str] = "edge"
    groups: EdgeGroups
    columns: tuple[str, ...]
    mean: np.ndarray
    scale: np.ndarray
    indicates: bool

    @classmethod
    def fit(cls, batch: GraphBatch, groups: EdgeGroups) -> Self:
        """Learn mean and standard deviation of the numeric attributes.

        Parameters
        ----------
        batch : GraphBatch
        groups : EdgeGroups

        Returns
        -------
        EdgeBlock
        """
        mean, scale = np.zeros(0), np.ones(0)
        if batch.edge_attributes is not None:
            mean, scale = moments(batch.edge_attributes)
        indicates = batch.schema.missing != "error"
        return cls(groups, batch.schema.edge_columns, mean, scale, indicates)

    @property
    def _directions(self) -> tuple[str, ...]:
        return ("out", "in") if self.groups.directed else ("",)

    @property
    def _by_group(self) -> bool:
        n_numbers = len(self.columns) * (2 if self.indicates else 1)
        return len(self._directions) * len(self.groups.names) * n_numbers <= MOST_COLUMNS

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        groups = [
            " ".join(filter(None, (d, g))) for d in self._directions for g in self.groups.names
        ]
        counts = [" ".join(filter(None, (group, "edges"))) for group in groups]
        names = [f"log(1+{count})" for count in counts] if self.groups.n_relations else []
        for column in self.columns:
            names += self._names_of(column)
            if self.indicates:
                names += [f"{name} missing" for name in self._names_of(column)]
        return tuple(names)

    def _names_of(self, column: str) -> list[str]:
        """Names of the means of one numeric attribute."""
        groups: tuple[str, ...] = self.groups.names if self._by_group else ("",)
        return [" ".join(filter(None, (d, g, column))) for d in self._directions for g in groups]

    def units(self) -> dict[str, tuple[float, float]]:
        """Mean and scale of the columns that are standardized, by name."""
        triples = zip(self.columns, self.mean.tolist(), self.scale.tolist(), strict=True)
        return {name: (m, s) for column, m, s in triples for name in self._names_of(column)}

    def __call__(self, batch: GraphBatch) -> np.ndarray:
        """Compute the columns, shape (n_nodes, n_columns)."""
        n, n_groups = batch.n_nodes, len(self.groups.names)
        group = self.groups.of_arcs(batch)
        ends = (batch.source_of_arc, batch.adjacency.indices)[: len(self._directions)]
        known = group < n_groups
        cells = [node * n_groups + group for node in ends]
        blocks = []
        if self.groups.n_relations:
            counts = [np.bincount(x[known], minlength=n * n_groups) for x in cells]
            blocks += [np.log1p(x.reshape(n, n_groups)) for x in counts]
        if not self._by_group:
            cells, n_groups, known = list(ends), 1, np.ones(len(group), dtype=bool)
        standardized = self.standardized(batch) if self.columns else np.empty((0, 0))
        for i in range(len(self.columns)):
            blocks += self._means(standardized[:, i], cells, known, n, n_groups)
        return np.hstack(blocks)

    def standardized(self, batch: GraphBatch) -> np.ndarray:
        """Standardized numeric attributes of the arcs, shape (n_arcs, n_numbers)."""
        return (np.asarray(batch.edge_attributes) - self.mean) / self.scale

    def graph_means(self, batch: GraphBatch) -> dict[str, np.ndarray]:
        """Means over the edges of each graph, by column; NaN for a graph without such edges."""
        graph, group = batch.graph_of_arc, self.groups.of_arcs(batch)
        groups = range(len(self.groups.names)) if self._by_group else (None,)
        means: dict[str, np.ndarray] = {}
        for i, column in enumerate(self.columns):
            values = np.asarray(batch.edge_attributes)[:, i]
            group_means = []
            for number in groups:
                is_in = ~np.isnan(values) & (True if number is None else group == number)
                total = np.bincount(graph[is_in], values[is_in], len(batch))
                count = np.bincount(graph[is_in], minlength=len(batch))
                group_means.append(np.where(count, total / np.maximum(count, 1), np.nan))
            names = self._names_of(column)
            means |= dict(zip(names, group_means * len(self._directions), strict=True))
        return means

    def _means(
        self, values: np.ndarray, cells: list, known: np.ndarray, n: int, n_groups: int
    ) -> list[np.ndarray]:
        """Means over the arcs at each node by direction and group; shares of missing numbers."""
        is_missing = np.isnan(values)
        given = np.where(is_missing, 0.0, values)
        means, shares = [], []
        for cell in cells:
            size = n * n_groups
            total = np.bincount(cell[known], minlength=size)
            lacking = np.bincount(cell[known], is_missing[known], minlength=size)
            sums = np.bincount(cell[known], given[known], minlength=size)
            means.append((sums / np.maximum(total - lacking, 1)).reshape(n, n_groups))
            shares.append((lacking / np.maximum(total, 1)).reshape(n, n_groups))
        return [*means, *shares] if self.indicates else means

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Rebuild the block from its saved state."""
        groups = state.take_instance("groups", EdgeGroups)
        columns = state.take("columns", tuple)
        mean = state.take_array("mean", float, (len(columns),))
        scale = state.take_array("scale", float, (len(columns),), low=np.finfo(float).tiny)
        return cls(groups, columns, mean, scale, state.take("indicates", bool))

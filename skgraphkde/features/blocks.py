"""Blocks of node features: each is one kind of feature, fitted to training graphs.

``fit`` makes a block from a batch. The block maps a batch to columns (n_nodes, n_columns), and has
the `names` of its columns and a state to save.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np
from sklearn.preprocessing import StandardScaler

from skgraphkde.features.categories import values_in_use
from skgraphkde.graphs.arrays import codes_in
from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.graphs.random_walks import return_probabilities
from skgraphkde.graphs.refinement import INCREMENT, hash64
from skgraphkde.graphs.relations import EdgeGroups

# Largest number of one-hot columns, and number of columns to which more values are projected.
MOST_VALUES, PROJECTED = 512, 256
# Largest number of bits of a degree.
MOST_DEGREE_BINS = 64
# Largest number of columns for means by category; with more, means are over all categories.
MOST_EDGE_COLUMNS = 64
# Coordinates are attributes whose squared change along edges is below this share of the change
# between random nodes.
MAX_SPATIAL_RATIO = 0.25


class Block:
    """Base class of one kind of node features."""

    kind: ClassVar[str]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        raise NotImplementedError

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.names)

    def __call__(self, batch: GraphBatch) -> np.ndarray:
        """Compute the columns, shape (n_nodes, n_columns)."""
        raise NotImplementedError

    def units(self) -> dict[str, tuple[float, float]]:
        """Mean and scale of the columns that are standardized, by name."""
        return {}


@dataclass(frozen=True)
class LabelBlock(Block):
    """One-hot categories; a value that `fit` did not see becomes the zero vector.

    The columns of more than 512 values, which are nearly all zeros, are projected to 256 by random
    signs, which are the same in every fit and preserve distances (Johnson and Lindenstrauss, 1984).
    The signs depend on the order of the values, and thus on their names.

    Parameters
    ----------
    categories : tuple of str
        Names of the attributes.
    vocabularies : tuple of tuple
        Values of each attribute.
    weights : ndarray of shape (n_values,), default=None
        Weights of projected values: a rare value has the weight that its own standardized column
        would have. None for one-hot columns.
    """

    kind: ClassVar[str] = "label"
    categories: tuple[str, ...]
    vocabularies: tuple[tuple[Hashable, ...], ...]
    weights: np.ndarray | None = None

    @classmethod
    def fit(cls, batch: GraphBatch) -> Self:
        """Learn the values of the nodes."""
        vocabularies = values_in_use(batch, "node")
        block = cls(tuple(vocabularies), tuple(vocabularies.values()))
        n_values = block.n_columns
        if n_values <= MOST_VALUES:
            return block
        counts = sum(np.bincount(x, minlength=n_values) for x in block._codes(batch))
        return replace(block, weights=np.sqrt(batch.n_nodes / (n_values * counts)))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        if self.weights is not None:
            return tuple(f"{'+'.join(self.categories)} projected {i}" for i in range(PROJECTED))
        pairs = zip(self.categories, self.vocabularies, strict=True)
        return tuple(f"{name}={value}" for name, values in pairs for value in values)

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return sum(map(len, self.vocabularies)) if self.weights is None else PROJECTED

    def __call__(self, batch: GraphBatch) -> np.ndarray:
        """Compute the columns, shape (n_nodes, n_columns)."""
        columns = np.zeros((batch.n_nodes, self.n_columns))
        for codes in self._codes(batch):
            known = np.flatnonzero(codes >= 0)
            if self.weights is None:
                columns[known, codes[known]] = 1
            else:
                _add_signs(codes[known], self.weights[codes[known]], known, columns)
        return columns

    def without_own(self, batch: GraphBatch) -> tuple[LabelBlock, np.ndarray]:
        """Forget the values that only one graph has, each of which is unseen for all others.

        Parameters
        ----------
        batch : GraphBatch

        Returns
        -------
        block : LabelBlock
            With the same columns, of which those of these values are zero.
        has_own : ndarray of shape (n_graphs,), bool
            True for a graph with such a value.
        """
        codes, n = np.concatenate(list(self._codes(batch))), len(batch)
        is_known = codes >= 0
        graph = np.tile(batch.graph_of_node, len(self.vocabularies))[is_known]
        value, graph = np.divmod(np.unique(codes[is_known] * n + graph), n)
        is_own = np.bincount(value, minlength=sum(map(len, self.vocabularies))) == 1
        has_own = np.zeros(n, dtype=bool)
        has_own[graph[is_own[value]]] = True
        own = iter(is_own.tolist())
        # Objects that equal no value are in the places of those that are forgotten.
        vocabularies = tuple(
            tuple(object() if next(own) else value for value in values)
            for values in self.vocabularies
        )
        return replace(self, vocabularies=vocabularies), has_own

    def _codes(self, batch: GraphBatch) -> Iterator[np.ndarray]:
        """Generate for each category the column of each node's value; -1 for an unseen value."""
        first = 0
        of_batch = batch.values_by_category("node").values()
        for values, vocabulary in zip(of_batch, self.vocabularies, strict=True):
            codes = codes_in(values, vocabulary)
            yield np.where(codes >= 0, codes + first, -1)[batch.labels]
            first += len(vocabulary)


@dataclass(frozen=True)
class NumberBlock(Block):
    """Node attributes, standardized on the training nodes.

    Parameters
    ----------
    columns : tuple of str
        Names of all numeric columns of the graphs.
    used : ndarray of int
        Indices of the columns in use.
    mean, scale : ndarray of shape (len(used),)
        Mean and standard deviation of the columns in use.
    indicates : bool
        Whether missing numbers are replaced by the mean and marked in an additional column.
    """

    kind: ClassVar[str] = "attribute"
    columns: tuple[str, ...]
    used: np.ndarray
    mean: np.ndarray
    scale: np.ndarray
    indicates: bool

    @classmethod
    def fit(cls, batch: GraphBatch, used: np.ndarray) -> Self:
        """Learn means and standard deviations.

        Parameters
        ----------
        batch : GraphBatch
        used : ndarray of int
            Indices of the columns in use.

        Returns
        -------
        NumberBlock
        """
        values = np.asarray(batch.attributes)[:, used]
        mean, scale = moments(values)
        return cls(batch.schema.node_columns, used, mean, scale, batch.schema.missing != "error")

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        used = tuple(self.columns[i] for i in self.used)
        return (*used, *(f"{name} missing" for name in used)) if self.indicates else used

    def __call__(self, batch: GraphBatch) -> np.ndarray:
        """Compute the columns, shape (n_nodes, n_columns)."""
        values = self.standardized(batch)
        if not self.indicates:
            return values
        is_missing = np.isnan(values)
        return np.hstack([np.where(is_missing, 0.0, values), is_missing.astype(float)])

    def units(self) -> dict[str, tuple[float, float]]:
        """Mean and scale of the columns that are standardized, by name."""
        pairs = zip(self.mean.tolist(), self.scale.tolist(), strict=True)
        return dict(zip(self.names[: len(self.used)], pairs, strict=True))

    def standardized(self, batch: GraphBatch) -> np.ndarray:
        """Standardized attributes in use, shape (n_nodes, len(used))."""
        return (np.asarray(batch.attributes)[:, self.used] - self.mean) / self.scale


@dataclass(frozen=True)
class RawNumberBlock(NumberBlock):
    """Node attributes as they are; parameters as for NumberBlock, with mean 0 and scale 1."""

    kind: ClassVar[str] = "raw_attribute"

    @classmethod
    def fit(cls, batch: GraphBatch, used: np.ndarray) -> Self:
        """Learn the names of the columns, see :meth:`NumberBlock.fit`."""
        return replace(super().fit(batch, used), mean=np.zeros(len(used)), scale=np.ones(len(used)))


@dataclass(frozen=True)
class DegreeBlock(Block):
    """One-hot degree in the bins 0, 1, 2-3, 4-7, ... and log(1 + degree).

    Parameters
    ----------
    n_bins : int
        Number of bins; larger degrees are in the last one.
    """

    kind: ClassVar[str] = "degree"
    n_bins: int

    @classmethod
    def fit(cls, batch: GraphBatch) -> Self:
        """Learn the range of degrees."""
        return cls(int(_degree_bin(batch.degrees).max()) + 1)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        firsts = [0] + [2**k for k in range(self.n_bins - 1)]
        bins = (f"degree={d}" if d < 2 else f"degree={d}-{2 * d - 1}" for d in firsts)
        return (*bins, "log(1+degree)")

    def __call__(self, batch: GraphBatch) -> np.ndarray:
        """Compute the columns, shape (n_nodes, n_columns)."""
        features = np.zeros((batch.n_nodes, self.n_bins + 1))
        bins = np.minimum(_degree_bin(batch.degrees), self.n_bins - 1)
        features[np.arange(batch.n_nodes), bins] = 1
        np.log1p(batch.degrees, out=features[:, -1])
        return features


@dataclass(frozen=True)
class WalkBlock(Block):
    """Return probabilities of random walks after 2, ..., `n_steps` steps.

    Parameters
    ----------
    n_steps : int
        Length of the longest walk.
    directed : bool
        Whether to add walks along the arcs to walks in both directions.
    """

    kind: ClassVar[str] = "random_walk"
    n_steps: int
    directed: bool

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        names = tuple(f"return_{k}" for k in range(2, self.n_steps + 1))
        return (*names, *(f"directed_{name}" for name in names)) if self.directed else names

    def __call__(self, batch: GraphBatch) -> np.ndarray:
        """Compute the columns, shape (n_nodes, n_columns)."""
        columns = return_probabilities(batch, self.n_steps)
        if not self.directed:
            return columns
        return np.hstack([columns, return_probabilities(batch, self.n_steps, directed=True)])


@dataclass(frozen=True)
class ConstantBlock(Block):
    """The same number for each node: what an encoder makes of it is structure alone."""

    kind: ClassVar[str] = "constant"

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return ("constant",)

    def __call__(self, batch: GraphBatch) -> np.ndarray:
        """Compute the columns, shape (n_nodes, 1)."""
        return np.ones((batch.n_nodes, 1))


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
    def number_groups(self) -> EdgeGroups:
        """The groups by which numbers are averaged: one if there would be too many columns."""
        n_numbers = len(self.columns) * (2 if self.indicates else 1)
        if len(self._directions) * len(self.groups.names) * n_numbers <= MOST_EDGE_COLUMNS:
            return self.groups
        return EdgeGroups(self.groups.directed, (), False)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        counts = self._by_direction("edges", self.groups.names)
        names = [f"log(1+{count})" for count in counts] if self.groups.n_relations else []
        for column in self.columns:
            names += self._names_of(column)
            if self.indicates:
                names += [f"{name} missing" for name in self._names_of(column)]
        return tuple(names)

    def _names_of(self, column: str) -> list[str]:
        """Names of the means of one numeric attribute."""
        return self._by_direction(column, self.number_groups.names)

    def _by_direction(self, noun: str, groups: tuple[str, ...]) -> list[str]:
        return [" ".join(filter(None, (d, g, noun))) for d in self._directions for g in groups]

    def units(self) -> dict[str, tuple[float, float]]:
        """Mean and scale of the columns that are standardized, by name."""
        triples = zip(self.columns, self.mean.tolist(), self.scale.tolist(), strict=True)
        return {name: (m, s) for column, m, s in triples for name in self._names_of(column)}

    def __call__(self, batch: GraphBatch) -> np.ndarray:
        """Compute the columns, shape (n_nodes, n_columns)."""
        ends = (batch.source_of_arc, batch.adjacency.indices)[: len(self._directions)]
        blocks = []
        if self.groups.n_relations:
            arcs, group, n_groups = _grouped_arcs(batch, self.groups)
            shape = batch.n_nodes, n_groups
            blocks += [np.log1p(_sums(None, end[arcs], group, shape)) for end in ends]
        if self.columns:
            arcs, group, n_groups = _grouped_arcs(batch, self.number_groups)
            shape = batch.n_nodes, n_groups
            for values in self.standardized(batch)[arcs].T:
                means = [_grouped_means(values, end[arcs], group, shape) for end in ends]
                blocks += [mean for mean, _, _ in means]
                if self.indicates:
                    blocks += [n_missing / np.maximum(n_all, 1) for _, n_missing, n_all in means]
        return np.hstack(blocks)

    def standardized(self, batch: GraphBatch) -> np.ndarray:
        """Standardized numeric attributes of the arcs, shape (n_arcs, n_numbers)."""
        values = batch.edge_attributes
        if values is None and not batch.adjacency.nnz:  # graphs without edges have no edge data
            values = np.zeros((0, len(self.columns)))
        return (np.asarray(values) - self.mean) / self.scale

    def graph_means(self, batch: GraphBatch) -> dict[str, np.ndarray]:
        """Means over the edges of each graph, by column; NaN for a graph without such edges."""
        arcs, group, n_groups = _grouped_arcs(batch, self.number_groups)
        graph, shape = batch.graph_of_arc[arcs], (len(batch), n_groups)
        means: dict[str, np.ndarray] = {}
        for i, column in enumerate(self.columns):
            values = np.asarray(batch.edge_attributes)[arcs, i]
            mean, n_missing, n_all = _grouped_means(values, graph, group, shape)
            by_group = np.where(n_all > n_missing, mean, np.nan).T
            names = self._names_of(column)
            means |= dict(zip(names, [*by_group] * len(self._directions), strict=True))
        return means


def _grouped_arcs(batch: GraphBatch, groups: EdgeGroups) -> tuple[np.ndarray, np.ndarray, int]:
    """Arcs that belong to a group, the group of each, and the number of groups."""
    group, n_groups = groups.of_arcs(batch), len(groups.names)
    arcs = np.flatnonzero(group < n_groups)  # the others are of no group
    return arcs, group[arcs], n_groups


def _grouped_means(
    values: np.ndarray, owner: np.ndarray, group: np.ndarray, shape: tuple[int, int]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Means of the values that are given, and numbers of missing and of all, by owner and group.

    All have the given shape, (n_owners, n_groups). Means of nothing are 0.
    """
    is_missing = np.isnan(values)
    n_all = _sums(None, owner, group, shape)
    n_missing = _sums(is_missing, owner, group, shape)
    total = _sums(np.where(is_missing, 0.0, values), owner, group, shape)
    return total / np.maximum(n_all - n_missing, 1), n_missing, n_all


def _sums(
    values: np.ndarray | None, owner: np.ndarray, group: np.ndarray, shape: tuple[int, int]
) -> np.ndarray:
    """Sums of values by owner and group, or counts if there are no values."""
    cell = owner * shape[1] + group
    return np.bincount(cell, values, minlength=shape[0] * shape[1]).reshape(shape)


def moments(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation of columns by scikit-learn's StandardScaler, which ignores NaN.

    A column without numbers, or without variance, has the scale 1.
    """
    scaler = StandardScaler().fit(values)
    return np.nan_to_num(scaler.mean_), np.nan_to_num(scaler.scale_, nan=1.0)


def is_spatial(batch: GraphBatch) -> np.ndarray:
    """Mark attributes that are coordinates in space.

    Coordinates vary little along edges. If neighbors are independent, the mean squared difference
    along edges is twice the variance. Coordinates of atoms have 0.03 to 0.19 of that (BZR, COX2,
    DHFR, AIDS), chemical and physical properties 0.39 to 1.17 (AIDS, ENZYMES, PROTEINS). Attributes
    that a schema names, or whose names are not those of coordinates, are never marked.

    Parameters
    ----------
    batch : GraphBatch

    Returns
    -------
    ndarray of shape (n_attributes,), bool
    """
    values, edges = np.asarray(batch.attributes, dtype=float), batch.underlying.tocoo()
    if not edges.nnz:
        return np.zeros(values.shape[1], dtype=bool)
    if batch.schema.missing != "error":
        values = np.where(np.isnan(values), np.nan_to_num(np.nanmean(values, axis=0)), values)
    # In units of the largest value, because squares may overflow.
    values = values / np.maximum(np.abs(values).max(axis=0), np.finfo(float).tiny)
    along_edges = ((values[edges.row] - values[edges.col]) ** 2).mean(axis=0)
    return (along_edges < MAX_SPATIAL_RATIO * 2 * values.var(axis=0)) & (
        ~batch.schema.is_explicit_feature
    )


def _add_signs(values: np.ndarray, weights: np.ndarray, rows: np.ndarray, out: np.ndarray) -> None:
    """Add the random signs of each value to a row, as a vector whose length is its weight.

    The signs are bits of a hash, so that no table of signs is stored.
    """
    n_words = out.shape[1] // 64
    factors = weights[:, np.newaxis] / np.sqrt(out.shape[1])
    for word in range(n_words):
        numbers = values.astype(np.uint64) * np.uint64(n_words) + np.uint64(word)
        hashes = hash64(numbers * INCREMENT)
        bits = np.unpackbits(hashes.astype("<u8").view(np.uint8).reshape(-1, 8), axis=1)
        out[rows, 64 * word : 64 * (word + 1)] += factors * (2.0 * bits - 1.0)


def _degree_bin(degrees: np.ndarray) -> np.ndarray:
    """Bit length of each degree: 0 -> 0, 1 -> 1, 2-3 -> 2, 4-7 -> 3, ..."""
    return np.frexp(degrees)[1]

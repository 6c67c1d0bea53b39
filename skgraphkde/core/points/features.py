"""Node features: a batch -> one feature vector per node.

NodeFeatures is a transformer: it replaces the attributes of graphs by the features, so it can
precede any estimator of graphs in a pipeline. Each kind of features is a block: ``fit`` makes it
from a batch of training graphs, and calling it computes its columns for any batch.
"""

from __future__ import annotations

import copy
import unicodedata
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

import numpy as np
from sklearn.base import TransformerMixin, _fit_context
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted

from skgraphkde._messages import listed, shown
from skgraphkde._utils import warn
from skgraphkde._words import legible
from skgraphkde.core.graphs.arrays import ROUNDING, codes_in
from skgraphkde.core.graphs.batch import GraphBatch, is_spatial
from skgraphkde.core.graphs.problems import (
    GraphError,
    UnseenCategoryWarning,
    called,
    position_in_list,
)
from skgraphkde.core.graphs.random_walks import STEPS, return_probabilities
from skgraphkde.core.graphs.refinement import (
    INCREMENT,
    EdgeGroups,
    by_frequency,
    by_places,
    hash64,
    looks,
)
from skgraphkde.core.graphs.schema import PARTS
from skgraphkde.core.specification import Specification

__all__ = ["NodeFeatures"]

# Largest number of one-hot columns, and number of columns to which more values are projected.
MOST_VALUES = 512
PROJECTED = 256
# Largest number of columns for means by category; with more, means are over all categories.
MOST_EDGE_COLUMNS = 64
# Share of graphs with categories of their own, up to which these count as known.
FEW_WITH_OWN = 0.05
# Larger raw numbers have no squares in single precision that leave anything of others.
LARGEST_RAW = 1e15
# If all raw numbers of a column are smaller, points differ by less than rounding in a distance.
SMALLEST_RAW = 1e-10


class Block:
    """Base class of one kind of node features, fitted to a batch of training graphs.

    Attributes
    ----------
    names : list of str
        Names of the columns.
    """

    kind: ClassVar[str]
    names: list[str]

    def __call__(self, batch: GraphBatch) -> np.ndarray:
        """Compute the columns, shape (n_nodes, n_columns)."""
        raise NotImplementedError

    def units(self) -> np.ndarray:
        """Mean and scale of each column, shape (n_columns, 2); (0, 1) if not standardized."""
        return np.tile([0.0, 1.0], (len(self.names), 1))


class LabelBlock(Block):
    """One-hot categories; a value that `fit` did not see becomes the zero vector.

    The columns of more than 512 values, which are nearly all zeros, are projected to 256 by random
    signs, which are the same in every fit and preserve distances (Johnson and Lindenstrauss, 1984).

    Attributes
    ----------
    categories : tuple of str
        Names of the attributes, in the order of :func:`by_places`.
    vocabularies : tuple of tuple
        Values of each attribute, the most frequent first, as :func:`by_frequency` orders them.
    weights : ndarray of shape (n_values,), or None
        Weights of projected values: a rare value has the weight that its own standardized column
        would have. None for one-hot columns.
    hidden : ndarray of shape (n_values,), bool
        Values that count as unseen.
    """

    kind = "label"
    weights: np.ndarray | None = None

    def __init__(self, batch: GraphBatch) -> None:
        of_nodes = batch.once(looks)
        found = []
        ranks = []
        for category in batch.values_by_category("node"):
            values, own = batch.category("node", category)
            order = by_frequency(own[batch.labels], of_nodes)
            found.append((category, tuple(values[i] for i in order)))
            ranks.append(codes_in(values, found[-1][1])[own[batch.labels]])
        in_order = [found[i] for i in by_places(np.column_stack(ranks), of_nodes)]
        self.categories, self.vocabularies = zip(*in_order, strict=True)
        self.names = [f"{category}={x}" for category, values in in_order for x in values]
        n_values = len(self.names)
        self.hidden = np.zeros(n_values, dtype=bool)
        if n_values > MOST_VALUES:
            counts = np.bincount(self.codes(batch).ravel())
            self.weights = np.sqrt(batch.n_nodes / (n_values * counts))
            self.names = [f"{'+'.join(self.categories)} projected {i}" for i in range(PROJECTED)]

    def codes(self, batch: GraphBatch) -> np.ndarray:
        """Index of each node's values among all values, -1 if unseen, (n_categories, n_nodes)."""
        rows = []
        first = 0
        for category, vocabulary in zip(self.categories, self.vocabularies, strict=True):
            values, own = batch.category("node", category)
            codes = codes_in(values, vocabulary)
            codes[codes >= 0] += first
            codes[self.hidden[codes]] = -1
            rows.append(codes[own[batch.labels]])
            first += len(vocabulary)
        return np.stack(rows)

    def __call__(self, batch: GraphBatch) -> np.ndarray:
        """Compute the columns, shape (n_nodes, n_columns)."""
        columns = np.zeros((batch.n_nodes, len(self.names)))
        for codes in self.codes(batch):
            nodes = np.flatnonzero(codes >= 0)
            known = codes[nodes]
            if self.weights is None:
                columns[nodes, known] = 1
            else:
                _add_signs(known, self.weights, nodes, columns)
        return columns

    def without_own(self, batch: GraphBatch) -> tuple[LabelBlock, np.ndarray]:
        """Hide the values that only one graph has, each of which is unseen for all others.

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
        codes = self.codes(batch)
        n = len(batch)
        value, graph = np.divmod(np.unique((codes * n + batch.graph_of_node)[codes >= 0]), n)
        block = copy.copy(self)
        block.hidden = np.bincount(value, minlength=len(self.hidden)) == 1
        has_own = np.zeros(n, dtype=bool)
        has_own[graph[block.hidden[value]]] = True
        return block, has_own


class NumberBlock(Block):
    """Node attributes, standardized on the training nodes.

    Attributes
    ----------
    columns : tuple of str
        Names of all numeric columns of the graphs.
    used : ndarray of int
        Indices of the columns in use, in the order of :func:`by_places`.
    mean, scale : ndarray of shape (len(used),)
        Mean and standard deviation of the columns in use.
    indicates : bool
        Whether missing numbers are replaced by the mean and marked in an additional column.
    """

    kind = "attribute"

    def __init__(self, batch: GraphBatch, used: np.ndarray) -> None:
        self.columns = batch.schema.node_columns
        self.used = used
        self.indicates = batch.schema.missing != "error"
        self.mean, self.scale = _moments(np.asarray(batch.attributes)[:, used])
        order = by_places(self.standardized(batch), batch.once(looks))
        self.used = used[order]
        self.mean = self.mean[order]
        self.scale = self.scale[order]
        self.names = [self.columns[i] for i in self.used]
        if self.indicates:
            self.names += [f"{name} missing" for name in self.names]

    def __call__(self, batch: GraphBatch) -> np.ndarray:
        """Compute the columns, shape (n_nodes, n_columns)."""
        values = self.standardized(batch)
        if not self.indicates:
            return values
        is_missing = np.isnan(values)
        return np.hstack([np.where(is_missing, 0.0, values), is_missing.astype(float)])

    def units(self) -> np.ndarray:
        """Mean and scale of each column, shape (n_columns, 2); (0, 1) if not standardized."""
        units = super().units()
        units[: len(self.used)] = np.column_stack([self.mean, self.scale])
        return units

    def standardized(self, batch: GraphBatch) -> np.ndarray:
        """Standardized attributes in use, shape (n_nodes, len(used))."""
        return (np.asarray(batch.attributes)[:, self.used] - self.mean) / self.scale


class RawNumberBlock(NumberBlock):
    """Node attributes as they are: as of NumberBlock, with mean 0 and scale 1."""

    kind = "raw_attribute"

    def __init__(self, batch: GraphBatch, used: np.ndarray) -> None:
        super().__init__(batch, used)
        self.mean = np.zeros(len(used))
        self.scale = np.ones(len(used))
        largest = np.nan_to_num(np.abs(self.standardized(batch))).max(axis=0)
        is_small = (largest > 0) & (largest < SMALLEST_RAW)
        if is_small.any():
            raise ValueError(
                f"the node attribute {self.names[is_small.argmax()]!r} is nowhere above "
                f"{SMALLEST_RAW:g}, too small for 'raw_attribute': take 'attribute', which "
                "standardizes numbers"
            )

    def standardized(self, batch: GraphBatch) -> np.ndarray:
        """The numbers as they are, unless a network could not compute with them."""
        values = super().standardized(batch)
        is_large = np.nan_to_num(np.abs(values)) > LARGEST_RAW
        if is_large.any():
            node, column = np.argwhere(is_large)[0]
            graph = int(batch.graph_of_node[node])
            raise GraphError(
                batch.name(graph),
                f", node {node - batch.node_ptr[graph]}: {values[node, column]:g} is too large for "
                "'raw_attribute': take 'attribute', which standardizes numbers",
            )
        return values


class DegreeBlock(Block):
    """One-hot degree in the bins 0, 1, 2-3, 4-7, ... and log(1 + degree); the last bin is open."""

    kind = "degree"

    def __init__(self, batch: GraphBatch) -> None:
        self.names = ["degree=0"]
        for k in range(np.frexp(batch.degrees)[1].max()):
            self.names.append(f"degree={2**k}-{2 ** (k + 1) - 1}" if k else "degree=1")
        self.names.append("log(1+degree)")

    def __call__(self, batch: GraphBatch) -> np.ndarray:
        """Compute the columns, shape (n_nodes, n_columns)."""
        columns = np.zeros((batch.n_nodes, len(self.names)))
        n_bits = np.frexp(batch.degrees)[1]  # 0 -> 0, 1 -> 1, 2-3 -> 2, 4-7 -> 3, ...
        bins = np.minimum(n_bits, len(self.names) - 2)
        columns[np.arange(batch.n_nodes), bins] = 1
        columns[:, -1] = np.log1p(batch.degrees)
        return columns


class WalkBlock(Block):
    """Return probabilities of random walks, of directed graphs also of walks along the arcs."""

    kind = "random_walk"

    def __init__(self, batch: GraphBatch) -> None:
        self.directed = batch.directed
        self.names = [f"return_{k}" for k in STEPS]
        if self.directed:
            self.names += [f"directed_{name}" for name in self.names]

    def __call__(self, batch: GraphBatch) -> np.ndarray:
        """Compute the columns, shape (n_nodes, n_columns)."""
        columns = return_probabilities(batch)
        if not self.directed:
            return columns
        return np.hstack([columns, return_probabilities(batch, directed=True)])


class ConstantBlock(Block):
    """The same number for each node: what an encoder makes of it is structure alone."""

    kind = "constant"

    def __init__(self, batch: GraphBatch) -> None:
        self.names = ["constant"]

    def __call__(self, batch: GraphBatch) -> np.ndarray:
        """Compute the columns, shape (n_nodes, 1)."""
        return np.ones((batch.n_nodes, 1))


class EdgeBlock(Block):
    """Counts of the edges at each node and means of their numbers, by direction and category.

    The columns are, for each direction and category of edges, log(1 + count) and the mean of each
    numeric attribute, standardized on the training edges. The mean is 0 for a node without such
    edges. If means by category would have more than 64 columns, they are over all categories.

    Attributes
    ----------
    groups, number_groups : EdgeGroups
        Categories of edges by which edges are counted, and numbers averaged.
    columns : tuple of str
        Names of the numeric columns of the graphs.
    used : ndarray of int
        Indices of these columns in the order of :func:`by_places`.
    mean, scale : ndarray of shape (n_numbers,)
        Mean and standard deviation of the numeric attributes over all arcs.
    indicates : bool
        Whether to exclude missing numbers from means, and to add columns with their share.
    positions : ndarray of shape (n_numbers, n_directions * n_groups), int
        The columns with the means of each attribute.
    """

    kind = "edge"

    def __init__(self, batch: GraphBatch) -> None:
        self.groups = self.number_groups = batch.once(EdgeGroups.fit)
        self.columns = batch.schema.edge_columns
        self.indicates = batch.schema.missing != "error"
        self.used = np.arange(len(self.columns))
        self.mean = np.zeros(0)
        self.scale = np.ones(0)
        if batch.edge_attributes is not None:
            self.mean, self.scale = _moments(batch.edge_attributes)
            self.used = by_places(self.standardized(batch), batch.once(looks)[batch.source_of_arc])
            self.mean = self.mean[self.used]
            self.scale = self.scale[self.used]
        self.names = []
        prefixes = self.groups.prefixes
        if self.groups.n_relations:
            self.names += [f"log(1+{prefix}edges)" for prefix in prefixes]
        if len(prefixes) * len(self.columns) * (1 + self.indicates) > MOST_EDGE_COLUMNS:
            self.number_groups = EdgeGroups(batch.directed, (), False)
            prefixes = self.number_groups.prefixes
        positions = []
        for column in [self.columns[i] for i in self.used]:
            positions.append(np.arange(len(prefixes)) + len(self.names))
            self.names += [f"{prefix}{column}" for prefix in prefixes]
            if self.indicates:
                self.names += [f"{prefix}{column} missing" for prefix in prefixes]
        self.positions = np.reshape(positions, (len(self.columns), len(prefixes))).astype(int)

    def units(self) -> np.ndarray:
        """Mean and scale of each column, shape (n_columns, 2); (0, 1) if not standardized."""
        units = super().units()
        for positions, mean, scale in zip(self.positions, self.mean, self.scale, strict=False):
            units[positions] = mean, scale
        return units

    def __call__(self, batch: GraphBatch) -> np.ndarray:
        """Compute the columns, shape (n_nodes, n_columns)."""
        ends = [batch.source_of_arc, batch.adjacency.indices][: 1 + self.groups.directed]
        group = self.groups.of_arcs(batch)
        shape = (batch.n_nodes, len(self.groups.names))
        columns = []
        if self.groups.n_relations:
            columns += [np.log1p(_sums(None, end, group, shape)) for end in ends]
        group = self.number_groups.of_arcs(batch)
        shape = batch.n_nodes, len(self.number_groups.names)
        for values in self.standardized(batch).T:
            means = [_means(values, end, group, shape) for end in ends]
            columns += [mean for mean, _, _ in means]
            if self.indicates:
                columns += [n_missing / np.maximum(n_all, 1) for _, n_missing, n_all in means]
        return np.hstack(columns)

    def standardized(self, batch: GraphBatch) -> np.ndarray:
        """Standardized numeric attributes of the arcs, shape (n_arcs, n_numbers)."""
        values = batch.edge_attributes
        if not (self.columns and batch.adjacency.nnz):
            values = np.zeros((batch.adjacency.nnz, len(self.columns)))
        return (np.asarray(values)[:, self.used] - self.mean) / self.scale

    def graph_means(self, batch: GraphBatch) -> dict[int, np.ndarray]:
        """Means, and shares of missing numbers, over the edges of each graph, by column.

        NaN for a graph without such edges.
        """
        group = self.number_groups.of_arcs(batch)
        names = self.number_groups.names
        directions = 1 + self.groups.directed
        found: dict[int, np.ndarray] = {}
        for i, positions in zip(self.used, self.positions.tolist(), strict=True):
            values = np.asarray(batch.edge_attributes)[:, i]
            mean, n_missing, n_all = _means(
                values, batch.graph_of_arc, group, (len(batch), len(names))
            )
            of_groups = np.where(n_all > n_missing, mean, np.nan).T
            found |= dict(zip(positions, [*of_groups] * directions, strict=True))
            if self.indicates:
                missing = np.where(n_all > 0, n_missing / np.maximum(n_all, 1), np.nan).T
                places = [place + len(positions) for place in positions]
                found |= dict(zip(places, [*missing] * directions, strict=True))
        return found


def _means(
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
    n_owners, n_groups = shape
    cells = owner * (n_groups + 1) + group  # one group more, of arcs that are of none
    sums = np.bincount(cells, values, minlength=n_owners * (n_groups + 1))
    return sums.reshape(n_owners, -1)[:, :n_groups]


def _moments(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation of columns by scikit-learn's StandardScaler, which ignores NaN.

    A column without numbers, or that varies by rounding only, has the scale 1.
    """
    mean = np.nan_to_num(StandardScaler().fit(values).mean_)
    scale = np.nan_to_num(StandardScaler().fit(values - mean).scale_, nan=1.0)
    return mean, np.where(scale > ROUNDING * np.abs(mean), scale, 1.0)


def _add_signs(values: np.ndarray, weights: np.ndarray, rows: np.ndarray, out: np.ndarray) -> None:
    """Add the random signs of each value to a row, as a vector whose length is its weight.

    The signs are bits of a hash, so that no table of signs is stored.
    """
    n_words, (distinct, own) = out.shape[1] // 64, np.unique(values, return_inverse=True)
    factors = weights[distinct, np.newaxis] / np.sqrt(out.shape[1])
    for word in range(n_words):
        numbers = distinct.astype(np.uint64) * np.uint64(n_words) + np.uint64(word)
        hashes = hash64(numbers * INCREMENT)
        bits = np.unpackbits(hashes.astype("<u8").view(np.uint8).reshape(-1, 8), axis=1)
        out[rows, 64 * word : 64 * (word + 1)] += (factors * (2.0 * bits - 1.0))[own]


#: Kinds of features, in the order of their columns.
BLOCKS: dict[str, Callable[..., Block]] = {
    "label": LabelBlock,
    "attribute": NumberBlock,
    "raw_attribute": RawNumberBlock,
    "degree": DegreeBlock,
    "random_walk": WalkBlock,
    "edge": EdgeBlock,
    "constant": ConstantBlock,
}
#: Kinds that "auto" and "given" do not choose.
ON_REQUEST = ("raw_attribute", "constant")


def _as_batch(graphs: Any) -> GraphBatch:
    """The graphs, or an error that says what makes a batch of them."""
    if isinstance(graphs, GraphBatch):
        return graphs
    raise TypeError(
        f"NodeFeatures takes a GraphBatch, got a {type(graphs).__name__}: give read_graphs(graphs)"
    )


class NodeFeatures(TransformerMixin, Specification, auto_wrap_output_keys=None):  # type: ignore
    """Node features from attributes and structure: one vector per node.

    Parameters
    ----------
    kinds : {"auto", "given"} or tuple of str, default="auto"
        Kinds of features:

        - "label": one-hot node label; a label that `fit` did not see becomes the zero vector. More
          than 512 labels are projected to 256 columns by fixed random signs;
        - "attribute": node numbers, standardized on the training nodes; a missing number is
          replaced by the mean, and marked in an additional column. "auto" ignores coordinates,
          which are numbers that hardly change along the edges: the frame of reference differs from
          graph to graph. Attributes that a GraphSchema names are never ignored, nor are attributes
          with other names than "x", "y", "z", "pos", "position", "coordinates" and the like;
        - "raw_attribute": node numbers, all of them and as they are;
        - "degree": one-hot number of neighbors in the bins 0, 1, 2-3, 4-7, ... and its logarithm;
        - "random_walk": the probability that a walk, which steps to a random neighbor in proportion
          to the edge weights, returns after 2, 3 and 4 steps; 0 for an isolated node. Directed
          graphs also have the probabilities of walks along the arcs. The probabilities are exact,
          except for graphs with more than 5e8 walks of two steps, for which they are estimated and
          depend slightly on the node order;
        - "edge": for directed graphs and edges with data, the logarithm of the number of edges of
          each direction and category, and means of the numbers of these edges;
        - "constant": 1.

        "auto" uses all kinds that the training graphs have, except for "raw_attribute" and
        "constant". "given" uses the first of label, attribute and degree that they have, which
        papers on these data sets commonly use.

    Attributes
    ----------
    kinds_ : tuple of str
        Kinds of features in use.
    blocks_ : tuple
        One block for each kind, with the `names` of its columns.
    edge_groups_ : EdgeGroups
        Directions and categories of edges that are distinguished.
    n_features_out_ : int
        Number of features per node.

    Examples
    --------
    >>> import networkx as nx
    >>> from skgraphkde import NodeFeatures, read_graphs
    >>> features = NodeFeatures(kinds=("degree",)).fit(read_graphs([nx.path_graph(3)]))
    >>> features.get_feature_names_out().tolist()
    ['degree=0', 'degree=1', 'degree=2-3', 'log(1+degree)']
    >>> features.transform(read_graphs([nx.path_graph(2)])).attributes.round(2)
    array([[0.  , 1.  , 0.  , 0.69],
           [0.  , 1.  , 0.  , 0.69]])
    """

    _parameter_constraints: dict = {"kinds": [str, tuple, list]}

    def __init__(self, kinds: Any = "auto") -> None:
        self.kinds = kinds

    def _validate_values(self) -> None:
        if isinstance(self.kinds, str):
            is_known = self.kinds in ("auto", "given")
        else:
            is_known = len(self.kinds) > 0 and all(kind in BLOCKS for kind in self.kinds)
        if not is_known:
            raise ValueError(
                "The 'kinds' parameter of NodeFeatures must be 'auto', 'given' or a non-empty "
                f"selection of {tuple(BLOCKS)}, such as ('degree',). Got {self.kinds!r} instead."
            )

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: GraphBatch, y: Any = None) -> NodeFeatures:
        """Learn the vocabulary of labels, the scale of attributes and the range of degrees.

        Parameters
        ----------
        X : GraphBatch
            Training graphs; :func:`skgraphkde.read_graphs` makes a batch of any.
        y : None
            Ignored.

        Returns
        -------
        self : NodeFeatures

        Raises
        ------
        TypeError
            If `X` is no GraphBatch.
        ValueError
            If `kinds` names labels or attributes that the graphs do not have.
        """
        self._validate_values()
        batch = _as_batch(X)
        left_out = np.zeros(len(batch.schema.node_columns), dtype=bool)
        if self.kinds == "auto" and batch.attributes is not None:
            left_out = is_spatial(batch)
        if left_out.any():
            names = [repr(batch.schema.node_columns[i]) for i in np.flatnonzero(left_out)]
            warn(
                f"left out of the features: node number {listed(names)}, which hardly changes "
                "along edges, like a coordinate: to use it, name it in the schema, node_numbers=..."
            )
        self.kinds_ = self._kinds_of(batch, left_out)
        used = np.flatnonzero(~left_out)
        blocks = []
        for kind in self.kinds_:
            is_number = kind in ("attribute", "raw_attribute")
            blocks.append(BLOCKS[kind](batch, used) if is_number else BLOCKS[kind](batch))
        self.blocks_ = tuple(blocks)
        self.values_ = {part: values_in_use(batch, part) for part in PARTS}
        self.edge_groups_ = batch.once(EdgeGroups.fit)
        warn_of_alike(batch)
        return self

    def _kinds_of(self, batch: GraphBatch, left_out: np.ndarray) -> tuple[str, ...]:
        """Kinds of features of these training graphs."""
        schema = batch.schema
        has_numbers = batch.attributes is not None
        is_typed = batch.directed or schema.edge_categories or schema.edge_numbers
        are_there = {
            "label": batch.labels is not None,
            "attribute": has_numbers and not left_out.all(),
            "raw_attribute": has_numbers,
            "edge": is_typed,
        }
        there = [kind for kind in BLOCKS if are_there.get(kind, True)]
        if isinstance(self.kinds, str):
            found = [kind for kind in there if kind not in ON_REQUEST]
            return tuple(found if self.kinds == "auto" else found[:1])
        lacking = [kind for kind in self.kinds if kind not in there]
        if lacking:
            raise ValueError(
                f"the node features {lacking} were requested, but the graphs carry none; "
                "networkx graphs carry labels in the node attribute 'label' and attributes in 'x'"
            )
        return tuple(kind for kind in BLOCKS if kind in self.kinds)

    @property
    def n_features_out_(self) -> int:
        """Number of features per node."""
        return len(self.kind_of_column)

    def block(self, kind: str) -> Any:
        """Block of one kind; None if it is not in use."""
        return next((block for block in self.blocks_ if block.kind == kind), None)

    def transform(self, X: GraphBatch) -> GraphBatch:
        """Compute the features.

        Parameters
        ----------
        X : GraphBatch
            See :func:`skgraphkde.read_graphs`.

        Returns
        -------
        GraphBatch
            The same graphs; `attributes` has shape (n_nodes, `n_features_out_`).

        Raises
        ------
        TypeError
            If `X` is no GraphBatch.
        ValueError
            If labels or attributes of `fit` are missing, or the number of attributes differs.
        """
        check_is_fitted(self)
        batch = _as_batch(X)
        self.check_batch(batch)
        return self.transform_batch(batch)

    def check_batch(self, batch: GraphBatch, parts: Sequence[str] = ("node",)) -> None:
        """Check that a batch has the attributes of `fit`; warn about unseen categories.

        Parameters
        ----------
        batch : GraphBatch
        parts : sequence of str, default=("node",)
            Of "node", "edge" and "graph", those of which unseen categories are worth a warning.

        Raises
        ------
        ValueError
            If labels or attributes of `fit` are missing, or the number of attributes differs.
        """
        numbers = self.block("attribute") or self.block("raw_attribute")
        width = 0 if batch.attributes is None else batch.attributes.shape[1]
        if numbers is not None and width != len(numbers.columns):
            raise ValueError(
                f"fit saw {len(numbers.columns)} node attributes; these graphs have "
                f"{width or 'none'}"
            )
        has_labels = self.block("label") is not None
        if has_labels:
            batch.check_labels()
        for part in parts:
            used = values_in_use(batch, part)
            known = self.values_[part]
            if list(used) == list(known) and (part != "node" or has_labels):
                _warn_of_unseen(batch, part, used, known, _TOLD.setdefault(self, set()))

    def transform_batch(self, batch: GraphBatch) -> GraphBatch:
        """Compute the features of a batch that :meth:`check_batch` accepts.

        If edge groups are distinguished, the arcs carry their groups as labels.
        """
        attributes = np.hstack([block(batch) for block in self.blocks_])
        groups = self.edge_groups_
        has_groups = bool(self.edge_groups_.categories)
        name = "+".join(batch.schema.edge_categories) or "label"
        of_arcs = batch.data("edge")._replace(labels=None, names=())
        if has_groups:
            of_arcs = of_arcs._replace(labels=groups.of_arcs(batch), names=groups.names)
        return batch.replace(
            node=batch.data("node")._replace(numbers=attributes),
            edge=of_arcs,
            schema=replace(
                batch.schema,
                node_numbers=(("x", attributes.shape[1]),),
                edge_categories=(name,) if has_groups else (),
            ),
        )

    def without_own_values(self, batch: GraphBatch) -> tuple[NodeFeatures, np.ndarray]:
        """Hide the categories of nodes that only one graph has.

        They are unseen if that graph is left out, as those of a new graph are.

        Parameters
        ----------
        batch : GraphBatch

        Returns
        -------
        features : NodeFeatures
            With the same columns.
        has_own : ndarray of shape (n_graphs,), bool
            True for a graph with such a category, whose features change. If these graphs are few,
            which hardly changes a calibration, nothing is hidden.
        """
        labels = self.block("label")
        if labels is not None:
            without, has_own = labels.without_own(batch)
            if has_own.mean() > FEW_WITH_OWN:
                features = copy.copy(self)
                features.blocks_ = tuple(without if x is labels else x for x in self.blocks_)
                return features, has_own
        return self, np.zeros(len(batch), dtype=bool)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the features, in the order of the columns.

        Parameters
        ----------
        input_features : None
            Ignored.

        Returns
        -------
        ndarray of str, shape (`n_features_out_`,)
        """
        check_is_fitted(self)
        names = [name for block in self.blocks_ for name in block.names]
        return np.array(names, dtype=object)

    def units(self) -> np.ndarray:
        """Mean and scale of each feature in its own units, shape (`n_features_out_`, 2)."""
        return np.vstack([block.units() for block in self.blocks_])

    @property
    def kind_of_column(self) -> list[str]:
        """Kind of each feature, such as "degree"."""
        return [block.kind for block in self.blocks_ for _ in block.names]


# -- values of categories --------------------------------------------------------------------------

# Unseen values of which a stream of calls has been warned, by the features that were fitted, and
# how many of them are remembered; after that, there are no more warnings.
MOST_TOLD = 1000
_TOLD: WeakKeyDictionary[NodeFeatures, set[tuple[str, str, Hashable]]] = WeakKeyDictionary()


def values_in_use(batch: GraphBatch, part: str) -> dict[str, tuple[Hashable, ...]]:
    """Distinct values of each category that nodes, edges or graphs have.

    Parameters
    ----------
    batch : GraphBatch
    part : {"node", "edge", "graph"}
    """
    codes = batch.data(part).labels
    used = [] if codes is None else np.bincount(codes).nonzero()[0].tolist()
    found = {}
    for name, values in batch.values_by_category(part).items():
        found[name] = tuple(dict.fromkeys(values[code] for code in used))
    return found


def _warn_of_unseen(
    batch: GraphBatch,
    part: str,
    used: Mapping[str, Iterable[Hashable]],
    known: Mapping[str, Iterable[Hashable]],
    told: set[tuple[str, str, Hashable]],
) -> None:
    """Warn about values that `fit` did not see, and about known values that look alike.

    Parameters
    ----------
    batch : GraphBatch
    part : {"node", "edge", "graph"}
    used, known : mapping from str to iterable of hashable
        Values of the graphs and values of `fit`, by category, in the same order.
    told : set of (part, category, value)
        Those of which a call before has warned; it is extended.
    """
    found = []
    told_here = []
    for (name, vocabulary), values in zip(known.items(), used.values(), strict=True):
        known_values = set(vocabulary)
        unseen = []
        for value in values:
            if value not in known_values and (part, name, value) not in told:
                unseen.append(value)
        if not unseen or len(told) >= MOST_TOLD:
            continue
        by_look = {_look(value).casefold(): value for value in vocabulary}
        alike = [x for x in unseen if _look(x).casefold() in by_look]
        look = f" ({_difference(alike[0], by_look[_look(alike[0]).casefold()])})" if alike else ""
        new = set(unseen)
        is_unseen = np.array([x in new for x in batch.values_by_category(part)[name]])
        first = int(batch.owner(part)[is_unseen[batch.data(part).labels].argmax()])
        called_first = called(batch.name(first) if batch.names else position_in_list(first))
        found.append(
            f"{listed([legible(x) for x in unseen])} of {shown(name)!r}{look}, first in "
            f"{called_first}"
        )
        told_here += [(part, name, value) for value in unseen]
    if found:
        warn(f"{part} categories that fit did not see: {'; '.join(found)}", UnseenCategoryWarning)
        told.update(told_here)


def warn_of_alike(batch: GraphBatch) -> None:
    """Warn about different values of a category that look the same, such as 1 and "1"."""
    for part in PARTS:
        for name, values in values_in_use(batch, part).items():
            by_look: dict[str, Hashable] = {}
            for value in values:
                first = by_look.setdefault(_look(value), value)
                if first is not value:
                    warn(
                        f"{part} category {shown(name)!r}: {_difference(value, first)}, so they "
                        "count as different values: write them alike"
                    )
                    break


def _look(value: Hashable) -> str:
    """A value as it looks in print: accents in one way, and blanks as single spaces."""
    return " ".join(unicodedata.normalize("NFKC", str(value)).split())


def _difference(value: Hashable, known: Hashable) -> str:
    """What differs between two values that look alike: their types, or their characters."""
    if type(value) is type(known):
        return f"{shown(ascii(value))} and {shown(ascii(known))} look alike"
    text = shown(repr(value))
    other = shown(repr(known))
    return f"{text} is a {type(value).__name__} and {other} a {type(known).__name__}"

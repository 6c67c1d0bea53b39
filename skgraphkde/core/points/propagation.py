"""Propagation: graphs with node features -> one point per node; the base classes of encoders.

Encoders read a message flow with one row per color of nodes. Nodes that agree in features and
degree, and whose neighbors agree in each round, get the same embedding from the same number of
layers of message passing (Weisfeiler and Leman, 1968; Xu et al., ICLR 2019). Molecules have few
such colors, and the encoder, the distances and the density work on one row per color. Merging
costs 0.3 to 0.9 microseconds per node (two layers, one core).

An encoder that is a torch module has base classes of its own, in `learned/`: `docs/extending.md`
adds a graph isomorphism network in a short module.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import accumulate, pairwise
from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse as sp

from skgraphkde.core.graphs.arrays import scaled
from skgraphkde.core.graphs.batch import GraphBatch
from skgraphkde.core.graphs.refinement import factorize, hash_rows, messages, refined, relations
from skgraphkde.core.specification import Specification, at_least

# A variance below this, or below this share of the squared mean, is a rounding error.
MIN_VARIANCE = 1e-12
# Largest number of columns that the relations add to a layer.
MAX_RELATION_COLUMNS = 64


def node_colors(graphs: GraphBatch, n_rounds: int) -> np.ndarray:
    """Colors of the nodes after each round of refinement.

    Parameters
    ----------
    graphs : GraphBatch
        Graphs with their node features as attributes.
    n_rounds : int
        Number of layers of the encoder.

    Returns
    -------
    ndarray of shape (n_rounds + 1, n_nodes), uint64
        Colors in row l are equal, in any batch, for nodes that l layers cannot distinguish, and
        different for others.
    """
    weighted_degrees = np.asarray(graphs.underlying.sum(axis=1)).ravel()
    colors = hash_rows(np.column_stack([weighted_degrees, np.asarray(graphs.attributes)]))
    passed = messages(graphs, graphs.edge_labels, weighted=True)
    return np.stack(list(refined(colors, passed, n_rounds)))


@dataclass(frozen=True)
class MessageFlow:
    """Input of message-passing layers, with one row for all nodes of one color.

    Row i of round l represents all nodes of a color after l rounds of refinement. Layer l maps the
    n_{l-1} rows of round l - 1 to the n_l rows of round l.

    Parameters
    ----------
    features : ndarray of shape (n_0, p)
        Node features X.
    counts : tuple of ndarray of shape (n_l,)
        Number of nodes of each color, for rounds 0 to L.
    parents : tuple of ndarray of shape (n_l,)
        For layers 1 to L: the row of the nodes of a color in the previous round.
    colors : ndarray of shape (n_L,)
        Colors after the last round, in the order of their first nodes.
    adjacency : csr_array of shape (n_nodes, n_nodes)
        Adjacency of the underlying undirected graphs.
    relations : csr_array of shape (n_relations * n_nodes, n_nodes), or None
        Averages over neighbors by direction and category of edges, see
        :func:`skgraphkde.core.graphs.refinement.relations`; None if edges are not distinguished.
    rounds : tuple of (ndarray, ndarray)
        For each round, the first node of each color, and the row of each node.
    """

    features: np.ndarray
    counts: tuple[np.ndarray, ...]
    parents: tuple[np.ndarray, ...]
    colors: np.ndarray
    adjacency: sp.csr_array
    relations: sp.csr_array | None
    rounds: tuple[tuple[np.ndarray, np.ndarray], ...]

    @classmethod
    def of(cls, graphs: GraphBatch, colors: np.ndarray) -> MessageFlow:
        """Make the flow of graphs that carry their node features as attributes.

        Parameters
        ----------
        graphs : GraphBatch
        colors : ndarray of shape (n_layers + 1, n_nodes)
            Colors from :func:`node_colors`.

        Returns
        -------
        MessageFlow
        """
        # Rows in the order of the first nodes of their colors keep those of one graph together.
        rounds = tuple(factorize(row) for row in colors)
        return cls(
            np.asarray(graphs.attributes)[rounds[0][0]],
            tuple(np.bincount(row, minlength=len(first)) for first, row in rounds),
            tuple(before[first] for (_, before), (first, _) in pairwise(rounds)),
            colors[-1][rounds[-1][0]],
            graphs.underlying,
            relations(graphs),
            rounds,
        )

    @classmethod
    def unmerged(cls, graphs: GraphBatch, n_layers: int) -> MessageFlow:
        """Make the flow in which each node has its own color: row i is node i.

        Parameters
        ----------
        graphs : GraphBatch
        n_layers : int

        Returns
        -------
        MessageFlow
        """
        return cls.of(graphs, np.tile(np.arange(graphs.n_nodes), (n_layers + 1, 1)))

    @cached_property
    def adjacencies(self) -> tuple[sp.csr_array, ...]:
        """Weights of the edges to nodes of each color, for layers 1 to L, shape (n_l, n_{l-1}).

        ``adjacencies[l - 1] @ H`` sums the rows of a node's neighbors, without the node itself,
        whose row is ``H[parents[l - 1]]``.
        """
        return self._merged(self.adjacency)

    @cached_property
    def normalized_adjacencies(self) -> tuple[sp.csr_array, ...]:
        """Weights of Ahat = D^-1/2 (A + I) D^-1/2 by color, which includes the node itself."""
        return self._merged(normalized_adjacency(self.adjacency))

    @cached_property
    def relation_means(self) -> tuple[sp.csr_array, ...]:
        """Averages over neighbors for layers 1 to L, shape (n_relations * n_l, n_{l-1}) each."""
        return () if self.relations is None else self._merged(self.relations)

    def _merged(self, matrix: sp.csr_array) -> tuple[sp.csr_array, ...]:
        """Rows of one node per color, with columns summed by color, for each layer.

        The matrix may be several of them, one below the other.
        """
        merged = []
        starts = np.arange(0, matrix.shape[0], matrix.shape[1])[:, np.newaxis]
        for (before, row_of_node), (first, _) in pairwise(self.rounds):
            rows = matrix[(starts + first).ravel()]
            rows = (rows.data, row_of_node[rows.indices], rows.indptr)
            layer = sp.csr_array(rows, shape=(len(starts) * len(first), len(before)))
            layer.sum_duplicates()
            merged.append(layer)
        return tuple(merged)


def normalized_adjacency(adjacency: sp.csr_array) -> sp.csr_array:
    """D^-1/2 (A + I) D^-1/2, D the weighted degrees with the self-loop (Kipf and Welling, 2017)."""
    looped = adjacency + sp.eye_array(adjacency.shape[0], format="csr")
    return scaled(looped, 1.0 / np.sqrt(looped @ np.ones(looped.shape[0])))


class Encoder(Specification):
    """Base class of the specifications of encoders.

    A subclass assigns its parameters in ``__init__`` and builds a fitted encoder in :meth:`build`.
    """

    #: Whether the initial weights are random.
    is_random = False

    def build(self, in_dim: int, n_relations: int = 0, seed: int | None = None) -> FittedEncoder:
        """Build the encoder.

        Parameters
        ----------
        in_dim : int
            Number of node features.
        n_relations : int, default=0
            Number of directions and categories of edges; 0 if edges are not distinguished.
        seed : int, default=None
            Seed of the initial weights. None if they are not random, or will be replaced.

        Returns
        -------
        FittedEncoder
        """
        raise NotImplementedError(f"{type(self).__name__} has no method build(in_dim, ...)")


class FittedEncoder:
    """Base class of encoders with their weights, which map nodes to points.

    Parameters
    ----------
    specification : Encoder
        Specification that built the encoder.
    in_dim : int
        Number of node features.
    out_dim : int
        Number of coordinates of a point.
    n_layers : int
        Number of message-passing layers. Nodes that this number of layers cannot distinguish share
        a point.
    """

    def __init__(self, specification: Encoder, in_dim: int, out_dim: int, n_layers: int) -> None:
        self.specification = specification
        self.in_dim = in_dim
        self.out_dim = out_dim
        self.n_layers = n_layers

    def encode(self, flow: MessageFlow) -> Any:
        """Embed the nodes.

        Parameters
        ----------
        flow : MessageFlow

        Returns
        -------
        ndarray of shape (len(flow.colors), out_dim)
            One point for each color of nodes, in double precision.
        """
        raise NotImplementedError(f"{type(self).__name__} has no method encode(flow)")

    def names_of_coordinates(self, features: Sequence[str]) -> list[str]:
        """Names of the coordinates of a point.

        Parameters
        ----------
        features : sequence of str
            Names of the node features.

        Returns
        -------
        list of `out_dim` str
        """
        name = type(self.specification).__name__.lower()
        return [f"{name}{i}" for i in range(self.out_dim)]

    def standardize(self, flows: Sequence[MessageFlow]) -> None:
        """Set statistics of the training graphs, such as those of batch norms, after training.

        Parameters
        ----------
        flows : sequence of MessageFlow
            The training graphs in blocks of any size.
        """

    def prepare(self, flows: Sequence[MessageFlow]) -> None:
        """Set the statistics of the training graphs, and be ready to score."""
        self.standardize(flows)


class Propagation(Encoder):
    """Node encoder: node features and their averages over neighborhoods, all standardized.

    It is a graph convolution without weights (Wu et al., ICML 2019) with concatenated layers (Xu et
    al., ICML 2018): X_l = S(Ahat X_{l-1}), X_0 = S(X), where S standardizes the columns over all
    training nodes and Ahat = D^-1/2 (A + I) D^-1/2. The embedding is [X_0, ..., X_L], scaled to a
    total variance of 1.

    If edges have directions or categories, X_l also has the averages of X_{l-1} over the neighbors
    in each relation, that is, in each direction and category (Barcelo et al., LoG 2022; Rossi et
    al., LoG 2023). More than 64 such columns are projected to 64 by random signs, which are the
    same in every fit and preserve distances (Johnson and Lindenstrauss, 1984).

    Parameters
    ----------
    n_layers : int, default=2
        Number of averages L, at least 0. With 0 the points are the node features.

    See Also
    --------
    GCN : An encoder with weights, which can be trained.

    Examples
    --------
    >>> from skgraphkde import GraphKDEDetector, Propagation
    >>> GraphKDEDetector(encoder=Propagation(n_layers=1)).get_params()["encoder__n_layers"]
    1
    """

    _parameter_constraints: dict = {"n_layers": [at_least(0, Integral)]}

    def __init__(self, n_layers: int = 2) -> None:
        self.n_layers = n_layers

    def build(
        self, in_dim: int, n_relations: int = 0, seed: int | None = None
    ) -> FittedPropagation:
        """Build the encoder, which has no random weights.

        Parameters
        ----------
        in_dim, n_relations, seed
            As for :meth:`Encoder.build`; `seed` is not used.

        Returns
        -------
        FittedPropagation
        """
        return FittedPropagation(self, in_dim, n_relations)


class FittedPropagation(FittedEncoder):
    """Fitted encoder of :class:`Propagation`.

    Parameters
    ----------
    specification : Propagation
    in_dim : int
        Number of node features.
    n_relations : int, default=0
        Number of directions and categories of edges.
    """

    def __init__(self, specification: Propagation, in_dim: int, n_relations: int = 0) -> None:
        n_layers = specification.n_layers
        dims = [in_dim]
        for _ in range(n_layers):
            dims.append(dims[-1] + min(n_relations * dims[-1], MAX_RELATION_COLUMNS))
        super().__init__(specification, in_dim, sum(dims), n_layers)
        self.n_relations = n_relations
        edges = accumulate(dims, initial=0)
        self.columns = [slice(a, b) for a, b in pairwise(edges)]  # of each layer
        self.means = np.zeros(self.out_dim)
        self.scales = np.ones(self.out_dim)
        self.total_scale = 1.0

    def encode(self, flow: MessageFlow) -> np.ndarray:
        """Embed the nodes, shape (len(flow.colors), out_dim).

        Parameters
        ----------
        flow : MessageFlow

        Returns
        -------
        ndarray of shape (len(flow.colors), out_dim)
        """
        X = np.asarray(flow.features, dtype=float)
        Z = np.empty((len(flow.features), 0))
        for layer, columns in enumerate(self.columns):
            if layer:  # each color has the points of its color in the previous layer
                X = self._averages(flow, layer, X)
                Z = Z[flow.parents[layer - 1]]
            X = X - self.means[columns]
            X /= self.scales[columns]
            Z = np.hstack([Z, X / self.total_scale])
        return Z

    def names_of_coordinates(self, features: Sequence[str]) -> list[str]:
        """The features, and their averages; those over relations have numbers."""
        names = list(features)
        averaged = list(features)
        for layer, columns in enumerate(self.columns[1:], 1):
            n_relations = columns.stop - columns.start - len(averaged)
            averaged += [f"relations of round {layer}, {i}" for i in range(n_relations)]
            names += [f"round {layer}: {name}" for name in averaged]
        return names

    def _averages(self, flow: MessageFlow, layer: int, X: np.ndarray) -> np.ndarray:
        """Averages of the previous layer over neighborhoods, and over the relations."""
        own = flow.normalized_adjacencies[layer - 1] @ X
        if not self.n_relations:
            return own
        return np.hstack([own, self._relations(flow.relation_means[layer - 1], X)])

    def _relations(self, means: sp.csr_array, X: np.ndarray) -> np.ndarray:
        """Averages of X over the neighbors in each relation; many columns are projected."""
        n_relations = self.n_relations
        d = X.shape[1]
        n = means.shape[0] // n_relations
        if n_relations * d <= MAX_RELATION_COLUMNS:
            return (means @ X).reshape(n_relations, n, d).swapaxes(0, 1).reshape(n, -1)
        rows = np.flatnonzero(np.diff(means.indptr))  # few nodes have edges in all relations
        # Nodes with a single neighbor, such as the children of one node, share its row.
        is_single = np.diff(means.indptr)[rows] == 1
        neighbors = rows // n * len(X) + means.indices[means.indptr[rows]]
        first, number = factorize(np.where(is_single, neighbors, -1 - rows))
        averages = means[rows[first]] @ X
        projected = np.empty((len(first), MAX_RELATION_COLUMNS))
        cuts = pairwise(np.searchsorted(rows[first], n * np.arange(n_relations + 1)))
        for (start, stop), signs in zip(cuts, _signs(n_relations, d), strict=True):
            np.matmul(averages[start:stop], signs, out=projected[start:stop])
        ones = (np.ones(len(rows)), (rows % n, number))
        return sp.csr_array(ones, shape=(n, len(first))) @ projected

    def standardize(self, flows: Sequence[MessageFlow]) -> None:
        """Set means and scales to those of all nodes, layer by layer; constants are not scaled."""
        Xs = [np.array(flow.features, dtype=float) for flow in flows]
        n_varying = 0
        for layer, columns in enumerate(self.columns):
            kept = []
            n_nodes = 0
            sums = np.zeros(1)
            squares = np.zeros(1)
            for flow, X in zip(flows, Xs, strict=True):
                counts = flow.counts[layer]
                X = self._averages(flow, layer, X) if layer else X
                n_nodes += counts.sum()
                sums = sums + counts @ X
                squares = squares + counts @ X**2
                if layer < self.n_layers:  # nothing follows the last one
                    kept.append(X)
            mean = sums / n_nodes
            variance = (squares / n_nodes - mean**2).clip(min=0)
            # Averaged columns had variance 1, or contain only rounding errors.
            varies = variance > MIN_VARIANCE * (1 if layer else mean**2)
            self.means[columns] = mean
            self.scales[columns] = np.where(varies, np.sqrt(variance), 1.0)
            n_varying += int(varies.sum())
            Xs = kept
            for X in Xs:
                X -= mean
                X /= self.scales[columns]
        self.total_scale = float(np.sqrt(max(n_varying, 1)))

    def prepare(self, flows: Sequence[MessageFlow]) -> None:
        """Set means and scales, in single precision: their rounding is part of the method."""
        self.standardize(flows)
        self.means = self.means.astype(np.float32).astype(float)
        self.scales = self.scales.astype(np.float32).astype(float)
        self.total_scale = float(np.float32(self.total_scale))


@cache
def _signs(n_relations: int, dim: int) -> np.ndarray:
    """Random signs, shape (n_relations, dim, MAX_RELATION_COLUMNS), with columns of length 1."""
    rng = np.random.default_rng(0)  # part of the method, independent of the user's seed
    signs = rng.choice([-1.0, 1.0], (n_relations, dim, MAX_RELATION_COLUMNS))
    return signs / np.sqrt(MAX_RELATION_COLUMNS)

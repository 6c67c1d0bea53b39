"""Propagation: node features and their averages over neighborhoods, without weights."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import accumulate, pairwise
from numbers import Integral

import numpy as np
import scipy.sparse as sp

from skgraphkde.encoders.base import Encoder, FittedEncoder
from skgraphkde.encoders.message_flow import MessageFlow
from skgraphkde.graphs.refinement import factorize
from skgraphkde.specification import at_least

# A variance below this, or below this share of the squared mean, is a rounding error.
_CONSTANT = 1e-12
# Largest number of columns that the relations add to a layer.
_MOST_COLUMNS = 64


class Propagation(Encoder):
    """Node encoder: node features and their averages over neighborhoods, all standardized.

    It is a graph convolution without weights (Wu et al., ICML 2019) with concatenated layers (Xu et
    al., ICML 2018): X_l = S(Ahat X_{l-1}), X_0 = S(X), where S standardizes the columns over all
    training nodes and Ahat = D^-1/2 (A + I) D^-1/2. The embedding is [X_0, ..., X_L], scaled to a
    total variance of 1.

    If edges have directions or categories, X_l also has the averages of X_{l-1} over the neighbors
    in each relation, that is, in each direction and category (Barcelo et al., LoG 2022; Rossi et
    al., LoG 2023). More than 64 such columns are projected to 64 by random signs, which are the
    same in every fit and preserve distances (Johnson and Lindenstrauss, 1984). The signs depend on
    the order of the columns, and thus on the names of categories: renaming categories can then
    change scores slightly.

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
            dims.append(dims[-1] + min(n_relations * dims[-1], _MOST_COLUMNS))
        super().__init__(specification, in_dim, sum(dims), n_layers)
        self.n_relations = n_relations
        edges = accumulate(dims, initial=0)
        self.columns = [slice(a, b) for a, b in pairwise(edges)]  # of each layer
        self.means, self.scales = np.zeros(self.out_dim), np.ones(self.out_dim)
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
        X, layers = np.asarray(flow.features, dtype=float), []
        for layer, columns in enumerate(self.columns):
            if layer:
                X = self._averages(flow, layer, X)
            X = X - self.means[columns]
            X /= self.scales[columns]
            layers.append(X)
        Z, row = np.empty((len(flow.colors), self.out_dim)), np.arange(len(flow.colors))
        for layer in range(self.n_layers, -1, -1):
            np.divide(layers[layer][row], self.total_scale, out=Z[:, self.columns[layer]])
            if layer:  # the row of each color in the previous layer
                row = flow.parents[layer - 1][row]
        return Z

    def _averages(self, flow: MessageFlow, layer: int, X: np.ndarray) -> np.ndarray:
        """Averages of the previous layer over neighborhoods, and over the relations."""
        own = flow.normalized_adjacencies[layer - 1] @ X
        if not self.n_relations:
            return own
        return np.hstack([own, self._relations(flow.relation_means[layer - 1], X)])

    def _relations(self, means: sp.csr_array, X: np.ndarray) -> np.ndarray:
        """Averages of X over the neighbors in each relation; many columns are projected."""
        n_relations, d = self.n_relations, X.shape[1]
        n = means.shape[0] // n_relations
        if n_relations * d <= _MOST_COLUMNS:
            return (means @ X).reshape(n_relations, n, d).swapaxes(0, 1).reshape(n, -1)
        rows = np.flatnonzero(np.diff(means.indptr))  # few nodes have edges in all relations
        # Nodes with a single neighbor, such as the children of one node, share its row.
        is_single = np.diff(means.indptr)[rows] == 1
        neighbors = rows // n * len(X) + means.indices[means.indptr[rows]]
        first, number = factorize(np.where(is_single, neighbors, -1 - rows))
        averages = means[rows[first]] @ X
        projected = np.empty((len(first), _MOST_COLUMNS))
        cuts = pairwise(np.searchsorted(rows[first], n * np.arange(n_relations + 1)))
        for (start, stop), signs in zip(cuts, _signs(n_relations, d), strict=True):
            np.matmul(averages[start:stop], signs, out=projected[start:stop])
        ones = (np.ones(len(rows)), (rows % n, number))
        return sp.csr_array(ones, shape=(n, len(first))) @ projected

    def standardize(self, flows: Sequence[MessageFlow]) -> None:
        """Set means and scales to those of all nodes, layer by layer; constants are not scaled."""
        Xs, n_varying = [np.array(flow.features, dtype=float) for flow in flows], 0
        self.means, self.scales = np.zeros(self.out_dim), np.ones(self.out_dim)
        for layer, columns in enumerate(self.columns):
            kept, n_nodes = [], 0
            sums, squares = np.zeros(len(self.means[columns])), np.zeros(len(self.means[columns]))
            for flow, X in zip(flows, Xs, strict=True):
                counts = flow.counts[layer]
                X = self._averages(flow, layer, X) if layer else X
                n_nodes += counts.sum()
                sums, squares = sums + counts @ X, squares + counts @ X**2
                if layer < self.n_layers:  # nothing follows the last one
                    kept.append(X)
            mean = sums / n_nodes
            variance = (squares / n_nodes - mean**2).clip(min=0)
            # Averaged columns had variance 1, or contain only rounding errors.
            varies = variance > _CONSTANT * (1 if layer else mean**2)
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
    """Random signs, shape (n_relations, dim, _MOST_COLUMNS), with columns of length 1."""
    rng = np.random.default_rng(0)  # part of the method, independent of the user's seed
    signs = rng.choice([-1.0, 1.0], (n_relations, dim, _MOST_COLUMNS))
    return signs / np.sqrt(_MOST_COLUMNS)

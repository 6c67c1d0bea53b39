"""NodeFeatures: node labels, attributes, degrees and random walks -> one feature vector a node.

In comes a :class:`~skgraphkde.graphs.GraphBatch`. Out goes the same batch with `attributes`
replaced by the features, so the transformer can stand in a pipeline in front of anything that takes
graphs.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin, _fit_context
from sklearn.preprocessing import StandardScaler
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from skgraphkde.graphs import GraphBatch, ranges
from skgraphkde.readers import read_graphs

__all__ = ["NodeFeatures"]

KINDS = ("label", "attribute", "degree", "random_walk")

# Attributes that change along edges by less than this share of what they would by chance.
POSITION = 0.25

# Return probabilities are exact while (nodes x matrix entries) of a graph stays below this, a
# second or so on one core; larger graphs are probed with this many random vectors (standard error
# at most sqrt(2 / 512) = 0.06 for a probability near 1, less below), at a cost linear in the number
# of edges.
EXACT_WALK_COST = 5e8
N_PROBES = 512


class NodeFeatures(TransformerMixin, BaseEstimator, auto_wrap_output_keys=None):  # type: ignore
    """Turn what graphs carry, and how they are wired, into one feature vector a node.

    Parameters
    ----------
    kinds : {"auto", "given"} or tuple of str, default="auto"
        Which features, among

        - "label": one-hot node label; a label that was not there in `fit` becomes the zero vector;
        - "attribute": node attributes, standardized on the training nodes; with "auto" without
          positions: attributes that hardly change along the edges say where in space a node is, in
          a frame of its own for each graph;
        - "degree": one-hot degree in the bins 0, 1, 2-3, 4-7, ... and log(1 + degree);
        - "random_walk": the probability that a walk which steps to a random neighbor (in proportion
          to the edge weights) is back after 2, ..., `n_steps` steps; 0 at an isolated node. Exact,
          but estimated for graphs of many thousand nodes, where node order then matters a little.

        "auto" takes all that the training graphs have. "given" takes the first of label, attribute
        and degree that they have: what papers on these data sets commonly use.
    n_steps : int, default=4
        Longest random walk.

    Attributes
    ----------
    kinds_ : tuple of str
        The features in use.
    label_names_ : tuple
        The vocabulary of node labels, if "label" is in use.
    attributes_ : ndarray of int
        The columns of the attributes in use, if "attribute" is.
    scaler_ : StandardScaler
        Of these attributes.
    n_degree_bins_ : int
        The number of degree bins, if "degree" is in use; larger degrees fall into the last.
    n_features_out_ : int
        The number of features a node.

    Examples
    --------
    >>> import networkx as nx
    >>> from skgraphkde import NodeFeatures
    >>> features = NodeFeatures(kinds=("degree",)).fit([nx.path_graph(3)])
    >>> features.get_feature_names_out().tolist()
    ['degree=0', 'degree=1', 'degree=2-3', 'log(1+degree)']
    >>> features.transform([nx.path_graph(2)]).attributes.round(2)
    array([[0.  , 1.  , 0.  , 0.69],
           [0.  , 1.  , 0.  , 0.69]])
    """

    _parameter_constraints: dict = {
        "kinds": [StrOptions({"auto", "given"}), tuple, list],
        "n_steps": [Interval(Integral, 2, None, closed="left")],
    }

    def __init__(self, kinds: Any = "auto", *, n_steps: int = 4) -> None:
        self.kinds = kinds
        self.n_steps = n_steps

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        return tags

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, graphs: Any, y: Any = None) -> NodeFeatures:
        """Learn the vocabulary of labels, the scale of attributes and the range of degrees.

        Parameters
        ----------
        graphs : GraphBatch or sequence of graphs
            The training graphs, see :func:`skgraphkde.read_graphs`.
        y : None
            Ignored.

        Returns
        -------
        self : NodeFeatures

        Raises
        ------
        ValueError
            If `kinds` names labels or attributes that the graphs do not have.
        """
        batch = read_graphs(graphs)
        self.kinds_ = _resolve_kinds(self.kinds, batch)  # the only step that can fail
        n_columns = 0
        if "label" in self.kinds_:
            present = np.unique(np.asarray(batch.labels))
            self.label_names_ = tuple(batch.label_names[code] for code in present)
            n_columns += len(self.label_names_)
        if "attribute" in self.kinds_:
            attributes = np.asarray(batch.attributes)
            self.n_attributes_in_ = attributes.shape[1]
            self.attributes_ = np.arange(self.n_attributes_in_)
            if self.kinds == "auto":
                self.attributes_ = np.flatnonzero(~_positions(batch))
            self.scaler_ = StandardScaler().fit(attributes[:, self.attributes_])
            n_columns += len(self.attributes_)
        if "degree" in self.kinds_:
            self.n_degree_bins_ = int(_degree_bin(batch.degrees).max()) + 1
            n_columns += self.n_degree_bins_ + 1
        if "random_walk" in self.kinds_:
            n_columns += self.n_steps - 1
        self.n_features_out_ = n_columns
        return self

    def transform(self, graphs: Any) -> GraphBatch:
        """Compute the features.

        Parameters
        ----------
        graphs : GraphBatch or sequence of graphs
            See :func:`skgraphkde.read_graphs`.

        Returns
        -------
        GraphBatch
            The same graphs; `attributes` has shape (n_nodes, `n_features_out_`).

        Raises
        ------
        ValueError
            If labels or attributes that `fit` saw are missing, or attributes have another width.
        """
        check_is_fitted(self)
        batch = read_graphs(graphs)
        self._check(batch)
        return self._transform(batch)

    def _check(self, batch: GraphBatch) -> None:
        """Raise if the batch lacks what `fit` saw; warn once of labels that it did not see."""
        if "label" in self.kinds_:
            if batch.labels is None:
                raise ValueError("fit saw node labels; these graphs have none")
            known = set(self.label_names_)
            codes = np.unique(batch.labels)
            unseen = [str(batch.label_names[c]) for c in codes if batch.label_names[c] not in known]
            if unseen:
                warnings.warn(
                    f"node labels that fit did not see count as no label: {', '.join(unseen)}",
                    stacklevel=3,
                )
        if "attribute" in self.kinds_:
            width = 0 if batch.attributes is None else batch.attributes.shape[1]
            if width != self.n_attributes_in_:
                raise ValueError(
                    f"fit saw {self.n_attributes_in_} node attributes; these graphs have "
                    f"{width or 'none'}"
                )

    def _transform(self, batch: GraphBatch) -> GraphBatch:
        """`transform` of a batch that `_check` has let pass."""
        blocks = [getattr(self, f"_{kind}")(batch) for kind in self.kinds_]
        return batch.replace(attributes=blocks[0] if len(blocks) == 1 else np.hstack(blocks))

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
        names: list[str] = []
        for kind in self.kinds_:
            if kind == "label":
                names += [f"label={name}" for name in self.label_names_]
            elif kind == "attribute":
                names += [f"attribute_{i}" for i in self.attributes_]
            elif kind == "degree":
                firsts = [0] + [2**k for k in range(self.n_degree_bins_ - 1)]
                names += [f"degree={d}" if d < 2 else f"degree={d}-{2 * d - 1}" for d in firsts]
                names.append("log(1+degree)")
            else:
                names += [f"return_{k}" for k in range(2, self.n_steps + 1)]
        return np.array(names, dtype=object)

    # -- one method a kind: GraphBatch -> (n_nodes, ?) ---------------------------------------------

    def _label(self, batch: GraphBatch) -> np.ndarray:
        column = {name: i for i, name in enumerate(self.label_names_)}
        unseen = len(column)
        codes = np.array([column.get(name, unseen) for name in batch.label_names], dtype=int)
        codes = codes[batch.labels]
        one_hot = np.zeros((batch.n_nodes, unseen))
        known = np.flatnonzero(codes < unseen)
        one_hot[known, codes[known]] = 1
        return one_hot

    def _attribute(self, batch: GraphBatch) -> np.ndarray:
        return self.scaler_.transform(np.asarray(batch.attributes)[:, self.attributes_])

    def _degree(self, batch: GraphBatch) -> np.ndarray:
        features = np.zeros((batch.n_nodes, self.n_degree_bins_ + 1))
        bins = np.minimum(_degree_bin(batch.degrees), self.n_degree_bins_ - 1)
        features[np.arange(batch.n_nodes), bins] = 1
        np.log1p(batch.degrees, out=features[:, -1])
        return features

    def _random_walk(self, batch: GraphBatch) -> np.ndarray:
        return return_probabilities(batch, self.n_steps)


def _resolve_kinds(kinds: Any, batch: GraphBatch) -> tuple[str, ...]:
    has = {"label": batch.labels is not None, "attribute": batch.attributes is not None}
    available = [kind for kind in KINDS if has.get(kind, True)]
    if isinstance(kinds, str) and kinds == "given":
        return (available[0],)
    if isinstance(kinds, str):
        only_positions = batch.attributes is not None and _positions(batch).all()
        return tuple(kind for kind in available if kind != "attribute" or not only_positions)
    unknown = [kind for kind in kinds if kind not in KINDS]
    if unknown or not kinds:
        raise ValueError(f"node features are a non-empty selection of {KINDS}, got {kinds!r}")
    lacking = [kind for kind in kinds if kind not in available]
    if lacking:
        raise ValueError(
            f"the node features {lacking} were asked for, but the graphs carry none; networkx "
            "graphs carry labels in the node attribute 'label' and attributes in 'x'"
        )
    return tuple(kind for kind in KINDS if kind in kinds)


def _positions(batch: GraphBatch) -> np.ndarray:
    """Which attributes are positions: bool, shape (n_attributes,).

    The mean squared difference along edges is twice the variance where neighbors have nothing in
    common. Coordinates of atoms have 0.03 to 0.19 of that, chemical and physical properties 0.39 to
    1.17 (BZR, COX2, DHFR, AIDS; AIDS, ENZYMES, PROTEINS).
    """
    values, edges = np.asarray(batch.attributes, dtype=float), batch.adjacency.tocoo()
    if not edges.nnz:
        return np.zeros(values.shape[1], dtype=bool)
    # In units of the largest, whose squares may overflow.
    values = values / np.maximum(np.abs(values).max(axis=0), np.finfo(float).tiny)
    along_edges = ((values[edges.row] - values[edges.col]) ** 2).mean(axis=0)
    return along_edges < POSITION * 2 * values.var(axis=0)


def _degree_bin(degrees: np.ndarray) -> np.ndarray:
    """0 -> 0, 1 -> 1, 2-3 -> 2, 4-7 -> 3, ...: the bit length."""
    return np.frexp(degrees)[1]


def return_probabilities(batch: GraphBatch, n_steps: int) -> np.ndarray:
    """Probability that a random walk is back at its node after 2, ..., n_steps steps.

    With S = D^-1/2 A D^-1/2, which has the diagonal of (D^-1 A)^k for every power k, and any Q with
    Q Q' = I, the diagonal of S^(a+b) is the row sum of (S^a Q) * (S^b Q). Q is the identity for
    graphs of moderate size, laid over each other in the columns because S is block-diagonal; for
    large graphs it is a matrix of random signs, right in expectation.

    Parameters
    ----------
    batch : GraphBatch
    n_steps : int

    Returns
    -------
    ndarray of shape (n_nodes, n_steps - 1)
        In [0, 1].
    """
    sizes = batch.n_nodes_per_graph
    entries = np.diff(batch.adjacency.indptr[batch.node_ptr])
    exact = sizes * np.maximum(entries, 1) <= EXACT_WALK_COST
    result = np.empty((batch.n_nodes, n_steps - 1))
    for index in _chunks(sizes, np.flatnonzero(exact)):
        nodes = ranges(batch.node_ptr[index], batch.node_ptr[index + 1])
        result[nodes] = _walk(batch[index], n_steps, _identity)
    for i in np.flatnonzero(~exact):  # one at a time: its probes do not depend on its neighbors
        result[batch.node_ptr[i] : batch.node_ptr[i + 1]] = _walk(batch[i], n_steps, _signs)
    return np.clip(result, 0.0, 1.0)


def _chunks(sizes: np.ndarray, index: np.ndarray) -> list[np.ndarray]:
    """Split `index` into runs of graphs of like size, 2^20 numbers (8 MiB, a cache full) a run."""
    if not len(index):
        return []
    by_size = index[np.argsort(sizes[index], kind="stable")]
    octave = np.frexp(sizes[by_size])[1]
    load = np.cumsum(sizes[by_size] ** 2) // 2**20
    return np.split(by_size, np.flatnonzero(np.diff(octave) + np.diff(load)) + 1)


def _walk(batch: GraphBatch, n_steps: int, basis: Callable) -> np.ndarray:
    """Row sums of (S^a Q) * (S^b Q) for a + b = 2, ..., n_steps; `basis` gives Q in blocks."""
    strength = np.asarray(batch.adjacency.sum(axis=1)).ravel()
    scale = sp.diags_array(1.0 / np.sqrt(np.where(strength > 0, strength, 1.0)))
    S = (scale @ batch.adjacency @ scale).tocsr()
    result = np.zeros((batch.n_nodes, n_steps - 1))
    for Q in basis(batch):
        V = S @ Q
        for k in range(2, n_steps + 1, 2):  # here V = S^(k/2) Q
            result[:, k - 2] += np.einsum("ij,ij->i", V, V)
            if k < n_steps:
                V, V_before = S @ V, V
                result[:, k - 1] += np.einsum("ij,ij->i", V, V_before)
    return result


def _identity(batch: GraphBatch, width: int = 128) -> Iterator[np.ndarray]:
    """The identity of each graph, laid over each other, in blocks of columns."""
    place = np.arange(batch.n_nodes) - batch.node_ptr[batch.graph_of_node]
    total = int(batch.n_nodes_per_graph.max())
    for first in range(0, total, width):
        columns = np.arange(first, min(first + width, total))
        yield (place[:, np.newaxis] == columns).astype(float)


def _signs(batch: GraphBatch) -> Iterator[np.ndarray]:
    """Random signs of variance 1 / N_PROBES, the same ones for the same number of nodes."""
    rng = np.random.default_rng(
        0
    )  # part of the method, like a quadrature rule: not the user's seed
    yield rng.choice([-1.0, 1.0], (batch.n_nodes, N_PROBES)) / np.sqrt(N_PROBES)

"""NodeFeatures: node labels, attributes, degrees and random walks -> one feature vector per node.

It is a transformer: the graphs come back with their attributes replaced by the features, so it can
precede any estimator that takes graphs in a pipeline.
"""

from __future__ import annotations

import warnings
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import TransformerMixin, _fit_context
from sklearn.preprocessing import StandardScaler
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.graphs.random_walks import return_probabilities
from skgraphkde.graphs.readers import read_graphs
from skgraphkde.persistence import State, register
from skgraphkde.specification import Specification, at_least

__all__ = ["NodeFeatures"]

KINDS = ("label", "attribute", "degree", "random_walk")

# What `fit` learns of each kind, beside the scaler.
_FITTED: dict[str, tuple[str, ...]] = {
    "label": ("label_names_",),
    "attribute": ("n_attributes_in_", "attributes_"),
    "degree": ("n_degree_bins_",),
    "random_walk": (),
}

# Positions are attributes that change along edges by less than this share of what chance would
# give.
POSITION = 0.25
# Longest random walk, unless n_steps says otherwise.
N_STEPS = 4
# No degree has more bits.
MOST_DEGREE_BINS = 64


@register
class NodeFeatures(TransformerMixin, Specification, auto_wrap_output_keys=None):  # type: ignore
    """Turn what graphs carry, and how they are wired, into one feature vector per node.

    Parameters
    ----------
    kinds : {"auto", "given"} or tuple of str, default="auto"
        Which features, of

        - "label": one-hot node label; a label that `fit` did not see becomes the zero vector;
        - "attribute": node attributes, standardized on the training nodes. "auto" leaves out
          positions, which are attributes that hardly change along the edges: they say where in
          space a node is, in a frame that differs from graph to graph;
        - "degree": one-hot degree in the bins 0, 1, 2-3, 4-7, ... and log(1 + degree);
        - "random_walk": the probability that a walk which steps to a random neighbor (in proportion
          to the edge weights) is back after 2, ..., `n_steps` steps; 0 at an isolated node. It is
          exact, but estimated for graphs of many thousand nodes, where node order matters a little.

        "auto" takes all that the training graphs have. "given" takes the first of label, attribute
        and degree that they have, which papers on these data sets commonly use.
    n_steps : int, default=None
        Length of the longest random walk, at least 2. None is 4. Only with random walks.

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
        The number of degree bins, if "degree" is in use; larger degrees fall into the last one.
    n_features_out_ : int
        The number of features per node.

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
        "n_steps": [at_least(2, Integral), None],
    }

    def __init__(self, kinds: Any = "auto", *, n_steps: int | None = None) -> None:
        self.kinds = kinds
        self.n_steps = n_steps

    def _validate_values(self) -> None:
        if isinstance(self.kinds, str):
            has_walks = self.kinds == "auto"
        else:
            unknown = [kind for kind in self.kinds if kind not in KINDS]
            if unknown or not self.kinds:
                raise ValueError(
                    "The 'kinds' parameter of NodeFeatures must be 'auto', 'given' or a non-empty "
                    f"selection of {KINDS}. Got {self.kinds!r} instead."
                )
            has_walks = "random_walk" in self.kinds
        if self.n_steps is not None and not has_walks:
            raise ValueError(
                f"n_steps is the length of random walks, which kinds={self.kinds!r} does not "
                "include: leave it out, or add 'random_walk'"
            )

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
        self._validate_values()
        batch = read_graphs(graphs)
        self.kinds_ = _resolve_kinds(self.kinds, batch)  # the last step that can fail
        self.n_steps_ = N_STEPS if self.n_steps is None else self.n_steps
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
            n_columns += self.n_steps_ - 1
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
        self.check_batch(batch)
        return self.transform_batch(batch)

    def check_batch(self, batch: GraphBatch) -> None:
        """Raise if the batch lacks what `fit` saw; warn once of labels that it did not see."""
        if "label" in self.kinds_:
            batch.check_labels()
            known = set(self.label_names_)
            codes = np.unique(np.asarray(batch.labels))
            unseen = [str(batch.label_names[c]) for c in codes if batch.label_names[c] not in known]
            few = ", ".join([*unseen[:5], *[f"and {len(unseen) - 5} more"] * (len(unseen) > 5)])
            if unseen:
                warnings.warn(
                    f"node labels that fit did not see have no feature of their own: {few}",
                    stacklevel=3,
                )
        if "attribute" in self.kinds_:
            width = 0 if batch.attributes is None else batch.attributes.shape[1]
            if width != self.n_attributes_in_:
                raise ValueError(
                    f"fit saw {self.n_attributes_in_} node attributes; these graphs have "
                    f"{width or 'none'}"
                )

    def transform_batch(self, batch: GraphBatch) -> GraphBatch:
        """The features of a batch that :meth:`check_batch` accepts."""
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
                names += [f"return_{k}" for k in range(2, self.n_steps_ + 1)]
        return np.array(names, dtype=object)

    # -- state -------------------------------------------------------------------------------------

    def to_state(self) -> dict[str, Any]:
        """What a file keeps: the parameters, and what `fit` learned."""
        if not hasattr(self, "kinds_"):
            return {"parameters": self.get_params(deep=False), "fitted": None}
        names = [name for kind in self.kinds_ for name in _FITTED[kind]]
        fitted: dict[str, Any] = {
            name: getattr(self, name) for name in ("kinds_", "n_steps_", *names)
        }
        if "attribute" in self.kinds_:
            for name in ("mean_", "var_", "scale_"):
                fitted[name] = getattr(self.scaler_, name)
            fitted["n_samples_seen_"] = int(self.scaler_.n_samples_seen_)
        return {"parameters": self.get_params(deep=False), "fitted": fitted}

    @classmethod
    def from_state(cls, state: State) -> NodeFeatures:
        """The features in a file."""
        features = cls(**state.take("parameters", dict))
        features.validate()
        fitted: Any = state.take("fitted", (dict, type(None)))
        if fitted is not None:
            features._take_fitted(State(cls.__name__, fitted))
        return features

    def _take_fitted(self, state: State) -> None:
        self.kinds_ = state.take("kinds_", tuple)
        selected = tuple(kind for kind in KINDS if kind in self.kinds_)
        state.check(selected and selected == self.kinds_, "kinds_ is not a selection of features")
        self.n_steps_ = state.take_count("n_steps_")
        expected = N_STEPS if self.n_steps is None else self.n_steps
        state.check(self.n_steps_ == expected, "n_steps_ contradicts n_steps")
        self.n_features_out_ = 0
        if "label" in self.kinds_:
            self.label_names_ = state.take("label_names_", tuple)
            is_vocabulary = len(set(self.label_names_)) == len(self.label_names_) > 0
            state.check(is_vocabulary, "label_names_ is empty or has a label twice")
            self.n_features_out_ += len(self.label_names_)
        if "attribute" in self.kinds_:
            self._take_scaler(state)
            self.n_features_out_ += len(self.attributes_)
        if "degree" in self.kinds_:
            self.n_degree_bins_ = state.take_count("n_degree_bins_", MOST_DEGREE_BINS)
            state.check(self.n_degree_bins_, "n_degree_bins_ is 0")
            self.n_features_out_ += self.n_degree_bins_ + 1
        if "random_walk" in self.kinds_:
            self.n_features_out_ += self.n_steps_ - 1
        state.check_empty()

    def _take_scaler(self, state: State) -> None:
        self.n_attributes_in_ = state.take_count("n_attributes_in_")
        last = self.n_attributes_in_ - 1
        self.attributes_ = state.take_array("attributes_", np.int64, (None,), low=0, high=last)
        n = len(self.attributes_)
        scaler = StandardScaler()
        scaler.mean_ = state.take_array("mean_", float, (n,))
        scaler.var_ = state.take_array("var_", float, (n,), low=0)
        scaler.scale_ = state.take_array("scale_", float, (n,), low=np.finfo(float).tiny)
        scaler.n_features_in_ = n
        scaler.n_samples_seen_ = np.int64(state.take_count("n_samples_seen_"))
        self.scaler_ = scaler

    # -- one method per kind: GraphBatch -> (n_nodes, ?) -------------------------------------------

    def _label(self, batch: GraphBatch) -> np.ndarray:
        column = {name: i for i, name in enumerate(self.label_names_)}
        unseen = len(column)
        codes = batch.label_codes(column, unseen)
        one_hot = np.zeros((batch.n_nodes, unseen))
        known = np.flatnonzero(codes < unseen)
        one_hot[known, codes[known]] = 1
        return one_hot

    def _attribute(self, batch: GraphBatch) -> np.ndarray:
        return self.standardized_attributes(batch)

    def standardized_attributes(self, batch: GraphBatch) -> np.ndarray:
        """The attributes in use, standardized: one row per node, one column for each."""
        return self.scaler_.transform(np.asarray(batch.attributes)[:, self.attributes_])

    def _degree(self, batch: GraphBatch) -> np.ndarray:
        features = np.zeros((batch.n_nodes, self.n_degree_bins_ + 1))
        bins = np.minimum(_degree_bin(batch.degrees), self.n_degree_bins_ - 1)
        features[np.arange(batch.n_nodes), bins] = 1
        np.log1p(batch.degrees, out=features[:, -1])
        return features

    def _random_walk(self, batch: GraphBatch) -> np.ndarray:
        return return_probabilities(batch, self.n_steps_)


def _resolve_kinds(kinds: Any, batch: GraphBatch) -> tuple[str, ...]:
    has = {"label": batch.labels is not None, "attribute": batch.attributes is not None}
    available = [kind for kind in KINDS if has.get(kind, True)]
    if isinstance(kinds, str) and kinds == "given":
        return (available[0],)
    if isinstance(kinds, str):
        only_positions = batch.attributes is not None and _positions(batch).all()
        return tuple(kind for kind in available if kind != "attribute" or not only_positions)
    lacking = [kind for kind in kinds if kind not in available]
    if lacking:
        raise ValueError(
            f"the node features {lacking} were asked for, but the graphs carry none; networkx "
            "graphs carry labels in the node attribute 'label' and attributes in 'x'"
        )
    return tuple(kind for kind in KINDS if kind in kinds)


def _positions(batch: GraphBatch) -> np.ndarray:
    """Which attributes are positions: bool, shape (n_attributes,).

    The mean squared difference along edges is twice the variance if neighbors have nothing in
    common. Coordinates of atoms have 0.03 to 0.19 of that (BZR, COX2, DHFR, AIDS), chemical and
    physical properties 0.39 to 1.17 (AIDS, ENZYMES, PROTEINS).
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

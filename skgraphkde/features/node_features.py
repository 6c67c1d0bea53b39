"""NodeFeatures: node labels, attributes, degrees and random walks -> one feature vector per node.

NodeFeatures is a transformer: it replaces the attributes of graphs by the features, so it can
precede any estimator of graphs in a pipeline.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import TransformerMixin, _fit_context
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from skgraphkde._utils import warn
from skgraphkde.features.blocks import (
    Block,
    ConstantBlock,
    DegreeBlock,
    EdgeBlock,
    LabelBlock,
    NumberBlock,
    RawNumberBlock,
    WalkBlock,
    is_spatial,
)
from skgraphkde.features.categories import values_in_use, warn_of_alike, warn_of_unseen
from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.graphs.naming import listed
from skgraphkde.graphs.readers import read_graphs
from skgraphkde.graphs.relations import EdgeGroups
from skgraphkde.specification import Specification, at_least

__all__ = ["NodeFeatures"]

# Share of graphs with categories of their own, up to which these count as known.
FEW_WITH_OWN = 0.05
#: Kinds of features, in the order of their columns.
BLOCKS = (
    LabelBlock,
    NumberBlock,
    RawNumberBlock,
    DegreeBlock,
    WalkBlock,
    EdgeBlock,
    ConstantBlock,
)
KINDS = tuple(block.kind for block in BLOCKS)
#: Kinds that "auto" and "given" do not choose.
ON_REQUEST = (RawNumberBlock.kind, ConstantBlock.kind)
# Default of n_steps.
N_STEPS = 4


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
          to the edge weights, returns after 2, ..., `n_steps` steps; 0 for an isolated node.
          Directed graphs also have the probabilities of walks along the arcs. The probabilities are
          exact, except for graphs of many thousand nodes, for which they are estimated and depend
          slightly on the node order;
        - "edge": for directed graphs and edges with data, the logarithm of the number of edges of
          each direction and category, and means of the numbers of these edges;
        - "constant": 1.

        "auto" uses all kinds that the training graphs have, except for "raw_attribute" and
        "constant". "given" uses the first of label, attribute and degree that they have, which
        papers on these data sets commonly use.
    n_steps : int, default=None
        Length of the longest random walk, at least 2. None is 4. Only allowed with random walks.

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
                "include: omit n_steps, or add 'random_walk'"
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
            Training graphs, see :func:`skgraphkde.read_graphs`.
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
        left_out = np.zeros(sum(width for _, width in batch.schema.node_numbers), dtype=bool)
        if self.kinds == "auto" and batch.attributes is not None:
            left_out = is_spatial(batch)
        if left_out.any():
            columns = np.array(batch.schema.node_columns, dtype=object)[left_out].tolist()
            warn(
                f"left out of the features: node number {listed(list(map(repr, columns)))}, which "
                "hardly changes along edges, like a coordinate: to use it, name it in the schema, "
                "node_numbers=..."
            )
        kinds = _resolve_kinds(self.kinds, batch, left_out)
        edge_groups = EdgeGroups.fit(batch)
        used = np.flatnonzero(~left_out)
        fitted: dict[str, Callable[[], Block]] = {
            "label": lambda: LabelBlock.fit(batch),
            "attribute": lambda: NumberBlock.fit(batch, used),
            "raw_attribute": lambda: RawNumberBlock.fit(batch, used),
            "degree": lambda: DegreeBlock.fit(batch),
            "random_walk": lambda: WalkBlock(self.n_steps or N_STEPS, batch.directed),
            "edge": lambda: EdgeBlock.fit(batch, edge_groups),
            "constant": ConstantBlock,
        }
        self.blocks_ = tuple(fitted[kind]() for kind in kinds)
        self.kinds_, self.edge_groups_ = kinds, edge_groups
        warn_of_alike(batch)
        return self

    @property
    def n_features_out_(self) -> int:
        """Number of features per node."""
        return sum(block.n_columns for block in self.blocks_)

    def block(self, kind: str) -> Any:
        """Block of one kind; None if it is not in use."""
        return next((block for block in self.blocks_ if block.kind == kind), None)

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
            If labels or attributes of `fit` are missing, or the number of attributes differs.
        """
        check_is_fitted(self)
        batch = read_graphs(graphs)
        self.check_batch(batch)
        return self.transform_batch(batch)

    def check_batch(self, batch: GraphBatch, references: GraphBatch | None = None) -> None:
        """Check that a batch has the attributes of `fit`; warn once about unseen categories.

        Parameters
        ----------
        batch : GraphBatch
        references : GraphBatch, default=None
            Current references, whose categories count as seen.

        Raises
        ------
        ValueError
            If labels or attributes of `fit` are missing, or the number of attributes differs.
        """
        self.check_columns(batch)
        labels = self.block("label")
        if labels is None:
            return
        known = dict(zip(labels.categories, labels.vocabularies, strict=True))
        if references is not None:
            added = values_in_use(references, "node")
            known = {name: (*values, *added[name]) for name, values in known.items()}
        warn_of_unseen("node labels", values_in_use(batch, "node"), known)

    def check_columns(self, batch: GraphBatch) -> None:
        """Raise a ValueError if the batch lacks labels or attributes of `fit`."""
        labels = self.block("label")
        numbers = self.block("attribute") or self.block("raw_attribute")
        if labels is not None:
            batch.check_labels()
        if numbers is not None:
            width = 0 if batch.attributes is None else batch.attributes.shape[1]
            if width != len(numbers.columns):
                raise ValueError(
                    f"fit saw {len(numbers.columns)} node attributes; these graphs have "
                    f"{width or 'none'}"
                )

    def transform_batch(self, batch: GraphBatch) -> GraphBatch:
        """Compute the features of a batch that :meth:`check_batch` accepts.

        If edge groups are distinguished, the arcs carry their groups as labels.
        """
        blocks = [block(batch) for block in self.blocks_]
        attributes = np.concatenate(blocks, axis=1)
        groups, has_groups = self.edge_groups_, bool(self.edge_groups_.categories)
        name = "+".join(batch.schema.edge_categories) or "label"
        return batch.replace(
            attributes=attributes,
            edge_labels=groups.of_arcs(batch) if has_groups else None,
            edge_label_names=groups.names if has_groups else (),
            schema=replace(
                batch.schema,
                node_numbers=(("x", attributes.shape[1]),),
                edge_categories=(name,) if has_groups else (),
            ),
        )

    def without_own_values(self, batch: GraphBatch) -> tuple[NodeFeatures, np.ndarray]:
        """Forget the categories of nodes that only one graph has.

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
            which hardly changes a calibration, nothing is forgotten.
        """
        labels, has_own = self.block("label"), np.zeros(len(batch), dtype=bool)
        if labels is not None:
            forgetful, has_own = labels.without_own(batch)
        if has_own.mean() <= FEW_WITH_OWN:
            return self, np.zeros(len(batch), dtype=bool)
        features = copy.copy(self)
        features.blocks_ = tuple(forgetful if x is labels else x for x in self.blocks_)
        return features, has_own

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

    def units(self) -> list[tuple[float, float]]:
        """Mean and scale of each feature in its own units; (0, 1) if it is not standardized."""
        return [block.units().get(x, (0.0, 1.0)) for block in self.blocks_ for x in block.names]

    @property
    def kind_of_column(self) -> list[str]:
        """Kind of each feature, such as "degree"."""
        return [block.kind for block in self.blocks_ for _ in block.names]


def _resolve_kinds(kinds: Any, batch: GraphBatch, left_out: np.ndarray) -> tuple[str, ...]:
    has = {
        "label": batch.labels is not None,
        "attribute": batch.attributes is not None,
        "raw_attribute": batch.attributes is not None,
        "edge": batch.schema.is_typed,
    }
    available = [kind for kind in KINDS if has.get(kind, True)]
    if isinstance(kinds, str):
        chosen = [kind for kind in available if kind not in ON_REQUEST]
        if kinds == "given":
            return (chosen[0],)
        return tuple(kind for kind in chosen if kind != "attribute" or not left_out.all())
    lacking = [kind for kind in kinds if kind not in available]
    if lacking:
        raise ValueError(
            f"the node features {lacking} were requested, but the graphs carry none; networkx "
            "graphs carry labels in the node attribute 'label' and attributes in 'x'"
        )
    return tuple(kind for kind in KINDS if kind in kinds)

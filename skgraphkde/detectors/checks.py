"""Checks: a detector of a file -> an error if its arrays do not fit together.

Compiled loops, SciPy's as well as ours, read and write where indices say, and a file can say
anything. So nothing is computed of what it holds before it is here.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from skgraphkde.core.distances.base import FittedDistance
from skgraphkde.core.graphs.arrays import held_by
from skgraphkde.core.graphs.batch import GraphBatch
from skgraphkde.core.graphs.schema import PARTS
from skgraphkde.core.points.features import EdgeBlock, LabelBlock, NodeFeatures, NumberBlock
from skgraphkde.core.points.propagation import FittedEncoder, FittedPropagation
from skgraphkde.core.scoring.calibration import FittedCalibration
from skgraphkde.core.scoring.combination import LogPValues
from skgraphkde.core.scoring.model import GraphModel
from skgraphkde.core.views.base import View
from skgraphkde.core.views.categories import CategoryCounts, ReferenceTable, Table
from skgraphkde.core.views.density import Density
from skgraphkde.core.views.embedding import Embedding
from skgraphkde.core.views.namesakes import Namesakes
from skgraphkde.core.views.neighborhoods import ComparedNeighborhoods, NeighborhoodCounts
from skgraphkde.core.views.numbers import NumberPoints, Numbers
from skgraphkde.core.views.statistics import Statistics

LARGEST = float(np.finfo(float).max)
WHOLE, ANY, BOOL = "iu", "iuf", "b"  # kinds of dtypes


class Expected(NamedTuple):
    """What an array must be; NaN is no number."""

    name: str
    array: Any
    shape: tuple[int, ...]
    least: float = -LARGEST
    most: float = LARGEST
    kinds: str = ANY

    def check(self, owner: str) -> None:
        """Raise a ValueError if the array is something else."""
        x = self.array
        fits = isinstance(x, np.ndarray) and x.dtype.kind in self.kinds and x.shape == self.shape
        if not fits or not ((self.least <= x) & (x <= self.most)).all():
            raise ValueError(f"{self.name} of {owner}")


def check_arrays(detector: Any) -> None:
    """Check all arrays that a detector of a file holds, and the classes of what is called.

    Parameters
    ----------
    detector : BaseGraphDetector

    Raises
    ------
    Exception
        Of any class, if something does not fit.
    """
    n = len(detector.training_graphs_)
    scores = detector.calibration_scores_
    arrays = [Expected("verdicts_", detector.verdicts_, (n,), -1, 1)]
    fitted = detector.fitted_graphs_
    arrays.append(Expected("fitted_graphs_", fitted, (len(fitted),), 0, n - 1, WHOLE))
    if hasattr(detector, "training_scores_"):
        index = detector.calibration_index_
        arrays.append(Expected("training_scores_", detector.training_scores_, (n,)))
        arrays.append(Expected("calibration_index_", index, (n,), -1, len(scores) - 1, WHOLE))
    known = detector.verdicts_[detector.calibration_graphs_]
    arrays.append(Expected("verdicts_ of calibration_graphs_", known, scores.shape, 0, 1))
    for x in arrays:
        x.check("the detector")
    for held in held_by([detector]):
        for x in expected(held, n):
            x.check(type(held).__name__)


@singledispatch
def expected(x: Any, n: int) -> Iterator[Expected]:
    """Generate what the arrays of an object must be; `n` is the number of training graphs."""
    yield from ()


def _are(cls: type, *objects: Any) -> None:
    """Raise a TypeError if some objects are not of a class: only then, they are called."""
    for x in objects:
        if not isinstance(x, cls):
            raise TypeError(f"a {type(x).__name__} in place of a {cls.__name__}")


@expected.register(sp.sparray)
@expected.register(sp.spmatrix)
def _(x: Any, n: int) -> Iterator[Expected]:
    _are(sp.csr_array, x)
    n_entries = len(x.data)
    yield Expected("indptr", x.indptr, (x.shape[0] + 1,), 0, n_entries, WHOLE)
    yield Expected("indptr", np.diff(x.indptr), (x.shape[0],), 0, n_entries, WHOLE)
    yield Expected("indptr", x.indptr[-1:] - n_entries, (1,), 0, 0)
    yield Expected("indices", x.indices, (n_entries,), 0, x.shape[1] - 1, WHOLE)
    yield Expected("data", x.data, (n_entries,))
    x.check_format(full_check=True)


@expected.register
def _(x: GraphBatch, n: int) -> Iterator[Expected]:
    A = x.adjacency
    n_graphs = len(x.node_ptr) - 1
    n_arcs = len(A.data)
    n_nodes = len(A.indptr) - 1
    yield Expected("shape", np.array(A.shape), (2,), n_nodes, n_nodes)
    yield Expected("node_ptr", x.node_ptr, (n_graphs + 1,), 0, n_nodes, WHOLE)
    yield Expected("node_ptr", x.node_ptr[[0, -1]] - [0, n_nodes], (2,), 0, 0)
    sizes = np.diff(x.node_ptr)
    yield Expected("node_ptr", sizes, (n_graphs,), 1)
    yield from expected(A, n)
    of_node = np.arange(n_graphs).repeat(sizes)
    between = of_node[A.indices] - of_node.repeat(np.diff(A.indptr))
    yield Expected("an edge between graphs", between, (n_arcs,), 0, 0)
    yield Expected("edge weights", A.data, (n_arcs,), np.finfo(float).tiny)
    if x.name_keys is not None:
        yield Expected("name_keys", x.name_keys, (n_nodes,), 0, kinds="u")
    for part, n_rows in zip(PARTS, (n_nodes, n_arcs, n_graphs), strict=True):
        labels, names, numbers = x.data(part)
        if labels is not None:
            yield Expected(f"{part} labels", labels, (n_rows,), 0, len(names) - 1, WHOLE)
        if numbers is not None:
            width = sum(width for _, width in getattr(x.schema, f"{part}_numbers"))
            if x.schema.missing != "error":
                numbers = np.where(np.isnan(numbers), 0.0, numbers)
            yield Expected(f"{part} numbers", numbers, (n_rows, width))


@expected.register
def _(x: FittedCalibration, n: int) -> Iterator[Expected]:
    yield Expected("scores", x.scores, (len(x.graphs),))
    yield Expected("graphs", x.graphs, (len(x.scores),), 0, n - 1, WHOLE)


@expected.register
def _(x: GraphModel, n: int) -> Iterator[Expected]:
    _are(Embedding, x.embedding)
    _are(GraphBatch, x.references)
    _are(CategoryCounts, x.categories)
    _are(View, *x.views)
    n_views, n_known = x.training_scores.shape
    n_references = len(x.references)
    yield Expected("training_scores", x.training_scores, (len(x.views), min(n_known, n)))
    yield Expected("view_weights", x.view_weights, (n_views,), 0)
    yield Expected("view_weights", np.array(x.view_weights.sum()), (), np.finfo(float).tiny)
    yield Expected("reference_index", x.reference_index, (n_references,), 0, n_known - 1, WHOLE)
    yield Expected("reference_index", np.diff(x.reference_index), (n_references - 1,), 1)
    if x.learned_weights is not None:
        yield Expected("learned_weights", x.learned_weights.views, (n_views,))
        yield Expected("learned_weights", x.learned_weights.training, (n_views, n_known))
    for of_view, _ in zip(x.log_p_values, x.views, strict=True):
        yield Expected("log_p_values", of_view.scores, (n_known,))
    for view in x.views:
        if isinstance(view, ComparedNeighborhoods):
            _are(NeighborhoodCounts, view.counts_)
            known, n_colors = view.counts_.counts.shape
            yield Expected("counts_", np.array(known), (), n_references, n_references)
            most = len(view.neighborhoods_.table.colors)
            yield Expected("counts_", np.array(n_colors), (), 0, most)
        if isinstance(view, Statistics):
            table = np.where(np.isnan(view.table_), 0.0, view.table_)
            yield Expected("table_", table, (n_references, len(view.forms_)))
            yield Expected("steps_", view.steps_, (len(view.forms_),))
        if isinstance(view, Statistics | Numbers):
            yield Expected("columns_", view.columns_, (len(view.columns_),), 0, kinds=WHOLE)
        if isinstance(view, Namesakes):
            n_names = len(view.names_)
            yield Expected("names_", view.names_, (n_names,), 1, kinds="u")
            is_ascending = view.names_[1:] > view.names_[:-1]
            yield Expected("order of names_", is_ascending, (n_names - 1,), 1, 1, BOOL)
            size = np.array(len(view.references_))
            yield Expected("references_", size, (), n_known, n_known)
            _are(np.ndarray, view.references_.name_keys)
        if isinstance(view, Density | Numbers):
            size = np.array(len(view.references_))
            yield Expected("references_", size, (), n_references, n_references)


@expected.register
def _(x: Embedding, n: int) -> Iterator[Expected]:
    _are(NodeFeatures, x.features)
    _are(FittedEncoder, x.encoder)
    _are(View, *x.densities)
    _are(FittedDistance, *(density.distance_ for density in x.densities))
    yield from ()


@expected.register
def _(x: LogPValues, n: int) -> Iterator[Expected]:
    yield Expected("_sorted", x._sorted - np.sort(x.scores), np.shape(x.scores), 0, 0)
    yield Expected("tail", np.array([x._scale, x._tail, x._first]), (3,))


@expected.register
def _(x: Density, n: int) -> Iterator[Expected]:
    if hasattr(x, "logits_"):  # not so as a parameter of the detector
        yield Expected("bandwidths_", x.bandwidths_, (len(x.logits_),), 0)
        yield Expected("logits_", x.logits_, (len(x.bandwidths_),))
        if x.size_bandwidths_ is not None:
            yield Expected("size_bandwidths_", x.size_bandwidths_, (2,), np.finfo(float).tiny)


@expected.register
def _(x: NeighborhoodCounts, n: int) -> Iterator[Expected]:
    _are(sp.csr_array, *vars(x).values())
    yield Expected("counts", x.counts.data, (len(x.counts.data),), 1, kinds=WHOLE)


@expected.register
def _(x: ReferenceTable, n: int) -> Iterator[Expected]:
    shape = (len(x.colors),)
    yield Expected("colors", x.colors, shape, kinds="u")
    is_ascending = x.colors[1:] > x.colors[:-1]
    yield Expected("order of colors", is_ascending, is_ascending.shape, 1, 1, BOOL)
    yield Expected("owners", x.owners, shape, -2, n - 1, WHOLE)
    yield Expected("counts", x.counts, shape, 1, kinds=WHOLE)
    yield Expected("n_graphs", x.n_graphs, shape, 1, n, WHOLE)
    yield Expected("counts less n_graphs", x.counts - x.n_graphs, shape, 0)
    is_of_one = (x.owners >= 0) == (x.n_graphs == 1)
    yield Expected("owners of n_graphs", is_of_one, shape, 1, 1, BOOL)


@expected.register
def _(x: CategoryCounts, n: int) -> Iterator[Expected]:
    _are(Table, *x.tables.values())
    yield from ()


@expected.register
def _(x: Table, n: int) -> Iterator[Expected]:
    _are(ReferenceTable, x.known)
    yield Expected("surprise", np.array(x.surprise), (), 0, 1)
    yield Expected("factors", np.array(x.factors), (2,), 1)


@expected.register
def _(x: NumberPoints, n: int) -> Iterator[Expected]:
    n_columns = len(x.scale)
    yield Expected("kinds", x.kinds, (len(x.means) - 1,), kinds="u")
    yield Expected("may_miss", x.may_miss, (len(x.fill),), kinds=BOOL)
    yield Expected("fill", x.fill, (len(x.may_miss),))
    yield Expected("scale", x.scale, (len(x.fill) + int(x.may_miss.sum()),))
    yield Expected("means", x.means, (len(x.kinds) + 1, n_columns))
    yield Expected("points", x.points, (len(x.codes), n_columns))
    yield Expected("codes", x.codes, (len(x.points),), 0, len(x.kinds), WHOLE)


@expected.register
def _(x: LabelBlock, n: int) -> Iterator[Expected]:
    n_values = sum(map(len, x.vocabularies))
    yield Expected("hidden", x.hidden, (n_values,), kinds=BOOL)
    if x.weights is not None:
        yield Expected("weights", x.weights, (n_values,))


@expected.register(NumberBlock)
@expected.register(EdgeBlock)
def _(x: Any, n: int) -> Iterator[Expected]:
    yield Expected("used", x.used, (len(x.used),), 0, len(x.columns) - 1, WHOLE)
    yield Expected("mean", x.mean, (len(x.used),))
    yield Expected("scale", x.scale, (len(x.used),))
    if isinstance(x, EdgeBlock):
        shape = len(x.columns), x.positions.shape[1]
        yield Expected("positions", x.positions, shape, 0, len(x.names) - 1, WHOLE)


@expected.register
def _(x: FittedPropagation, n: int) -> Iterator[Expected]:
    yield Expected("means", x.means, (x.out_dim,))
    yield Expected("scales", x.scales, (x.out_dim,))

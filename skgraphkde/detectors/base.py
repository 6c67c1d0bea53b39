"""BaseGraphDetector: scikit-learn's contract, calibration and files, for any detector of graphs."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from sklearn.base import OutlierMixin, _fit_context
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from skgraphkde.calibration import Calibration, LeaveOneOut, Split, finite
from skgraphkde.detectors.conformal import ConformalMixin
from skgraphkde.detectors.files import save
from skgraphkde.detectors.left_out import say_left_out
from skgraphkde.detectors.processes import in_parallel
from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.graphs.identifiers import without_identifiers
from skgraphkde.graphs.readers import read_graphs
from skgraphkde.graphs.schema import FittedSchema, GraphSchema, undecided
from skgraphkde.graphs.selection import conformed
from skgraphkde.persistence import State
from skgraphkde.specification import ComposedEstimator


class BaseGraphDetector(ConformalMixin, OutlierMixin, ComposedEstimator):
    """Base class of detectors of anomalous graphs.

    A subclass defines :meth:`_fit_batch` and :meth:`_score_batch` and gets everything else: it
    reads graphs of any format, predicts, calibrates thresholds and p-values, scores in several
    processes, survives a failed fit unchanged, and is saved and loaded. A subclass with parameters
    of its own defines ``__init__``, passes the parameters below on to this class, and extends
    `_parameter_constraints`.

    Parameters
    ----------
    schema : GraphSchema, "all" or None, default=None
        Which data of nodes and edges are read, and as what: :class:`GraphSchema`. None is the
        conventions; "all" is everything that the training graphs have.
    calibration : {"loo", "split", "train"}, LeaveOneOut or Split, default="loo"
        Which scores determine the threshold and the p-values: those of the training graphs, each by
        the others (:class:`LeaveOneOut`); those of graphs that are set aside (:class:`Split`); or,
        as is common and flags far too many, those of the training graphs by themselves.
    contamination : float, default=0.1
        Share of normal graphs that fall below the threshold, in (0, 0.5].
    n_jobs : int, default=None
        Processes that score many graphs, as for joblib: None is 1 outside of a
        ``joblib.parallel_config``, which can name a cluster; -1 is all cores. Fitting, and scoring
        a few graphs, take one process.
    random_state : int, RandomState instance or None, default=None
        Draws all that is random.
    verbose : int, default=0
        1 shows progress bars.

    Attributes
    ----------
    schema_ : FittedSchema
        What was read of the training graphs, by name, and what was not. New graphs are read alike.
    offset_ : float
        The threshold: ``decision_function(graphs) == score_samples(graphs) - offset_``.
    calibration_scores_ : ndarray of shape (n_scores,)
        The scores that `offset_` and p-values come from.
    calibration_graphs_ : ndarray of shape (n_scores,)
        The indices of the training graphs that have these scores, ascending.
    n_graphs_seen_, n_graphs_counted_ : int
        How many graphs `fit` got, and whatever updates the detector; how many of them counted,
        without copies that count together.
    contamination_ : float
        The `contamination` of `fit`, by which updates place the threshold, too.
    is_calibrated_ : bool
        Whether these are comparable with scores of new graphs: not with ``calibration="train"``.

    Examples
    --------
    >>> import networkx as nx
    >>> from skgraphkde import BaseGraphDetector
    >>> class EdgeCount(BaseGraphDetector):
    ...     def _fit_batch(self, graphs, rng):
    ...         self.median_ = float(np.median(graphs.n_edges_per_graph))
    ...         return self._score_batch(graphs)
    ...
    ...     def _score_batch(self, graphs):
    ...         return -abs(graphs.n_edges_per_graph - self.median_)
    >>> detector = EdgeCount().fit([nx.path_graph(n) for n in range(10, 30)])
    >>> detector.predict([nx.path_graph(20), nx.complete_graph(20)]).tolist()
    [1, -1]
    """

    _shorthands: dict[str, dict[str, Callable[[], Any]]] = {
        "schema": {"all": GraphSchema.everything},
        "calibration": {"loo": LeaveOneOut, "split": Split},
    }
    _parameter_constraints: dict = {
        "schema": [GraphSchema, StrOptions({"all"}), None],
        "calibration": [StrOptions({"loo", "split", "train"}), Calibration],
        "contamination": [Interval(Real, 0, 0.5, closed="right")],
        "n_jobs": [
            Interval(Integral, 1, None, closed="left"),
            Interval(Integral, None, -1, closed="right"),
            None,
        ],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    _of_machine = ("n_jobs", "verbose", "device")

    def __init__(
        self,
        *,
        schema: Any = None,
        calibration: Any = "loo",
        contamination: float = 0.1,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.schema = schema
        self.calibration = calibration
        self.contamination = contamination
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        return tags

    # -- what a subclass defines -------------------------------------------------------------------

    def _fit_batch(self, graphs: GraphBatch, rng: np.random.RandomState) -> np.ndarray | None:
        """Fit to graphs, and score each of them by the others.

        Parameters
        ----------
        graphs : GraphBatch
            At least two.
        rng : RandomState
            Made from `random_state`.

        Returns
        -------
        ndarray of shape (n_graphs,)
            Used if `leaves_one_out`, and only then: otherwise it can be None. A subclass that
            cannot leave graphs out returns their plain scores; its false alarms are then too many.
        """
        raise NotImplementedError(f"{type(self).__name__} has no method _fit_batch(graphs, rng)")

    def _score_batch(self, graphs: GraphBatch) -> np.ndarray:
        """Score graphs: one number each, higher for normal, that depends on the graph alone."""
        raise NotImplementedError(f"{type(self).__name__} has no method _score_batch(graphs)")

    def _check_batch(self, graphs: GraphBatch) -> None:
        """Raise a ValueError if graphs lack what the training graphs had."""

    def validate(self) -> None:
        """Check the parameters.

        Raises
        ------
        ValueError
            If a parameter is out of range; the message names it.
        """
        for name in ("calibration", "contamination", "n_jobs", "random_state", "verbose"):
            if not hasattr(self, name):
                raise TypeError(
                    f"{type(self).__name__} has no parameter {name}: pass the parameters of "
                    "BaseGraphDetector on to super().__init__"
                )
        super().validate()

    # -- fit ---------------------------------------------------------------------------------------

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, graphs: Any, y: Any = None) -> Self:
        """Learn what normal graphs look like.

        Parameters
        ----------
        graphs : sequence of graphs, or GraphBatch
            The training graphs, at least 2, see :func:`skgraphkde.read_graphs`.
        y : None
            Ignored: no label of any kind is used.

        Returns
        -------
        self

        Raises
        ------
        TypeError
            If `graphs` is not a sequence of graphs.
        ValueError
            If a graph or a parameter cannot be used. A fitted detector stays as it was.
        """
        self._fit(graphs)
        return self

    def _fit(self, graphs: Any) -> np.ndarray:
        """Fit, and return for each graph the position of its calibration score, if it has one."""
        self.validate()
        schema = self.specification("schema")
        batch = read_graphs(graphs, schema=schema)
        if schema is not None:
            batch.schema.check_named(schema, has_edges=bool(batch.adjacency.nnz))
        calibration = self.specification("calibration")
        is_loose = calibration == "train"  # the paper's: nothing is promised
        first = np.arange(len(batch)) if is_loose else calibration.distinct(batch)
        counted, position = np.unique(first, return_inverse=True)
        if len(counted) < 2:
            raise ValueError(
                f"there is one training graph{' and copies of it' * (len(batch) > 1)}, with no "
                "others to compare it with: give at least 2"
            )
        batch = without_identifiers(batch, schema, counted)
        fitted = copy.copy(self)  # whatever fails below, self stays as it was
        for name in [name for name in vars(fitted) if name.endswith("_")]:
            delattr(fitted, name)
        fitted.schema_, fitted.n_graphs_seen_ = batch.schema, len(batch)
        fitted._calibrate(batch, counted, position, calibration)
        say_left_out(undecided(schema, batch.schema.left_out), stacklevel=4, in_fit=True)
        self.__dict__ = fitted.__dict__  # at once, for whoever uses it in another thread
        return position

    # -- score -------------------------------------------------------------------------------------

    def score_samples(self, graphs: Any) -> np.ndarray:
        """Score each graph.

        Parameters
        ----------
        graphs : sequence of graphs, or GraphBatch

        Returns
        -------
        ndarray of shape (n_graphs,), float64
            Higher is more normal. A graph's score does not depend on the other graphs.
        """
        fitted = self._snapshot()
        scores = in_parallel(fitted._checked_scores, fitted.read(graphs), fitted.n_jobs)
        # Finite after all: the error names a graph by its index among all, not in its part.
        return finite(scores)

    def _snapshot(self) -> Self:
        """The detector as it is now, whatever another thread fits or updates from here on."""
        return copy.copy(self)

    def _checked_scores(self, graphs: GraphBatch) -> np.ndarray:
        scores = self._score_batch(graphs)
        if np.shape(scores) != (len(graphs),):
            raise ValueError(
                f"{type(self).__name__}._score_batch must return one score for each of "
                f"{len(graphs)} graphs, and returned an array of shape {np.shape(scores)}"
            )
        return scores

    def decision_function(self, graphs: Any) -> np.ndarray:
        """``score_samples(graphs) - offset_``: negative for anomalies.

        Parameters
        ----------
        graphs : sequence of graphs, or GraphBatch

        Returns
        -------
        ndarray of shape (n_graphs,)
        """
        fitted = self._snapshot()
        return fitted.score_samples(graphs) - fitted.offset_

    def predict(self, graphs: Any) -> np.ndarray:
        """+1 for a normal graph, -1 for an anomaly.

        Parameters
        ----------
        graphs : sequence of graphs, or GraphBatch

        Returns
        -------
        ndarray of shape (n_graphs,), int
        """
        return np.where(self.decision_function(graphs) < 0, -1, 1)

    def fit_predict(self, graphs: Any, y: Any = None) -> np.ndarray:
        """Fit, and judge the training graphs themselves.

        Parameters
        ----------
        graphs : sequence of graphs, or GraphBatch
        y : None
            Ignored.

        Returns
        -------
        ndarray of shape (n_graphs,), int
            With ``calibration="loo"`` each graph is judged by the others; ``fit(graphs)
            .predict(graphs)`` would let it vouch for itself.
        """
        position = self._fit(graphs)
        if self.leaves_one_out or not self.is_calibrated_:
            return np.where(self.calibration_scores_ < self.offset_, -1, 1)[position]
        return self.predict(graphs)

    def read(self, graphs: Any) -> GraphBatch:
        """Read graphs as the fitted detector does in all its methods.

        Parameters
        ----------
        graphs : sequence of graphs, or GraphBatch

        Returns
        -------
        GraphBatch

        Raises
        ------
        TypeError, ValueError
            If a graph cannot be used, or lacks what the training graphs had.
        """
        check_is_fitted(self)
        batch = conformed(read_graphs(graphs, schema=self.schema_), self.schema_)
        self._check_batch(batch)
        news = undecided(self.specification("schema"), batch.schema.news(self.schema_))
        say_left_out(news, stacklevel=3, in_fit=False)
        return batch

    # -- files -------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike, notes: dict[str, Any] | None = None) -> None:
        """Write the fitted detector to a file that :func:`skgraphkde.load` reads.

        The file contains arrays and JSON, and the training graphs that are references. What was
        saved scores the same on another machine, up to rounding, with or without a GPU. What
        concerns the machine is not kept (`n_jobs`, `device`, `verbose`, the path of a checkpoint),
        nor is a RandomState as `random_state`.

        Parameters
        ----------
        path : str or path-like
            A file that exists is replaced in one step, or, if anything fails, left as it was.
        notes : dict, default=None
            Anything of yours that JSON can hold; :func:`skgraphkde.detectors.files.read` returns
            it.

        Raises
        ------
        NotFittedError
            If the detector is not fitted.
        TypeError
            If its class is not registered (:func:`skgraphkde.register`).
        ValueError
            If a parameter or a fitted attribute is something that a file cannot contain.
        OSError
            If the file cannot be written.
        """
        check_is_fitted(self)
        save(self, path, notes)

    def check_restored(self, other: Self) -> None:
        """Raise a ValueError if what comes back from a file is not what was saved."""

    def to_state(self) -> dict[str, Any]:
        """What a file keeps: the parameters and the fitted attributes."""
        fitted = {name: value for name, value in sorted(vars(self).items()) if name.endswith("_")}
        return {"parameters": self.saved_params(), "fitted": fitted}

    @classmethod
    def from_state(cls, state: State) -> Self:
        """The detector in a file."""
        detector = cls.from_saved(state.take("parameters", dict))
        fitted = State(cls.__name__, state.take("fitted", dict))
        detector.schema_ = fitted.take_instance("schema_", FittedSchema)
        detector._take_calibration(fitted)
        detector._take_fitted(fitted)
        fitted.check_empty()
        return detector

    def _take_fitted(self, state: State) -> None:
        """Take the other fitted attributes; a subclass checks what it relies on."""
        for name, value in state.take_all().items():
            is_fitted = name.endswith("_") and not name.endswith("__")
            state.check(is_fitted, f"{name} is not a fitted attribute")
            setattr(self, name, value)

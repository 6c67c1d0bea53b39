"""BaseGraphDetector: scikit-learn's contract, calibration and files, for any detector of graphs."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from sklearn.base import OutlierMixin, _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from skgraphkde.calibration import (
    Calibration,
    FittedCalibration,
    LeaveOneOut,
    Split,
    check_alpha,
    discoveries,
    finite,
)
from skgraphkde.computing.warn import warn
from skgraphkde.detectors.files import save
from skgraphkde.detectors.processes import in_parallel
from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.graphs.identifiers import without_identifiers
from skgraphkde.graphs.naming import listed
from skgraphkde.graphs.readers import read_graphs
from skgraphkde.graphs.schema import FittedSchema, GraphSchema, undecided
from skgraphkde.graphs.selection import conformed
from skgraphkde.persistence import State
from skgraphkde.specification import ComposedEstimator


class BaseGraphDetector(OutlierMixin, ComposedEstimator):
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
        Seed or generator for all random choices.
    verbose : int, default=0
        1 shows progress bars.

    Attributes
    ----------
    schema_ : FittedSchema
        Attributes that were read from the training graphs, and those that were ignored. New graphs
        are read alike.
    calibration_ : FittedCalibration
        The calibration scores, and what follows from them.
    offset_ : float
        The threshold: ``decision_function(graphs) == score_samples(graphs) - offset_``.
    calibration_scores_ : ndarray of shape (n_scores,)
        The scores that `offset_` and p-values come from.
    calibration_graphs_ : ndarray of shape (n_scores,)
        The indices of the training graphs that have these scores, ascending.
    n_graphs_seen_ : int
        Number of graphs of `fit` and of updates.
    is_calibrated_ : bool
        Whether p-values can be computed from `calibration_scores_`. False for
        ``calibration="train"``.

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
        fitted.schema_ = batch.schema
        fitted._calibrate(batch, counted, position, calibration)
        fitted.calibration_.warn_if_few()
        ignored = undecided(schema, batch.schema.left_out)
        _warn_ignored(
            ignored,
            "name them in schema=GraphSchema(...) to use them, or name what is "
            "read to silence this warning",
        )
        self.__dict__ = fitted.__dict__  # at once, for whoever uses it in another thread
        return position

    def _calibrate(
        self, batch: GraphBatch, counted: np.ndarray, position: np.ndarray, calibration: Any
    ) -> None:
        """Fit to the graphs that count, `counted`; `position` is which of them each graph is."""
        n_counted = len(counted)
        graphs = batch[counted] if n_counted < len(batch) else batch
        rng, views = check_random_state(self.random_state), None
        if isinstance(calibration, LeaveOneOut):
            scores: Any = self._fit_batch(graphs, rng)
            if scores is None or np.shape(scores) != (len(graphs),):
                raise ValueError(
                    f"{type(self).__name__}._fit_batch must return the scores of the "
                    f"{len(graphs)} training graphs, each by the others, and returned {scores!r}"
                )
        elif isinstance(calibration, Split):
            set_aside, known = calibration.split(n_counted, self.contamination, rng)
            self._fit_batch(graphs[known], rng)
            # All copies of these: a graph that is set aside and common is as common among the new.
            counted = np.flatnonzero(np.isin(position, set_aside))
            self._check_batch(batch[counted])
            scores, views = self._scores_set_aside(batch[counted])
        else:
            self._fit_batch(graphs, rng)
            scores = self._checked_scores(graphs)
        self.calibration_ = FittedCalibration(
            scores=finite(scores),
            graphs=counted,
            contamination=float(self.contamination),
            n_seen=len(batch),
            n_counted=n_counted,
            is_comparable=calibration != "train",
            views=views,
        )

    def _scores_set_aside(self, graphs: GraphBatch) -> tuple[np.ndarray, np.ndarray | None]:
        """Scores of graphs that are set aside, and those in each view if there are views."""
        return self._checked_scores(graphs), None

    @property
    def leaves_one_out(self) -> bool:
        """Whether `calibration` needs the scores of the training graphs, each by the others."""
        return isinstance(self.specification("calibration"), LeaveOneOut)

    # -- what calibration knows --------------------------------------------------------------------

    @property
    def offset_(self) -> float:
        """The threshold of :meth:`decision_function`."""
        return self.calibration_.offset

    @property
    def calibration_scores_(self) -> np.ndarray:
        """The scores that the threshold and p-values come from, shape (n_scores,)."""
        return self.calibration_.scores

    @property
    def calibration_graphs_(self) -> np.ndarray:
        """The indices of the training graphs that have these scores, shape (n_scores,)."""
        return self.calibration_.graphs

    @property
    def n_graphs_seen_(self) -> int:
        """Number of graphs of `fit` and of updates."""
        return self.calibration_.n_seen

    @property
    def is_calibrated_(self) -> bool:
        """Whether scores of new graphs can be compared with the calibration scores."""
        return self.calibration_.is_comparable

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

    def p_values(self, graphs: Any) -> np.ndarray:
        """How surprising each graph is: conformal p-values.

        The share of normal graphs that score as low, by the calibration scores. A graph's p-value
        does not depend on the other graphs.

        Parameters
        ----------
        graphs : sequence of graphs, or GraphBatch
            Not those of `fit`.

        Returns
        -------
        ndarray of shape (n_graphs,)
            In [1 / (n + 1), 1] with n calibration scores; small for anomalies.

        Raises
        ------
        ValueError
            With ``calibration="train"``, in which each graph vouches for itself.

        Notes
        -----
        With ``calibration="split"`` a normal graph has a p-value of at most a with a probability of
        at most a, whatever the detector, if it is exchangeable with the graphs set aside (Vovk et
        al., 2005). That holds on average over calibration sets, not for each one. With "loo" it
        holds approximately: a training graph is scored by one graph fewer than a new graph is, and
        what adapts to the training graphs has seen it. Anomalies among the training graphs make
        p-values larger, so that fewer anomalies are found; false alarms do not increase.

        Examples
        --------
        >>> from skgraphkde import GraphKDEDetector
        >>> from skgraphkde.datasets import load_mutag
        >>> molecules, y = load_mutag(return_X_y=True)
        >>> normal, odd = molecules[y == 1], molecules[y == -1]
        >>> detector = GraphKDEDetector().fit(normal[:100])
        >>> detector.p_values(odd[:4]).round(2).tolist()
        [0.11, 0.1, 0.01, 0.11]
        >>> int(detector.select(odd, alpha=0.1).sum())
        26
        """
        fitted = self._snapshot()
        check_is_fitted(fitted)
        if not fitted.is_calibrated_:
            raise ValueError(
                "calibration='train' uses scores in which each graph vouches for itself, as no new "
                "graph does: use calibration='split', or 'loo'"
            )
        return fitted.calibration_.p_values(fitted.score_samples(graphs))

    def select(self, graphs: Any, alpha: float = 0.1) -> np.ndarray:
        """Anomalies among the graphs, with a bounded share of false discoveries.

        The procedure of Benjamini and Hochberg (1995) on :meth:`p_values`.

        Parameters
        ----------
        graphs : sequence of graphs, or GraphBatch
            Not those of `fit`. Which of them are selected depends on how many there are, and on the
            p-values of the others.
        alpha : float, default=0.1
            Bound on the expected share of normal graphs among those selected, in (0, 1].

        Returns
        -------
        ndarray of shape (n_graphs,), bool
            True for an anomaly.

        Raises
        ------
        ValueError
            If alpha is not in (0, 1], or as for :meth:`p_values`.

        Notes
        -----
        The bound holds with ``calibration="split"`` for independent test graphs (Bates et al.,
        Annals of Statistics, 2023), and approximately with "loo". No p-value is below 1 / (n + 1)
        with n calibration scores: of m graphs with k clear anomalies none can be selected unless n
        is at least about m / (alpha k).
        """
        check_alpha(alpha)  # before anything is scored
        return discoveries(self.p_values(graphs), alpha)

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
        ignored = undecided(self.specification("schema"), batch.schema.news(self.schema_))
        _warn_ignored(ignored, "the training graphs did not have them")
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
        detector.calibration_ = fitted.take_instance("calibration_", FittedCalibration)
        detector._take_fitted(fitted)
        fitted.check_empty()
        return detector

    def _take_fitted(self, state: State) -> None:
        """Take the other fitted attributes; a subclass checks what it relies on."""
        for name, value in state.take_all().items():
            is_fitted = name.endswith("_") and not name.endswith("__")
            state.check(is_fitted, f"{name} is not a fitted attribute")
            setattr(self, name, value)


def _warn_ignored(ignored: list[str], why: str) -> None:
    """Warn of self-loops, and of attributes that are not read."""
    attributes = [text for text in ignored if " attribute " in text]
    loops = [text for text in ignored if text not in attributes]
    if loops:
        warn(f"left out: {listed(loops)}, as no node is its own neighbor")
    if attributes:
        warn(f"not read: {listed(attributes, 20)}; {why}")

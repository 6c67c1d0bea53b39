"""BaseGraphDetector: scikit-learn's interface, calibration and files for detectors of graphs."""

from __future__ import annotations

import copy
import logging
from dataclasses import replace
from functools import cached_property
from numbers import Integral, Real
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import OutlierMixin, clone
from sklearn.utils import check_random_state, check_scalar
from sklearn.utils.validation import check_is_fitted

from skgraphkde._messages import encodable, listed
from skgraphkde._utils import stage, threads_for, warn
from skgraphkde.core.graphs.arrays import freeze
from skgraphkde.core.graphs.batch import GraphBatch
from skgraphkde.core.graphs.copies import KnownGraphs
from skgraphkde.core.graphs.names import with_name_keys
from skgraphkde.core.graphs.problems import GraphError, Ignored, IgnoredWarning, positions_in
from skgraphkde.core.graphs.schema import (
    KINDS,
    PARTS,
    SCHEMAS,
    GraphSchema,
    unread_attributes,
    validated,
)
from skgraphkde.core.points.features import values_in_use
from skgraphkde.core.scoring.calibration import (
    Calibration,
    FittedCalibration,
    LeaveOneOut,
    Split,
    check_alpha,
    conformal_p_values,
    discoveries,
    finite,
)
from skgraphkde.core.specification import Interval, Specification, StrOptions
from skgraphkde.core.views.namesakes import compare_names
from skgraphkde.detectors.checks import check_arrays
from skgraphkde.detectors.processes import in_parallel
from skgraphkde.detectors.together import least_number_odd
from skgraphkde.detectors.verdicts import ANOMALY, NORMAL, UNKNOWN, check_coding, checked_verdicts
from skgraphkde.reading.readers import as_sequence, read_graphs
from skgraphkde.reading.selection import (
    align_to_schema,
    check_scale,
    drop_id_columns,
    warn_of_lacking,
)
from skgraphkde.saving import checksum, save, versions


class _Counted(NamedTuple):
    """Graphs of a fit that count, and verdicts."""

    verdicts: np.ndarray  # (n_graphs,)
    normal: np.ndarray  # indices of all but confirmed anomalies
    distinct: np.ndarray  # indices of those that represent them: all of them, or one of all copies
    inverse: np.ndarray  # index in `distinct` of the graph that represents each normal graph


class Judged(NamedTuple):
    """Graphs of a fit on which somebody gave a verdict."""

    anomalies: GraphBatch
    normal: GraphBatch


class BaseGraphDetector(OutlierMixin, Specification):
    """Base class of detectors of anomalous graphs.

    A subclass defines :meth:`_fit_batch` and :meth:`_score_batch`. The base class reads graphs of
    any format, predicts, calibrates thresholds and p-values, scores in several processes, keeps the
    old fit if a new one fails, and saves and loads. A subclass with additional parameters defines
    ``__init__``, passes the parameters below to this class, and extends `_parameter_constraints`.

    Parameters
    ----------
    schema : GraphSchema, "all", "molecule" or None, default=None
        Attributes of nodes and edges to read, and their types, see :class:`GraphSchema`. None reads
        the conventional names; "all" reads all attributes of the training graphs; "molecule" those
        of molecules, see :meth:`GraphSchema.molecule`.
    calibration : {"loo", "split", "train"}, LeaveOneOut or Split, default="loo"
        Scores that determine the threshold and the p-values: leave-one-out scores of the training
        graphs (:class:`LeaveOneOut`); scores of held-out graphs (:class:`Split`); or the plain
        scores of the training graphs, which is common and causes far too many false alarms.
    contamination : float or "auto", default=0.1
        Share of normal graphs that fall below the threshold, in (0, 0.5]. "auto" assumes no share:
        the threshold is the lower fence of a box plot of the calibration scores, see
        :func:`~skgraphkde.core.scoring.calibration.lower_fence`.
    n_jobs : int, default=None
        Number of processes that score many graphs, as for joblib: None is 1 outside of a
        ``joblib.parallel_config``, which can name a cluster; -1 is all cores. Fitting, and scoring
        a few graphs, use one process.
    random_state : int, RandomState instance or None, default=None
        Seed or generator for all random choices. With an int, scores are equal to the last bit with
        one thread; with another number of threads to a relative 1e-12, if no network is trained.
    verbose : int, default=0
        1 shows a progress bar for each stage; in a log, a line.

    Attributes
    ----------
    schema_ : FittedSchema
        Attributes that were read from the training graphs, and those that were ignored. New graphs
        are read in the same way.
    calibration_ : FittedCalibration
        The calibration scores, with their threshold and p-values.
    offset_ : float
        The threshold: ``decision_function(graphs) == score_samples(graphs) - offset_``.
    calibration_scores_ : ndarray of shape (n_scores,)
        Scores that determine `offset_` and the p-values.
    calibration_graphs_ : ndarray of shape (n_scores,)
        Indices of the training graphs that have these scores, ascending.
    training_graphs_ : GraphBatch
        The graphs of `fit`, as they were read.
    training_scores_ : ndarray of shape (n_graphs,)
        Score of each of them by all others, as that of its copy if it is one; the lowest scores for
        confirmed anomalies. With ``calibration="train"`` its plain score; missing with "split".
    calibration_index_ : ndarray of shape (n_graphs,)
        Position of this score in `calibration_scores_`; -1 for confirmed anomalies.
    fitted_graphs_ : ndarray of shape (n_fitted,)
        Indices of the training graphs to which the subclass was fitted, ascending: without
        confirmed anomalies, graphs held out, and copies that do not count.
    versions_ : dict of str -> str
        Versions of this package, of Python, and of the packages that took part in the fit.
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

    # The link of scikit-learn's HTML of a detector.
    _doc_link_module = "skgraphkde"
    _doc_link_template = "https://github.com/skgraphkde/skgraphkde/blob/main/docs/api.rst"

    _parameter_constraints: dict = {
        "schema": [GraphSchema, StrOptions(set(SCHEMAS)), None],
        "calibration": [StrOptions({"loo", "split", "train"}), Calibration],
        "contamination": [Interval(Real, 0, 0.5, closed="right"), StrOptions({"auto"})],
        "n_jobs": [
            Interval(Integral, 1, None, closed="left"),
            Interval(Integral, None, -1, closed="right"),
            None,
        ],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        *,
        schema: Any = None,
        calibration: Any = "loo",
        contamination: float | str = 0.1,
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

    def set_params(self, **params: Any) -> Self:
        """Set parameters, which count from the next fit on.

        Parameters
        ----------
        **params : dict

        Returns
        -------
        self
        """
        before = getattr(self, "contamination", None)
        super().set_params(**params)
        if hasattr(self, "calibration_") and self.contamination != before:
            warn(
                "contamination counts from the next fit on: to move the threshold now, call "
                "set_contamination"
            )
        return self

    # -- methods of a subclass ---------------------------------------------------------------------

    def _fit_batch(self, graphs: GraphBatch, rng: np.random.RandomState) -> np.ndarray | None:
        """Fit to graphs, and return their leave-one-out scores.

        Parameters
        ----------
        graphs : GraphBatch
            At least two graphs.
        rng : RandomState
            Generator made from `random_state`.

        Returns
        -------
        ndarray of shape (n_graphs,) or None
            Leave-one-out scores; None is enough for other calibrations than "loo". A subclass that
            cannot leave graphs out returns their plain scores, and has too many false alarms.
        """
        raise NotImplementedError(f"{type(self).__name__} has no method _fit_batch(graphs, rng)")

    def _fit_judged(
        self, graphs: GraphBatch, judged: Judged, rng: np.random.RandomState
    ) -> np.ndarray | None:
        """Fit to graphs, and to those with verdicts, which :meth:`_fit_batch` does not get."""
        return self._fit_batch(graphs, rng)

    def _score_batch(self, graphs: GraphBatch) -> np.ndarray:
        """Score graphs: one number per graph, higher for normal, independent of other graphs."""
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
                    "BaseGraphDetector to super().__init__"
                )
        super().validate()

    @property
    def given_schema(self) -> GraphSchema | None:
        """Schema that the user gave; None for the conventional names."""
        return None if self.schema is None else validated(self.schema)

    @property
    def _calibration(self) -> LeaveOneOut | Split | None:
        """Calibration that the parameter stands for; None for "train"."""
        if self.calibration == "loo":
            return LeaveOneOut()
        if self.calibration == "split":
            return Split()
        return None if self.calibration == "train" else self.calibration

    # -- fit ---------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the detector to normal graphs.

        Parameters
        ----------
        X : sequence of graphs, or GraphBatch
            Training graphs, at least 2, see :func:`skgraphkde.read_graphs`.
        y : array-like of shape (n_graphs,), default=None
            Ignored, with a warning if it has values other than 1 and -1. Its length is checked.

        Returns
        -------
        self

        Raises
        ------
        TypeError
            If `X` is not a sequence of graphs.
        ValueError
            If a graph or a parameter is invalid. A detector that was fitted before is unchanged.
        """
        check_target(X, y)
        self._fit(X)
        return self

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Fit again, to the training graphs and to more normal graphs.

        If the detector is not fitted, it is fitted to the graphs. What the first fit read of its
        graphs is read of these.

        Parameters
        ----------
        X : sequence of graphs, or GraphBatch
            Normal graphs; none changes nothing.
        y : None
            Ignored.

        Returns
        -------
        self

        Raises
        ------
        TypeError, ValueError
            As for :meth:`fit`. The detector is then unchanged.

        Examples
        --------
        >>> from skgraphkde import GraphKDEDetector
        >>> from skgraphkde.datasets import load_mutag
        >>> molecules = load_mutag().graphs
        >>> detector = GraphKDEDetector().fit(molecules[:60])
        >>> len(detector.partial_fit(molecules[60:80]).training_graphs_)
        80
        """
        if not hasattr(self, "training_graphs_"):
            return self.fit(X)
        batch = self.read(X)
        if len(batch):
            self._refit(batch, np.append(self.verdicts_, np.full(len(batch), UNKNOWN)))
        return self

    def _fit(self, X: Any, verdicts: Any = None) -> None:
        """Read graphs, and fit to all but confirmed anomalies."""
        self.validate()
        check_coding(verdicts)
        schema = self.given_schema
        with stage("Reading", self.verbose):
            batch = compare_names(read_graphs(X, schema=schema))
        counted = self._counted(batch, verdicts)
        self._fit_read(drop_id_columns(batch, schema, counted.distinct), counted)

    def _refit(self, added: GraphBatch, verdicts: np.ndarray) -> None:
        """Fit to the training graphs and others, with the data that were read of the former."""
        self.validate()
        batch = self.training_graphs_
        if len(added):
            batch = GraphBatch.concatenate([batch, added]).replace(schema=batch.schema)
        self._fit_read(batch, self._counted(batch, verdicts))

    def _counted(self, batch: GraphBatch, verdicts: Any) -> _Counted:
        """Choose the graphs that count: no confirmed anomalies, and maybe one of all copies."""
        check_scale(batch)
        verdicts = checked_verdicts(verdicts, batch)
        normal = canonical = np.flatnonzero(verdicts != ANOMALY)
        if self._calibration is not None:  # the paper's counts all copies
            canonical = normal[self._calibration.distinct(batch[normal])]
        distinct, inverse = np.unique(canonical, return_inverse=True)
        if len(distinct) < 2:
            copies = " (all others are copies)" if len(normal) > 1 else ""
            confirmed = " that are no confirmed anomalies" if len(normal) < len(batch) else ""
            raise ValueError(
                f"fit needs at least 2 distinct graphs{confirmed}, got {len(distinct)}{copies}"
            )
        return _Counted(verdicts, normal, distinct, inverse)

    def _fit_read(self, batch: GraphBatch, counted: _Counted) -> None:
        """Fit a copy of the detector, and become it: an error on the way changes nothing."""
        fitted = copy.copy(self)
        for name in list(vars(fitted)):
            if name.endswith("_"):
                delattr(fitted, name)
        with stage(f"Fitting {len(batch)} graphs", self.verbose, logging.INFO):
            fitted._fit_and_calibrate(batch, counted)
        fitted.calibration_.warn_if_few()
        ignored = unread_attributes(self.given_schema, batch.schema.ignored)
        parts = dict.fromkeys(x.part for x in ignored)
        none = " and ".join(f"{part}_categories=None and {part}_numbers=None" for part in parts)
        _warn_ignored(
            ignored,
            batch.schema.n_self_loops,
            "name them in schema=GraphSchema(...) to use them; to silence this warning, list the "
            f"attributes to use there, or None for none, such as {none}",
        )
        fitted._freeze()
        self.__dict__ = fitted.__dict__

    def _fit_and_calibrate(self, batch: GraphBatch, counted: _Counted) -> None:
        """Set the fitted attributes."""
        self.schema_ = batch.schema
        self.training_graphs_ = batch
        self.verdicts_ = counted.verdicts
        self.versions_ = versions()
        judged = Judged(batch[counted.verdicts == ANOMALY], batch[counted.verdicts == NORMAL])
        calibration = self._calibration
        rng = check_random_state(self.random_state)
        share = None if self.contamination == "auto" else float(self.contamination)
        if isinstance(calibration, Split):
            held_out, training = calibration.split(len(counted.distinct), share, rng)
            self.fitted_graphs_ = counted.distinct[training]
            with positions_in(self.fitted_graphs_):
                self._fit_judged(batch[self.fitted_graphs_], judged, rng)
            # All copies: a held-out graph with many copies is as frequent among new graphs.
            index = counted.normal[np.isin(counted.inverse, held_out)]
            with positions_in(index):
                self._check_batch(batch[index])
                scores = finite(self._checked_scores(batch[index]))
        else:
            index = self.fitted_graphs_ = counted.distinct
            with positions_in(index):
                scores = finite(self._own_scores(batch, index, judged, rng))
        self.calibration_ = FittedCalibration(
            scores, index, share, is_comparable=calibration is not None
        )
        if not isinstance(calibration, Split):
            self.calibration_index_ = np.full(len(batch), -1)
            self.calibration_index_[counted.normal] = counted.inverse
            self.training_scores_ = self._scores_of_all(batch)

    def _own_scores(
        self,
        batch: GraphBatch,
        distinct: np.ndarray,
        judged: Judged,
        rng: np.random.RandomState,
    ) -> np.ndarray:
        """Fit to the graphs that count, and score each by the others; with "train", by all."""
        graphs = batch[distinct] if len(distinct) < len(batch) else batch
        scores = self._fit_judged(graphs, judged, rng)
        if self._calibration is None:
            return self._checked_scores(graphs)
        if scores is None or np.shape(scores) != (len(graphs),):
            raise ValueError(
                f"{type(self).__name__}._fit_batch must return the scores of the "
                f"{len(graphs)} training graphs, leave-one-out, and returned {scores!r}"
            )
        return scores

    def _scores_of_all(self, batch: GraphBatch) -> np.ndarray:
        """Scores of the graphs of `fit`; those of confirmed anomalies are the lowest."""
        scores = self.calibration_scores_[self.calibration_index_]
        anomalies = np.flatnonzero(self.calibration_index_ < 0)
        if len(anomalies):
            with positions_in(anomalies):
                found = finite(self._checked_scores(batch[anomalies]))
            scores[anomalies] = np.minimum(found, self.calibration_scores_.min())
        return scores

    # -- calibration -------------------------------------------------------------------------------

    @property
    def offset_(self) -> float:
        """Threshold of :meth:`decision_function`."""
        return self.calibration_.offset

    @property
    def calibration_scores_(self) -> np.ndarray:
        """Scores that determine the threshold and p-values, shape (n_scores,)."""
        return self.calibration_.scores

    @property
    def calibration_graphs_(self) -> np.ndarray:
        """Indices of the training graphs that have these scores, shape (n_scores,)."""
        return self.calibration_.graphs

    @property
    def is_calibrated_(self) -> bool:
        """True if scores of new graphs can be compared with the calibration scores."""
        return self.calibration_.is_comparable

    def set_contamination(self, contamination: float | str) -> Self:
        """Move the threshold of the fitted detector, without another fit.

        Scores and p-values stay what they are.

        Parameters
        ----------
        contamination : float or "auto"
            As the parameter of the detector, which is set, too.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If it is out of range. The detector is then unchanged.

        Examples
        --------
        >>> import networkx as nx
        >>> from skgraphkde import GraphKDEDetector
        >>> graphs = [nx.cycle_graph(n) for n in range(10, 60)]
        >>> detector = GraphKDEDetector().fit(graphs)
        >>> new = [nx.cycle_graph(n) for n in range(60, 66)]
        >>> [int((detector.set_contamination(x).predict(new) == -1).sum()) for x in (0.02, 0.3)]
        [0, 4]
        """
        check_is_fitted(self)
        changed = clone(self).set_params(contamination=contamination)
        changed.validate()
        share = None if contamination == "auto" else float(contamination)
        calibration = replace(self.calibration_, contamination=share)
        calibration.warn_if_few()
        self.calibration_ = calibration
        self.contamination = contamination
        return self

    # -- score -------------------------------------------------------------------------------------

    def score_samples(self, X: Any) -> np.ndarray:
        """Score each graph.

        Parameters
        ----------
        X : sequence of graphs, or GraphBatch

        Returns
        -------
        ndarray of shape (n_graphs,), float64
            Higher is more normal; of an empty list, an empty array. A graph's score does not depend
            on the other graphs. A training graph is scored like a new one, with itself among the
            graphs that were fitted, and a warning says so if there are several;
            `calibration_scores_` has leave-one-out scores.
        """
        batch = self.read(X)
        if not len(batch):
            return np.empty(0)
        self.warn_if_given_again(batch)
        with stage(f"Scoring {len(batch)} graphs", self.verbose), threads_for(len(batch)):
            scores = in_parallel(self._checked_scores, batch, self.n_jobs)
        # Checked here, where an index counts all graphs and not those of one process.
        return finite(scores)

    @cached_property  # in no file
    def known_graphs(self) -> KnownGraphs:
        """Training graphs but confirmed anomalies, to notice if they are given again."""
        normal = np.flatnonzero(self.verdicts_ != ANOMALY)
        sample = np.searchsorted(normal, self.calibration_graphs_)
        return KnownGraphs(self.training_graphs_[normal], sample)

    def warn_if_given_again(self, batch: GraphBatch) -> None:
        """Warn of several training graphs, which look normal if they are judged by themselves.

        Parameters
        ----------
        batch : GraphBatch
            The result of :meth:`read`.
        """
        n = int(self.known_graphs.contain(batch).sum()) if len(batch) > 1 else 0
        if n and self.known_graphs.exceed_chance(n, len(batch)):
            warn(
                f"{n} of {len(batch)} graphs seem to be training graphs, which look normal if they "
                "are given again: to judge each by the others, call fit_predict, or results, "
                "explain or report without graphs (in the shell, use `skgraphkde find`)"
            )

    def _checked_scores(self, graphs: GraphBatch) -> np.ndarray:
        scores = self._score_batch(graphs)
        if np.shape(scores) != (len(graphs),):
            raise ValueError(
                f"{type(self).__name__}._score_batch must return one score for each of "
                f"{len(graphs)} graphs, and returned an array of shape {np.shape(scores)}"
            )
        return scores

    def decision_function(self, X: Any) -> np.ndarray:
        """Score each graph relative to the threshold: ``score_samples(X) - offset_``.

        Parameters
        ----------
        X : sequence of graphs, or GraphBatch

        Returns
        -------
        ndarray of shape (n_graphs,)
            Negative for anomalies.
        """
        return self.score_samples(X) - self.offset_

    def predict(self, X: Any) -> np.ndarray:
        """Classify each graph as normal or anomalous.

        Parameters
        ----------
        X : sequence of graphs, or GraphBatch

        Returns
        -------
        ndarray of shape (n_graphs,), int
            1 for a normal graph, -1 for an anomaly.
        """
        return np.where(self.decision_function(X) < 0, -1, 1)

    def fit_predict(self, X: Any, y: Any = None) -> np.ndarray:
        """Fit, and classify the training graphs.

        Parameters
        ----------
        X : sequence of graphs, or GraphBatch
            Training graphs, at least 2.
        y : None
            Ignored.

        Returns
        -------
        ndarray of shape (n_graphs,), int
            1 for a normal graph, -1 for an anomaly. With ``calibration="loo"`` each graph is
            compared with the others; ``fit(X).predict(X)`` would include each graph in
            its own reference set.
        """
        self.fit(X, y)
        if isinstance(self._calibration, Split):
            # Not by predict, which warns of training graphs.
            scores = finite(in_parallel(self._checked_scores, self.training_graphs_, self.n_jobs))
        else:
            scores = self.training_scores_
        return np.where(scores < self.offset_, -1, 1)

    def p_values(self, X: Any, *, adapt: bool = False) -> np.ndarray:
        """Conformal p-value of each graph, small for anomalies.

        A p-value estimates the share of normal graphs that score as low as the graph. It does not
        depend on the other graphs, unless these are judged together.

        Parameters
        ----------
        X : sequence of graphs, or GraphBatch
            Not those of `fit`.
        adapt : bool, default=False
            Whether the graphs are judged as one list: views in which the list is odd count more,
            see :func:`~skgraphkde.detectors.together.scores_together`. Only of a
            :class:`GraphKDEDetector`.

        Returns
        -------
        ndarray of shape (n_graphs,)
            In [1 / (n + 1), 1] with n calibration scores.

        Raises
        ------
        ValueError
            With ``calibration="train"``, which includes each graph in its own reference set; with
            `adapt`, if the detector has no views.

        Notes
        -----
        With ``calibration="split"`` a normal graph has a p-value of at most a with a probability of
        at most a, for any detector, if it is exchangeable with the held-out graphs (Vovk et al.,
        2005). This holds on average over calibration sets, not for each one. With "loo" it holds
        approximately: a training graph is scored by one reference fewer than a new graph, and
        features, bandwidths and weights were fitted to it. Anomalies among the training graphs
        make p-values larger: the detector finds fewer anomalies, and false alarms do not increase.

        Examples
        --------
        >>> from skgraphkde import GraphKDEDetector
        >>> from skgraphkde.datasets import load_mutag
        >>> molecules, y = load_mutag(return_X_y=True)
        >>> normal, odd = molecules[y == 1], molecules[y == -1]
        >>> detector = GraphKDEDetector().fit(normal[:100])
        >>> detector.p_values(odd[:4]).round(2).tolist()
        [0.11, 0.11, 0.03, 0.13]
        >>> int(detector.select(odd, alpha=0.2).sum())
        35
        """
        calibration, scores = self._scores_for(X, adapt)
        return conformal_p_values(scores, calibration)

    def _scores_for(self, X: Any, adapt: bool) -> tuple[np.ndarray, np.ndarray]:
        """Scores of the calibration graphs and of others, which are judged alone or as one list."""
        check_is_fitted(self)
        if not self.is_calibrated_:
            raise ValueError(
                "calibration='train' includes each training graph in its own reference set, so its "
                "scores are not comparable with those of new graphs: use calibration='split', or "
                "'loo'"
            )
        if not adapt:
            return self.calibration_scores_, self.score_samples(X)
        batch = self.read(X)
        if not len(batch):
            return self.calibration_scores_, np.empty(0)
        self.warn_if_given_again(batch)
        with stage(f"Scoring {len(batch)} graphs", self.verbose), threads_for(len(batch)):
            calibration, scores = self._scores_together(batch)
        return calibration, finite(scores)

    def _scores_together(self, batch: GraphBatch) -> tuple[np.ndarray, np.ndarray]:
        """Scores of the calibration graphs and of others, which are judged as one list."""
        raise ValueError(
            f"{type(self).__name__} has no views, among which a list could choose: leave adapt out"
        )

    def select(self, X: Any, alpha: float = 0.1, *, adapt: bool = False) -> np.ndarray:
        """Select anomalies with a bounded false discovery rate.

        The method applies the procedure of Benjamini and Hochberg (1995) to :meth:`p_values`.

        Parameters
        ----------
        X : sequence of graphs, or GraphBatch
            Not those of `fit`. The selection of a graph depends on the number of graphs and on the
            p-values of the others.
        alpha : float, default=0.1
            Bound on the expected share of normal graphs among the selected ones, in (0, 1].
        adapt : bool, default=False
            As for :meth:`p_values`: a list with many anomalies shows which views find them.

        Returns
        -------
        ndarray of shape (n_graphs,), bool
            True for an anomaly.

        Raises
        ------
        ValueError
            If alpha is not in (0, 1], or if :meth:`p_values` raises it.

        Notes
        -----
        The bound holds with ``calibration="split"`` for independent test graphs (Bates et al.,
        Annals of Statistics, 2023), and approximately with "loo". No p-value is below 1 / (n + 1)
        with n calibration scores: to select k clear anomalies among m graphs, n must be at least
        about m / (alpha k).
        """
        check_alpha(alpha)  # before scoring, which takes time
        return discoveries(self.p_values(X, adapt=adapt), alpha, len(self.calibration_scores_))

    def count_odd(self, X: Any, confidence: float = 0.95, *, adapt: bool = False) -> int:
        """Count how many graphs of a list are anomalies, at least, without saying which.

        Parameters
        ----------
        X : sequence of graphs, or GraphBatch
            Not those of `fit`.
        confidence : float, default=0.95
            Probability with which at least so many are no normal graphs, in (0, 1).
        adapt : bool, default=False
            As for :meth:`p_values`.

        Returns
        -------
        int
            0 if the list may be normal as a whole.

        Raises
        ------
        ValueError
            If `confidence` is not in (0, 1), or if :meth:`p_values` raises it.

        Notes
        -----
        Closed testing by rank sums, see :func:`~skgraphkde.detectors.together.least_number_odd`,
        which holds where :meth:`select` does, on average over calibration sets.

        Examples
        --------
        >>> from skgraphkde import GraphKDEDetector
        >>> from skgraphkde.datasets import load_mutag
        >>> molecules, y = load_mutag(return_X_y=True)
        >>> detector = GraphKDEDetector().fit(molecules[y == 1][:100])
        >>> detector.count_odd(molecules[y == -1]) > 20
        True
        """
        check_scalar(
            confidence, "confidence", Real, min_val=0, max_val=1, include_boundaries="neither"
        )
        calibration, scores = self._scores_for(X, adapt)
        return least_number_odd(scores, calibration, 1 - confidence)

    def read(self, X: Any) -> GraphBatch:
        """Read graphs with the schema of the fitted detector, as all its methods do.

        Parameters
        ----------
        X : sequence of graphs, or GraphBatch
            An empty list is an empty batch.

        Returns
        -------
        GraphBatch

        Raises
        ------
        TypeError, ValueError
            If a graph is invalid, or lacks attributes that the training graphs had.
        """
        check_is_fitted(self)
        X = as_sequence(X)
        if len(X) == 0:
            return self.training_graphs_[:0]
        with stage("Reading", self.verbose):
            batch = align_to_schema(read_graphs(X, schema=self.schema_), self.schema_)
            if self.training_graphs_.name_keys is not None and batch.name_keys is None:
                batch = with_name_keys(batch)
        self._check_batch(batch)
        if self.schema_.missing == "indicate":
            warn_of_lacking(batch, self.training_graphs_)
        ignored = unread_attributes(self.given_schema, batch.schema.ignored, self.schema_.ignored)
        n_self_loops = 0 if self.schema_.n_self_loops else batch.schema.n_self_loops
        _warn_ignored(ignored, n_self_loops, "the training graphs did not have these attributes")
        return batch

    def count_unseen(self, batch: GraphBatch) -> np.ndarray:
        """Count what is in graphs and in no training graph.

        Parameters
        ----------
        batch : GraphBatch
            The result of :meth:`read`.

        Returns
        -------
        ndarray of shape (n_graphs,), int
            Number of values of categories, of nodes, edges and the graph, that are in no training
            graph; each counts once.
        """
        counts = np.zeros(len(batch), dtype=np.int64)
        for part in PARTS:
            known = self.training_graphs_.once(values_in_use, part)
            labels = batch.data(part).labels
            if labels is None:
                continue
            for name in batch.values_by_category(part):
                values, codes = batch.category(part, name)
                seen = set(known.get(name, ()))
                is_unseen = np.array([value not in seen for value in values], dtype=bool)
                here = np.flatnonzero(is_unseen[codes[labels]])
                if len(here):
                    of_graph = batch.owner(part)[here] * len(values) + codes[labels[here]]
                    owners = np.unique(of_graph) // len(values)
                    counts += np.bincount(owners, minlength=len(batch))
        return counts

    # -- files -------------------------------------------------------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        return {name: x for name, x in super().__getstate__().items() if name != "known_graphs"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._freeze()

    def _freeze(self) -> None:
        """Make fitted arrays read-only; files and pickles hold arrays that can be written to."""
        freeze([x for name, x in vars(self).items() if name.endswith("_")])

    def check_loaded(self) -> None:
        """Raise an error, of any class, if what a file holds does not fit together."""
        check_arrays(self)
        finite(self._checked_scores(self.training_graphs_[:1]))  # what else must fit
        self._freeze()

    def info(self) -> dict[str, Any]:
        """What the fitted detector is, for a log or a registry of models.

        Returns
        -------
        dict
            With "detector", its parameters as text; "versions" of what fitted it, by package;
            "n_graphs", "n_nodes" and "n_edges" of its training graphs, and "checksum", their
            SHA-256, without the ids of nodes; "schema", the names of the data that are read, by
            their kind; "contamination", "offset" and "n_scores", of the threshold; "n_verdicts".

        Examples
        --------
        >>> import networkx as nx
        >>> from skgraphkde import GraphKDEDetector
        >>> detector = GraphKDEDetector().fit([nx.cycle_graph(n) for n in range(10, 30)])
        >>> info = detector.info()
        >>> info["n_graphs"], len(info["checksum"])
        (20, 64)
        """
        check_is_fitted(self)
        graphs = self.training_graphs_
        schema = {kind: list(self.schema_.names(kind)) for kind in KINDS}
        share = self.calibration_.contamination
        return {
            "detector": " ".join(repr(self).split()),
            "versions": dict(self.versions_),
            "n_graphs": len(graphs),
            "n_nodes": graphs.n_nodes,
            "n_edges": int(graphs.n_edges_per_graph.sum()),
            "checksum": checksum(graphs),
            "schema": {kind: names for kind, names in schema.items() if names},
            "contamination": "auto" if share is None else share,
            "offset": float(self.offset_),
            "n_scores": len(self.calibration_scores_),
            "n_verdicts": int(np.count_nonzero(self.verdicts_)),
        }

    def save(self, path: Any) -> None:
        """Save the fitted detector to a file that :func:`skgraphkde.load` reads.

        The file contains the training graphs, without the ids of their nodes. The loaded detector
        returns the same scores on any machine, up to rounding, with or without a GPU.

        Parameters
        ----------
        path : str, path-like, or binary file
            An existing file is replaced in one step, and kept if writing fails. An open file, such
            as an ``io.BytesIO``, is written to.

        Raises
        ------
        NotFittedError
            If the detector is not fitted.
        OSError
            If the file cannot be written.
        """
        check_is_fitted(self)
        save(self, path)


def read_each(detector: BaseGraphDetector, graphs: Any, part: slice) -> GraphBatch:
    """Some graphs of a sequence as a detector reads them; none of them is a batch of several."""
    with positions_in(np.arange(part.start, part.stop)):
        check_single(graphs[part])
        return detector.read(graphs[part])


def check_single(graphs: Any) -> None:
    """Raise a GraphError if a graph of a list is a batch of several."""
    for i, graph in enumerate(() if isinstance(graphs, GraphBatch) else graphs):
        if isinstance(graph, GraphBatch) and len(graph) != 1:
            raise GraphError(i, f" is a batch of {len(graph)} graphs: give them one by one")


def text_of_one(error: Exception, called: Any) -> str:
    """The text of an error about a graph that was read alone, with its name or position."""
    if isinstance(error, GraphError) and isinstance(error.graph, int):
        error = GraphError(called, error.text)
    return encodable(str(error))


def check_target(X: Any, y: Any) -> None:
    """Check the length of a target that is ignored, and warn if scikit-learn would invert metrics.

    Raises
    ------
    ValueError
        If it has not one value for each graph.
    """
    if y is None:
        return
    graphs = as_sequence(X)
    n = len(graphs)
    if not isinstance(graphs, GraphBatch):
        n = sum(len(x) if isinstance(x, GraphBatch) else 1 for x in graphs)
    if len(y) != n:
        raise ValueError(f"y has {len(y)} values for {n} graphs: give one for each, or None")
    marks = np.asarray(y)
    if (marks == -1).any() and np.isin(y, (1, -1)).all():
        warn(
            f"y marks {np.count_nonzero(marks == -1)} of {n} graphs as anomalies, and fit takes "
            "all as normal: fit the normal ones alone, or give verdicts=y; in a search, refit=False"
        )
    elif not np.isin(y, (1, -1)).all():
        warn(
            "fit ignores y, and metrics such as roc_auc can be inverted unless y is 1 for "
            "normal graphs and -1 for anomalies: see skgraphkde.model_selection.OneClassKFold"
        )


def _warn_ignored(attributes: list[Ignored], n_self_loops: int, why: str) -> None:
    """Warn about ignored self-loops and attributes."""
    if n_self_loops:
        warn(f"left out: self-loops ({n_self_loops}), as no node is its own neighbor")
    if attributes:
        warn(f"not read: {listed(attributes, 20)}; {why}", IgnoredWarning)

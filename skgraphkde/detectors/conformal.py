"""Conformal p-values and selection, for any detector with calibration scores."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from skgraphkde.calibration import (
    LeaveOneOut,
    Split,
    check_alpha,
    conformal_p_values,
    discoveries,
    fewest_scores,
    finite,
    offset,
)
from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.persistence import State


class ConformalMixin:
    """Adds calibration, p-values and selection to a detector that fits and scores."""

    contamination: float
    random_state: Any
    contamination_: float
    n_graphs_seen_: int
    n_graphs_counted_: int
    is_calibrated_: bool
    calibration_scores_: np.ndarray
    calibration_graphs_: np.ndarray
    offset_: float

    # Methods that the detector defines.
    specification: Any
    score_samples: Any
    _fit_batch: Any
    _checked_scores: Any
    _snapshot: Any
    _check_batch: Any

    def _calibrate(
        self, batch: GraphBatch, counted: np.ndarray, position: np.ndarray, calibration: Any
    ) -> None:
        """Fit to the graphs that count, `counted`; `position` is which of them each graph is."""
        self.contamination_ = float(self.contamination)
        self.n_graphs_counted_ = len(counted)
        graphs = batch[counted] if len(counted) < len(batch) else batch
        rng = check_random_state(self.random_state)
        self.is_calibrated_ = calibration != "train"
        if isinstance(calibration, LeaveOneOut):
            scores = self._fit_batch(graphs, rng)
            if scores is None or np.shape(scores) != (len(graphs),):
                raise ValueError(
                    f"{type(self).__name__}._fit_batch must return the scores of the "
                    f"{len(graphs)} training graphs, each by the others, and returned {scores!r}"
                )
        elif isinstance(calibration, Split):
            set_aside, known = calibration.split(len(counted), self.contamination, rng)
            self._fit_batch(graphs[known], rng)
            # All copies of these: a graph that is set aside and common is as common among the new.
            counted = np.flatnonzero(np.isin(position, set_aside))
            self._check_batch(batch[counted])
            scores = self._scores_set_aside(batch[counted])
        else:
            self._fit_batch(graphs, rng)
            scores = self._checked_scores(graphs)
        self._set_calibration(scores, counted)

    def _scores_set_aside(self, graphs: GraphBatch) -> np.ndarray:
        """The scores of graphs that are set aside."""
        return self._checked_scores(graphs)

    def _set_calibration(self, scores: np.ndarray, counted: np.ndarray) -> None:
        """Compare with these scores, of the graphs `counted`, from now on."""
        self.calibration_scores_ = scores = finite(scores)
        self.calibration_graphs_ = counted
        needed = fewest_scores(self.contamination_)
        if self.is_calibrated_ and len(scores) < needed:
            warnings.warn(
                f"{len(scores)} training graphs cannot place a threshold that flags "
                f"{self.contamination_:.3g} of normal graphs: it will flag about 1 in "
                f"{len(scores) + 1}. Give at least {needed} graphs, or raise contamination",
                stacklevel=6,
            )
        interpolate = not self.is_calibrated_  # as the paper does
        self.offset_ = offset(scores, self.contamination_, interpolate=interpolate)

    def _take_calibration(self, state: State) -> None:
        """Take what a file has of all this."""
        self.offset_ = state.take_number("offset_")
        self.calibration_scores_ = state.take_array("calibration_scores_", float, (None,))
        n_scores = len(self.calibration_scores_)
        state.check(n_scores, "calibration_scores_ is empty")
        indices = state.take_array("calibration_graphs_", int, (n_scores,), low=0)
        self.calibration_graphs_ = indices
        self.is_calibrated_ = state.take("is_calibrated_", bool)
        self.n_graphs_seen_ = state.take_count("n_graphs_seen_", 2**62)
        self.contamination_, self.n_graphs_counted_ = self.contamination, self.n_graphs_seen_
        if "contamination_" in state:  # files that are older have neither
            self.contamination_ = state.take_number("contamination_", 1e-300, 0.5)
            counted = state.take_count("n_graphs_counted_", self.n_graphs_seen_)
            self.n_graphs_counted_ = counted

    @property
    def leaves_one_out(self) -> bool:
        """Whether `calibration` needs the scores of the training graphs, each by the others."""
        return isinstance(self.specification("calibration"), LeaveOneOut)

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
        return conformal_p_values(fitted.score_samples(graphs), fitted.calibration_scores_)

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

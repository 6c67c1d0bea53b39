"""P-values of views: scores -> log p-values, and the weights with which these are summed."""

from __future__ import annotations

import numpy as np

from skgraphkde.calibration import conformal_p_values, rounding


class LogPValues:
    """Conformal p-values of one view, extrapolated in the tail.

    With the surprise x = -s, and n training scores,

        log p(s) = log((1 + #{scores <= s}) / (n + 1)) - log(1 + max(x - t, 0) / b).

    The second term ranks graphs that are more surprising than any training graph, and training
    graphs that are far more surprising than the others. Its tail is an exponential distribution
    above the median q of the surprises: the scale b is the median excess over q, divided by log 2,
    and t = q + b log k is about the largest of k such surprises, with k the number above q. Three
    quarters of the graphs thus determine the tail, and anomalies among the training graphs do not
    mask each other. If no surprise reaches t, the tail begins at the largest.

    The largest training surprise is excluded from q, b and k, so that each graph in the tail is
    judged by others. If new graphs were measured from an outlier among the training graphs, and the
    outlier from the bulk, the outlier would always have the lower p-value.

    Parameters
    ----------
    scores : ndarray of shape (n,)
        Leave-one-out scores of the training graphs, all finite; n is at least 2.
    """

    def __init__(self, scores: np.ndarray) -> None:
        self.scores = scores
        self._sorted = np.sort(scores)
        largest, second = -self._sorted[:2]
        expected, self._scale = _exponential_tail(-self._sorted[1:])
        self._tail = min(expected, second)
        # New graphs between the two most surprising training graphs are in the tail if these are.
        self._first = expected if expected < second else largest

    def __call__(self, scores: np.ndarray) -> np.ndarray:
        """Log p-values of new graphs, shape (n_graphs,); NaN for a score that is not finite."""
        is_finite = np.isfinite(scores)
        scores = np.where(is_finite, scores, 0.0)
        log_p = np.log(conformal_p_values(scores, self._sorted))
        log_p -= self._log_excess(scores, self._first)
        return np.where(is_finite, log_p, np.nan)  # a NaN has no p-value

    def leave_one_out(self) -> np.ndarray:
        """Leave-one-out log p-values of the training graphs, shape (n,)."""
        n = len(self.scores)
        # The count of scores as low includes the graph's own: (1 + others) / ((n - 1) + 1).
        log_p = np.log((conformal_p_values(self.scores, self._sorted) * (n + 1) - 1) / n)
        return log_p - self._log_excess(self.scores, self._tail)

    def _log_excess(self, scores: np.ndarray, first: float) -> np.ndarray:
        """log(1 + (x - t) / b) of the surprises x above the first of the tail, and 0 elsewhere."""
        is_above = -scores > first + rounding(first)
        return np.log1p(np.where(is_above, -scores - self._tail, 0.0) / self._scale)


def view_weights(log_p_values: np.ndarray) -> np.ndarray:
    """Weights of views, smaller for views that say the same as others.

    w_v = c / sum_u |r_uv|, with r_uv the correlation of the log p-values of views u and v, and c
    such that the mean weight is 1. Views that always agree share the weight of one.

    Parameters
    ----------
    log_p_values : ndarray of shape (n_views, n)
        Leave-one-out log p-values of the training graphs.

    Returns
    -------
    ndarray of shape (n_views,)

    Examples
    --------
    >>> import numpy as np
    >>> view, other = np.log([[0.2, 0.4, 0.6, 0.8], [0.6, 0.2, 0.8, 0.4]])
    >>> view_weights(np.array([view, view, other])).round(2)
    array([0.77, 0.77, 1.46])
    """
    varies = np.ptp(log_p_values, axis=1) > rounding(0.0)
    correlations = np.eye(len(log_p_values))  # a constant view says nothing that others say
    correlations[np.ix_(varies, varies)] = np.abs(np.corrcoef(log_p_values[varies]))
    weights = 1 / correlations.sum(axis=1)
    return weights / weights.mean()


def _exponential_tail(surprises: np.ndarray) -> tuple[float, float]:
    """Largest expected surprise and scale of the exponential distribution above the median."""
    median = np.median(surprises)
    excess = (surprises - median)[surprises > median + rounding(median)]
    if not len(excess):
        return float(median), 1.0
    scale = np.median(excess) / np.log(2)
    return float(median + scale * np.log(len(excess))), float(scale)

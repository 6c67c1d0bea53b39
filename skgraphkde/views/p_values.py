"""P-values of views: scores -> log p-values, and the weights with which these are summed."""

from __future__ import annotations

import numpy as np

from skgraphkde.calibration import conformal_p_values, rounding

# Quantile of the surprises at which the tail begins.
TAIL_QUANTILE = 0.9


class LogPValues:
    """Conformal p-values of one view, extrapolated below the lowest training score.

    log p(s) = log((1 + #{scores <= s}) / (n + 1)), and below all scores

        log p(s) = -log(n + 1) - log(1 + (s_2 - s) / b),

    with s_2 the second lowest score and b the mean excess of the surprises (minus the scores) over
    their 90% quantile, or 1 if no surprise exceeds it. The extrapolation ranks graphs that are more
    surprising than all training graphs. s_2 and b exclude the lowest score, because its own
    leave-one-out p-value depends on the other scores only. If new graphs were measured from an
    outlier among the training graphs, and the outlier from the bulk, the outlier would always have
    the lower p-value.

    Parameters
    ----------
    scores : ndarray of shape (n,)
        Leave-one-out scores of the training graphs, all finite; n is at least 2.
    """

    def __init__(self, scores: np.ndarray) -> None:
        self.scores = scores
        self._sorted = np.sort(scores)
        self._second = self._sorted[1]
        self._scale = _mean_excess(-self._sorted[1:])

    def __call__(self, scores: np.ndarray) -> np.ndarray:
        """Log p-values of new graphs, shape (n_graphs,); NaN for a score that is not finite."""
        is_finite = np.isfinite(scores)
        scores = np.where(is_finite, scores, 0.0)
        log_p = np.log(conformal_p_values(scores, self._sorted))
        lowest = self._sorted[0]
        log_p -= np.where(scores < lowest - rounding(lowest), self._log_excess(scores), 0.0)
        return np.where(is_finite, log_p, np.nan)  # a NaN has no p-value

    def leave_one_out(self) -> np.ndarray:
        """Leave-one-out log p-values of the training graphs, shape (n,)."""
        n = len(self.scores)
        # The count of scores as low includes the graph's own: (1 + others) / ((n - 1) + 1).
        log_p = np.log((conformal_p_values(self.scores, self._sorted) * (n + 1) - 1) / n)
        return log_p - self._log_excess(self.scores)  # nonzero for the lowest score only

    def _log_excess(self, scores: np.ndarray) -> np.ndarray:
        """log(1 + (s_2 - s) / b) below s_2, and 0 elsewhere."""
        is_below = scores < self._second - rounding(self._second)
        return np.log1p(np.where(is_below, self._second - scores, 0.0) / self._scale)


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


def _mean_excess(surprises: np.ndarray) -> float:
    """Mean excess over the 90% quantile; 1 if no surprise exceeds it."""
    quantile = np.quantile(surprises, TAIL_QUANTILE)
    above = surprises[surprises > quantile + rounding(quantile)]
    return float((above - quantile).mean()) if len(above) else 1.0

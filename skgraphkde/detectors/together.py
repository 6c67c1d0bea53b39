"""Graphs that are judged as one list: log p-values -> scores, with weights that follow the list."""

from __future__ import annotations

import numpy as np
from scipy.stats import norm

from skgraphkde.core.scoring.calibration import rounding

# One graph is no more evidence for a view than if one in so many thousands were as odd.
MOST_SURPRISE = 10.0
# Mean of minus log p of graphs like the known ones.
USUAL_SURPRISE = 1.0


def scores_together(
    calibration: np.ndarray,
    judged: np.ndarray,
    weights_of_calibration: np.ndarray,
    weights: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Scores in which a view counts more if the judged graphs are odd in it.

    The weight of a view is multiplied by 1 + max(e, 0), where e is the excess of the mean surprise,
    minus log p, of the judged graphs over that of graphs like the known ones. It is estimated from
    all graphs but the scored one, those of the calibration included:

        e_v(i) = (sum over j != i of min(-log p_v(j), 10) - (n - 1)) / n_judged,

    with n the number of graphs of both kinds. The score of a graph is thus the same function of its
    own log p-values and of the set of all log p-values, whether it belongs to the calibration or is
    judged: if normal graphs of both kinds are exchangeable, so are their scores, and their
    conformal p-values are valid together (AdaDetect: Marandon, Lei, Mary and Roquain, Annals of
    Statistics, 2024).

    Parameters
    ----------
    calibration : ndarray of shape (n_views, n_calibration)
        Log p-values of normal graphs, times the weights of the views.
    judged : ndarray of shape (n_views, n_judged)
        Those of the judged graphs.
    weights_of_calibration : ndarray of shape (n_views, n_calibration) or (n_views, 1)
        The weights in `calibration`. Of those learned from verdicts, each graph has its own.
    weights : ndarray of shape (n_views, 1)
        The weights in `judged`.

    Returns
    -------
    calibration, judged : ndarray
        Scores; higher for normal graphs.
    """
    n_calibration = calibration.shape[1]
    n_judged = judged.shape[1]
    log_p_values = np.hstack([calibration, judged])
    unweighted = np.hstack([calibration / weights_of_calibration, judged / weights])
    surprises = np.minimum(-unweighted, MOST_SURPRISE)
    n_others = n_calibration + n_judged - 1
    of_others = surprises.sum(axis=1, keepdims=True) - surprises
    excess = (of_others - USUAL_SURPRISE * n_others) / n_judged
    factors = 1 + np.maximum(excess, 0)
    factors /= factors.mean(axis=0)
    scores = (factors * log_p_values).sum(axis=0)
    return scores[:n_calibration], scores[n_calibration:]


def least_number_odd(scores: np.ndarray, calibration: np.ndarray, level: float) -> int:
    """Number of graphs of a list that are not normal, at least, with probability 1 - level.

    Closed testing (Goeman and Solari, Statistical Science, 2011): m - h, where h is the size of the
    largest set of graphs that may be normal. It may be if the rank-sum test (Mann and Whitney,
    1947) of its scores against the calibration does not reject; of each size, the graphs with the
    highest scores are the last to be rejected, so that one test of each size is enough.

    Parameters
    ----------
    scores : ndarray of shape (n_graphs,)
        Of the judged graphs; lower for odder ones.
    calibration : ndarray of shape (n_calibration,)
        Scores of normal graphs.
    level : float
        In (0, 1).

    Returns
    -------
    int

    Examples
    --------
    >>> import numpy as np
    >>> normal = np.arange(100.0)
    >>> least_number_odd(np.concatenate([normal[:50] - 90, normal[::4]]), normal, 0.05)
    45
    """
    n = len(calibration)
    ordered = np.sort(calibration)
    tolerance = rounding(scores)
    n_below = np.searchsorted(ordered, scores - tolerance)
    n_equal = np.searchsorted(ordered, scores + tolerance, side="right") - n_below
    higher_than = np.sort(n_below + n_equal / 2)[::-1]
    sizes = np.arange(1, len(scores) + 1)
    deviations = np.sqrt(n * sizes * (n + sizes + 1) / 12)
    # Half a rank for the distance between a sum of ranks and the normal distribution.
    z = (higher_than.cumsum() - n * sizes / 2 + 0.5) / deviations
    may_be_normal = np.flatnonzero(norm.cdf(z) > level)
    return len(scores) - (int(may_be_normal[-1]) + 1 if len(may_be_normal) else 0)

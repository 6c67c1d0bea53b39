"""Comparing: two piles of graphs -> whether they differ, and in which views.

Both piles are fitted as one, so that no label is in a feature or a scale. In each view, a statistic
says how far the piles are from each other; what it would be by chance follows from exchanging
graphs between them.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import rankdata
from sklearn.utils import check_random_state, check_scalar

from skgraphkde._utils import progress, stage
from skgraphkde.core.graphs.batch import GraphBatch
from skgraphkde.core.scoring.calibration import LeaveOneOut, rounding
from skgraphkde.core.scoring.model import GraphModel
from skgraphkde.detectors.base import as_sequence
from skgraphkde.detectors.estimator import GraphKDEDetector

__all__ = ["Comparison", "compare"]

# Graphs that are told of each pile, at most.
MOST_TYPICAL = 5
# A matrix of distances of more graphs would take gigabytes.
MOST_GRAPHS = 10_000


class Comparison(NamedTuple):
    """How two piles of graphs differ.

    Parameters
    ----------
    p_value : float
        Of the hypothesis that both piles are draws from one source: of the largest standardized
        statistic of a view, in [1 / (n_permutations + 1), 1].
    views : DataFrame
        A row for each view, the strongest first: its name, the standardized "statistic", and the
        "p_value" that is adjusted for all views.
    typical : tuple of two ndarrays of int
        Positions in each pile of the graphs that are most unlike the other one, in the strongest
        view that has distances.
    detector : GraphKDEDetector
        Fitted to both piles, the first one first.
    """

    p_value: float
    views: pd.DataFrame
    typical: tuple[np.ndarray, np.ndarray]
    detector: GraphKDEDetector


def compare(
    X: Any,
    Z: Any,
    *,
    schema: Any = None,
    n_permutations: int = 999,
    blocks: Any = None,
    random_state: Any = None,
) -> Comparison:
    """Test if two piles of graphs come from one source, in all views of the detector at once.

    Parameters
    ----------
    X, Z : sequence of graphs, or GraphBatch
        At least 2 graphs each, together at most 10,000.
    schema : GraphSchema, "all", "molecule" or None, default=None
        As of :class:`GraphKDEDetector`.
    n_permutations : int, default=999
        Number of random exchanges of graphs between the piles, at least 19.
    blocks : array-like of shape (n_graphs,), default=None
        A value for each graph, those of `X` first, such as its site: graphs are exchanged within
        blocks only, so that a difference between blocks is no difference between the piles.
    random_state : int, RandomState instance or None, default=None
        Seed or generator of the exchanges.

    Returns
    -------
    Comparison

    Raises
    ------
    TypeError, ValueError
        If a graph cannot be used, there are too few or too many, or no block has graphs of both
        piles.

    Notes
    -----
    In a view with distances, the statistic is the energy distance (Szekely and Rizzo, 2013), 2 E
    d(x, z) - E d(x, x') - E d(z, z'), of all pairs; in others, the difference between the mean
    ranks of the leave-one-out scores. Each is standardized by its mean and deviation over all
    exchanges, the given piles included, so that the test of the largest one is exact, and each view
    has a p-value that is adjusted for all of them (Westfall and Young, 1993).

    Examples
    --------
    >>> import networkx as nx
    >>> from skgraphkde.comparing import compare
    >>> before = [nx.connected_watts_strogatz_graph(20, 4, 0.1, seed=seed) for seed in range(20)]
    >>> after = [nx.connected_watts_strogatz_graph(20, 4, 0.6, seed=seed) for seed in range(20)]
    >>> compare(before, after, n_permutations=199, random_state=0).p_value
    0.005
    >>> same = [nx.connected_watts_strogatz_graph(20, 4, 0.1, seed=seed) for seed in range(20, 40)]
    >>> compare(before, same, n_permutations=199, random_state=0).p_value > 0.05
    True
    """
    check_scalar(n_permutations, "n_permutations", Integral, min_val=19)
    first = as_sequence(X)
    second = as_sequence(Z)
    sizes = [len(first), len(second)]
    n = sum(sizes)
    if min(sizes) < 2 or n > MOST_GRAPHS:
        raise ValueError(
            f"each pile needs at least 2 graphs, and both at most {MOST_GRAPHS}: got {sizes[0]} "
            f"and {sizes[1]}"
        )
    is_first = np.repeat([True, False], sizes)
    exchanged = _exchange(is_first, _codes_of(blocks, n, is_first), n_permutations, random_state)
    detector = GraphKDEDetector(
        schema=schema,
        calibration=LeaveOneOut(copies="apart"),
        contamination="auto",
        max_references=None,
        random_state=0,
    ).fit(_together(first, second))
    with stage("Comparing", 0):
        distances, statistics = _statistics(detector.model_, exchanged)
    deviations = statistics.std(axis=1, keepdims=True)
    # A view in which all exchanges are alike says nothing.
    deviations[deviations <= rounding(statistics).max(axis=1, keepdims=True)] = np.inf
    standardized = (statistics - statistics.mean(axis=1, keepdims=True)) / deviations
    largest = standardized.max(axis=0)
    own = standardized[:, :1]
    p_values = np.mean(largest >= own - rounding(own), axis=1)
    views = pd.DataFrame(
        {
            "view": detector.model_.view_names,
            "statistic": own[:, 0],
            "p_value": p_values,
        }
    )
    order = np.argsort(-own[:, 0], kind="stable")
    strongest = next(int(i) for i in order if int(i) in distances)
    return Comparison(
        float(p_values.min()),
        views.iloc[order].reset_index(drop=True),
        _typical(distances[strongest], is_first),
        detector,
    )


def _together(first: Any, second: Any) -> Any:
    """Both piles as one list."""
    if isinstance(first, GraphBatch) and isinstance(second, GraphBatch):
        return GraphBatch.concatenate([first, second])
    return [*first, *second]


def _codes_of(blocks: Any, n: int, is_first: np.ndarray) -> np.ndarray:
    """The number of the block of each graph."""
    if blocks is None:
        return np.zeros(n, dtype=np.int64)
    values = list(blocks)
    if len(values) != n:
        raise ValueError(f"blocks has {len(values)} values for {n} graphs: give one for each")
    codes, _ = pd.factorize(pd.Series(values, dtype=object), use_na_sentinel=False)
    n_first = np.bincount(codes, is_first)
    if not ((n_first > 0) & (n_first < np.bincount(codes))).any():
        raise ValueError(
            "each block has graphs of one pile only, so that nothing can be exchanged: leave "
            "blocks out, or choose others"
        )
    return codes


def _exchange(
    is_first: np.ndarray, blocks: np.ndarray, n_permutations: int, random_state: Any
) -> np.ndarray:
    """Which graphs are in the first pile: as given, and after random exchanges within blocks.

    Returns
    -------
    ndarray of shape (n_graphs, n_permutations + 1), float64
        1 for those in the first pile.
    """
    rng = check_random_state(random_state)
    exchanged = np.empty((len(is_first), n_permutations + 1))
    exchanged[:, 0] = is_first
    for block in range(blocks.max() + 1):
        members = np.flatnonzero(blocks == block)
        for k in range(1, n_permutations + 1):
            exchanged[members, k] = is_first[rng.permutation(members)]
    return exchanged


def _statistics(
    model: GraphModel, exchanged: np.ndarray
) -> tuple[dict[int, np.ndarray], np.ndarray]:
    """Distances of the views that have them, and the statistic of each view and exchange.

    Returns
    -------
    distances : dict of int -> ndarray of shape (n_graphs, n_graphs)
        By the index of the view.
    statistics : ndarray of shape (n_views, n_permutations + 1)
    """
    context = model.context_of_references
    nobody = np.full(len(model.references), -1)
    distances = dict[int, np.ndarray]()
    statistics = np.empty((len(model.views), exchanged.shape[1]))
    for i, view in enumerate(progress(model.views)):
        if view.has_distances:
            D = view.distances(context, context, nobody)
            distances[i] = (D + D.T) / 2
            statistics[i] = _energy(distances[i], exchanged)
        else:
            statistics[i] = _difference(model.training_scores[i], exchanged)
    return distances, statistics


def _energy(D: np.ndarray, exchanged: np.ndarray) -> np.ndarray:
    """Energy distance between the piles of each exchange, shape (n_permutations + 1,)."""
    n_first = exchanged[:, 0].sum()
    n_second = len(D) - n_first
    to_first = D @ exchanged
    within_first = (exchanged * to_first).sum(axis=0)
    between = to_first.sum(axis=0) - within_first
    within_second = D.sum() - within_first - 2 * between
    return (
        2 * between / (n_first * n_second) - within_first / n_first**2 - within_second / n_second**2
    )


def _difference(scores: np.ndarray, exchanged: np.ndarray) -> np.ndarray:
    """Distance between the mean ranks of both piles, in each exchange."""
    ranks = rankdata(scores)
    n_first = exchanged[:, 0].sum()
    of_first = ranks @ exchanged
    return np.abs(of_first / n_first - (ranks.sum() - of_first) / (len(ranks) - n_first))


def _typical(D: np.ndarray, is_first: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Positions in each pile of the graphs that are much further from the other than from it."""
    found = []
    for is_own in (is_first, ~is_first):
        own = D[np.ix_(is_own, is_own)].sum(axis=1) / (is_own.sum() - 1)
        others = D[np.ix_(is_own, ~is_own)].mean(axis=1)
        found.append(np.argsort(own - others, kind="stable")[:MOST_TYPICAL])
    return found[0], found[1]

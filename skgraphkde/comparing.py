"""Comparing: two piles of graphs -> whether they differ, in which views, and in what.

Both piles are fitted as one, so that no label is in a feature or a scale. In each view, a statistic
says how far the piles are from each other; what it would be by chance follows from exchanging
graphs between them.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import rankdata
from sklearn.utils import check_random_state, check_scalar

from skgraphkde._utils import progress, stage, warn
from skgraphkde._words import number
from skgraphkde.core.graphs.batch import GraphBatch
from skgraphkde.core.scoring.calibration import LeaveOneOut, rounding
from skgraphkde.core.scoring.model import GraphModel
from skgraphkde.detectors.base import as_sequence, check_single
from skgraphkde.detectors.estimator import GraphKDEDetector
from skgraphkde.explanation.quantities import Quantities

__all__ = ["Comparison", "compare"]

# Graphs that are told of each pile, and findings, at most.
MOST_TYPICAL = 5
MOST_FINDINGS = 50
# Of more graphs, some are compared, drawn at random: distances take the square of their number.
MOST_GRAPHS = 4_000
# Graphs of nearly one size are exchanged among so many, or more, if they are of one size.
PER_SIZE = 4
# Findings whose ranks go together so closely say the same.
ALIKE = 0.9
#: What the view of the strongest finding is called.
SINGLE = "single differences"
#: The columns of findings.
COLUMNS = (
    *("kind", "what", "finding", "first", "second"),
    *("statistic", "p_value", "goes_with"),
)


class Comparison(NamedTuple):
    """How two piles of graphs differ.

    Parameters
    ----------
    p_value : float
        Of the hypothesis that both piles are draws from one source: of the largest standardized
        statistic of a view, in [1 / (n_permutations + 1), 1].
    views : DataFrame
        A row for each view, the strongest first: its name, "single differences" for the strongest
        finding; the standardized "statistic"; the "p_value" that is adjusted for all views; and
        "p_alone", which is that of a view that was chosen before the graphs were seen.
    findings : DataFrame
        What the piles have of single statistics and kinds of nodes and edges, at most 50, the
        strongest first, and of about equal ones the plainest: "kind" and "what" for programs; the
        "finding" in words; "first" and "second", the share of graphs, the median or the mean in
        each pile; the standardized "statistic"; the
        "p_value", adjusted for all that were compared; and "goes_with", the position of an earlier
        finding that says about the same, or -1.
    typical : tuple of two ndarrays of int
        Positions in each pile of the graphs that are most unlike the other one, in the strongest
        view of those with distances.
    detector : GraphKDEDetector
        Fitted to both piles, the first one first.
    """

    p_value: float
    views: pd.DataFrame
    findings: pd.DataFrame
    typical: tuple[np.ndarray, np.ndarray]
    detector: GraphKDEDetector

    def __str__(self) -> str:
        alone = first_of_alike(self.findings).head(MOST_TYPICAL)
        lines = [f"p = {number(self.p_value)} that the piles are of one source"]
        for text, p_value in zip(alone["finding"], alone["p_value"], strict=True):
            lines.append(f"  {text}; p = {number(p_value)}")
        return "\n".join(lines)


def compare(
    X: Any,
    Z: Any,
    *,
    schema: Any = None,
    n_permutations: int = 999,
    blocks: Any = None,
    match: Literal["size"] | None = None,
    names: tuple[str, str] = ("the first", "the second"),
    random_state: Any = None,
) -> Comparison:
    """Test if two piles of graphs come from one source, in all views of the detector at once.

    Parameters
    ----------
    X, Z : sequence of graphs, or GraphBatch
        At least 2 graphs each. Of more than 4,000 graphs together, so many are compared, drawn at
        random in proportion, and a warning says so.
    schema : GraphSchema, "all", "molecule" or None, default=None
        As of :class:`GraphKDEDetector`.
    n_permutations : int, default=999
        Number of random exchanges of graphs between the piles, at least 19.
    blocks : array-like of shape (n_graphs,), default=None
        A value for each graph, those of `X` first, such as its site: graphs are exchanged within
        blocks only, so that a difference between blocks is no difference between the piles.
    match : {"size"} or None, default=None
        "size": graphs are exchanged among four or more that are next to each other in their numbers
        of nodes, and of edges, so that a difference of sizes alone is none.
    names : tuple of two str, default=("the first", "the second")
        What findings call the piles.
    random_state : int, RandomState instance or None, default=None
        Seed or generator of the exchanges.

    Returns
    -------
    Comparison

    Raises
    ------
    TypeError, ValueError
        If a graph cannot be used, there are too few, or no block has graphs of both piles.

    Notes
    -----
    The statistic of a view is the energy distance (Szekely and Rizzo, 2013), 2 E d(x, z) - E d(x,
    x') - E d(z, z'), of all pairs; that of a single number is the difference between the mean ranks
    of both piles. Each is standardized by its mean and deviation over all exchanges, the given
    piles included, so that the test of the largest one is exact, and each has a p-value that is
    adjusted for all of its kind (Westfall and Young, 1993). The strongest finding counts as a view;
    views without distances do not.

    Examples
    --------
    >>> import networkx as nx
    >>> from skgraphkde.comparing import compare
    >>> before = [nx.connected_watts_strogatz_graph(20, 4, 0.1, seed=seed) for seed in range(20)]
    >>> after = [nx.connected_watts_strogatz_graph(20, 4, 0.6, seed=seed) for seed in range(20)]
    >>> found = compare(before, after, n_permutations=199, random_state=0)
    >>> found.p_value
    0.005
    >>> print(found)  # doctest: +ELLIPSIS
    p = 0.005 that the piles are of one source
      ...
    >>> same = [nx.connected_watts_strogatz_graph(20, 4, 0.1, seed=seed) for seed in range(20, 40)]
    >>> compare(before, same, n_permutations=199, random_state=0).p_value > 0.05
    True
    """
    check_scalar(n_permutations, "n_permutations", Integral, min_val=19)
    if match not in (None, "size"):
        raise ValueError(f'match must be "size" or None, got {match!r}')
    if not isinstance(names, tuple | list) or len(names) != 2 or names[0] == names[1]:
        raise ValueError(f"names must be two, one for each pile, got {names!r}")
    first = as_sequence(X)
    second = as_sequence(Z)
    check_single(first)
    check_single(second)
    sizes = [len(first), len(second)]
    n = sum(sizes)
    if min(sizes) < 2:
        raise ValueError(f"each pile needs at least 2 graphs, got {sizes[0]} and {sizes[1]}")
    is_first = np.repeat([True, False], sizes)
    codes = _codes_of(blocks, n)
    rng = check_random_state(random_state)
    index = _some_of_each(is_first, rng)
    if len(index) < n:
        warn(f"{len(index)} of {n} graphs are compared, drawn at random from both piles")
    graphs = _together(first, second, index)
    is_first = is_first[index]
    detector = GraphKDEDetector(
        schema=schema,
        calibration=LeaveOneOut(copies="apart"),
        contamination="auto",
        max_references=None,
        random_state=0,
    ).fit(graphs)
    model = detector.model_
    codes = codes[index]
    if match == "size":
        codes = _codes_of_size(model.references, codes)
    _check_exchangeable(codes, is_first)
    exchanged = _exchange(is_first, codes, n_permutations, rng)
    with stage("Comparing", 0):
        view_names, statistics, typical = _compare_views(model, exchanged)
        quantities = Quantities(model)
        of_quantities = abs(_standardized(_differences(quantities.values, exchanged)))
    strongest = int(_standardized(statistics)[:, 0].argmax())
    of_views = _standardized(np.vstack([statistics, of_quantities.max(axis=0)]))
    own, p_values = _adjusted(of_views)
    alone = [float(_adjusted(of_view[np.newaxis])[1][0]) for of_view in of_views]
    views = pd.DataFrame(
        {
            "view": [*view_names, SINGLE],
            "statistic": own,
            "p_value": p_values,
            "p_alone": alone,
        }
    )
    first_of, second_of = typical[strongest]
    return Comparison(
        float(p_values.min()),
        views.sort_values("statistic", ascending=False, kind="stable", ignore_index=True),
        _findings(quantities, of_quantities, is_first, names),
        (index[first_of], index[second_of] - sizes[0]),
        detector,
    )


def first_of_alike(findings: pd.DataFrame) -> pd.DataFrame:
    """The rows of a part of the findings that go with none before them in that part."""
    return findings[~findings["goes_with"].isin(findings.index)]


def _some_of_each(is_first: np.ndarray, rng: np.random.RandomState) -> np.ndarray:
    """Indices of all graphs, or of as many as are compared, in proportion."""
    n = len(is_first)
    if n <= MOST_GRAPHS:
        return np.arange(n)
    chosen = []
    for members in (np.flatnonzero(is_first), np.flatnonzero(~is_first)):
        n_chosen = min(len(members), max(2, round(MOST_GRAPHS * len(members) / n)))
        chosen.append(np.sort(rng.permutation(members)[:n_chosen]))
    return np.concatenate(chosen)


def _together(first: Any, second: Any, index: np.ndarray) -> Any:
    """Some graphs of both piles as one list."""
    if isinstance(first, GraphBatch) and isinstance(second, GraphBatch):
        return GraphBatch.concatenate([first, second])[index]
    both = [*first, *second]
    return [both[i] for i in index.tolist()]


def _codes_of(blocks: Any, n: int) -> np.ndarray:
    """The number of the block of each graph."""
    if blocks is None:
        return np.zeros(n, dtype=np.int64)
    if isinstance(blocks, str) or np.ndim(blocks) != 1:
        raise ValueError("blocks must be a list of one value for each graph, such as its site")
    values = pd.Series(list(blocks), dtype=object)
    if len(values) != n:
        raise ValueError(f"blocks has {len(values)} values for {n} graphs: give one for each")
    return pd.factorize(values, use_na_sentinel=False)[0]


def _codes_of_size(graphs: GraphBatch, blocks: np.ndarray) -> np.ndarray:
    """Blocks of a few graphs that are next to each other in size, within the given blocks.

    Graphs of the same size are in the same block, in whatever order they come.
    """
    sizes = np.column_stack([blocks, graphs.n_nodes_per_graph, graphs.n_edges_per_graph])
    distinct, place, n_of = np.unique(sizes, axis=0, return_inverse=True, return_counts=True)
    code_of = np.zeros(len(distinct), dtype=np.int64)
    n_in_code = 0
    for i in range(1, len(distinct)):  # those of one size stay together
        n_in_code += n_of[i - 1]
        is_full = n_in_code >= PER_SIZE or distinct[i, 0] != distinct[i - 1, 0]
        code_of[i] = code_of[i - 1] + is_full
        n_in_code *= not is_full
    codes = code_of[place.reshape(-1)]
    # The largest ones of a block may be too few: they join those before them.
    for block in np.unique(blocks):
        of_block = np.unique(codes[blocks == block])
        is_last = codes == of_block[-1]
        if len(of_block) > 1 and is_last.sum() < PER_SIZE:
            codes[is_last] = of_block[-2]
    return np.unique(codes, return_inverse=True)[1]


def _check_exchangeable(blocks: np.ndarray, is_first: np.ndarray) -> None:
    """Raise a ValueError if no block has graphs of both piles."""
    n_first = np.bincount(blocks, is_first)
    if not ((n_first > 0) & (n_first < np.bincount(blocks))).any():
        raise ValueError(
            "each block has graphs of one pile only, so that nothing can be exchanged: leave "
            "blocks or match out, or choose other blocks"
        )


def _exchange(
    is_first: np.ndarray, blocks: np.ndarray, n_permutations: int, rng: np.random.RandomState
) -> np.ndarray:
    """Which graphs are in the first pile: as given, and after random exchanges within blocks.

    Returns
    -------
    ndarray of shape (n_graphs, n_permutations + 1), float64
        1 for those in the first pile.
    """
    exchanged = np.empty((len(is_first), n_permutations + 1))
    exchanged[:, 0] = is_first
    order = np.argsort(blocks, kind="stable")
    for k in range(1, n_permutations + 1):
        # Within each block, the members in a random order.
        shuffled = np.lexsort([rng.random_sample(len(is_first)), blocks])
        exchanged[order, k] = is_first[shuffled]
    return exchanged


def _compare_views(
    model: GraphModel, exchanged: np.ndarray
) -> tuple[list[str], np.ndarray, list[tuple[np.ndarray, np.ndarray]]]:
    """The views that have distances: their names, statistics, and the typical graphs.

    Returns
    -------
    names : list of str
    statistics : ndarray of shape (n_views, n_permutations + 1)
    typical : list of tuple of two ndarrays of int
        Indices of graphs of both piles, as of :func:`_typical`.
    """
    context = model.context_of_references
    nobody = np.full(len(model.references), -1)
    is_first = exchanged[:, 0] == 1
    names = []
    statistics = []
    typical = []
    for view in progress([x for x in model.views if x.has_distances]):
        D = view.distances(context, context, nobody)
        D = (D + D.T) / 2
        names.append(view.name)
        statistics.append(_energy(D, exchanged))
        typical.append(_typical(D, is_first))
    return names, np.array(statistics), typical


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


def _differences(values: np.ndarray, exchanged: np.ndarray) -> np.ndarray:
    """Difference between the mean ranks of both piles, shape (n_quantities, n_permutations + 1).

    A number that is missing has the mean rank.
    """
    n = len(values)
    n_first = exchanged[:, 0].sum()
    # The ranks add up to 0: those of the second pile are minus those of the first.
    return (_centered_ranks(values).T @ exchanged) * (n / (n_first * (n - n_first)))


def _centered_ranks(values: np.ndarray) -> np.ndarray:
    """Ranks in each column, minus their mean; 0 for a number that is missing."""
    ranks = rankdata(values, axis=0, nan_policy="omit")
    return np.nan_to_num(ranks - np.nanmean(ranks, axis=0))


def _standardized(statistics: np.ndarray) -> np.ndarray:
    """Statistics in deviations from their mean over all exchanges; 0 where all are alike."""
    if not len(statistics):
        return statistics
    deviations = statistics.std(axis=1, keepdims=True)
    deviations[deviations <= rounding(statistics).max(axis=1, keepdims=True)] = np.inf
    return (statistics - statistics.mean(axis=1, keepdims=True)) / deviations


def _adjusted(standardized: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The statistics of the given piles, and p-values adjusted for all of them."""
    own = standardized[:, 0]
    largest = standardized.max(axis=0)
    # Equal statistics are equal, however they are rounded.
    own_or_less = (own - rounding(own))[:, np.newaxis]
    return own, np.mean(largest >= own_or_less, axis=1)


def _findings(
    quantities: Quantities,
    standardized: np.ndarray,
    is_first: np.ndarray,
    piles: tuple[str, str],
) -> pd.DataFrame:
    """The table of single numbers and kinds in which the piles differ most."""
    own, p_values = _adjusted(standardized)
    strongest = np.argsort(-own * quantities.plainness, kind="stable")[:MOST_FINDINGS]
    strongest = strongest[own[strongest] > rounding(0.0)]
    ranks = _centered_ranks(quantities.values[:, strongest])
    norms = np.sqrt((ranks**2).sum(axis=0))
    correlations = abs(ranks.T @ ranks) / np.outer(norms, norms)
    rows = []
    for place, j in enumerate(strongest.tolist()):
        row = quantities.record(j, is_first, piles)
        row["statistic"] = own[j]
        row["p_value"] = p_values[j]
        alike = np.flatnonzero(correlations[place, :place] >= ALIKE)
        row["goes_with"] = int(alike[0]) if len(alike) else -1
        rows.append(row)
    return pd.DataFrame(rows, columns=COLUMNS)


def _typical(D: np.ndarray, is_first: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Indices of graphs of each pile that are much further from the other than from their own."""
    found = []
    for is_own in (is_first, ~is_first):
        own = D[np.ix_(is_own, is_own)].sum(axis=1) / (is_own.sum() - 1)
        others = D[np.ix_(is_own, ~is_own)].mean(axis=1)
        nearest = np.argsort(own - others, kind="stable")[:MOST_TYPICAL]
        found.append(np.flatnonzero(is_own)[nearest])
    return found[0], found[1]

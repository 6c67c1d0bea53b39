"""References: which training graphs remain as centers of kernels."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral, Real

import numpy as np
from scipy.special import expit
from sklearn.utils._param_validation import Interval, StrOptions

from skgraphkde.graphs.arrays import used_codes
from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.persistence import register
from skgraphkde.specification import Specification

# Shares of the graphs of low, middle and high density that the paper keeps: on average 0.8.
RETENTION = np.array([0.9, 0.8, 0.7])


# References of a model that lives with its graphs, unless max_references says otherwise.
MAX_REFERENCES = 1_000
# Share of the training graphs that other samplings keep, unless ratio says otherwise.
RATIO = 0.8
BOUNDED = ("window", "reservoir")
SAMPLINGS = ("stratified", "importance", "uniform", *BOUNDED)


@register
class References(Specification):
    """Keep some of the training graphs as centers of kernels: scoring costs in proportion to them.

    Training chooses references in the same way among the graphs of each batch (the paper's appendix
    on scalability). A detector that is updated (:meth:`GraphKDEDetector.partial_fit`) needs
    "window" or "reservoir", or keeps all graphs.

    Parameters
    ----------
    sampling : {"stratified", "importance", "uniform", "window", "reservoir"}, default="stratified"
        "stratified" keeps graphs of the low, middle and high third of the densities in the
        proportion 9 : 8 : 7; if a third is used up, the others make up for it. "importance" draws
        with probabilities proportional to 1 / (1 + exp(median(rho) - rho)), rho the density.
        "uniform" draws all with the same probability. "window" keeps the last `max_references`
        graphs, and forgets the oldest when new ones come. "reservoir" keeps as many of all graphs
        that ever came, each with the same probability (algorithm R of Vitter, 1985); copies that
        are left out do not count.
    ratio : float, default=None
        Share of the graphs to keep, in (0, 1]; at least two graphs remain. None is 0.8. Not with
        "window" and "reservoir".
    max_references : int, default=None
        How many graphs "window" and "reservoir" keep, at least 2. None is 1,000. Only with these.

    Examples
    --------
    >>> from skgraphkde import GraphKDEDetector, References
    >>> from skgraphkde.datasets import load_mutag
    >>> detector = GraphKDEDetector(references=References("uniform", ratio=0.25), random_state=0)
    >>> len(detector.fit(load_mutag().graphs[:80]).density_.references)
    20
    """

    _parameter_constraints: dict = {
        "sampling": [StrOptions(set(SAMPLINGS))],
        "ratio": [Interval(Real, 0, 1, closed="right"), None],
        "max_references": [Interval(Integral, 2, None, closed="left"), None],
    }

    def __init__(
        self,
        sampling: str = "stratified",
        ratio: float | None = None,
        max_references: int | None = None,
    ) -> None:
        self.sampling = sampling
        self.ratio = ratio
        self.max_references = max_references

    def _validate_values(self) -> None:
        if self.is_bounded and self.ratio is not None:
            raise ValueError(
                f"ratio is a share of the training graphs, and sampling={self.sampling!r} keeps a "
                "number of them: leave it out, or give max_references instead"
            )
        if not self.is_bounded and self.max_references is not None:
            raise ValueError(
                f"max_references bounds what sampling='window' and 'reservoir' keep, and "
                f"sampling={self.sampling!r} keeps a share of the graphs: give ratio instead"
            )

    @property
    def is_bounded(self) -> bool:
        """Whether a number of graphs is kept, and updates replace some of them."""
        return self.sampling in BOUNDED

    @property
    def most(self) -> int:
        """The bound."""
        return MAX_REFERENCES if self.max_references is None else self.max_references

    @property
    def needs_density(self) -> bool:
        """Whether the choice depends on the densities of the graphs."""
        return self.sampling in ("stratified", "importance")

    def keeps_all(self, n_graphs: int) -> bool:
        """Whether all of so many training graphs remain."""
        if self.is_bounded:
            return n_graphs <= self.most
        return self.ratio == 1

    def choose(self, log_density: np.ndarray, rng: np.random.RandomState) -> np.ndarray:
        """Choose among graphs of these log densities; sorted indices."""
        n = len(log_density)
        if self.sampling == "window":
            return np.arange(max(0, n - self.most), n)
        if self.sampling == "reservoir":
            return np.sort(rng.permutation(n)[: self.most])
        ratio = RATIO if self.ratio is None else self.ratio
        return choose_references(log_density, ratio, self.sampling, rng)

    def after(
        self, n_known: int, rngs: Mapping[int, np.random.Generator], share: float = 1.0
    ) -> np.ndarray:
        """Which of the references, and of new graphs after them, remain.

        Parameters
        ----------
        n_known : int
            How many references there are.
        rngs : dict of int -> Generator
            For each new graph, its number among all that ever came and counted, and what draws for
            it.
        share : float, default=1.0
            Of the graphs that ever came, how many could become references.

        Returns
        -------
        ndarray of int
            Ascending positions in the references followed by the new graphs.
        """
        if self.sampling == "window":
            n = n_known + len(rngs)
            return np.arange(max(0, n - self.most), n)
        kept = list(range(n_known))
        for position, (number, rng) in enumerate(rngs.items(), n_known):
            if len(kept) >= self.most:
                if rng.random() * share * (number + 1) >= self.most:
                    continue
                del kept[rng.integers(len(kept))]
            kept.append(position)
        return np.array(kept)


def choose_references(
    log_density: np.ndarray, ratio: float, sampling: str, rng: np.random.RandomState
) -> np.ndarray:
    """Choose round(ratio * N) of N graphs, at least 2.

    Parameters
    ----------
    log_density : ndarray of shape (N,)
    ratio : float
        In (0, 1].
    sampling : {"uniform", "stratified", "importance"}
        See :class:`References`.
    rng : RandomState

    Returns
    -------
    ndarray of int, sorted, without repetition
    """
    N = len(log_density)
    Q = min(N, max(2, round(ratio * N)))
    if sampling == "uniform":
        return np.sort(rng.permutation(N)[:Q])
    if sampling == "importance":
        density = np.exp(np.minimum(log_density, 700.0))  # exp(700) is the largest float's size
        weights = expit(density - np.median(density))
        return np.sort(rng.choice(N, Q, replace=False, p=weights / weights.sum()))
    # Rounded: equal graphs differ in the last bits, which must not decide.
    thirds = np.array_split(np.argsort(np.round(log_density, 8), kind="stable"), 3)
    counts = _shares(Q, np.array([len(third) for third in thirds]))
    kept = [rng.permutation(third)[:count] for third, count in zip(thirds, counts, strict=True)]
    return np.sort(np.concatenate(kept))


def joined_references(known: GraphBatch, new: GraphBatch) -> GraphBatch:
    """References, and new ones after them, with the schema of `fit` and no name that none has.

    Names of categories would otherwise pile up in a detector that is updated every day.
    """
    joined = GraphBatch.concatenate([known, new])
    labels, names = used_codes(joined.labels, joined.label_names)
    edge_labels, edge_names = used_codes(joined.edge_labels, joined.edge_label_names)
    return joined.replace(
        labels=labels,
        label_names=names,
        edge_labels=edge_labels,
        edge_label_names=edge_names,
        schema=known.schema,
    )


def positions(chosen: np.ndarray, n_graphs: int) -> np.ndarray:
    """Position of each graph among the chosen ones, -1 if it is not chosen; shape (n_graphs,)."""
    position = np.full(n_graphs, -1)
    position[chosen] = np.arange(len(chosen))
    return position


def _shares(total: int, sizes: np.ndarray) -> np.ndarray:
    """Split `total` in proportion to RETENTION * sizes, no part above its size."""
    # The factor c with sum min(1, c * RETENTION) * sizes = total, which is piecewise linear in c.
    knots = np.concatenate([[0.0], 1 / RETENTION])
    filled = np.minimum(1, np.outer(knots, RETENTION)) @ sizes
    quota = np.minimum(1, np.interp(total, filled, knots) * RETENTION) * sizes
    counts = np.floor(quota + 1e-9).astype(int)
    due = np.argsort(counts - quota, kind="stable")  # the largest remainders get what is left
    counts[due[: total - counts.sum()]] += 1
    return counts

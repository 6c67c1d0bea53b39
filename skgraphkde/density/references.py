"""References: the selection of training graphs that are centers of kernels."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral, Real

import numpy as np
from scipy.special import expit
from sklearn.utils._param_validation import Interval, StrOptions

from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.graphs.schema import PARTS
from skgraphkde.persistence import register
from skgraphkde.specification import Specification

# Shares of the graphs of low, middle and high density that the paper keeps: on average 0.8.
RETENTION = np.array([0.9, 0.8, 0.7])
# Default of max_references.
MAX_REFERENCES = 1_000
# Default of ratio.
RATIO = 0.8
BOUNDED = ("window", "reservoir")
SAMPLINGS = ("stratified", "importance", "uniform", *BOUNDED)


@register
class References(Specification):
    """Selection of training graphs as centers of kernels.

    The time for scoring is proportional to the number of references. Training selects references in
    the same way among the graphs of each batch (the paper's appendix on scalability). A detector
    that is updated (:meth:`GraphKDEDetector.partial_fit`) needs "window" or "reservoir", or keeps
    all graphs.

    Parameters
    ----------
    sampling : {"stratified", "importance", "uniform", "window", "reservoir"}, default="stratified"
        "stratified" keeps graphs of the low, middle and high third of the densities in the
        proportion 9 : 8 : 7; if a third has too few graphs, the others replace them. "importance"
        draws with probabilities proportional to 1 / (1 + exp(median(rho) - rho)), rho the density.
        "uniform" draws all graphs with the same probability. "window" keeps the last
        `max_references` graphs. "reservoir" keeps `max_references` of all graphs seen, each with
        the same probability (algorithm R of Vitter, 1985); ignored copies do not count.
    ratio : float, default=None
        Share of the graphs to keep, in (0, 1]; at least two graphs are kept. None is 0.8. Not
        allowed with "window" and "reservoir".
    max_references : int, default=None
        Number of graphs to keep, at least 2. None is 1,000. Only allowed with "window" and
        "reservoir".

    Examples
    --------
    >>> from skgraphkde import GraphKDEDetector, References
    >>> from skgraphkde.datasets import load_mutag
    >>> detector = GraphKDEDetector(references=References("uniform", ratio=0.25), random_state=0)
    >>> len(detector.fit(load_mutag().graphs[:80]).model_.references)
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
                "fixed number of them: omit ratio, or give max_references instead"
            )
        if not self.is_bounded and self.max_references is not None:
            raise ValueError(
                "max_references is for sampling='window' and 'reservoir', and "
                f"sampling={self.sampling!r} keeps a share of the graphs: give ratio instead"
            )

    @property
    def is_bounded(self) -> bool:
        """True if a fixed number of graphs is kept, and updates replace some of them."""
        return self.sampling in BOUNDED

    @property
    def most(self) -> int:
        """Largest number of references."""
        return MAX_REFERENCES if self.max_references is None else self.max_references

    @property
    def needs_density(self) -> bool:
        """True if the selection depends on the densities of the graphs."""
        return self.sampling in ("stratified", "importance")

    def keeps_all(self, n_graphs: int) -> bool:
        """True if all of `n_graphs` training graphs are kept."""
        if self.is_bounded:
            return n_graphs <= self.most
        return self.ratio == 1

    def choose(self, log_density: np.ndarray, rng: np.random.RandomState) -> np.ndarray:
        """Select references among the training graphs.

        Parameters
        ----------
        log_density : ndarray of shape (n_graphs,)
            Log densities of the graphs; used if `needs_density`.
        rng : RandomState

        Returns
        -------
        ndarray of int, sorted
            Indices of the references.
        """
        n = len(log_density)
        if self.sampling == "window":
            return np.arange(max(0, n - self.most), n)
        if self.sampling == "reservoir":
            return np.sort(rng.permutation(n)[: self.most])
        kept = min(n, max(2, round((self.ratio or RATIO) * n)))
        if self.sampling == "uniform":
            return np.sort(rng.permutation(n)[:kept])
        if self.sampling == "importance":
            density = np.exp(np.minimum(log_density, 700.0))  # exp(700) is about the largest float
            weights = expit(density - np.median(density))
            return np.sort(rng.choice(n, kept, replace=False, p=weights / weights.sum()))
        # Rounded, because the densities of equal graphs differ in the last bits.
        thirds = np.array_split(np.argsort(np.round(log_density, 8), kind="stable"), 3)
        counts = _shares(kept, np.array([len(third) for third in thirds]))
        chosen = [rng.permutation(x)[:count] for x, count in zip(thirds, counts, strict=True)]
        return np.sort(np.concatenate(chosen))

    def after(
        self, n_known: int, rngs: Mapping[int, np.random.Generator], share: float = 1.0
    ) -> np.ndarray:
        """Select references among the current references and new graphs.

        Parameters
        ----------
        n_known : int
            Number of current references.
        rngs : dict of int -> Generator
            For each new graph, its index among all distinct graphs seen, and its generator.
        share : float, default=1.0
            Share of all graphs seen that could become references, in (0, 1].

        Returns
        -------
        ndarray of int
            Ascending indices in the current references followed by the new graphs.
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


def joined_references(known: GraphBatch, new: GraphBatch) -> GraphBatch:
    """Concatenate references and new graphs, with the schema of `fit`.

    Names of unused categories are dropped, because they would accumulate over many updates.

    Parameters
    ----------
    known, new : GraphBatch
        The current references and the new ones.

    Returns
    -------
    GraphBatch
    """
    joined = GraphBatch.concatenate([known, new])
    nodes, edges, graphs = (joined.data(part).in_use() for part in PARTS)
    data = *nodes, *edges, *graphs
    return GraphBatch(joined.node_ptr, joined.adjacency, *data, known.schema, joined.names)


def inverse_index(chosen: np.ndarray, n_graphs: int) -> np.ndarray:
    """Invert a selection of graphs.

    Parameters
    ----------
    chosen : ndarray of int
        Indices of the selected graphs.
    n_graphs : int
        Number of all graphs.

    Returns
    -------
    ndarray of shape (n_graphs,), int
        Index of each graph in `chosen`; -1 if it was not selected.
    """
    position = np.full(n_graphs, -1)
    position[chosen] = np.arange(len(chosen))
    return position


def _shares(total: int, sizes: np.ndarray) -> np.ndarray:
    """Split `total` in proportion to RETENTION * sizes, with no part above its size."""
    # Solve sum min(1, c * RETENTION) * sizes = total for c; the sum is piecewise linear in c.
    knots = np.concatenate([[0.0], 1 / RETENTION])
    filled = np.minimum(1, np.outer(knots, RETENTION)) @ sizes
    quota = np.minimum(1, np.interp(total, filled, knots) * RETENTION) * sizes
    counts = np.floor(quota + 1e-9).astype(int)
    due = np.argsort(counts - quota, kind="stable")  # largest remainders first
    counts[due[: total - counts.sum()]] += 1
    return counts

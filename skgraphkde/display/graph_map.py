"""A map of graphs: distances and scores -> GraphMapDisplay."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.manifold import smacof
from sklearn.utils.validation import check_array, check_consistent_length

from skgraphkde.display.common import (
    GRAY,
    check_numbers,
    check_target_of,
    groups,
    lowest_shown,
    open_axes,
)


@dataclass(eq=False, repr=False)
class GraphMapDisplay:
    """Map of graphs in the plane: graphs that are similar to the detector are close together.

    The background shows the score of the graphs nearby: a mean with Gaussian weights, drawn only
    where there are graphs, with the tail cut off as in :class:`DensityDisplay`. On the dashed line
    it equals the threshold. Graphs are colored by `y`, or by their verdicts if there is no `y`;
    with `y`, rings mark the graphs below it.

    Parameters
    ----------
    positions : ndarray of shape (n_graphs, 2)
    scores : ndarray of shape (n_graphs,)
        Higher for normal graphs.
    offset : float, default=None
        The threshold. Without it there are no verdicts.
    y : ndarray of shape (n_graphs,), default=None
        1 for normal, -1 for anomalies.
    known : ndarray of shape (n_graphs,), bool, default=None
        Graphs among which the others are shown, such as those of fit: small gray crosses, whatever
        their verdicts.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes, Figure
    points_ : list of matplotlib PathCollection
        All graphs, or the normal ones and the anomalies.
    rings_ : matplotlib PathCollection or None
    ground_ : matplotlib QuadContourSet
    threshold_ : matplotlib QuadContourSet or None
        None if the whole background is on one side of the threshold.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from skgraphkde.display import GraphMapDisplay
    >>> distances = [[0, 3, 4], [3, 0, 5], [4, 5, 0]]
    >>> display = GraphMapDisplay.from_predictions(distances, [2.0, 1.5, -8.0], offset=0.0)
    >>> display.positions.shape
    (3, 2)
    >>> plt.close(display.figure_)
    """

    positions: np.ndarray
    scores: np.ndarray
    offset: float | None = None
    y: np.ndarray | None = None
    known: np.ndarray | None = None

    @classmethod
    def from_estimator(cls, detector: Any, graphs: Any, y: Any = None, **options: Any) -> Self:
        """Draw a map of `graphs` by their distances under a fitted `detector`.

        The distances are those of the first view, the scores those of all views.
        """
        distances, scores = detector.pairwise_distances(graphs), detector.score_samples(graphs)
        return cls.from_predictions(distances, scores, offset=detector.offset_, y=y, **options)

    @classmethod
    def from_predictions(
        cls,
        distances: Any,
        scores: Any,
        *,
        offset: float | None = None,
        y: Any = None,
        known: Any = None,
        **options: Any,
    ) -> Self:
        """Draw a map of at least 3 graphs by the matrix of their distances.

        Metric multidimensional scaling preserves distances as well as a plane can. For others, such
        as t-SNE, pass positions to the class, and call :meth:`plot`.

        Parameters
        ----------
        distances : array-like of shape (n_graphs, n_graphs)
        scores, offset, y, known
            As for the class.
        **options
            As for :meth:`plot`.

        Raises
        ------
        ValueError
            If `distances` is not a matrix of distances, `scores` or `y` have another length, there
            are fewer than 3 graphs, or all graphs are alike.
        """
        D = check_array(distances, dtype=float, input_name="distances")
        if D.shape[0] != D.shape[1] or not np.allclose(D, D.T) or (D < 0).any():
            raise ValueError("distances must be a symmetric matrix without negative numbers")
        if len(D) < 3 or not D.any():
            raise ValueError(f"a map needs at least 3 graphs, not all alike, got {len(D)}")
        scores = check_numbers(scores, "scores")
        check_consistent_length(D, scores, known)
        known = None if known is None else np.asarray(known, dtype=bool)
        return cls(_mds(D), scores, offset, check_target_of(y, scores), known).plot(**options)

    def plot(self, ax: Any = None) -> Self:
        """Draw the map.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None opens a new figure.
        """
        self.ax_, self.figure_ = open_axes(ax)
        self._draw_ground()
        classes, flagged = self.y, None
        if self.offset is not None:
            flagged = self.scores < self.offset
            if self.y is None:
                classes = np.where(flagged, -1, 1)
        shown = np.ones(len(self.positions), dtype=bool)
        if self.known is not None:
            style = {"s": 12, "color": GRAY, "marker": "x", "linewidth": 0.8, "label": "known"}
            self.ax_.scatter(*self.positions[self.known].T, **style)
            shown = ~self.known
        self.points_ = []
        for of_group, label, color, marker in groups(classes, ("normal", "anomaly")):
            style = {"s": 26, "color": color, "marker": marker, "label": label}
            which = np.flatnonzero(shown)[of_group] if classes is None else of_group & shown
            points = self.ax_.scatter(
                *self.positions[which].T, edgecolor="white", linewidth=0.5, **style
            )
            self.points_.append(points)
        self.rings_ = None
        if self.y is not None and flagged is not None:
            style = {"facecolor": "none", "edgecolor": "black", "linewidth": 0.8, "s": 70}
            self.rings_ = self.ax_.scatter(
                *self.positions[flagged].T, label="below the threshold", **style
            )
        self.ax_.set_aspect("equal", adjustable="datalim")
        self.ax_.axis("off")
        self.ax_.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.5, 0), ncols=3)
        return self

    def _draw_ground(self) -> None:
        low, high = self.positions.min(axis=0), self.positions.max(axis=0)
        bandwidth = 0.05 * ((high - low).max() or 1.0)
        x, y = np.linspace(low - 3 * bandwidth, high + 3 * bandwidth, 200).T
        scores = np.maximum(self.scores, lowest_shown(self.scores, self.offset, self.y))
        values = _smoothed(x, y, self.positions, scores, bandwidth)
        # The lowest score is gray, so that it differs from the white of no graphs, and the highest
        # is light enough for the points on it.
        reach = np.ptp(scores)
        shades = {"vmin": scores.min() - 0.3 * reach, "vmax": scores.max() + reach}
        self.ground_ = self.ax_.contourf(x, y, values, levels=8, cmap="Greys", **shades)
        self.figure_.colorbar(self.ground_, ax=self.ax_, label="score nearby")
        self.threshold_ = None
        if self.offset is not None and values.min() < self.offset < values.max():
            style = {"colors": "black", "linestyles": "--", "linewidths": 1}
            self.threshold_ = self.ax_.contour(x, y, values, levels=[self.offset], **style)


def _smoothed(
    x: np.ndarray, y: np.ndarray, positions: np.ndarray, values: np.ndarray, bandwidth: float
) -> np.ma.MaskedArray:
    """Weighted means of the values around the cells of a grid; masked where no position is near."""
    rows = []
    for height in y:  # one row at a time: there may be thousands of graphs
        cells = np.column_stack([x, np.full(len(x), height)])
        squared = cdist(cells, positions, "sqeuclidean") / bandwidth**2
        far, weights = squared.min(axis=1) > 9, np.exp(-0.5 * squared)
        means = weights @ values / np.where(far, 1, weights.sum(axis=1))
        rows.append(np.ma.masked_array(means, far))
    return np.ma.stack(rows)


def _mds(D: np.ndarray) -> np.ndarray:
    """Metric scaling by SMACOF, started at the positions of classical scaling."""
    centered = D**2 - (D**2).mean(axis=0)
    eigenvalues, vectors = np.linalg.eigh(-0.5 * (centered - centered.mean(axis=1)[:, None]))
    largest = [-1, -2]
    start = vectors[:, largest] * np.sqrt(np.maximum(eigenvalues[largest], 0))
    return smacof(D, init=start, n_init=1)[0]

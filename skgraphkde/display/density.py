"""A histogram of scores: scores, threshold and targets -> DensityDisplay."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from skgraphkde.display.common import (
    check_numbers,
    check_target_of,
    groups,
    lowest_shown,
    open_axes,
)


@dataclass(eq=False, repr=False)
class DensityDisplay:
    """Histogram of scores, with the threshold.

    Scores can have long lower tails: one log density may be -1000 where the others are 5. The axis
    extends below the median (of the normal graphs, if `y` is given) or the threshold, whichever is
    lower, by at most four times the distance from the median to the highest score. Graphs further
    down are counted in one hatched bar at the left end, with their number above it.

    Parameters
    ----------
    scores : ndarray of shape (n_graphs,)
        Those of a detector, higher for normal graphs: log densities, or sums of log p-values.
    offset : float, default=None
        The threshold to mark.
    y : ndarray of shape (n_graphs,), default=None
        1 for normal, -1 for anomalies: each gets a histogram.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes, Figure
    bars_ : list of matplotlib BarContainer
        Those of all graphs, or of the normal ones and of the anomalies; the hatched bar is first.
    threshold_ : matplotlib Line2D or None

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from skgraphkde.display import DensityDisplay
    >>> display = DensityDisplay.from_predictions([3.1, 2.9, 2.4, -1000], offset=1.5)
    >>> [text.get_text() for text in display.ax_.texts]
    ['1 below 1.5']
    >>> plt.close(display.figure_)
    """

    scores: np.ndarray
    offset: float | None = None
    y: np.ndarray | None = None

    @classmethod
    def from_estimator(cls, detector: Any, graphs: Any, y: Any = None, **options: Any) -> Self:
        """Draw the scores that a fitted `detector` gives to `graphs`."""
        scores = detector.score_samples(graphs)
        return cls.from_predictions(scores, offset=detector.offset_, y=y, **options)

    @classmethod
    def from_predictions(
        cls, scores: Any, *, offset: float | None = None, y: Any = None, **options: Any
    ) -> Self:
        """Draw scores.

        Raises
        ------
        ValueError
            If a score is not finite, or `y` contains values other than 1 and -1 or has another
            length.
        """
        scores = check_numbers(scores, "scores")
        return cls(scores, offset, check_target_of(y, scores)).plot(**options)

    def plot(self, ax: Any = None, *, bins: int = 30) -> Self:
        """Draw the histogram.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None opens a new figure.
        bins : int, default=30
            Number of bars, at least 1.
        """
        below = self.scores < lowest_shown(self.scores, self.offset, self.y)
        shown = self.scores[~below]
        if below.any() and self.offset is not None:  # the hatched bar is left of the threshold
            shown = np.append(shown, self.offset)
        edges = np.histogram_bin_edges(shown, bins)
        positions = self.scores
        if below.any():  # a separate bar, one bar's width away from the others
            lowest, width = edges[0], edges[1] - edges[0]
            positions = np.where(below, lowest - 1.5 * width, self.scores)
            edges = np.concatenate([lowest - width * np.array([2, 1]), edges])
        self.ax_, self.figure_ = open_axes(ax)
        self.bars_ = []
        for of_group, label, color, _ in groups(self.y, ("normal", "anomaly")):
            shown = positions[of_group]
            style = {"label": f"{label} ({len(shown)})", "color": color, "alpha": 0.65}
            self.bars_.append(self.ax_.hist(shown, edges, **style)[2])
        self.threshold_ = None
        if self.offset is not None:
            style = {"color": "black", "linestyle": "--", "label": "threshold"}
            self.threshold_ = self.ax_.axvline(self.offset, **style)
        self.ax_.yaxis.get_major_locator().set_params(integer=True)
        self.ax_.set(xlabel="score", ylabel="graphs")
        # Where it hides no bar and not the threshold, wherever these are.
        self.ax_.legend(frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1), ncols=3)
        if below.any():
            self._label_tail(f"{below.sum()} below {lowest:.3g}", edges[0])
        return self

    def _label_tail(self, text: str, left: float) -> None:
        for bars in self.bars_:
            bars[0].set_hatch("////")
        height = max(bars[0].get_height() for bars in self.bars_)
        box = {"facecolor": "white", "edgecolor": "none", "pad": 1}
        self.ax_.text(left, height, text, va="bottom", bbox=box)
        self.ax_.set_ylim(top=max(self.ax_.get_ylim()[1], 1.12 * height))

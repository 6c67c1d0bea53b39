"""Sorted p-values with the Benjamini-Hochberg line: p-values and alpha -> PValueDisplay."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from skgraphkde.calibration import check_alpha, discoveries
from skgraphkde.display.common import GRAY, check_numbers, groups, open_axes


@dataclass(eq=False, repr=False)
class PValueDisplay:
    """Sorted p-values, and the line of Benjamini and Hochberg.

    If all graphs are normal, the k-th smallest of n p-values is about k / n, the dotted line. The
    selected graphs are those up to the last p-value that is not above ``alpha * k / n``, the dashed
    line; the detector's :meth:`~skgraphkde.GraphKDEDetector.select` selects the same. Both axes are
    logarithmic, so that small p-values are visible.

    Parameters
    ----------
    p_values : ndarray of shape (n_graphs,)
        In (0, 1].
    alpha : float, default=0.1
        Bound on the expected share of normal graphs among those selected, in (0, 1].

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes, Figure
    selected_ : ndarray of shape (n_graphs,), bool
        In the order of `p_values`.
    points_ : list of matplotlib PathCollection
        The graphs that are not selected, and those that are.
    diagonal_, line_ : matplotlib Line2D
        k / n and alpha k / n.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from skgraphkde.display import PValueDisplay
    >>> display = PValueDisplay.from_predictions([0.8, 0.01, 0.5, 0.02], alpha=0.1)
    >>> display.selected_.tolist()
    [False, True, False, True]
    >>> plt.close(display.figure_)
    """

    p_values: np.ndarray
    alpha: float = 0.1

    @classmethod
    def from_estimator(cls, detector: Any, graphs: Any, alpha: float = 0.1, **options: Any) -> Self:
        """Draw the p-values of `graphs` under a fitted `detector`.

        The graphs are not those of `fit`.
        """
        return cls.from_predictions(detector.p_values(graphs), alpha, **options)

    @classmethod
    def from_predictions(cls, p_values: Any, alpha: float = 0.1, **options: Any) -> Self:
        """Draw p-values.

        Raises
        ------
        ValueError
            If a p-value or alpha is not in (0, 1].
        """
        p_values = check_numbers(p_values, "p_values")
        if not 0 < p_values.min() <= p_values.max() <= 1:
            raise ValueError("p_values must be in (0, 1]")
        check_alpha(alpha)
        return cls(p_values, alpha).plot(**options)

    def plot(self, ax: Any = None) -> Self:
        """Draw the p-values.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None opens a new figure.
        """
        self.ax_, self.figure_ = open_axes(ax)
        self.selected_ = discoveries(self.p_values, self.alpha)
        n, order = len(self.p_values), np.argsort(self.p_values, kind="stable")
        ends, line = np.array([1, n]), rf"${self.alpha:g}\,k / n$"
        (self.diagonal_,) = self.ax_.plot(ends, ends / n, ":", color=GRAY, label="$k / n$")
        (self.line_,) = self.ax_.plot(ends, self.alpha * ends / n, "k--", label=line)
        points = np.column_stack([np.arange(1, n + 1), self.p_values[order]])
        classes = np.where(self.selected_[order], -1, 1)
        self.points_ = []
        for of_group, label, color, marker in groups(classes, ("not selected", "selected")):
            shown = points[of_group]
            style = {"color": color, "marker": marker, "label": f"{label} ({len(shown)})"}
            self.points_.append(self.ax_.scatter(*shown.T, s=16, zorder=3, **style))
        self.ax_.set(xlabel="rank $k$", ylabel="p-value", xscale="log", yscale="log")
        self.ax_.legend(frameon=False)
        return self

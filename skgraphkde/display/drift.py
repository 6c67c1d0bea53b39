"""A monitor's statistic over time, with its threshold and alarms: rows -> DriftDisplay."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd

from skgraphkde.display.common import BLUE, GRAY, VERMILION, check_numbers, open_axes
from skgraphkde.monitoring import DriftMonitor

_MARKERS = {"martingale": "^", "mmd": "s"}


@dataclass(eq=False, repr=False)
class DriftDisplay:
    """The statistic of a :class:`~skgraphkde.monitoring.DriftMonitor` over time, and its alarms.

    The line is the statistic after each graph, on a logarithmic axis. It rises while graphs differ
    from those before them; where it reaches the dashed line, the alarm of the martingale sounds,
    and it begins anew. Squares are alarms of the MMD, which has no part in the line.

    Parameters
    ----------
    table : DataFrame
        Result of :meth:`~skgraphkde.monitoring.DriftMonitor.update`, or several of these,
        joined by :func:`pandas.concat`.
    threshold : float
        ``monitor.threshold_``.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes, Figure
    line_, threshold_line_ : matplotlib Line2D
    points_ : dict of matplotlib PathCollection
        The alarms of each test that has sounded.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import numpy as np
    >>> from skgraphkde import GraphKDEDetector
    >>> from skgraphkde.datasets import load_mutag
    >>> from skgraphkde.display import DriftDisplay
    >>> from skgraphkde.monitoring import DriftMonitor
    >>> molecules, y = load_mutag(return_X_y=True)
    >>> detector = GraphKDEDetector().fit(molecules[y == 1][:80])
    >>> graphs = molecules[np.r_[np.flatnonzero(y == 1)[80:], np.flatnonzero(y == -1)]]
    >>> monitor = DriftMonitor(detector, window=20, random_state=0)
    >>> display = DriftDisplay.from_estimator(monitor, graphs)
    >>> len(display.line_.get_xdata())
    108
    >>> plt.close(display.figure_)
    """

    table: pd.DataFrame
    threshold: float

    @classmethod
    def from_estimator(cls, monitor: DriftMonitor, graphs: Any, **options: Any) -> Self:
        """Draw what a monitor says of new graphs, which it sees by that."""
        return cls.from_predictions(monitor.update(graphs), monitor.threshold_, **options)

    @classmethod
    def from_predictions(cls, table: pd.DataFrame, threshold: float, **options: Any) -> Self:
        """Draw the rows that a monitor has returned.

        Raises
        ------
        ValueError
            If the table lacks a column, or a number is not a positive one.
        """
        missing = {"statistic", "alarm"} - set(table)
        if missing:
            raise ValueError(f"table has no column {min(missing)!r}: pass what update() returned")
        if not threshold > 0 or check_numbers(table["statistic"], "table['statistic']").min() < 0:
            raise ValueError("threshold and statistic must be positive")
        return cls(table, threshold).plot(**options)

    def plot(self, ax: Any = None) -> Self:
        """Draw the statistic.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None opens a new figure.
        """
        self.ax_, self.figure_ = open_axes(ax)
        numbers, statistic = self.table.index, self.table["statistic"].to_numpy()
        lowest = self.threshold * 1e-6  # a bet that is lost may leave nothing
        shown = np.clip(statistic, lowest, 100 * self.threshold)
        (self.line_,) = self.ax_.plot(numbers, shown, color=BLUE, lw=1, label="martingale")
        self.threshold_line_ = self.ax_.axhline(
            self.threshold, color=GRAY, ls="--", label=f"threshold {self.threshold:g}"
        )
        self.points_ = {}
        for test, marker in _MARKERS.items():
            sounds = self.table["alarm"].str.contains(test, regex=False).to_numpy()
            if sounds.any():
                height = shown[sounds] if test == "martingale" else self.threshold
                label = f"alarm, {test} ({sounds.sum()})"
                style = {"color": VERMILION, "marker": marker, "s": 24, "zorder": 3}
                x = numbers[sounds]
                y = np.broadcast_to(height, x.shape)
                self.points_[test] = self.ax_.scatter(x, y, label=label, **style)
        self.ax_.set(xlabel="graph", ylabel="statistic", yscale="log")
        self.ax_.legend(frameon=False, loc="lower left", bbox_to_anchor=(0, 1), ncols=2)
        return self

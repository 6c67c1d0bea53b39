"""ROC and precision-recall curves: targets and scores -> DetectionCurveDisplay."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.metrics import precision_recall_curve, roc_curve

from skgraphkde.display.common import BLUE, GRAY, check_option, open_axes
from skgraphkde.evaluation.metrics import auprc, auroc, fpr_at_tpr, with_positive


@dataclass(eq=False, repr=False)
class DetectionCurveDisplay:
    """ROC or precision-recall curve of a detector, with metrics of :mod:`skgraphkde.evaluation`.

    Anomalies are the positive class. Several detectors can share the axes, each with a name and a
    color.

    Parameters
    ----------
    x, y : ndarray of shape (n_points,)
        False and true positive rates, or recall and precision.
    area, chance : float
        AUROC, or AUPRC as average precision; and the value that random scores reach.
    kind : {"roc", "precision_recall"}, default="roc"
    fpr95 : float, default=None
        The false positive rate at which 95% of the anomalies are found, to mark on a ROC curve.
    name : str, default=None
        Name of the detector, for the legend.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes, Figure
    line_ : matplotlib Line2D
    chance_ : matplotlib Line2D or None
        None if another curve has already drawn it on these axes.
    marker_ : matplotlib Line2D or None
        At `fpr95`.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from skgraphkde.display import DetectionCurveDisplay
    >>> y, scores = [1, 1, 1, 1, -1, -1], [0.9, 0.8, 0.7, 0.2, 0.1, 0.3]
    >>> display = DetectionCurveDisplay.from_predictions(y, scores)
    >>> display.area, display.fpr95
    (0.875, 0.25)
    >>> plt.close(display.figure_)
    """

    x: np.ndarray
    y: np.ndarray
    area: float
    chance: float
    kind: str = "roc"
    fpr95: float | None = None
    name: str | None = None

    @classmethod
    def from_estimator(cls, detector: Any, graphs: Any, y: Any, **options: Any) -> Self:
        """Draw how well a fitted `detector` finds the anomalies among `graphs`.

        The graphs are not those of `fit`. The `options` may include `kind` and `name`.
        """
        return cls.from_predictions(y, detector.score_samples(graphs), **options)

    @classmethod
    def from_predictions(
        cls, y: Any, scores: Any, *, kind: str = "roc", name: str | None = None, **options: Any
    ) -> Self:
        """Draw how well `scores` separate normal graphs, 1 in `y`, from anomalies, -1.

        Scores are higher for normal graphs.

        Raises
        ------
        ValueError
            If `y` contains values other than 1 and -1, or only one of them; or if there is no such
            `kind`.
        """
        check_option("kind", kind, ("roc", "precision_recall"))
        is_anomaly, oddness = with_positive(y, scores, "anomaly")
        if kind == "roc":
            fpr, tpr, _ = roc_curve(is_anomaly, oddness, drop_intermediate=False)
            display = cls(fpr, tpr, auroc(y, scores), 0.5, kind, fpr_at_tpr(y, scores), name)
        else:
            precision, recall, _ = precision_recall_curve(is_anomaly, oddness)
            area, chance = auprc(y, scores, positive="anomaly"), float(is_anomaly.mean())
            display = cls(recall, precision, area, chance, kind, name=name)
        return display.plot(**options)

    def plot(self, ax: Any = None, *, color: Any = BLUE) -> Self:
        """Draw the curve.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None opens a new figure.
        color : matplotlib color, default=blue
        """
        self.ax_, self.figure_ = open_axes(ax)
        is_roc = self.kind == "roc"
        self.chance_ = self.marker_ = None
        if "chance" not in self.ax_.get_legend_handles_labels()[1]:
            ends = [0, 1] if is_roc else [self.chance, self.chance]
            (self.chance_,) = self.ax_.plot([0, 1], ends, ":", color=GRAY, label="chance")
        label = f"{'AUROC' if is_roc else 'AUPRC'} {self.area:.3f}"
        label = label if self.name is None else f"{self.name}: {label}"
        steps = "default" if is_roc else "steps-post"  # the area below it is average precision
        (self.line_,) = self.ax_.plot(self.x, self.y, color=color, label=label, drawstyle=steps)
        if self.fpr95 is not None:
            height = self.y[self.y >= 0.95 - 1e-12].min()
            style = {"marker": "o", "markerfacecolor": "white", "linestyle": "none", "color": color}
            label = f"FPR {self.fpr95:.3f} at 95% TPR"
            (self.marker_,) = self.ax_.plot([self.fpr95], [height], label=label, **style)
        names = ("false positive rate", "true positive rate") if is_roc else ("recall", "precision")
        x, y = (f"{name} (positive: anomalies)" for name in names)
        self.ax_.set(xlabel=x, ylabel=y, xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal")
        self.ax_.legend(frameon=False, loc="lower right" if is_roc else "best")
        return self

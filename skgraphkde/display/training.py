"""Losses and mixture weights by epoch: the history of a fit -> TrainingDisplay."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skgraphkde.display.common import BLUE, GRAY, open_axes


@dataclass(eq=False, repr=False)
class TrainingDisplay:
    """The course of training, epoch by epoch: losses, and mixture weights of the bandwidths.

    Parameters
    ----------
    history : dict of lists
        The detector's `history_`.
    bandwidths : list of ndarray
        The bandwidths of each density of the detector's `model_`, for the legend.

    Attributes
    ----------
    ax_ : ndarray of 2 matplotlib Axes
        Losses, and mixture weights.
    figure_ : matplotlib Figure
    loss_, validation_loss_, best_epoch_ : matplotlib Line2D
        The best epoch is the one whose state the detector keeps.
    weights_ : list of matplotlib Line2D
        One per bandwidth, those of the first density first.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from skgraphkde import Contrastive, GraphKDEDetector
    >>> from skgraphkde.datasets import load_mutag
    >>> from skgraphkde.display import TrainingDisplay
    >>> detector = GraphKDEDetector(encoder="gcn", training=Contrastive(max_iter=2), random_state=0)
    >>> display = TrainingDisplay.from_estimator(detector.fit(load_mutag().graphs[:10]))
    >>> len(display.weights_)  # three bandwidths in each of two densities
    6
    >>> plt.close(display.figure_)
    """

    history: dict[str, list]
    bandwidths: list[np.ndarray]

    @classmethod
    def from_estimator(cls, detector: Any, **options: Any) -> Self:
        """Draw the training of a fitted `detector`.

        Raises
        ------
        ValueError
            If nothing was trained.
        """
        check_is_fitted(detector)
        if not detector.history_:
            raise ValueError(
                "nothing was trained, history_ is empty: fit with training=Contrastive(), on at "
                "least 3 graphs"
            )
        return cls(detector.history_, detector.model_.bandwidths).plot(**options)

    def plot(self, ax: Any = None) -> Self:
        """Draw the losses, and the mixture weights below them.

        Parameters
        ----------
        ax : 2 matplotlib Axes, default=None
            None opens a new figure.
        """
        import matplotlib.pyplot as plt

        if ax is not None and np.size(ax) != 2:
            raise ValueError(f"a training is drawn on 2 axes, got {np.size(ax)}")
        if ax is None:
            ax = plt.subplots(2, 1, figsize=(5, 4), layout="constrained")[1]
        self.ax_ = np.array([open_axes(one)[0] for one in np.ravel(ax)])
        self.figure_ = self.ax_[0].figure
        losses, weights = self.ax_
        held_out = self.history["validation_loss"]
        best = int(np.argmin(held_out))
        (self.loss_,) = losses.plot(self.history["loss"], color=GRAY, label="training")
        (self.validation_loss_,) = losses.plot(held_out, color=BLUE, label="held out")
        style = {"marker": "o", "linestyle": "none", "color": "black"}
        (self.best_epoch_,) = losses.plot([best], [held_out[best]], label="best", **style)
        mixture = np.array(self.history["mixture_weights"])
        shades = plt.get_cmap("viridis")(np.linspace(0, 0.85, mixture.shape[1]))
        self.weights_ = weights.plot(mixture)
        several, views = len(self.bandwidths) > 1, enumerate(self.bandwidths)
        names = [f"view {i}, " * several + f"h = {h:.3g}" for i, of_view in views for h in of_view]
        for line, name, color in zip(self.weights_, names, shades, strict=True):
            line.set(label=name, color=color)
        losses.set(xlabel="epoch", ylabel="loss")
        weights.set(xlabel="epoch", ylabel="mixture weight", ylim=(0, 1.1 * mixture.max()))
        for ax in self.ax_:
            ax.xaxis.get_major_locator().set_params(integer=True)
            ax.legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
        return self

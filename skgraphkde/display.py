"""Pictures: a fitted detector, or what it gave -> axes of matplotlib.

In come log densities, distances, shares of nodes, losses or p-values. Out go scikit-learn's Display
objects: `from_estimator` asks a fitted detector, `from_predictions` takes what you have, both pass
their `options` on to `plot`, which draws, on axes of yours if you give some. Blue circles are
normal and vermilion triangles anomalous. matplotlib is imported when something is drawn.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import networkx as nx
import numpy as np
from scipy.spatial.distance import cdist
from scipy.stats import false_discovery_control
from sklearn.manifold import TSNE, smacof
from sklearn.metrics import precision_recall_curve, roc_curve
from sklearn.utils.validation import (
    check_array,
    check_consistent_length,
    check_is_fitted,
)

from skgraphkde.graphs import GraphBatch
from skgraphkde.inspection import node_contributions
from skgraphkde.metrics import _with_positive, auprc, auroc, check_target, fpr_at_tpr
from skgraphkde.readers import read_graphs

__all__ = [
    "DensityDisplay",
    "DetectionCurveDisplay",
    "GraphMapDisplay",
    "NodeContributionsDisplay",
    "PValueDisplay",
    "TrainingDisplay",
]

BLUE, VERMILION, GRAY = "#0072B2", "#D55E00", "#777777"  # for color-blind eyes, too (Okabe and Ito)
SMALL_GRAPH = 100  # nodes up to which all distances make the layout, and labels are legible


@dataclass(eq=False, repr=False)
class DensityDisplay:
    """Histogram of log densities, with the threshold.

    Log densities have long lower tails: -1000 beside 5. The axis reaches below the median (of the
    normal graphs, where `y` says which they are) or the threshold, whichever is lower, by at most
    four times the way from the median up to the highest. Graphs further down are counted in one
    hatched bar at the left end, which says how many they are.

    Parameters
    ----------
    scores : ndarray of shape (n_graphs,)
        Log densities.
    offset : float, default=None
        The threshold, to be marked.
    y : ndarray of shape (n_graphs,), default=None
        1 for normal, -1 for anomalies: a histogram each.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes, Figure
    bars_ : list of matplotlib BarContainer
        Of all graphs, or of normal ones and of anomalies; the hatched bar comes first.
    threshold_ : matplotlib Line2D or None

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from skgraphkde.display import DensityDisplay
    >>> display = DensityDisplay.from_predictions([3.1, 2.9, 2.4, -1000], offset=1.5)
    >>> [text.get_text() for text in display.ax_.texts]
    ['1 below 2.4']
    >>> plt.close(display.figure_)
    """

    scores: np.ndarray
    offset: float | None = None
    y: np.ndarray | None = None

    @classmethod
    def from_estimator(cls, detector: Any, graphs: Any, y: Any = None, **options: Any) -> Self:
        """Draw the log densities of `graphs` under a fitted `detector`."""
        scores = detector.score_samples(graphs)
        return cls.from_predictions(scores, offset=detector.offset_, y=y, **options)

    @classmethod
    def from_predictions(
        cls, scores: Any, *, offset: float | None = None, y: Any = None, **options: Any
    ) -> Self:
        """Draw log densities.

        Raises
        ------
        ValueError
            If a score is not finite, or `y` has other values than 1 and -1 or another length.
        """
        scores = _numbers(scores, "scores")
        return cls(scores, offset, _target(y, scores)).plot(**options)

    def plot(self, ax: Any = None, *, bins: int = 30) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None makes a figure.
        bins : int, default=30
            Number of bars, at least 1.
        """
        below = self.scores < _floor(self.scores, self.offset, self.y)
        edges = np.histogram_bin_edges(self.scores[~below], bins)
        places = self.scores
        if below.any():  # a bar of their own, one bar's width away from the others
            lowest, width = edges[0], edges[1] - edges[0]
            places = np.where(below, lowest - 1.5 * width, self.scores)
            edges = np.concatenate([lowest - width * np.array([2, 1]), edges])
        self.ax_, self.figure_ = _axes(ax)
        self.bars_ = []
        for of_group, label, color, _ in _groups(self.y, ("normal", "anomalous")):
            shown = places[of_group]
            style = {"label": f"{label} ({len(shown)})", "color": color, "alpha": 0.65}
            self.bars_.append(self.ax_.hist(shown, edges, **style)[2])
        self.threshold_ = None
        if self.offset is not None:
            style = {"color": "black", "linestyle": "--", "label": "threshold"}
            self.threshold_ = self.ax_.axvline(self.offset, **style)
        self.ax_.yaxis.get_major_locator().set_params(integer=True)
        self.ax_.set(xlabel="log density", ylabel="graphs")
        self.ax_.legend(frameon=False)
        if below.any():
            self._name_tail(f"{below.sum()} below {lowest:.3g}", edges[0])
        return self

    def _name_tail(self, text: str, left: float) -> None:
        for bars in self.bars_:
            bars[0].set_hatch("////")
        height = max(bars[0].get_height() for bars in self.bars_)
        box = {"facecolor": "white", "edgecolor": "none", "pad": 1}
        self.ax_.text(left, height, text, va="bottom", bbox=box)
        self.ax_.set_ylim(top=max(self.ax_.get_ylim()[1], 1.12 * height))


@dataclass(eq=False, repr=False)
class DetectionCurveDisplay:
    """ROC or precision-recall curve of a detector, with the figures of :mod:`skgraphkde.metrics`.

    Anomalies are the positive class. Several detectors can share the axes, with a name and a color
    each.

    Parameters
    ----------
    x, y : ndarray of shape (n_points,)
        False and true positive rates, or recall and precision.
    area, chance : float
        AUROC, or AUPRC as average precision; and what chance reaches.
    kind : {"roc", "precision_recall"}, default="roc"
    fpr95 : float, default=None
        The false positive rate where 95 % of the anomalies are found, to be marked on a ROC curve.
    name : str, default=None
        Of the detector, for the legend.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes, Figure
    line_ : matplotlib Line2D
    chance_ : matplotlib Line2D or None
        None where the axes have it from another curve.
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
        """Draw how well a fitted `detector` finds the anomalies among `graphs`, not those of `fit`.

        `options` can be `kind` and `name`, too.
        """
        return cls.from_predictions(y, detector.score_samples(graphs), **options)

    @classmethod
    def from_predictions(
        cls, y: Any, scores: Any, *, kind: str = "roc", name: str | None = None, **options: Any
    ) -> Self:
        """Draw how well `scores`, higher for normal, find the anomalies, where `y` is -1 and not 1.

        Raises
        ------
        ValueError
            If `y` has other values than 1 and -1, or only one of them; or there is no such `kind`.
        """
        _check_option("kind", kind, ("roc", "precision_recall"))
        is_anomaly, oddness = _with_positive(y, scores, "anomaly")
        if kind == "roc":
            fpr, tpr, _ = roc_curve(is_anomaly, oddness, drop_intermediate=False)
            display = cls(fpr, tpr, auroc(y, scores), 0.5, kind, fpr_at_tpr(y, scores), name)
        else:
            precision, recall, _ = precision_recall_curve(is_anomaly, oddness)
            area, chance = auprc(y, scores, positive="anomaly"), float(is_anomaly.mean())
            display = cls(recall, precision, area, chance, kind, name=name)
        return display.plot(**options)

    def plot(self, ax: Any = None, *, color: Any = BLUE) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None makes a figure.
        color : matplotlib color, default=blue
        """
        self.ax_, self.figure_ = _axes(ax)
        is_roc = self.kind == "roc"
        self.chance_ = self.marker_ = None
        if "chance" not in self.ax_.get_legend_handles_labels()[1]:
            ends = [0, 1] if is_roc else [self.chance, self.chance]
            (self.chance_,) = self.ax_.plot([0, 1], ends, ":", color=GRAY, label="chance")
        label = f"{'AUROC' if is_roc else 'AUPRC'} {self.area:.3f}"
        label = label if self.name is None else f"{self.name}: {label}"
        steps = "default" if is_roc else "steps-post"  # whose area the average precision is
        (self.line_,) = self.ax_.plot(self.x, self.y, color=color, label=label, drawstyle=steps)
        if self.fpr95 is not None:
            height = self.y[self.y >= 0.95 - 1e-12].min()
            style = {"marker": "o", "markerfacecolor": "white", "linestyle": "none", "color": color}
            label = f"FPR {self.fpr95:.3f} at 95 % TPR"
            (self.marker_,) = self.ax_.plot([self.fpr95], [height], label=label, **style)
        names = ("false positive rate", "true positive rate") if is_roc else ("recall", "precision")
        x, y = (f"{name} (positive: anomalies)" for name in names)
        self.ax_.set(xlabel=x, ylabel=y, xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal")
        self.ax_.legend(frameon=False, loc="lower right" if is_roc else "best")
        return self


@dataclass(eq=False, repr=False)
class GraphMapDisplay:
    """Map of graphs in the plane: those that the detector finds alike are close to each other.

    The ground shows the log density of the graphs around: a mean of scores with Gaussian weights,
    drawn where there are graphs, the tail cut off as in :class:`DensityDisplay`. On the dashed line
    it is equal to the threshold. Graphs are colored by `y`, or else by their verdicts; with `y`, a
    ring marks those that are flagged.

    Parameters
    ----------
    positions : ndarray of shape (n_graphs, 2)
    scores : ndarray of shape (n_graphs,)
        Log densities.
    offset : float, default=None
        The threshold; without it there are no verdicts.
    y : ndarray of shape (n_graphs,), default=None
        1 for normal, -1 for anomalies.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes, Figure
    points_ : list of matplotlib PathCollection
        All graphs, or normal ones and anomalies.
    rings_ : matplotlib PathCollection or None
    ground_ : matplotlib QuadContourSet
    threshold_ : matplotlib QuadContourSet or None
        None where all of the ground is on one side of it.

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

    @classmethod
    def from_estimator(cls, detector: Any, graphs: Any, y: Any = None, **options: Any) -> Self:
        """Draw a map of `graphs` by the distances that a fitted `detector` finds between them.

        `options` can be `method` and `random_state`, too.
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
        method: str = "mds",
        random_state: Any = None,
        **options: Any,
    ) -> Self:
        """Draw a map of at least 3 graphs by the matrix of the distances between them.

        Parameters
        ----------
        distances : array-like of shape (n_graphs, n_graphs)
        scores, offset, y
            As for the class.
        method : {"mds", "tsne"}, default="mds"
            Metric multidimensional scaling, which keeps distances as well as a plane can; or t-SNE,
            which keeps neighbors together.
        random_state : int, RandomState instance or None, default=None
            Draws where t-SNE starts. MDS starts from classical scaling and draws nothing.
        **options
            As for :meth:`plot`.

        Raises
        ------
        ValueError
            If `distances` is no matrix of distances, or `scores` or `y` do not fit to it, or there
            are fewer than 3 graphs, or they are all alike, or there is no such `method`.
        """
        _check_option("method", method, ("mds", "tsne"))
        D = check_array(distances, dtype=float, input_name="distances")
        if D.shape[0] != D.shape[1] or not np.allclose(D, D.T) or (D < 0).any():
            raise ValueError("distances must be a symmetric matrix without negative numbers")
        if len(D) < 3 or not D.any():
            raise ValueError(f"a map needs 3 graphs or more that are not all alike, got {len(D)}")
        scores = _numbers(scores, "scores")
        check_consistent_length(D, scores)
        positions = _mds(D) if method == "mds" else _tsne(D, random_state)
        return cls(positions, scores, offset, _target(y, scores)).plot(**options)

    def plot(self, ax: Any = None) -> Self:
        """Draw, on matplotlib Axes `ax` or, with None, in a figure."""
        self.ax_, self.figure_ = _axes(ax)
        self._draw_ground()
        names, classes, flagged = ("normal", "anomalous"), self.y, None
        if self.offset is not None:
            flagged = self.scores < self.offset
            if self.y is None:
                names, classes = ("not flagged", "flagged"), np.where(flagged, -1, 1)
        self.points_ = []
        for of_group, label, color, marker in _groups(classes, names):
            style = {"s": 26, "color": color, "marker": marker, "label": label}
            points = self.ax_.scatter(
                *self.positions[of_group].T, edgecolor="white", linewidth=0.5, **style
            )
            self.points_.append(points)
        self.rings_ = None
        if self.y is not None and flagged is not None:
            style = {"facecolor": "none", "edgecolor": "black", "linewidth": 0.8, "s": 70}
            self.rings_ = self.ax_.scatter(*self.positions[flagged].T, label="flagged", **style)
        self.ax_.set_aspect("equal", adjustable="datalim")
        self.ax_.axis("off")
        self.ax_.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.5, 0), ncols=3)
        return self

    def _draw_ground(self) -> None:
        low, high = self.positions.min(axis=0), self.positions.max(axis=0)
        bandwidth = 0.05 * ((high - low).max() or 1.0)
        x, y = np.linspace(low - 3 * bandwidth, high + 3 * bandwidth, 200).T
        scores = np.maximum(self.scores, _floor(self.scores, self.offset, self.y))
        values = _smoothed(x, y, self.positions, scores, bandwidth)
        reach = np.ptp(scores)  # colors: gray and not white for the least, light for the most
        shades = {"vmin": scores.min() - 0.3 * reach, "vmax": scores.max() + reach}
        self.ground_ = self.ax_.contourf(x, y, values, levels=8, cmap="Greys", **shades)
        self.figure_.colorbar(self.ground_, ax=self.ax_, label="log density around")
        self.threshold_ = None
        if self.offset is not None and values.min() < self.offset < values.max():
            style = {"colors": "black", "linestyles": "--", "linewidths": 1}
            self.threshold_ = self.ax_.contour(x, y, values, levels=[self.offset], **style)


@dataclass(eq=False, repr=False)
class NodeContributionsDisplay:
    """A graph, its nodes colored by their shares of the distance to the nearest references.

    Red nodes make the graph odd, blue ones make it like the references, white ones do neither; see
    :func:`skgraphkde.inspection.node_contributions`. Small graphs are drawn with node labels.

    Parameters
    ----------
    graph : GraphBatch
        Of one graph.
    contributions : ndarray of shape (n_nodes,)
        In the order of its nodes.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes, Figure
    nodes_ : matplotlib PathCollection
        In the order of the nodes; what a color bar for several axes needs.
    edges_ : matplotlib LineCollection

    Examples
    --------
    Side by side, in one range of colors:

    >>> import matplotlib.pyplot as plt
    >>> import networkx as nx
    >>> from skgraphkde.display import NodeContributionsDisplay
    >>> figure, axes = plt.subplots(1, 2, layout="constrained")
    >>> for ax, shares in zip(axes, [[0.1, 0.0, -0.2], [0.3, 0.1, 0.1]]):
    ...     display = NodeContributionsDisplay.from_predictions(
    ...         nx.path_graph(3), shares, vmax=0.3, colorbar=False, ax=ax
    ...     )
    >>> bar = figure.colorbar(display.nodes_, ax=axes, shrink=0.6)
    >>> plt.close(figure)
    """

    graph: GraphBatch
    contributions: np.ndarray

    @classmethod
    def from_estimator(cls, detector: Any, graph: Any, *, k: int = 5, **options: Any) -> Self:
        """Draw the shares of one graph's nodes in the distance to its `k` nearest references."""
        batch = _one_graph(graph)
        return cls.from_predictions(batch, node_contributions(detector, batch, k)[0], **options)

    @classmethod
    def from_predictions(cls, graph: Any, contributions: Any, **options: Any) -> Self:
        """Draw one graph, of any format that :func:`skgraphkde.read_graphs` takes.

        Raises
        ------
        ValueError
            If `graph` is a batch of several, or `contributions` are not one finite number a node.
        """
        batch, contributions = _one_graph(graph), _numbers(contributions, "contributions")
        if len(contributions) != batch.n_nodes:
            raise ValueError(
                f"got {len(contributions)} contributions for a graph of {batch.n_nodes} nodes: "
                "give one a node, in their order"
            )
        return cls(batch, contributions).plot(**options)

    def plot(self, ax: Any = None, *, vmax: float | None = None, colorbar: bool = True) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            None makes a figure.
        vmax : float, default=None
            Colors reach from -vmax to vmax. None takes the size of the largest contribution.
        colorbar : bool, default=True
            Whether to draw a color bar beside the graph.
        """
        self.ax_, self.figure_ = _axes(ax)
        vmax = vmax or np.abs(self.contributions).max() or 1.0
        graph = self.graph.to_networkx()[0]
        places = _layout(graph)
        style = {"edgecolors": "#555555", "linewidths": 0.6, "cmap": "RdBu_r"}
        self.edges_ = nx.draw_networkx_edges(
            graph, places, ax=self.ax_, edge_color="#999999", width=1.5
        )
        self.nodes_ = nx.draw_networkx_nodes(
            graph, places, ax=self.ax_, node_color=self.contributions, vmin=-vmax, vmax=vmax,
            node_size=min(190, 9000 / len(graph)), **style,
        )  # fmt: skip
        labels = nx.get_node_attributes(graph, "label") if len(graph) <= SMALL_GRAPH else {}
        for node, label in labels.items():
            color = "white" if abs(self.contributions[node]) > 0.65 * vmax else "black"
            style = {"ha": "center", "va": "center", "fontsize": 8, "color": color}
            self.ax_.text(*places[node], str(label), **style)
        if colorbar:
            label = "share of the squared distance"
            self.figure_.colorbar(self.nodes_, ax=self.ax_, shrink=0.8, label=label)
        self.ax_.set_aspect("equal", adjustable="datalim")
        self.ax_.margins(0.12)
        self.ax_.axis("off")
        return self


@dataclass(eq=False, repr=False)
class TrainingDisplay:
    """What training did, epoch by epoch: losses, and mixture weights of the bandwidths.

    Parameters
    ----------
    history : dict of lists
        The detector's `history_`.
    bandwidths : ndarray of shape (n_bandwidths,)
        The detector's `bandwidths_`, for the legend.

    Attributes
    ----------
    ax_ : ndarray of 2 matplotlib Axes
        Losses, and mixture weights.
    figure_ : matplotlib Figure
    loss_, validation_loss_, best_epoch_ : matplotlib Line2D
        The best epoch is the one whose state the detector has kept.
    weights_ : list of matplotlib Line2D
        One a bandwidth.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from skgraphkde import GraphKDEDetector
    >>> from skgraphkde.datasets import load_mutag
    >>> from skgraphkde.display import TrainingDisplay
    >>> detector = GraphKDEDetector(encoder="gcn", max_iter=2, random_state=0)
    >>> display = TrainingDisplay.from_estimator(detector.fit(load_mutag().graphs[:20]))
    >>> len(display.weights_)
    3
    >>> plt.close(display.figure_)
    """

    history: dict[str, list]
    bandwidths: np.ndarray

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
                "nothing was trained, history_ is empty: fit with max_iter=1 or more, on 3 graphs "
                "or more"
            )
        return cls(detector.history_, detector.bandwidths_).plot(**options)

    def plot(self, ax: Any = None) -> Self:
        """Draw, on 2 matplotlib Axes `ax` or, with None, in a figure."""
        if ax is not None and np.size(ax) != 2:
            raise ValueError(f"a training is drawn on 2 axes, got {np.size(ax)}")
        if ax is None:
            ax = _pyplot().subplots(2, 1, figsize=(5, 4), layout="constrained")[1]
        self.ax_ = np.array([_axes(one)[0] for one in np.ravel(ax)])
        self.figure_ = self.ax_[0].figure
        losses, weights = self.ax_
        held_out = self.history["validation_loss"]
        best = int(np.argmin(held_out))
        (self.loss_,) = losses.plot(self.history["loss"], color=GRAY, label="training")
        (self.validation_loss_,) = losses.plot(held_out, color=BLUE, label="held out")
        style = {"marker": "o", "linestyle": "none", "color": "black"}
        (self.best_epoch_,) = losses.plot([best], [held_out[best]], label="best", **style)
        mixture = np.array(self.history["mixture_weights"])
        shades = _pyplot().get_cmap("viridis")(np.linspace(0, 0.85, mixture.shape[1]))
        self.weights_ = weights.plot(mixture)
        for line, h, color in zip(self.weights_, self.bandwidths, shades, strict=True):
            line.set(label=f"h = {h:.3g}", color=color)
        losses.set(xlabel="epoch", ylabel="loss")
        weights.set(xlabel="epoch", ylabel="mixture weight", ylim=(0, 1.1 * mixture.max()))
        for ax in self.ax_:
            ax.xaxis.get_major_locator().set_params(integer=True)
            ax.legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
        return self


@dataclass(eq=False, repr=False)
class PValueDisplay:
    """Sorted p-values, and the line of Benjamini and Hochberg.

    Where nothing is odd, the k-th of n p-values is about k / n, the dotted line. Up to the last one
    that is not above ``alpha * k / n``, the dashed line, all are selected, as by the detector's
    :meth:`~skgraphkde.GraphKDEDetector.select`. Both axes are logarithmic, which makes small
    p-values visible.

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
        """Draw the p-values of `graphs`, not those of `fit`, under a fitted `detector`."""
        return cls.from_predictions(detector.p_values(graphs), alpha, **options)

    @classmethod
    def from_predictions(cls, p_values: Any, alpha: float = 0.1, **options: Any) -> Self:
        """Draw p-values.

        Raises
        ------
        ValueError
            If a p-value or alpha is not in (0, 1].
        """
        p_values = _numbers(p_values, "p_values")
        if not 0 < p_values.min() <= p_values.max() <= 1:
            raise ValueError("p_values must be in (0, 1]")
        if not 0 < alpha <= 1:
            raise ValueError(f"alpha must be in (0, 1], got {alpha!r}")
        return cls(p_values, alpha).plot(**options)

    def plot(self, ax: Any = None) -> Self:
        """Draw, on matplotlib Axes `ax` or, with None, in a figure."""
        self.ax_, self.figure_ = _axes(ax)
        self.selected_ = false_discovery_control(self.p_values) <= self.alpha
        n, order = len(self.p_values), np.argsort(self.p_values, kind="stable")
        ends, line = np.array([1, n]), rf"${self.alpha:g}\,k / n$"
        (self.diagonal_,) = self.ax_.plot(ends, ends / n, ":", color=GRAY, label="$k / n$")
        (self.line_,) = self.ax_.plot(ends, self.alpha * ends / n, "k--", label=line)
        points = np.column_stack([np.arange(1, n + 1), self.p_values[order]])
        classes = np.where(self.selected_[order], -1, 1)
        self.points_ = []
        for of_group, label, color, marker in _groups(classes, ("not selected", "selected")):
            shown = points[of_group]
            style = {"color": color, "marker": marker, "label": f"{label} ({len(shown)})"}
            self.points_.append(self.ax_.scatter(*shown.T, s=16, zorder=3, **style))
        self.ax_.set(xlabel="rank $k$", ylabel="p-value", xscale="log", yscale="log")
        self.ax_.legend(frameon=False)
        return self


# -- what they share -------------------------------------------------------------------------------


def _pyplot() -> Any:
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError('pictures need matplotlib: pip install "skgraphkde[examples]"') from error
    return plt


def _axes(ax: Any) -> tuple[Any, Any]:
    """The caller's axes, or those of a new figure, without a box; and their figure."""
    plt = _pyplot()
    if ax is None:
        _, ax = plt.subplots(figsize=(5, 4), layout="constrained")
    ax.spines[["top", "right"]].set_visible(False)
    return ax, ax.figure


def _groups(y: np.ndarray | None, names: tuple[str, str]) -> Iterator[tuple[Any, str, str, str]]:
    """(which, name, color, marker) of normal graphs and of anomalies; or of all, without `y`."""
    if y is None:
        yield slice(None), "graphs", BLUE, "o"
    else:
        yield y == 1, names[0], BLUE, "o"
        yield y == -1, names[1], VERMILION, "^"


def _check_option(name: str, value: Any, options: tuple[str, ...]) -> None:
    if value not in options:
        raise ValueError(f"{name} must be {' or '.join(map(repr, options))}, got {value!r}")


def _numbers(values: Any, name: str) -> np.ndarray:
    """A flat array of finite numbers, at least one."""
    numbers = check_array(values, ensure_2d=False, dtype=float, input_name=name)
    if numbers.ndim != 1:
        raise ValueError(f"{name} must be a flat list of numbers, got shape {numbers.shape}")
    return numbers


def _target(y: Any, scores: np.ndarray) -> np.ndarray | None:
    if y is None:
        return None
    check_consistent_length(scores, y)
    return check_target(y)


def _one_graph(graph: Any) -> GraphBatch:
    batch = read_graphs([graph])
    if len(batch) != 1:
        raise ValueError(f"one graph is drawn at a time, got a GraphBatch of {len(batch)}")
    return batch


def _floor(scores: np.ndarray, offset: float | None, y: np.ndarray | None) -> float:
    """The log density below which a picture makes no difference, see DensityDisplay."""
    normal = scores if y is None or not np.any(y == 1) else scores[y == 1]
    middle, highest = np.median(normal), scores.max()
    low = middle if offset is None else min(middle, offset)
    return low - 4 * (highest - middle) if highest > middle else -np.inf


def _smoothed(
    x: np.ndarray, y: np.ndarray, positions: np.ndarray, values: np.ndarray, bandwidth: float
) -> np.ma.MaskedArray:
    """Weighted means of the values around the cells of a grid; masked where no position is near."""
    rows = []
    for height in y:  # row by row: there may be thousands of graphs
        cells = np.column_stack([x, np.full(len(x), height)])
        squared = cdist(cells, positions, "sqeuclidean") / bandwidth**2
        far, weights = squared.min(axis=1) > 9, np.exp(-0.5 * squared)
        means = weights @ values / np.where(far, 1, weights.sum(axis=1))
        rows.append(np.ma.masked_array(means, far))
    return np.ma.stack(rows)


def _mds(D: np.ndarray) -> np.ndarray:
    """Metric scaling by SMACOF, from where classical scaling puts the graphs."""
    centered = D**2 - (D**2).mean(axis=0)
    eigenvalues, vectors = np.linalg.eigh(-0.5 * (centered - centered.mean(axis=1)[:, None]))
    largest = [-1, -2]
    start = vectors[:, largest] * np.sqrt(np.maximum(eigenvalues[largest], 0))
    return smacof(D, init=start, n_init=1)[0]


def _tsne(D: np.ndarray, random_state: Any) -> np.ndarray:
    perplexity = min(30.0, (len(D) - 1) / 3)
    options = {"metric": "precomputed", "init": "random", "random_state": random_state}
    return TSNE(perplexity=perplexity, **options).fit_transform(D)


def _layout(graph: nx.Graph) -> dict:
    """Where the nodes go, the same each time."""
    if len(graph) <= SMALL_GRAPH and nx.is_connected(graph):
        return nx.kamada_kawai_layout(graph)
    return nx.spring_layout(graph, seed=0)

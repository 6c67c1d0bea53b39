"""Nodes of a page: a graph and its judgement -> their colors, and those that reasons concern."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from skgraphkde.core.graphs.batch import GraphBatch
from skgraphkde.core.views import Novelty
from skgraphkde.detectors.base import BaseGraphDetector
from skgraphkde.detectors.estimator import GraphKDEDetector
from skgraphkde.explanation.contributions import shares_of
from skgraphkde.explanation.reasons import RankedReason
from skgraphkde.explanation.results import Judgement

# A view is surprised beyond minus the logarithm of this p-value.
SURPRISED = -np.log(0.1)
# Colors are full at this multiple of the share that is usual in known graphs; smaller shares than
# that are white.
FULL = 3
# Number of references in a sample, and the quantile of their shares that colors are scaled by.
SAMPLE = 20
USUAL = 0.9


class Colors(NamedTuple):
    """Colors of the nodes of one graph, as :func:`skgraphkde.plots.plot_graph` takes them."""

    values: np.ndarray | None = None  # None: all nodes are white
    radius: int | None = None  # None: values are shares of the distance to the nearest references
    vmax: float | None = None


def colors_of(
    detector: BaseGraphDetector,
    graph: GraphBatch,
    judged: Judgement,
    usual: Callable[[int], float],
) -> Colors:
    """Colors of the nodes of one graph, in the distance with the largest surprise.

    If no distance is surprised, but another view is, or the distance is not a sum over nodes, they
    are those of new neighborhoods, at radii at which nodes of known graphs seldom have any.

    Parameters
    ----------
    detector : BaseGraphDetector
        Fitted.
    graph : GraphBatch
        Of one graph.
    judged : Judgement
        Of this graph.
    usual : callable
        The :func:`usual_share` of a view.

    Returns
    -------
    Colors
    """
    if not isinstance(detector, GraphKDEDetector):
        return Colors()
    model = detector.model_
    novelty = model.first(Novelty)
    largest = judged.surprises[judged.view]
    others = np.delete(judged.surprises, model.densities)
    if novelty is None or largest >= SURPRISED or max(others, default=0.0) <= largest:
        with contextlib.suppress(ValueError):  # this distance is not a sum over nodes
            shares = shares_of(detector, graph, judged.references, judged.distances, judged.view)
            least = usual(judged.view)
            colored = np.where(np.abs(shares) > least, shares, 0.0)
            return Colors(colored, vmax=FULL * least) if colored.max() > 0 else Colors()
    if novelty is None:
        return Colors()
    new_from = novelty.new_from(np.array([judged.own]), model.context(graph))
    known = novelty.radius + 1
    is_new = new_from < min(novelty.usual_radius_, known)
    return Colors(np.where(is_new, new_from, known), novelty.radius) if is_new.any() else Colors()


def nodes_of(reasons: Sequence[RankedReason]) -> dict[int, list[int]]:
    """The nodes that reasons concern, those of the first reason first, and the numbers of these.

    Parameters
    ----------
    reasons : sequence of RankedReason
        Those that are told of one graph.
    """
    found: dict[int, list[int]] = {}
    for number, reason in enumerate(reasons, 1):
        for node in sorted({*reason.nodes, *chain(*reason.edges)}):
            found.setdefault(node, []).append(number)
    return found


def usual_share(detector: GraphKDEDetector, view: int) -> float:
    """90% quantile, over reference graphs, of the largest absolute node contribution."""
    model = detector.model_
    n = len(model.references)
    some = np.unique(np.linspace(0, n - 1, min(n, SAMPLE)).astype(int))
    own = model.reference_index[some]  # left out
    _, nearest = model.nearest(model.references[some], min(5, n - 1), view=view, own=own)
    largest = [
        np.abs(model.contributions(model.references[i], near, view=view).mean(axis=1)).max()
        for i, near in zip(some.tolist(), nearest, strict=True)
    ]
    return float(np.quantile(largest, USUAL))

"""Nodes of a page: a graph and its judgement -> the nodes that make it unusual."""

from __future__ import annotations

import contextlib
from typing import NamedTuple

import numpy as np

from skgraphkde.detectors.base import BaseGraphDetector
from skgraphkde.detectors.graph_kde import GraphKDEDetector
from skgraphkde.explanation.contributions import shares_of
from skgraphkde.explanation.results import Judgement
from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.views import Novelty

# Nodes of a graph that a page lists and no reason names, at most.
LARGEST = 5
# A view is surprised beyond minus the logarithm of this p-value.
SURPRISED = -np.log(0.1)
# Share of the fullest color that is hardly seen.
FAINT = 0.2
# Number of references in a sample, and the quantile of their shares that colors are scaled by.
SAMPLE, USUAL = 20, 0.9


class Nodes(NamedTuple):
    """Numbers of the nodes of one graph; None if the detector has none."""

    shares: np.ndarray | None  # of the squared distance to the nearest references
    new_from: np.ndarray | None  # smallest radius at which the neighborhood is new
    is_new: np.ndarray | None  # mask: at a radius at which nodes of known graphs seldom are
    radius: int  # the largest radius; beyond it all is known
    is_near: bool  # True if no distance is surprised, but another view is
    full: float = 0.0  # the share of the fullest color

    @property
    def colors(self) -> str:
        """The numbers that colors show: "shares", "new", or "" if no node is unusual in them."""
        if self.is_new is not None and (self.is_near or self.shares is None):
            return "new" if self.is_new.any() else ""
        return "" if self.shares is None else "shares"

    @property
    def hues(self) -> tuple[bool, bool]:
        """Whether red is seen at nodes that set the graph apart, and blue at the opposite."""
        shares = np.zeros(1) if self.shares is None else self.shares
        return bool(shares.max() > FAINT * self.full), bool(shares.min() < -FAINT * self.full)


def nodes_of(detector: BaseGraphDetector, graph: GraphBatch, judged: Judgement) -> Nodes:
    """The nodes that make one graph unusual, in the distance with the largest surprise.

    Parameters
    ----------
    detector : BaseGraphDetector
        Fitted.
    graph : GraphBatch
        Of one graph.
    judged : Judgement
        Of this graph.

    Returns
    -------
    Nodes
    """
    if not isinstance(detector, GraphKDEDetector):
        return Nodes(None, None, None, 0, False)
    model, shares, new_from, is_new, radius = detector.model_, None, None, None, 0
    largest = judged.surprises[judged.view]
    others = np.delete(judged.surprises, model.densities)
    is_near = bool(largest < SURPRISED and max(others, default=0.0) > largest)
    with contextlib.suppress(ValueError):  # this distance is not a sum over nodes
        shares = shares_of(detector, graph, judged.references, judged.distances, judged.view)
    novelty = model.first(Novelty)
    if novelty is not None:
        radius = novelty.radius
        new_from = novelty.new_from(np.array([judged.own]), model.context(graph))
        is_new = new_from < min(novelty.usual_radius_, radius + 1)
    return Nodes(shares, new_from, is_new, radius, is_near)


def nodes_to_list(found: Nodes, judged: Judgement) -> list[int]:
    """The nodes that a page lists: those that reasons name, then those that its colors show."""
    order: list[int] = []
    if found.shares is not None and found.colors == "shares":
        order = np.argsort(-found.shares, kind="stable").tolist()
    elif found.new_from is not None and found.is_new is not None:
        new = np.flatnonzero(found.is_new)
        order = new[np.argsort(found.new_from[new], kind="stable")].tolist()
    named = judged.nodes
    return named + [node for node in order if node not in named][:LARGEST]


def usual_share(detector: GraphKDEDetector, view: int) -> float:
    """90% quantile, over reference graphs, of the largest absolute node contribution."""
    model = detector.model_
    n = len(model.references)
    some = np.unique(np.linspace(0, n - 1, min(n, SAMPLE)).astype(int))
    D = model.distances(model.references[some], view=view)
    D[np.arange(len(some)), some] = np.inf  # leave one out
    nearest = np.argsort(D, axis=1, kind="stable")[:, : min(5, n - 1)]
    largest = [
        np.abs(model.contributions(model.references[i], near, view=view).mean(axis=1)).max()
        for i, near in zip(some.tolist(), nearest, strict=True)
    ]
    return float(np.quantile(largest, USUAL))

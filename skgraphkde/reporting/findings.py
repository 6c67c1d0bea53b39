"""Findings of a page: a fitted detector and a batch -> the judgement of each graph, its nodes.

Any detector gives scores and verdicts, and a calibrated one p-values. Only a GraphKDEDetector gives
reasons.
"""

from __future__ import annotations

import contextlib
import copy
from typing import NamedTuple

import numpy as np

from skgraphkde.detectors.base import BaseGraphDetector
from skgraphkde.detectors.graph_kde import GraphKDEDetector
from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.inspection.reasons import Reason
from skgraphkde.inspection.results import judge
from skgraphkde.inspection.views import shares_of
from skgraphkde.views import Novelty

# Nearest known graphs, and nodes that no reason names, of each graph.
NEAREST, LARGEST = 3, 5
# A view is surprised beyond minus the logarithm of this p-value.
SURPRISED = -np.log(0.1)
# Number of references in a sample, and the quantile of their shares that colors are scaled by.
SAMPLE, USUAL = 20, 0.9


class Finding(NamedTuple):
    """The judgement of one graph."""

    score: float
    decision: float  # the score minus the threshold
    p_value: float | None  # None if the detector is not calibrated
    n_nodes: int
    n_edges: int
    reasons: list[Reason]  # the unusual ones, the strongest first
    surprises: np.ndarray  # of the views
    view: int  # the density with the largest surprise
    references: np.ndarray  # positions of the nearest ones in that distance
    distances: np.ndarray  # from these

    @property
    def is_anomaly(self) -> bool:
        """True if the score is below the threshold."""
        return self.decision < 0

    @property
    def nodes(self) -> list[int]:
        """The nodes at which the reasons point, those of the strongest first."""
        return list(dict.fromkeys(node for reason in self.reasons for node in reason.pointed))

    @property
    def edges(self) -> list[tuple[int, int]]:
        """The edges that the reasons name."""
        return list(dict.fromkeys(edge for reason in self.reasons for edge in reason.edges))

    @property
    def nearest(self) -> list[int]:
        """Positions of the three nearest references."""
        return self.references[:NEAREST].tolist()


class Nodes(NamedTuple):
    """Numbers of the nodes of one graph; None if the detector has none."""

    shares: np.ndarray | None  # of the squared distance to the nearest references
    new_from: np.ndarray | None  # smallest radius at which the neighborhood is new
    radius: int  # the largest radius; beyond it all is known
    is_near: bool  # True if no distance is surprised, but another view is


def findings(
    detector: BaseGraphDetector, batch: GraphBatch, node_names: list | None = None
) -> list[Finding]:
    """Judge graphs.

    Parameters
    ----------
    detector : BaseGraphDetector
        Fitted.
    batch : GraphBatch
        The result of ``detector.read``.
    node_names : list of lists, default=None
        Names of the nodes of each graph, for reasons. None: their positions.

    Returns
    -------
    list of Finding
        One per graph.
    """
    detector = copy.copy(detector)  # as it is now, whatever another thread updates
    judged = judge(detector, batch, node_names=node_names)
    found = []
    for i, score in enumerate(judged.scores.tolist()):
        p_value = float(judged.p_values[i]) if detector.is_calibrated_ else None
        sizes = int(batch.n_nodes_per_graph[i]), int(batch.n_edges_per_graph[i])
        reasons = [reason for reason in judged.reasons[i] if reason.is_unusual]
        views = judged.surprises[i], int(judged.views[i])
        near = judged.references[i], judged.distances[i]
        decision = float(judged.decisions[i])
        found.append(Finding(score, decision, p_value, *sizes, reasons, *views, *near))
    return found


def nodes(detector: BaseGraphDetector, graph: GraphBatch, finding: Finding) -> Nodes:
    """The nodes that make one graph unusual, in the distance with the largest surprise.

    Parameters
    ----------
    detector : BaseGraphDetector
        Fitted.
    graph : GraphBatch
        Of one graph.
    finding : Finding
        Its judgement.

    Returns
    -------
    Nodes
    """
    if not isinstance(detector, GraphKDEDetector):
        return Nodes(None, None, 0, False)
    model, shares, new_from, radius = detector.model_, None, None, 0
    largest = finding.surprises[finding.view]
    others = np.delete(finding.surprises, model.densities)
    is_near = bool(largest < SURPRISED and max(others, default=0.0) > largest)
    with contextlib.suppress(ValueError):  # this distance is not a sum over nodes
        shares = shares_of(detector, graph, finding.references, finding.distances, finding.view)
    novelty = model.first(Novelty)
    if novelty is not None:
        new_from, radius = novelty.new_from(graph), novelty.radius
    return Nodes(shares, new_from, radius, is_near)


def listed(found: Nodes, finding: Finding) -> list[int]:
    """The nodes that a page lists: those that reasons name, then those that its colors show."""
    order: list[int] = []
    if found.shares is not None and (found.new_from is None or not found.is_near):
        order = np.argsort(-found.shares, kind="stable").tolist()
    elif found.new_from is not None:
        new = np.flatnonzero(found.new_from <= found.radius)
        order = new[np.argsort(found.new_from[new], kind="stable")].tolist()
    named = finding.nodes
    return named + [node for node in order[: LARGEST + len(named)] if node not in named][:LARGEST]


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

"""What a page says of each graph: a fitted detector and a batch -> scores, reasons, nodes.

Any detector gives scores and verdicts, and a calibrated one p-values. Only a GraphKDEDetector gives
reasons.
"""

from __future__ import annotations

import contextlib
import copy
from typing import Any, NamedTuple

import numpy as np

from skgraphkde.detectors.base import BaseGraphDetector
from skgraphkde.detectors.graph_kde import GraphKDEDetector
from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.inspection import node_contributions, novel_nodes, view_surprises
from skgraphkde.inspection.reasons import POINTED, WEAKEST, strongest_reasons

# Nearest known graphs, and nodes that no reason names, of each graph.
NEAREST, LARGEST = 3, 5
# A view is surprised beyond minus the logarithm of this p-value.
SURPRISED = -np.log(0.1)
# Known graphs, of which so many have smaller shares than that to which colors are compared.
SAMPLE, USUAL = 20, 0.9


class Reason(NamedTuple):
    """Why a graph is odd."""

    text: str
    strength: float  # 3 is one in twenty by chance, 10 is beyond doubt
    nodes: tuple[int, ...] = ()  # at which it points


class Finding(NamedTuple):
    """What is known of one graph, without drawing it."""

    score: float
    decision: float  # the score minus the threshold
    p_value: float | None  # None if the detector is not calibrated
    n_nodes: int
    n_edges: int
    reasons: list[Reason]  # the strongest first
    edges: tuple[tuple[int, int], ...]  # those that the reasons name
    nearest: tuple[int, ...]  # positions of references
    surprises: tuple[float, ...]  # of the views

    @property
    def is_anomaly(self) -> bool:
        """Whether the score is below the threshold."""
        return self.decision < 0

    @property
    def nodes(self) -> list[int]:
        """Those at which the reasons point, of the strongest first."""
        return list(dict.fromkeys(node for reason in self.reasons for node in reason.nodes))


class Nodes(NamedTuple):
    """The nodes of one graph that a page shows; None: the detector cannot say."""

    shares: np.ndarray | None  # of the squared distance to the nearest references
    new_from: np.ndarray | None  # radii from which on their neighborhoods are new
    radius: int  # the largest of these; beyond it all is known
    view: int  # the distance to which the shares belong
    is_near: bool  # whether no distance is surprised, but another view is


def findings(
    detector: BaseGraphDetector, batch: GraphBatch, node_names: list | None = None
) -> list[Finding]:
    """Judge graphs.

    Parameters
    ----------
    detector : BaseGraphDetector
        Fitted.
    batch : GraphBatch
        What ``detector.read`` returned.
    node_names : list of lists, default=None
        What the nodes of each graph are called in reasons. None: their positions.

    Returns
    -------
    list of Finding
        One per graph.
    """
    detector = copy.copy(detector)  # as it is now, whatever another thread updates
    whys: list[tuple] = [([], (), (), ())] * len(batch)
    if isinstance(detector, GraphKDEDetector):
        surprises = view_surprises(detector, batch)
        scores = -surprises.sum(axis=1)
        whys = _reasons(detector, batch, surprises, node_names)
    else:
        scores = detector.score_samples(batch)
    p_values: list[Any] = [None] * len(batch)
    if detector.is_calibrated_:
        p_values = detector.calibration_.p_values(scores).tolist()
    found = []
    for i, (score, p_value, why) in enumerate(zip(scores.tolist(), p_values, whys, strict=True)):
        sizes = int(batch.n_nodes_per_graph[i]), int(batch.n_edges_per_graph[i])
        found.append(Finding(score, score - detector.offset_, p_value, *sizes, *why))
    return found


def _reasons(
    detector: GraphKDEDetector, batch: GraphBatch, surprises: np.ndarray, node_names: list | None
) -> list[tuple]:
    """Of each graph: reasons, the edges that they name, the nearest references, and surprises."""
    table = strongest_reasons(detector, batch, surprises, names=node_names)
    of_graphs: list[tuple] = []
    for i, own in table.groupby("graph", sort=True):
        reasons, edges = [], []
        for x in own[own["strength"] >= WEAKEST].itertuples():
            pointed = x.nodes if x.kind in POINTED else ()
            reasons.append(Reason(str(x.reason), float(x.strength), pointed))
            edges += x.edges
        nearest = tuple(int(x) for x in own["references"].iloc[0][:NEAREST])
        of_views = tuple(surprises[i].tolist())
        of_graphs.append((reasons, tuple(dict.fromkeys(edges)), nearest, of_views))
    return of_graphs


def nodes(detector: BaseGraphDetector, graph: GraphBatch, finding: Finding) -> Nodes:
    """Which nodes of one graph are the reason, in the distance that finds it most surprising.

    Parameters
    ----------
    detector : BaseGraphDetector
        Fitted.
    graph : GraphBatch
        Of one graph.
    finding : Finding
        What is known of it.
    """
    if not isinstance(detector, GraphKDEDetector):
        return Nodes(None, None, 0, 0, False)
    density, shares, new_from, radius = detector.density_, None, None, 0
    of_distances = np.array(finding.surprises[: len(density.fitted_distances)])
    view, largest = int(of_distances.argmax()), float(of_distances.max())
    others = finding.surprises[len(of_distances) :]
    is_near = largest < SURPRISED and max(others, default=0.0) > largest
    with contextlib.suppress(ValueError):  # this distance is not a sum over nodes
        (shares,) = node_contributions(detector, graph, view=view)
    if density.novelty is not None:
        new_from, radius = novel_nodes(detector, graph)[0], density.novelty.radius
    return Nodes(shares, new_from, radius, view, is_near)


def listed(found: Nodes, finding: Finding) -> list[int]:
    """The nodes that a page lists: those that reasons name, then those that its colors show."""
    order: list[int] = []
    if found.shares is not None and not found.is_near:
        order = np.argsort(-found.shares, kind="stable").tolist()
    elif found.new_from is not None:
        new = np.flatnonzero(found.new_from <= found.radius)
        order = new[np.argsort(found.new_from[new], kind="stable")].tolist()
    named = finding.nodes
    return named + [node for node in order[: LARGEST + len(named)] if node not in named][:LARGEST]


def usual_share(detector: GraphKDEDetector, view: int) -> float:
    """The share of its node of the largest share that nine in ten known graphs stay below."""
    density = detector.density_
    n = len(density.references)
    some = np.unique(np.linspace(0, n - 1, min(n, SAMPLE)).astype(int))
    D = density.distances(density.references[some], view=view)
    D[np.arange(len(some)), some] = np.inf  # each by the others
    nearest = np.argsort(D, axis=1, kind="stable")[:, : min(5, n - 1)]
    largest = [
        np.abs(density.contributions(density.references[i], near, view=view).mean(axis=1)).max()
        for i, near in zip(some.tolist(), nearest, strict=True)
    ]
    return float(np.quantile(largest, USUAL))

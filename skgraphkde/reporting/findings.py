"""What a page says of each graph: a fitted detector and a batch -> scores, reasons, nodes.

Any detector gives scores and verdicts, and a calibrated one p-values. Only a GraphKDEDetector gives
reasons.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from skgraphkde.calibration import conformal_p_values
from skgraphkde.detectors.base import BaseGraphDetector
from skgraphkde.detectors.graph_kde import GraphKDEDetector
from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.inspection import explain, node_contributions, novel_nodes, view_surprises

# Nearest known graphs, and nodes of the largest contribution, of each graph.
NEAREST, LARGEST = 3, 5
# A weaker reason is none.
WEAKEST = 1.0


class Reason(NamedTuple):
    """Why a graph is odd."""

    text: str
    strength: float  # 3 is one in twenty by chance, 10 is beyond doubt


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

    @property
    def is_anomaly(self) -> bool:
        """Whether the score is below the threshold."""
        return self.decision < 0


class Nodes(NamedTuple):
    """The nodes of one graph that a page shows; None: the detector cannot say."""

    shares: np.ndarray | None  # of the squared distance to the nearest references
    new_from: np.ndarray | None  # radii from which on their neighborhoods are new
    radius: int  # the largest of these; beyond it all is known


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
    scores = detector.score_samples(batch)
    p_values: list[Any] = [None] * len(batch)
    if detector.is_calibrated_:
        p_values = conformal_p_values(scores, detector.calibration_scores_).tolist()
    whys: list[tuple] = [([], (), ())] * len(batch)
    if isinstance(detector, GraphKDEDetector):
        whys = _reasons(detector, batch, node_names)
    found = []
    for i, (score, p_value, why) in enumerate(zip(scores.tolist(), p_values, whys, strict=True)):
        sizes = int(batch.n_nodes_per_graph[i]), int(batch.n_edges_per_graph[i])
        found.append(Finding(score, score - detector.offset_, p_value, *sizes, *why))
    return found


def _reasons(detector: GraphKDEDetector, batch: GraphBatch, node_names: list | None) -> list[tuple]:
    """Of each graph: reasons, the edges that they name, and the nearest references."""
    of_graphs: list[tuple] = []
    for _, table in explain(detector, batch, node_names=node_names).groupby("graph", sort=True):
        strong = table[table["strength"] >= WEAKEST]
        reasons = [Reason(str(x.reason), float(x.strength)) for x in strong.itertuples()]
        edges = tuple(dict.fromkeys(edge for edges in strong["edges"] for edge in edges))
        nearest = tuple(int(x) for x in table["references"].iloc[0][:NEAREST])
        of_graphs.append((reasons, edges, nearest))
    return of_graphs


def nodes(detector: BaseGraphDetector, graph: GraphBatch) -> Nodes:
    """Which nodes of one graph are the reason, in the distance that finds it most surprising.

    Parameters
    ----------
    detector : BaseGraphDetector
        Fitted.
    graph : GraphBatch
        Of one graph.
    """
    if not isinstance(detector, GraphKDEDetector):
        return Nodes(None, None, 0)
    density = detector.density_
    surprises = view_surprises(detector, graph)[0, : len(density.fitted_distances)]
    try:
        (shares,) = node_contributions(detector, graph, view=int(surprises.argmax()))
    except ValueError:  # this distance is not a sum over nodes
        shares = None
    if density.novelty is None:
        return Nodes(shares, None, 0)
    return Nodes(shares, novel_nodes(detector, graph)[0], density.novelty.radius)


def largest(found: Nodes) -> list[int]:
    """The positions of the nodes that a page names, the most important first."""
    if found.shares is not None:
        return np.argsort(-found.shares, kind="stable")[:LARGEST].tolist()
    if found.new_from is not None:
        new = np.flatnonzero(found.new_from <= found.radius)
        return new[np.argsort(found.new_from[new], kind="stable")][:LARGEST].tolist()
    return []

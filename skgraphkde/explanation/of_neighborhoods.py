"""Words for nodes whose surroundings no known graph has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from skgraphkde._words import usually
from skgraphkde.core.graphs.batch import GraphBatch
from skgraphkde.core.views.base import Context, Facts, Property, Reason
from skgraphkde.core.views.categories import LISTED
from skgraphkde.core.views.neighborhoods import Novelty
from skgraphkde.explanation.naming import around_words, node_words


def say_neighborhoods(
    view: Novelty,
    graph: GraphBatch,
    unusual: Property,
    known: np.ndarray,
    context: Context,
    node_names: Sequence[Any] | None,
) -> Reason:
    """How many nodes have new surroundings, and those of the one that differs most nearby.

    Parameters
    ----------
    view : Novelty
        Fitted.
    graph : GraphBatch
        Batch of one graph.
    unusual : Property
        The view's property, of this graph.
    known : ndarray of shape (n_references,)
        The same property of the references.
    context : Context
        Context of the graph.
    node_names : sequence, default=None
        Names of the nodes; None means their positions.

    Returns
    -------
    Reason
    """
    new_from = view.new_from(np.array([unusual.own]), context)
    new = np.flatnonzero(new_from <= view.radius)
    words = graph.schema.words
    share, usual = usually(len(new) / len(new_from), known, percent=True)
    first = new[np.argsort(new_from[new], kind="stable")][:LISTED].tolist()
    node = node_words(view.neighborhoods_.vocabulary, graph, first[0], node_names)
    such = ":" if len(new) == 1 else ", e.g."
    n = max(int(new_from[first[0]]), 1)
    near = tuple(around_words(view.neighborhoods_, graph, first[0], n))
    within = f"; within {words.counted(n, 'edge')}: " if near else ", linked to no other"
    said = (
        f"{len(new)} of {words.counted(len(new_from), 'node')} ({share}): no other "
        f"{words.graph} has one with the same around it{such} {words.node} {node}{within}",
        f"{usual} of the {words.nodes}",
    )
    facts = Facts.of("node", len(new) / len(new_from), known)
    return Reason(unusual.what, *said, tuple(first), (), ("neighborhoods",), near, facts)

"""Words for the statistics of a graph as a whole."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from skgraphkde._words import usually
from skgraphkde.core.graphs.batch import GraphBatch
from skgraphkde.core.views.base import Context, Facts, Property, Reason
from skgraphkde.core.views.categories import LISTED, places
from skgraphkde.core.views.statistics import as_told, structure


def say_statistic(
    graph: GraphBatch, unusual: Property, known: np.ndarray, context: Context
) -> Reason:
    """A statistic of the structure, and that of the known graphs.

    Parameters
    ----------
    graph : GraphBatch
        Batch of one graph.
    unusual : Property
        One of the properties of :class:`Statistics`, of this graph.
    known : ndarray of shape (n_references,)
        The same property of the references.
    context : Context
        Context of the graph.

    Returns
    -------
    Reason
    """
    what, statistic = unusual.what, context.shared(structure)[unusual.place]
    share, n, words = float(unusual.values[0]), graph.n_nodes, graph.schema.words
    own, usual = usually(share, known, percent=True)
    # A share below the usual ones is about no node.
    is_about = statistic.form == "most" or share > np.median(known)
    order = np.argsort(-statistic.nodes, kind="stable")[:LISTED]
    nodes, edges = tuple(order[is_about * statistic.nodes[order] > 0].tolist()), ()
    if statistic.form == "nodes":
        text = f"{round(share * n)} of {n} {statistic.name} ({own})"
    elif what == "triangles":
        k = int(statistic.nodes.sum())
        text = (
            f"{k} triangle{'s' * (k != 1)}: {own} of the pairs of {words.nodes} linked to a "
            "common third are also linked to each other"
        )
        if nodes:
            nodes, edges = _triangle(graph, nodes[0])
    else:
        text, usual = in_words(statistic.name, statistic.form, [share], known)
    form = statistic.form
    facts = Facts.of("graph", as_told(form, share), as_told(form, known))
    about = ("edges" if what == "rounds" else what,)
    return Reason(what, text, usual, nodes, edges, about, facts=facts)


def _triangle(graph: GraphBatch, node: int) -> tuple[tuple, tuple]:
    """Nodes and edges of a triangle at a node, see :func:`places`."""
    near = graph.underlying[[node]].indices
    i, j = graph.underlying[near][:, near].nonzero()
    ends = np.column_stack([graph.source_of_arc, graph.adjacency.indices])
    is_side = np.isin(ends, [node, near[i[0]], near[j[0]]]).all(axis=1)
    return places(graph, "edge", np.flatnonzero(is_side))


def in_words(
    name: str,
    form: str,
    own: Sequence[float],
    known: np.ndarray,
    one: str = "{}",
    two: str = "{} to {}",
) -> tuple[str, str]:
    """A statistic of one graph, or of two, and what is usual.

    Parameters
    ----------
    name, form : str
        As of a :class:`Statistic`.
    own : sequence of float
    known : ndarray of shape (n_known,)
        The statistic of the known graphs; NaN is ignored.
    one, two : str
        How one number is written, or the same of both, and how two are.
    """
    if form == "fact":
        return f"{'' if own[0] else 'no '}{name}", ""
    values, known = as_told(form, np.array(own)), as_told(form, known)
    is_share = form in ("share", "nodes")
    texts = [usually(x, known, percent=is_share) for x in values]
    distinct, usual = list(dict.fromkeys(text for text, _ in texts)), texts[0][1]
    numbers = (two if len(distinct) > 1 else one).format(*distinct)
    if form in ("log", "log1p"):
        is_count = numbers != "1" and one == "{}"
        return f"{numbers} {name}" if is_count else f"number of {name}: {numbers}", usual
    return f"{'share of ' * is_share}{name}: {numbers}", usual

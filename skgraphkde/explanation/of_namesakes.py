"""Words for the named node whose links are unlike those of its namesakes in other graphs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from skgraphkde._words import usual_range, usually
from skgraphkde.core.graphs.batch import GraphBatch
from skgraphkde.core.views.base import Facts, Property, Reason
from skgraphkde.core.views.categories import LISTED
from skgraphkde.core.views.namesakes import Namesakes, Odd

# More links of a node than so many are told by their sum.
FEW = 2
# A shift is told if it is one of such a share of the named nodes.
MANY = 0.25


def say_namesakes(
    view: Namesakes,
    graph: GraphBatch,
    unusual: Property,
    known: np.ndarray,
    node_names: Sequence[Any] | None,
) -> Reason:
    """The node, and the sum of its links or the link that is least like those of its namesakes.

    Parameters
    ----------
    view : Namesakes
        Fitted.
    graph : GraphBatch
        Batch of one graph.
    unusual : Property
        The view's property, of this graph.
    known : ndarray of shape (n_references,)
        The same property of the references.
    node_names : sequence, default=None
        Names of the nodes; None means their positions.

    Returns
    -------
    Reason
    """
    words = graph.schema.words
    if view.of == "graph":
        return _say_shift(view, graph, unusual, known, node_names)
    odd = view.oddest(graph, unusual.own)
    if view.of == "link":
        link = view.oddest_link(graph, unusual.own)
        if not _is_all_of_it(odd) or odd.node not in (link.node, link.neighbor):
            odd = link
    if odd.node < 0:
        return _missed(view, odd, unusual, graph)
    name = str(odd.node if node_names is None else node_names[odd.node])
    number = _number_of_links(graph, odd.number)
    low, high = usual_range(odd.known)
    if _is_all_of_it(odd) and not low <= odd.total <= high:
        own, usual = usually(odd.total, odd.known)
        what = f"{number} {own} in all"
        if number == "":
            what = words.counted(int(odd.total), "edge")
        if graph.directed:
            what += f" {'into' if odd.is_turned else 'out of'} it"
        facts = Facts.of("node", odd.total, odd.known)
        usual += f" in {odd.n_known} other {words.graphs}"
        about = (("namesakes", name),)
        return Reason(name, f"{name}: {what}", usual, (odd.node,), (), about, (), facts)
    return _say_link(graph, odd, name, number, node_names)


def _is_all_of_it(odd: Odd) -> bool:
    """True if the sum of a node's links says more than the one that is oddest."""
    if not len(odd.known):
        return False
    is_beyond = not odd.known.min() <= odd.total <= odd.known.max()
    is_new = odd.has_link and not odd.known_values.any()
    return odd.n_odd > FEW or (is_beyond and not is_new)


def _say_shift(
    view: Namesakes,
    graph: GraphBatch,
    unusual: Property,
    known: np.ndarray,
    node_names: Sequence[Any] | None,
) -> Reason:
    """How many named nodes have more, or less, in all than nearly all of the same names."""
    shifted = view.shifted(graph, unusual.own)
    is_more = len(shifted.above) >= len(shifted.below)
    nodes = shifted.above if is_more else shifted.below
    if not len(nodes) or len(nodes) < MANY * shifted.n_names:
        return Reason(view.name, "")
    words = graph.schema.words
    first = int(nodes[0])
    name = str(first if node_names is None else node_names[first])
    what = _number_of_links(graph, shifted.number) or words.edges
    how = "more" if is_more else "less"
    if what == words.edges and not is_more:
        how = "fewer"
    own, usual = usually(shifted.total, shifted.known)
    of_all = f"{len(nodes)} of {words.counted(shifted.n_names, 'node')}"
    than = "in all than nearly all of the same names"
    text = f"{of_all} have {how} {what} {than}, such as {name}: {own}"
    facts = Facts.of("graph", float(unusual.values[0]), known)
    where = tuple(nodes[:LISTED].tolist())
    return Reason(view.name, text, usual, where, (), ("namesakes",), (), facts)


def _missed(view: Namesakes, odd: Odd, unusual: Property, graph: GraphBatch) -> Reason:
    """A name that most graphs have, and this one has not."""
    words = graph.schema.words
    name = view.name_of(odd)
    n_graphs = len(view.references_) - (unusual.own >= 0)
    text = f"no {words.node} {name}" if name else f"a {words.node} that others have is not there"
    usual = f"{odd.n_known} of {n_graphs} other {words.graphs} have it"
    facts = Facts("node", 0.0, n_known=odd.n_known)
    return Reason(name, text, usual, about=(("namesakes", name),), facts=facts)


def _say_link(
    graph: GraphBatch, odd: Odd, name: str, number: str, node_names: Sequence[Any] | None
) -> Reason:
    """The link of a named node that is least like those of its namesakes."""
    words = graph.schema.words
    other = str(odd.neighbor if node_names is None else node_names[odd.neighbor])
    ends = (odd.neighbor, odd.node) if odd.is_turned else (odd.node, odd.neighbor)
    first, second = (other, name) if odd.is_turned else (name, other)
    pair = f"{first} -> {second}" if graph.directed else f"{first} - {second}"
    edges = (ends,) if odd.has_link else ()
    facts = Facts.of("edge", odd.value, odd.known_values)
    if number and not odd.has_link:
        own, usual = usually(odd.value, odd.known_values)
        text = f"no {words.edge} {pair}"
        usual = f"{number} {usual} where both {words.nodes} are"
    elif number:
        own, usual = usually(odd.value, odd.known_values)
        text = f"{number} of {words.edge} {pair}: {own}"
    else:
        n_linked = int(np.count_nonzero(odd.known_values))
        article = "an" if words.edge[0] in "aeiou" else "a"
        text = f"{article if odd.has_link else 'no'} {words.edge} {pair}"
        n_known = len(odd.known_values)
        usual = f"{n_linked or 'none'} of {n_known} other {words.graphs} with both have one"
    about = ("namesakes", name), ("namesakes", other)
    return Reason(name, text, usual, (odd.node, odd.neighbor), edges, about, (), facts)


def _number_of_links(graph: GraphBatch, number: int) -> str:
    """What a number of links is called; "" if it says only that they are there."""
    if number:
        return graph.schema.edge_columns[number - 1]
    return graph.schema.edge_weight or ""

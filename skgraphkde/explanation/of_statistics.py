"""Words for the statistics of a graph as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from skgraphkde._messages import listed
from skgraphkde._words import Words, category_text, legible, usually
from skgraphkde.core.graphs.batch import GraphBatch
from skgraphkde.core.views.base import Context, Facts, Property, Reason
from skgraphkde.core.views.categories import LISTED, Vocabulary, places
from skgraphkde.core.views.statistics import Statistics, structure
from skgraphkde.explanation.naming import edge_category, pair_words


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
    what = unusual.what
    statistic = context.shared(structure)[unusual.place]
    share = float(unusual.values[0])
    n = graph.n_nodes
    words = graph.schema.words
    own, usual = usually(share, known, percent=True)
    # A share below the usual ones is about no node.
    is_about = statistic.form == "most" or share > np.median(known)
    order = np.argsort(-statistic.nodes, kind="stable")[:LISTED]
    nodes = tuple(order[is_about * statistic.nodes[order] > 0].tolist())
    edges = ()
    name = name_statistic(statistic.key, words)
    if statistic.form == "nodes":
        text = f"{round(share * n)} of {n} {name} ({own})"
    elif what == "triangles":
        k = int(statistic.nodes.sum())
        text = (
            f"{k} triangle{'s' * (k != 1)}: {own} of the pairs of {words.nodes} linked to a "
            "common third are also linked to each other"
        )
        if nodes:
            nodes, edges = _triangle(graph, nodes[0])
    else:
        text, usual = in_words(name, statistic.form, [share], known)
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


def name_statistic(key: tuple, words: Words, vocabulary: Vocabulary | None = None) -> str:
    """A statistic in words.

    Parameters
    ----------
    key : tuple
        Of the statistic.
    words : Words
        For nodes, edges and graphs.
    vocabulary : Vocabulary, default=None
        Of the view, for pairs of steps.
    """
    kind, part, *rest = (*key, "")
    links = f"links at one {words.node}"
    of_structure = {
        "nodes": words.nodes,
        "edges": words.edges,
        "density": f"pairs of {words.nodes} that are linked",
        "mean degree": f"average number of {links}",
        "deviation of degrees": f"typical deviation of numbers of {links} from their average",
        "largest degree": f"most {links}",
        "triangles": (
            f"pairs of {words.nodes} linked to a common third that are also linked to each other"
        ),
        "pieces": f"parts with no {words.edges} between them",
        "rounds": f"{words.edges} beyond those needed to connect the {words.nodes}",
        "degree 0": f"{words.nodes} linked to no other",
        "degree 1": f"{words.nodes} linked to only one other",
        "degree 2": f"{words.nodes} linked to two others",
        "sources": f"{words.nodes} with outgoing {words.edges} only",
        "sinks": f"{words.nodes} with incoming {words.edges} only",
    }
    if kind in of_structure:
        return of_structure[kind]
    name = rest[0]
    noun = getattr(words, f"{part}s", "")
    if kind == "number":
        return f"{name} of the {words.graph}"
    if kind == "mean":
        return f"average {name} of {noun}"
    if kind == "deviation":
        return f"typical deviation of {name} of {noun} from its average"
    if kind == "without":
        return f"{noun} without {name}"
    if kind == "rare":
        thing = f"a rare {f'pair with the same {name}' if part == 'pair' else name}"
    else:
        thing = name_value(part, name, rest[1], vocabulary)
    return f"{noun} ({thing})" if part in ("node", "edge") else thing


def name_value(part: str, name: str, value: Any, vocabulary: Vocabulary | None) -> str:
    """A value of a category of nodes, edges or graphs, or two steps with the same, in words."""
    if part == "pair":
        assert vocabulary is not None  # of the view that found the pair
        return pair_words(vocabulary, value, vocabulary.names.index(name))
    return edge_category(name, value) if part == "edge" else category_text(name, value)


def name_here(view: Statistics, j: int, graphs: GraphBatch) -> str:
    """The name of a statistic, with the values that it leaves open and graphs have.

    Parameters
    ----------
    view : Statistics
        Fitted.
    j : int
        Index of the statistic.
    graphs : GraphBatch
    """
    key = view.keys_[j]
    name = name_statistic(key, graphs.schema.words, view.vocabulary_)
    values = view.here(j, graphs)[1]
    if not values:
        return name
    kind, part, category = key[:3]
    if kind == "rare":
        texts = [name_value(part, category, value, view.vocabulary_) for value in values]
    else:  # the value that two steps share
        texts = [legible(value) for value in values]
    noun, is_share, _ = name.partition(" (")
    return f"{noun} ({listed(texts)})" if is_share else f"{name} (here {listed(texts)})"


def as_told(form: str, x: Any) -> Any:
    """Statistics in the unit in which reasons tell them: numbers, not their logarithms."""
    if form in ("log", "log1p", "most"):
        return np.exp(x) - (form != "log")
    return x


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
    values = as_told(form, np.array(own))
    known = as_told(form, known)
    is_share = form in ("share", "nodes")
    texts = [usually(x, known, percent=is_share) for x in values]
    distinct = list(dict.fromkeys(text for text, _ in texts))
    usual = texts[0][1]
    numbers = (two if len(distinct) > 1 else one).format(*distinct)
    if form in ("log", "log1p"):
        is_count = numbers != "1" and one == "{}"
        return f"{numbers} {name}" if is_count else f"number of {name}: {numbers}", usual
    return f"{'share of ' * is_share}{name}: {numbers}", usual

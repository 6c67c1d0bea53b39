"""Words for the numbers of a node, edge or graph that are unlike those of all others."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from skgraphkde._messages import shown
from skgraphkde._words import category_text, number, usual, usually
from skgraphkde.core.graphs.batch import GraphBatch
from skgraphkde.core.views.base import Property, Reason
from skgraphkde.core.views.categories import places
from skgraphkde.core.views.numbers import Numbers, OddRow, Rows
from skgraphkde.explanation.naming import edge_words, node_words
from skgraphkde.explanation.wording import LONGEST

# A number is that of another beside it, as far as ranges are written, if they differ by less.
ALIKE = 1e-3
# A gap says something if it is so many times as wide as the widest one by chance.
WIDE = 3.0
# Two numbers are told that are so far from those of all others together, in deviations.
FAR_APART = 1.0
# Characters that say in a reason of what kind a node or edge is.
LONGEST_KIND = 60


def say_numbers(
    view: Numbers, graph: GraphBatch, unusual: Property, node_names: Sequence[Any] | None
) -> Reason:
    """The node, edge or graph, and its numbers that are out of range, in a gap or odd together.

    Parameters
    ----------
    view : Numbers
        Fitted.
    graph : GraphBatch
        Batch of one graph.
    unusual : Property
        One of the view's properties, of this graph.
    node_names : sequence, default=None
        Names of the nodes; None means their positions.

    Returns
    -------
    Reason
    """
    odd = view.oddest(graph, unusual)
    where = _where(view, graph, odd.rows, int(odd.elements[0]), node_names)
    if odd.is_odd.any():
        said = _out_of_range(view, graph, odd, where, unusual.own)
    elif odd.is_missing.any():
        names = [odd.rows.names[j] for j in np.flatnonzero(odd.is_missing)]
        said = _said(odd, names, f"{' and '.join(names)} missing {where}", "usually given")
    elif len(odd.values) == 1:
        said = _in_a_gap(view, graph, odd, where)
    else:
        said = _together(view, graph, odd, where)
    nodes, edges = places(graph, odd.rows.part, odd.elements)
    return said._replace(nodes=nodes, edges=edges, facts=odd.facts())


def _said(odd: OddRow, names: Sequence[str], text: str, range_: str = "") -> Reason:
    """A reason that is about some of the numbers."""
    about = tuple((odd.rows.part, name) for name in names)
    return Reason(", ".join(names), text, range_, about=about)


def _out_of_range(view: Numbers, graph: GraphBatch, odd: OddRow, where: str, own: int) -> Reason:
    """The numbers beyond the usual range, and those that are missing where others have all."""
    told = np.flatnonzero(odd.is_odd).tolist()
    said = []
    kind = _kind_of(view, graph, odd)
    n_known = len(view.references_) - (own >= 0)
    words = graph.schema.words
    for j in told:
        number, range_ = usual(odd.values[j], odd.low[j], odd.high[j])
        range_ = f"usually {range_}"
        if len(told) == 1:
            number, range_ = usually(odd.values[j], odd.others[:, j])
        n_like = int((~np.isnan(odd.others[:, j])).sum())
        range_ += f" among {_like(view, graph, odd, n_like)}{kind if len(told) == 1 else ''}"
        if odd.is_missing[j]:
            number = "missing"
            range_ = f"never so in {n_known:,} other {words.graphs}"
        said.append((f"{odd.rows.names[j]} {number}", range_))
    names = [odd.rows.names[j] for j in told]
    if len(odd.elements) > 1:
        where += f", and {len(odd.elements) - 1} more out of range"
    if len(told) == 1:
        text = f"{said[0][0]} {where}"
        range_ = said[0][1]
        if len(text) + len(range_) > LONGEST:  # the end of an edge says more than its kind
            range_ = range_.removesuffix(kind)
        return _said(odd, names, text, range_)
    both = (f"{number} ({range_})" for number, range_ in said)
    of_kind = f"like it: {kind[2:-1]}" if kind and not odd.is_missing[told].all() else ""
    return _said(odd, names, f"{', '.join(both)} {where}", of_kind)


def _in_a_gap(view: Numbers, graph: GraphBatch, odd: OddRow, where: str) -> Reason:
    """One number of the usual range, and its neighbors on both sides."""
    [own], [name], others = odd.values, odd.rows.names, odd.others[~np.isnan(odd.others)]
    ends = others[others <= own].max(), others[others >= own].min()
    if np.isclose(own, [*ends, *odd.low, *odd.high], ALIKE).any():
        return Reason(name, "")
    gaps = np.diff(np.unique(others))
    # Of n numbers drawn at random, the widest gap is about log n times a typical one.
    if ends[1] - ends[0] <= WIDE * np.log(len(gaps) + 1) * np.median(gaps):
        return Reason(name, "")
    (text, below), (text_, above) = (usual(own, end, end) for end in ends)
    _, range_ = usual(own, *odd.low, *odd.high)
    like = f"{_like(view, graph, odd, len(others))}{_kind_of(view, graph, odd)}"
    range_ = f"usually {range_}, but none between {below} and {above} among {like}"
    return _said(odd, [name], f"{name} {max(text, text_, key=len)} {where}", range_)


def _together(view: Numbers, graph: GraphBatch, odd: OddRow, where: str) -> Reason:
    """Several usual numbers: the two least seen together, or, if they are not far apart, all.

    Of all, the two are told that are farthest from those of the nearest row.
    """
    apart = np.nan_to_num(np.abs(odd.others - odd.values) / odd.scale, nan=np.inf)
    pairs = [list(two) for two in combinations(range(len(odd.values)), 2)]
    two = max(pairs, key=lambda two: np.hypot(*apart[:, two].T).min())
    distances = np.hypot(*apart[:, two].T)
    are_all = len(pairs) > 1 and distances.min() < FAR_APART
    if are_all:
        distances = np.linalg.norm(apart, axis=1)
        two = np.argsort(-apart[distances.argmin()], kind="stable")[:2].tolist()
    nearest = odd.others[distances.argmin()]
    names = odd.rows.names
    own = [usual(odd.values[j], odd.low[j], odd.high[j])[0] for j in two]
    near = [f"{names[j]} {number(nearest[j]).replace('nan', 'missing')}" for j in two]
    said = f"{' and '.join(f'{names[j]} {x}' for j, x in zip(two, own, strict=True))} {where}:"
    these = "both"
    if are_all:
        said = f"{len(odd.values)} numbers {where}:"
        these = "all"
        near = [f"{text} (here {x})" for text, x in zip(near, own, strict=True)]
    text = (
        f"{said} each is usual, but none of {_like(view, graph, odd, len(odd.others))}"
        f"{_kind_of(view, graph, odd)} has about {these}"
    )
    what = ", ".join(names[j] for j in two)
    about = (("together", odd.rows.part),)
    return Reason(what, text, f"nearest: {' and '.join(near)}", about=about)


def _like(view: Numbers, graph: GraphBatch, odd: OddRow, n: int) -> str:
    """What numbers are compared with: n nodes, edges or graphs, of a kind or of any."""
    part = odd.rows.part
    what = odd.rows.category
    noun = getattr(graph.schema.words, part if n == 1 else f"{part}s")
    if odd.has_kinds and not odd.has_kind:
        few = f"few {graph.schema.words.graphs}"
        of_kind = f"whose {what} has {few}" if what else f"whose categories together {few} have"
        return f"{n} other {noun} {of_kind}"
    return f"{n} {noun} like it" if _has_kind(view, graph, odd) else f"{n} other {noun}"


def _has_kind(view: Numbers, graph: GraphBatch, odd: OddRow) -> bool:
    """True if the row is of a kind, by categories, that has a range of its own."""
    of_nodes = view.vocabulary_.by_label
    has_categories = {
        "node": of_nodes,
        "edge": of_nodes or graph.edge_labels is not None,
        "graph": odd.rows.category is not None,
    }
    return odd.has_kind and has_categories[odd.rows.part]


def _kind_of(view: Numbers, graph: GraphBatch, odd: OddRow) -> str:
    """The categories of the kind of the row, but for that which is named; "" if it has none."""
    if not _has_kind(view, graph, odd):
        return ""
    return _kind(view, graph, odd.rows.part, int(odd.elements[0]))


def _where(
    view: Numbers, graph: GraphBatch, rows: Rows, place: int, node_names: Sequence[Any] | None
) -> str:
    """The node, the edge, or the category of the graph with which numbers are compared."""
    words = graph.schema.words
    if rows.category is not None:
        [data] = graph.records("graph")
        return f"with {category_text(rows.category, data[rows.category])}"
    if rows.part == "graph":
        return f"of the {words.graph}"
    if rows.part == "node":
        return f"of {words.node} {node_words(view.vocabulary_, graph, place, node_names)}"
    edge = words.edge
    if graph.edge_labels is not None:
        value = graph.edge_label_names[int(graph.edge_labels[place])]
        edge = edge_words(graph.schema.edge_categories, value, edge)
    ends = int(graph.source_of_arc[place]), int(graph.adjacency.indices[place])
    a, b = (node_words(view.vocabulary_, graph, end, node_names) for end in ends)
    return f"of {edge} from {a} to {b}" if graph.directed else f"of {edge} between {a} and {b}"


def _finer(view: Numbers, part: str) -> list[str]:
    """Categories of nodes within which numbers are compared, but for that which is named."""
    names = view.vocabulary_.names
    together = view.vocabulary_.together
    compared = {"node": names, "edge": tuple(names[i] for i in together)}.get(part, ())
    return [name for name in compared if name != view.vocabulary_.named]


def _kind(view: Numbers, graph: GraphBatch, part: str, place: int) -> str:
    """These categories of a node, or of the ends of an edge: " (person=Ann -> person=Bob)"."""
    finer = _finer(view, part)
    texts = list[str]()
    ends = graph.source_of_arc, graph.adjacency.indices
    nodes = [x[place] for x in ends] if part == "edge" else [place]
    for data in graph.records("node", np.array(nodes)):
        texts.append(", ".join(category_text(name, data[name]) for name in finer))
    text = (" -> " if graph.directed else " - ").join(texts)
    return f" ({shown(text, LONGEST_KIND)})" if finer else ""

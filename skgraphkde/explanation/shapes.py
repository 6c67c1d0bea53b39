"""Shapes that people know: fans, a cycle and a chain of directed graphs, a star, a bridge.

They are reasons and no scores: what has an odd shape is found by other views, and called by it. A
fan is the node with most different ones before it, or after it; a cycle is a set of nodes that
reach each other in one way only; a chain has no branches. A star is the node of an undirected graph
with most neighbors; a bridge is the only edge between two parts that are no trees.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from skgraphkde._messages import shown
from skgraphkde._utils import compiled
from skgraphkde._words import SINCE_START, usual_range, usually
from skgraphkde.core.graphs.batch import GraphBatch
from skgraphkde.core.views.base import Facts, Property, Reason
from skgraphkde.explanation.facts import OF_EDGES

# Fewer nodes are no shape.
FEWEST = 3
# Of a cycle or a chain, so many are named.
MOST_NAMED = 8
LONGEST_NAME = 40
MOST_MARKED = 60  # edges in a picture
# A shape is a reason if it has so many edges, and so large a share of those of its graph.
FEWEST_TOLD = 4
MAIN = 0.5
# A shape is the whole graph if it has so large a share of its edges: all else follows from it.
WHOLE = 0.9
# All that a shape which is the whole graph says.
STRUCTURE = ("nodes", *OF_EDGES, "surroundings", "neighborhoods")
# Shapes of one node, and the end of their edges at which it is.
END = {"fan-in": 1, "fan-out": 0, "star": 0}
WAYS = {"fan-in": ("into", "from"), "fan-out": ("from", "into"), "star": ("at", "to")}


class Shape(NamedTuple):
    """The largest one of its kind in each graph."""

    name: str
    # (n_graphs,): nodes of a cycle, or of the smaller part at a bridge; edges of others; 0 if there
    # is none
    sizes: np.ndarray
    # (n_graphs,): of the edges of the graph, parallel ones as one; twice that of nodes at a bridge
    shares: np.ndarray
    # (n_nodes,): number of the cycle or chain; for others, the node itself, which is the end of a
    # bridge that is further from the first node
    group: np.ndarray
    largest: np.ndarray  # (n_graphs,): its group; -1 if there is none


def shapes(graphs: GraphBatch) -> list[Shape]:
    """The largest shape of each kind of each graph.

    Parameters
    ----------
    graphs : GraphBatch
    """
    bridge = _bridges(graphs)
    return [*_fans_and_ways(graphs), bridge] if graphs.directed else [_stars(graphs), bridge]


def _stars(graphs: GraphBatch) -> Shape:
    """The nodes with most neighbors."""
    n_pairs = np.diff(graphs.underlying.indptr[graphs.node_ptr]) / 2
    return _largest(graphs, n_pairs, "star", graphs.degrees, np.arange(graphs.n_nodes))


def _bridges(graphs: GraphBatch) -> Shape:
    """The bridges with the largest parts at both ends, each with at least one cycle."""
    links = graphs.underlying
    parent, size, n_ends = _parts_at_bridges(links.indptr, links.indices)
    _, component = connected_components(links, directed=False)
    others = np.bincount(component)[component] - size
    ends_there = np.bincount(component, graphs.degrees)[component] - n_ends
    # A tree of n nodes has n - 1 edges, and each part has one end of the bridge.
    has_cycle = (n_ends - 1 >= 2 * size) & (ends_there - 1 >= 2 * others)
    sizes = np.where((parent >= 0) & has_cycle, np.minimum(size, others), 0)
    halves = graphs.n_nodes_per_graph / 2
    return _largest(graphs, halves, "bridge", sizes, np.arange(graphs.n_nodes))


@compiled
def _parts_at_bridges(indptr, indices):
    """The parts that edges alone hold together, by a search in depth (Tarjan, 1974).

    Returns
    -------
    parent : ndarray of shape (n_nodes,), int
        The other end, where the edge to it is a bridge; -1 elsewhere.
    size, n_ends : ndarray of shape (n_nodes,), int
        Number of nodes found from a node on, and of the ends of edges there.
    """
    n = len(indptr) - 1
    parent = np.full(n, -1)
    first = np.full(n, -1)  # when a node was found
    low = np.zeros(n, dtype=np.int64)  # the first that an edge leads back to
    size = np.ones(n, dtype=np.int64)
    n_ends = indptr[1:] - indptr[:-1]
    next_arc = indptr[:-1].copy()
    way = np.empty(n, dtype=np.int64)
    clock = 0
    for root in range(n):
        if first[root] >= 0:
            continue
        depth = 0
        way[0] = root
        first[root] = low[root] = clock
        clock += 1
        while depth >= 0:
            node = way[depth]
            if next_arc[node] < indptr[node + 1]:
                other = indices[next_arc[node]]
                next_arc[node] += 1
                if first[other] < 0:
                    depth += 1
                    way[depth] = other
                    parent[other] = node
                    first[other] = low[other] = clock
                    clock += 1
                elif other != parent[node]:
                    low[node] = min(low[node], first[other])
                continue
            depth -= 1
            before = parent[node]
            if before < 0:
                continue
            size[before] += size[node]
            n_ends[before] += n_ends[node]
            low[before] = min(low[before], low[node])
            if low[node] < first[node]:  # there is another way back
                parent[node] = -1
    return parent, size, n_ends


def _fans_and_ways(graphs: GraphBatch) -> list[Shape]:
    """The fans, cycles and chains of directed graphs."""
    n = graphs.n_nodes
    arcs = graphs.adjacency
    pairs = sp.csr_array((np.ones(arcs.nnz), arcs.indices.copy(), arcs.indptr.copy()), (n, n))
    pairs.sum_duplicates()  # of parallel arcs
    source = np.repeat(np.arange(n), np.diff(pairs.indptr))
    target = pairs.indices
    out = np.diff(pairs.indptr)
    into = np.bincount(target, minlength=n)
    nodes = np.arange(n)
    n_pairs = np.bincount(graphs.graph_of_node[source], minlength=len(graphs))
    found = [
        _largest(graphs, n_pairs, "fan-in", into, nodes),
        _largest(graphs, n_pairs, "fan-out", out, nodes),
    ]
    _, strong = connected_components(pairs, connection="strong")
    n_of = np.bincount(strong)
    inside = strong[source] == strong[target]
    n_arcs = np.bincount(strong[source[inside]], minlength=len(n_of))
    is_cycle = (n_arcs == n_of) & (n_of >= FEWEST)
    found.append(_largest(graphs, n_pairs, "cycle", np.where(is_cycle, n_of, 0)[strong], strong))
    # Arcs after which, and before which, there is no branch.
    is_single = (out[source] == 1) & (into[target] == 1) & (strong[source] != strong[target])
    ways = sp.coo_array((np.ones(is_single.sum()), (source[is_single], target[is_single])), (n, n))
    _, chain = connected_components(ways, directed=False)
    length = np.bincount(chain) - 1
    length[length < FEWEST] = 0
    found.append(_largest(graphs, n_pairs, "chain", length[chain], chain))
    return found


def _largest(
    graphs: GraphBatch, totals: np.ndarray, name: str, sizes: np.ndarray, group: np.ndarray
) -> Shape:
    """The largest of each graph, of sizes by node; its share is that of a total."""
    most = np.maximum.reduceat(sizes, graphs.node_ptr[:-1])
    is_largest = (sizes == most[graphs.graph_of_node]) & (sizes > 0)
    largest = np.full(len(graphs), -1)
    where = np.flatnonzero(is_largest)[::-1]  # of equal ones, the first
    largest[graphs.graph_of_node[where]] = group[where]
    return Shape(name, most, most / np.maximum(totals, 1), group, largest)


def properties_of_shapes(graphs: GraphBatch, references: GraphBatch) -> list[Property]:
    """The sizes of shapes that are most of a graph, and not what most references are.

    Parameters
    ----------
    graphs : GraphBatch
    references : GraphBatch
    """
    found = []
    usual = references.once(_are_usual)
    for shape in graphs.once(shapes):
        is_main = (shape.sizes >= FEWEST_TOLD) & (shape.shares >= MAIN)
        is_told = is_main & (shape.name not in usual)
        # A fan of as many edges says more if it is all of the graph.
        sizes = shape.sizes * shape.shares if shape.name in END else shape.sizes
        values = np.where(is_told, np.log1p(sizes), 0.0)
        least = 0.75 / (1 + shape.sizes)  # of one node more
        found.append(Property("shape", shape.name, values, least))
    return found


def _are_usual(references: GraphBatch) -> set[str]:
    """The shapes that most references are, as each case of a log is a chain; bridges of several."""
    usual = set()
    for shape in references.once(shapes):
        several = usual_range(shape.sizes)[1] > 0
        if np.median(shape.shares) >= WHOLE or (shape.name == "bridge" and several):
            usual.add(shape.name)
    return usual


class Said(NamedTuple):
    """A shape of one graph in words, and where it is."""

    text: str
    nodes: np.ndarray
    arcs: np.ndarray
    about: tuple[Any, ...]  # facts that it states


def say_shape(
    graph: GraphBatch,
    name: str,
    references: GraphBatch,
    others: np.ndarray,
    names: Sequence[Any] | None,
) -> Reason:
    """A shape of a graph in words: "27 payments into one account (A7)".

    Parameters
    ----------
    graph : GraphBatch
        Batch of one graph.
    name : {"fan-in", "fan-out", "star", "cycle", "chain", "bridge"}
    references : GraphBatch
    others : ndarray of int
        The references that are not the graph itself.
    names : sequence, default=None
        Names of the nodes; None means their positions.
    """
    [shape] = [x for x in shapes(graph) if x.name == name]
    [known] = [x for x in references.once(shapes) if x.name == name]
    if name in END:
        said = _say_fan(graph, shape, names)
    elif name == "bridge":
        said = _say_bridge(graph, shape, names)
    else:
        said = _say_way(graph, shape, names)
    text = said.text + _within(graph, said.arcs)
    about = said.about
    n_arcs = len(said.arcs) if graph.directed else 2 * len(said.arcs)
    if n_arcs >= WHOLE * graph.adjacency.nnz:
        about = (*about, *STRUCTURE)
    size = int(shape.sizes[0])
    sizes = known.sizes[others]
    if name == "chain":  # which is told by its nodes
        size += 1
        sizes = sizes + (sizes > 0)
    _, usual = usually(size, sizes)
    if name in END and size <= usual_range(sizes)[1]:
        if shape.shares[0] <= usual_range(known.shares[others])[1]:
            return Reason("", "")
        share, usual = usually(shape.shares[0], known.shares[others], percent=True)
        text += f": {share} of all"
    elif usual_range(sizes)[1] == 0:
        n_with = int((sizes > 0).sum())
        usual = "no other has one"
        if n_with:
            of_most = graph.schema.words.counted(int(sizes.max()), "node")
            at_most = "with" if name == "bridge" else "of"
            usual = f"{n_with} of {len(sizes)} others have one, {at_most} at most {of_most}"
            if name == "bridge":
                usual += " in the smaller part"
    ends = _ends(graph)[said.arcs]
    marked = tuple((u, v) for u, v in dict.fromkeys(map(tuple, ends.tolist())))
    return Reason(
        name,
        text,
        usual,
        tuple(said.nodes.tolist()),
        marked[:MOST_MARKED],
        tuple(dict.fromkeys(about)),
        facts=Facts.of("node" if name in END else "edge", size, sizes),
    )


def _ends(graph: GraphBatch) -> np.ndarray:
    """The nodes at both ends of each arc, shape (n_arcs, 2)."""
    return np.column_stack([graph.source_of_arc, graph.adjacency.indices])


def _say_fan(graph: GraphBatch, shape: Shape, names: Sequence[Any] | None) -> Said:
    """The edges into one node, from it, or at it."""
    words = graph.schema.words
    hub = int(shape.largest[0])
    size = int(shape.sizes[0])
    arcs = np.flatnonzero(_ends(graph)[:, END[shape.name]] == hub)
    way, other_way = WAYS[shape.name]
    text = f"{words.counted(len(arcs), 'edge')} {way} one {words.node}, {_called(hub, names)}"
    if len(arcs) > size:  # some are parallel
        text += f", {other_way} {words.counted(size, 'node')}"
    follows = {"fan-in": "sources", "fan-out": "sinks", "star": "triangles"}
    return Said(text, np.array([hub]), arcs, ("degrees", follows[shape.name]))


def _say_way(graph: GraphBatch, shape: Shape, names: Sequence[Any] | None) -> Said:
    """The nodes of a cycle or a chain in their order."""
    nodes = np.flatnonzero(shape.group == shape.largest[0])
    ends = _ends(graph)
    arcs = np.flatnonzero(np.isin(ends, nodes).all(axis=1))
    order = _in_order(nodes, ends[arcs])
    told = [_called(v, names) for v in order[:MOST_NAMED]]
    rest = len(order) - len(told)
    if shape.name == "cycle" and not rest:
        told.append(told[0])
    more = f" -> ... ({rest} more)" if rest else ""
    counted = graph.schema.words.counted(len(order), "node")
    text = f"a {shape.name} of {counted}: {' -> '.join(told)}{more}"
    return Said(text, nodes, arcs, ("degrees", shape.name))


def _say_bridge(graph: GraphBatch, shape: Shape, names: Sequence[Any] | None) -> Said:
    """The only edge between two parts, and the nodes of each."""
    links = graph.underlying
    end = int(shape.largest[0])
    parent, size, _ = _parts_at_bridges(links.indptr, links.indices)
    bridge = [int(parent[end]), end]
    _, component = connected_components(links, directed=False)
    n_of_both = np.count_nonzero(component == component[end])
    parts = [int(n_of_both - size[end]), int(size[end])]
    ends = _ends(graph)
    arcs = np.flatnonzero((ends == bridge).all(axis=1))
    mark = " - "
    if graph.directed:
        mark = " -> "
        back = np.flatnonzero((ends == bridge[::-1]).all(axis=1))
        if len(arcs) and len(back):
            mark = " <-> "
        elif len(back):
            bridge.reverse()
            parts.reverse()
        arcs = np.union1d(arcs, back)
    called = mark.join(_called(v, names) for v in bridge)
    words = graph.schema.words
    if len(arcs) > 1:
        called += f" ({words.counted(len(arcs), 'edge')})"
    text = f"a bridge, {called}, between parts of {parts[0]} and {words.counted(parts[1], 'node')}"
    return Said(text, np.array(bridge), arcs, ("bridge",))


def _called(node: int, names: Sequence[Any] | None) -> str:
    return shown(str(node if names is None else names[node]), LONGEST_NAME)


def _in_order(nodes: np.ndarray, ends: np.ndarray) -> list[int]:
    """The nodes of a chain, from its start, or of a cycle, from the first one."""
    after = dict(ends.tolist())
    starts = set(nodes.tolist()) - set(after.values())
    way = [min(starts) if starts else int(nodes[0])]
    while after.get(way[-1], way[0]) != way[0]:
        way.append(after[way[-1]])
    return way


def _within(graph: GraphBatch, arcs: np.ndarray) -> str:
    """In how many hours the edges were, if these have times."""
    columns = graph.schema.edge_columns
    if SINCE_START not in columns or graph.edge_attributes is None or len(arcs) < FEWEST:
        return ""
    hours = np.asarray(graph.edge_attributes)[arcs, columns.index(SINCE_START)]
    if np.isnan(hours).any():
        return ""
    span = np.ptp(hours)
    return f", within {span:.2g} hours" if span < 100 else f", within {span / 24:.2g} days"

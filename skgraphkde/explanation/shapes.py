"""Shapes that people know, of directed graphs: fans, a cycle, a chain.

They are reasons and no scores: what has an odd shape is found by other views, and called by it. A
fan is the node with most different ones before it, or after it; a cycle is a set of nodes that
reach each other in one way only; a chain has no branches.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from skgraphkde._messages import shown
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
FANS = ("fan-in", "fan-out")


class Shape(NamedTuple):
    """The largest one of its kind in each graph."""

    name: str
    sizes: np.ndarray  # (n_graphs,): nodes of a cycle, edges of others; 0 if there is none
    shares: np.ndarray  # (n_graphs,): of the edges of the graph, parallel ones as one
    group: np.ndarray  # (n_nodes,): number of the cycle or chain, or the node itself of a fan
    largest: np.ndarray  # (n_graphs,): its group; -1 if there is none


def shapes(graphs: GraphBatch) -> list[Shape]:
    """The largest fan, cycle and chain of each graph; none of undirected graphs.

    Parameters
    ----------
    graphs : GraphBatch
    """
    if not graphs.directed:
        return []
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
    graphs: GraphBatch, n_pairs: np.ndarray, name: str, sizes: np.ndarray, group: np.ndarray
) -> Shape:
    """The largest of each graph, of sizes by node, beside its number of linked pairs."""
    most = np.maximum.reduceat(sizes, graphs.node_ptr[:-1])
    is_largest = (sizes == most[graphs.graph_of_node]) & (sizes > 0)
    largest = np.full(len(graphs), -1)
    where = np.flatnonzero(is_largest)[::-1]  # of equal ones, the first
    largest[graphs.graph_of_node[where]] = group[where]
    return Shape(name, most, most / np.maximum(n_pairs, 1), group, largest)


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
        sizes = shape.sizes * shape.shares if shape.name in FANS else shape.sizes
        values = np.where(is_told, np.log1p(sizes), 0.0)
        least = 0.75 / (1 + shape.sizes)  # of one node more
        found.append(Property("shape", shape.name, values, least))
    return found


def _are_usual(references: GraphBatch) -> set[str]:
    """The shapes that are the whole of most references, as each case of a log is a chain."""
    return {x.name for x in references.once(shapes) if np.median(x.shares) >= WHOLE}


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
    name : {"fan-in", "fan-out", "cycle", "chain"}
    references : GraphBatch
    others : ndarray of int
        The references that are not the graph itself.
    names : sequence, default=None
        Names of the nodes; None means their positions.
    """
    [shape] = [x for x in shapes(graph) if x.name == name]
    size = int(shape.sizes[0])
    words = graph.schema.words
    nodes = np.flatnonzero(shape.group == shape.largest[0])
    ends = np.column_stack([graph.source_of_arc, graph.adjacency.indices])
    if name in FANS:
        hub = int(nodes[0])
        arcs = np.flatnonzero(ends[:, int(name == "fan-in")] == hub)
        at_node = _called(hub, names)
        way = "into" if name == "fan-in" else "from"
        text = f"{words.counted(size, 'edge')} {way} one {words.node}, {at_node}"
        if len(arcs) > size:
            other_way = "from" if name == "fan-in" else "into"
            text = f"{words.counted(len(arcs), 'edge')} {way} one {words.node}, {at_node}, "
            text += f"{other_way} {words.counted(size, 'node')}"
        nodes = nodes[:1]
        about: tuple[Any, ...] = ("degrees", "sources" if name == "fan-in" else "sinks")
    else:
        arcs = np.flatnonzero(np.isin(ends, nodes).all(axis=1))
        order = _in_order(nodes, ends[arcs])
        told = [_called(v, names) for v in order[:MOST_NAMED]]
        rest = len(order) - len(told)
        if name == "cycle" and not rest:
            told.append(told[0])
        more = f" -> ... ({rest} more)" if rest else ""
        counted = words.counted(len(order), "node")
        text = f"a {name} of {counted}: {' -> '.join(told)}{more}"
        about = ("degrees", name)
    if len(arcs) >= WHOLE * graph.adjacency.nnz:
        about = (*about, *STRUCTURE)
    text += _within(graph, arcs)
    [known] = [x for x in references.once(shapes) if x.name == name]
    sizes = known.sizes[others]
    if name == "chain":  # which is told by its nodes
        size += 1
        sizes = sizes + (sizes > 0)
    _, usual = usually(size, sizes)
    if name in FANS and size <= usual_range(sizes)[1]:
        if shape.shares[0] <= usual_range(known.shares[others])[1]:
            return Reason("", "")
        share, usual = usually(shape.shares[0], known.shares[others], percent=True)
        text += f": {share} of all"
    elif usual_range(sizes)[1] == 0:
        n_with = int((sizes > 0).sum())
        usual = "no other has one"
        if n_with:
            of_most = words.counted(int(sizes.max()), "node")
            usual = f"{n_with} of {len(sizes)} others have one, of at most {of_most}"
    marked = tuple((u, v) for u, v in dict.fromkeys(map(tuple, ends[arcs].tolist())))
    return Reason(
        name,
        text,
        usual,
        tuple(nodes.tolist()),
        marked[:MOST_MARKED],
        tuple(dict.fromkeys(about)),
        facts=Facts.of("node" if name in FANS else "edge", size, sizes),
    )


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

"""Facts: what reasons state, as data.

Two reasons that state the same facts say the same, whatever their words, and the weaker one is left
out.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from skgraphkde.core.graphs.batch import GraphBatch
from skgraphkde.core.views.categories import CategoryCounts, Table

# "nodes", "edges", "degrees", "triangles", ... of the structure; ("node", name) of a number of
# nodes, or of a category that has two values; ("node", name, value) of one value; ("arc", i) of one
# edge of the graph; ("edges", ...), ("together", ...) and the like of what is more than one of
# these. "edge" and "graph" stand where "node" does.
Fact = str | tuple[Any, ...]

# The facts that follow if there are no edges.
OF_EDGES = ("edges", "degrees", "isolated nodes", "pieces", "sinks", "sources", "triangles")


def fact_of_value(part: str, name: str, value: Any, known: tuple) -> Fact:
    """The fact about a value of a category.

    Parameters
    ----------
    part : {"node", "edge", "graph"}
    name : str
        Of the category.
    value : object
    known : tuple
        The values that known graphs have. Of two, the share of one follows from that of the other.
    """
    if len(known) == 2 and value in known:
        return part, name
    return part, name, value


def facts_of_parts(graph: GraphBatch, table: Table, counts: CategoryCounts) -> list[Fact]:
    """The fact about each part of a table: the value of a category, or what else it is.

    Parameters
    ----------
    graph : GraphBatch
        Batch of one graph.
    table : Table
    counts : CategoryCounts
        That the table is of.

    Returns
    -------
    list of Fact, of length n_parts
    """
    part = table.part
    if table.category:
        values = graph.values_by_category(part)[table.category]
        codes = np.asarray(graph.data(part).labels)
        return [(part, table.category, values[code]) for code in codes.tolist()]
    if table.role == "together":
        codes = np.asarray(graph.labels)
        return [(part, "together", graph.label_names[code]) for code in codes.tolist()]
    if table.role == "edges" and graph.edge_labels is not None:
        return _facts_of_edges(graph, table, counts)
    return _facts_by_color(graph, table, counts)


def _facts_of_edges(graph: GraphBatch, table: Table, counts: CategoryCounts) -> list[Fact]:
    """The fact about each edge: its own category alone, where those of its ends say nothing."""
    category = "+".join(graph.schema.edge_categories)
    facts = _facts_by_color(graph, table, counts)
    for arc, code in enumerate(np.asarray(graph.edge_labels).tolist()):
        value = graph.edge_label_names[code]
        if graph.labels is None or value not in counts.vocabulary.edge_labels:
            facts[arc] = ("edge", category, value)
    return facts


def _facts_by_color(graph: GraphBatch, table: Table, counts: CategoryCounts) -> list[Fact]:
    """The fact about each part of a table, by its color."""
    keys, _ = counts.colors(graph, table)
    return [(table.role, table.categories, key) for key in keys.tolist()]

"""CategoryCounts: reference graphs -> frequencies of nodes and edges by their categories.

A *part* is a node or an arc. The counts of the references determine for the parts of other graphs
if they are new, and how frequent they are.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import NamedTuple

import numpy as np

from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.graphs.refinement import hash64


class ReferenceTable(NamedTuple):
    """Distinct colors of the references, ascending, with their frequencies."""

    colors: np.ndarray
    owners: np.ndarray  # index of the only reference that has the color; -2 for several
    counts: np.ndarray  # number of nodes or arcs of the color

    @classmethod
    def of(cls, colors: np.ndarray, graph: np.ndarray) -> ReferenceTable:
        """Count the colors of the references.

        Parameters
        ----------
        colors : ndarray of shape (n_parts,), uint64
            Color of each node or arc of the references.
        graph : ndarray of shape (n_parts,), int
            Index of the reference of each node or arc.

        Returns
        -------
        ReferenceTable
        """
        order = np.lexsort((graph, colors))
        colors, graph = colors[order], graph[order]
        first = np.flatnonzero(np.append(True, colors[1:] != colors[:-1]))[: len(colors)]
        last = np.append(first[1:], len(colors)) - 1
        owners = np.where(graph[first] == graph[last], graph[first], -2)
        return cls(colors[first], owners, last + 1 - first)

    def is_new(self, colors: np.ndarray, own: np.ndarray | int) -> np.ndarray:
        """Mark colors that no reference has.

        Parameters
        ----------
        colors : ndarray of shape (n_parts,), uint64
        own : ndarray of shape (n_parts,), or int
            Index of a reference that is excluded; -1 for none.

        Returns
        -------
        ndarray of shape (n_parts,), bool
        """
        if not len(self.colors):
            return np.ones(len(colors), dtype=bool)
        position = np.minimum(np.searchsorted(self.colors, colors), len(self.colors) - 1)
        return (self.colors[position] != colors) | (self.owners[position] == own)

    @property
    def chance(self) -> float:
        """Share of the references' parts whose color occurs in one reference only.

        It estimates the probability that a part of another graph is new (Good, Biometrika 1953).
        """
        return float(self.counts[self.owners != -2].sum() / max(self.counts.sum(), 1))

    def log_shares(self, colors: np.ndarray, graph: np.ndarray, is_own: np.ndarray) -> np.ndarray:
        """Log frequencies of parts: log((c + 1) / (n + k)), with c of the n reference parts equal.

        k - 1 is the number of colors. n and k are the same for references and new graphs, which
        would otherwise seem rarer.

        Parameters
        ----------
        colors : ndarray of shape (n_parts,), uint64
        graph : ndarray of shape (n_parts,), int
            Index of the graph of each part.
        is_own : ndarray of shape (n_parts,), bool
            True for parts of a graph that is a reference; c excludes the parts of that graph.

        Returns
        -------
        ndarray of shape (n_parts,)
        """
        counts, total = np.zeros(len(colors)), float(self.counts.sum())
        if len(self.colors):
            position = np.minimum(np.searchsorted(self.colors, colors), len(self.colors) - 1)
            is_known = self.colors[position] == colors
            counts = np.where(is_known, self.counts[position], 0).astype(float)
        if is_own.any():
            _, kind = np.unique(colors, return_inverse=True)
            pair = graph * (kind.max() + 1) + kind
            _, pair, n_alike = np.unique(pair, return_inverse=True, return_counts=True)
            counts -= np.where(is_own, n_alike[pair], 0)
        return np.log((counts + 1) / (total + len(self.colors) + 1))


class CategoryCounts:
    """Counts of the nodes and edges of references by their categories.

    Parameters
    ----------
    references : GraphBatch
    by_label : bool
        Whether to use the categories of nodes.
    with_edges : bool
        Whether to count edges, by the categories at their ends and their own.

    Attributes
    ----------
    kinds : tuple of str
        The main tables: "categories" (nodes by all their categories together) and "edges".
    by_category : tuple of str
        Tables of nodes by a single category, if nodes have several categories: a new value is
        hard to see among many new combinations.
    with_gaps : bool
        Whether there is a table "gaps": nodes by their categories and the set of missing numbers.
    known : dict of str -> ReferenceTable
        The tables by name.
    """

    def __init__(self, references: GraphBatch, *, by_label: bool, with_edges: bool) -> None:
        self.by_label, self.with_edges = by_label, with_edges
        self.kinds = ("categories",) * by_label + ("edges",) * with_edges
        names_of_nodes = references.schema.node_categories if by_label else ()
        several = len(names_of_nodes) > 1
        self.by_category = tuple(f"category {name}" for name in names_of_nodes) * several
        may_lack = references.schema.missing != "error"
        self.with_gaps = may_lack and references.attributes is not None
        # Names that no reference uses count as unknown.
        used = np.unique(np.asarray(references.labels)).tolist() if by_label else ()
        self._code_of = {references.label_names[code]: code for code in used}
        self._codes_by_category = [
            {value: i for i, value in enumerate(dict.fromkeys(values))}
            for values in (zip(*self._code_of, strict=True) if several else ())
        ]
        names: tuple[Hashable, ...] = ()
        if references.edge_labels is not None:
            names = references.edge_label_names
        self._edge_code_of = {name: code for code, name in enumerate(names)}
        self.known = {
            kind: ReferenceTable.of(keys, graph) for kind, keys, graph in self.of(references)
        }

    def of(self, graphs: GraphBatch) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
        """Generate the name of each table, the colors of all parts, and the graphs of the parts."""
        if self.by_label:
            yield "categories", self.node_keys(graphs), graphs.graph_of_node
        for i, kind in enumerate(self.by_category):
            yield kind, self.value_keys(graphs, i), graphs.graph_of_node
        if self.with_gaps:
            yield "gaps", self.gap_keys(graphs), graphs.graph_of_node
        if self.with_edges:
            yield "edges", self.edge_keys(graphs), graphs.graph_of_arc

    def node_keys(self, graphs: GraphBatch) -> np.ndarray:
        """Color of each node by its label, or by its degree, shape (n_nodes,)."""
        codes = graphs.degrees
        if self.by_label:
            codes = graphs.label_codes(self._code_of, unknown=-1)  # no reference has this color
        return hash64(codes.astype(np.uint64))

    def value_keys(self, graphs: GraphBatch, i: int) -> np.ndarray:
        """Color of each node by one of its categories.

        Parameters
        ----------
        graphs : GraphBatch
        i : int
            Index of the category.

        Returns
        -------
        ndarray of shape (n_nodes,), uint64
        """
        code_of = self._codes_by_category[i]
        values = list(zip(*graphs.label_names, strict=True))[i]
        codes = [code_of.get(value, -1) for value in values]
        return hash64(np.array(codes, dtype=np.int64)[np.asarray(graphs.labels)].astype(np.uint64))

    def gap_keys(self, graphs: GraphBatch) -> np.ndarray:
        """Color of each node by its label and its set of missing numbers, shape (n_nodes,)."""
        keys = np.zeros(graphs.n_nodes, dtype=np.uint64)
        if self.by_label:
            keys = self.node_keys(graphs)
        for is_missing in np.isnan(np.asarray(graphs.attributes)).T:
            keys = hash64(keys + is_missing.astype(np.uint64))
        return keys

    def edge_keys(self, graphs: GraphBatch) -> np.ndarray:
        """Color of each arc by its category and the labels at its ends, shape (n_arcs,)."""
        ends = np.zeros(graphs.n_nodes, dtype=np.uint64)
        if self.by_label:
            ends = self.node_keys(graphs)
        source, target = ends[graphs.source_of_arc], ends[graphs.adjacency.indices]
        pair = hash64(source) + (
            hash64(target + np.uint64(1)) if graphs.directed else hash64(target)
        )
        codes = self.edge_codes(graphs)
        return (
            hash64(pair)
            if codes is None
            else hash64(hash64(pair) + hash64(codes.astype(np.uint64)))
        )

    def edge_codes(self, graphs: GraphBatch) -> np.ndarray | None:
        """Code of the category of each arc, shape (n_arcs,); None if edges have no categories."""
        if not self._edge_code_of:
            return None
        unknown = len(self._edge_code_of)
        codes = [self._edge_code_of.get(name, unknown) for name in graphs.edge_label_names]
        return np.array(codes, dtype=np.int64)[graphs.edge_labels]


def means(values: np.ndarray, graph: np.ndarray, n_graphs: int) -> np.ndarray:
    """Mean of the values of each graph's parts.

    Parameters
    ----------
    values : ndarray of shape (n_parts,)
    graph : ndarray of shape (n_parts,), int
        Index of the graph of each part.
    n_graphs : int

    Returns
    -------
    ndarray of shape (n_graphs,)
        0 for a graph without parts.
    """
    counts = np.bincount(graph, minlength=n_graphs)
    return np.bincount(graph, values, n_graphs) / np.maximum(counts, 1)

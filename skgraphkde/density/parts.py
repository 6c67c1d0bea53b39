"""Parts: the nodes and edges of graphs by their categories, and how common each kind is.

It takes reference graphs, and tells of the parts of other graphs whether they are new, and how
common they are.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import NamedTuple

import numpy as np

from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.graphs.refinement import mix


class Known(NamedTuple):
    """Colors of the references, ascending."""

    colors: np.ndarray
    owners: np.ndarray  # the only reference that has each; -2: several
    counts: np.ndarray  # how many nodes, or arcs, have each

    @classmethod
    def of(cls, colors: np.ndarray, graph: np.ndarray) -> Known:
        """The distinct colors of all nodes, or arcs, of the references, which are of `graph`."""
        order = np.lexsort((graph, colors))
        colors, graph = colors[order], graph[order]
        first = np.flatnonzero(np.append(True, colors[1:] != colors[:-1]))[: len(colors)]
        last = np.append(first[1:], len(colors)) - 1
        owners = np.where(graph[first] == graph[last], graph[first], -2)
        return cls(colors[first], owners, last + 1 - first)

    def is_new(self, colors: np.ndarray, own: np.ndarray | int) -> np.ndarray:
        """Whether no reference, or none but its own (-1: none), has a color; bool."""
        if not len(self.colors):
            return np.ones(len(colors), dtype=bool)
        position = np.minimum(np.searchsorted(self.colors, colors), len(self.colors) - 1)
        return (self.colors[position] != colors) | (self.owners[position] == own)

    @property
    def chance(self) -> float:
        """The share of the references' parts that no other one has.

        It estimates the probability that a part of another graph is new (Good, Biometrika 1953).
        """
        return float(self.counts[self.owners != -2].sum() / max(self.counts.sum(), 1))

    def log_shares(self, colors: np.ndarray, graph: np.ndarray, is_own: np.ndarray) -> np.ndarray:
        """log((c + 1) / (n + k)) of each part, with c of n parts of the references alike.

        k - 1 is the number of kinds. The parts of a graph that is a reference (`is_own`) are not
        alike to themselves; n and k are the same for all, or new graphs would be rarer.
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


class Parts:
    """The kinds of nodes and edges that references have.

    Parameters
    ----------
    references : GraphBatch
    by_label : bool
        Whether nodes have categories.
    with_edges : bool
        Whether edges are parts, by the categories at their ends and their own.

    Attributes
    ----------
    kinds : tuple of str
        "categories", which are nodes by their categories together, and "edges": both, one or none.
    by_category : tuple of str
        The kinds of nodes by one of their categories alone, if they have several: a value that no
        reference has would drown among combinations that none has.
    with_gaps : bool
        Whether there is a kind "gaps": nodes by their categories and by which numbers they lack.
    known : dict of str -> Known
        Of each kind.
    """

    def __init__(self, references: GraphBatch, *, by_label: bool, with_edges: bool) -> None:
        self.by_label, self.with_edges = by_label, with_edges
        self.kinds = ("categories",) * by_label + ("edges",) * with_edges
        names_of_nodes = references.schema.node_categories if by_label else ()
        several = len(names_of_nodes) > 1
        self.by_category = tuple(f"category {name}" for name in names_of_nodes) * several
        may_lack = references.schema.missing != "error"
        self.with_gaps = may_lack and references.attributes is not None
        # Names that no reference uses are unknown.
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
        self.known = {kind: Known.of(keys, graph) for kind, keys, graph in self.of(references)}

    def of(self, graphs: GraphBatch) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
        """The kinds, each with the colors of all parts and the graphs that own them."""
        if self.by_label:
            yield "categories", self.node_keys(graphs), graphs.graph_of_node
        for i, kind in enumerate(self.by_category):
            yield kind, self.value_keys(graphs, i), graphs.graph_of_node
        if self.with_gaps:
            yield "gaps", self.gap_keys(graphs), graphs.graph_of_node
        if self.with_edges:
            yield "edges", self.edge_keys(graphs), graphs.graph_of_arc

    def node_keys(self, graphs: GraphBatch) -> np.ndarray:
        """A color for the label, or the degree, of each node, shape (n_nodes,)."""
        codes = graphs.degrees
        if self.by_label:
            codes = graphs.label_codes(self._code_of, unknown=-1)  # a color of no reference
        return mix(codes.astype(np.uint64))

    def value_keys(self, graphs: GraphBatch, i: int) -> np.ndarray:
        """A color for the value of category i of each node, shape (n_nodes,)."""
        code_of = self._codes_by_category[i]
        values = list(zip(*graphs.label_names, strict=True))[i]
        codes = [code_of.get(value, -1) for value in values]
        return mix(np.array(codes, dtype=np.int64)[np.asarray(graphs.labels)].astype(np.uint64))

    def gap_keys(self, graphs: GraphBatch) -> np.ndarray:
        """A color for the label of each node and the numbers that it lacks, shape (n_nodes,)."""
        keys = np.zeros(graphs.n_nodes, dtype=np.uint64)
        if self.by_label:
            keys = self.node_keys(graphs)
        for is_missing in np.isnan(np.asarray(graphs.attributes)).T:
            keys = mix(keys + is_missing.astype(np.uint64))
        return keys

    def edge_keys(self, graphs: GraphBatch) -> np.ndarray:
        """A color for the category of each arc and the labels at its ends, shape (n_arcs,)."""
        ends = np.zeros(graphs.n_nodes, dtype=np.uint64)
        if self.by_label:
            ends = self.node_keys(graphs)
        source, target = ends[graphs.source_of_arc], ends[graphs.adjacency.indices]
        pair = mix(source) + (mix(target + np.uint64(1)) if graphs.directed else mix(target))
        codes = self.edge_codes(graphs)
        return mix(pair) if codes is None else mix(mix(pair) + mix(codes.astype(np.uint64)))

    def edge_codes(self, graphs: GraphBatch) -> np.ndarray | None:
        """A code for the category of each arc; None if edges have none."""
        if not self._edge_code_of:
            return None
        unknown = len(self._edge_code_of)
        codes = [self._edge_code_of.get(name, unknown) for name in graphs.edge_label_names]
        return np.array(codes, dtype=np.int64)[graphs.edge_labels]


def means(values: np.ndarray, graph: np.ndarray, n_graphs: int) -> np.ndarray:
    """The mean over the parts of each graph; 0 without any."""
    counts = np.bincount(graph, minlength=n_graphs)
    return np.bincount(graph, values, n_graphs) / np.maximum(counts, 1)

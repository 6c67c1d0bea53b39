"""GraphBatch -> networkx graphs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import networkx as nx
import numpy as np

from skgraphkde.graphs.arrays import columns_by_name
from skgraphkde.graphs.schema import Widths


def to_networkx(batch: Any) -> list[nx.Graph]:
    """One networkx graph per graph: :meth:`GraphBatch.to_networkx`, which documents it."""
    schema, adjacency = batch.schema, batch.adjacency.tocoo()
    row, column = adjacency.row, adjacency.col
    is_listed = np.ones(len(row), dtype=bool) if batch.directed else row < column
    arcs = np.flatnonzero(is_listed)
    key = row[arcs].astype(np.int64) * batch.n_nodes + column[arcs]
    has_parallel = bool((np.diff(key) == 0).any())
    plain = {
        (False, False): nx.Graph,
        (True, False): nx.DiGraph,
        (False, True): nx.MultiGraph,
        (True, True): nx.MultiDiGraph,
    }[batch.directed, has_parallel]
    weight = schema.edge_weight or "weight"
    weights = adjacency.data if np.any(adjacency.data != 1) else None
    arc_ptr = np.searchsorted(batch.graph_of_node[row[arcs]], np.arange(batch.n_graphs + 1))
    graphs = []
    for i, (start, stop) in enumerate(zip(batch.node_ptr[:-1], batch.node_ptr[1:], strict=True)):
        graph = nx.empty_graph(int(stop - start), create_using=plain)
        nodes = np.arange(start, stop)
        data = _data(nodes, schema.node_categories, batch.labels, batch.label_names)
        for values in (data, _numbers(nodes, schema.node_numbers, batch.attributes)):
            for name, of_nodes in values:
                nx.set_node_attributes(graph, dict(enumerate(of_nodes)), name)
        own = arcs[arc_ptr[i] : arc_ptr[i + 1]]
        edge_data: list[dict[str, Any]] = [{} for _ in own]
        data = _data(own, schema.edge_categories, batch.edge_labels, batch.edge_label_names)
        for values in (data, _numbers(own, schema.edge_numbers, batch.edge_attributes)):
            for name, of_edges in values:
                for of_edge, value in zip(edge_data, of_edges, strict=True):
                    of_edge[name] = value
        if weights is not None:
            for of_edge, value in zip(edge_data, weights[own].tolist(), strict=True):
                of_edge[weight] = value
        ends = ((row[own] - start).tolist(), (column[own] - start).tolist())
        graph.add_edges_from(zip(*ends, edge_data, strict=True))
        graphs.append(graph)
    return graphs


def _data(
    index: np.ndarray, names: tuple[str, ...], codes: np.ndarray | None, vocabulary: tuple
) -> Iterator[tuple[str, list]]:
    """Each category with its values."""
    if codes is None:
        return
    values = [vocabulary[code] for code in codes[index]]
    if len(names) == 1:
        yield names[0], values
        return
    for position, name in enumerate(names):
        yield name, [value[position] for value in values]


def _numbers(
    index: np.ndarray, widths: Widths, numbers: np.ndarray | None
) -> Iterator[tuple[str, list]]:
    """Each number, or vector of numbers, with its values."""
    for name, columns in columns_by_name(numbers, widths).items():
        rows = columns[index]
        yield name, rows[:, 0].tolist() if rows.shape[1] == 1 else [row.copy() for row in rows]

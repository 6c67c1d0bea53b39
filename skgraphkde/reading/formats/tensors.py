"""Graphs of DGL and of PyTorch Geometric, whose data are tensors, and dicts of such -> Graph.

Neither of the two is imported.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from skgraphkde._utils import warn
from skgraphkde.core.graphs.arrays import offsets
from skgraphkde.core.graphs.problems import GraphError
from skgraphkde.core.graphs.schema import (
    PARTS,
    GraphSchema,
    conventional_names,
    names_in_schema,
)
from skgraphkde.reading.formats.common import (
    Graph,
    columns_of_graph,
    is_a,
    length,
    longest,
    number_of_nodes,
    pair_array,
    plain,
    unknown_node,
    without_last_digits,
)

# Items of a Data that are no columns.
_RESERVED = ("edge_index", "num_nodes", "y", "ptr", "batch", "train_mask", "val_mask", "test_mask")


# -- DGL -------------------------------------------------------------------------------------------


def read_dgl(index: int, graph: Any, _: GraphSchema) -> Graph:
    """Read a graph, undirected if it holds each edge in both directions.

    The types of a heterogeneous graph are the categories "node_type" and "edge_type".

    Parameters
    ----------
    index : int
        The position of the graph in the caller's list.
    graph : dgl.DGLGraph
    _ : GraphSchema
    """
    if graph.batch_size > 1:
        raise GraphError(
            index, f" is a batch of {graph.batch_size} graphs: give dgl.unbatch(graph)"
        )
    if graph.is_homogeneous:
        names = range(graph.num_nodes())
        pairs = _stacked(graph.edges())
        of_edges = _equal_both_ways(pairs, dict(graph.edata))
        return Graph(index, names, pairs, "both", dict(graph.ndata), of_edges)
    nodes = [(x, graph.num_nodes(x), dict(graph.nodes[x].data)) for x in graph.ntypes]
    edges = {
        relation: (_stacked(graph.edges(etype=relation)), dict(graph.edges[relation].data))
        for relation in graph.canonical_etypes
    }
    return _join_types(index, nodes, edges)


def _stacked(edges: Any) -> np.ndarray:
    return pair_array(np.column_stack([plain(ends) for ends in edges]))


def _equal_both_ways(pairs: np.ndarray, columns: dict[str, Any]) -> dict[str, Any]:
    """The numbers of edges without differences of rounding between their directions."""
    found = {}
    for name, given in columns.items():
        values = plain(given)
        found[name] = values
        are_numbers = isinstance(values, np.ndarray) and values.dtype.kind == "f"
        if are_numbers and values.ndim < 3 and len(values) == len(pairs):
            found[name] = without_last_digits(pairs, values)
    return found


# -- PyTorch Geometric -----------------------------------------------------------------------------


def read_pyg(index: int, graph: Any, schema: GraphSchema) -> Graph:
    """Read a graph, undirected if it holds each edge in both directions.

    A Data does not tell data of nodes from those of edges: what the schema names is read as it
    says, and all else by its length and a name that begins with "edge_". So are dicts with an
    "edge_index", as OGB has them. The types of a HeteroData are the categories "node_type" and
    "edge_type".

    Parameters
    ----------
    index : int
        The position of the graph in the caller's list.
    graph : Data, HeteroData or mapping
    schema : GraphSchema
    """
    if is_a(graph, "torch_geometric.data", "Batch"):
        raise GraphError(
            index, f" is a batch of {graph.num_graphs} graphs: give graph.to_data_list()"
        )
    if is_a(graph, "torch_geometric.data", "HeteroData"):
        return _read_types(index, graph, schema)
    given = dict(graph) if isinstance(graph, Mapping) else graph.to_dict()
    if given.get("edge_index") is None and "adj_t" in given:
        raise GraphError(
            index,
            " has an adj_t and no edge_index: write data.edge_index = "
            "torch_geometric.utils.to_edge_index(data.adj_t)[0].flip(0)",
        )
    pairs = _pairs(index, given.get("edge_index"))
    data = {name: x for name, x in given.items() if name not in _RESERVED and x is not None}
    of_part = _names_by_part(schema)
    n_nodes = None if "num_nodes" in given else longest(data, of_part["node"])
    if n_nodes is None and isinstance(graph, Mapping):
        n_nodes = given.get("num_nodes")
        if n_nodes is None:
            n_nodes = pairs.max(initial=-1) + 1
    elif n_nodes is None:  # PyG guesses it from the largest id in an edge, and warns
        n_nodes = graph.num_nodes
    n_nodes = number_of_nodes(index, n_nodes)
    _check_ends(index, pairs, (n_nodes, n_nodes))
    fits: dict[str, tuple[Any, tuple[str, ...]]] = {}
    for name, x in data.items():
        n_values = length(plain(x))
        is_of_edges = name.startswith("edge_")
        parts = []
        if name in of_part["node"] or (n_values == n_nodes and not is_of_edges):
            parts.append("node")
        if name in of_part["edge"] or n_values == len(pairs):
            parts.append("edge")
        if name in of_part["graph"] or n_values in (None, 1):
            parts.append("graph")
        is_named = any(name in names for names in of_part.values())
        if is_of_edges and not is_named and "edge" in parts:
            parts = ["edge"]
        fits[name] = x, tuple(parts or ["graph"])  # as many as of nothing else
    return Graph(index, range(n_nodes), pairs, "both", guessed=fits)


def _names_by_part(schema: GraphSchema) -> dict[str, set[str]]:
    """The names that say of what data are, by "node", "edge" and "graph"."""
    return {
        "node": {*conventional_names(schema, "node"), "node_feat"},
        "edge": {*names_in_schema(schema, "edge"), "edge_attr", "edge_type"},
        "graph": {*names_in_schema(schema, "graph")},
    }


def settle_guesses(graphs: Sequence[Graph], schema: GraphSchema) -> list[Graph]:
    """Graphs whose data are those of nodes, of edges or of the graph, as all of a list allow.

    What one graph with as many nodes as edges, or with one node, leaves open, others decide. What
    no graph decides is read as of nodes, which a warning says.

    Parameters
    ----------
    graphs : sequence of Graph
    schema : GraphSchema
    """
    of_part = _names_by_part(schema)
    chosen: dict[str, tuple[str, ...]] = {}
    for name in dict.fromkeys(name for graph in graphs for name in graph.guessed):
        chosen[name] = tuple(part for part in PARTS if name in of_part[part])
        if chosen[name]:
            continue
        possible = [graph.guessed[name][1] for graph in graphs if name in graph.guessed]
        common = [part for part in PARTS if all(part in parts for parts in possible)]
        chosen[name] = tuple(common[:1])
        is_read = schema.reads_all("node") or schema.reads_all("edge")
        if is_read and common[:2] == ["node", "edge"]:
            warn(
                f"{name!r} has as many values as there are nodes, and as there are edges: it is "
                f"read as of nodes; name it in edge_numbers or edge_categories of the GraphSchema "
                "if it is of edges"
            )
    return [_with_guesses(graph, chosen, schema) if graph.guessed else graph for graph in graphs]


def _with_guesses(graph: Graph, chosen: dict[str, tuple[str, ...]], schema: GraphSchema) -> Graph:
    """The graph with the data of the parts that were chosen; other data fit only this graph."""
    columns: dict[str, dict[str, Any]] = {part: {} for part in PARTS}
    for name, (x, parts) in graph.guessed.items():
        for part in chosen[name] or parts[:1]:
            columns[part][name] = _single(plain(x)) if part == "graph" else x
    return replace(
        graph,
        node=columns["node"],
        edge=_equal_both_ways(graph.pairs, columns["edge"]),
        graph=columns_of_graph(columns["graph"], schema),
        guessed={},
    )


def _single(value: Any) -> Any:
    """The value of a graph, which a tensor of one row, or of none, holds."""
    if length(value) == 1:
        return value[0]
    return value.item() if isinstance(value, np.ndarray) and value.ndim == 0 else value


def _read_types(index: int, graph: Any, schema: GraphSchema) -> Graph:
    of_graph = graph.to_dict().get("_global_store", {})
    counts = {kind: number_of_nodes(index, graph[kind].num_nodes or 0) for kind in graph.node_types}
    edges = {}
    for relation in graph.edge_types:
        ends = _pairs(index, graph[relation].to_dict().get("edge_index"))
        _check_ends(index, ends, (counts[relation[0]], counts[relation[2]]))
        edges[relation] = ends, _data(graph[relation], len(ends))
    joined = _join_types(index, [(x, n, _data(graph[x], n)) for x, n in counts.items()], edges)
    data = {name: _single(plain(x)) for name, x in of_graph.items() if name not in _RESERVED}
    return replace(joined, graph=columns_of_graph(data, schema))


def _data(store: Any, n: int) -> dict[str, Any]:
    """The columns that a type of nodes, or of edges, has."""
    given = store.to_dict().items()
    return {k: x for k, x in given if k not in _RESERVED and length(plain(x)) == n}


def _pairs(index: int, edges: Any) -> np.ndarray:
    edges = plain(edges)
    if isinstance(edges, list | tuple):
        edges = np.array(edges if len(set(map(len, edges))) == 1 else 0)
    if (
        edges is None
        or edges.ndim != 2
        or len(edges) != 2
        or (edges.size and edges.dtype.kind not in "iu")
    ):
        raise GraphError(
            index,
            f" has {'no' if edges is None else 'a broken'} edge_index: give it "
            "integers of shape (2, n_edges), or torch.empty((2, 0)) if it has no edges",
        )
    return pair_array(edges.T)


def _check_ends(index: int, pairs: np.ndarray, n_nodes: tuple[int, int]) -> None:
    """Refuse an edge from, or to, a node that is not there; other packages do so themselves."""
    outside = (pairs < 0) | (pairs >= n_nodes)
    if outside.any():
        k, end = np.argwhere(outside)[0]
        node = unknown_node(int(pairs[k, end]), range(n_nodes[end]))
        raise GraphError(
            index,
            f", edge {tuple(pairs[k].tolist())}: {node}: raise the number of nodes or leave the "
            "edge out",
        )


# -- heterogeneous graphs --------------------------------------------------------------------------

# A type, how many nodes or edges are of it, and their data by name.
OfType = tuple[str, int, dict[str, Any]]


def _join_types(
    index: int, nodes: list[OfType], edges: dict[tuple[str, str, str], tuple[np.ndarray, dict]]
) -> Graph:
    """One graph of all nodes and edges, whose types are "node_type" and "edge_type".

    Parameters
    ----------
    index : int
        The position of the graph.
    nodes : list of (str, int, dict)
        Each type, its number of nodes, and their data.
    edges : dict
        From (type of the source, type of the edge, type of the target) to pairs of numbers of nodes
        in their types, shape (m, 2), and the data of these edges.
    """
    counts = [n for _, n, _ in nodes]
    first = dict(zip((kind for kind, *_ in nodes), offsets(counts)[:-1], strict=True))
    pairs = [ends + np.array([first[u], first[v]]) for (u, _, v), (ends, _) in edges.items()]
    of_edges = [(kind, len(ends), data) for (_, kind, _), (ends, data) in edges.items()]
    return Graph(
        index,
        range(sum(counts)),
        np.concatenate([pair_array([]), *pairs]),
        "both",
        _joined_columns(nodes, "node_type"),
        _joined_columns(of_edges, "edge_type"),
        layouts=_layouts(nodes, "node") | _layouts(of_edges, "edge"),
    )


def _joined_columns(types: list[OfType], type_name: str) -> dict[str, list]:
    """The data of all types, end to end, None where a type has no such, and the types."""
    columns: dict[str, list] = {type_name: []}
    for name in dict.fromkeys(name for *_, data in types for name in data):
        blocks = _blocks({kind: plain(data[name]) for kind, _, data in types if name in data})
        columns[name] = []
        for kind, n, _ in types:
            columns[name] += list(blocks[kind]) if kind in blocks else [None] * n
    columns[type_name] = [kind for kind, n, _ in types for _ in range(n)]
    return columns


def _layouts(types: list[OfType], part: str) -> dict[tuple[str, str], tuple[str, ...]]:
    """The type and the position of each column of vectors of several widths."""
    found = {}
    for name in dict.fromkeys(name for *_, data in types for name in data):
        widths = _widths({kind: plain(data[name]) for kind, _, data in types if name in data})
        columns = tuple(f"{kind} {i}" for kind, width in widths.items() for i in range(width))
        if columns:
            found[part, name] = columns
    return found


def _widths(of_types: dict[str, Any]) -> dict[str, int]:
    """The widths of the vectors of each type, if they differ; else none."""
    widths = {}
    for kind in sorted(of_types):
        values = of_types[kind]
        if not isinstance(values, np.ndarray) or values.ndim != 2:
            return {}
        widths[kind] = values.shape[1]
    return widths if len(set(widths.values())) > 1 else {}


def _blocks(of_types: dict[str, Any]) -> dict[str, Any]:
    """The values of each type; vectors of several widths are a block each, and 0 in the others'.

    Parameters
    ----------
    of_types : dict of str
        One value for each node, or edge, of a type.
    """
    widths = _widths(of_types)
    if not widths:
        return of_types
    first = dict(zip(widths, offsets([*widths.values()])[:-1].tolist(), strict=True))
    found = {}
    for kind, values in of_types.items():
        rows = np.zeros((len(values), sum(widths.values())), dtype=values.dtype)
        rows[:, first[kind] : first[kind] + widths[kind]] = values
        found[kind] = rows
    return found

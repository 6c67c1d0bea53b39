"""One function a format: a graph of any kind -> Graph, or one error that names node and cure.

In comes one graph as some package or a user holds it. Out goes a :class:`Graph`: numbered nodes,
each undirected edge once. No package is imported: an object of networkx, DGL, PyTorch Geometric or
igraph brings its package along, and is only read. :mod:`skgraphkde.readers` puts graphs together.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Mapping
from itertools import chain
from numbers import Integral, Real
from typing import Any, NamedTuple

import networkx as nx
import numpy as np
import scipy.sparse as sp
import torch

from skgraphkde.graphs import sorted_labels

LARGEST = 1e100  # numbers beyond it would overflow when squared and added


class Graph(NamedTuple):
    """One graph on its way into a batch."""

    place: int  # its place in the caller's list and
    names: Any  # the caller's own node ids, shape (n,): for messages
    edges: np.ndarray  # (m, 2): each undirected edge once, no self-loops; parallel edges add up
    weights: np.ndarray  # (m,)
    labels: list[Hashable] | None
    attributes: np.ndarray | None  # (n, p)


class Fields(NamedTuple):
    """Under which names a graph holds what belongs to its nodes and edges."""

    label: str
    attributes: str
    weight: str | None


def reader_of(graph: Any) -> Callable[[int, Any, Fields], Graph] | None:
    """The function that reads a graph of this kind; None if it is no graph."""
    if isinstance(graph, Mapping):
        return _read_edge_list
    if _is_triple(graph):
        return _read_triple
    if sp.issparse(graph) or (isinstance(graph, tuple) and len(graph) == 2):
        return _read_pair
    return _reader_of_object(graph)


def is_one_graph(graph: Any) -> bool:
    """Whether `graph`, given in place of a list of graphs, can only be a graph."""
    is_edge_list = isinstance(graph, Mapping) and "edges" in graph
    return is_edge_list or _reader_of_object(graph) is not None


def _reader_of_object(graph: Any) -> Callable[[int, Any, Fields], Graph] | None:
    """The reader of some package's graph; its package is imported, or the graph were not here."""
    if isinstance(graph, nx.Graph):
        return _read_networkx
    if _is_a(graph, "dgl", "DGLGraph"):
        return _read_dgl
    if _is_a(graph, "torch_geometric.data", "Data", "HeteroData"):
        return _read_pyg
    if _is_a(graph, "igraph", "Graph"):
        return _read_igraph
    return None


def _is_a(graph: Any, module: str, *names: str) -> bool:
    """Whether `graph` is an instance of a class of a module, which is not imported for it."""
    loaded = sys.modules.get(module)
    return any(isinstance(graph, getattr(loaded, name, ())) for name in names)


def _is_triple(graph: Any) -> bool:
    """Whether `graph` is edges with dicts of labels, as GraKeL has them, rather than (A, X)."""
    if not isinstance(graph, list | tuple) or len(graph) not in (2, 3):
        return False
    edges, *labels = graph
    if not all(part is None or isinstance(part, Mapping) for part in labels):
        return False
    is_matrix = isinstance(edges, np.ndarray) or sp.issparse(edges)
    only_edges = isinstance(edges, Mapping | set | frozenset)
    says_triple = labels[0] is not None or len(labels) == 2
    return only_edges or ((is_matrix or isinstance(edges, list | tuple)) and says_triple)


# -- networkx and igraph ---------------------------------------------------------------------------


def _read_networkx(place: int, graph: nx.Graph, fields: Fields) -> Graph:
    if graph.is_directed():
        raise ValueError(f"graph {place} is directed: convert it with graph.to_undirected() first")
    names = _some(place, list(graph))
    if graph.is_multigraph() and fields.weight is None:
        graph = nx.Graph(graph)  # parallel edges count once
    position = {name: k for k, name in enumerate(names)}
    edges, weights = [], []
    for u, v, weight in graph.edges(data=fields.weight):
        weight = 1.0 if fields.weight is None else _number(place, (u, v), weight, fields.weight)
        if u != v:
            edges.append((position[u], position[v]))
            weights.append(weight)
    labels, vectors = (
        [data.get(name) for _, data in graph.nodes(data=True)]
        for name in (fields.label, fields.attributes)
    )
    return _finished(place, names, _pairs(edges), np.array(weights), labels, vectors, fields)


def _read_igraph(place: int, graph: Any, fields: Fields) -> Graph:
    if graph.is_directed():
        raise ValueError(
            f"graph {place} is directed: convert it with "
            "graph.as_undirected(combine_edges='first') first"
        )
    given = graph.vs.attributes()
    names = _some(place, graph.vs["name"] if "name" in given else range(graph.vcount()))
    labels, vectors = (
        graph.vs[name] if name in given else None for name in (fields.label, fields.attributes)
    )
    weights = graph.es[fields.weight] if fields.weight in graph.es.attributes() else None
    pairs = np.sort(_pairs(graph.get_edgelist()), axis=1)  # which end comes first means nothing
    return _from_pairs(place, names, pairs, weights, labels, vectors, fields)


# -- DGL and PyTorch Geometric ---------------------------------------------------------------------


def _read_dgl(place: int, graph: Any, fields: Fields) -> Graph:
    if not graph.is_homogeneous or graph.is_block:
        raise ValueError(
            f"graph {place} has nodes or edges of several types: convert it with "
            "dgl.to_homogeneous(graph) first"
        )
    if graph.batch_size > 1:
        raise ValueError(
            f"graph {place} is a batch of {graph.batch_size} graphs: give dgl.unbatch(graph)"
        )
    names = _some(place, range(graph.num_nodes()))
    pairs = _pairs(_plain(torch.stack(graph.edges()).T))
    weights = graph.edata.get(fields.weight)
    labels, vectors = graph.ndata.get(fields.label), graph.ndata.get(fields.attributes)
    cure = (
        "dgl.to_bidirected(graph, copy_ndata=True)"
        if fields.weight is None
        else "dgl.add_reverse_edges(graph, copy_edata=True)"
    )
    return _from_pairs(place, names, pairs, weights, labels, vectors, fields, cure)


def _read_pyg(place: int, graph: Any, fields: Fields) -> Graph:
    if _is_a(graph, "torch_geometric.data", "HeteroData"):
        raise ValueError(
            f"graph {place} has nodes or edges of several types: convert it with "
            "graph.to_homogeneous() first"
        )
    if _is_a(graph, "torch_geometric.data", "Batch"):
        raise ValueError(
            f"graph {place} is a batch of {graph.num_graphs} graphs: give graph.to_data_list()"
        )
    given = graph.to_dict()
    edges = _plain(given.get("edge_index"))
    if (
        edges is None
        or edges.ndim != 2
        or len(edges) != 2
        or (edges.size and edges.dtype.kind not in "iu")
    ):
        raise ValueError(
            f"graph {place} has {'no' if edges is None else 'a broken'} edge_index: give it "
            "integers of shape (2, n_edges), torch.empty((2, 0)) if it has no edges"
        )
    labels, vectors, weights = (_plain(given.get(name)) for name in fields)
    n_nodes = None if "num_nodes" in given else _most(labels, vectors)
    # Without any, PyG warns that the largest edge id is all there is to go by.
    names = _some(place, range(int(graph.num_nodes) if n_nodes is None else n_nodes))
    cure = "torch_geometric.transforms.ToUndirected()(graph)"
    return _from_pairs(place, names, _pairs(edges.T), weights, labels, vectors, fields, cure)


# -- edge lists and GraKeL -------------------------------------------------------------------------


def _read_edge_list(place: int, graph: Mapping, fields: Fields) -> Graph:
    if graph.get("edges") is None:
        raise ValueError(
            f"graph {place} is a dict without 'edges': give it a list of pairs (u, v) of node ids"
        )
    edges = [_ends(place, edge) for edge in _listed(place, graph["edges"], "edges")]
    labels, vectors = (_plain(graph.get(name)) for name in (fields.label, fields.attributes))
    names = _some(place, _edge_list_names(place, graph, edges, labels, vectors))
    pairs = _numbered(place, names, edges)
    weights = graph.get(fields.weight)
    return _from_pairs(place, names, pairs, weights, labels, vectors, fields)


def _edge_list_names(
    place: int, graph: Mapping, edges: list[tuple], labels: Any, vectors: Any
) -> Any:
    """The node ids: listed, else counted, else those that come up, in the order they do."""
    n_nodes = graph.get("num_nodes")
    if graph.get("nodes") is not None:
        names = _listed(place, graph["nodes"], "nodes")
        if n_nodes is not None and n_nodes != len(names):
            raise ValueError(
                f"graph {place} has {len(names)} 'nodes', but 'num_nodes' is {n_nodes}: "
                "give one of the two"
            )
        return names
    if n_nodes is not None:
        if not isinstance(n_nodes, Integral):
            raise ValueError(f"graph {place}: 'num_nodes' is {n_nodes!r}, give an integer")
        return range(n_nodes)
    n_nodes = _most(labels, vectors)
    if n_nodes is not None:
        return range(n_nodes)
    come_up = [values for values in (labels, vectors) if isinstance(values, Mapping)]
    return list(dict.fromkeys(chain(*come_up, *edges)))


def _read_triple(place: int, graph: Any, fields: Fields) -> Graph:
    edges, values = graph[0], graph[1] or {}
    is_list_of_rows = isinstance(edges, list) and edges and isinstance(edges[0], list)
    if isinstance(edges, np.ndarray) or sp.issparse(edges) or is_list_of_rows:
        read = _read_pair(place, (edges, None), fields)
        names, pairs = read.names, read.edges
        weights: Any = read.weights
    else:
        nodes, ends, weights = _triple_edges(place, edges)
        # A set has no order that lasts from process to process.
        rest = sorted_labels({node for node in nodes if node not in values})
        names = _some(place, [*values, *rest])
        pairs = _numbered(place, names, ends)
    # GraKeL keeps feature vectors, too, where labels are.
    is_vector = isinstance(next(iter(values.values()), None), list | np.ndarray)
    labels, vectors = (None, values) if is_vector else (values, None)
    fields = fields._replace(weight=None if weights is None else "weight")  # they have no names
    return _from_pairs(place, names, pairs, weights, labels, vectors, fields)


def _triple_edges(place: int, edges: Any) -> tuple[list, list[tuple], list | None]:
    """Nodes, pairs of them and weights of GraKeL's edges; no weights where edges have none."""
    nodes: list = []
    pairs: list = []
    weights: list = []
    for key in edges:
        value = edges[key] if isinstance(edges, Mapping) else None
        if isinstance(value, Mapping | list | set | tuple):  # {u: {v: weight}} or {u: [v, ...]}
            nodes.append(key)
            pairs += [(key, v) for v in value]
            weights += value.values() if isinstance(value, Mapping) else [None] * len(value)
        elif value is None and isinstance(key, tuple) and len(key) == 3:  # [(u, v, weight), ...]
            pairs.append(key[:2])
            weights.append(key[2])
        else:  # {(u, v): weight} or [(u, v), ...]
            pairs.append(key)
            weights.append(value)
    ends = [_ends(place, pair) for pair in pairs]
    is_weighted = any(weight is not None for weight in weights)
    return [*nodes, *chain(*ends)], ends, weights if is_weighted else None


# -- matrices --------------------------------------------------------------------------------------


def _read_pair(place: int, graph: Any, fields: Fields) -> Graph:
    A, X = (graph, None) if sp.issparse(graph) else graph
    if is_one_graph(A):
        raise ValueError(
            f"graph {place} is a pair of a {type(A).__name__} and something else: give the graph "
            "alone (targets go into y, node features into the node attribute "
            f"{fields.attributes!r})"
        )
    A = sp.coo_array(_as_float(place, "A", A))
    n = A.shape[0]
    names = _some(place, range(n))
    if X is not None:
        X = np.asarray(_plain(X))
        X = _as_float(place, "X", X[:, np.newaxis] if X.ndim == 1 else X)
        if len(X) != n:
            raise ValueError(
                f"graph {place} has {n} nodes in A, but X has shape {X.shape}: give X a row a node"
            )
    if A.shape != (n, n):
        raise ValueError(
            f"graph {place}: the adjacency matrix has shape {A.shape}, expected (n, n)"
        )
    A.sum_duplicates()
    upper = (A.row < A.col) & (A.data != 0)
    edges = np.column_stack([A.row[upper], A.col[upper]]).astype(np.int64)
    read = _checked(Graph(place, names, edges, A.data[upper], None, X))
    asymmetry = abs(A - A.T).tocoo()
    if asymmetry.nnz and not asymmetry.data.max() <= 1e-8 * abs(A).max():
        worst = int(asymmetry.data.argmax())
        u, v = int(asymmetry.row[worst]), int(asymmetry.col[worst])
        raise ValueError(
            f"graph {place}: the adjacency matrix is not symmetric at ({u}, {v}): graphs are "
            "undirected, symmetrize it with A.maximum(A.T) (SciPy) or np.maximum(A, A.T)"
        )
    return read


def _as_float(place: int, name: str, matrix: Any) -> Any:
    """A copy of a matrix in double precision."""
    try:
        matrix = matrix if sp.issparse(matrix) else np.asarray(_plain(matrix))
        if matrix.ndim != 2 or np.iscomplexobj(matrix):
            raise ValueError(
                f"expected real numbers in two dimensions, got {matrix.dtype} in {matrix.ndim}"
            )
        return matrix.astype(float)
    except (TypeError, ValueError, RuntimeError, OverflowError) as error:
        raise ValueError(
            f"graph {place} is not an (A, X) pair of numeric matrices; {name}: {error}"
        ) from error


# -- edges -----------------------------------------------------------------------------------------


def _pairs(edges: Any) -> np.ndarray:
    """Pairs of node numbers as an array, shape (m, 2); empty ones have any shape."""
    return np.array(edges, dtype=np.int64).reshape(-1, 2)


def _ends(place: int, edge: Any) -> tuple:
    """The two node ids of an edge in a list."""
    try:
        u, v = edge
    except (TypeError, ValueError):
        u = v = None
    if u is None or not (_is_label(u) and _is_label(v)):
        raise ValueError(f"graph {place}: the edge {edge!r} is not a pair (u, v) of node ids")
    return u, v


def _listed(place: int, values: Any, key: str) -> list:
    """A list of what a key of a dict holds; iterators would be used up by reading them."""
    values = _plain(values)
    if _length(values) is None:
        raise ValueError(
            f"graph {place}: {key!r} is a {type(values).__name__}, give a list or an array"
        )
    return values.tolist() if isinstance(values, np.ndarray) else list(values)


def _numbered(place: int, names: Any, edges: list[tuple]) -> np.ndarray:
    """Pairs of node ids as pairs of node numbers, shape (m, 2)."""
    for name in names:
        if not _is_label(name):
            raise ValueError(f"graph {place} has the node id {name!r}: a node id must be hashable")
    position = {name: k for k, name in enumerate(names)}
    if len(position) < len(names):
        twice = next(name for k, name in enumerate(names) if position[name] != k)
        raise ValueError(f"graph {place} lists the node {twice!r} twice: list every node once")
    for edge in edges:
        for node in edge:
            if node not in position:
                raise ValueError(
                    f"graph {place}, edge {edge!r}: {_no_node(node, names)}: "
                    "list the ids of all nodes in 'nodes', or leave the edge out"
                )
    return _pairs([(position[u], position[v]) for u, v in edges])


def _no_node(node: Any, names: Any) -> str:
    known = f"0 to {len(names) - 1}" if isinstance(names, range) else _few(names)
    return f"{node!r} is not among the {len(names)} nodes ({known})"


def _number(place: int, edge: tuple, weight: Any, name: str) -> float:
    if not isinstance(weight, Real | np.bool_):
        what = "no" if weight is None else f"the {type(weight).__name__} {weight!r} as"
        raise ValueError(
            f"graph {place}, edge {edge!r} has {what} {name!r}: give every edge a number"
        )
    try:
        return float(weight)
    except OverflowError:  # an integer too large
        return np.inf


def _numbers(place: int, names: Any, pairs: np.ndarray, values: Any, name: str) -> np.ndarray:
    """The weights of all edges from a sequence or a column, shape (m,)."""
    values = _plain(values)
    if isinstance(values, np.ndarray) and values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if _length(values) != len(pairs) or getattr(values, "ndim", 1) != 1:
        raise ValueError(
            f"graph {place} has {len(pairs)} edges and {_amount(values)} as {name!r}: "
            "give every edge a number"
        )
    if isinstance(values, np.ndarray) and values.dtype.kind in "biuf":
        return values.astype(float)
    named = [(names[u], names[v]) for u, v in pairs]
    return np.array(
        [_number(place, edge, value, name) for edge, value in zip(named, values, strict=True)]
    )


def _from_pairs(
    place: int,
    names: Any,
    pairs: np.ndarray,
    weights: Any,
    labels: Any,
    vectors: Any,
    fields: Fields,
    cure: str | None = None,
) -> Graph:
    """A graph whose edges may come in both directions; they have to where `cure` is given."""
    outside = ((pairs < 0) | (pairs >= len(names))).any(axis=1)
    if outside.any():
        u, v = pairs[outside.argmax()].tolist()
        node = v if 0 <= u < len(names) else u
        raise ValueError(
            f"graph {place}, edge ({u}, {v}): {_no_node(node, names)}: raise the number of nodes "
            "or leave the edge out"
        )
    no_loop = pairs[:, 0] != pairs[:, 1]
    if fields.weight is None or not len(pairs):
        weights = None
    else:
        weights = _numbers(place, names, pairs, weights, fields.weight)[no_loop]
    edges, weights = _undirected(place, names, pairs[no_loop], weights, cure)
    return _finished(place, names, edges, weights, labels, vectors, fields)


def _undirected(
    place: int, names: Any, arcs: np.ndarray, weights: np.ndarray | None, cure: str | None
) -> tuple[np.ndarray, np.ndarray]:
    """Each edge once: (u, v) and (v, u) are two directions of one, parallel ones add up."""
    n = len(names)
    keys, arc = np.unique(arcs[:, 0] * n + arcs[:, 1], return_inverse=True)
    u, v = keys // n, keys % n
    weight: np.ndarray = np.ones(len(keys))  # parallel edges count once
    if weights is not None:
        _check_weights(place, names, arcs, weights)
        weight = np.bincount(arc, weights, len(keys))
    back = np.minimum(np.searchsorted(keys, v * n + u), len(keys) - 1)
    both = keys[back] == v * n + u
    if cure is not None and not both.all():
        a, b = (names[end[both.argmin()]] for end in (u, v))
        raise ValueError(
            f"graph {place} is directed, edge ({a!r}, {b!r}) has no edge ({b!r}, {a!r}) beside it: "
            f"convert it with {cure} first"
        )
    unequal = both & (abs(weight - weight[back]) > 1e-8 * weight)
    if unequal.any():
        k = unequal.argmax()
        a, b = names[u[k]], names[v[k]]
        raise ValueError(
            f"graph {place}, edge ({a!r}, {b!r}) has the weight {weight[k]}, but ({b!r}, {a!r}) "
            f"has {weight[back[k]]}: graphs are undirected, give both directions one weight"
        )
    once = (u < v) | ~both
    return np.column_stack([u, v])[once], weight[once]


# -- nodes -----------------------------------------------------------------------------------------


def _some(place: int, names: Any) -> Any:
    """The names themselves, if there are any."""
    if not len(names):
        raise ValueError(f"graph {place} has no nodes: leave it out or give it a node")
    return names


def _plain(values: Any) -> Any:
    """A tensor (of any device, with or without gradient) or sparse array as array, else itself."""
    if sp.issparse(values):
        return values.toarray()
    if not isinstance(values, torch.Tensor):
        return values
    values = values.detach().cpu().to_dense()
    return (values.double() if values.is_floating_point() else values).numpy()  # bfloat16, too


def _length(values: Any) -> int | None:
    """How many values there are; None if they cannot be counted or are one string."""
    if isinstance(values, str) or getattr(values, "ndim", 1) == 0:
        return None
    return len(values) if hasattr(values, "__len__") else None


def _most(*columns: Any) -> int | None:
    """The length of the longest column; None if there is no column: dicts by node are none."""
    lengths = [_length(values) for values in columns if not isinstance(values, Mapping)]
    return max((length for length in lengths if length is not None), default=None)


def _amount(values: Any) -> str:
    """For messages: no values, or so many, or what there is instead."""
    if values is None:
        return "none"
    if getattr(values, "ndim", 1) > 1:
        return f"an array of shape {values.shape}"
    length = _length(values)
    return f"the {type(values).__name__} {values!r}" if length is None else f"{length} values"


def _per_node(place: int, names: Any, values: Any, name: str) -> Any:
    """The value of every node, from a dict by node or from a sequence; None if no node has one."""
    values = _plain(values)
    if values is None:
        return None
    if isinstance(values, Mapping):
        known = set(names)
        for node in values:
            if node not in known:
                raise ValueError(
                    f"graph {place} has {name!r} of a node it does not have: "
                    f"{_no_node(node, names)}: leave it out or add the node"
                )
        values = [values.get(node) for node in names]
    length = _length(values)
    if length is None or length > len(names) or isinstance(values, set | frozenset):
        raise ValueError(
            f"graph {place} has {len(names)} nodes and {_amount(values)} as {name!r}: "
            "give every node one"
        )
    if isinstance(values, np.ndarray) and values.dtype != object and length == len(names):
        return values
    values = [*values, *[None] * (len(names) - length)]
    missing = [node for node, value in zip(names, values, strict=True) if value is None]
    if not missing:
        return values
    if len(missing) == len(values):
        return None
    nodes_have = "node {} has" if len(missing) == 1 else "nodes {} have"
    raise ValueError(
        f"graph {place}, {nodes_have.format(_few(missing))} no {name!r}, but other nodes of the "
        f"graph do ({len(missing)} of {len(values)} lack it): give it to every node or to none"
    )


def _few(names: Any) -> str:
    """The first names of many."""
    return ", ".join([*map(repr, names[:5]), *["..."] * (len(names) > 5)])


def _rows(place: int, names: Any, values: Any, name: str) -> np.ndarray | None:
    """Feature vectors (or single numbers) of the nodes as rows, shape (n, p)."""
    if values is None:
        return None
    if isinstance(values, np.ndarray) and values.dtype.kind in "biuf" and values.ndim <= 2:
        return values.astype(float).reshape(len(names), -1 if values.size else 0)
    width = None
    rows = []
    for node, vector in zip(names, values, strict=True):
        where = f"graph {place}, node {node!r}: the node attribute {name!r}"
        try:
            row = np.atleast_1d(np.asarray(_plain(vector), dtype=float))
        except (TypeError, ValueError, RuntimeError, OverflowError) as error:
            raise ValueError(
                f"{where} is not a number or a vector of numbers: {vector!r}"
            ) from error
        if row.ndim != 1:
            raise ValueError(f"{where} has shape {row.shape}: give a number or a flat vector")
        width = len(row) if width is None else width
        if len(row) != width:
            raise ValueError(
                f"{where} has {len(row)} numbers, the nodes before it {width}: "
                "give all nodes vectors of one length"
            )
        rows.append(row)
    return np.stack(rows)


# -- the whole graph -------------------------------------------------------------------------------


def _finished(
    place: int,
    names: Any,
    edges: np.ndarray,
    weights: np.ndarray,
    labels: Any,
    vectors: Any,
    fields: Fields,
) -> Graph:
    """The graph with labels and attributes from whatever holds them."""
    labels = _per_node(place, names, labels, fields.label)
    vectors = _per_node(place, names, vectors, fields.attributes)
    return _checked(
        Graph(
            place,
            names,
            edges,
            weights,
            labels.tolist() if isinstance(labels, np.ndarray) else labels,
            _rows(place, names, vectors, fields.attributes),
        )
    )


def _checked(graph: Graph) -> Graph:
    """The graph itself, if its labels are hashable and all its numbers are usable."""
    _check_weights(graph.place, graph.names, graph.edges, graph.weights)
    if graph.attributes is not None:
        if graph.attributes.shape[1] == 0:
            return _checked(graph._replace(attributes=None))
        usable = np.abs(graph.attributes) <= LARGEST  # not NaN, not infinite
        if not usable.all():
            node, column = np.argwhere(~usable)[0]
            raise ValueError(
                f"graph {graph.place}, node {graph.names[node]!r}: node attribute {column} is "
                f"{graph.attributes[node, column]}: impute, clip or drop it first"
            )
    for name, label in zip(graph.names, graph.labels or (), strict=False):
        if not _is_label(label):
            raise ValueError(
                f"graph {graph.place}, node {name!r} has the label {label!r}: a label must be "
                "hashable and not NaN (a feature vector goes into the attribute 'x')"
            )
    return graph


def _check_weights(place: int, names: Any, edges: np.ndarray, weights: np.ndarray) -> None:
    bad = ~((weights > 0) & (weights <= LARGEST))
    if bad.any():
        u, v = edges[bad.argmax()]
        raise ValueError(
            f"graph {place}, edge ({names[u]!r}, {names[v]!r}) has the weight "
            f"{weights[bad.argmax()]}: weights must be positive and finite"
        )


def _is_label(value: Any) -> bool:
    if hasattr(value, "__array__") and not isinstance(value, np.generic):
        return False  # a tensor is hashable, but each one is its own
    try:
        hash(value)
        return bool(value == value)  # NaN is not equal to itself
    except (TypeError, ValueError, RuntimeError):
        return False

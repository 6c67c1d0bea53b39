"""read_graphs: a list of graphs -> GraphBatch.

The list may have any mix of formats. A graph goes this way:

1. a function of :mod:`skgraphkde.reading.formats` numbers its nodes and makes columns of its data,
   a :class:`~skgraphkde.reading.formats.common.Graph`;
2. :func:`~skgraphkde.reading.assembly.assemble` takes all of these: it chooses the names that are
   read, checks their values, and turns edges into arcs;
3. a :class:`~skgraphkde.core.graphs.batch.GraphBatch` has the arrays.

What is wrong is one error that names the graph, the node and the remedy. The caller's graphs are
never changed.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import replace
from itertools import groupby
from os import PathLike, fspath
from typing import Any

import scipy.sparse as sp

from skgraphkde._messages import shown
from skgraphkde._utils import progress
from skgraphkde.core.graphs.batch import GraphBatch
from skgraphkde.core.graphs.problems import WrongTypeError
from skgraphkde.core.graphs.schema import FittedSchema, GraphSchema, validated
from skgraphkde.reading.assembly import assemble
from skgraphkde.reading.formats.common import Graph, is_a
from skgraphkde.reading.formats.edge_list import read_edge_list
from skgraphkde.reading.formats.igraph import read_igraph
from skgraphkde.reading.formats.networkx import read_networkx
from skgraphkde.reading.formats.rdkit import read_mol
from skgraphkde.reading.formats.tensors import read_dgl, read_pyg, settle_guesses
from skgraphkde.reading.formats.tuples import is_triple, read_grakel, read_pair, read_triple
from skgraphkde.reading.selection import select_columns

__all__ = ["read_graphs"]

Reader = Callable[[int, Any, GraphSchema], Graph]

# The module, and the names of the classes whose instances are graphs, that a function reads.
_PACKAGES: dict[Reader, tuple[str, ...]] = {
    read_networkx: ("networkx", "Graph"),
    read_dgl: ("dgl", "DGLGraph"),
    read_pyg: ("torch_geometric.data", "Data", "HeteroData"),
    read_igraph: ("igraph", "Graph"),
    read_grakel: ("grakel.graph", "Graph"),
    read_mol: ("rdkit.Chem", "Mol"),
}


def read_graphs(
    graphs: Any, *, schema: GraphSchema | FittedSchema | str | None = None
) -> GraphBatch:
    """Read graphs into a :class:`GraphBatch`.

    Parameters
    ----------
    graphs : sequence of graphs, or GraphBatch
        Or a ``Batch`` of PyTorch Geometric, or of ``dgl.batch``. Each graph is one of

        - a networkx graph, directed or not, with any hashable node ids;
        - a ``dgl.DGLGraph`` with tensors in ``ndata`` and ``edata``, or a
          ``torch_geometric.data.Data``, on any device, with or without gradients. If they hold each
          edge in both directions they are undirected. The types of a heterogeneous graph are the
          categories "node_type" and "edge_type";
        - an ``igraph.Graph``;
        - a molecule of RDKit, ``rdkit.Chem.Mol``: see :meth:`GraphSchema.molecule`;
        - a dict with an "edge_index" of shape (2, m), as OGB has it, read as a ``Data``;
        - a dict ``{"edges": [(u, v), ...]}``, with the pairs in a list or in an array (m, 2). Other
          keys are optional: "nodes" (all node ids, any hashable) or, without it, "num_nodes" (the
          ids are then 0, 1, ...), "directed" (True or False), "edge_data" (a dict of name -> one
          value per edge), the weight by its name (one number per edge), and data of the nodes by
          name (dicts by node id, or one value per node, in order); single values are data of the
          graph. Without "nodes" and "num_nodes", the nodes are those that the other keys mention;
        - a ``grakel.Graph``, or a tuple or list as GraKeL takes it: ``(edges, labels)`` or
          ``(edges, labels, edge labels)``. Edges are a set or list of pairs, a dict
          ``{(u, v): weight}``, ``{u: {v: weight}}`` or ``{u: [v, ...]}``, or an adjacency matrix.
          Labels are a dict by node id, or None, and have the name "label"; those that are lists or
          arrays are numbers of the name "x";
        - an adjacency matrix ``A`` (n, n), or a pair ``(A, X)`` with node features (n, p), each a
          NumPy array or a SciPy sparse array. The entries of ``A`` are weights, and the graph is
          directed if ``A`` is not symmetric; ``X`` may be None, and has the name "x". Entries of
          any sign are numbers of edges with ``GraphSchema(edge_numbers="weight")``. An array
          (n_graphs, n, n) is a list of matrices;
        - a :class:`GraphBatch`.

        In place of an array there may be a tensor, or a table or series of pandas, whose rows are
        the values, by the ids of the nodes if these are its index. Masked values are missing.
        Complex numbers, dates and times are no numbers.

        Parallel edges that agree in all data that is read count as one, and their weights are added
        if a weight is read; those that differ stay apart. Self-loops are left out, because the
        encoder gives every node its own. Beside directed graphs, an undirected edge is two arcs.
    schema : GraphSchema, FittedSchema, "all", "molecule" or None, default=None
        Which names are read, and as what. None is ``GraphSchema()``, the conventions; "all" is
        everything that the graphs have; "molecule" is :meth:`GraphSchema.molecule`; a FittedSchema,
        of a batch or a detector, is what was read there.

    Returns
    -------
    GraphBatch
        The graphs in the given order, with node labels and attributes if they have them.

    Raises
    ------
    TypeError
        If `graphs` is not a sequence of graphs.
    ValueError
        If `graphs` is empty, a graph has no nodes, a name in `schema` is not there, data are on
        only some of the nodes or edges, or a number is not finite.

    Examples
    --------
    >>> import networkx as nx
    >>> water = nx.Graph([("H1", "O"), ("O", "H2")])
    >>> nx.set_node_attributes(water, {"H1": "H", "H2": "H", "O": "O"}, "label")
    >>> read_graphs([water])
    GraphBatch(n_graphs=1, n_nodes=3, n_edges=2, n_labels=2)
    >>> ammonia = {"edges": [(7, 1), (7, 2), (7, 3)], "label": {7: "N", 1: "H", 2: "H", 3: "H"}}
    >>> read_graphs([water, ammonia])
    GraphBatch(n_graphs=2, n_nodes=7, n_edges=5, n_labels=3)
    """
    known = schema if isinstance(schema, FittedSchema) else None
    schema = validated(schema) if known is None else known.to_schema()
    if isinstance(graphs, GraphBatch) and len(graphs):
        return select_columns(graphs, schema)
    graphs = as_sequence(graphs)
    if len(graphs) == 0:
        raise ValueError("the list of graphs is empty: give at least one graph")
    batches: list[GraphBatch] = []
    for are_batches, group in groupby(
        enumerate(progress(graphs)), key=lambda x: isinstance(x[1], GraphBatch)
    ):
        if are_batches:
            batches += [select_columns(batch, schema) for _, batch in group]
        else:
            read = _with_positions({i: _read(i, x, schema) for i, x in group})
            batches.append(assemble(settle_guesses(read, schema), schema, known))
    return batches[0] if len(batches) == 1 else GraphBatch.concatenate(batches)


def _with_positions(graphs: dict[int, Graph]) -> list[Graph]:
    """The graphs by their positions; those with equal names are called by these, too."""
    counts = Counter(graph.name for graph in graphs.values())
    found = []
    for position, graph in graphs.items():
        if graph.name and counts[graph.name] > 1:
            graph = replace(graph, index=f"{graph.name}#{position}")
        found.append(graph)
    return found


def _read(index: int, graph: Any, schema: GraphSchema) -> Graph:
    """A graph of any format, with its position in the caller's list."""
    for reader, classes in _PACKAGES.items():
        if is_a(graph, *classes):
            return reader(index, graph, schema)
    if isinstance(graph, Mapping) and not sp.issparse(graph):  # as matrices by keys are
        return (read_pyg if "edge_index" in graph else read_edge_list)(index, graph, schema)
    if is_triple(graph):
        return read_triple(index, graph, schema)
    if (isinstance(graph, tuple) and len(graph) == 2) or getattr(graph, "ndim", 0) == 2:
        return read_pair(index, graph, schema)
    if graph is None:
        raise WrongTypeError(
            index, " is None, which RDKit returns for a molecule that it cannot read: leave it out"
        )
    if isinstance(graph, list) and graph and all(map(_is_pair_of_ids, graph)):
        raise WrongTypeError(
            index,
            f" is a list of pairs, such as {shown(repr(graph[0]))}: if these are its edges, give "
            '{"edges": pairs}; if they are the rows of a matrix, np.array(rows)',
        )
    if isinstance(graph, str):
        raise WrongTypeError(
            index,
            f" is the text {shown(graph)!r}; if this is SMILES, give "
            "[rdkit.Chem.MolFromSmiles(text) for text in graphs] with schema='molecule'",
        )
    raise WrongTypeError(
        index,
        f" has the type {type(graph).__name__}; give a graph from networkx, DGL, PyTorch "
        "Geometric, igraph or GraKeL, a molecule of RDKit, an adjacency matrix A as an array, "
        "np.array(rows) of a list of rows, a tuple (A, X), a dict with 'edges' or 'edge_index', "
        "or a GraphBatch",
    )


def _is_pair_of_ids(x: Any) -> bool:
    """True for (u, v), and (u, v, key or data), as ``list(graph.edges)`` has them."""
    return isinstance(x, tuple) and len(x) in (2, 3) and isinstance(x[0], Hashable)


def as_sequence(graphs: Any) -> Any:
    """The graphs of a list, or of a batch; a TypeError says what to do with anything else."""
    if isinstance(graphs, GraphBatch):
        return graphs
    if is_a(graphs, "torch_geometric.data", "Batch"):
        return graphs.to_data_list()
    if is_a(graphs, "dgl", "DGLGraph"):  # one graph is a batch of one: DGL makes no difference
        return sys.modules["dgl"].unbatch(graphs)
    _check_sequence(graphs)
    return graphs


def _check_sequence(graphs: Any) -> None:
    """Raise a TypeError that says what to do unless `graphs` is a sequence."""
    got = "expected a list of graphs, got"
    is_pair = isinstance(graphs, tuple) and len(graphs) == 2
    if is_a(graphs, "torch.utils.data", "DataLoader"):
        raise TypeError(f"{got} a DataLoader: write list(loader.dataset), which keeps the order")
    is_edge_list = isinstance(graphs, dict) and not {"edges", "edge_index"}.isdisjoint(graphs)
    if is_edge_list or any(is_a(graphs, *classes) for classes in _PACKAGES.values()):
        raise TypeError(f"{got} one graph: write [graph]")
    if isinstance(graphs, dict) and not sp.issparse(graphs):
        raise TypeError(f"{got} a dict: write list(graphs.values())")
    if isinstance(graphs, str | PathLike):
        raise TypeError(
            f"{got} a path: write read_batch(find_files([{fspath(graphs)!r}])), both from "
            "skgraphkde.reading.files"
        )
    if isinstance(graphs, Iterator):
        raise TypeError(
            f"{got} an iterator: write list(graphs), and keep that list, as scores follow its order"
        )
    is_list = hasattr(graphs, "__len__") and hasattr(graphs, "__getitem__")
    if isinstance(graphs, bytes | type) or not (is_list or sp.issparse(graphs)):
        raise TypeError(f"{got} {shown(repr(graphs))}: give a list of graphs")
    if is_pair and all(getattr(part, "ndim", 0) == 2 for part in graphs):
        raise TypeError(
            f"{got} one (A, X) pair: write [(A, X)], or a list if these are matrices of two graphs"
        )
    if hasattr(graphs, "__dataframe__") or hasattr(graphs, "columns"):
        raise TypeError(
            f"{got} a table: write read_tables(edges, nodes, graphs), which makes graphs of "
            "tables, or read_log(table), of an event log"
        )
    dtype = getattr(graphs, "dtype", None)
    n_dimensions = getattr(graphs, "ndim", 1)
    is_column = n_dimensions == 1 and getattr(dtype, "kind", "") in ("O", "U")  # objects, or texts
    if sp.issparse(graphs) or (dtype is not None and not is_column and n_dimensions != 3):
        raise TypeError(
            f"{got} an array of shape {tuple(graphs.shape)}. "
            "np.array(list_of_networkx_graphs) keeps node ids and loses every edge when the graphs "
            "have equal size: pass the list itself. Pass a single adjacency matrix as [(A, None)]"
        )

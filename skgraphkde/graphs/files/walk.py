"""Read the graphs of files: paths -> graphs with the names of their files, or one batch of all.

The functions of this module take paths, as :func:`find_files` returns them. They keep no more
networkx graphs in memory than one file holds, or a chunk, and raise one error that names the file
and the cure. Nothing in a file is executed, fetched or unpacked to disk.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NamedTuple

import networkx as nx
import numpy as np

from skgraphkde._utils import warn
from skgraphkde.graphs.assembly import assemble, is_number
from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.graphs.files.common import AnyPath, Graphs, UnreadableError, names_read, reason
from skgraphkde.graphs.files.csv import NUMBER, read_csv
from skgraphkde.graphs.files.gexf import read_gexf
from skgraphkde.graphs.files.gml import read_gml
from skgraphkde.graphs.files.graphml import read_graphml
from skgraphkde.graphs.files.json import parse_json, read_json
from skgraphkde.graphs.files.molecules import read_sdf, read_smi
from skgraphkde.graphs.files.tables import Source, TableFiles
from skgraphkde.graphs.files.tu import read_tu
from skgraphkde.graphs.formats.common import Columns, Graph, is_missing
from skgraphkde.graphs.formats.networkx import read_networkx
from skgraphkde.graphs.naming import shown
from skgraphkde.graphs.problems import GraphError
from skgraphkde.graphs.schema import CONVENTIONS, PARTS, FittedSchema, GraphSchema, validated

__all__ = [
    "FileGraph",
    "attempt",
    "chunks",
    "iter_graphs",
    "node_link_graphs",
    "read_batch",
    "read_files",
]

#: Suffix -> the name of the format, its reader, and what to do if a file cannot be read.
FORMATS: dict[str, tuple[str, Callable[[Any, GraphSchema], Graphs], str]] = {
    ".graphml": ("GraphML", read_graphml, "rewrite it with networkx.write_graphml"),
    ".gml": ("GML", read_gml, "rewrite it with networkx.write_gml"),
    ".json": (
        "node-link JSON",
        read_json,
        "write what networkx.node_link_data returns, or a list of such graphs",
    ),
    ".gexf": ("GEXF", read_gexf, "rewrite it with networkx.write_gexf"),
    ".csv": (
        "an edge list",
        read_csv,
        'write edges in rows under "source" and "target", or "from" and "to", and data of nodes, '
        'if there are any, in NAME.nodes.csv, in rows under "id", in UTF-8 with commas',
    ),
    ".smi": ("SMILES", read_smi, "write a SMILES and a name in each line"),
    ".sdf": ("SDF", read_sdf, "write it with rdkit.Chem.SDWriter"),
    ".zip": (
        "a set of the TU collection",
        read_tu,
        "give NAME.zip as downloaded, or a zip of graph files",
    ),
}
PACKED = ".zip"  # which is not packed once more, with gzip

# A chunk ends at this many graphs or nodes, whichever comes first.
CHUNK_GRAPHS, CHUNK_NODES = 1_000, 50_000

# Called with the error of a file or a graph, which is then skipped. None: raise the error.
OnError = Callable[[Exception], None] | None


class FileGraph(NamedTuple):
    """A graph from a file."""

    name: str  # the path of the file, and "#0", "#1", ... if the file can hold many graphs
    nodes: Sequence[Any]  # the file's node ids, in the order of the batch
    batch: GraphBatch  # of this one graph


def suffix_of(path: AnyPath) -> str | None:
    """The suffix that says what format a file has, without ".gz"; None if that is not known."""
    name = path.name.lower()
    suffix = os.path.splitext(name.removesuffix(".gz"))[1]
    is_known = suffix in FORMATS and not (suffix == PACKED and name.endswith(".gz"))
    return suffix if is_known else None


def iter_graphs(
    files: Iterable[Source], schema: GraphSchema | str | None = None, on_error: OnError = None
) -> Iterator[tuple[str, nx.Graph]]:
    """Read files one by one.

    Parameters
    ----------
    files : iterable of Path
        As returned by :func:`find_files`.
    schema : GraphSchema, "all" or None, default=None
        What is to be read, which some formats need to know. None is ``GraphSchema()``.
    on_error : callable, default=None
        Called with the error of each file that cannot be read, which is then skipped. None: raise
        the error.

    Yields
    ------
    name : str
        The path of the file, and "#0", "#1", ... if the file can hold many graphs.
    graph : networkx.Graph
        With the node ids and attributes of the file; a DiGraph, MultiGraph or MultiDiGraph, if its
        edges have directions or are parallel.

    Raises
    ------
    ValueError
        If a file is broken or not a regular file.

    Examples
    --------
    >>> import tempfile
    >>> import networkx as nx
    >>> from skgraphkde.graphs.files import find_files, iter_graphs
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     nx.write_graphml(nx.path_graph(3), f"{folder}/path.graphml")
    ...     [(name[-12:], len(graph)) for name, graph in iter_graphs(find_files([folder]))]
    [('path.graphml', 3)]
    """
    schema = validated(schema)
    for path in files:
        for position, graph in attempt(on_error, read_file, path, schema) or ():
            name = f"{path}{position}"
            if not isinstance(graph, ValueError):
                yield name, graph
                continue
            # A GraphError names its graph.
            error = graph if isinstance(graph, GraphError) else ValueError(f"{name}: {graph}")
            if on_error is None:
                raise error
            on_error(error)


def read_files(
    files: Iterable[Source],
    schema: GraphSchema | FittedSchema | str | None = None,
    on_error: OnError = None,
) -> Iterator[FileGraph]:
    """Read files one by one, check each graph, and convert it to a batch of one.

    With ``missing="indicate"`` the data that the schema names may be missing in a whole graph.

    Parameters
    ----------
    files : iterable of Path
    schema : GraphSchema, FittedSchema, "all" or None, default=None
        A FittedSchema is that of a detector, whose graphs have the data that these may lack.
    on_error : callable, default=None
        As in :func:`iter_graphs`.
    """
    known = schema if isinstance(schema, FittedSchema) else None
    chosen = validated(schema) if known is None else known.to_schema()
    for name, graph in iter_graphs(files, chosen, on_error):
        batch = attempt(on_error, _read_one, graph, name, chosen, known)
        if batch is not None:
            yield FileGraph(name, list(graph), batch)


def _read_one(
    graph: nx.Graph, name: str, schema: GraphSchema, known: FittedSchema | None
) -> GraphBatch:
    """A batch of one graph, which may lack what others have."""
    with _named([name]):
        return assemble([read_networkx(0, graph)], schema, known, may_lack=True)


def chunks(graphs: Iterable[FileGraph]) -> Iterator[list[FileGraph]]:
    """Group graphs into lists that are small enough for memory and worth processing together."""
    chunk: list[FileGraph] = []
    n_nodes = 0
    for graph in graphs:
        chunk.append(graph)
        n_nodes += graph.batch.n_nodes
        if len(chunk) == CHUNK_GRAPHS or n_nodes >= CHUNK_NODES:
            yield chunk
            chunk, n_nodes = [], 0
    if chunk:
        yield chunk


def read_batch(
    files: Iterable[Source], schema: GraphSchema | str | None = None, on_error: OnError = None
) -> GraphBatch:
    r"""Read all graphs of files into one batch.

    Parameters
    ----------
    files : iterable of Path
    schema : GraphSchema, "all" or None, default=None
    on_error : callable, default=None
        As in :func:`iter_graphs`.

    Raises
    ------
    ValueError
        If a file cannot be read, no graph has a name in the schema, or graphs differ in their data,
        which is about all of them and not for `on_error`; or if no graph can be read.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from skgraphkde.graphs.files import find_files, read_batch
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name, flow in (("a", 2.5), ("b", 3.0)):
    ...         _ = Path(folder, f"{name}.csv").write_text(f"from,to,flow\np,q,{flow}\nq,r,1\n")
    ...     read_batch(find_files([folder]), "all")
    GraphBatch(n_graphs=2, n_nodes=6, n_arcs=4, n_edge_attributes=1)
    """
    return read_batch_and_ids(files, schema, on_error)[0]


def read_batch_and_ids(
    files: Iterable[Source], schema: GraphSchema | str | None = None, on_error: OnError = None
) -> tuple[GraphBatch, list[list]]:
    """Read all graphs of files into one batch, and the ids of the nodes of each.

    Parameters
    ----------
    files, schema, on_error
        As for :func:`read_batch`.
    """
    schema = validated(schema)
    names: list[str] = []
    graphs: list[Graph] = []
    for name, graph in iter_graphs(files, schema, on_error):
        names.append(name)
        read = attempt(on_error, _read_columns, graph, names, schema)
        if read is not None:
            graphs.append(read)
    try:
        batch = _assemble(graphs, names, schema)
    except GraphError as error:
        if on_error is None or error.graph is None:
            raise
        graphs = [
            graph
            for graph in graphs
            if attempt(on_error, _assemble, [graph], names, schema, True) is not None
        ]
        # What is wrong with none of them alone, such as data that only some have, is about all.
        batch = _assemble(graphs, names, schema)
    _warn_mixed([names[graph.index] for graph in graphs], batch, schema)
    return batch, [list(graph.names) for graph in graphs]


def _assemble(
    graphs: list[Graph], names: list[str], schema: GraphSchema, may_lack: bool = False
) -> GraphBatch:
    if not graphs:
        raise ValueError("none of the files can be read as graphs")
    with _named(names):
        return assemble(graphs, schema, may_lack=may_lack)


def _read_columns(graph: nx.Graph, names: list[str], schema: GraphSchema) -> Graph:
    """The last graph, with the data that may be read, which takes less memory than networkx."""
    with _named(names):
        read = read_networkx(len(names) - 1, graph)
    nodes, edges = (
        _kept(x, names_read(schema, part))
        for x, part in zip((read.nodes, read.edges), ("node", "edge"), strict=True)
    )
    return replace(read, nodes=nodes, edges=edges, name=names[-1])


def _kept(columns: Columns, names: Sequence[str] | None) -> Columns:
    """The values of these attributes, and the names of all."""
    kept = [name for name in columns.names if names is None or name in names]
    return Columns(columns.names, {name: columns.get(name) for name in kept}.get)


def _warn_mixed(names: list[str], batch: GraphBatch, schema: GraphSchema) -> None:
    """Warn of attributes that "all" reads as categories only because of a few values."""
    for part in PARTS:
        kind, owner, labels = f"{part}_categories", batch.owner(part), batch.data(part).labels
        if labels is None or getattr(schema, kind) != "all":
            continue
        for name, values in batch.values_by_category(part).items():
            is_other = np.array([not (is_missing(x) or is_number(x)) for x in values])[labels]
            if name in CONVENTIONS[kind] or not 0 < is_other.mean() < 0.5:
                continue
            # Numbers may be text, too, in a file in which one value is none.
            found = np.flatnonzero(is_other)
            k = next((k for k in found if not NUMBER.fullmatch(str(values[labels[k]]))), found[0])
            warn(
                f"{names[owner[k]]} has {shown(values[labels[k]])!r} as {part} attribute {name!r}, "
                "which is a number nearly everywhere else: it is read as a category. Correct the "
                "value, or leave it empty with missing='indicate' in the GraphSchema (--missing "
                "indicate in the shell)"
            )


@contextmanager
def _named(names: Sequence[str]) -> Iterator[None]:
    """Errors have the names of graphs instead of positions."""
    try:
        yield
    except GraphError as error:
        error.set_names(names)
        raise


def attempt(on_error: OnError, function: Callable, *arguments: Any) -> Any:
    """Call a function; if it raises an error, pass that to `on_error` and return None.

    Parameters
    ----------
    on_error : callable or None
        None: raise the error.
    function : callable
    *arguments : object
    """
    try:
        return function(*arguments)
    except ImportError:  # which is not about this file
        raise
    except Exception as error:  # whatever a broken file leads to: the others have to be read
        if on_error is None:
            raise
        on_error(error)


# -- one file --------------------------------------------------------------------------------------


def read_file(path: Source, schema: GraphSchema) -> Graphs:
    """The graphs of a file; this call raises all errors, iterating over the result none.

    Parameters
    ----------
    path : Path, zipfile.Path or TableFiles
        A path has a suffix in :data:`FORMATS`.
    schema : GraphSchema
        The names of what is read, which some formats need to know.

    Raises
    ------
    ValueError
        If the file cannot be read.
    """
    if isinstance(path, TableFiles):
        return path.read(schema)
    if not path.is_file():  # opening a pipe would wait forever
        raise ValueError(f"{path} is not a regular file: leave it out")
    title, read, cure = FORMATS[suffix_of(path) or ""]
    try:
        return read(path, schema)
    except (UnreadableError, ImportError):  # not about the format
        raise
    except Exception as error:  # parsers raise many kinds of errors for broken files
        raise _unreadable(str(path), title, error, cure) from error


def node_link_graphs(text: str | bytes) -> list[nx.Graph]:
    """The graphs of a text in node-link JSON, such as a request to a web service.

    Parameters
    ----------
    text : str or bytes
        What a file would contain: what ``networkx.node_link_data`` returns, or a list of that.

    Returns
    -------
    list of networkx.Graph
        As :func:`iter_graphs` reads them.

    Raises
    ------
    ValueError
        If the text is something else. The message names the graph by its position.

    Examples
    --------
    >>> from skgraphkde.graphs.files import node_link_graphs
    >>> node_link_graphs('{"nodes": [{"id": "a"}, {"id": "b"}], "edges": []}')[0].nodes
    NodeView(('a', 'b'))
    """
    title, _, cure = FORMATS[".json"]
    try:
        return [graph for _, graph in parse_json(text)]
    except Exception as error:  # json and networkx raise many kinds of errors
        raise _unreadable("the text", title, error, cure) from error


def _unreadable(what: str, title: str, error: Exception, cure: str) -> ValueError:
    """The error of a file or text that cannot be read, with its cure."""
    why = reason(error).removeprefix(what).strip(" ,:")[:300]
    return ValueError(f"{what} cannot be read as {title} ({why}): {cure}")

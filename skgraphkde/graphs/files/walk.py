"""Read the graphs of files: paths -> graphs with the names of their files, or one batch of all.

The functions of this module take paths, as :func:`find_files` returns them. They keep no more
networkx graphs in memory than one file holds, or a chunk, and raise one error that names the file
and the cure. Nothing in a file is executed, fetched or unpacked to disk.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import networkx as nx

from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.graphs.files.common import DamagedError, Graphs, named, reason
from skgraphkde.graphs.files.csv import read_csv
from skgraphkde.graphs.files.gexf import read_gexf
from skgraphkde.graphs.files.gml import read_gml
from skgraphkde.graphs.files.graphml import read_graphml
from skgraphkde.graphs.files.joining import Part, joined, with_names
from skgraphkde.graphs.files.json import parse_json, read_json
from skgraphkde.graphs.files.mixed import warn_of_mixed
from skgraphkde.graphs.files.tu import read_tu
from skgraphkde.graphs.readers import read_graphs
from skgraphkde.graphs.schema import GraphSchema, closest_names, validated

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
FORMATS: dict[str, tuple[str, Callable[[Path, GraphSchema], Graphs], str]] = {
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
    ".zip": ("a set of the TU collection", read_tu, "give NAME.zip as downloaded"),
}
PACKED = ".zip"  # which is not packed once more, with gzip

# A chunk ends at this many graphs or nodes, whichever comes first.
CHUNK_GRAPHS, CHUNK_NODES = 1_000, 50_000

# Called with the error of a file or a graph, which is then skipped. None: raise the error.
OnError = Callable[[Exception], None] | None
Item = TypeVar("Item")


class FileGraph(NamedTuple):
    """A graph from a file."""

    name: str  # the path of the file, and "#0", "#1", ... if the file can hold many graphs
    nodes: Sequence[Any]  # the file's node ids, in the order of the batch
    batch: GraphBatch  # of this one graph


def suffix_of(path: Path) -> str | None:
    """The suffix that says what format a file has, without ".gz"; None if that is not known."""
    name = path.name.lower()
    suffix = os.path.splitext(name.removesuffix(".gz"))[1]
    is_known = suffix in FORMATS and not (suffix == PACKED and name.endswith(".gz"))
    return suffix if is_known else None


def iter_graphs(
    files: Iterable[Path], schema: GraphSchema | str | None = None, on_error: OnError = None
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
    for name, graph in _iter_graphs(files, validated(schema), on_error):
        yield name, _to_networkx(graph)


def _iter_graphs(
    files: Iterable[Path], schema: GraphSchema, on_error: OnError
) -> Iterator[tuple[str, nx.Graph | GraphBatch]]:
    """Like :func:`iter_graphs`, but large graphs may be batches of one."""
    for path in files:
        for position, graph in attempt(on_error, read_file, path, schema) or ():
            yield f"{path}{position}", graph


def _to_networkx(graph: nx.Graph | GraphBatch) -> nx.Graph:
    return graph.to_networkx()[0] if isinstance(graph, GraphBatch) else graph


def read_files(
    files: Iterable[Path], schema: GraphSchema | str | None = None, on_error: OnError = None
) -> Iterator[FileGraph]:
    """Like :func:`iter_graphs`, but check each graph and convert it to a batch of one.

    With ``missing="indicate"`` the data that the schema names may be missing in a whole graph.
    """
    schema = validated(schema)
    for name, graph in _iter_graphs(files, schema, on_error):
        batch = attempt(on_error, _read, [name], [graph], schema, {})
        if batch is not None:
            nodes = range(batch.n_nodes) if isinstance(graph, GraphBatch) else list(graph)
            yield FileGraph(name, nodes, batch)


def chunks(graphs: Iterable[FileGraph]) -> Iterator[list[FileGraph]]:
    """Group graphs into lists that are small enough for memory and worth processing together."""
    return _grouped(graphs, lambda graph: graph.batch.n_nodes)


def _grouped(items: Iterable[Item], n_nodes_of: Callable[[Item], int]) -> Iterator[list[Item]]:
    chunk: list[Item] = []
    n_nodes = 0
    for item in items:
        chunk.append(item)
        n_nodes += n_nodes_of(item)
        if len(chunk) == CHUNK_GRAPHS or n_nodes >= CHUNK_NODES:
            yield chunk
            chunk, n_nodes = [], 0
    if chunk:
        yield chunk


def read_batch(
    files: Iterable[Path], schema: GraphSchema | str | None = None, on_error: OnError = None
) -> GraphBatch:
    r"""Read all graphs of files into one batch; the parameters are those of :func:`iter_graphs`.

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
    schema = validated(schema)
    found: dict[tuple[str, str], None] = {}
    parts = []
    for chunk in _grouped(_iter_graphs(files, schema, on_error), lambda item: _n_nodes(item[1])):
        part = _read_part(chunk, schema, found, on_error)
        parts += [] if part is None else [part]
    if not parts:
        raise ValueError("none of the files can be read as graphs")
    if schema.missing == "indicate":
        _check_named(parts, schema, found)
    batch = joined(parts, schema)
    warn_of_mixed([name for part in parts for name in part.names], batch, schema)
    return batch


def _n_nodes(graph: nx.Graph | GraphBatch) -> int:
    return graph.n_nodes if isinstance(graph, GraphBatch) else len(graph)


def _read_part(
    chunk: list[tuple[str, nx.Graph | GraphBatch]],
    schema: GraphSchema,
    found: dict[tuple[str, str], None],
    on_error: OnError,
) -> Part | None:
    """Graphs that are read together; those that cannot be read go to `on_error`."""
    names, graphs = [name for name, _ in chunk], [graph for _, graph in chunk]
    try:
        return Part(names, _read(names, graphs, schema, found))
    except ValueError as error:
        if on_error is None:
            raise
        of_all = error
    readable: list[tuple[str, nx.Graph | GraphBatch]] = []
    errors: list[Exception] = []
    for name, graph in chunk:
        if attempt(errors.append, _read, [name], [graph], schema, {}) is not None:
            readable.append((name, graph))
    if not readable and str(of_all).startswith("none of"):
        errors = [of_all]
    for of_one in errors:
        on_error(of_one)
    # What is wrong with none of them alone, such as data that only some have, is about all of them.
    return _read_part(readable, schema, found, None) if readable else None


def attempt(on_error: OnError, function: Callable, *arguments: Any) -> Any:
    """Call a function; if it raises an error, pass that to `on_error` and return None."""
    try:
        return function(*arguments)
    except ImportError:  # which is not about this file
        raise
    except Exception as error:  # whatever a broken file leads to: the others have to be read
        if on_error is None:
            raise
        on_error(error)


# -- one file --------------------------------------------------------------------------------------


def read_file(path: Path, schema: GraphSchema) -> Graphs:
    """The graphs of a file; this call raises all errors, iterating over the result none.

    Parameters
    ----------
    path : Path
        With a suffix in :data:`FORMATS`.
    schema : GraphSchema
        The names of what is read, which some formats need to know.

    Raises
    ------
    ValueError
        If the file cannot be read.
    """
    if not path.is_file():  # opening a pipe would wait forever
        raise ValueError(f"{path} is not a regular file: leave it out")
    title, read, cure = FORMATS[suffix_of(path) or ""]
    try:
        return read(path, schema)
    except (DamagedError, ImportError):  # not about the format
        raise
    except MemoryError as error:
        raise ValueError(f"{path} takes more memory than there is: leave it out") from error
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
    """What cannot be read, why, and what to do."""
    why = reason(error).removeprefix(what).strip(" ,:")[:300]
    return ValueError(f"{what} cannot be read as {title} ({why}): {cure}")


# -- networkx -> GraphBatch ------------------------------------------------------------------------


def _read(
    names: list[str],
    graphs: list[nx.Graph | GraphBatch],
    schema: GraphSchema,
    found: dict[tuple[str, str], None],
) -> GraphBatch:
    """A batch of graphs, which may be changed; adds the names of their data to `found`."""
    if schema.missing == "indicate":
        graphs = list(map(_to_networkx, graphs))
        _note_missing(graphs, schema, found)
    try:
        return read_graphs(graphs, schema=schema)
    except (TypeError, ValueError, ArithmeticError) as error:
        raise ValueError(with_names(str(error), names)) from error


def _note_missing(
    graphs: list[nx.Graph], schema: GraphSchema, found: dict[tuple[str, str], None]
) -> None:
    """Say of data that the schema names, and that none of these graphs has, that it is missing.

    Other graphs may have it.
    """
    for part in ("node", "edge"):
        present: dict[str, None] = {}
        first: dict[str, Any] | None = None
        for graph in graphs:
            records = graph.nodes(data=True) if part == "node" else graph.edges(data=True)
            for *_, data in records:
                first = data if first is None else first
                present.update({name: None for name, value in data.items() if value is not None})
        found.update(dict.fromkeys((part, name) for name in present))
        for name in named(schema, part):
            if name not in present and first is not None and name != schema.edge_weight:
                first[name] = None


def _check_named(parts: list[Part], schema: GraphSchema, found: Iterable[tuple[str, str]]) -> None:
    """Check that some graph has each of the names in the schema."""
    names = [name for part in parts for name in part.names]
    who = f"{names[0]} has no" if len(names) == 1 else "no graph has the"
    has_edges = any(part.batch.adjacency.nnz for part in parts)
    for part in ("node", "edge") if has_edges else ("node",):
        present = [name for owner, name in found if owner == part]
        for name in named(schema, part):
            if name not in present:
                raise ValueError(
                    f"{who} {part} attribute {name!r}, which the schema names: {part}s have "
                    f"{closest_names(name, present) or 'no attributes'}"
                )

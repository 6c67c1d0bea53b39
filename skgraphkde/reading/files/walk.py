"""Read the graphs of files: paths -> graphs with the names of their files, or one batch of all.

:func:`find_files` finds the files in folders and zips, in order. The others take these. They keep
no more networkx graphs in memory than one file holds, and raise one error that names the file and
the remedy. Nothing in a file is executed, fetched or unpacked to disk.
"""

from __future__ import annotations

import os
import posixpath
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain, groupby
from pathlib import Path
from typing import Any, NamedTuple

import networkx as nx
import numpy as np
from sklearn.base import clone

from skgraphkde._messages import listed, shown
from skgraphkde._utils import during, progress, warn
from skgraphkde.core.graphs.batch import GraphBatch
from skgraphkde.core.graphs.problems import GraphError
from skgraphkde.core.graphs.schema import (
    CONVENTIONS,
    PARTS,
    FittedSchema,
    GraphSchema,
    names_in_schema,
    validated,
)
from skgraphkde.reading.assembly import assemble, is_number
from skgraphkde.reading.cases import CaseRule, graphs_of_cases, tables_of_graph
from skgraphkde.reading.files.beside import Beside
from skgraphkde.reading.files.common import (
    DAMAGED,
    AnyPath,
    Graphs,
    name_of,
    open_zip,
    read_content,
)
from skgraphkde.reading.files.csv import is_node_table, read_csv, table_beside
from skgraphkde.reading.files.dot import read_dot
from skgraphkde.reading.files.gml import read_gml
from skgraphkde.reading.files.json import graphs_of, parse_json
from skgraphkde.reading.files.logs import Cases, SpanFiles, are_spans, read_spans, read_xes
from skgraphkde.reading.files.matrices import HAS_WEIGHTS, read_mat, read_npy, read_npz
from skgraphkde.reading.files.molecules import read_sdf, read_smi
from skgraphkde.reading.files.pajek import read_pajek
from skgraphkde.reading.files.tables import (
    NO_OPTIONS,
    NUMBER,
    TableFiles,
    decimal_mark,
    read_cells,
    tables_in,
    unclear,
    warn_of_unclear,
)
from skgraphkde.reading.files.tu import read_tu
from skgraphkde.reading.files.xml import read_gexf, read_graphml
from skgraphkde.reading.formats.common import Graph, is_missing
from skgraphkde.reading.formats.networkx import read_networkx
from skgraphkde.reading.problems import UnreadableError
from skgraphkde.reading.selection import align_to_schema
from skgraphkde.reading.truth import Truth

__all__ = [
    "find_files",
    "iter_graphs",
    "node_link_graphs",
    "read_batch",
]


@dataclass(frozen=True)
class SplitFile:
    """A file of a graph that is split into cases.

    Parameters
    ----------
    path : Path or zipfile.Path
    rule : CaseRule
    """

    path: AnyPath
    rule: CaseRule

    @property
    def files(self) -> list[AnyPath]:
        """The file."""
        return [self.path]

    def __str__(self) -> str:
        return str(self.path)

    def read(self, schema: GraphSchema, options: Mapping[str, str]) -> Graphs:
        """The cases of each graph of the file.

        Parameters
        ----------
        schema : GraphSchema
            What is read.
        options : mapping of str
            As for :func:`iter_graphs`.
        """
        found: list[tuple[str, Any]] = []
        for position, graph in read_file(self.path, schema, options):
            if isinstance(graph, ValueError):
                found.append((position, graph))
                continue
            columns = {"graph": "case", "source": "source", "target": "target", "node": "node"}
            edges, nodes, _ = tables_of_graph(graph, columns)
            cases = graphs_of_cases(self.rule, edges, nodes, columns, graph.is_directed())
            found += [(f"{position}#{name}", x) for name, x in cases.items()]
        return found


#: Where graphs come from: a file of one or many, also in a zip; tables; a graph that is split; or
#: spans in many files.
Source = Path | zipfile.Path | TableFiles | SpanFiles | SplitFile


class Format(NamedTuple):
    """A format of files."""

    title: str
    read: Callable[..., Graphs]
    cure: str  # what to do if a file cannot be read
    has_options: bool = False


def _read_json(path: AnyPath, schema: GraphSchema) -> Graphs:
    """Graphs, or the spans of OpenTelemetry."""
    content = read_content(path)
    return read_spans(path, content, schema) if are_spans(content) else parse_json(content, schema)


AGAIN = "correct it, or export it again from the program that holds the graph"
NODE_LINK = (
    "write what networkx.node_link_data returns, or a list of such graphs; edges have the ids of "
    "nodes, or positions of nodes that have no ids; of spans, write what OpenTelemetry exports in "
    "JSON (--spans in the shell, if a trace is in many files)"
)
TABLE = Format(
    "an edge list",
    read_csv,
    'write edges in rows under "source" and "target", or "from" and "to", and data of nodes, if '
    'there are any, in NAME.nodes.csv, in rows under "id"',
    has_options=True,
)

MATRIX = "save square arrays of numbers, one for each graph, or all in one array (graphs, n, n)"

#: The formats by their suffixes.
FORMATS = {
    ".graphml": Format("GraphML", read_graphml, AGAIN),
    ".gml": Format("GML", read_gml, AGAIN),
    ".json": Format("node-link JSON", _read_json, NODE_LINK),
    ".jsonl": Format("JSON in lines", _read_json, NODE_LINK),
    ".cyjs": Format("JSON of Cytoscape", _read_json, AGAIN),
    ".gexf": Format("GEXF", read_gexf, AGAIN),
    ".csv": TABLE,
    ".tsv": TABLE,
    ".xes": Format("an event log", read_xes, "write it with pm4py.write_xes", has_options=True),
    ".smi": Format("SMILES", read_smi, "write a SMILES and a name in each line", has_options=True),
    ".npy": Format("a matrix of NumPy", read_npy, MATRIX),
    ".npz": Format("matrices of NumPy", read_npz, MATRIX),
    ".mat": Format("matrices of MATLAB", read_mat, MATRIX),
    ".dot": Format("DOT", read_dot, AGAIN),
    ".gv": Format("DOT", read_dot, AGAIN),
    ".net": Format("Pajek", read_pajek, AGAIN),
    ".sdf": Format("SDF", read_sdf, "write it with rdkit.Chem.SDWriter"),
    ".zip": Format(
        "a set of the TU collection",
        read_tu,
        "give NAME.zip as downloaded, or a zip of graph files, or of tables called edges.csv, "
        "nodes.csv and graphs.csv; or unpack it, and give its table of edges with --graph-column",
    ),
}
CSV = (".csv", ".tsv")
PACKED = ".zip"  # which is not packed once more, with gzip

# How the tables begin that commands and pages write, which may lie among the graphs.
OF_COMMANDS = (
    b"graph,score,",
    b"graph,node,contribution,",
    b"graph,verdict",
    b'{"graph":"',
)
HIDDEN = (".", "__MACOSX")  # begin the names of files and folders that nobody means

# Called with the error of a file or a graph, which is then skipped. None: raise the error.
OnError = Callable[[Exception], None] | None


def suffix_of(path: AnyPath) -> str | None:
    """The suffix that says what format a file has, without ".gz"; None if that is not known."""
    name = path.name.lower()
    suffix = os.path.splitext(name.removesuffix(".gz"))[1]
    is_known = suffix in FORMATS and not (suffix == PACKED and name.endswith(".gz"))
    return suffix if is_known else None


# -- finding ---------------------------------------------------------------------------------------


def find_files(
    paths: Iterable[str | os.PathLike],
    on_error: OnError = None,
    tables: Mapping[str, str] = NO_OPTIONS,
    options: Mapping[str, str] = NO_OPTIONS,
) -> list[Source]:
    """Find the graph files among paths.

    Parameters
    ----------
    paths : iterable of str or path-like
        Files, and folders that are searched with their subfolders, each once, also behind symbolic
        links. Hidden files and folders are skipped. A table of nodes, ``NAME.nodes.csv``, is no
        graph of its own: it is read with the edge list ``NAME.csv``. A folder or a zip may have
        tables of many graphs instead, ``edges.csv``, ``nodes.csv`` and ``graphs.csv``. A zip of
        graph files is read as a folder. Tables, pages and models that the shell commands have
        written into a folder are left out, and so are other files, with a warning.
    on_error : callable, default=None
        Called with the error of each path that cannot be used, and of each subfolder that cannot be
        searched, which are then skipped. None: raise the error.
    tables : mapping, default={}
        Fields of :class:`TableFiles`, such as "graph", the column of the graph, by which tables of
        many graphs are found that have other names.
    options : mapping, default={}
        How these are written, as for :func:`iter_graphs`.

    Returns
    -------
    list of Path, zipfile.Path or TableFiles
        In the order of `paths`; the files of a folder are sorted and come before those of its
        subfolders.

    Raises
    ------
    ValueError
        If a path does not exist, a folder contains no graph file, or a file has another suffix.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from skgraphkde.reading.files import find_files
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Path(folder, "b.gml").touch()
    ...     Path(folder, "a.json.gz").touch()
    ...     [path.name for path in find_files([folder])]
    ['a.json.gz', 'b.gml']
    """
    refuse = on_error or _raise
    known = (
        f"{', '.join(FORMATS)}; all but {PACKED} also as .gz; tables of many graphs, with "
        "--graph-column in the shell, also as .parquet"
    )
    files: list[Source] = []
    for path in map(Path, paths):
        if path.is_dir():
            found = list(_sources_in(_folders_of(path, refuse), tables, options))
            files += found
            if not found:
                refuse(ValueError(f"the folder {path} contains no graph file ({known})"))
        elif not path.exists():
            refuse(
                ValueError(f"{path} does not exist: give a graph file or a folder of graph files")
            )
        elif suffix_of(path) is None:
            refuse(
                ValueError(f"{path} does not have the suffix of a graph file: give one of {known}")
            )
        else:
            files += _sources_of(path, tables, options)
    for i, source in enumerate(files):
        if isinstance(source, TableFiles) and len(files) > 1:  # whose graphs may share names
            files[i] = replace(source, prefix=f"{Path(str(source.edges)).parent}#")
    return files


def _sources_of(
    path: AnyPath, given: Mapping[str, str], options: Mapping[str, str]
) -> list[Source]:
    """The tables and graph files in a zip that has some, or else the file itself.

    A table of nodes is no source beside its edge list, and a zip in a zip is not opened.
    """
    if is_node_table(path) and table_beside(path, "") is not None:
        return []
    if suffix_of(path) != PACKED or not path.is_file():
        return [path]
    if not isinstance(path, Path):
        return []
    try:
        archive = open_zip(path)
    except (UnreadableError, OSError):  # which its reader says
        return [path]
    return list(_sources_in(_folders_in(archive), given, options, in_zip=True)) or [path]


def _sources_in(
    folders: Iterable[list[AnyPath]],
    given: Mapping[str, str],
    options: Mapping[str, str],
    *,
    in_zip: bool = False,
) -> Iterator[Source]:
    """The tables and graph files of folders; a warning counts the other files, but for ours."""
    others = Counter[str]()
    for every in folders:
        tables = tables_in(every, given, options, with_edges_alone=in_zip)
        read = set()
        if tables is not None:
            yield tables
            read = {str(path) for path in tables.files}
        rest = [path for path in every if str(path) not in read]
        others.update(
            path.suffix or path.name
            for path in rest
            if suffix_of(path) is None and path.suffix not in (".html", ".skg")
        )
        for path in filter(_is_graph, rest):
            yield from _sources_of(path, given, options)
    if others and not in_zip:
        warn(f"left out, as no graph files: {listed([f'{n} {x}' for x, n in others.items()])}")


def _folders_of(folder: Path, refuse: Callable[[Exception], None]) -> Iterator[list[AnyPath]]:
    """The files in a folder, and in each of its subfolders."""
    searched = set()
    for here, subfolders, names in os.walk(folder, onerror=refuse, followlinks=True):
        real = os.path.realpath(here)
        if real in searched:  # by a link to it, or to a folder above
            subfolders.clear()
            continue
        searched.add(real)
        subfolders[:] = sorted(name for name in subfolders if not name.startswith(HIDDEN))
        yield [Path(here, name) for name in sorted(names) if not name.startswith(HIDDEN)]


def _folders_in(archive: zipfile.ZipFile) -> Iterator[list[AnyPath]]:
    """The files in each folder of a zip."""
    names = sorted(archive.namelist(), key=lambda name: (posixpath.dirname(name), name))
    for _, group in groupby(names, posixpath.dirname):
        files: list[AnyPath] = []
        for name in group:
            parts = posixpath.normpath(name).split("/")  # "./a" is "a"
            is_hidden = any(part.startswith(HIDDEN) for part in parts)
            if not is_hidden and not name.endswith("/"):
                files.append(zipfile.Path(archive, name))
        yield files


def _is_graph(path: AnyPath) -> bool:
    """True for a file that has a known suffix and is no table of ours."""
    if suffix_of(path) is None:
        return False
    if path.suffix.lower() not in (".csv", ".jsonl") or not path.is_file():
        return True
    try:
        with path.open("rb") as file:
            start = file.read(100).removeprefix(b"\xef\xbb\xbf").replace(b";", b",")
    except DAMAGED:  # which its reader says
        return True
    return not start.startswith(OF_COMMANDS)


def _raise(error: Exception) -> None:
    raise error


# -- reading ---------------------------------------------------------------------------------------


def iter_graphs(
    files: Iterable[Source],
    schema: GraphSchema | str | None = None,
    on_error: OnError = None,
    options: Mapping[str, str] = NO_OPTIONS,
) -> Iterator[tuple[str, nx.Graph]]:
    """Read files one by one.

    Parameters
    ----------
    files : iterable of Path
        As returned by :func:`find_files`. The CSVs of a sequence have one decimal mark, if those in
        which it is clear agree.
    schema : GraphSchema, "all" or None, default=None
        What is to be read, which some formats need to know. None is ``GraphSchema()``.
    on_error : callable, default=None
        Called with the error of each file that cannot be read, which is then skipped. None: raise
        the error.
    options : mapping of str, default={}
        How tables are written: "separator", "encoding", "decimal"; the "smiles_column" of a table
        of molecules; and the columns of an event log: "case", "activity", "timestamp", "resource",
        "start".

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
    >>> from skgraphkde.reading.files import find_files, iter_graphs
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     nx.write_graphml(nx.path_graph(3), f"{folder}/path.graphml")
    ...     [(name[-12:], len(graph)) for name, graph in iter_graphs(find_files([folder]))]
    [('path.graphml', 3)]
    """
    schema = validated(schema)
    files = list(files)
    refuse = on_error or _raise
    options = with_decimal_mark(files, options)
    columns = list[str]()
    log_of_case = dict[str, str]()
    in_two = list[str]()
    for path in progress(files):
        unclear.set(columns)
        found = attempt(refuse, read_file, path, schema, options) or ()
        of_log = isinstance(found, Cases)
        is_parsed = isinstance(found, list)  # which takes half of the time; else, one by one
        with during(0.5 * is_parsed, 1.0):
            for position, graph in progress(found) if is_parsed else found:
                name = f"{name_of(path)}{position}"
                if of_log and position in log_of_case:
                    in_two.append(f"{position[1:]!r} in {log_of_case[position]} and {path}")
                log_of_case[position] = str(path)
                if isinstance(graph, GraphError):  # which names its graph
                    refuse(graph)
                elif isinstance(graph, ValueError):
                    refuse(ValueError(f"{name}: {graph}"))
                else:
                    yield name, graph
    warn_of_unclear(columns)
    if in_two:
        warn(
            f"cases are in two event logs, and are read as two graphs each: {listed(in_two)}; join "
            "the files into one log if they go on"
        )


def read_batch(
    files: Iterable[Source],
    schema: GraphSchema | FittedSchema | str | None = None,
    on_error: OnError = None,
    options: Mapping[str, str] = NO_OPTIONS,
    truth: Truth | None = None,
    beside: Beside | None = None,
) -> GraphBatch:
    r"""Read all graphs of files into one batch.

    Parameters
    ----------
    files : iterable of Path
    schema : GraphSchema, FittedSchema, "all" or None, default=None
        A FittedSchema is that of a detector: each graph must have the data that it reads.
    on_error : callable, default=None
    options : mapping of str, default={}
        As in :func:`iter_graphs`.
    truth : Truth, default=None
        Takes its column out of the data; ``truth.verdicts(batch.names)`` is then what it says.
    beside : Beside, default=None
        Gets what the files say besides, such as the rows of which each graph is a case.

    Raises
    ------
    ValueError
        If a file cannot be read, no graph has a name in the schema, or graphs differ in their data,
        which is about all of them and not for `on_error`; or if no graph can be read.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from skgraphkde.reading.files import find_files, read_batch
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name, flow in (("a", 2.5), ("b", 3.0)):
    ...         _ = Path(folder, f"{name}.csv").write_text(f"from,to,flow\np,q,{flow}\nq,r,1\n")
    ...     read_batch(find_files([folder]), "all")
    GraphBatch(n_graphs=2, n_nodes=6, n_arcs=4, n_edge_attributes=1)
    """
    known = schema if isinstance(schema, FittedSchema) else None
    schema = validated(schema) if known is None else known.to_schema()
    files = list(files)
    graphs = list[Graph]()
    refuse = on_error or _raise
    named = names_in_schema(schema, "node")
    if named and files and all(isinstance(x, TableFiles) and x.nodes is None for x in files):
        raise ValueError(
            f"a table of nodes is missing, which would have {listed([repr(x) for x in named])}: "
            "give it, too (--nodes in the shell)"
        )

    truth = truth or Truth(None)
    of_matrices = _with_entries(schema)
    have_weights: list[bool | None] = []  # None for a graph that is not of a matrix
    of_readers = schema
    if truth.column:
        of_readers = truth.schema_of_readers(schema)
        options = {**options, "truth": truth.column}

    beside = beside or Beside()
    beside.open(of_readers, options)

    def read(name: str, graph: nx.Graph) -> None:
        """Keep the data that may be read, in less memory than that of networkx."""
        has_weights = graph.graph.pop(HAS_WEIGHTS, None)
        beside.give(name, graph)
        if truth.column:
            truth.take(name, graph)
        beside.take(name, graph)
        of_format = schema if has_weights is None else of_matrices
        graphs.append(replace(read_networkx(name, graph, of_format), name=name))
        have_weights.append(has_weights)

    with during(0.0, 0.9), truth.kept_apart():
        for name, graph in iter_graphs(files, of_readers, on_error, options):
            attempt(refuse, read, name, graph)
    beside.close()
    are_matrices = None not in have_weights and any(have_weights)
    of_all = of_matrices if are_matrices else schema
    try:
        batch = _assemble(graphs, of_all, known)
    except ValueError as error:
        is_of_one = known is not None or (isinstance(error, GraphError) and error.graph is not None)
        if on_error is None or not is_of_one:
            raise
        usable = []
        for graph in graphs:
            if attempt(refuse, _assemble, [graph], of_all, known, True) is not None:
                usable.append(graph)
        # What is wrong with none of them alone, such as data that only some have, is about all.
        batch = _assemble(usable, of_all, known)
    _warn_mixed(batch, of_all)
    return batch


def _with_entries(schema: GraphSchema) -> GraphSchema:
    """The schema that reads the entries of matrices, unless it says what is read of edges."""
    says_edges = schema.edge_numbers != "auto" or schema.edge_weight is not None
    return schema if says_edges else clone(schema).set_params(edge_numbers="weight")


def _assemble(
    graphs: list[Graph],
    schema: GraphSchema,
    known: FittedSchema | None = None,
    may_lack: bool = False,
) -> GraphBatch:
    """A batch of all graphs; with the columns of a detector, if its schema is known."""
    if not graphs:
        raise ValueError("no graph can be read from the files: a table without rows has none")
    batch = assemble(graphs, schema, known, may_lack=may_lack)
    return batch if known is None else align_to_schema(batch, known)


def _warn_mixed(batch: GraphBatch, schema: GraphSchema) -> None:
    """Warn of attributes that "all" reads as categories only because of a few values."""
    for part in PARTS:
        kind = f"{part}_categories"
        labels = batch.data(part).labels
        if labels is None or not schema.is_all(kind):
            continue
        for name, values in batch.values_by_category(part).items():
            is_given = np.array([not is_missing(x) for x in values])[labels]
            is_other = is_given & np.array([not is_number(x) for x in values])[labels]
            if name in CONVENTIONS[kind] or not 0 < is_other.sum() < is_given.sum() / 2:
                continue
            # Numbers may be text, too, in a file in which one value is none.
            found = np.flatnonzero(is_other)
            k = next((k for k in found if not NUMBER.fullmatch(str(values[labels[k]]))), found[0])
            graph = (batch.names or ())[batch.owner(part)[k]]
            warn(
                f"{graph} has {shown(values[labels[k]])!r} as {part} attribute {name!r}, which is "
                "a number nearly everywhere else: it is read as a category. Correct the value, or "
                "leave it empty with missing='indicate' in the GraphSchema (--missing indicate in "
                "the shell)"
            )


def attempt(refuse: Callable[[Exception], None], function: Callable, *arguments: Any) -> Any:
    """Call a function; if it raises an error, pass that to `refuse` and return None.

    Parameters
    ----------
    refuse : callable
    function : callable
    *arguments : object
    """
    try:
        return function(*arguments)
    except ImportError:  # which is not about this file
        raise
    except Exception as error:  # whatever a broken file leads to: the others have to be read
        refuse(error)


def with_decimal_mark(files: Sequence[Source], options: Mapping[str, str]) -> Mapping[str, str]:
    """The options, with the decimal mark that CSVs say, if there are several and they agree.

    Parameters
    ----------
    files : sequence of Path
    options : mapping
    """
    if len(files) < 2 or "decimal" in options:
        return options
    marks = set[Any]()
    for path in chain.from_iterable(map(files_of, files)):
        if suffix_of(path) in CSV and path.is_file():
            # Reading will raise and warn.
            with warnings.catch_warnings(action="ignore"), suppress(Exception):
                marks.add(decimal_mark(read_cells(path, options)))
    marks.discard(None)
    return {**options, "decimal": marks.pop()} if len(marks) == 1 else options


def files_of(source: Source) -> list[AnyPath]:
    """The files of a source: tables or spans of many graphs; an edge list and the nodes beside it.

    Parameters
    ----------
    source : Path, zipfile.Path, TableFiles, SpanFiles or SplitFile
    """
    if isinstance(source, TableFiles | SpanFiles | SplitFile):
        return list(source.files)
    nodes = table_beside(source, ".nodes") if suffix_of(source) in CSV else None
    return [source] if nodes is None else [source, nodes]


# -- one file --------------------------------------------------------------------------------------


def read_file(path: Source, schema: GraphSchema, options: Mapping[str, str]) -> Graphs:
    """The graphs of a file; this call raises all errors, iterating over the result none.

    Parameters
    ----------
    path : Path, zipfile.Path, TableFiles, SpanFiles or SplitFile
        A path has a suffix in :data:`FORMATS`.
    schema : GraphSchema
        The names of what is read, which some formats need to know.
    options : mapping
        As in :func:`iter_graphs`.

    Raises
    ------
    ValueError
        If the file cannot be read.
    """
    if isinstance(path, TableFiles | SpanFiles | SplitFile):
        return path.read(schema, options)
    if not path.is_file():  # opening a pipe would wait forever
        raise ValueError(f"{path} is not a regular file: leave it out")
    form = FORMATS[suffix_of(path) or ""]
    arguments = [path, schema, options] if form.has_options else [path, schema]
    return _read_as(form, str(path), lambda: form.read(*arguments))


def node_link_graphs(content: Any) -> list[nx.Graph]:
    """The graphs of a text in node-link JSON, such as a request to a web service.

    Parameters
    ----------
    content : str, bytes, dict or list
        What a file would contain: what ``networkx.node_link_data`` returns, or a list of that; or
        what a parser of JSON makes of it.

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
    >>> from skgraphkde.reading.files import node_link_graphs
    >>> node_link_graphs('{"nodes": [{"id": "a"}, {"id": "b"}], "edges": []}')[0].nodes
    NodeView(('a', 'b'))
    """
    is_text = isinstance(content, str | bytes)
    what, parse = ("the text", parse_json) if is_text else ("the document", graphs_of)
    graphs = _read_as(FORMATS[".json"], what, lambda: parse(content, GraphSchema()))
    return [graph for _, graph in graphs]


def _read_as(form: Format, what: str, read: Callable[[], Graphs]) -> Graphs:
    """The graphs of a file or text, or an error that says how to mend it."""
    try:
        return read()
    except (UnreadableError, ImportError):  # not about the format
        raise
    except Exception as error:  # parsers raise many kinds of errors for broken files
        why = repr(error) if isinstance(error, KeyError) else str(error) or type(error).__name__
        why = why.removeprefix(what).strip(" ,:")[:300]
        raise ValueError(f"{what} cannot be read as {form.title} ({why}): {form.cure}") from error

"""Read the graphs of sources: one at a time, with the names of their files, or one batch of all.

No more networkx graphs are in memory than one file holds, and one error names the file and the
remedy.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from typing import Any

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
from skgraphkde.reading.files.beside import Beside
from skgraphkde.reading.files.common import (
    name_of,
)
from skgraphkde.reading.files.logs import Cases
from skgraphkde.reading.files.matrices import HAS_WEIGHTS
from skgraphkde.reading.files.sources import CSV, Source, files_of, read_file, suffix_of
from skgraphkde.reading.files.tables import (
    ENDS,
    NO_OPTIONS,
    TableFiles,
    decimal_mark,
    read_cells,
    unclear,
    warn_of_unclear,
)
from skgraphkde.reading.files.walk import OnError, raise_error
from skgraphkde.reading.formats.common import Graph, is_missing
from skgraphkde.reading.formats.networkx import read_networkx
from skgraphkde.reading.problems import UnreadableError
from skgraphkde.reading.selection import align_to_schema
from skgraphkde.reading.truth import Truth


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
    refuse = on_error or raise_error
    options = with_decimal_mark(files, options)
    columns = list[str]()
    log_of_case = dict[str, str]()
    in_two = list[str]()
    for path in progress(files):
        before = unclear.set(columns)
        try:
            found = attempt(refuse, read_file, path, schema, options) or ()
        finally:
            unclear.reset(before)
        of_log = isinstance(found, Cases)
        is_parsed = isinstance(found, list)  # which takes half of the time; else, one by one
        with during(0.5 * is_parsed, 1.0):
            for position, graph in progress(found) if is_parsed else found:
                name = f"{name_of(path)}{position}"
                if of_log and position in log_of_case:
                    in_two.append(f"{position[1:]!r} in {log_of_case[position]} and {path}")
                log_of_case[position] = str(path)
                if isinstance(graph, GraphError | UnreadableError):  # complete
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
    refuse = on_error or raise_error
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
            are_numbers = any(map(is_number, values))
            is_plain = [is_number(x) or _seems_number(str(x)) for x in values]
            is_other = is_given & ~np.array(is_plain)[labels]
            most = (0.5 if are_numbers else FEW_WORDS) * is_given.sum()
            if name in CONVENTIONS[kind] or not 0 < is_other.sum() < most:
                continue
            k = int(is_other.argmax())
            graph = (batch.names or ())[batch.owner(part)[k]]
            warn(
                f"{graph} has {shown(values[labels[k]])!r} as {part} attribute {name!r}, which is "
                "a number nearly everywhere else: it is read as a category. Correct the value, or "
                "leave it empty with missing='indicate' in the GraphSchema (--missing indicate in "
                "the shell)"
            )


def _seems_number(text: str) -> bool:
    """True for text that is a number, also one such as 007."""
    try:
        float(text)
    except ValueError:
        return False
    return True


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


# If all others are texts that are numbers, so large a share of words are codes, and no mistake.
FEW_WORDS = 0.1
# Columns whose points are in no numbers, such as those of addresses.
OF_IDS = {*chain.from_iterable(ENDS), "id", "node", "graph"}


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
                cells = read_cells(path, options)
                marks.add(decimal_mark({k: x for k, x in cells.items() if k.lower() not in OF_IDS}))
    marks.discard(None)
    return {**options, "decimal": marks.pop()} if len(marks) == 1 else options

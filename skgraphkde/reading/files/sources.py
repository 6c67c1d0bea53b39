"""Sources: one file, tables or spans of many graphs, or a graph that is split -> networkx graphs.

:data:`FORMATS` has the formats by the suffixes of their files. Nothing in a file is executed,
fetched or unpacked to disk.
"""

from __future__ import annotations

import os
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import networkx as nx

from skgraphkde.core.graphs.schema import (
    GraphSchema,
)
from skgraphkde.reading.cases import ROWS, CaseRule, graphs_of_cases, tables_of_graph
from skgraphkde.reading.files.common import (
    AnyPath,
    Graphs,
    read_content,
)
from skgraphkde.reading.files.csv import read_csv, table_beside
from skgraphkde.reading.files.dot import read_dot
from skgraphkde.reading.files.gml import read_gml
from skgraphkde.reading.files.json import graphs_of, parse_json
from skgraphkde.reading.files.logs import SpanFiles, are_spans, read_spans, read_xes
from skgraphkde.reading.files.matrices import read_mat, read_npy, read_npz
from skgraphkde.reading.files.molecules import read_sdf, read_smi
from skgraphkde.reading.files.pajek import read_pajek
from skgraphkde.reading.files.tables import (
    TableFiles,
)
from skgraphkde.reading.files.tu import read_tu
from skgraphkde.reading.files.xml import read_gexf, read_graphml
from skgraphkde.reading.problems import UnreadableError


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
            edges, nodes, columns, _ = tables_of_graph(graph)
            cases = graphs_of_cases(self.rule, edges, nodes, columns, graph.is_directed())
            for case in cases.values():
                if isinstance(case, nx.Graph):
                    del case.graph[ROWS]  # a file of one graph has none
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


def suffix_of(path: AnyPath) -> str | None:
    """The suffix that says what format a file has, without ".gz"; None if that is not known."""
    name = path.name.lower()
    suffix = os.path.splitext(name.removesuffix(".gz"))[1]
    is_known = suffix in FORMATS and not (suffix == PACKED and name.endswith(".gz"))
    return suffix if is_known else None


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

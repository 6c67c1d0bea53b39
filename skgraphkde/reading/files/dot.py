"""DOT, the language of Graphviz -> networkx graphs, read by pydot (``pip install pydot``).

Nodes and edges of subgraphs are read as well, and the "cluster" that a node is in. What says how
they are drawn is not, but for labels.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import networkx as nx

from skgraphkde._messages import listed
from skgraphkde._utils import warn
from skgraphkde.core.graphs.schema import GraphSchema, names_in_schema
from skgraphkde.reading.files.common import (
    AnyPath,
    Graphs,
    build_graph,
    decoded,
    read_content,
    single_or_numbered,
)
from skgraphkde.reading.files.tables import records

# Statements that set defaults, which pydot lists among the nodes.
DEFAULTS = ("node", "edge", "graph")
# How Graphviz draws nodes and edges.
DRAWING = {
    *("pos", "width", "height", "shape", "style", "color", "fillcolor", "fontname", "fontsize"),
    *("fontcolor", "penwidth", "margin", "lp", "arrowhead", "arrowtail", "arrowsize", "dir"),
    *("constraint", "minlen", "rank", "rankdir", "peripheries", "tooltip", "URL", "href", "lwidth"),
    *("lheight", "rects", "labelangle", "labeldistance", "headport", "tailport", "ordering"),
    *("lhead", "ltail", "colorscheme", "bgcolor", "splines", "concentrate", "_draw_", "_ldraw_"),
}


def read_dot(path: AnyPath, schema: GraphSchema) -> Graphs:
    """The graphs of a file in DOT.

    Parameters
    ----------
    path : Path or zipfile.Path
    schema : GraphSchema
        The names of what is read.
    """
    text = decoded(read_content(path))
    with warnings.catch_warnings(action="ignore", category=DeprecationWarning):  # of pyparsing
        try:
            from pydot.dot_parser import GraphParser
        except ImportError as error:
            raise ImportError(f"{path} is read by pydot 4: pip install pydot") from error
        # All of the text: pydot itself stops at an error.
        found = GraphParser.parser.parse_string(text, parse_all=True)
    return single_or_numbered([_graph(path, x, schema) for x in found])


def _graph(path: AnyPath, document: Any, schema: GraphSchema) -> nx.Graph:
    """The graph of a document of pydot, with what its subgraphs have."""
    nodes: dict[str, dict[str, str]] = {}
    edges: list[tuple[str, str, dict[str, str]]] = []
    defaults = dict[str, None]()
    for part in _with_subgraphs(document.obj_dict):
        cluster = _cluster(part)
        for written, found in part["nodes"].items():
            data = {x: value for one in found for x, value in one["attributes"].items()}
            if written in DEFAULTS:
                defaults |= {name: None for name in data if name not in DRAWING}
            elif written == "subgraph":  # as pydot reads one that is named again
                raise ValueError(
                    "a subgraph is named where it was listed before: list its nodes in braces"
                )
            elif written != '"\\n"':  # as pydot reads an empty line
                nodes.setdefault(_plain(written), {}).update(cluster | data)
        for edge in _edges_of(part):
            source, target = edge["points"]
            for u in _ends(source):
                for v in _ends(target):
                    edges.append((u, v, dict(edge["attributes"])))
                    for end in (u, v):
                        nodes.setdefault(end, {}).update(cluster)
    if defaults:
        warn(f"{path}: defaults of nodes and edges are not read: {listed(list(defaults))}")
    is_directed = document.get_type() == "digraph"
    is_strict = bool(document.obj_dict.get("strict"))
    joined = []
    seen = set[tuple[str, str]]()
    of_edges = _typed(path, [data for *_, data in edges], schema, "edge")
    for (u, v, written_data), values in zip(edges, of_edges, strict=True):
        pair = (u, v) if is_directed else (min(u, v), max(u, v))
        if is_strict and pair in seen:
            continue
        seen.add(pair)
        way = _plain(written_data.get("dir", "forward")) if is_directed else "forward"
        source, target = (v, u) if way == "back" else (u, v)
        joined.append((source, target, values, way not in ("both", "none")))
    of_nodes = _typed(path, list(nodes.values()), schema, "node")
    return build_graph(is_directed, zip(nodes, of_nodes, strict=True), joined, {})


def _cluster(part: Any) -> dict[str, str]:
    """The cluster that the nodes of a subgraph are in, by its label or name, if it is one."""
    name = _plain(part.get("name", ""))
    if part.get("type") != "subgraph" or not name.startswith("cluster"):
        return {}
    return {"cluster": part["attributes"].get("label", name)}


def _edges_of(part: Any) -> Iterator[Any]:
    """The edges of a graph as pydot holds it, but for those of its subgraphs."""
    for many in part["edges"].values():
        yield from many


def _with_subgraphs(part: Any) -> Iterator[Any]:
    """A graph as pydot holds it, and all graphs within it, also those at the ends of edges."""
    yield part
    for many in part["subgraphs"].values():
        for inner in many:
            yield from _with_subgraphs(inner)
    for edge in _edges_of(part):
        for end in edge["points"]:
            if not isinstance(end, str):
                yield from _with_subgraphs(end)


def _ends(end: Any) -> Iterator[str]:
    """The nodes at one end of an edge: one, or all those of a subgraph."""
    if isinstance(end, str):
        yield _plain(_without_port(end))
        return
    found = dict[str, None]()
    for part in _with_subgraphs(end):
        found |= dict.fromkeys(_plain(x) for x in part["nodes"] if x not in DEFAULTS)
        for edge in _edges_of(part):
            for inner in edge["points"]:
                found |= dict.fromkeys(_ends(inner))
    yield from found


def _without_port(end: str) -> str:
    """The node of an end that may name a port as well, node:port:n."""
    if not end.startswith('"'):
        return end.partition(":")[0]
    close = 1
    while close < len(end) and end[close] != '"':
        close += 2 if end[close] == "\\" else 1
    return end[: close + 1]


def _typed(
    path: AnyPath, written: list[dict[str, str]], schema: GraphSchema, part: str
) -> Iterator[dict[str, Any]]:
    """The data of nodes or edges, typed as the cells of tables are."""
    named = names_in_schema(schema, part)
    names = dict.fromkeys(x for data in written for x in data if x in named or x not in DRAWING)
    cells = {name: [_plain(data.get(name, "")) for data in written] for name in names}
    return records(path, cells, schema, part, len(written), ".")


def _plain(text: Any) -> str:
    """A text without the quotes around it."""
    text = str(text)
    is_quoted = len(text) > 1 and text[0] == text[-1] == '"'
    return text[1:-1].replace('\\"', '"') if is_quoted else text

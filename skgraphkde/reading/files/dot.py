"""DOT, the language of Graphviz, and Pajek -> networkx graphs.

DOT is read by pydot (``pip install pydot``), with the nodes and edges of subgraphs, and without
what says how they are drawn, but for labels. Pajek is read by networkx.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import networkx as nx

from skgraphkde.core.graphs.schema import GraphSchema, names_in_schema
from skgraphkde.reading.files.common import (
    AnyPath,
    Graphs,
    build_graph,
    decoded,
    read_content,
    single_or_numbered,
)

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
    try:
        import pydot
    except ImportError as error:
        raise ImportError(f"{path} is read by pydot: pip install pydot") from error
    found = pydot.graph_from_dot_data(decoded(read_content(path)))
    if not found:
        raise ValueError("pydot reads no graph")
    return single_or_numbered([_graph(x, schema) for x in found])


def _graph(document: Any, schema: GraphSchema) -> nx.Graph:
    """The graph of a document of pydot, with what its subgraphs have."""
    nodes: dict[str, dict[str, Any]] = {}
    edges = []
    for part in _with_subgraphs(document):
        for node in part.get_node_list():
            name = _plain(node.get_name())
            if name not in DEFAULTS and name != "\\n":  # as pydot reads an empty line
                nodes.setdefault(name, {}).update(_data(node, schema, "node"))
        for edge in part.get_edge_list():
            for u in _ends(edge.get_source()):
                for v in _ends(edge.get_destination()):
                    edges.append((u, v, _data(edge, schema, "edge"), True))
    for u, v, *_ in edges:
        nodes.setdefault(u, {})
        nodes.setdefault(v, {})
    directed = document.get_type() == "digraph"
    return build_graph(directed, nodes.items(), edges, {})


def _with_subgraphs(document: Any) -> Iterator[Any]:
    """A graph of pydot, and all graphs within it."""
    yield document
    for inner in document.get_subgraph_list():
        yield from _with_subgraphs(inner)


def _ends(end: Any) -> list[str]:
    """The nodes at one end of an edge: one, or those of a subgraph."""
    if isinstance(end, str):
        return [re.sub(r'^("[^"]*"|[^":]+):.*', r"\1", end).strip('"')]  # without the port
    nodes = end["nodes"] if isinstance(end, dict) else [x.get_name() for x in end.get_node_list()]
    return [_plain(node) for node in nodes]


def _data(item: Any, schema: GraphSchema, part: str) -> dict[str, Any]:
    """The data of a node or an edge."""
    named = names_in_schema(schema, part)
    found = {}
    for name, value in item.get_attributes().items():
        if name in named or name not in DRAWING:
            found[name] = _plain(value)
    return found


def _plain(text: Any) -> str:
    """A text without the quotes around it."""
    text = str(text)
    is_quoted = len(text) > 1 and text[0] == text[-1] == '"'
    return text[1:-1].replace('\\"', '"') if is_quoted else text


def read_pajek(path: AnyPath, _: GraphSchema) -> Graphs:
    """The graph of a file of Pajek, without the places of nodes in a drawing.

    Parameters
    ----------
    path : Path or zipfile.Path
    _ : GraphSchema
        This format needs none.
    """
    text = decoded(read_content(path))
    sections = {x.lower() for x in re.findall(r"^\s*\*(\w+)", text, re.MULTILINE)}
    if sections >= {"arcs", "edges"}:
        raise ValueError("it has arcs and edges: write all of them as arcs, or all as edges")
    graph = nx.parse_pajek(text)
    nodes = [(node, _without_place(data)) for node, data in graph.nodes(data=True)]
    edges = [(u, v, data, True) for u, v, data in graph.edges(data=True)]
    return [("", build_graph(graph.is_directed(), nodes, edges, {}))]


def _without_place(data: dict[str, Any]) -> dict[str, Any]:
    return {name: x for name, x in data.items() if name not in ("id", "x", "y", "shape")}

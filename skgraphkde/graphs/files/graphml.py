"""GraphML files -> networkx graphs, directed or not, with the defaults of what is read.

networkx reads a tree in which the nodes and edges of inner graphs, such as the groups of yEd, are
those of the outer graph, and all edges have a direction, or none.
"""

from __future__ import annotations

from typing import Any
from xml.etree.ElementTree import Element

import networkx as nx
from networkx.readwrite.graphml import GraphMLReader

from skgraphkde.graphs.files.common import (
    AnyPath,
    Graphs,
    apply_defaults,
    read_content,
    single_or_numbered,
)
from skgraphkde.graphs.files.xml import add_opposites, check_elements, choice, parse_xml
from skgraphkde.graphs.formats.networkx import simplified
from skgraphkde.graphs.schema import PARTS, GraphSchema

NS = f"{{{GraphMLReader.NS_GRAPHML}}}"
DIRECTIONS = ("directed", "undirected")
BOOLEANS = ("true", "false", "1", "0")


def read_graphml(path: AnyPath, schema: GraphSchema) -> Graphs:
    """Read all graphs of a file and apply the defaults of the attributes that are read.

    Parameters
    ----------
    path : Path or zipfile.Path
    schema : GraphSchema
        The names of what is read.
    """
    header = f'<graphml xmlns="{GraphMLReader.NS_GRAPHML}">'
    root = parse_xml(read_content(path).replace(b"<graphml>", header.encode(), 1))
    for default in root.iter(f"{NS}default"):
        default.text = default.text or ""
    reader = GraphMLReader(force_multigraph=True)
    keys, defaults = reader.find_graphml_keys(root)
    graphs = []
    for element in root.findall(f"{NS}graph"):
        graph = _graph(reader, element, keys)
        for part in PARTS:
            own = (key for key in defaults if keys[key]["for"] in (part, "all", None))
            apply_defaults(graph, part, {keys[key]["name"]: defaults[key] for key in own}, schema)
        graphs.append(graph)
    return single_or_numbered(graphs)


def _graph(reader: GraphMLReader, element: Element, keys: dict[str, Any]) -> nx.Graph:
    """The graph of an element, which is changed in place to what networkx reads."""
    if element.find(f".//{NS}hyperedge") is not None:
        raise ValueError("it has a hyperedge: only edges that join two nodes can be read")
    nodes, edges, are_directed = list(element.iter(f"{NS}node")), [], []
    for graph in element.iter(f"{NS}graph"):
        default = str(_is_directed(graph)).lower()
        for edge in graph.findall(f"{NS}edge"):
            edges.append(edge)
            are_directed.append(choice(edge, "directed", BOOLEANS, default) in ("true", "1"))
    check_elements(nodes, edges)
    for node in nodes:
        node.attrib.pop("yfiles.foldertype", None)  # its inner nodes are among `nodes`
    for i, edge in enumerate(edges):  # networkx would merge parallel edges that share an id
        edge.attrib.pop("directed", None)
        edge.set("id", str(i))
    element[:] = [*element.findall(f"{NS}data"), *nodes, *edges]
    is_directed = any(are_directed) if edges else _is_directed(element)
    element.set("edgedefault", DIRECTIONS[not is_directed])
    read = reader.make_graph(element, keys, {})
    for name in ("node_default", "edge_default"):  # which are empty here
        del read.graph[name]
    add_opposites(read, are_directed)
    return simplified(read)


def _is_directed(graph: Element) -> bool:
    """Whether the edges of a graph are directed that do not say it themselves."""
    return choice(graph, "edgedefault", DIRECTIONS, "undirected") == "directed"

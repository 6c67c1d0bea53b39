"""GraphML files -> networkx graphs, directed or not, with the defaults of what is read."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

import networkx as nx
from networkx.readwrite.graphml import GraphMLReader

from skgraphkde.graphs.files.common import (
    Defaults,
    Edge,
    Graphs,
    add_node,
    first_repeated,
    read_content,
    single_or_numbered,
    to_graph,
)
from skgraphkde.graphs.files.xml import parse_xml
from skgraphkde.graphs.schema import GraphSchema

NS = f"{{{GraphMLReader.NS_GRAPHML}}}"
DIRECTIONS = {"directed": True, "undirected": False}
BOOLEANS = {"true": True, "false": False, "1": True, "0": False}


def read_graphml(path: Path, schema: GraphSchema) -> Graphs:
    """Read all graphs of a file and apply the defaults of the attributes that are read."""
    content = read_content(path)
    header = f'<graphml xmlns="{GraphMLReader.NS_GRAPHML}">'
    root = parse_xml(content.replace(b"<graphml>", header.encode(), 1))
    # networkx reads data, and what yEd makes of them. Its graphs are not for us: nodes that are
    # listed twice become one, and edges to nodes that are not listed add them.
    reader = GraphMLReader()
    for default in root.iter(f"{NS}default"):
        default.text = default.text or ""
    _check_keys(root)
    keys, values = reader.find_graphml_keys(root)
    defaults = Defaults(schema, len(content))
    by_part = {
        part: {
            keys[key]["name"]: value
            for key, value in values.items()
            if keys[key]["for"] in (part, "all", None)
        }
        for part in ("node", "edge")
    }
    graphs = []
    for element in root.findall(f"{NS}graph"):
        graph = _graph(element, reader, keys)
        defaults.apply("node", graph.nodes.values(), by_part["node"])
        defaults.apply("edge", (data for *_, data in graph.edges(data=True)), by_part["edge"])
        graphs.append(graph)
    return single_or_numbered(graphs)


def _check_keys(root: Element) -> None:
    """Check that each attribute is declared once."""
    twice = first_repeated(key.get("id") for key in root.iter(f"{NS}key"))
    if twice is not None:
        raise ValueError(f"the key {twice!r} is declared twice: declare it once")
    for part in ("node", "edge"):
        own = (key for key in root.iter(f"{NS}key") if key.get("for") in (part, "all", None))
        with_default = (key for key in own if key.find(f"{NS}default") is not None)
        twice = first_repeated(key.get("attr.name") or key.get("id") for key in with_default)
        if twice is not None:
            raise ValueError(f"two keys of {part}s named {twice!r} have a default: rename one")


def _graph(element: Element, reader: GraphMLReader, keys: dict[str, Any]) -> nx.Graph:
    nodes: dict[str, dict[str, Any]] = {}
    edges: list[Edge] = []
    is_directed = _choice(element, "edgedefault", DIRECTIONS, False)
    _collect(element, reader, keys, is_directed, nodes, edges)
    return to_graph(nodes, edges, is_directed)


def _collect(
    element: Element,
    reader: GraphMLReader,
    keys: dict[str, Any],
    is_directed: bool,
    nodes: dict[str, dict[str, Any]],
    edges: list[Edge],
) -> None:
    """Add the nodes and edges of a graph, and of the groups in it, to lists."""
    if element.find(f"{NS}hyperedge") is not None:
        raise ValueError("it has a hyperedge: only edges that join two nodes can be read")
    for node in element.findall(f"{NS}node"):
        name = _required(node, "id")
        add_node(nodes, name, _data(node, reader, keys))
        for inner in node.findall(f"{NS}graph"):
            if node.get("yfiles.foldertype") != "group":
                raise ValueError(
                    f"the node {name!r} contains a graph of its own, which cannot be read: write "
                    "it to another file"
                )
            of_group = _choice(inner, "edgedefault", DIRECTIONS, is_directed)
            _collect(inner, reader, keys, of_group, nodes, edges)
    for edge in element.findall(f"{NS}edge"):
        ends = _required(edge, "source"), _required(edge, "target")
        is_arc = _choice(edge, "directed", BOOLEANS, is_directed)
        edges.append(Edge(*ends, _data(edge, reader, keys), is_arc))


def _data(element: Element, reader: GraphMLReader, keys: dict[str, Any]) -> dict[str, Any]:
    """The attributes of a node or an edge, each of which has one value."""
    found = (keys.get(data.get("key", ""), {}).get("name") for data in element.findall(f"{NS}data"))
    twice = first_repeated(name for name in found if name is not None)
    if twice is not None:
        raise ValueError(f"the attribute {twice!r} has two values in one place: give it one")
    data: dict[str, Any] = reader.decode_data_elements(keys, element)
    return data


def _choice(element: Element, name: str, choices: dict[str, bool], default: bool) -> bool:
    """What an attribute in XML says, or the default if it is not there."""
    text = element.get(name)
    if text is not None and text not in choices:
        raise ValueError(f"{name} is {text!r}: give one of {', '.join(choices)}")
    return default if text is None else choices[text]


def _required(element: Element, name: str) -> str:
    value = element.get(name)
    if value is None:
        kind = element.tag.removeprefix(NS)
        raise ValueError(f"{'an' if kind == 'edge' else 'a'} {kind} has no {name!r}")
    return value

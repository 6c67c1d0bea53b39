"""GraphML files -> networkx graphs, directed or not, with the defaults of what is read.

networkx reads a tree in which groups of yEd are opened, and all edges of a graph have a direction,
or none.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

from networkx.readwrite.graphml import GraphMLReader

from skgraphkde.graphs.files.common import (
    Graphs,
    apply_defaults,
    first_repeated,
    read_content,
    single_or_numbered,
)
from skgraphkde.graphs.files.xml import check_elements, choice, one_direction, parse_xml, required
from skgraphkde.graphs.formats.networkx import simplified
from skgraphkde.graphs.schema import PARTS, GraphSchema

NS = f"{{{GraphMLReader.NS_GRAPHML}}}"
DIRECTIONS = ("directed", "undirected")
BOOLEANS = ("true", "false", "1", "0")


def read_graphml(path: Path, schema: GraphSchema) -> Graphs:
    """Read all graphs of a file and apply the defaults of the attributes that are read.

    Parameters
    ----------
    path : Path
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
        _mend(element, keys)
        graph = simplified(reader.make_graph(element, keys, {}))
        for name in ("node_default", "edge_default"):  # which are empty here
            graph.graph.pop(name, None)
        for part in PARTS:
            own = (key for key in defaults if keys[key]["for"] in (part, "all", None))
            apply_defaults(graph, part, {keys[key]["name"]: defaults[key] for key in own}, schema)
        graphs.append(graph)
    return single_or_numbered(graphs)


def _mend(graph: Element, keys: dict[str, Any]) -> None:
    """Open groups, and make all edges directed or undirected, in place."""
    nodes, edges, kinds = [], [], []
    for element, kind in list(_elements(graph, "undirected")):
        if kind is None:
            nodes.append(element)
        else:
            edges.append(element)
            kinds.append(kind)
        found = (keys.get(x.get("key", ""), {}).get("name") for x in element.findall(f"{NS}data"))
        twice = first_repeated(name for name in found if name is not None)
        if twice is not None:
            raise ValueError(f"the attribute {twice!r} has two values in one place: give it one")
    check_elements(nodes, edges)
    has_edges = bool(edges)
    edges, is_directed = one_direction(edges, kinds)
    if not has_edges:
        is_directed = graph.get("edgedefault") == "directed"
    for node in nodes:
        node.attrib.pop("yfiles.foldertype", None)
        for inner in node.findall(f"{NS}graph"):
            node.remove(inner)
    for i, edge in enumerate(edges):  # networkx would merge parallel edges that share an id
        edge.attrib.pop("directed", None)
        edge.set("id", str(i))
    graph[:] = [*graph.findall(f"{NS}data"), *nodes, *edges]
    graph.set("edgedefault", DIRECTIONS[not is_directed])


def _elements(graph: Element, default: str) -> Iterator[tuple[Element, str | None]]:
    """The nodes, with None, and the edges, with their directions, of a graph and its groups."""
    default = choice(graph, "edgedefault", DIRECTIONS, default)
    if graph.find(f"{NS}hyperedge") is not None:
        raise ValueError("it has a hyperedge: only edges that join two nodes can be read")
    for node in graph.findall(f"{NS}node"):
        yield node, None
        for inner in node.findall(f"{NS}graph"):
            if node.get("yfiles.foldertype") != "group":
                raise ValueError(
                    f"the node {required(node, 'id')!r} contains a graph of its own, which cannot "
                    "be read: write it to another file"
                )
            yield from _elements(inner, default)
    for edge in graph.findall(f"{NS}edge"):
        is_arc = choice(edge, "directed", BOOLEANS, str(default == "directed").lower())
        yield edge, DIRECTIONS[is_arc not in ("true", "1")]

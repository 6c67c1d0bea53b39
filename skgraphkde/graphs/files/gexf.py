"""GEXF files, as Gephi and networkx write them -> networkx graphs, directed or not.

networkx reads no namespace but its own, no type such as "byte", no edge of a kind, and not both
directed and undirected edges; to rewrite a file for it takes twice the code of reading it. The
label of a node is its attribute "label", unless all labels of a graph repeat the ids of its nodes,
as programs write them where there are none. What only says how to draw a graph is not read.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple
from xml.etree.ElementTree import Element

import networkx as nx

from skgraphkde.graphs.assembly import names_in_schema
from skgraphkde.graphs.files.common import (
    AnyPath,
    Graphs,
    apply_defaults,
    read_content,
    single_or_numbered,
)
from skgraphkde.graphs.files.xml import add_opposites, check_elements, choice, parse_xml
from skgraphkde.graphs.formats.networkx import simplified
from skgraphkde.graphs.schema import GraphSchema

BOOLEANS = {"true": True, "1": True, "false": False, "0": False}
KINDS = ("directed", "undirected", "mutual")

# XML attributes that are data, with their types; those of times are said by the graph.
DATA = {
    "node": {"label": "string", "pid": "string"},
    "edge": {"label": "string", "kind": "string", "weight": "double"},
}
# Functions that make values of text, by type; all others are text.
CONVERTERS: dict[str, Callable[[str], Any]] = {
    **dict.fromkeys(("integer", "int", "long", "short", "byte", "biginteger"), int),
    **dict.fromkeys(("float", "double", "bigdecimal"), float),
    "boolean": lambda text: _boolean(text.lower()),
}


def read_gexf(path: AnyPath, schema: GraphSchema) -> Graphs:
    """Read all graphs of a file and apply the defaults of the attributes that are read.

    Parameters
    ----------
    path : Path or zipfile.Path
    schema : GraphSchema
        The names of what is read.
    """
    root = parse_xml(read_content(path))
    for element in root.iter():  # the namespace differs by version
        element.tag = element.tag.rpartition("}")[2]
    return single_or_numbered([_graph(x, schema) for x in root.findall("graph")])


def _graph(element: Element, schema: GraphSchema) -> nx.Graph:
    nodes, edges = list(element.iter("node")), list(element.iter("edge"))
    check_elements(nodes, edges)
    default = choice(element, "defaultedgetype", KINDS, "undirected")
    kinds = [choice(edge, "type", KINDS, default) for edge in edges]
    is_directed = any(kind != "undirected" for kind in kinds or [default])
    graph: nx.MultiGraph = nx.MultiDiGraph() if is_directed else nx.MultiGraph()
    declared = {part: _declared(element, part) for part in DATA}
    times = dict.fromkeys(("start", "end"), element.get("timeformat", "double"))

    def data(x: Element, part: str) -> dict[str, Any]:
        return _data(x, declared[part], DATA[part] | times)

    graph.add_nodes_from((x.get("id"), data(x, "node")) for x in nodes)
    graph.add_edges_from(
        (x.get("source"), x.get("target"), i, data(x, "edge")) for i, x in enumerate(edges)
    )
    add_opposites(graph, [kind == "directed" for kind in kinds])
    are_ids = all(label in (None, node) for node, label in graph.nodes(data="label"))
    if are_ids and "label" not in names_in_schema(schema, "node"):
        for record in graph.nodes.values():
            record.pop("label", None)
    for part, attributes in declared.items():
        defaults = {x.name: x.default for x in attributes.values() if x.default is not None}
        apply_defaults(graph, part, defaults, schema)
    return simplified(graph)


class Attribute(NamedTuple):
    """An attribute of nodes, or of edges."""

    name: str
    convert: Callable[[str], Any]  # from the text of a value
    default: Any = None


def _declared(graph: Element, part: str) -> dict[str, Attribute]:
    """The attributes of nodes, or of edges, that a graph declares, by their ids."""
    declared = {}
    for group in graph.findall("attributes"):
        for x in group.findall("attribute") if group.get("class") == part else ():
            key, convert = x.get("id", ""), CONVERTERS.get(x.get("type", ""), str)
            default = x.find("default")
            value = None if default is None else convert(default.text or "")
            declared[key] = Attribute(x.get("title", key), convert, value)
    return declared


def _data(element: Element, declared: dict[str, Attribute], own: dict[str, str]) -> dict[str, Any]:
    """The data of a node or an edge; `own` has the types of XML attributes that are data."""
    given = {name: element.get(name) for name in own}
    data = {x: CONVERTERS.get(own[x], str)(text) for x, text in given.items() if text}
    for value in element.iterfind("attvalues/attvalue"):
        key = value.get("for", value.get("id", ""))
        if key not in declared:
            raise ValueError(f"there is a value for the attribute {key!r}, which is not declared")
        name, convert, _ = declared[key]
        if name in data:
            raise ValueError(
                f"the attribute {name!r} has several values, at several times or in several "
                "places: write a file for each time, or rename one"
            )
        data[name] = convert(value.get("value", ""))
    data.pop("networkx_key", None)
    return data


def _boolean(text: str) -> bool:
    if text not in BOOLEANS:
        raise ValueError(f"{text!r} is neither true nor false")
    return BOOLEANS[text]

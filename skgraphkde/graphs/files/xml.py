"""GraphML and GEXF files, which are XML -> networkx graphs, directed or not.

Of GraphML, networkx reads the attributes, also those of yEd. It takes only graphs whose edges all
have a direction, or none, and of GEXF one namespace and few types: hence the rest is read here.
What only says how to draw a graph of GEXF is not read.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from xml.etree.ElementTree import Element, fromstring

import networkx as nx
from networkx.readwrite.graphml import GraphMLReader

from skgraphkde.graphs.files.common import (
    AnyPath,
    Graphs,
    build_graph,
    read_content,
    single_or_numbered,
)
from skgraphkde.graphs.schema import PARTS, GraphSchema, names_in_schema

NS = f"{{{GraphMLReader.NS_GRAPHML}}}"
DIRECTIONS = ("directed", "undirected")
KINDS = (*DIRECTIONS, "mutual")
BOOLEANS = {"true": True, "1": True, "false": False, "0": False}

# XML attributes of GEXF that are data, with their types; those of times are said by the graph.
DATA = {
    "node": {"label": "string", "pid": "string"},
    "edge": {"label": "string", "kind": "string", "weight": "double"},
}
# Functions that make values of text, by the types of GEXF; all others are text.
CONVERTERS: dict[str, Callable[[str], Any]] = {
    **dict.fromkeys(("integer", "int", "long", "short", "byte", "biginteger"), int),
    **dict.fromkeys(("float", "double", "bigdecimal"), float),
    "boolean": lambda text: _boolean(text.lower()),
}


def read_graphml(path: AnyPath, _: GraphSchema) -> Graphs:
    """Read all graphs of a file.

    The nodes and edges of inner graphs, such as the groups of yEd, are those of the outer graph.

    Parameters
    ----------
    path : Path or zipfile.Path
    _ : GraphSchema
        This format needs none.
    """
    root = fromstring(read_content(path))
    for element in root.iter():
        if "}" not in element.tag:
            element.tag = NS + element.tag
        if element.tag == f"{NS}default":
            element.text = element.text or ""
    reader = GraphMLReader()
    keys, values = reader.find_graphml_keys(root)
    defaults: dict[str, dict[str, Any]] = {part: {} for part in PARTS}
    for key, value in values.items():
        for part in PARTS:
            if keys[key]["for"] in (part, "all", None):
                defaults[part][keys[key]["name"]] = value

    def data(element: Element, part: str) -> dict[str, Any]:
        return _completed(reader.decode_data_elements(keys, element), defaults[part])

    return single_or_numbered([_graphml_graph(x, data) for x in root.findall(f"{NS}graph")])


def _graphml_graph(element: Element, data: Callable[[Element, str], dict]) -> nx.Graph:
    if element.find(f".//{NS}hyperedge") is not None:
        raise ValueError("it has a hyperedge: only edges that join two nodes can be read")
    nodes = [(x.get("id"), data(x, "node")) for x in element.iter(f"{NS}node")]
    edges = []
    for graph in element.iter(f"{NS}graph"):
        default = choice(graph, "edgedefault", DIRECTIONS, "undirected") == "directed"
        for x in graph.findall(f"{NS}edge"):
            is_one_way = BOOLEANS[choice(x, "directed", BOOLEANS, str(default).lower())]
            edges.append((x.get("source"), x.get("target"), data(x, "edge"), is_one_way))
    directed = element.get("edgedefault") == "directed"
    if edges:
        directed = any(is_one_way for *_, is_one_way in edges)
    return build_graph(directed, nodes, edges, data(element, "graph"))


def read_gexf(path: AnyPath, schema: GraphSchema) -> Graphs:
    """Read all graphs of a file.

    The label of a node is its attribute "label", unless all labels of a graph repeat the ids of its
    nodes, as programs write them where there are none.

    Parameters
    ----------
    path : Path or zipfile.Path
    schema : GraphSchema
        The names of what is read.
    """
    root = fromstring(read_content(path))
    for element in root.iter():  # the namespace differs by version
        element.tag = element.tag.rpartition("}")[2]
    return single_or_numbered([_gexf_graph(x, schema) for x in root.findall("graph")])


def _gexf_graph(element: Element, schema: GraphSchema) -> nx.Graph:
    default = choice(element, "defaultedgetype", KINDS, "undirected")
    times = dict.fromkeys(("start", "end"), element.get("timeformat", "double"))

    def read_all(part: str) -> list[tuple[Element, dict[str, Any]]]:
        declared, defaults = _declared(element, part)
        types = DATA[part] | times
        return [(x, _completed(_data(x, declared, types), defaults)) for x in element.iter(part)]

    nodes = [(x.get("id"), data) for x, data in read_all("node")]
    are_ids = all(data.get("label", node) == node for node, data in nodes)
    if are_ids and "label" not in names_in_schema(schema, "node"):
        for _, data in nodes:
            data.pop("label", None)
    edges, kinds = [], set()
    for x, data in read_all("edge"):
        kind = choice(x, "type", KINDS, default)
        kinds.add(kind)
        edges.append((x.get("source"), x.get("target"), data, kind == "directed"))
    directed = (kinds or {default}) != {"undirected"}
    return build_graph(directed, nodes, edges, {})


def _declared(graph: Element, part: str) -> tuple[dict[str, tuple[str, Callable]], dict[str, Any]]:
    """The names and types of the attributes of nodes, or of edges, by their ids; the defaults."""
    declared, defaults = {}, {}
    for x in graph.iterfind(f"attributes[@class='{part}']/attribute"):
        key, convert = x.get("id", ""), CONVERTERS.get(x.get("type", ""), str)
        declared[key] = x.get("title", key), convert
        default = x.find("default")
        if default is not None:
            defaults[x.get("title", key)] = convert(default.text or "")
    return declared, defaults


def _data(
    element: Element, declared: dict[str, tuple[str, Callable]], types: dict[str, str]
) -> dict[str, Any]:
    """The data of a node or an edge; `types` has those of XML attributes that are data."""
    given = {name: element.get(name) for name in types}
    data = {x: CONVERTERS.get(types[x], str)(text) for x, text in given.items() if text}
    for value in element.iterfind("attvalues/attvalue"):
        key = value.get("for", value.get("id", ""))
        if key not in declared:
            raise ValueError(f"there is a value for the attribute {key!r}, which is not declared")
        name, convert = declared[key]
        if name in data:
            raise ValueError(
                f"the attribute {name!r} has several values, at several times or in several "
                "places: write a file for each time, or rename one"
            )
        data[name] = convert(value.get("value", ""))
    data.pop("networkx_key", None)
    return data


def _completed(data: dict[str, Any], defaults: dict[str, Any]) -> dict[str, Any]:
    """The data of an element, and after them the defaults of what it lacks."""
    return data | {name: x for name, x in defaults.items() if name not in data}


def _boolean(text: str) -> bool:
    if text not in BOOLEANS:
        raise ValueError(f"{text!r} is neither true nor false")
    return BOOLEANS[text]


def choice(element: Element, name: str, choices: Any, default: str) -> str:
    """The value of an XML attribute, one of some words.

    Parameters
    ----------
    element : Element
    name : str
    choices : iterable of str
    default : str
        The value if the attribute is not there.
    """
    value = element.get(name, default)
    if value not in choices:
        raise ValueError(f"{name} is {value!r}: give one of {', '.join(choices)}")
    return value

"""GEXF files, as Gephi and networkx write them -> networkx graphs, directed or not.

The label of a node is its attribute "label", unless all labels of a graph repeat the ids of its
nodes, as programs write them where there are none. What only says how to draw a graph is not read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree.ElementTree import Element

import networkx as nx

from skgraphkde.graphs.files.common import (
    Defaults,
    Edge,
    Graphs,
    add_node,
    named,
    read_content,
    single_or_numbered,
    to_graph,
)
from skgraphkde.graphs.files.xml import parse_xml
from skgraphkde.graphs.schema import GraphSchema


def _boolean(text: str) -> bool:
    if text.lower() not in ("true", "1", "false", "0"):
        raise ValueError(f"{text!r} is neither true nor false")
    return text.lower() in ("true", "1")


TYPES: dict[str, Callable[[str], Any]] = {
    **dict.fromkeys(("integer", "int", "long", "short", "byte", "biginteger"), int),
    **dict.fromkeys(("float", "double", "bigdecimal"), float),
    "boolean": _boolean,
}
# Attributes of elements in XML that are data. Times may be numbers or dates.
NODE_DATA = ("label", "start", "end", "pid")
EDGE_DATA = ("label", "start", "end", "kind", "weight")
KINDS = ("directed", "undirected", "mutual")


class Attribute(NamedTuple):
    """The declaration of an attribute."""

    name: str
    convert: Callable[[str], Any]


def read_gexf(path: Path, schema: GraphSchema) -> Graphs:
    """Read all graphs of a file and apply the defaults of the attributes that are read."""
    content = read_content(path)
    root = parse_xml(content)
    defaults = Defaults(schema, len(content))
    return single_or_numbered([_graph(g, schema, defaults) for g in _children(root, "graph")])


def _graph(element: Element, schema: GraphSchema, defaults: Defaults) -> nx.Graph:
    declared: dict[str, dict[str, Attribute]] = {"node": {}, "edge": {}}
    values: dict[str, dict[str, Any]] = {"node": {}, "edge": {}}
    for declaration in _children(element, "attributes"):
        part = declaration.get("class", "")
        for attribute in _children(declaration, "attribute"):
            key = attribute.get("id", "")
            name = attribute.get("title", key)
            convert = TYPES.get(attribute.get("type", ""), str)
            if key in declared.setdefault(part, {}):
                raise ValueError(f"the attribute {key!r} is declared twice: declare it once")
            declared[part][key] = Attribute(name, convert)
            for default in _children(attribute, "default"):
                if name in values.get(part, {}):
                    raise ValueError(
                        f"two attributes of {part}s named {name!r} have a default: rename one"
                    )
                values.setdefault(part, {})[name] = convert(default.text or "")
    nodes: dict[str, dict[str, Any]] = {}
    for group in _children(element, "nodes"):
        _collect(group, declared["node"], nodes)
    are_ids = all(data.get("label", node) == node for node, data in nodes.items())
    if are_ids and "label" not in named(schema, "node"):
        for data in nodes.values():
            data.pop("label", None)
    kind = _kind(element, "defaultedgetype", "undirected")
    edges = [
        edge
        for group in element.iter()
        if _name(group) == "edges"  # which may also be inside of nodes
        for child in _children(group, "edge")
        for edge in _arcs(child, declared["edge"], kind)
    ]
    graph = to_graph(nodes, edges, kind != "undirected")
    defaults.apply("node", graph.nodes.values(), values["node"])
    defaults.apply("edge", (data for *_, data in graph.edges(data=True)), values["edge"])
    return graph


def _collect(
    group: Element, declared: dict[str, Attribute], nodes: dict[str, dict[str, Any]]
) -> None:
    """Add nodes, and those that are inside of them, to a list."""
    for node in _children(group, "node"):
        add_node(nodes, _required(node, "id"), _data(node, declared, NODE_DATA))
        for inner in _children(node, "nodes"):
            _collect(inner, declared, nodes)


def _kind(element: Element, name: str, default: str) -> str:
    """Whether edges have a direction, or both."""
    kind = element.get(name, default)
    if kind not in KINDS:
        raise ValueError(f"{name} is {kind!r}: give one of {', '.join(KINDS)}")
    return kind


def _arcs(element: Element, declared: dict[str, Attribute], default: str) -> Iterator[Edge]:
    """An edge; two, if it is mutual."""
    kind = _kind(element, "type", default)
    ends = _required(element, "source"), _required(element, "target")
    data = _data(element, declared, EDGE_DATA)
    data.pop("networkx_key", None)  # by which networkx tells parallel edges apart
    yield Edge(*ends, data, kind != "undirected")
    if kind == "mutual":
        yield Edge(*ends[::-1], dict(data), True)


def _data(
    element: Element, declared: dict[str, Attribute], names: tuple[str, ...]
) -> dict[str, Any]:
    """The attributes of a node or an edge."""
    data: dict[str, Any] = {}
    for value in (x for group in _children(element, "attvalues") for x in group):
        key = value.get("for", value.get("id"))
        if key not in declared:
            raise ValueError(f"there is a value for the attribute {key!r}, which is not declared")
        name, convert = declared[key]
        if name in data:
            raise ValueError(
                f"the attribute {name!r} has several values, at several times: write a file for "
                "each time"
            )
        data[name] = convert(value.get("value", ""))
    for name in names:
        text = element.get(name, "")
        if text:
            own = text if name in ("label", "kind", "pid") else _number_or_text(text)
            if data.setdefault(name, own) != own:
                raise ValueError(
                    f"the attribute {name!r} is {data[name]!r} in one place and {own!r} in "
                    "another: rename one"
                )
    return data


def _number_or_text(text: str) -> Any:
    try:
        return float(text)
    except ValueError:
        return text


def _children(element: Element, name: str) -> list[Element]:
    """Children by their name without the namespace, which differs by version."""
    return [child for child in element if _name(child) == name]


def _name(element: Element) -> str:
    """The name of an element without its namespace."""
    return element.tag.rpartition("}")[2]


def _required(element: Element, name: str) -> str:
    value = element.get(name)
    if value is None:
        kind = _name(element)
        raise ValueError(f"{'an' if kind == 'edge' else 'a'} {kind} has no {name!r}")
    return value

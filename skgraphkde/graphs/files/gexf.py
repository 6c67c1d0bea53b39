"""GEXF files, as Gephi and networkx write them -> networkx graphs, directed or not.

networkx reads a tree in which types and namespaces are those that it knows, nodes are not nested,
and all edges of a graph have a direction, or none. The label of a node is its attribute "label",
unless all labels of a graph repeat the ids of its nodes, as programs write them where there are
none. What only says how to draw a graph is not read.
"""

from __future__ import annotations

from pathlib import Path
from xml.etree.ElementTree import Element, SubElement

import networkx as nx
from networkx.readwrite.gexf import GEXFReader

from skgraphkde.graphs.assembly import names_in_schema
from skgraphkde.graphs.files.common import (
    Graphs,
    apply_defaults,
    read_content,
    simplified,
    single_or_numbered,
)
from skgraphkde.graphs.files.xml import (
    check_elements,
    choice,
    local_name,
    one_direction,
    parse_xml,
)
from skgraphkde.graphs.schema import GraphSchema

NS = f"{{{GEXFReader.versions['1.2draft']['NS_GEXF']}}}"
TYPES = {
    **dict.fromkeys(("integer", "int", "long", "short", "byte", "biginteger"), "integer"),
    **dict.fromkeys(("float", "double", "bigdecimal"), "double"),
    "boolean": "boolean",
}
# XML attributes that are data.
DATA = {
    "node": ("label", "start", "end", "pid"),
    "edge": ("label", "start", "end", "kind", "weight"),
}
KIND = "kind of the edge"  # the id of an attribute that no file declares
KINDS = ("directed", "undirected", "mutual")
# Other elements say how to draw a graph, or when its parts are there.
ELEMENTS = {"gexf", "graph", "attributes", "attribute", "default", "nodes", "node", "edges", "edge"}
ELEMENTS |= {"attvalues", "attvalue"}


def read_gexf(path: Path, schema: GraphSchema) -> Graphs:
    """Read all graphs of a file and apply the defaults of the attributes that are read."""
    root = parse_xml(read_content(path))
    _keep_known(root)
    return single_or_numbered([_graph(x, schema) for x in root.findall(f"{NS}graph")])


def _keep_known(element: Element) -> None:
    """Remove elements that are no data of a graph, and give the others one namespace."""
    element.tag = NS + local_name(element)
    element[:] = [child for child in element if local_name(child) in ELEMENTS]
    for child in element:
        _keep_known(child)


def _graph(element: Element, schema: GraphSchema) -> nx.Graph:
    _mend(element)
    graph = simplified(GEXFReader().make_graph(element))
    defaults = {part: graph.graph.get(f"{part}_default", {}) for part in DATA}
    graph.graph.clear()
    for data in graph.nodes.values():
        if data["label"] is None:
            del data["label"]
    are_ids = all(data.get("label", node) == node for node, data in graph.nodes(data=True))
    if are_ids and "label" not in names_in_schema(schema, "node"):
        for data in graph.nodes.values():
            data.pop("label", None)
    for part, values in defaults.items():
        apply_defaults(graph, part, values, schema)
    return graph


# -- what networkx does not read -------------------------------------------------------------------


def _mend(graph: Element) -> None:
    """Rewrite types, values, nested nodes and directions in place, so that networkx reads them."""
    nodes, edges = list(graph.iter(f"{NS}node")), list(graph.iter(f"{NS}edge"))
    check_elements(nodes, edges)
    default = choice(graph, "defaultedgetype", KINDS, "undirected")
    edge_kinds = [choice(edge, "type", KINDS, default) for edge in edges]
    groups = [x for x in graph.findall(f"{NS}attributes") if x.get("class") in DATA]
    declared: dict[str, dict[str, Element]] = {"node": {}, "edge": {}}
    for group in groups:
        group.attrib.pop("mode", None)
        for attribute in group.findall(f"{NS}attribute"):
            declared[group.get("class", "")][attribute.get("id", "")] = attribute
            attribute.set("title", attribute.get("title", attribute.get("id", "")))
            attribute.set("type", TYPES.get(attribute.get("type", ""), "string"))
            for value in attribute:
                value.text = _mended_value(value.text or "", attribute)
    for part, elements in (("node", nodes), ("edge", edges)):
        for element in elements:
            _mend_data(element, part, declared[part])
    times = [x.get(name, "0") for x in [*nodes, *edges] for name in ("start", "end")]
    graph.set("timeformat", "double" if all(map(_is_float, times)) else "string")
    edges, is_directed = one_direction(edges, edge_kinds)
    if not edge_kinds:
        is_directed = default != "undirected"
    graph.set("defaultedgetype", "directed" if is_directed else "undirected")
    for edge in edges:
        edge.attrib.pop("type", None)
        edge.attrib.pop("id", None)  # networkx would merge parallel edges that share one
    graph[:] = groups
    SubElement(graph, f"{NS}attributes", {"class": "edge"}).append(
        Element(f"{NS}attribute", {"id": KIND, "title": "kind", "type": "string"})
    )
    SubElement(graph, f"{NS}nodes")[:] = nodes
    SubElement(graph, f"{NS}edges")[:] = edges


def _mend_data(element: Element, part: str, declared: dict[str, Element]) -> None:
    """Check the values of a node or an edge, and leave nothing else in it."""
    values = [value for group in element.findall(f"{NS}attvalues") for value in group]
    found: dict[str, str] = {}
    kept = []
    for value in values:
        key = value.get("for", value.get("id", ""))
        if key not in declared:
            raise ValueError(f"there is a value for the attribute {key!r}, which is not declared")
        name, text = declared[key].get("title", ""), value.get("value", "")
        if name in found:
            raise ValueError(
                f"the attribute {name!r} has several values, at several times: write a file for "
                "each time"
            )
        found[name] = text
        value.attrib |= {"for": key, "value": _mended_value(text, declared[key])}
        if name != "networkx_key":  # networkx would merge parallel edges that share one
            kept.append(value)
    for name in DATA[part]:
        text = element.get(name, "")
        if found.get(name, text) != text and text:
            raise ValueError(
                f"the attribute {name!r} is {found[name]!r} in one place and {text!r} in another: "
                "rename one"
            )
        if not text:
            element.attrib.pop(name, None)
        elif name == "kind":  # which networkx does not read
            kept.append(Element(f"{NS}attvalue", {"for": KIND, "value": text}))
    element[:] = []
    SubElement(element, f"{NS}attvalues")[:] = kept


def _mended_value(text: str, attribute: Element) -> str:
    """A value as networkx reads it, which knows few spellings of "true"."""
    if attribute.get("type") == "boolean":
        text = text.lower()
        if text not in ("true", "1", "false", "0"):
            raise ValueError(f"{text!r} is neither true nor false")
    return text


def _is_float(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True

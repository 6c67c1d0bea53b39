"""GraphML and GEXF files, which are XML -> networkx graphs, directed or not.

networkx reads of both one namespace and few types, and graphs whose edges all have a direction, or
none. Programs write more than that. What only says how to draw a graph is not read; coordinates
are, if the schema names them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers.expat import ExpatError, ParserCreate

import networkx as nx

from skgraphkde.core.graphs.schema import PARTS, GraphSchema, names_in_schema
from skgraphkde.reading.files.common import (
    AnyPath,
    Graphs,
    build_graph,
    decoded,
    named_places,
    read_content,
    single_or_numbered,
    without_places,
)
from skgraphkde.reading.files.tables import check_values, typed_columns

# Whether an edge has one direction, in the words of both formats.
IS_ONE_WAY = {
    **dict.fromkeys(("directed", "true", "1"), True),
    **dict.fromkeys(("undirected", "mutual", "false", "0"), False),
}
BOOLEANS = {"true": True, "1": True, "false": False, "0": False}
# XML attributes of GEXF that are data, with their types; those of times are said by the graph.
DATA = {
    "node": {"label": "string", "pid": "string"},
    "edge": {"label": "string", "kind": "string", "weight": "double"},
}
# What programs write for a number, or a boolean, that is not there.
MISSING = ("", "na", "n/a", "nan", "none", "null")

# The name and the converter of an attribute by its key.
Declared = Mapping[str, tuple[str, Callable[[str], Any]]]


def _parsed(path: AnyPath) -> Element:
    """The root of a file, with tags that have no prefixes.

    Namespaces differ from version to version, and prefixes may be undeclared, so both are ignored.
    """
    content = read_content(path).lstrip()
    try:
        return _tree(content)
    except ExpatError:
        return _tree(decoded(content))  # in another encoding than it declares


def _tree(text: str | bytes) -> Element:
    builder = TreeBuilder()
    parser = ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = lambda tag, data: builder.start(tag.rpartition(":")[2], data)
    parser.EndElementHandler = lambda tag: builder.end(tag.rpartition(":")[2])
    parser.CharacterDataHandler = builder.data
    parser.Parse(text, True)
    return builder.close()


# -- GraphML ---------------------------------------------------------------------------------------


def read_graphml(path: AnyPath, schema: GraphSchema) -> Graphs:
    """Read all graphs of a file.

    The nodes and edges of inner graphs, such as the groups of yEd, are those of the outer graph.

    Parameters
    ----------
    path : Path or zipfile.Path
    schema : GraphSchema
        The names of what is read.
    """
    root = _parsed(path)
    declared = {}
    defaults = {}
    for part in PARTS:
        keys = [x for x in root.iter("key") if x.get("for", part) in (part, "all")]
        declared[part], defaults[part] = _declared(keys, "attr.name", "attr.type")

    def data(element: Element, part: str) -> dict[str, Any]:
        values = []
        drawn = dict[str, Any]()
        for x in element.iterfind("data"):
            if len(x):
                drawn |= _drawn_by_yed(x, schema)
            else:
                key = x.get("key", "")
                values.append((*declared[part].get(key, (key, str)), x.text))
        found = _record(element, values)
        return without_places(defaults[part] | drawn | found, schema)

    graphs = [_graphml_graph(x, data) for x in root.findall("graph")]
    types = {key.get("attr.type", "string").lower() for key in root.iter("key")}
    if types == {"string"}:  # as of programs that have no types
        for graph in graphs:
            _type_texts(path, graph, schema)
    return single_or_numbered(graphs)


def _type_texts(path: AnyPath, graph: nx.Graph, schema: GraphSchema) -> None:
    """Make numbers of texts of a graph that are such, by the rule of tables."""
    of_parts = {"node": graph.nodes.values(), "edge": graph.edges.values(), "graph": [graph.graph]}
    for part, records in of_parts.items():
        names = dict.fromkeys(name for record in records for name in record if name != "name")
        cells = {name: [str(record.get(name, "")) for record in records] for name in names}
        for name, values in typed_columns(path, cells, schema, part).items():
            check_values(values)
            kinds = {type(value) for value in values if value is not None}
            are_numbers = bool(kinds) and str not in kinds
            for record, value in zip(records, values, strict=True):
                if isinstance(value, int | float):
                    record[name] = value
                elif are_numbers:  # it is empty
                    record.pop(name, None)


def _drawn_by_yed(element: Element, schema: GraphSchema) -> dict[str, Any]:
    """The label and the shape of a node or an edge, and its place if that is named."""
    data: dict[str, Any] = {}
    for x in element.iter():
        if x.tag == "Geometry":
            data |= named_places({name: _number(text) for name, text in x.items()}, schema)
        elif x.tag in ("GenericNode", "Shape"):
            data["shape_type"] = x.get("type") or x.get("configuration")
        elif x.tag in ("NodeLabel", "EdgeLabel"):
            data.setdefault("label", (x.text or "").strip() or None)
    return data


def _graphml_graph(element: Element, data: Callable[[Element, str], dict]) -> nx.Graph:
    if element.find(".//hyperedge") is not None:
        raise ValueError("it has a hyperedge: only edges that join two nodes can be read")
    nodes = [(x.get("id"), data(x, "node")) for x in element.iter("node")]
    edges = []
    for graph in element.iter("graph"):
        default = graph.get("edgedefault", "undirected")
        for x in graph.findall("edge"):
            is_one_way = IS_ONE_WAY[x.get("directed", default).lower()]
            edges.append((x.get("source"), x.get("target"), data(x, "edge"), is_one_way))
    directed = IS_ONE_WAY[element.get("edgedefault", "undirected").lower()]
    if edges:
        directed = any(is_one_way for *_, is_one_way in edges)
    return build_graph(directed, nodes, edges, data(element, "graph"))


# -- GEXF ------------------------------------------------------------------------------------------


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
    root = _parsed(path)
    return single_or_numbered([_gexf_graph(x, schema) for x in root.findall("graph")])


def _gexf_graph(element: Element, schema: GraphSchema) -> nx.Graph:
    default = element.get("defaultedgetype", "undirected").lower()
    times = dict.fromkeys(("start", "end"), element.get("timeformat", "double"))

    def read_all(part: str) -> list[tuple[Element, dict[str, Any]]]:
        keys = element.iterfind(f"attributes[@class='{part}']/attribute")
        declared, defaults = _declared(keys, "title", "type")
        converters = {name: _converter(kind) for name, kind in (DATA[part] | times).items()}
        found = []
        for x in element.iter(part):
            values = [(name, convert, x.get(name)) for name, convert in converters.items()]
            values = [value for value in values if value[2]]
            for value in x.iterfind("attvalues/attvalue"):
                key = value.get("for", value.get("id", ""))
                values.append((*declared.get(key, (key, str)), value.get("value")))
            data = defaults | _record(x, values)
            data.pop("networkx_key", None)
            found.append((x, data))
        return found

    nodes = []
    for x, data in read_all("node"):
        place = x.find("position")
        if place is not None:
            places = {name: _number(text) for name, text in place.items()}
            data = named_places(places, schema) | data
        nodes.append((x.get("id"), data))
    are_ids = all(data.get("label", node) == node for node, data in nodes)
    if are_ids and "label" not in names_in_schema(schema, "node"):
        for _, data in nodes:
            data.pop("label", None)
    edges = []
    kinds = set()
    for x, data in read_all("edge"):
        kind = x.get("type", default).lower()
        kinds.add(kind)
        edges.append((x.get("source"), x.get("target"), data, IS_ONE_WAY[kind]))
    directed = (kinds or {default}) != {"undirected"}
    return build_graph(directed, nodes, edges, {})


# -- values ----------------------------------------------------------------------------------------


def _declared(
    keys: Iterable[Element], title: str, type_name: str
) -> tuple[Declared, dict[str, Any]]:
    """The names and types of attributes by their ids; and their defaults."""
    declared = {}
    defaults = {}
    for x in keys:
        key = x.get("id", "")
        convert = _converter(x.get(type_name, ""))
        name = x.get(title, key)
        declared[key] = name, convert
        default = x.find("default")
        if default is not None:
            defaults[name] = _value_of(x, name, default.text, convert)
    return declared, defaults


def _record(
    element: Element, values: Iterable[tuple[str, Callable[[str], Any], str | None]]
) -> dict[str, Any]:
    """The data of a node, an edge or a graph: names, converters and texts, which may be empty."""
    data: dict[str, Any] = {}
    for name, convert, text in values:
        if not text and convert is not str:
            continue
        if name in data:
            raise ValueError(
                f"one {element.tag} has several values of {name!r}: give each its own name, or "
                "write a file for each time"
            )
        data[name] = _value_of(element, name, text, convert)
    return data


def _value_of(element: Element, name: str, text: str | None, convert: Callable[[str], Any]) -> Any:
    """The value of an attribute; None for a number or a boolean that is not there."""
    text = (text or "").strip()
    if convert is not str and text.lower() in MISSING:
        return None
    try:
        return convert(text)
    except (KeyError, ValueError) as error:
        which = element.get("id") or (element.get("source"), element.get("target"))
        # Only of booleans there is a list.
        is_boolean = isinstance(error, KeyError)
        cure = "a boolean: write true or false" if is_boolean else "a number: write it as 1234.5"
        raise ValueError(f"{element.tag} {which!r}, {name!r}: {text!r} is not {cure}") from error


def _converter(type_name: str) -> Callable[[str], Any]:
    """The function that makes values of text, by the name of a type; a text stays one."""
    kind = type_name.lower().rpartition(":")[2]  # "xs:int"
    of_items = re.sub("^(list|vector_)", "", kind)  # of GEXF; of graph-tool
    convert = CONVERTERS.get(of_items, str)
    if of_items == kind:
        return convert
    return lambda text: tuple(convert(x.strip(" \"'")) for x in re.split("[,;|]", text.strip("[]")))


def _number(text: str) -> int | float:
    """A number, which graph-tool writes as a hexadecimal one."""
    if "0x" in text.lower():
        return float.fromhex(text)
    return int(text) if text.lstrip("+-").isdigit() else float(text)


# Functions that make values of text, by the types of GraphML and GEXF; all others are text.
CONVERTERS: dict[str, Callable[[str], Any]] = {
    **dict.fromkeys(("integer", "int", "long", "short", "byte", "biginteger"), _number),
    **dict.fromkeys(("float", "double", "long double", "bigdecimal"), _number),
    "boolean": lambda text: BOOLEANS[text.lower()],
}

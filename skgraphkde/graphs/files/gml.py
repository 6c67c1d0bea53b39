"""GML files -> networkx graphs, directed or not."""

from __future__ import annotations

import html
import re
from collections import Counter, defaultdict
from collections.abc import Hashable
from typing import Any

import networkx as nx

from skgraphkde._utils import warn
from skgraphkde.graphs.assembly import names_in_schema
from skgraphkde.graphs.files.common import (
    AnyPath,
    Graphs,
    check_nodes_and_edges,
    read_content,
    single_or_numbered,
)
from skgraphkde.graphs.formats.networkx import simplified
from skgraphkde.graphs.schema import GraphSchema

# A comment, a text in quotes, a bracket, a key or a bare value, or a quote that is not closed.
TOKEN = re.compile(r'#.*|"[^"]*"|[\[\]]|[^\s\[\]"]+|"')
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?|[+-]?inf|nan", re.IGNORECASE)
# Where networkx writes a list of one value, this one comes before it.
LIST_START = "_networkx_list_start"
EMPTY: dict[str, Any] = {"[]": [], "()": ()}

Items = dict[str, list[Any]]  # the values of each key, which may be repeated


def read_gml(path: AnyPath, schema: GraphSchema) -> Graphs:
    """Read the graphs of a file. "label" names its nodes, unless it is named in the schema.

    Labels that repeat are followed by the id in parentheses.

    Parameters
    ----------
    path : Path or zipfile.Path
    schema : GraphSchema
        The names of what is read.
    """
    items = _items(read_content(path).decode("utf-8-sig"))
    graphs = list(map(_graph, items["graph"]))
    are_names = "label" not in names_in_schema(schema, "node")
    return single_or_numbered([_relabeled(x, schema) if are_names else x for x in graphs])


def _relabeled(graph: nx.Graph, schema: GraphSchema) -> nx.Graph:
    """The graph with nodes that have their labels for names."""
    labels = {
        node: x if isinstance(x, Hashable) else str(x)
        for node, x in nx.get_node_attributes(graph, "label").items()
    }
    counts = Counter(labels.values())
    names = {node: node for node in graph}
    names |= {node: x if counts[x] == 1 else f"{x} ({node})" for node, x in labels.items()}
    if len(counts) < len(labels) and schema.node_categories in ("auto", "all"):
        warn(
            "node labels repeat in GML files; they are names there, and whatever is odd in them is "
            "not found: to read them, name 'label' as a category of nodes (node_categories='label' "
            "in the schema, --node-category label in the shell)"
        )
    for data in graph.nodes.values():
        data.pop("label", None)
    tell_apart = len(set(names.values())) == len(graph)
    return nx.relabel_nodes(graph, names) if tell_apart else graph


def _graph(items: Items) -> nx.Graph:
    """A graph of its items, whatever their order; with parallel edges, if there are any."""
    is_directed = str(_value(items.pop("directed", [0]))).lower() in ("1", "true")
    items.pop("multigraph", None)
    nodes = [(_taken(x, "node", "id"), x) for x in items.pop("node", ())]
    edges = [
        (_taken(x, "edge", "source"), _taken(x, "edge", "target"), x) for x in items.pop("edge", ())
    ]
    check_nodes_and_edges([node for node, _ in nodes], [(u, v) for u, v, _ in edges])
    graph: nx.MultiGraph = nx.MultiDiGraph() if is_directed else nx.MultiGraph()
    graph.graph.update(_data(items))
    graph.add_nodes_from((node, _data(x)) for node, x in nodes)
    for u, v, x in edges:
        data = _data(x)
        if isinstance(data.get("key"), int):  # as networkx numbers parallel edges
            del data["key"]
        graph.add_edges_from([(u, v, data)])
    return simplified(graph)


def _taken(items: Any, part: str, name: str) -> Any:
    """Remove the value that a node or an edge must have."""
    if not isinstance(items, dict) or name not in items:
        raise ValueError(f"one {part} has no {name!r}")
    value = _value(items.pop(name))
    return value if isinstance(value, Hashable) else str(value)


def _data(items: Items) -> dict[str, Any]:
    return {key: _value(values) for key, values in items.items()}


def _value(values: list[Any]) -> Any:
    """The value of a key, or the list of all if the key is repeated."""
    found = [_data(x) if isinstance(x, dict) else x for x in values]
    if len(found) == 1:
        return found[0]
    return found[1:] if found[0] == LIST_START else found


def _items(text: str) -> Items:
    """The items of a text; those in brackets are items in turn."""
    above: list[Items] = []
    items: Items = defaultdict(list)
    key = None
    for match in TOKEN.finditer(text):
        token = match[0]
        if token.startswith("#"):
            continue
        if token == "]" and key is None and above:
            items = above.pop()
        elif token == "[" and key is not None:
            above.append(items)
            items[key].append(defaultdict(list))
            items, key = items[key][-1], None
        elif key is None and token[0].isalpha():
            key = token
        elif key is not None and token not in ("]", '"'):
            items[key].append(_parsed(token))
            key = None
        else:
            line = text.count("\n", 0, match.start()) + 1
            raise ValueError(f"line {line} has {token[:40]} where it cannot be")
    if above or key is not None:
        raise ValueError("it ends before the last bracket")
    return items


def _parsed(token: str) -> Any:
    """A number or a text, which may be broken into lines."""
    if not token.startswith('"'):
        if not NUMBER.fullmatch(token):
            return token
        return int(token) if token.lstrip("+-").isdigit() else float(token)
    text = re.sub(r"\s*\n\s*", " ", token[1:-1])
    text = re.sub(r"&#?\w+;", lambda match: html.unescape(match[0]), text)
    return EMPTY.get(text, text)

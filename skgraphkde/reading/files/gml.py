"""GML files -> networkx graphs, directed or not.

networkx reads one graph in a file, with a label for each node, and no words without quotes; to
rewrite a file for it takes as much code as reading it.
"""

from __future__ import annotations

import html
import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator
from typing import Any

import networkx as nx

from skgraphkde._utils import warn
from skgraphkde.core.graphs.schema import GraphSchema, names_in_schema
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

# A comment, a text in quotes, a bracket, a key or a bare value, or a quote that is not closed.
TOKEN = re.compile(r'#.*|"[^"]*"|[\[\]]|[^\s\[\]"]+|"')
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?|[+-]?inf|nan", re.IGNORECASE)
# Where networkx writes a list of one value, this one comes before it.
LIST_START = "_networkx_list_start"
EMPTY: dict[str, Any] = {"[]": [], "()": ()}
# How yEd and Gephi draw nodes and edges; of this, only coordinates can be named.
DRAWING = ("graphics", "LabelGraphics", "edgeAnchor")


def read_gml(path: AnyPath, schema: GraphSchema) -> Graphs:
    """Read the graphs of a file. "label" names its nodes, unless it is named in the schema.

    Labels that repeat are followed by the id in parentheses.

    Parameters
    ----------
    path : Path or zipfile.Path
    schema : GraphSchema
        The names of what is read.
    """
    text = decoded(read_content(path))
    tokens = (token for token in TOKEN.finditer(text) if not token[0].startswith("#"))
    graphs = [_graph(x, schema) for x in _listed(_items(tokens).get("graph"))]
    if "label" not in names_in_schema(schema, "node"):
        graphs = [_relabeled(graph, schema) for graph in graphs]
    return single_or_numbered(graphs)


def _graph(items: dict[str, Any], schema: GraphSchema) -> nx.Graph:
    """A graph of its items, whatever their order. A node without an id has its position for one."""
    directed = str(items.pop("directed", 0)).lower() in ("1", "true")
    items.pop("multigraph", None)
    nodes = []
    edges = []
    for i, x in enumerate(_listed(items.pop("node", None))):
        node = _taken(x, "node", "id", f"#{i}")
        graphics = x.get("graphics")
        places = named_places(graphics, schema) if isinstance(graphics, dict) else {}
        nodes.append((node, places | without_places(_data(x), schema)))
    for x in _listed(items.pop("edge", None)):
        edges.append((_taken(x, "edge", "source"), _taken(x, "edge", "target"), _data(x), True))
        if isinstance(x.get("key"), int):  # as networkx numbers parallel edges
            del edges[-1][2]["key"]
    return build_graph(directed, nodes, edges, items)


def _relabeled(graph: nx.Graph, schema: GraphSchema) -> nx.Graph:
    """The graph with nodes that have their labels for names."""
    names = {}
    for node, data in graph.nodes(data=True):
        if "label" in data:
            names[node] = _hashable(data.pop("label"))
    counts = Counter(names.values())
    is_open = schema.node_categories == "auto" or schema.is_all("node_categories")
    if len(counts) < len(names) and is_open:
        warn(
            "node labels repeat in GML files; they are names there, and whatever is odd in them is "
            "not found: to read them, name 'label' as a category of nodes (node_categories='label' "
            "in the schema, --node-category label in the shell)"
        )
    names = {node: x if counts[x] == 1 else f"{x} ({node})" for node, x in names.items()}
    tell_apart = len({names.get(node, node) for node in graph}) == len(graph)
    return nx.relabel_nodes(graph, names) if tell_apart else graph


def _taken(items: Any, part: str, name: str, default: Any = None) -> Any:
    """Remove the value that a node or an edge must have, or has by default."""
    value = items.pop(name, default) if isinstance(items, dict) else None
    if value is None:
        raise ValueError(f"one {part} has no {name!r}")
    return _hashable(value)


def _data(items: dict[str, Any]) -> dict[str, Any]:
    return {name: x for name, x in items.items() if name not in DRAWING}


def _hashable(value: Any) -> Hashable:
    return value if isinstance(value, Hashable) else str(value)


def _listed(value: Any) -> list[Any]:
    """The values of a key that is there once, often or never."""
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def _items(tokens: Iterator[re.Match], *, in_brackets: bool = False) -> dict[str, Any]:
    """The values of all keys up to the end, or the closing bracket; a list, if a key repeats."""
    items = defaultdict(list)
    for key in tokens:
        if in_brackets and key[0] == "]":
            break
        if key[0][0] in '[]"' or NUMBER.fullmatch(key[0]):
            raise _misplaced(key)
        value = next(tokens, None)
        if value is None:
            raise ValueError(f"it ends after {key[0][:40]}")
        if value[0] in ("]", '"'):
            raise _misplaced(value)
        is_open = value[0] == "["
        items[key[0]].append(_items(tokens, in_brackets=True) if is_open else _parsed(value[0]))
    else:
        if in_brackets:
            raise ValueError("it ends before the last bracket")
    found: dict[str, Any] = {}
    for name, values in items.items():
        found[name] = values[0] if len(values) == 1 else values
        if values[0] == LIST_START:
            found[name] = values[1:]
    return found


def _misplaced(token: re.Match) -> ValueError:
    line = token.string.count("\n", 0, token.start()) + 1
    return ValueError(f"line {line} has {token[0][:40]} where it cannot be")


def _parsed(token: str) -> Any:
    """A number or a text, which may be broken into lines."""
    if not token.startswith('"'):
        if not NUMBER.fullmatch(token):
            return token
        return int(token) if token.lstrip("+-").isdigit() else float(token)
    text = re.sub(r"\s*\n\s*", " ", token[1:-1])
    text = re.sub(r"&#?\w+;", lambda match: html.unescape(match[0]), text)
    return EMPTY.get(text, text)

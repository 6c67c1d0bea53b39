"""GML files -> networkx graphs, directed or not."""

from __future__ import annotations

import re
from pathlib import Path

import networkx as nx

from skgraphkde.graphs.assembly import names_in_schema
from skgraphkde.graphs.files.common import Graphs, read_content
from skgraphkde.graphs.schema import GraphSchema

# Whether a graph is directed, or has parallel edges, as some programs write it: networkx takes any
# text for yes.
QUOTED = re.compile(r'\b(directed|multigraph)\s+"(0|1|true|false)"', re.IGNORECASE)
YES = ("1", "true")
TOKEN = re.compile(rf'{QUOTED.pattern}|"[^"]*"|[][]', re.IGNORECASE)


def read_gml(path: Path, schema: GraphSchema) -> Graphs:
    """Read the graph of a file. "label" names its nodes, unless it is named in the schema.

    Parameters
    ----------
    path : Path
    schema : GraphSchema
        The names of what is read.
    """
    text = read_content(path).decode("utf-8")
    graph = nx.parse_gml(_unquoted(text) if QUOTED.search(text) else text, label=None)
    names = nx.get_node_attributes(graph, "label")
    if "label" in names_in_schema(schema, "node"):
        return [("", graph)]
    if len(set(names.values())) == len(graph):
        graph = nx.relabel_nodes(graph, names)
        for data in graph.nodes.values():
            del data["label"]
    elif names and schema.node_categories in ("auto", "all"):
        raise ValueError(
            "its node labels cannot be the names of its nodes, because some repeat or are missing; "
            "say whether to read them: name 'label' or other node_categories in the schema, or "
            "None of them"
        )
    else:
        for data in graph.nodes.values():
            data.pop("label", None)
    return [("", graph)]


def _unquoted(text: str) -> str:
    """The text with those two as numbers, where they are of the graph, which is one level down."""
    depth, end = 0, 0
    parts = []
    for token in TOKEN.finditer(text):
        depth += (token[0] == "[") - (token[0] == "]")
        if token[1] and depth == 1:
            number = int(token[2].lower() in YES)
            parts += [text[end : token.start()], f"{token[1].lower()} {number}"]
            end = token.end()
    return "".join([*parts, text[end:]])

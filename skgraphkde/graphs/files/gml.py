"""GML files -> networkx graphs, directed or not."""

from __future__ import annotations

import re
from pathlib import Path

import networkx as nx

from skgraphkde.graphs.files.common import Graphs, named, read_content
from skgraphkde.graphs.schema import GraphSchema

# Whether a graph is directed, or has parallel edges, as some programs write it: networkx takes any
# text for true. Behind the first node or edge come attributes of theirs.
QUOTED = re.compile(r'\b(directed|multigraph)\s+"([01])"')
FIRST = re.compile(r"\b(node|edge)\s*\[")


def read_gml(path: Path, schema: GraphSchema) -> Graphs:
    """Read the graph of a file. "label" names its nodes, unless it is named in the schema."""
    text = read_content(path).decode("utf-8")
    first = FIRST.search(text)
    end = first.start() if first else len(text)
    graph = nx.parse_gml(QUOTED.sub(r"\1 \2", text[:end]) + text[end:], label=None)
    names = nx.get_node_attributes(graph, "label")
    if "label" in named(schema, "node"):
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

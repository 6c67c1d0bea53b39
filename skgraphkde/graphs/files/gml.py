"""GML files -> networkx graphs, directed or not."""

from __future__ import annotations

from pathlib import Path

import networkx as nx

from skgraphkde.graphs.files.common import Graphs, named, read_content
from skgraphkde.graphs.schema import GraphSchema


def read_gml(path: Path, schema: GraphSchema) -> Graphs:
    """Read the graph of a file. "label" names its nodes, unless it is named in the schema."""
    graph = nx.parse_gml(read_content(path).decode("utf-8"), label=None)
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

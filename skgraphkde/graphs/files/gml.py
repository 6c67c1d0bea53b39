"""GML files -> networkx graphs."""

from __future__ import annotations

from pathlib import Path

import networkx as nx

from skgraphkde.graphs.files.reading import Graphs, Reading


def read_gml(path: Path, reading: Reading) -> Graphs:
    """Read the graph of a file. "label" names its nodes unless the user says that it is a label."""
    graph = nx.parse_gml(path.read_text(encoding="utf-8"), label=None)
    names = nx.get_node_attributes(graph, "label")
    if reading.node_label != "label" and len(set(names.values())) == len(graph):
        graph = nx.relabel_nodes(graph, names)
        for data in graph.nodes.values():
            del data["label"]
    elif reading.node_label is None and names:
        raise ValueError(
            "its node labels cannot be the names of its nodes, because some repeat or are missing; "
            "say whether to read them: --node-label label, or --node-label ''"
        )
    return [("", graph)]

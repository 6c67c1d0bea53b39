"""GraphML files -> networkx graphs. No entity is expanded and nothing is fetched."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.parsers import expat

from networkx.readwrite.graphml import GraphMLReader

from skgraphkde.graphs.files.reading import Graphs, Reading, numbered


def read_graphml(path: Path, reading: Reading) -> Graphs:
    """Read all graphs of a file and apply the defaults of the attributes that are read."""
    content = path.read_bytes()
    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = _refuse_doctype
    parser.Parse(content, True)
    # networkx.read_graphml does the same, but returns only the first graph.
    header = f'<graphml xmlns="{GraphMLReader.NS_GRAPHML}">'
    graphs = []
    for graph in GraphMLReader()(string=content.replace(b"<graphml>", header.encode())):
        # networkx does not apply defaults. Applying all of them to every node would let a small
        # file fill the memory.
        for key in (reading.label, *reading.columns):
            _set_default(graph.nodes, key, graph.graph["node_default"].get(key))
        weight = reading.edge_weight
        _set_default(graph.edges, weight, graph.graph["edge_default"].get(weight))
        graph.graph.clear()
        graphs.append(graph)
    if not graphs:
        raise ValueError("it contains no graph")
    return [("", graphs[0])] if len(graphs) == 1 else numbered(graphs)


def _set_default(elements: Any, key: str | None, value: Any) -> None:
    for element in elements if value is not None else ():
        elements[element].setdefault(key, value)


def _refuse_doctype(*_: Any) -> None:
    """A DOCTYPE can declare entities that expand to gigabytes, and refer to other files."""
    raise ValueError("it has a DOCTYPE, which no graph needs: remove that line")

"""One function a file format: a path -> the graphs in the file, or an error that says the cure.

In comes the path of a GraphML, GML or JSON file, or of a zip of the TU collection. Out go networkx
graphs, each with its place in the file: "" where it is alone, else "#0", "#1", ... Nothing in a
file is executed, fetched or unpacked to disk.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.parsers import expat

import networkx as nx
from networkx.readwrite.graphml import GraphMLReader

from skgraphkde.datasets._tu import read_zip

__all__ = ["FORMATS", "Reading", "load"]

Graphs = Iterable[tuple[str, nx.Graph]]

ZIP_BLOCK = 1_000  # graphs of a zip that are networkx graphs at a time


@dataclass(frozen=True)
class Reading:
    """Under which names files hold what belongs to their nodes and edges.

    Parameters
    ----------
    node_label : str, default=None
        Node attribute that is a discrete label; every graph must have it. None: "label", where
        there is one, but not in GML, where "label" is the node's name. "": no labels.
    node_attributes : tuple of str, default=None
        Node attributes that are numbers or vectors of numbers, laid side by side; every graph must
        have them. None: "x", where there is one. (): none.
    edge_weight : str, default=None
        Edge attribute that is a positive weight. None: every edge weighs 1.
    """

    node_label: str | None = None
    node_attributes: tuple[str, ...] | None = None
    edge_weight: str | None = None

    @property
    def label(self) -> str:
        """The name of the label, "" for none."""
        return "label" if self.node_label is None else self.node_label

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the attributes that are laid side by side."""
        return ("x",) if self.node_attributes is None else self.node_attributes

    @classmethod
    def of(cls, notes: dict[str, Any]) -> Reading:
        """From the notes in a detector's file; whoever wrote it may have written anything."""
        label, names, weight = map(notes.get, ("node_label", "node_attributes", "edge_weight"))
        texts = [label, weight, *(names if isinstance(names, list) else [names])]
        if not all(isinstance(text, str | None) for text in texts):
            raise ValueError(f"the notes in the model's file are no names of node data: {notes}")
        return cls(label, None if names is None else tuple(names), weight)


def load(path: Path, reading: Reading) -> Graphs:
    """The graphs of a file; all errors come from here, none from iterating.

    Parameters
    ----------
    path : Path
        With a suffix of :data:`FORMATS`.
    reading : Reading
        Some formats need to know what will be read.

    Raises
    ------
    ValueError
        If it cannot be read.
    """
    if not path.is_file():  # to open a pipe would wait forever
        raise ValueError(f"{path} is no regular file: leave it out")
    title, load_format, cure = FORMATS[path.suffix.lower()]
    try:
        return load_format(path, reading)
    except (MemoryError, ImportError):  # no fault of the file
        raise
    except Exception as error:  # whatever a parser makes of a broken file
        reason = _reason(error).removeprefix(f"{path}").strip(" ,")[:300]
        raise ValueError(f"{path} cannot be read as {title} ({reason}): {cure}") from error


def _reason(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "it is nested too deep"
    if isinstance(error, KeyError):
        return f"{error} is missing"
    return str(error) or type(error).__name__


def _load_graphml(path: Path, reading: Reading) -> Graphs:
    content = path.read_bytes()
    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = _refuse_doctype
    parser.Parse(content, True)
    # networkx.read_graphml does the same, and gives only the first graph.
    header = f'<graphml xmlns="{GraphMLReader.NS_GRAPHML}">'
    graphs = []
    for graph in GraphMLReader()(string=content.replace(b"<graphml>", header.encode())):
        # networkx leaves it to us to apply defaults. All of them, at each node, would fill the
        # memory from a small file.
        for key in (reading.label, *reading.columns):
            _set_default(graph.nodes, key, graph.graph["node_default"].get(key))
        weight = reading.edge_weight
        _set_default(graph.edges, weight, graph.graph["edge_default"].get(weight))
        graph.graph.clear()
        graphs.append(graph)
    if not graphs:
        raise ValueError("it holds no graph")
    return [("", graphs[0])] if len(graphs) == 1 else _numbered(graphs)


def _set_default(elements: Any, key: str | None, value: Any) -> None:
    for element in elements if value is not None else ():
        elements[element].setdefault(key, value)


def _refuse_doctype(*_: Any) -> None:
    """It can declare entities that expand to gigabytes, and name other files."""
    raise ValueError("it has a DOCTYPE, which no graph needs: take that line out")


def _load_gml(path: Path, reading: Reading) -> Graphs:
    """In GML "label" is the name of a node, unless the user says that it is a label."""
    graph = nx.parse_gml(path.read_text(encoding="utf-8"), label=None)
    names = nx.get_node_attributes(graph, "label")
    if reading.node_label != "label" and len(set(names.values())) == len(graph):
        graph = nx.relabel_nodes(graph, names)
        for data in graph.nodes.values():
            del data["label"]
    elif reading.node_label is None and names:
        raise ValueError(
            "its node labels are no names, as they repeat or some nodes have none; say whether to "
            "read them: --node-label label, or --node-label ''"
        )
    return [("", graph)]


def _load_json(path: Path, _: Reading) -> Graphs:
    content = json.loads(path.read_bytes())
    if content == []:
        raise ValueError("it holds no graph")
    if isinstance(content, list):
        return _numbered([_from_node_link(document) for document in content])
    return [("", _from_node_link(content))]


def _from_node_link(document: Any) -> nx.Graph:
    nodes = document.get("nodes") if isinstance(document, dict) else None
    if not isinstance(nodes, list):
        raise ValueError('a graph has no list "nodes"')
    key = "edges" if "edges" in document else "links"
    if not isinstance(document.get(key), list):
        raise ValueError('a graph has no list "edges" or "links"')
    graph = nx.node_link_graph(document | {"graph": {}}, edges=key)
    if len(graph) != len(nodes):
        raise ValueError("a node is listed twice, or an edge ends at a node that is not listed")
    return graph


def _load_zip(path: Path, _: Reading) -> Graphs:
    batch = read_zip(path)
    blocks = range(0, len(batch), ZIP_BLOCK)
    return _numbered(g for i in blocks for g in batch[i : i + ZIP_BLOCK].to_networkx())


def _numbered(graphs: Iterable[nx.Graph]) -> Iterator[tuple[str, nx.Graph]]:
    return ((f"#{i}", graph) for i, graph in enumerate(graphs))


#: What files with a suffix hold, how it is read, and the cure if it cannot be.
FORMATS: dict[str, tuple[str, Callable[[Path, Reading], Graphs], str]] = {
    ".graphml": ("GraphML", _load_graphml, "write it anew with networkx.write_graphml"),
    ".gml": ("GML", _load_gml, "write it anew with networkx.write_gml"),
    ".json": ("node-link JSON", _load_json, "give what networkx.node_link_data gives, or a list"),
    ".zip": ("a set of the TU collection", _load_zip, "give NAME.zip as it was downloaded"),
}

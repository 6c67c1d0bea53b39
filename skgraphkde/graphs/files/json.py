"""JSON files of nodes and links -> networkx graphs, directed or not.

The names are those of networkx, D3, Cytoscape, graphology, Neo4j, Sigma and vis.js.
"""

from __future__ import annotations

import json
from itertools import chain
from typing import Any

import networkx as nx

from skgraphkde.graphs.files.common import (
    AnyPath,
    Graphs,
    build_graph,
    decoded,
    named_places,
    numbered,
    read_content,
    without_places,
)
from skgraphkde.graphs.schema import GraphSchema

EDGES = ("edges", "links", "relationships")
# Names of the id of a node; of networkx, graphology and Neo4j.
IDS = ("id", "key", "identity")
# Names of the ends of an edge; of networkx, vis.js and, for directed edges, Neo4j.
ENDS = (("source", "target"), ("from", "to"), ("start", "end"), ("startNode", "endNode"))


def read_json(path: AnyPath, schema: GraphSchema) -> Graphs:
    """Read a file that holds a graph, or many in a list or by name.

    Parameters
    ----------
    path : Path or zipfile.Path
    schema : GraphSchema
        The names of what is read.
    """
    return parse_json(read_content(path), schema)


def parse_json(text: str | bytes, schema: GraphSchema) -> Graphs:
    """The graphs of a text, which is one graph, or many in a list or by name."""
    content = _loaded(decoded(text) if isinstance(text, bytes) else text)
    if isinstance(content, dict) and content and all(map(_is_graph, content.values())):
        return [(f"#{name}", _graph(x, schema)) for name, x in content.items()]
    if isinstance(content, list) and content and all(map(_is_element, content)):
        content = {"elements": content}
    if not isinstance(content, list) or _is_edge_list(content):
        return [("", _graph(content, schema))]
    if not content:
        raise ValueError("it contains no graph")
    graphs = []
    for i, document in enumerate(content):
        try:
            graphs.append(_graph(document, schema))
        except Exception as error:  # whatever a broken graph leads to
            raise ValueError(f"graph {i}: {error}") from error
    return numbered(graphs)


def _loaded(text: str) -> Any:
    """The content of a text, or of each of its lines, as Neo4j writes them."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        if not error.msg.startswith("Extra data"):
            raise
        return [json.loads(line) for line in text.splitlines() if line.strip()]


def _is_graph(x: Any) -> bool:
    return _is_edge_list(x) or (isinstance(x, dict) and "nodes" in x)


def _is_edge_list(x: Any) -> bool:
    """True for pairs of ids."""
    if not isinstance(x, list) or not x:
        return False
    are_pairs = all(isinstance(pair, list) and len(pair) == 2 for pair in x)
    return are_pairs and all(isinstance(end, int | str) for end in chain(*x))


def _is_element(x: Any) -> bool:
    """True for a node or an edge of Cytoscape or Neo4j."""
    return isinstance(x, dict) and ("data" in x or x.get("type") in ("node", "relationship"))


def _graph(document: Any, schema: GraphSchema) -> nx.Graph:
    """The graph of a document; networkx itself would merge parallel edges and nodes."""
    content = document if isinstance(document, dict) else {"edges": document}
    nodes, edges = _records(content.get("elements", content), schema)
    names = next(filter(None, map(_end_names, edges)), ENDS[0])
    pairs = [tuple(_end(edge.pop(name, None)) for name in names) for edge in edges]
    ids = _pop_ids(nodes, pairs)
    if not _are_known(pairs, ids):
        pairs = _at_positions(pairs, ids)
    joined = []
    for (source, target), edge in zip(pairs, edges, strict=True):
        if content.get("multigraph"):
            edge.pop("key", None)
        joined.append((source, target, edge, not edge.pop("undirected", False)))
    listed = [(x, without_places(node, schema)) for x, node in zip(ids, nodes, strict=True)]
    is_directed = names in ENDS[2:] or any("arrows" in edge for edge in edges)
    if isinstance(content.get("options"), dict):  # of graphology
        is_directed = content["options"].get("type") != "undirected"
    directed = content.get("directed", is_directed)
    if directed not in (True, False):
        raise ValueError(f'"directed" is {directed!r}: give true or false')
    # A list in place of data is in files of old versions of networkx.
    data = content.get("graph", content.get("data"))
    return build_graph(bool(directed), listed, joined, data if isinstance(data, dict) else {})


def _records(elements: Any, schema: GraphSchema) -> tuple[list[dict], list[dict]]:
    """The nodes and the edges, which are in two lists, or in one."""
    if isinstance(elements, list):
        elements = [_record(x, schema) for x in elements]
        edges = [x for x in elements if _end_names(x) is not None]
        return [x for x in elements if _end_names(x) is None], edges
    nodes: Any = elements.get("nodes")
    edges: Any = next((elements[name] for name in EDGES if name in elements), None)
    if _is_edge_list(edges):
        nodes = nodes or [{"id": x} for x in dict.fromkeys(chain(*edges))]
        edges = [{"source": u, "target": v} for u, v in edges]
    for what, records in (('"nodes"', nodes), ('"edges" or "links"', edges)):
        if not isinstance(records, list):
            raise ValueError(f"a graph has no list {what}")
        if not all(isinstance(record, dict) for record in records):
            raise ValueError("nodes and edges must be objects with names and values")
    return [_record(x, schema) for x in nodes], [_record(x, schema) for x in edges]


def _record(record: dict[str, Any], schema: GraphSchema) -> dict[str, Any]:
    """The data of a node or an edge, which some programs keep in an inner object."""
    data = record.get("data")
    if isinstance(data, dict):  # of Cytoscape, beside its place and the state of the view
        return named_places(record.get("position") or {}, schema) | data
    inner = record.get("attributes", record.get("properties"))
    if not isinstance(inner, dict):
        inner = {}
    return inner | {name: x for name, x in record.items() if x is not inner}


def _end_names(edge: dict[str, Any]) -> tuple[str, str] | None:
    """The names of the ends of an edge; None for a node."""
    return next((names for names in ENDS if edge.keys() >= set(names)), None)


def _end(value: Any) -> Any:
    """The id of an end, for which D3 and Neo4j have a node."""
    return _hashable(value.get("id", value.get("index")) if isinstance(value, dict) else value)


def _pop_ids(nodes: list[dict[str, Any]], pairs: list[tuple]) -> list[Any]:
    """The ids of nodes; if they have none, names that edges have for them, or positions."""
    for name in IDS:
        if any(name in node for node in nodes):
            return [_hashable(node.pop(name, i)) for i, node in enumerate(nodes)]
    names = [str(node.get("name", node.get("label"))) for node in nodes]
    are_names = any(isinstance(end, str) for end in chain(*pairs)) and _are_known(pairs, names)
    return names if are_names else list(range(len(nodes)))


def _are_known(pairs: list[tuple], ids: list[Any]) -> bool:
    return {str(end) for end in chain(*pairs)} <= set(map(str, ids))


def _at_positions(pairs: list[tuple], ids: list[Any]) -> list[tuple]:
    """The ends that are at some positions, in old files of D3 and networkx; numbers may be ids."""
    are_positions = all(type(end) is int and 0 <= end < len(ids) for end in chain(*pairs))
    if not are_positions or any(str(x).isdigit() for x in ids):
        return pairs
    return [(ids[u], ids[v]) for u, v in pairs]


def _hashable(node: Any) -> Any:
    """JSON has lists where a node id is a tuple."""
    return tuple(map(_hashable, node)) if isinstance(node, list) else node

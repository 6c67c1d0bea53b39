"""JSON files of nodes and links -> networkx graphs, directed or not.

The names are those of networkx, D3, Cytoscape, graphology, Neo4j, Sigma and vis.js. Lists of
neighbors, trees, bills of materials and lock files are read, too.
"""

from __future__ import annotations

import re
from itertools import chain
from typing import Any

import networkx as nx

from skgraphkde._messages import shown
from skgraphkde._utils import during, progress
from skgraphkde.core.graphs.schema import GraphSchema
from skgraphkde.reading.files.common import (
    Graphs,
    build_graph,
    documents,
    named_places,
    numbered,
    without_places,
)
from skgraphkde.reading.files.dependencies import (
    graph_of_cyclonedx,
    graph_of_npm,
    is_cyclonedx,
    is_npm_lock,
)
from skgraphkde.reading.formats.common import Directions

EDGES = ("edges", "links", "relationships")
# Names of the id of a node; of networkx, graphology and Neo4j.
IDS = ("id", "key", "identity")
# Names of what contains the data of a node or an edge; of Cytoscape, Sigma and Neo4j.
INNER = ("data", "attributes", "properties")
# What networkx writes for Cytoscape beside the id of a node: the same id.
COPIES = ("name", "value")
# What programs write beside nodes and edges, and is no data of the graph.
NO_DATA = {"directed", "multigraph", "format_version", "generated_by", "target_cytoscapejs_version"}
SCALARS = (str, int, float, bool)
# Names of the ends of an edge; of networkx, vis.js and, for directed edges, Neo4j.
ENDS = (("source", "target"), ("from", "to"), ("start", "end"), ("startNode", "endNode"))


def parse_json(text: str | bytes, schema: GraphSchema) -> Graphs:
    """The graphs of a text: one graph, a list of them, one in each line, or edges by name.

    Parameters
    ----------
    text : str or bytes
    schema : GraphSchema
        The names of what is read.
    """
    found = documents(text)
    return graphs_of(found[0] if len(found) == 1 else found, schema)


def graphs_of(content: Any, schema: GraphSchema) -> Graphs:
    """The graphs of a parsed text, as :func:`parse_json`."""
    may_be_names = isinstance(content, dict) and content and content.keys().isdisjoint(EDGES)
    if may_be_names and all(map(_is_edge_list, content.values())):
        return [(f"#{name}", _graph(x, schema)) for name, x in content.items()]
    if not isinstance(content, list) or _is_edge_list(content):
        return [("", _graph(content, schema))]
    if not content:
        raise ValueError("it contains no graph")
    if all(isinstance(x, dict) and "data" in x for x in content):  # nodes and edges of Cytoscape
        return [("", _graph({"elements": content}, schema))]
    graphs = []
    with during(0.0, 0.5):
        for i, document in enumerate(progress(content)):
            try:
                graphs.append(_graph(document, schema))
            except Exception as error:  # whatever a broken graph leads to
                raise ValueError(f"graph {i}: {error}") from error
    return list(numbered(graphs))


def _is_edge_list(x: Any) -> bool:
    """True for pairs of ids."""
    if not isinstance(x, list) or not x:
        return False
    are_pairs = all(isinstance(pair, list) and len(pair) == 2 for pair in x)
    return are_pairs and all(isinstance(end, int | str) for end in chain(*x))


def _graph(document: Any, schema: GraphSchema) -> nx.Graph:
    """The graph of a document; networkx itself would merge parallel edges and nodes."""
    if is_cyclonedx(document):
        return graph_of_cyclonedx(document)
    if is_npm_lock(document):
        return graph_of_npm(document)
    keys = set(document) if isinstance(document, dict) else set()
    if "adjacency" in keys:
        document = _links_of_adjacency(document)
    elif "children" in keys and keys.isdisjoint((*EDGES, "nodes")):
        document = _links_of_tree(document)
    content = document if isinstance(document, dict) else {"edges": document}
    nodes, edges = _records(content.get("elements", content), schema)
    names = next(filter(None, map(_end_names, edges)), ENDS[0])
    pairs = [tuple(_end(edge.pop(name, None)) for name in names) for edge in edges]
    ids, pairs = _identified(nodes, pairs)
    joined = []
    has_arrows = any("arrows" in edge for edge in edges)
    for (source, target), edge in zip(pairs, edges, strict=True):
        if content.get("multigraph") and isinstance(edge.get("key"), int):  # which only counts
            del edge["key"]
        is_one_way = not edge.pop("undirected", False)
        if has_arrows:
            arrows = _arrows(edge.pop("arrows", ""))
            is_one_way = len(arrows) == 1
            if arrows == {"from"}:
                source, target = target, source
        joined.append((source, target, edge, is_one_way))
    listed = [(x, without_places(node, schema)) for x, node in zip(ids, nodes, strict=True)]
    # graphology says so in its options, vis.js at each edge, and Neo4j nowhere.
    options = content.get("options")
    is_directed = isinstance(options, dict) and options.get("type", "undirected") != "undirected"
    is_directed |= names in ENDS[2:] or has_arrows
    directed = content.get("directed", is_directed)
    if directed not in (True, False):
        raise ValueError(f'"directed" is {directed!r}: give true or false')
    directions = Directions()
    if not directed:
        joined = [edge for edge in joined if not directions.is_return(*edge[:3])]
    # A list in place of data is in files of old versions of networkx.
    data = content.get("graph", content.get("data"))
    if isinstance(data, list):
        data = dict(pair for pair in data if isinstance(pair, list) and len(pair) == 2)
    beside = {x: y for x, y in content.items() if x not in NO_DATA and isinstance(y, SCALARS)}
    of_graph = beside | (data if isinstance(data, dict) else {})
    return build_graph(bool(directed), listed, joined, of_graph)


def _links_of_adjacency(document: dict[str, Any]) -> dict[str, Any]:
    """The nodes and links of what networkx.adjacency_data returns.

    An undirected edge is in the lists of both of its ends.
    """
    links = []
    for node, neighbors in zip(document["nodes"], document["adjacency"], strict=True):
        for neighbor in neighbors:
            data = {name: x for name, x in neighbor.items() if name != "id"}
            links.append({**data, "source": node["id"], "target": neighbor["id"]})
    rest = {name: x for name, x in document.items() if name != "adjacency"}
    return rest | {"links": links}


def _links_of_tree(document: dict[str, Any]) -> dict[str, Any]:
    """The nodes and links of a tree, as networkx.tree_data and D3 write it.

    Links lead from each node to its children. Unless all nodes have ids, they are numbered.
    """
    nodes: list[dict[str, Any]] = []
    pairs = []
    ahead: list[tuple[int, dict[str, Any]]] = [(-1, document)]
    while ahead:
        parent, tree = ahead.pop()
        number = len(nodes)
        nodes.append({x: y for x, y in tree.items() if x != "children"})
        if parent >= 0:
            pairs.append((parent, number))
        ahead += [(number, child) for child in reversed(tree.get("children") or [])]
    if not all("id" in node for node in nodes):
        nodes = [{**node, "id": k} for k, node in enumerate(nodes)]
    ids = [node["id"] for node in nodes]
    links = [{"source": ids[u], "target": ids[v]} for u, v in pairs]
    return {"nodes": nodes, "links": links, "directed": True}


def _arrows(text: Any) -> set[str]:
    """The ends of an edge of vis.js that have an arrow, "to" and "from"."""
    arrows = set(re.findall(r"[^\s,;]+", text)) if isinstance(text, str) else {repr(text)}
    if not arrows <= {"to", "from"}:
        raise ValueError(f'an edge has "arrows": {text!r}: give "to", "from", or "to, from"')
    return arrows


def _records(elements: Any, schema: GraphSchema) -> tuple[list[dict], list[dict]]:
    """The nodes and the edges, which are in two lists, or in one."""
    if isinstance(elements, list):
        elements = [_record(x, schema) for x in _objects(elements)]
        nodes = [x for x in elements if _end_names(x) is None]
        return nodes, [x for x in elements if _end_names(x) is not None]
    elements = elements if isinstance(elements, dict) else {}
    nodes = elements.get("nodes")
    edges: Any = next((elements[name] for name in EDGES if name in elements), None)
    if _is_edge_list(edges):
        nodes = nodes or [{"id": x} for x in dict.fromkeys(chain(*edges))]
        edges = [{"source": u, "target": v} for u, v in edges]
    for what, records in (('"nodes"', nodes), ('"edges" or "links"', edges)):
        if not isinstance(records, list):
            raise ValueError(f"a graph has no list {what}")
    nodes = _objects(nodes)
    edges = _objects(edges)
    return [_record(x, schema) for x in nodes], [_record(x, schema) for x in edges]


def _objects(records: list) -> list[dict]:
    """The nodes or edges, if each is an object."""
    for record in records:
        if not isinstance(record, dict):
            raise ValueError(
                f"{shown(repr(record))} is no node and no edge: write objects with names and values"
            )
    return records


def _record(record: dict[str, Any], schema: GraphSchema) -> dict[str, Any]:
    """The data of a node or an edge, which some programs keep in an inner object.

    Another one has its place in a drawing.
    """
    inner = next((x for name in INNER if isinstance(x := record.get(name), dict)), {})
    data = inner
    if {str(data.get(name)) for name in COPIES} == {str(data.get("id"))} != {"None"}:
        data = {name: x for name, x in data.items() if name not in COPIES}
    place = x if isinstance(x := record.get("position"), dict) else {}
    outer = {name: x for name, x in record.items() if x is not inner and x is not place}
    return named_places(place, schema) | data | outer


def _end_names(edge: dict[str, Any]) -> tuple[str, str] | None:
    """The names of the ends of an edge; None for a node."""
    return next((names for names in ENDS if edge.keys() >= set(names)), None)


def _end(value: Any) -> Any:
    """The id of an end, for which D3 and Neo4j have a node."""
    return _hashable(value.get("id", value.get("index")) if isinstance(value, dict) else value)


def _identified(nodes: list[dict], pairs: list[tuple]) -> tuple[list, list[tuple]]:
    """The ids of the nodes, and the pairs of them that edges join.

    Edges of old files of D3 and networkx join positions of nodes. Nodes without ids have names, if
    edges join these, or else their positions for ids.
    """
    ends = set(chain(*pairs))
    are_positions = ends <= set(range(len(nodes)))
    for name in IDS:
        if any(name in node for node in nodes):
            ids = [_id(node.pop(name, i)) for i, node in enumerate(nodes)]
            if are_positions and not any(str(x).isdigit() for x in ids):
                pairs = [(ids[u], ids[v]) for u, v in pairs]
            return ids, pairs
    names = [str(node.get("name", node.get("label"))) for node in nodes]
    are_names = not are_positions and set(map(str, ends)) <= set(names)
    return names if are_names else list(range(len(nodes))), pairs


def _id(node: Any) -> Any:
    """The id of a node, if it can be one."""
    if node is None:
        raise ValueError("a node has the id null: give a number or a text")
    return _hashable(node)


def _hashable(node: Any) -> Any:
    """JSON has lists where a node id is a tuple."""
    if isinstance(node, dict):
        raise ValueError(f"{shown(repr(node))} is no id of a node: give a number or a text")
    return tuple(map(_hashable, node)) if isinstance(node, list) else node

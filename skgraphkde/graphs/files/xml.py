"""XML files -> trees of elements, and what GraphML and GEXF have in common.

No entity is expanded and nothing is fetched.
"""

from __future__ import annotations

from typing import Any
from xml.etree.ElementTree import Element, TreeBuilder, XMLParser, fromstring

import networkx as nx

from skgraphkde.graphs.files.common import check_nodes_and_edges


class _Builder(TreeBuilder):
    """Refuse a DOCTYPE, which can declare entities that expand to gigabytes."""

    def doctype(self, *_: Any) -> None:
        raise ValueError("it has a DOCTYPE, which no graph needs: remove that line")


def parse_xml(content: bytes) -> Element:
    """The root of a document without DOCTYPE."""
    return fromstring(content, XMLParser(target=_Builder()))


def choice(element: Element, name: str, choices: tuple[str, ...], default: str) -> str:
    """The value of an XML attribute, one of some words.

    Parameters
    ----------
    element : Element
    name : str
    choices : tuple of str
    default : str
        The value if the attribute is not there.
    """
    value = element.get(name, default)
    if value not in choices:
        raise ValueError(f"{name} is {value!r}: give one of {', '.join(choices)}")
    return value


def check_elements(nodes: list[Element], edges: list[Element]) -> None:
    """Raise a ValueError if ids are missing, or come twice, or an edge has an unknown end.

    Parameters
    ----------
    nodes, edges : list of Element
    """
    ids = [_required(node, "a node", "id") for node in nodes]
    ends = [[_required(x, "an edge", end) for end in ("source", "target")] for x in edges]
    check_nodes_and_edges(ids, ends)


def _required(element: Element, kind: str, name: str) -> str:
    value = element.get(name)
    if value is None:
        raise ValueError(f"{kind} has no {name!r}")
    return value


def add_opposites(graph: nx.MultiGraph, are_directed: list[bool]) -> None:
    """Add the second arc of each undirected edge, if the graph is directed.

    Parameters
    ----------
    graph : MultiGraph or MultiDiGraph
        The key of each edge is its position in the file.
    are_directed : list of bool
        Of each edge in the file.
    """
    if graph.is_directed():
        arcs = graph.edges(keys=True, data=True)
        opposites = [(v, u, data) for u, v, i, data in arcs if u != v and not are_directed[i]]
        graph.add_edges_from(opposites)

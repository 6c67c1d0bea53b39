"""XML files -> trees of elements, mended so that networkx can read them.

No entity is expanded and nothing is fetched.
"""

from __future__ import annotations

import copy
from typing import Any
from xml.etree.ElementTree import Element, fromstring
from xml.parsers import expat

from skgraphkde.graphs.files.common import check_nodes_and_edges


def parse_xml(content: bytes) -> Element:
    """The root of a document without DOCTYPE."""
    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = _refuse_doctype
    parser.Parse(content, True)
    return fromstring(content)


def _refuse_doctype(*_: Any) -> None:
    """A DOCTYPE can declare entities that expand to gigabytes, and refer to other files."""
    raise ValueError("it has a DOCTYPE, which no graph needs: remove that line")


def local_name(element: Element) -> str:
    """The name of an element without its namespace, which differs by version."""
    return element.tag.rpartition("}")[2]


def required(element: Element, name: str) -> str:
    """The value of an XML attribute that must be there.

    Parameters
    ----------
    element : Element
    name : str
    """
    value = element.get(name)
    if value is None:
        kind = local_name(element)
        raise ValueError(f"{'an' if kind == 'edge' else 'a'} {kind} has no {name!r}")
    return value


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
    ids = [required(node, "id") for node in nodes]
    check_nodes_and_edges(ids, [(required(x, "source"), required(x, "target")) for x in edges])


def one_direction(edges: list[Element], kinds: list[str]) -> tuple[list[Element], bool]:
    """Edges of which all are directed or none, as networkx wants them.

    Parameters
    ----------
    edges : list of Element
    kinds : list of str
        "directed", "undirected" or "mutual".

    Returns
    -------
    edges : list of Element
        If some are directed, the others become two arcs each.
    is_directed : bool
    """
    is_directed = any(kind != "undirected" for kind in kinds)
    arcs = []
    for edge, kind in zip(edges, kinds, strict=True):
        arcs.append(edge)
        source, target = edge.get("source", ""), edge.get("target", "")
        if is_directed and kind != "directed" and source != target:
            back = copy.deepcopy(edge)
            back.attrib |= {"source": target, "target": source}
            arcs.append(back)
    return arcs, is_directed

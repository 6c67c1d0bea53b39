"""Pajek: a network in sections of a text file -> a networkx graph.

Read are the labels of vertices, and all kinds of edges: arcs, edges, lists of both, matrices, and
relations. The places and shapes of vertices are not, nor partitions and vectors.
"""

from __future__ import annotations

import re
from collections import Counter
from contextlib import suppress
from typing import Any

from skgraphkde._messages import listed
from skgraphkde._utils import warn
from skgraphkde.core.graphs.schema import GraphSchema
from skgraphkde.reading.files.common import AnyPath, Graphs, build_graph, decoded, read_content

# Sections that have edges, and whether these have a direction.
OF_EDGES = {"arcs": True, "edges": False, "arcslist": True, "edgeslist": False, "matrix": True}
SECTION = re.compile(r"\*(\w+)\s*(.*)")
# A cell of a line, which may be in quotes.
CELL = re.compile(r'"([^"]*)"|(\S+)')
# After the number of a relation, its name in quotes.
RELATION = re.compile(r':(\d+)(?:\s+"?([^"]*)"?)?')


def read_pajek(path: AnyPath, _: GraphSchema) -> Graphs:
    """The graph of a file of Pajek.

    Parameters
    ----------
    path : Path or zipfile.Path
    _ : GraphSchema
        This format needs none.
    """
    sections = _sections_of(decoded(read_content(path)))
    n_networks = [kind for kind, _rest, _lines in sections].count("vertices")
    if n_networks > 1:
        raise ValueError(f"it has {n_networks} networks: write each into a file of its own")
    names: list[str] = []
    edges: list[tuple[int, int, dict[str, Any], bool]] = []
    others = []
    for kind, rest, lines in sections:
        if kind == "vertices" and not names:
            names = _names_of(int(rest.split()[0]), lines)
        elif kind in OF_EDGES:
            relation = RELATION.match(rest)
            data = {"relation": relation[2] or relation[1]} if relation else {}
            for u, v, weight in _pairs_of(kind, lines):
                of_edge = data if weight is None else {**data, "weight": weight}
                edges.append((u, v, of_edge, OF_EDGES[kind]))
        elif kind != "network":
            others.append(kind)
    if not names:
        raise ValueError("it has no *Vertices")
    if others:
        warn(f"{path}: not read: {listed([f'*{x}' for x in others])}")
    is_matrix = any(section[0] == "matrix" for section in sections)
    if is_matrix and {(u, v, str(x)) for u, v, x, _way in edges} == {
        (v, u, str(x)) for u, v, x, _way in edges
    }:
        edges = [(u, v, data, False) for u, v, data, _way in edges if u <= v]
    for u, v, _data, _way in edges:
        if not (1 <= u <= len(names) and 1 <= v <= len(names)):
            raise ValueError(f"an edge joins {u} and {v}, of {len(names)} vertices")
    joined = [(names[u - 1], names[v - 1], data, way) for u, v, data, way in edges]
    is_directed = any(edge[-1] for edge in joined)
    return [("", build_graph(is_directed, [(name, {}) for name in names], joined, {}))]


def _sections_of(text: str) -> list[tuple[str, str, list[str]]]:
    """Of each section its kind, the rest of its first line, and its other lines."""
    found: list[tuple[str, str, list[str]]] = []
    for line in map(str.strip, text.splitlines()):
        start = SECTION.match(line)
        if start:
            found.append((start[1].lower(), start[2], []))
        elif line and not line.startswith("%"):
            if not found:
                raise ValueError(f"it begins with {line[:40]!r}, and not with *Vertices")
            found[-1][2].append(line)
    return found


def _names_of(n: int, lines: list[str]) -> list[str]:
    """The labels of the vertices, or their numbers; equal labels are followed by these."""
    labels = {k: str(k) for k in range(1, n + 1)}
    for line in lines:
        number, *rest = [quoted or plain for quoted, plain in CELL.findall(line)]
        if rest:
            labels[int(number)] = rest[0]
    counts = Counter(labels.values())
    names = [x if counts[x] == 1 else f"{x} ({k})" for k, x in labels.items()]
    if len(names) != n:
        raise ValueError(f"it lists a vertex beyond {n}, their number")
    return names


def _pairs_of(kind: str, lines: list[str]) -> list[tuple[int, int, float | None]]:
    """The pairs of vertices that a section joins, and their weights."""
    found: list[tuple[int, int, float | None]] = []
    for row, line in enumerate(lines, 1):
        cells = line.split()
        if kind == "matrix":
            for column, cell in enumerate(cells, 1):
                if float(cell) != 0:
                    found.append((row, column, float(cell)))
        elif kind.endswith("list"):
            found += [(int(cells[0]), int(cell), None) for cell in cells[1:]]
        else:
            weight = None
            if len(cells) > 2:
                with suppress(ValueError):  # of how it is drawn
                    weight = float(cells[2])
            found.append((int(cells[0]), int(cells[1]), weight))
    return found

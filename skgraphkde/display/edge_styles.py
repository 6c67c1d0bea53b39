"""Styles of edges: a graph and the categories of all pictures -> a color and a line for each arc.

Pictures that are seen together are given the same categories, and then a style means the same.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np

from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.graphs.naming import printable

GRAY = "#8c8c8c"
# Distinct with color blindness and without color, and not the colors of nodes (Okabe and Ito; Tol).
STYLES: tuple[tuple[str, Any], ...] = (
    ("#6b6b6b", "solid"),
    ("#009E73", (0, (4, 1.5))),
    ("#E69F00", "solid"),
    ("#CC79A7", (0, (1, 1))),
    ("#56B4E9", (0, (5, 1.5, 1, 1.5))),
    ("#882255", "solid"),
    ("#999933", (0, (2, 1))),
    ("#332288", (0, (1, 1))),
)
# Categories that chemists draw as so many lines.
BONDS: dict[str, tuple[Any, ...]] = {
    "single": ("solid",),
    "double": ("solid",) * 2,
    "triple": ("solid",) * 3,
    "aromatic": ("solid", (0, (2, 1.5))),
}
# Of the known categories, so many have styles of their own before new ones, if not all have.
FIRST = 6


def common_categories(references: GraphBatch | None, graphs: Iterable[GraphBatch]) -> list:
    """The categories of the edges of all pictures, those first that need styles of their own.

    Parameters
    ----------
    references : GraphBatch or None
        What is known; its common categories come first, then those of `graphs` that it lacks.
    graphs : iterable of GraphBatch
        What is drawn.
    """
    known: list[Hashable] = []
    if references is not None and references.edge_labels is not None:
        names = references.edge_label_names
        counts = np.bincount(references.edge_labels, minlength=len(names))
        known = [names[code] for code in np.argsort(-counts, kind="stable") if counts[code]]
    new: dict[Hashable, None] = {}
    for graph in graphs:
        if graph.edge_labels is not None:
            used = np.unique(graph.edge_labels).tolist()
            new |= dict.fromkeys(graph.edge_label_names[code] for code in used)
    return list(dict.fromkeys([*known[:FIRST], *(x for x in new if x not in known), *known]))


def edge_styles(
    batch: GraphBatch, categories: Sequence[Hashable] = ()
) -> tuple[np.ndarray, list[tuple[str, Any]], list[str], list[tuple[Any, ...]]]:
    """How to draw the arcs of one graph.

    Parameters
    ----------
    batch : GraphBatch
        Of one graph.
    categories : sequence, default=()
        Those that have styles before others. Without any, the vocabulary of the graph decides.

    Returns
    -------
    groups : ndarray of shape (n_arcs,)
        The style of each arc.
    styles : list of (color, line)
    names : list of str
        Of the styles; [] if there is nothing to say about them.
    lines : list of tuples
        The line styles of each style: several are parallel lines.
    """
    codes = batch.edge_labels
    if codes is None:
        n_arcs = batch.adjacency.nnz
        return np.zeros(n_arcs, dtype=int), [(GRAY, "solid")], [], [("solid",)]
    vocabulary = list(dict.fromkeys([*categories, *batch.edge_label_names]))
    place = {name: i for i, name in enumerate(vocabulary)}
    codes = np.array([place[name] for name in batch.edge_label_names])[codes]
    names = [in_words(name) for name in vocabulary]
    if not batch.directed and all(name.casefold() in BONDS for name in names):
        lines = [BONDS[name.casefold()] for name in names]
        return codes, [(GRAY, "solid")] * len(names), [], lines  # lines say it without a legend
    counts = np.bincount(codes, minlength=len(names))
    chosen = np.arange(min(len(names), len(STYLES)))
    if len(names) > len(STYLES) and not categories:  # nothing to agree with: those of this graph
        chosen = np.argsort(-counts, kind="stable")[: len(STYLES)]
        chosen = chosen[counts[chosen] > 0]
    group_of = np.full(len(names), len(chosen))
    group_of[chosen] = np.arange(len(chosen))
    styles = [*STYLES[: len(chosen)], ("#d0d0d0", "solid")]
    others = np.setdiff1d(np.flatnonzero(counts), chosen)
    rest = names[others[0]] if len(others) == 1 else f"{len(others)} others"
    names = [*(names[code] for code in chosen), rest]
    return group_of[codes], styles, names, [(line,) for _, line in styles]


def in_words(name: Hashable) -> str:
    """A category in words, without mathematics between dollars; a missing one is "?"."""
    values = name if isinstance(name, tuple) else (name,)
    text = printable(" ".join("?" if value is None else str(value) for value in values))
    return text.replace("$", r"\$")

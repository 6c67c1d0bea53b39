"""Names of nodes, edges and their surroundings, by their categories."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from skgraphkde._words import Words, category_text, category_word, legible
from skgraphkde.core.graphs.batch import GraphBatch
from skgraphkde.core.views.categories import Vocabulary
from skgraphkde.core.views.neighborhoods import Neighborhoods

# Bonds, as RDKit names them, and people do not.
BONDS = r"^(SINGLE|DOUBLE|TRIPLE|AROMATIC)(?=$|,| \()"


def pair_words(vocabulary: Vocabulary, steps: tuple[Any, Any], i: int) -> str:
    """Two steps with the same value of the category `i`, in words."""
    name = vocabulary.names[vocabulary.step]
    same = vocabulary.names[i]
    both = " and ".join(sorted(category_word(name, step) for step in steps))
    return f"{name} {both} with the same {same}"


def shared_words(
    vocabulary: Vocabulary, graphs: GraphBatch, i: int, nodes: np.ndarray
) -> list[str]:
    """The value of the category `i` of some nodes, in words."""
    values = graphs.values_by_category("node")[vocabulary.names[i]]
    return [legible(values[code]) for code in graphs.labels[nodes]]


def words_of(vocabulary: Vocabulary, names: Sequence[str], values: tuple) -> str:
    """Some categories of what is compared, in words, with the names of all but the main one."""
    if len(names) > 1:
        return compared_words(names, values)
    [name], [value] = names, values
    return compared_words(names, value) if name == vocabulary.named else category_text(name, value)


def names_of_nodes(
    vocabulary: Vocabulary, graphs: GraphBatch, categories: Sequence[int]
) -> list[str]:
    """Some categories of each node, in words; how many others it is linked to, without any.

    Parameters
    ----------
    vocabulary : Vocabulary
    graphs : GraphBatch
    categories : sequence of int
        Indices of the categories.
    """
    if not vocabulary.by_label:
        node = graphs.schema.words.node
        return [f"{node} linked to {n} other{'s' * (n != 1)}" for n in graphs.degrees.tolist()]
    by_category = graphs.values_by_category("node")
    names = [vocabulary.names[i] for i in categories]
    # A list of graphs has thousands of values, and one of them a few.
    used, place = np.unique(np.asarray(graphs.labels), return_inverse=True)
    words = list[str]()
    for code in used.tolist():
        values = tuple(by_category[name][code] for name in names)
        words.append(words_of(vocabulary, names, values))
    return [words[k] for k in place.tolist()]


def node_words(
    vocabulary: Vocabulary, graph: GraphBatch, node: int, names: Sequence[Any] | None
) -> str:
    """The id of a node of a batch of one graph, and its label, or what it is a step of."""
    called = str(node if names is None else names[node])
    if graph.labels is None:
        return called
    value = graph.values_by_category("node")[vocabulary.named][graph.labels[node]]
    if names is not None and (value is None or isinstance(value, bool)):  # says little of it
        return called
    return (
        called
        if str(value) == called
        else f"{called} ({compared_words([vocabulary.named], value)})"
    )


def _main_words(name: str, value: Any) -> str:
    """The category by which something is called; with its name, if it is no word."""
    text = category_word(name, value)
    is_word = text not in ("True", "False") and any(map(str.isalpha, text))
    return text if is_word else category_text(name, value)


def compared_words(
    names: Sequence[str], value: Any, main: Callable[[str, Any], str] = _main_words
) -> str:
    """The categories of what is compared with others, in words that say what is false, too.

    Parameters
    ----------
    names : sequence of str
        Of the categories.
    value : object
        A tuple if there are several names.
    main : callable
        Words for the first category, or for the label.

    Examples
    --------
    >>> compared_words(["label", "charge", "ring", "aromatic"], ("N", 1, True, False))
    'N (charge=1, ring, not aromatic)'
    >>> compared_words(["aromatic"], False), compared_words(["status"], 2)
    ('not aromatic', 'status=2')
    >>> compared_words(["activity"], "pay")
    'pay'
    """
    of_names = dict(zip(names, value if len(names) > 1 else [value], strict=True))
    first = "label" if "label" in of_names else names[0]
    head = main(first, of_names.pop(first))
    others = [category_text(name, x) for name, x in of_names.items()]
    return f"{head} ({', '.join(others)})" if others else head


def edge_words(names: Sequence[str], value: Any, noun: str) -> str:
    """An edge by its categories.

    Parameters
    ----------
    names, value
        As for :func:`compared_words`.
    noun : str
        What people call an edge.

    Examples
    --------
    >>> edge_words(["label"], "SINGLE", "bond"), edge_words(["via"], None, "link")
    ('single bond', 'link without via')
    >>> edge_words(["paid"], "no", "link"), edge_words(["label", "slow"], ("next", True), "link")
    ('paid=no link', "'next' (slow) link")
    """
    if value is None:
        return f"{noun} without {names[0]}"
    return f"{compared_words(names, value, edge_category)} {noun}"


def edge_category(name: str, value: Any) -> str:
    """One category of an edge: "via=mail", "single" for a bond; other labels are quoted."""
    text = category_text(name, value)
    is_plain = name != "label" or value is None or text[0] == "'" or re.match(BONDS, text, re.I)
    return with_bond(text) if is_plain else f"'{text}'"


def with_bond(text: str) -> str:
    """The categories of an edge, with small letters for a bond: "single" for "SINGLE"."""
    return re.sub(BONDS, lambda bond: bond[0].lower(), text)


def edge_name(graphs: GraphBatch, code: int, start: str, end: str, noun: str) -> str:
    """An edge by the code of its category and its ends: "single bond C - O", "pay -> post"."""
    ends = f"{start} -> {end}" if graphs.directed else " - ".join(sorted((start, end)))
    if graphs.edge_labels is None:
        return ends
    value = graphs.edge_label_names[code]
    return f"{edge_words(graphs.schema.edge_categories, value, noun)} {ends}"


def with_times(things: Counter[str]) -> list[str]:
    """Names of things by the alphabet, each after its number if there are several of it."""
    return [f"{n} times {x}" if n > 1 else x for x, n in sorted(things.items())]


def surrounding_names(graph: GraphBatch, nodes: list[str], words: Words) -> list[str]:
    """Each node of a batch of one graph with all its edges and neighbors, in words.

    Parameters
    ----------
    graph : GraphBatch
    nodes : list of str
        What each node is called.
    words : Words
        For edges.
    """
    before, after = ([Counter[str]() for _ in nodes] for _ in range(2))
    for arc, (u, v) in enumerate(zip(graph.source_of_arc, graph.adjacency.indices, strict=True)):
        by = ""
        if graph.edge_labels is not None:
            value = graph.edge_label_names[graph.edge_labels[arc]]
            by = f" ({edge_words(graph.schema.edge_categories, value, words.edge)})"
        after[u][f"{nodes[v]}{by}"] += 1
        before[v][f"{nodes[u]}{by}"] += 1
    texts = []
    for node, *near in zip(nodes, before, after, strict=True):
        into, out = (" and ".join(with_times(side)) or "nothing" for side in near)
        n = sum(side.total() for side in near) if graph.directed else near[1].total()
        sides = f"before it {into}; after it {out}" if graph.directed else out
        how = f"with exactly {'one neighbor' if n == 1 else 'these neighbors'}: {sides}"
        texts.append(f"{node} {how if n else 'linked to no other'}")
    return texts


def around_words(
    neighborhoods: Neighborhoods, graph: GraphBatch, node: int, radius: int
) -> list[str]:
    """The other nodes of a neighborhood, in words, each after its number if there are several.

    Parameters
    ----------
    neighborhoods : Neighborhoods
    graph : GraphBatch
        Batch of one graph.
    node : int
    radius : int
    """
    vocabulary = neighborhoods.vocabulary
    names = names_of_nodes(vocabulary, graph, vocabulary.together)
    near = neighborhoods.nodes_around(graph, node, radius)
    return with_times(Counter(names[v] for v in near.tolist()))

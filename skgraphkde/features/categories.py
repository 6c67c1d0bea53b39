"""Values of categories: warnings about values that `fit` did not see or that look alike."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

import numpy as np

from skgraphkde.computing.warn import warn
from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.graphs.naming import listed, shown

Vocabularies = tuple[tuple[Hashable, ...], ...]


def by_category(names: Sequence[Hashable], n_categories: int) -> Vocabularies:
    """Distinct values of each category.

    Parameters
    ----------
    names : sequence of hashable
        Values of one category, or tuples with a value for each of several categories.
    n_categories : int

    Returns
    -------
    tuple of tuple
    """
    values: Iterable = (names,) if n_categories == 1 else zip(*names, strict=True)
    return tuple(tuple(dict.fromkeys(category_values)) for category_values in values)


def node_values(batch: GraphBatch) -> Vocabularies:
    """Distinct values of the nodes' categories."""
    return _used(batch.labels, batch.label_names, len(batch.schema.node_categories))


def edge_values(batch: GraphBatch) -> Vocabularies:
    """Distinct values of the edges' categories."""
    return _used(batch.edge_labels, batch.edge_label_names, len(batch.schema.edge_categories))


def graph_values(batch: GraphBatch) -> Vocabularies:
    """Distinct values of the categories of the graphs themselves."""
    return _used(batch.graph_labels, batch.graph_label_names, len(batch.schema.graph_categories))


def _used(codes: np.ndarray | None, names: Sequence[Hashable], n_categories: int) -> Vocabularies:
    used = () if codes is None else np.unique(np.asarray(codes)).tolist()
    return by_category([names[code] for code in used], max(n_categories, 1))


def warn_of_unseen(
    what: str,
    categories: Sequence[str],
    used: Vocabularies,
    known: Vocabularies,
) -> None:
    """Warn once about values that `fit` did not see, and about known values that look alike.

    Parameters
    ----------
    what : str
        Noun for the values in the message.
    categories : sequence of str
        Names of the categories.
    used, known : tuple of tuple
        Values of the graphs and values of `fit`, by category.
    """
    found = []
    for name, values, vocabulary in zip(categories, used, known, strict=False):
        known_values = set(vocabulary)
        unseen = [value for value in values if value not in known_values]
        if not unseen:
            continue
        text = f"{listed([_visible(value) for value in unseen])} of {shown(name)!r}"
        by_look = {str(value): value for value in vocabulary}
        alike = [(x, by_look[str(x)]) for x in unseen if str(x) in by_look]
        if alike:
            text += f" ({_types(*alike[0])})"
        found.append(text)
    if found:
        warn(f"{what} that fit did not see: {'; '.join(found)}")


def warn_of_unseen_data(graphs: GraphBatch, known: GraphBatch) -> None:
    """Warn once about categories of edges, and of graphs, that no reference has.

    Parameters
    ----------
    graphs : GraphBatch
        New graphs.
    known : GraphBatch
        The references.
    """
    categories = graphs.schema.edge_categories
    if categories and categories == known.schema.edge_categories:
        values = by_category(known.edge_label_names, len(categories))
        warn_of_unseen("edge categories", categories, edge_values(graphs), values)
    categories = graphs.schema.graph_categories
    if categories and categories == known.schema.graph_categories:
        known_values = graph_values(known)
        warn_of_unseen("categories of graphs", categories, graph_values(graphs), known_values)


def warn_of_alike(what: str, categories: Sequence[str], vocabularies: Vocabularies) -> None:
    """Warn about different values of a category with the same text, such as 1 and "1".

    Parameters
    ----------
    what : str
        Noun for the category in the message.
    categories : sequence of str
        Names of the categories.
    vocabularies : tuple of tuple
        Values of each category.
    """
    for name, vocabulary in zip(categories, vocabularies, strict=False):
        by_look: dict[str, Hashable] = {}
        for value in vocabulary:
            first = by_look.setdefault(str(value), value)
            if first is not value:
                warn(
                    f"{what} {shown(name)!r}: {_types(value, first)}, so they count as different "
                    "values: write them alike"
                )
                break


def _types(value: Hashable, known: Hashable) -> str:
    text, other = shown(repr(value)), shown(repr(known))
    return f"{text} is a {type(value).__name__} and {other} a {type(known).__name__}"


def _visible(value: Hashable) -> Hashable:
    """Quote blank text, which would be invisible in a message."""
    return repr(value) if isinstance(value, str) and not value.strip() else value

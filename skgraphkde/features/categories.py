"""Values of categories: warnings about values that `fit` did not see or that look alike."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping

import numpy as np

from skgraphkde._utils import warn
from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.graphs.naming import listed, shown
from skgraphkde.graphs.schema import PARTS


class UnseenWarning(UserWarning):
    """A warning about values that `fit` did not see.

    Parameters
    ----------
    what : str
        Noun for the values.
    values : dict of list
        The values of each category.
    alike : dict of str
        What is said of values that look like known ones, by category.
    """

    def __init__(
        self, what: str, values: Mapping[str, Iterable[Hashable]], alike: Mapping[str, str]
    ) -> None:
        super().__init__(what, values, alike)
        self.what, self.values, self.alike = what, values, alike

    def __str__(self) -> str:
        found = [
            # Blank text would be invisible in a message.
            f"{listed([repr(x) if isinstance(x, str) and not x.strip() else x for x in values])} "
            f"of {shown(name)!r}{self.alike.get(name, '')}"
            for name, values in self.values.items()
        ]
        return f"{self.what} that fit did not see: {'; '.join(found)}"

    def joined(self, later: UnseenWarning) -> UnseenWarning:
        """The warning about the values of both, which are about the same `what`."""
        values = {
            name: dict.fromkeys([*self.values.get(name, ()), *later.values.get(name, ())])
            for name in [*self.values, *later.values]
        }
        return UnseenWarning(self.what, values, {**later.alike, **self.alike})


def values_in_use(batch: GraphBatch, part: str) -> dict[str, tuple[Hashable, ...]]:
    """Distinct values of each category that nodes, edges or graphs have.

    Parameters
    ----------
    batch : GraphBatch
    part : {"node", "edge", "graph"}
    """
    codes = batch.data(part).labels
    used = [] if codes is None else np.bincount(codes).nonzero()[0].tolist()
    return {
        name: tuple(dict.fromkeys([values[code] for code in used]))
        for name, values in batch.values_by_category(part).items()
    }


def warn_of_unseen(
    what: str,
    used: Mapping[str, Iterable[Hashable]],
    known: Mapping[str, Iterable[Hashable]],
) -> None:
    """Warn once about values that `fit` did not see, and about known values that look alike.

    Parameters
    ----------
    what : str
        Noun for the values in the message.
    used, known : mapping from str to iterable of hashable
        Values of the graphs and values of `fit`, by category, in the same order.
    """
    found: dict[str, list[Hashable]] = {}
    hints = {}
    for (name, vocabulary), values in zip(known.items(), used.values(), strict=True):
        known_values = set(vocabulary)
        unseen = [value for value in values if value not in known_values]
        if not unseen:
            continue
        found[name] = unseen
        by_look = {str(value): value for value in vocabulary}
        alike = [(x, by_look[str(x)]) for x in unseen if str(x) in by_look]
        if alike:
            hints[name] = f" ({_types(*alike[0])})"
    if found:
        warn(UnseenWarning(what, found, hints))


def warn_of_unseen_data(graphs: GraphBatch, known: GraphBatch) -> None:
    """Warn once about categories of edges, and of graphs, that no reference has.

    Parameters
    ----------
    graphs : GraphBatch
        New graphs.
    known : GraphBatch
        The references.
    """
    for part, what in (("edge", "edge categories"), ("graph", "categories of graphs")):
        kind = f"{part}_categories"
        if graphs.schema.names(kind) == known.schema.names(kind):
            warn_of_unseen(what, values_in_use(graphs, part), values_in_use(known, part))


def warn_of_alike(batch: GraphBatch) -> None:
    """Warn about different values of a category with the same text, such as 1 and "1"."""
    for part in PARTS:
        for name, values in values_in_use(batch, part).items():
            by_look: dict[str, Hashable] = {}
            for value in values:
                first = by_look.setdefault(str(value), value)
                if first is not value:
                    warn(
                        f"{part} category {shown(name)!r}: {_types(value, first)}, so they count "
                        "as different values: write them alike"
                    )
                    break


def _types(value: Hashable, known: Hashable) -> str:
    text, other = shown(repr(value)), shown(repr(known))
    return f"{text} is a {type(value).__name__} and {other} a {type(known).__name__}"

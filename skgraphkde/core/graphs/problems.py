"""GraphError and Ignored: errors and ignored data as objects, whose text is made when it is shown.

Readers raise a :class:`GraphError` with the position of the graph, or the name of its file. A
schema carries one :class:`Ignored` for each thing that the graphs have and that is not read.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

import numpy as np

from skgraphkde._words import WHY_IGNORED

__all__ = [
    "GraphError",
    "Ignored",
    "IgnoredWarning",
    "MissingError",
    "UnseenCategoryWarning",
    "WrongTypeError",
]


def called(graph: int | str) -> str:
    """A graph in a sentence, by its position, its file, or its name in a table.

    Examples
    --------
    >>> called(3), called("a.json#0"), called("17")
    ('graph 3', 'a.json#0', "graph '17'")
    """
    is_path = isinstance(graph, str) and any(mark in graph for mark in "./#\\")
    return str(graph) if is_path else f"graph {graph!r}"


class GraphError(ValueError):
    """A graph that cannot be read.

    Parameters
    ----------
    graph : int, str or None
        Its position in the user's list, or what it is called. None: the error concerns all graphs.
    text : str
        The rest of the message, with the remedy: ``" has no nodes: leave it out"``.
    """

    def __init__(self, graph: int | str | None, text: str) -> None:
        super().__init__(graph, text)  # for pickle
        self.graph = graph
        self.text = text

    def __str__(self) -> str:
        return f"{'no graph' if self.graph is None else called(self.graph)}{self.text}"


# The positions of the graphs of a part in the list of the user; None if they are the list.
_positions: ContextVar[np.ndarray | None] = ContextVar("positions", default=None)


@contextmanager
def positions_in(index: np.ndarray) -> Iterator[None]:
    """Context of a part of a list: errors and warnings name positions in the whole list.

    Parameters
    ----------
    index : ndarray of int
        Positions of the graphs of the part.
    """
    token = _positions.set(index)
    try:
        yield
    except GraphError as error:
        if isinstance(error.graph, int):
            raise type(error)(int(index[error.graph]), error.text) from error
        raise
    finally:
        _positions.reset(token)


def position_in_list(i: int) -> int:
    """The position of graph i of a part in the whole list, see :func:`positions_in`."""
    index = _positions.get()
    return i if index is None else int(index[i])


class WrongTypeError(GraphError, TypeError):
    """Something in a list of graphs that is none."""


class MissingError(GraphError):
    """A graph that lacks values that others have, which ``missing="indicate"`` would read."""


class IgnoredWarning(UserWarning):
    """A warning that names the :class:`Ignored` attributes of graphs."""


class UnseenCategoryWarning(UserWarning):
    """A warning that names categories that `fit` did not see, once for each fitted detector."""


@dataclass(frozen=True)
class Ignored:
    """Data of graphs that is not read.

    Parameters
    ----------
    part : {"node", "edge", "graph"}
    name : str
        The attribute; ``repr(name)`` if `why` is "not text".
    why : {"unread", "not text"} or a key of `WHY_IGNORED`
    """

    part: str
    name: str
    why: str = "unread"

    @property
    def is_readable(self) -> bool:
        """True for data that schema="all" reads."""
        return self.why == "unread"

    @property
    def is_name(self) -> bool:
        """True if it only tells one from another, so that no value of it is odd."""
        return self.why in ("identifier", "running number") or self.name.lower() == "smiles"

    def __str__(self) -> str:
        if self.why == "not text":
            return f"{self.part} attribute {self.name} ({WHY_IGNORED[self.why]})"
        text = f"{self.part} attribute {self.name!r}"
        return text if self.why == "unread" else f"{text} ({WHY_IGNORED[self.why]})"

"""GraphError and Ignored: errors and ignored data as objects, whose text is made when it is shown.

Readers raise a :class:`GraphError` with the position of the graph; readers of files replace the
position by the name of the file. A schema carries one :class:`Ignored` for each thing that the
graphs have and that is not read.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["GraphError", "Ignored", "IgnoredWarning", "MissingError"]


class GraphError(ValueError):
    """A graph that cannot be read.

    Parameters
    ----------
    graph : int, str or None
        Its position in the user's list, or its name. None: the error concerns all graphs.
    text : str
        The rest of the message, with the remedy: ``" has no nodes: leave it out"``.
    """

    def __init__(self, graph: int | str | None, text: str) -> None:
        super().__init__(graph, text)  # for pickle
        self.graph, self.text = graph, text
        self.no_graph = "no graph"

    def set_names(self, names: Sequence[str]) -> None:
        """Replace the position by a name; `names` has one for each graph of the list."""
        if len(names) > 1:
            self.no_graph = f"none of the {len(names)} graphs from {names[0]} to {names[-1]}"
        if isinstance(self.graph, int):
            name = names[self.graph]
            is_path = any(mark in name for mark in (".", "/", "#", os.sep))
            self.graph = name if is_path else f"graph {name!r}"

    def __str__(self) -> str:
        if self.graph is None:
            return f"{self.no_graph}{self.text}"
        graph = f"graph {self.graph}" if isinstance(self.graph, int) else self.graph
        return f"{graph}{self.text}"


class MissingError(GraphError):
    """A graph that lacks values that others have, which ``missing="indicate"`` would read."""


#: Why data of graphs is not read, in words.
REASONS = {
    "identifier": "an identifier",
    "running number": "a running number",
    "time": "a time: make hours or days of it",
    "marked number": "numbers as text, with decimal commas, units or signs such as % or $",
    "nested": "lists or dicts: give a number or a category",
}


class IgnoredWarning(UserWarning):
    """A warning that names the :class:`Ignored` attributes of graphs."""


@dataclass(frozen=True)
class Ignored:
    """Data of graphs that is not read.

    Parameters
    ----------
    part : {"node", "edge", "graph"}
    name : str
        The attribute; ``repr(name)`` if `why` is "not text".
    why : {"unread", "not text"} or a key of `REASONS`
    """

    part: str
    name: str
    why: str = "unread"

    @property
    def is_readable(self) -> bool:
        """True for data that schema="all" reads."""
        return self.why == "unread"

    def __str__(self) -> str:
        if self.why == "not text":
            return f"{self.part} attribute {self.name} (rename it: this is no text)"
        text = f"{self.part} attribute {self.name!r}"
        return text if self.why == "unread" else f"{text} ({REASONS[self.why]})"

"""Rows of the page: what it lists of one graph, of several that are alike, and of one drawn."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from skgraphkde._messages import shown
from skgraphkde.core.graphs.batch import GraphBatch
from skgraphkde.explanation.of_groups import GroupInWords
from skgraphkde.explanation.results import Judgement
from skgraphkde.explanation.wording import in_two_lines
from skgraphkde.page.comparison import Difference, place_in
from skgraphkde.page.nodes import Colors

# Characters of a name or a reason in the table, and of a name anywhere.
BRIEF = 160
LONGEST = 1_000
# A number, or a range, with which a text begins.
COUNT = re.compile(r"^[\d.]+( to [\d.]+)? ")
# An identifier, of which the start and the end are enough for a table.
IDENTIFIER = re.compile(r"[0-9a-fA-F-]{20,}")

# The number of the row of a graph that is drawn, the graph, and the ids of its nodes.
Drawn = tuple[int, GraphBatch, Sequence[Any] | None]


class Row(NamedTuple):
    """A row of the table: a graph that the page counts."""

    number: int  # in the order in which it was added
    name: str
    judged: Judgement
    n_nodes: int
    n_edges: int
    data: dict[str, str]  # of the graph itself, in words
    is_selected: bool = False
    rank: int = 0  # of its score; 1 is the lowest
    given: str = ""  # the verdict of people
    place: int = 0  # its rank among the graphs without a verdict
    risen_from: int = 0  # the same on the page before; 0 if it has not risen
    members: tuple = ()  # of a row of several graphs
    start: str = ""  # of the names of all graphs, a folder or a file

    @property
    def reason(self) -> str:
        """The main reason."""
        return self.judged.why or "nothing stands out clearly"

    @property
    def brief(self) -> str:
        """The name for a table: not too long, and without what all begin with."""
        return shorten_name(self.name.removeprefix(self.start) or self.name)


class GroupRow(NamedTuple):
    """A row of the table that opens: several graphs that are alike."""

    number: int
    members: list[Row]  # the lowest score first
    group: GroupInWords
    is_only: bool = False  # no other graph has what they share

    @property
    def n_anomalies(self) -> int:
        """The number of members that are flagged."""
        return sum(row.judged.is_anomaly for row in self.members)

    @property
    def shared(self) -> str:
        """What all share."""
        return self.group.shared

    @property
    def brief(self) -> str:
        """What all share, for a table."""
        return in_two_lines(self.shared, ())[0]

    @property
    def own(self) -> str:
        """The first strong reason of the oddest member that is not what all share, or ""."""
        judged = self.members[0].judged
        reasons = [x.text for x in judged.unusual] or [judged.why or self.shared]
        return next((x for x in reasons if not self._is_shared(x)), "")

    def _is_shared(self, reason: str) -> bool:
        """True if a reason is what all share, whatever the numbers."""
        reason = COUNT.sub("# ", reason.partition("; ")[0])
        for thing in self.group.things:
            named = COUNT.sub("# ", thing.partition("; ")[0]).partition(": ")[0]
            if place_in(reason, named) < 0:
                return False
        return True

    @property
    def data(self) -> dict[str, str]:
        """What all members have of the data of graphs; "..." where they differ."""
        of_members = [row.data for row in self.members]
        return {
            name: value if all(x[name] == value for x in of_members) else "..."
            for name, value in of_members[0].items()
        }


class Detail(NamedTuple):
    """What a click on a row says of a graph that is drawn."""

    colors: Colors
    lines: dict[tuple[str, tuple[int, ...]], list[str]]  # nodes, their reasons, and the circles
    smiles: str  # "" if it is no molecule
    usual: int = -1  # the position of the nearest usual graph; -1 if no other graph is usual
    usual_name: str = ""
    lacks: str = ""  # "size" or "kind" if the usual graph is of another one
    differences: Sequence[Difference] = ()


def are_known(rows: Iterable[Row]) -> bool:
    """True for training graphs, each of which was judged by the others."""
    return any(row.judged.own >= 0 for row in rows)


def shorten_name(name: str) -> str:
    """A name for a table: not too long, and of an identifier the start and the end."""
    name = shown(name, BRIEF)
    return f"{name[:4]}…{name[-8:]}" if IDENTIFIER.fullmatch(name) else name

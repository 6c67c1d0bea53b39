"""Words: what people call the nodes, the edges and the graphs, in reasons and on pages."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple, Self

#: What a name can be given to, as people say it.
CALLED = ("nodes", "edges", "graphs")
#: The same for one of them, if no rule makes it of the others: "movie" of "movies".
CALLED_ONE = tuple(what[:-1] for what in CALLED)
# Characters of a noun at most.
LONGEST_NOUN = 40


def singular(noun: str) -> str:
    """One of many things: "case" of "cases", "entity" of "entities".

    Parameters
    ----------
    noun : str
    """
    noun = re.sub(r"ies$", "y", noun)
    noun = re.sub(r"(?<=ss|sh|ch)es$|(?<=x)es$", "", noun)
    return re.sub(r"(?<!s)s$", "", noun)


class Words(NamedTuple):
    """The nouns for nodes, edges and graphs, for one and for several."""

    node: str = "node"
    nodes: str = "nodes"
    edge: str = "edge"
    edges: str = "edges"
    graph: str = "graph"
    graphs: str = "graphs"

    @classmethod
    def of(cls, called: Mapping[str, str]) -> Self:
        """The words for what has names.

        Parameters
        ----------
        called : mapping of str
            Names of several, by the keys of `CALLED`, and of one, by those of `CALLED_ONE`. Where
            only others have names, edges are links.

        Examples
        --------
        >>> Words.of({"nodes": "steps", "graphs": "cases"})
        Words(node='step', nodes='steps', edge='link', edges='links', graph='case', graphs='cases')
        """
        called = {"edges": "links"} | dict(called) if called else {}
        ones = {what[:-1]: singular(called[what]) for what in CALLED if what in called}
        return cls()._replace(**ones | called)

    def counted(self, n: int, part: str) -> str:
        """A number of things: "1 step", "20000 steps".

        Parameters
        ----------
        n : int
        part : {"node", "edge", "graph"}
        """
        return f"{n} {getattr(self, part if n == 1 else f'{part}s')}"


#: Names of attributes that tell what graphs are, and what people then call their parts.
TELLING = (
    ({"aromatic"}, ("atoms", "bonds", "molecules")),
    ({"ms", "status", "kind"}, ("spans", "calls", "traces")),
    ({"activity"}, ("steps", "transitions", "cases")),
    ({"concept:name"}, ("steps", "transitions", "cases")),
    ({"org:resource"}, ("steps", "transitions", "cases")),
    ({"label", "hours"}, ("steps", "transitions", "cases")),  # of a log with columns of its own
)

#: What one graph may be, by the name of the column that says to which graph a row belongs.
GRAPHS = (
    *("account", "case", "claim", "customer", "document", "household", "incident", "invoice"),
    *("journey", "molecule", "network", "order", "patient", "process", "project", "request"),
    *("sentence", "session", "shipment", "ticket", "trace", "transaction", "trip", "visit"),
)


def graphs_of_column(name: str) -> dict[str, str]:
    """What people call graphs of a table whose column of graphs has this name, if it tells.

    Examples
    --------
    >>> graphs_of_column("Case_ID"), graphs_of_column("invoice"), graphs_of_column("graph")
    ({'graphs': 'cases'}, {'graphs': 'invoices'}, {})
    """
    noun = re.sub(r"[ _-]?(id|key|no|nr|number|name)$", "", name.lower())
    return {"graphs": re.sub("ss$", "sse", noun) + "s"} if noun in GRAPHS else {}


def guessed(names: set[str]) -> dict[str, str]:
    """What people call nodes, edges and graphs with these attributes, as far as it can be told.

    Parameters
    ----------
    names : set of str
        Of attributes of nodes and edges.
    """
    for telling, nouns in TELLING:
        if telling <= names:
            return dict(zip(CALLED, nouns, strict=True))
    return {}

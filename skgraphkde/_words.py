"""Numbers and categories as people read them, and what they call nodes, edges and graphs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple, Self

import numpy as np

# What nine in ten have is between these quantiles, and usual.
USUAL = (0.05, 0.95)
# A number this many times smaller than another beside it is 0 but for rounding.
ROUNDING = 1e-12


def number(x: float, digits: int = 3) -> str:
    """A number with so many digits, and without an exponent up to ten millions.

    No mark parts thousands: 1,234 is 1.234 to many people.

    Examples
    --------
    >>> number(0.123456), number(95000.0), number(1e9)
    ('0.123', '95000', '1e+09')
    """
    return f"{x:.0f}" if 10**digits <= abs(x) < 1e7 else f"{x:.{digits}g}"


def usual(own: float, low: float, high: float, *, percent: bool = False) -> tuple[str, str]:
    """A number and the usual range of such numbers, in words.

    Parameters
    ----------
    own, low, high : float
        More digits than three are written where they tell the number from the range. NaN is "none".
    percent : bool, default=False
        Whether to write percentages.

    Returns
    -------
    own, range : str

    Examples
    --------
    >>> usual(3.7, 3.9, 4.1), usual(2, 1, 1), usual(0.5, 0.2, 0.25, percent=True)
    (('3.7', '3.9 to 4.1'), ('2', '1'), ('50%', '20% to 25%'))
    >>> usual(1000.4, 1000.2, 1000.3), usual(1e12 + 500, 1e12, 1e12)
    (('1000.4', '1000.2 to 1000.3'), ('1.0000000005e+12', '1e+12'))
    >>> usual(0.1 + 0.2, 0.2, 0.3)
    ('0.3', '0.2 to 0.3')
    """
    if np.isnan(low):
        return number(own), "none"
    numbers = np.array([own, low, high])
    numbers[np.abs(numbers) < ROUNDING * np.abs(numbers).max()] = 0
    is_within = low <= own <= high or np.isclose(numbers[0], numbers[1:], ROUNDING, 0).any()
    for digits in range(3, 17):
        texts = [f"{x:.{digits - 3}%}" if percent else number(x, digits) for x in numbers]
        if is_within or texts[0] not in texts[1:]:
            break
    return texts[0], texts[1] if texts[1] == texts[2] else f"{texts[1]} to {texts[2]}"


def usual_range(known: np.ndarray) -> np.ndarray:
    """The ends of the range of nine in ten known numbers, shape (2,); NaN is ignored.

    Parameters
    ----------
    known : ndarray of shape (n_known,)
    """
    known = known[~np.isnan(known)]
    return np.quantile(known, USUAL, method="nearest") if len(known) else np.full(2, np.nan)


def usually(own: float, known: np.ndarray, *, percent: bool = False) -> tuple[str, str]:
    """A number, and the range of nine in ten known ones; if it is beyond all, the end of all.

    Parameters
    ----------
    own : float
    known : ndarray of shape (n_known,)
        NaN is ignored.
    percent : bool, default=False
        As for :func:`usual`.

    Examples
    --------
    >>> usually(20, np.arange(40)), usually(8, np.arange(3, 10)), usually(20, np.arange(10))
    (('20', 'usually 2 to 37'), ('8', 'usually 3 to 9'), ('20', 'always 0 to 9'))
    """
    low, high = usual_range(known)
    own_text, text = usual(own, low, high, percent=percent)
    least, most = (x.reduce(known, initial=np.nan, dtype=float) for x in (np.fmin, np.fmax))
    end = np.clip(own, least, most)
    if text == "none" or np.isclose(own, end, ROUNDING, 0):
        return own_text, f"usually {text}"
    finer_text, end_text = usual(own, end, end, percent=percent)
    own_text = max(own_text, finer_text, key=len)
    if percent and 0 < end < 0.005:  # which is not 0%
        end_text = f"{100 * end:.1g}%"
    elif low == least and high == most:
        return own_text, f"always {text}"
    return own_text, f"usually {text}, {'at most' if own > most else 'at least'} {end_text}"


def legible(value: Any) -> str:
    """A category as text; quoted if it has no letter, or reads as several, an edge or an absence.

    Examples
    --------
    >>> legible("org:resource"), legible(-1), legible("x, kind=B"), legible("A "), legible("A; B")
    ('org:resource', '-1', "'x, kind=B'", "'A '", "'A; B'")
    >>> legible("SINGLE"), legible("A - B")
    ('SINGLE', "'A - B'")
    """
    text = str(value)
    is_quoted = re.search(r"^\s|\s$|, |; |=| \(| -|- |^(no|not) ", text)
    return text if any(map(str.isalnum, text)) and not is_quoted else f"'{text}'"


def category_word(name: str, value: Any) -> str:
    """The value of a category without its name, such as "pump"; "no kind" for None."""
    return f"no {name}" if value is None else legible(value)


def category_text(name: str, value: Any) -> str:
    """One category and its name: "kind=pump", "ring", "not ring", "no kind" for None.

    A label has no name.
    """
    text = category_word(name, value)
    named = {"True": name, "False": f"not {name}"}.get(text, f"{name}={text}")
    return text if value is None or name == "label" else named


def category_verb(name: str, value: Any) -> str:
    """The end of a sentence about things: "have kind=pump", "are N", "are ring", "lack kind"."""
    if value is None:
        return f"lack {name}"
    is_word = name == "label" or str(value) in ("True", "False")
    return f"{'are' if is_word else 'have'} {category_text(name, value)}"


# -- words -----------------------------------------------------------------------------------------

#: A number of edges that is a time: since the first one of their case, where one table was split.
SINCE_START = "hours since start"
#: What a name can be given to, as people say it.
CALLED = ("nodes", "edges", "graphs")
#: The same for one of them, if no rule makes it of the others: "movie" of "movies".
CALLED_ONE = tuple(what[:-1] for what in CALLED)
# One of them is called like many.
BOTH = ("species", "series")
# Characters of a noun at most.
LONGEST_NOUN = 40


def singular(noun: str) -> str:
    """One of many things: "case" of "cases", "entity" of "entities", "species" of "species".

    Parameters
    ----------
    noun : str
    """
    if noun.lower().endswith(BOTH):
        return noun
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


#: Why data of graphs is not read, in words.
WHY_IGNORED = {
    "not text": "rename it: this is no text",
    "identifier": "an identifier",
    "free text": "free text, of which hardly any repeats: make categories of it",
    "shape": "a shape on a map: give its length, area or place as numbers",
    "target": "it may be the target: name it to read it",
    "running number": "a running number",
    "time": "a time: make hours or days of it",
    "marked number": "numbers as text, with decimal commas, units or signs such as % or $",
    "nested": "lists or dicts: give a number or a category",
}

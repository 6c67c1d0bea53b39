"""Truth: a column that says which graphs are odd is taken out of the data, and kept beside it.

It may be of graphs, of nodes or of edges; a graph is odd if any of its nodes or edges is. Nothing
is learned from it: it says afterwards how well odd graphs were found.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import networkx as nx
import numpy as np
from sklearn.base import clone

from skgraphkde._messages import listed
from skgraphkde._utils import warn
from skgraphkde.core.graphs.schema import (
    KINDS_OF,
    GraphSchema,
    closest_names,
    names_in_schema,
)
from skgraphkde.reading.formats.common import is_missing, of_no_edge, words_in_name

__all__ = ["Truth"]

# Values that say of a graph that it is odd, or that it is not, and of neither.
ODD = {
    *("1", "true", "t", "yes", "y", "odd", "anomaly", "anomalous", "abnormal", "outlier"),
    *("fraud", "fraudulent", "attack", "malicious", "illicit"),
}
NORMAL = {
    *("0", "false", "f", "no", "n", "normal", "inlier", "regular"),
    *("legit", "legitimate", "benign", "licit"),
}
UNKNOWN = {"", "unknown", "unclear", "n/a", "na", "none", "?"}
# Values that say the opposite under a name such as "is_normal", which has one of the words below.
YES_OR_NO = {"1", "0", "true", "false", "t", "f", "yes", "no", "y", "n"}
GOOD = {
    *("normal", "inlier", "valid", "ok", "okay", "passed", "good"),
    *("legit", "legitimate", "benign"),
}


class Truth:
    """Which graphs are odd, by a column of their data.

    Parameters
    ----------
    column : str or None
        None: there is none.

    Attributes
    ----------
    odd : tuple of str
        The values that count as odd, once :meth:`verdicts` was called.
    """

    def __init__(self, column: str | None) -> None:
        if column is not None and not isinstance(column, str):
            raise TypeError(f"the truth is the name of a column, got {column!r}")
        self.column = column or ""
        self.odd: tuple[str, ...] = ()
        self._read_as = ""  # what the schema names the column as
        self._texts: dict[Hashable, set[str]] = {}  # the values of each graph, as they are written
        self._names: dict[str, None] = {}  # of all data that graphs have

    def schema_of_readers(self, schema: GraphSchema) -> GraphSchema:
        """A schema that names the column as well, so that readers of files keep it.

        Parameters
        ----------
        schema : GraphSchema
            What is to be read as data.
        """
        named: dict[str, tuple[str, ...]] = {}
        for part, (categories, _) in KINDS_OF.items():
            if self.column in names_in_schema(schema, part):
                self._read_as = f"data of {part}s"
                continue
            others = ("all",) if schema.is_all(categories) else ()
            named[categories] = (*others, *schema.named(categories), self.column)
        return clone(schema).set_params(**named)

    @contextmanager
    def kept_apart(self) -> Iterator[None]:
        """While this holds, edges that differ in the truth alone are equal to readers."""
        token = of_no_edge.set(self.column or None)
        try:
            yield
        finally:
            of_no_edge.reset(token)

    def take(self, key: Hashable, graph: nx.Graph) -> None:
        """Remove the column from a graph of a reader, and keep what it says.

        Parameters
        ----------
        key : hashable
            The graph, for :meth:`verdicts`.
        graph : networkx.Graph

        Raises
        ------
        ValueError
            If it has the column, and the schema reads that as data.
        """
        self._names |= dict.fromkeys(map(str, graph.graph))
        for name in (self.column, f"case:{self.column}"):
            of_steps = graph.graph.get(name)
            if isinstance(of_steps, frozenset):  # of a log, whose steps may have others of the name
                del graph.graph[name]
                self._texts[key] = _written(of_steps)
                return
        values = [graph.graph.pop(self.column, None)]
        records = [data for _, data in graph.nodes(data=True)]
        records += [data for _, _, data in graph.edges(data=True)]
        for data in records:
            values.append(data.pop(self.column, None))
            self._names |= dict.fromkeys(map(str, data))
        texts = _written(values)
        if _said(texts) and self._read_as:
            raise ValueError(
                f"{self.column!r} is the truth, and the schema reads it as {self._read_as}: name "
                "it as one of both, or fit a model without it"
            )
        self._texts[key] = texts

    def values(self, keys: Sequence[Hashable]) -> list[str]:
        """What the column says of graphs, as text; "" where it says nothing.

        Parameters
        ----------
        keys : sequence of hashable

        Raises
        ------
        ValueError
            If no graph has the column, or one has several values.
        """
        found = []
        for key in keys:
            said = sorted(self._texts[key])
            if len(said) > 1:
                raise ValueError(
                    f"{key} has several values of {self.column!r}: {listed(said)}; give each graph "
                    "one"
                )
            found.append("".join(said))
        if not any(found):
            raise ValueError(
                f"no graph has {self.column!r}: graphs, nodes and edges have "
                f"{closest_names(self.column, self._names) or 'no data'}"
            )
        return found

    def verdicts(self, keys: Sequence[Hashable]) -> np.ndarray:
        """What is known of graphs.

        Parameters
        ----------
        keys : sequence of hashable

        Returns
        -------
        ndarray of shape (len(keys),), int
            As verdicts are: -1 for those that are odd, 1 for others, 0 where nothing is said.

        Raises
        ------
        ValueError
            If no graph has the column, or it does not say which of two values is odd.
        """
        said = [_said(self._texts[key]) for key in keys]
        count = Counter(value for values in said for value in values)
        if not count:
            raise ValueError(
                f"nothing says {self.column!r}, the truth: graphs, nodes and edges have "
                f"{closest_names(self.column, self._names) or 'no data'}"
            )
        odd = self._odd_of(count)
        n_odd = sum(not odd.isdisjoint(values) for values in said)
        if 2 * n_odd > len(said):
            warn(
                f"{n_odd} of {len(said)} graphs are odd by {self.column!r}, the truth, where it is "
                f"{listed(sorted(map(repr, odd)))}: if it means the others, turn it around"
            )
        self.odd = tuple(sorted(odd))
        found = np.zeros(len(said), dtype=np.int64)
        found[[bool(values) for values in said]] = 1
        found[[not odd.isdisjoint(values) for values in said]] = -1
        return found

    def _odd_of(self, count: Counter[str]) -> set[str]:
        """The values that mean odd: by their words, or the rarer of two."""
        lower = {value: value.lower() for value in count}
        words = set(lower.values())
        if "-1" in words and words <= {"-1", "1"}:  # as estimators of scikit-learn write them
            return {"-1"}
        if words <= ODD | NORMAL:
            says_normal = bool(words_in_name(self.column) & GOOD) and words <= YES_OR_NO
            meant = NORMAL if says_normal else ODD
            return {value for value, word in lower.items() if word in meant}
        by_count = count.most_common()
        if len(count) == 2 and words & ODD:
            return {value for value, word in lower.items() if word in ODD}
        if len(count) == 2 and words & NORMAL:
            return {value for value, word in lower.items() if word not in NORMAL}
        if len(count) == 2 and by_count[0][1] > by_count[1][1]:
            return {by_count[1][0]}
        values = [f"{value!r} ({n} graphs)" for value, n in by_count]
        raise ValueError(
            f"{self.column!r}, the truth, does not say what is odd: it has {listed(values)}; make "
            "a column of 1 for odd and 0 for normal"
        )


def _said(texts: Iterable[str]) -> set[str]:
    """What texts say, without those that say nothing."""
    said = {_plain(x) for x in texts}
    return {x for x in said if x.lower() not in UNKNOWN}


def _written(values: Iterable[Any]) -> set[str]:
    """Values as texts, without those that are missing: 1.0 is "1", and "1.0" is itself."""
    given = [x for x in values if not is_missing(x)]
    texts = {_plain(x) if isinstance(x, float) else str(x).strip() for x in given}
    return texts - {""}


def _plain(value: Any) -> str:
    """A value as text: 1, 1.0 and "1" are one; "" if it is empty."""
    text = str(value).strip()
    try:
        number = float(text)
    except ValueError:
        return text
    return str(int(number)) if number.is_integer() else text

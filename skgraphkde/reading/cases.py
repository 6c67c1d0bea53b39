"""split_cases: one big table or graph -> many graphs: its parts, its windows of time, its egos.

What a case is decides what can be found. A component is all that hangs together, a window all that
happened in a time, an ego a node with its surroundings. Both others can be within windows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import networkx as nx
import numpy as np
import pandas as pd
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from skgraphkde._messages import listed
from skgraphkde._utils import warn
from skgraphkde._words import SINCE_START
from skgraphkde.core.graphs.problems import GraphError
from skgraphkde.core.graphs.schema import closest_names
from skgraphkde.reading.problems import UnreadableError
from skgraphkde.reading.tables import as_frame, graphs_of_tables
from skgraphkde.reading.times import times_of

__all__ = ["Cases", "split_cases"]

KINDS = ("components", "egos", "windows")
# Data of a graph that says which rows of a table it is of.
ROWS = "rows of the table"
# A split is warned of if so large a share of the rows are cases of their own, or are in one case.
ALONE = 0.8
TOGETHER = 0.5
# A case of fewer rows hides nothing.
MANY = 20
TABLE = "the table of edges"  # in messages


class Cases(NamedTuple):
    """Graphs that one table or graph was split into."""

    graphs: list[nx.Graph]
    rows: list[list[Any]]  # of each graph: the labels of its rows in the table, or its edges


@dataclass(frozen=True)
class CaseRule:
    """What a case is.

    Parameters
    ----------
    by : {"components", "egos", "windows"}
    time : str or None
        The column with the times of edges.
    window : str or None
        How long a window is, such as "7D" or "12h".
    hops : int
        How far an ego network reaches.
    least : int
        Cases with fewer edges are left out.
    of : str or None
        ``"name=value"``: only nodes with this value have an ego network.
    """

    by: str = "components"
    time: str | None = None
    window: str | None = None
    hops: int = 1
    least: int = 1
    of: str | None = None

    def __post_init__(self) -> None:
        if self.by not in KINDS:
            raise ValueError(f"cases are {', '.join(KINDS)}, got {self.by!r}")
        if self.by == "windows" and self.window is None:
            raise ValueError("windows need their length: window='7D' (--window 7D in the shell)")
        if self.window is not None and self.time is None:
            raise ValueError(
                "windows need the column of the times: time=... (--time-column in the shell)"
            )
        if self.of is not None and self.by != "egos":
            raise ValueError("only egos are of certain nodes: by='egos' (--cases egos)")
        if self.of is not None and "=" not in self.of:
            raise ValueError(f"of={self.of!r} is not 'name=value', such as 'kind=account'")
        if min(self.hops, self.least) < 1:
            raise ValueError("hops and least must be at least 1")
        if self.hops != 1 and self.by != "egos":
            raise ValueError("only egos have hops: by='egos' (--cases egos)")

    def split(
        self, edges: pd.DataFrame, nodes: pd.DataFrame | None, columns: dict[str, str]
    ) -> tuple[pd.DataFrame, pd.DataFrame | None]:
        """Tables with the column "graph", in which a row is there for each case that it is in.

        Parameters
        ----------
        edges, nodes : DataFrame
        columns : dict of str
            The columns "graph", which they get, and "source", "target" and "node".
        """
        graph, source, target, node = columns.values()
        for name in (source, target):
            if edges[name].isna().any():
                row = edges.index[edges[name].isna()].tolist()[0]
                raise UnreadableError(
                    f"the table of edges, row {row!r}: {name!r} is empty: fill or remove it"
                )
        codes, ids = pd.factorize(pd.concat([edges[source], edges[target]]).astype(object))
        ends = codes.reshape(2, -1).T
        windows = np.zeros(len(edges), dtype=np.int64)
        starts = [""]
        if self.time is not None and SINCE_START in {*edges.columns} - {self.time}:
            raise ValueError(
                f"the table of edges has the column {SINCE_START!r}, which the times would become: "
                "rename it"
            )
        times = None if self.time is None else times_of(TABLE, self.time, edges[self.time])
        if times is not None and self.window is not None:
            windows, starts = _windows_of(times, self.window)
        if self.by == "windows":
            row = np.arange(len(edges))
            case = windows
            names = starts
        elif self.by == "components":
            row = np.arange(len(edges))
            case, names = _components_of(ends, windows, starts, ids)
        else:
            centers = np.ones(len(ids), dtype=bool)
            if self.of is not None:
                chosen = set(self._centers(nodes, node))
                centers = np.array([center in chosen for center in ids], dtype=bool)
            row, case, names = _egos_of(ends, windows, starts, ids, centers, self.hops)
        counts = np.bincount(case, minlength=len(names))
        if counts.max(initial=0) < self.least:
            raise ValueError(
                f"no case has {self.least} edges: ask for fewer (--least in the shell)"
            )
        of_window = np.bincount(windows)
        window_of = np.zeros(len(names), dtype=np.int64)
        window_of[case] = windows[row]
        _warn_of_split(self, counts, counts / of_window[window_of], len(edges))
        is_large = counts[case] >= self.least
        row = row[is_large]
        case = case[is_large]
        order = np.lexsort((row, case))
        row = row[order]
        if len(set(names)) < len(names):  # of the ids 1 and "1"
            names = [f"{name} #{k}" for k, name in enumerate(names)]
        name_of_row = np.array(names, dtype=object)[case[order]]
        found = edges.iloc[row].assign(**{graph: name_of_row})
        if times is not None:
            first = times.iloc[row].groupby(name_of_row).transform("min")
            hours = (times.iloc[row] - first) / pd.Timedelta(1, "h")
            found = found.drop(columns=self.time).assign(**{SINCE_START: hours.to_numpy()})
        if nodes is None:
            return found, None
        apart = nodes[node][~nodes[node].isin(ids)].tolist()
        if apart:
            what = "1 node" if len(apart) == 1 else f"{len(apart)} nodes"
            warn(f"left out, as no edge leads to them: {what}, {listed([repr(x) for x in apart])}")
        return found, _nodes_of(found, nodes, columns)

    def _centers(self, nodes: Any, node: str) -> list[Any]:
        """The nodes that have an ego network, by the table of nodes."""
        name, _, value = str(self.of).partition("=")
        if nodes is None:
            raise ValueError(f"of={self.of!r} needs the table of nodes (--nodes in the shell)")
        if name not in nodes:
            there = closest_names(name, map(str, nodes.columns))
            raise ValueError(f"the table of nodes has no column {name!r}, only {there}")
        chosen = nodes.loc[nodes[name].astype(str) == value, node].tolist()
        if not chosen:
            raise ValueError(f"no node has the {name!r} {value!r}")
        return chosen


def split_cases(
    data: Any,
    nodes: Any = None,
    *,
    by: str = "components",
    source: str = "source",
    target: str = "target",
    node: str = "node",
    time: str | None = None,
    window: str | None = None,
    hops: int = 1,
    least: int = 1,
    of: str | None = None,
    directed: bool = False,
) -> Cases:
    """Split one table of edges, or one graph, into many graphs.

    Parameters
    ----------
    data : DataFrame or networkx.Graph
        One row per edge, with the columns `source` and `target`; all others are data of edges.
    nodes : DataFrame, default=None
        One row per node, with the column `node`; all others are data of nodes. Of a graph, its own
        nodes are read.
    by : {"components", "egos", "windows"}, default="components"
        What a case is: all that hangs together; a node with all within `hops` of it, and what is
        between these; or all edges of a window of time. Components and egos are those within a
        window, if there is one.
    source, target, node : str
        Names of the columns of tables.
    time : str, default=None
        The column, or the data of edges, with their times: dates, text that pandas reads, or
        numbers since 1970. In its place edges have "hours since start", that of their case.
    window : str, default=None
        How long a window is, such as "7D" or "12h"; the first begins at midnight, in UTC if times
        have a zone. None: all times are one.
    hops : int, default=1
        How far an ego network reaches, regardless of directions.
    least : int, default=1
        Cases with fewer edges are left out.
    of : str, default=None
        ``"name=value"``, such as "kind=account": only nodes with this value are centers of egos.
    directed : bool, default=False
        Whether edges of a table have a direction.

    Returns
    -------
    Cases
        `graphs`, networkx graphs named by their window and their center, or their node with most
        edges; and `rows`, the labels of the rows of each, or the edges of a graph.

    Raises
    ------
    TypeError
        If `data` is no table and no graph.
    ValueError
        If a column is not there, a time cannot be read, or nothing is left; or if `nodes` or
        `directed` say of a graph what it is not.

    Notes
    -----
    Egos overlap: one odd edge is in several of them, and each is like those that it overlaps. Judge
    them by each other (`fit_predict`): to a detector that was fitted to them, all egos of another
    table are odd, as they are like none.

    Examples
    --------
    >>> import pandas as pd
    >>> from skgraphkde.reading import split_cases
    >>> payments = pd.DataFrame({
    ...     "payer": ["a", "b", "x", "a"], "payee": ["b", "c", "y", "c"], "sum": [5, 7, 1, 2],
    ...     "day": ["2026-01-05", "2026-01-06", "2026-01-06", "2026-01-14"],
    ... })
    >>> found = split_cases(payments, source="payer", target="payee", time="day", window="7D")
    >>> [graph.graph["name"] for graph in found.graphs], found.rows
    (['2026-01-05 b', '2026-01-05 x', '2026-01-12 a'], [[0, 1], [2], [3]])
    """
    rule = CaseRule(by, time, window, hops, least, of)
    columns = {"graph": "case", "source": source, "target": target, "node": node}
    keys = None
    if isinstance(data, nx.Graph):
        if nodes is not None:
            raise ValueError("a graph has nodes of its own: leave nodes out, or give a table")
        if directed and not data.is_directed():
            raise ValueError("the graph is not directed: give a networkx.DiGraph")
        edges, nodes, columns, keys = tables_of_graph(data)
        directed = data.is_directed()
    else:
        edges = as_frame(data, "edges")
        nodes = None if nodes is None else as_frame(nodes, "nodes")
    found = graphs_of_cases(rule, edges, nodes, columns, directed)
    graphs = []
    rows = []
    for graph in found.values():
        if isinstance(graph, GraphError):
            raise graph
        labels = graph.graph.pop(ROWS)
        if isinstance(data, nx.Graph):
            graph.graph = {**data.graph, **graph.graph}
        graphs.append(graph)
        rows.append(labels if keys is None else [keys[k] for k in labels])
    return Cases(graphs, rows)


def graphs_of_cases(
    rule: CaseRule,
    edges: pd.DataFrame,
    nodes: pd.DataFrame | None,
    columns: dict[str, str],
    directed: bool,
) -> dict[Any, Any]:
    """The graphs of cases, or what is wrong with them, by their names; each has its `ROWS`.

    Parameters
    ----------
    rule : CaseRule
    edges, nodes : DataFrame
    columns : dict of str
        As for :meth:`CaseRule.split`.
    directed : bool
    """
    graph = columns["graph"]
    needed = {columns["source"], columns["target"], *filter(None, [rule.time])}
    for name in needed - set(edges.columns):
        there = closest_names(name, map(str, edges.columns))
        raise ValueError(f"the table of edges has no column {name!r}: it has {there}")
    if nodes is not None and columns["node"] not in nodes:
        there = closest_names(columns["node"], map(str, nodes.columns))
        raise ValueError(f"the table of nodes has no column {columns['node']!r}: it has {there}")
    if graph in edges or (nodes is not None and graph in nodes):
        raise ValueError(
            f"a table has the column {graph!r}, which would be that of the cases: rename it, or "
            f"give it as that of the graphs (--graph-column {graph} in the shell)"
        )
    split, of_nodes = rule.split(edges, nodes, columns)
    found = graphs_of_tables(split, of_nodes, None, columns, directed)
    for name, rows in split.groupby(graph, sort=False).groups.items():
        own: Any = found[name]
        if not isinstance(own, GraphError):
            own.graph[ROWS] = list(dict.fromkeys(rows.tolist()))  # a row may be two arcs
    return found


def tables_of_graph(
    graph: nx.Graph,
) -> tuple[pd.DataFrame, pd.DataFrame, dict[str, str], list[Any]]:
    """The tables of the edges and the nodes of a graph, the names of their columns, and its edges.

    Parameters
    ----------
    graph : networkx.Graph
    """
    taken = set()
    for data in [*graph.nodes.values(), *graph.edges.values()]:
        taken.update(data)
    columns = {}
    for role in ("graph", "source", "target", "node"):
        name = "case" if role == "graph" else role
        while name in taken:  # by data
            name += "_"
        columns[role] = name
    keys = list(graph.edges(keys=True) if graph.is_multigraph() else graph.edges)
    records = []
    for (u, v, *key), data in zip(keys, graph.edges.values(), strict=True):
        of_edge = {**data, columns["source"]: u, columns["target"]: v}
        if key and isinstance(key[0], str):  # "calls", and not a number
            of_edge.setdefault("key", key[0])
        records.append(of_edge)
    of_nodes = [{**data, columns["node"]: v} for v, data in graph.nodes(data=True)]
    edges = pd.DataFrame(records, columns=None if records else [*columns.values()])
    return edges, pd.DataFrame(of_nodes, dtype=object), columns, keys


def words_of_rows(rows: Sequence[Any]) -> str:
    """Rows in words, with ranges: "2-5, 17".

    Parameters
    ----------
    rows : sequence
        Labels; integers in order are ranges.
    """
    parts: list[list[Any]] = []
    for row in rows:
        if parts and isinstance(row, int) and parts[-1][-1] == row - 1:
            parts[-1][-1] = row
        else:
            parts.append([row, row])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in parts)


# -- what a case is --------------------------------------------------------------------------------


def _windows_of(times: pd.Series, window: str) -> tuple[np.ndarray, list[str]]:
    """The window of each row, and the starts of the windows."""
    try:
        if str(window).strip().replace(".", "").isdecimal():  # which pandas takes for nanoseconds
            raise ValueError("no unit")
        length = pd.Timedelta(window)
    except ValueError as error:
        raise ValueError(
            f"window={window!r} is no length of time: write '7D', '12h' or '30min'"
        ) from error
    if not length > pd.Timedelta(0):  # also "" and "nan"
        raise ValueError(f"window={window!r} must be longer than nothing")
    if times.empty:
        raise ValueError(f"{TABLE} has no rows, and so no windows")
    first = times.min().normalize()
    number = ((times - first) // length).to_numpy()
    distinct, code = np.unique(number, return_inverse=True)
    are_days = length % pd.Timedelta(1, "D") == pd.Timedelta(0)
    form = "%Y-%m-%d" if are_days else "%Y-%m-%d %H:%M"
    return code, [(first + int(k) * length).strftime(form) for k in distinct]


def _components_of(
    ends: np.ndarray, windows: np.ndarray, starts: list[str], ids: Any
) -> tuple[np.ndarray, list[str]]:
    """The case of each row, and the names of cases: the components of each window."""
    n = len(ids)
    # In each window, a node is a node of its own.
    places, own = np.unique(ends + n * windows[:, np.newaxis], return_inverse=True)
    u, v = own.reshape(ends.shape).T
    adjacency = sp.coo_array((np.ones(len(u)), (u, v)), shape=(len(places), len(places)))
    component = connected_components(adjacency, directed=False)[1]
    degree = np.bincount(np.concatenate([u, v]), minlength=len(places))
    # The node with most edges gives its name; of equal ones, the first.
    order = np.lexsort((np.arange(len(places)), -degree, component))
    first = order[np.unique(component[order], return_index=True)[1]]
    names = [f"{starts[p // n]} {ids[p % n]}".strip() for p in places[first].tolist()]
    return component[u], names


def _egos_of(
    ends: np.ndarray,
    windows: np.ndarray,
    starts: list[str],
    ids: Any,
    centers: np.ndarray,
    hops: int,
) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Rows, their cases, and the names of these: what is around each center in each window."""
    rows = []
    cases = []
    names: list[str] = []
    n = len(ids)
    for window, start in enumerate(starts):
        here = np.flatnonzero(windows == window)
        u, v = ends[here].T
        joined = sp.csr_array((np.ones(len(u)), (u, v)), shape=(n, n))
        near = (joined + joined.T + sp.eye_array(n)).astype(bool).tocsr()
        is_there = np.zeros(n, dtype=bool)
        is_there[ends[here]] = True
        chosen = np.flatnonzero(centers & is_there)
        reach = near[chosen]
        for _ in range(hops - 1):
            reach = (reach @ near).astype(bool)
        # An edge is in the case if both of its ends are.
        inside = sp.coo_array(reach[:, u].multiply(reach[:, v]))
        rows.append(here[inside.col])
        cases.append(inside.row + len(names))
        names += [f"{start} {ids[k]}".strip() for k in chosen.tolist()]
    return np.concatenate(rows), np.concatenate(cases), names


def _nodes_of(edges: pd.DataFrame, nodes: pd.DataFrame, columns: dict[str, str]) -> pd.DataFrame:
    """A row for each node of each case, with the data of the table of nodes."""
    graph, source, target, node = columns.values()
    if nodes[node].duplicated().any():
        twice = nodes.loc[nodes[node].duplicated(), node].tolist()[0]
        raise ValueError(f"the table of nodes lists {twice!r} twice: list each node once")
    at_ends = [edges[[graph, end]].set_axis([graph, node], axis=1) for end in (source, target)]
    there = pd.concat(at_ends).astype(object).drop_duplicates()
    is_listed = there[node].isin(nodes[node])
    if not is_listed.all():
        stranger = there.loc[~is_listed, node].tolist()[0]
        raise ValueError(
            f"{stranger!r} is the end of an edge, and not in the table of nodes: add it, or leave "
            "the edge out"
        )
    return there.merge(nodes.astype({node: object}), on=node, how="left")


def _warn_of_split(rule: CaseRule, counts: np.ndarray, shares: np.ndarray, n_rows: int) -> None:
    """Warn of what makes cases hard to compare.

    Parameters
    ----------
    rule : CaseRule
    counts : ndarray of int
        Rows of each case.
    shares : ndarray of shape (n_cases,)
        The same as a share of the rows of its window.
    n_rows : int
        Of the table.
    """
    kept = counts[counts >= rule.least]
    n = len(kept)
    n_small = len(counts) - n
    n_alone = int((kept == 1).sum())
    if n_small:
        cases = "1 case" if n_small == 1 else f"{n_small} cases"
        warn(f"left out, with fewer than {rule.least} edges: {cases}")
    if n_alone > ALONE * n:
        warn(
            f"{n_alone} of {n} cases are one row each, of which little can be odd: take a longer "
            "window, egos of more hops, or leave out small ones (least=2, --least 2)"
        )
    is_large = (shares > TOGETHER) & (counts >= MANY)
    n_together = int(counts[is_large].sum())
    if rule.by == "components" and rule.window is not None and n_together > TOGETHER * n_rows:
        warn(
            f"{int(is_large.sum())} of {n} cases have {n_together} of {n_rows} rows: in most "
            "windows, nearly all hangs together, which hides what is odd in it: take a shorter "
            "window, or egos"
        )
    elif n > 1 and rule.by != "egos" and kept.max() > TOGETHER * n_rows:
        warn(
            f"one of {n} cases has {kept.max()} of {n_rows} rows, and hides what is odd in it: "
            "take a shorter window, or egos"
        )
    if rule.by == "egos":
        warn(
            f"each edge is in {kept.sum() / n_rows:.1f} egos on average: what is odd in one is in "
            "several, and they are judged by each other only, as a model of them would take all "
            "egos of another table for odd"
        )

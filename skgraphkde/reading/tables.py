"""read_tables: tables of edges, nodes and graphs -> networkx graphs with names."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from decimal import Decimal
from numbers import Real
from typing import Any, overload

import networkx as nx
import numpy as np
import pandas as pd

from skgraphkde._messages import shown
from skgraphkde._utils import during, progress
from skgraphkde.core.graphs.problems import GraphError
from skgraphkde.core.graphs.schema import closest_names
from skgraphkde.reading.formats.common import Directions
from skgraphkde.reading.formats.networkx import simplified
from skgraphkde.reading.truth import Truth

__all__ = ["read_tables"]

# A column has numbers if so many differ, and so many are there for each cell that is none.
DISTINCT = 10
FOR_EACH = 10
# When the rows of each table are read, in shares of the time that reading the graphs takes.
SHARES = {"graphs": (0.0, 0.05), "nodes": (0.05, 0.25), "edges": (0.25, 0.5)}


@overload
def read_tables(
    edges: Any,
    nodes: Any = ...,
    graphs: Any = ...,
    *,
    graph: str = ...,
    source: str = ...,
    target: str = ...,
    node: str = ...,
    directed: bool = ...,
    truth: None = ...,
) -> list[nx.Graph]: ...


@overload
def read_tables(
    edges: Any,
    nodes: Any = ...,
    graphs: Any = ...,
    *,
    graph: str = ...,
    source: str = ...,
    target: str = ...,
    node: str = ...,
    directed: bool = ...,
    truth: str,
) -> tuple[list[nx.Graph], np.ndarray]: ...


def read_tables(
    edges: Any,
    nodes: Any = None,
    graphs: Any = None,
    *,
    graph: str = "graph",
    source: str = "source",
    target: str = "target",
    node: str = "node",
    directed: bool = False,
    truth: str | None = None,
) -> Any:
    """Read tables with one row per edge, per node and per graph.

    Parameters
    ----------
    edges : DataFrame
        One row per edge, with the columns `graph`, `source` and `target`; all other columns are
        data of edges. A table of pandas, or of any package that exports Arrow, such as polars,
        duckdb or pyarrow, which has to be installed.
    nodes : DataFrame, default=None
        One row per node, with the columns `graph` and `node`; all others are data of nodes. None:
        the nodes are the ends of edges.
    graphs : DataFrame, default=None
        One row per graph, with the column `graph`; all others are data of graphs. It determines
        which graphs there are, and their order. None: the graphs of `nodes`, or else of `edges`.
    graph, source, target, node : str
        Names of the columns.
    directed : bool, default=False
        Whether edges have a direction.
    truth : str, default=None
        A column, of any of the tables, that says which graphs are odd, or which nodes or edges make
        them odd: by 1 and 0, yes and no, "anomaly" and "normal" and the like, or by the rarer of
        two values. It is no data of the graphs. None: there is none.

    Returns
    -------
    list of networkx.Graph
        Or of DiGraph, MultiGraph or MultiDiGraph, in which repeated edges are parallel. The name of
        each is in ``graph.graph["name"]``, and its nodes have the ids of the tables. Empty cells
        (None, NaN) are missing. A :class:`GraphSchema` says which columns are used, and as what.
    target : ndarray of shape (n_graphs,), int
        Only with `truth`: -1 for odd graphs, 1 for others, 0 where nothing is said. No detector is
        fitted to it: ``roc_auc_score(target, detector.score_samples(graphs))`` says how well odd
        graphs are found, if it says something of each.

    Raises
    ------
    TypeError
        If something is no table.
    ValueError
        If a column is not there, an id is missing, a node or a graph is listed twice, an edge ends
        at a node that is not listed, a row belongs to a graph that is not listed, or a column of
        numbers has text in a few of its cells; or if `truth` does not say what is odd.

    Examples
    --------
    >>> import pandas as pd
    >>> from skgraphkde import GraphSchema, read_graphs, read_tables
    >>> edges = pd.DataFrame({
    ...     "case": ["a", "a", "b"], "from": [1, 2, 1], "to": [2, 3, 2], "hours": [2.0, 8.0, 1.0],
    ... })
    >>> nodes = pd.DataFrame({"case": list("aaabb"), "step": [1, 2, 3, 1, 2], "who": list("xyxzx")})
    >>> columns = {"graph": "case", "source": "from", "target": "to", "node": "step"}
    >>> cases = read_tables(edges, nodes, **columns, directed=True)
    >>> [case.graph["name"] for case in cases]
    ['a', 'b']
    >>> schema = GraphSchema(node_categories="who", edge_numbers="hours")
    >>> read_graphs(cases, schema=schema)
    GraphBatch(n_graphs=2, n_nodes=5, n_arcs=3, n_labels=3, n_edge_attributes=1)
    >>> checked = pd.DataFrame({"case": ["a", "b"], "fraud": ["no", "yes"]})
    >>> cases, target = read_tables(edges, nodes, checked, **columns, truth="fraud")
    >>> target.tolist()
    [1, -1]
    """
    columns = {"graph": graph, "source": source, "target": target, "node": node}
    tables: dict[str, Any] = {"edges": edges, "nodes": nodes, "graphs": graphs}
    for what, table in tables.items():
        if table is not None or what == "edges":
            tables[what] = as_frame(table, what)
            _check_numbers(tables[what], what, (*columns.values(), truth))
    if truth in columns.values():
        raise ValueError(f"{truth!r} is the truth and a column of ids: name one of each")
    known = Truth(truth)
    with known.kept_apart():
        found = graphs_of_tables(**tables, columns=columns, directed=directed)
    return with_truth(found, known)


def with_truth(found: Mapping[Hashable, Any], known: Truth) -> Any:
    """Graphs; if there is a truth, without it, and what it says of them.

    Parameters
    ----------
    found : mapping
        As returned by :func:`graphs_of_tables`; an error in it is raised.
    known : Truth
    """
    for graph in found.values():
        if isinstance(graph, GraphError):
            raise graph
    graphs = list(found.values())
    if not known.column:
        return graphs
    for case, graph in found.items():
        known.take(case, graph)
    return graphs, known.verdicts(list(found))


def graphs_of_tables(
    edges: Any, nodes: Any, graphs: Any, columns: dict[str, str], directed: bool
) -> dict[Hashable, nx.Graph | GraphError]:
    """The graphs of tables, or what is wrong with them, by their ids.

    Parameters
    ----------
    edges, nodes, graphs : DataFrame
        As for :func:`read_tables`; of pandas, and a ValueError can be in place of a cell.
    directed : bool
    columns : dict of str
        The other arguments of :func:`read_tables`.
    """
    graph, source, target, node = columns.values()
    errors: dict[Hashable, GraphError] = {}

    def refuse(case: Hashable, text: str) -> None:
        errors.setdefault(case, GraphError(str(case), text))

    edges = _table(edges, "edges", {x: columns[x] for x in ("graph", "source", "target")}, refuse)
    if nodes is not None:
        nodes = _table(nodes, "nodes", {"graph": graph, "node": node}, refuse)
    if graphs is not None:
        graphs = _table(graphs, "graphs", {"graph": graph}, refuse)
    kind = nx.MultiDiGraph if directed else nx.MultiGraph
    listed = next(x for x in (graphs, nodes, edges) if x is not None)[graph].tolist()
    found = {case: kind(name=str(case)) for case in dict.fromkeys(listed)}

    _check_zeros(found, {"nodes": nodes, "edges": edges}, graph)

    def rows(table: Any, what: str, *ids: str) -> Iterator[tuple]:
        """The graph, other ids and data that are not missing, of each row of a listed graph."""
        keys = zip(*(table[name].tolist() for name in (graph, *ids)), strict=True)
        cells = table.drop(columns=[graph, *ids]).astype(object)
        cells = cells.where(cells.notna(), None).rename(columns=str)
        records: list[dict] = cells.to_dict("records")
        if cells.empty:  # of no columns, pandas 2.0 makes no records
            records = [{} for _ in range(len(cells))]
        with during(*SHARES[what]):
            for (case, *own), record in zip(keys, progress(records), strict=True):
                if case not in found:
                    remedy = "add it there, or leave its rows out"
                    refuse(case, f" is in the table of {what}, and not among the graphs: {remedy}")
                    continue
                data = {name: value for name, value in record.items() if value is not None}
                for value in data.values():
                    if isinstance(value, ValueError):  # in the place of a cell that cannot be read
                        refuse(case, f", {value}")
                yield case, own, data

    if graphs is not None:
        for case in graphs[graph][graphs[graph].duplicated()].tolist():
            refuse(case, " has two rows in the table of graphs: give it one")
        for case, _, data in rows(graphs, "graphs"):
            found[case].graph.update(data)
    if nodes is not None:
        for case, (own,), data in rows(nodes, "nodes", node):
            if own in found[case]:
                refuse(case, f" lists the node {own!r} twice: list it once")
            found[case].add_nodes_from([(own, data)])  # a column may be called "key"
    directions = Directions()
    for case, ends, data in rows(edges, "edges", source, target):
        for end in ends if nodes is not None else ():
            if end not in found[case]:
                refuse(
                    case,
                    f", edge {tuple(ends)!r}: {end!r} is not among its nodes: add it to the table "
                    "of nodes, or leave the edge out",
                )
        if directed or not directions.is_return((case, ends[0]), (case, ends[1]), data):
            found[case].add_edges_from([(*ends, data)])
    return {x: simplified(own) for x, own in found.items() if x not in errors} | errors


def _check_zeros(found: Collection[Hashable], tables: dict[str, Any], column: str) -> None:
    """Raise a ValueError if graphs have two names that are alike but for zeros before them."""
    for what, table in tables.items():
        cases = {} if table is None else dict.fromkeys(table[column].tolist())
        others = {str(case).lstrip("0"): case for case in found if case not in cases}
        for case in cases:
            other = others.get(str(case).lstrip("0"))
            if case in found or other is None:
                continue
            text = f"the table of {what} has the graph {case!r}, and that of graphs {other!r}: "
            if str(case) == str(other):
                raise ValueError(
                    f"{text}one is text, and the other a number; make both text, as "
                    f"table[{column!r}].astype(str) does"
                )
            raise ValueError(
                f"{text}did you lose leading zeros, which spreadsheets drop? Export that column "
                "as text"
            )


def seem_numbers(values: Sequence[Any]) -> bool:
    """True for the cells of a column of numbers, of which a few are text, as mistakes are."""
    are_real = (x for x in values if isinstance(x, Real | Decimal) and not isinstance(x, bool))
    numbers = [x for x in are_real if x == x]
    texts = [x for x in values if isinstance(x, str)]
    are_codes = any(text.isdigit() for text in texts)  # 007
    is_rare = len(set(numbers)) >= DISTINCT and len(numbers) >= FOR_EACH * len(texts)
    return is_rare and not are_codes


def not_a_number(what: str, row: Any, column: Any, cell: str, remedy: str) -> ValueError:
    """The error that a cell of a column of numbers is text.

    Parameters
    ----------
    what : {"edges", "nodes", "graphs"}
        The table.
    row, column : object
    cell : str
    remedy : str
    """
    return ValueError(
        f"the table of {what}, row {row!r}: {shown(cell)!r} under {column!r} is not a number: "
        f"{remedy}"
    )


def as_frame(table: Any, what: str) -> Any:
    """A table as a DataFrame of pandas, whose columns differ in name.

    Parameters
    ----------
    table : object
        Of pandas, or of any package that exports Arrow.
    what : str
        What it is a table of, for messages.
    """
    if not isinstance(table, pd.DataFrame):
        if not hasattr(table, "__arrow_c_stream__"):
            raise TypeError(
                f"the table of {what} is a {type(table).__name__}: give a DataFrame, of pandas or "
                "of another package"
            )
        table = with_whole_numbers(pyarrow_table(table))
    twice = table.columns[table.columns.duplicated()].tolist()
    if twice:
        raise ValueError(
            f"the table of {what} has the column {twice[0]!r} twice: rename one, or leave it out"
        )
    return table


def pyarrow_table(table: Any) -> Any:
    """A table of any package that exports Arrow, as one of pyarrow."""
    try:
        import pyarrow
    except ImportError as error:
        raise ImportError(
            f"a table of {type(table).__module__.partition('.')[0]} is read by pyarrow: install "
            "it, or give table.to_pandas()"
        ) from error
    return pyarrow.table(table)


def with_whole_numbers(table: Any) -> Any:
    """A table of pyarrow as one of pandas, in which whole numbers with gaps stay whole.

    Parameters
    ----------
    table : pyarrow.Table
    """
    frame = table.to_pandas()
    for position, column in enumerate(table.columns):
        if column.null_count and str(column.type).startswith(("int", "uint")):
            values = pd.Series(column.to_pylist(), index=frame.index, dtype=object)
            frame.isetitem(position, values)
    return frame


def _check_numbers(table: Any, what: str, ids: Collection[str | None]) -> None:
    """Raise a ValueError if a column of numbers has text in a few of its cells."""
    for name, column in table.items():
        cells = column.tolist() if column.dtype == object and name not in ids else []
        texts = [k for k, x in enumerate(cells) if isinstance(x, str)]
        if texts and seem_numbers(cells):
            remedy = (
                "correct it, or make it missing, as pandas.to_numeric(..., errors='coerce') does, "
                f"and say missing='indicate' in the GraphSchema; if {name!r} is a category, make "
                "it one by astype('category')"
            )
            raise not_a_number(what, table.index.tolist()[texts[0]], name, cells[texts[0]], remedy)


def _table(
    table: Any, what: str, columns: dict[str, str], refuse: Callable[[Hashable, str], None]
) -> Any:
    """A pandas DataFrame with certain columns, without rows that lack the id of a node.

    The graphs of such rows are refused. A row that belongs to no graph is an error.
    """
    for name, column in columns.items():
        if column not in table.columns:
            raise ValueError(
                f"the table of {what} has no column {column!r}: it has "
                f"{closest_names(column, map(str, table.columns))}; name the one that is meant "
                f"(--{name}-column in the shell, {name}= in Python)"
            )
        for row, case in table.loc[table[column].isna(), columns["graph"]].items():
            text = f"the table of {what}, row {row!r}: {column!r} is empty: fill or remove it"
            if name == "graph":
                raise ValueError(text)
            refuse(case, f", {text}")
    return table.dropna(subset=[*columns.values()])

"""read_log: a table of events -> one networkx graph a case.

The events of a case are its nodes, in the order of their times, and an edge leads from each to the
next one, with the hours between their times. A step that has a start and an end is one node, with
the hours that it took.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping
from typing import Any, overload

import networkx as nx
import numpy as np
import pandas as pd

from skgraphkde._messages import listed
from skgraphkde._utils import warn
from skgraphkde.core.graphs.schema import GraphSchema, closest_names, names_in_schema
from skgraphkde.reading.formats.common import is_target
from skgraphkde.reading.tables import as_frame, graphs_of_tables, with_truth
from skgraphkde.reading.times import times_of_events
from skgraphkde.reading.truth import Truth

__all__ = ["read_log"]

#: The columns of event logs, and their names: in XES and in the tables of pm4py, then others.
LOG_COLUMNS = {
    "case": ("case:concept:name", "case", "case id", "caseid"),
    "activity": ("concept:name", "activity"),
    "timestamp": ("time:timestamp", "timestamp", "complete timestamp", "time"),
    "resource": ("org:resource", "resource"),
    "start": ("start timestamp", "time:start", "start time"),
    "lifecycle": ("lifecycle:transition",),
}


@overload
def read_log(
    log: Any,
    *,
    case: str | None = ...,
    activity: str | None = ...,
    timestamp: str | None = ...,
    resource: str | None = ...,
    start: str | None = ...,
    truth: None = ...,
) -> list[nx.Graph]: ...


@overload
def read_log(
    log: Any,
    *,
    case: str | None = ...,
    activity: str | None = ...,
    timestamp: str | None = ...,
    resource: str | None = ...,
    start: str | None = ...,
    truth: str,
) -> tuple[list[nx.Graph], np.ndarray]: ...


def read_log(
    log: Any,
    *,
    case: str | None = None,
    activity: str | None = None,
    timestamp: str | None = None,
    resource: str | None = None,
    start: str | None = None,
    truth: str | None = None,
) -> Any:
    """Read an event log: a table with one row per event.

    Parameters
    ----------
    log : DataFrame
        Of pandas, or of any package that exports Arrow, such as polars. Columns whose names begin
        with "case:" are data of the cases; a column that seems to be the target, such as "label" or
        "is_fraud", is not read, which a warning says.
    case, activity, timestamp, resource, start : str, default=None
        Names of the columns. None: those of XES and of pm4py ("case:concept:name", "concept:name",
        "time:timestamp", "org:resource", "start_timestamp"), or "case", "activity", "timestamp" and
        "resource".
    truth : str, default=None
        A column that says which cases are odd, or which steps. It is no data of the graphs. None:
        there is none.

    Returns
    -------
    list of networkx.DiGraph
        One for each case, whose name is in ``graph.graph["name"]``. The nodes are its events, with
        the activity as "label"; edges have the "hours" from the time of one to that of the next. If
        `start` is there, nodes have the "hours" from it to their time. If "lifecycle:transition" is
        there, a "start" and the next "complete" of its activity are one node, with its "hours".
    target : ndarray of shape (n_cases,), int
        Only with `truth`: -1 for odd cases, 1 for others, 0 where nothing is said.

    Raises
    ------
    TypeError
        If `log` is no table.
    ValueError
        If a column is not there, the case or the time of an event is missing, or `truth` does not
        say what is odd.

    Examples
    --------
    >>> import pandas as pd
    >>> from skgraphkde import read_log
    >>> log = pd.DataFrame({
    ...     "case": ["1", "1", "2"], "activity": ["check", "pay", "check"],
    ...     "timestamp": pd.to_datetime(["2026-01-01", "2026-01-02", "2026-01-01"]),
    ... })
    >>> first, second = read_log(log)
    >>> list(first.edges(data="hours"))
    [('check', 'pay', 24.0)]
    """
    table = as_frame(log, "events").reset_index(drop=True)
    given = {
        "case": case,
        "activity": activity,
        "timestamp": timestamp,
        "resource": resource,
        "start": start,
        "truth": truth,
    }
    columns = _columns_of_log(table, given)
    columns |= find_truth(table.columns, given, columns)
    schema = GraphSchema()
    kept = without_targets("the event log", dict(table.items()), columns, schema)
    for what in ("case", "activity"):
        is_missing = table[columns[what]].isna()
        if is_missing.any():
            row = int(is_missing.to_numpy().argmax())
            raise ValueError(f"event {row} has no {columns[what]!r}: fill it, or drop the event")
    times = starts = None
    if "timestamp" in columns:
        ends = kept.pop(columns["timestamp"])
        if ends.isna().any():
            row = int(ends.isna().to_numpy().argmax())
            raise ValueError(f"event {row} has no time: fill it, or drop the event")
        began = kept.pop(columns["start"]) if "start" in columns else None
        names = columns["timestamp"], columns.get("start")
        times, starts = times_of_events("the event log", names, ends, began)
    of_cases = [x for x in kept if x.startswith("case:") and x != columns["case"]]
    if columns.get("truth") in kept and columns["truth"] not in of_cases:
        of_cases.append(columns["truth"])
    events = pd.DataFrame({x: values.astype(object) for x, values in kept.items()})
    found = graphs_of_log(
        "the event log",
        events.drop(columns=of_cases),
        events[of_cases],
        columns,
        times,
        starts,
        schema,
    )
    return with_truth(found, Truth(truth))


def _columns_of_log(table: Any, given: Mapping[str, str | None]) -> dict[str, str]:
    """The columns of a log, by the keys of `LOG_COLUMNS`."""
    named = {x: name for x, name in given.items() if name is not None and x != "truth"}
    for name in named.values():
        if name not in table.columns:
            there = closest_names(name, map(str, table.columns))
            raise ValueError(f"the event log has no column {name!r}: it has {there}")
    columns = find_columns(table.columns, named)
    for what in ("case", "activity"):
        if what not in columns:
            there = listed(list(map(str, table.columns)), 10)
            raise ValueError(
                f"the event log has no column {LOG_COLUMNS[what][0]!r}: it has {there}; name the "
                f"one that is meant, {what}=..."
            )
    return columns


def find_columns(names: Iterable[Any], given: Mapping[str, str]) -> dict[str, Any]:
    """The columns of a table that are those of a log, by the keys of `LOG_COLUMNS`.

    Where only starts are known, these are the times.

    Parameters
    ----------
    names : iterable
        Of all columns.
    given : mapping of str
        The names that the user gave, by the same keys; others are found by their usual names.
    """
    every = list(names)
    usual = {str(name).lower().replace("_", " "): name for name in every}
    found = {}
    for what, usual_names in LOG_COLUMNS.items():
        name = given.get(what, next((usual[x] for x in usual_names if x in usual), None))
        if name in every:
            found[what] = name
    if "timestamp" not in found and "start" in found:
        found["timestamp"] = found.pop("start")
    return found


def find_truth(
    names: Iterable[Any], given: Mapping[str, str | None], columns: Any
) -> dict[str, str]:
    """The column of a log that says which cases are odd, under "truth"; empty if none is named.

    Parameters
    ----------
    names : iterable of str
        Of all columns.
    given : mapping of str
        What the user gave; its name under "truth", also without the "case:" before it.
    columns : mapping
        As returned by :func:`find_columns`.

    Raises
    ------
    ValueError
        If it is no column, or one of the others.
    """
    truth = given.get("truth")
    if truth is None:
        return {}
    every = list(names)
    found = next((x for x in (truth, f"case:{truth}") if x in every), None)
    if found is None:
        there = closest_names(truth, map(str, every))
        raise ValueError(f"the log has no column {truth!r}, the truth: it has {there}")
    if found in columns.values():
        raise ValueError(f"{truth!r} is the truth and a column of the log: name one of each")
    return {"truth": found}


def without_targets(
    what: str, columns: Mapping[str, Any], of_log: Mapping[str, str], schema: GraphSchema
) -> dict[str, Any]:
    """The columns of a log but those that seem to be the target, unless the schema names them.

    Parameters
    ----------
    what : str
        The log, for messages.
    columns : mapping of str
    of_log : mapping
        As returned by :func:`log_columns`.
    schema : GraphSchema
    """
    named = {*names_in_schema(schema, "node"), *names_in_schema(schema, "graph"), *of_log.values()}
    targets = [x for x in columns if is_target(x.removeprefix("case:")) and x not in named]
    if targets:
        warn(
            f"{what}: not read, as it may be the target: {listed(list(map(repr, targets)))}; name "
            "it in the GraphSchema (--node-category in the shell) if it is data, or as truth= "
            "(--truth) to compare it with the result"
        )
    return {name: x for name, x in columns.items() if name not in targets}


def graphs_of_log(
    what: str,
    events: Any,
    cases: Any,
    columns: Mapping[str, str],
    times: Any,
    starts: Any,
    schema: GraphSchema,
) -> dict[Hashable, Any]:
    """The graph of each case of a log: its events in their order, and what leads to what.

    Parameters
    ----------
    what : str
        The log, for messages.
    events : DataFrame
        The columns of the case, of the activity, and of other data of events.
    cases : DataFrame
        Data of the cases, a row for each event.
    columns : mapping
        As returned by :func:`log_columns`.
    times : Series or None
        The time of each event. None: they are in order.
    starts : Series or None
        When each event began, NaT where that is not known, if its time is that of its end.
    schema : GraphSchema
        The names of what is read.
    """
    graph = columns["case"]
    ids = {
        "graph": graph,
        "source": "event before",
        "target": "event after",
        "node": "id of the event",
    }
    source, target, node = (ids[x] for x in ("source", "target", "node"))
    label = columns["activity"]
    of_case = events[graph]
    if "label" not in events and label not in names_in_schema(schema, "node"):
        events = events.rename(columns={label: "label"})
        label = "label"
    duration = "hours" if "hours" not in events else "hours of the step"
    if starts is not None:
        events[duration] = _hours(times - starts)
    elif times is not None and "lifecycle" in columns:
        step = graph, label
        events = _joined_steps(what, events, step, columns["lifecycle"], times, duration)
        times = times.loc[events.index]
    order = events.index if times is None else times.sort_values(kind="stable").index
    log = events.loc[order]
    count = log.groupby([graph, label]).cumcount() + 1
    activity = log[label].astype(str)
    log[node] = activity.where(count == 1, activity + " (" + count.astype(str) + ")")
    twice = log.duplicated([graph, node])  # of "A", "A" and "A (2)"
    log.loc[twice, node] += " #" + log.index[twice].astype(str)
    edges = log[[graph, node]].set_axis([graph, source], axis=1)
    edges[target] = log.groupby(graph)[node].shift(-1)
    if times is not None:
        hours = _hours(times - times.min()).loc[order]
        edges["hours"] = hours.groupby(log[graph]).shift(-1) - hours
    if "truth" in columns:  # of a step, perhaps, which says that its case is odd
        said = cases[columns["truth"]].groupby(of_case).agg(frozenset)
        cases = cases.assign(**{columns["truth"]: of_case.map(said)})
    by_case = cases.assign(**{graph: of_case}).loc[events.index].groupby(graph, sort=False)
    try:
        differs = by_case.nunique().gt(1).stack()
    except TypeError as error:
        names = listed([repr(name) for name in cases])
        raise ValueError(
            f"{what}: of the columns of cases, {names}, one has lists: give one value in each cell"
        ) from error
    if differs.any():
        case, column = differs.idxmax()
        warn(f"{what}: {column!r} differs between the events of case '{case}': the first is read")
    first = by_case.first().reset_index()
    return graphs_of_tables(edges.dropna(subset=target), log, first, ids, directed=True)


def _hours(times: Any) -> Any:
    """Differences of times, in hours, with None for those that are not known."""
    hours = (times / pd.Timedelta(1, "h")).astype(object)
    return hours.where(hours.notna(), None)


def _joined_steps(
    what: str, events: Any, step: tuple[str, str], lifecycle: str, times: Any, duration: str
) -> Any:
    """Events in which a "start" and the next "complete" of a step are one, with its hours.

    Parameters
    ----------
    what : str
        The log, for messages.
    events : DataFrame
    step : tuple of str
        The columns by which rows are of one step: the case and the activity.
    lifecycle : str
        The column that says "start" or "complete".
    times : Series
        The time of each event.
    duration : str
        The new column of the hours.
    """
    transitions = events[lifecycle].astype(str).str.strip().str.lower()
    # At the same time, a start is before an end.
    by_time = pd.DataFrame({"time": times, "is no start": transitions != "start"})
    order = by_time.sort_values(["time", "is no start"], kind="stable").index
    ordered = events.loc[order]
    transitions = transitions.loc[order]
    if not {"start", "complete"} <= set(transitions):
        return events
    instance = [x for x in ("concept:instance",) if x in events]
    cells = ordered[[*step, *instance]].astype(object)
    keys = cells.where(cells.notna(), "").itertuples(index=False, name=None)
    open_starts = defaultdict[tuple, list](list)
    start_of = {}
    for row, key, transition in zip(order, keys, transitions, strict=True):
        if transition == "start":
            open_starts[key].append(row)
        elif transition == "complete" and open_starts[key]:
            start_of[row] = open_starts[key].pop(0)
    ends = list(start_of)
    hours = pd.Series(None, index=events.index, dtype=object)
    durations = times.loc[ends].to_numpy() - times.loc[list(start_of.values())].to_numpy()
    hours.loc[ends] = pd.to_timedelta(durations) / pd.Timedelta(hours=1)
    warn(
        f"{what}: {len(ends)} starts of steps are read with their ends, which have the hours "
        f"between them; {len(events) - 2 * len(ends)} other events stay alone"
    )
    return events.assign(**{duration: hours}).drop(index=list(start_of.values()))

"""Event logs (CSV, XES) and spans of OpenTelemetry (JSON) -> one networkx graph a case, or a trace.

The events of a case are its nodes, in the order of their times, and an edge leads from each to the
next one, with the hours between them. The spans of a trace are its nodes, and an edge leads from
each span to those that it called.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from xml.etree.ElementTree import fromstring

import pandas as pd

from skgraphkde._messages import listed
from skgraphkde._utils import warn
from skgraphkde.core.graphs.schema import GraphSchema, names_in_schema
from skgraphkde.reading.files.common import (
    AnyPath,
    Graphs,
    UnreadableError,
    documents,
    read_content,
)
from skgraphkde.reading.files.tables import NO_OPTIONS, Cells, take_ids, typed_columns
from skgraphkde.reading.tables import graphs_of_tables

#: The columns of event logs, and their names: in XES and in the tables of pm4py, then others.
LOG_COLUMNS = {
    "case": ("case:concept:name", "case", "case id", "caseid"),
    "activity": ("concept:name", "activity"),
    "timestamp": ("time:timestamp", "timestamp", "complete timestamp", "time"),
    "resource": ("org:resource", "resource"),
}
DATES = ("%d.%m.%Y", "%d.%m.%y", "%d-%m-%Y", "%Y/%m/%d", "%m/%d/%Y", "%d/%m/%Y")
CLOCKS = ("", " %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M:%S %p")
FORMATS = ("ISO8601", *(date + clock for date in DATES for clock in CLOCKS))

# What OpenTelemetry's numbers mean.
KINDS_OF_SPANS = dict(
    enumerate(("unspecified", "internal", "server", "client", "producer", "consumer"))
)
STATUSES = dict(enumerate(("unset", "ok", "error")))
# What each span has.
TIMES = ("startTimeUnixNano", "endTimeUnixNano")
OF_SPANS = ("traceId", "spanId", *TIMES)


# -- event logs ------------------------------------------------------------------------------------


def log_columns(path: AnyPath, cells: Cells, options: Mapping[str, str]) -> dict[str, str] | None:
    """The columns of an event log, by the keys of `LOG_COLUMNS`; None if a table is none.

    Names that are not those of XES are taken only if there is a time, which a warning says.

    Parameters
    ----------
    path : Path or zipfile.Path
        For messages.
    cells : dict of list of str
    options : mapping
        As for :func:`~skgraphkde.reading.files.walk.iter_graphs`.
    """
    usual = {name.lower().replace("_", " "): name for name in cells}
    columns: dict[str, str] = {}
    for what, names in LOG_COLUMNS.items():
        name = options.get(what, next((usual[x] for x in names if x in usual), None))
        if name in cells:
            columns[what] = name
    given = {what for what in LOG_COLUMNS if what in options}
    lacking = [x for x in LOG_COLUMNS if x not in columns and x in {"case", "activity", *given}]
    is_xes = columns.get("case") == LOG_COLUMNS["case"][0]
    if not lacking and (given or is_xes or "timestamp" in columns):
        if not (given or is_xes):
            taken = ", ".join(f"{what} {name!r}" for what, name in columns.items())
            warn(f"{path} is read as an event log: {taken}; --case, --activity, ... name others")
        return columns
    if not given:
        return None
    raise UnreadableError(
        f"{path} has no column {options.get(lacking[0], LOG_COLUMNS[lacking[0]][0])!r}: it has "
        f"{listed(list(cells), 10)}; name the one that is meant, --{lacking[0]} in the shell"
    )


def read_xes(path: AnyPath, schema: GraphSchema, options: Mapping[str, str] = NO_OPTIONS) -> Graphs:
    """The cases of an event log in XES, with the names that pm4py has for attributes.

    Parameters
    ----------
    path : Path or zipfile.Path
    schema : GraphSchema
        The names of what is read.
    options : mapping
        As for :func:`~skgraphkde.reading.files.walk.iter_graphs`.
    """
    rows = []
    count = Counter[str]()
    empty = list[str]()
    for k, trace in enumerate(fromstring(read_content(path)).iterfind("{*}trace")):
        of_case = {
            f"case:{x.attrib['key']}": x.attrib["value"] for x in trace.iterfind("*[@value]")
        }
        name = of_case.get("case:concept:name", f"#{k}")
        events = trace.findall("{*}event")
        count[name] += 1
        if not events:
            empty.append(name)
        for event in events:
            own = {x.attrib["key"]: x.attrib["value"] for x in event.iterfind("*[@value]")}
            rows.append(of_case | own)
    if empty:
        warn(f"{path}: traces without events are left out: {listed(empty)}")
    repeated = [name for name, n in count.items() if n > 1]
    if repeated:
        warn(
            f"{path}: several traces have the same concept:name, and are read as one case: "
            f"{listed(repeated)}; give each a name of its own if they are different cases"
        )
    names = dict.fromkeys(name for row in rows for name in row)
    cells = {name: [row.get(name, "") for row in rows] for name in names}
    columns = log_columns(path, cells, options)
    if columns is None:
        raise ValueError("its traces, or their events, have no 'concept:name'")
    return read_log(path, cells, columns, schema, ".")


def read_log(
    path: AnyPath,
    cells: Cells,
    columns: Mapping[str, str],
    schema: GraphSchema,
    decimal: str | None = None,
) -> Graphs:
    """The cases of an event log, with the activities of events as "label".

    Columns whose names begin with "case:", and those that the schema names as data of graphs, are
    data of the cases.

    Parameters
    ----------
    path : Path or zipfile.Path
        For messages.
    cells : dict of list of str
    columns : mapping
        As returned by :func:`log_columns`.
    schema : GraphSchema
        The names of what is read.
    decimal : {",", "."}, default=None
    """
    ids = {"graph": columns["case"], "source": "from", "target": "to", "node": "id of the event"}
    graph, source, target, node = ids.values()
    activity = columns["activity"]
    time = columns.get("timestamp")
    resource = columns.get("resource")
    is_free = "label" not in cells and activity not in names_in_schema(schema, "node")
    label = "label" if is_free else activity
    rest = dict(cells)
    own: dict[str, Any] = {
        graph: take_ids(path, rest, graph),
        label: take_ids(path, rest, activity),
    }
    hours = pd.Series(range(len(cells[graph])))
    if time is not None:
        hours = _hours(path, time, take_ids(path, rest, time))
    if resource is not None:  # a category, also if it is a number
        own[resource] = [text or None for text in rest.pop(resource)]
    named = names_in_schema(schema, "graph")
    whole = {x: rest.pop(x) for x in [*rest] if x.startswith("case:") or x in named}
    of_cases = {graph: own[graph]} | typed_columns(path, whole, schema, "graph", decimal)
    log = pd.DataFrame(own | typed_columns(path, rest, schema, "node", decimal), dtype=object)
    log = log.loc[hours.sort_values(kind="stable").index]
    count = log.groupby([graph, label]).cumcount() + 1
    log[node] = log[label].where(count == 1, log[label] + " (" + count.astype(str) + ")")
    edges = log[[graph, node]].set_axis([graph, source], axis=1)
    edges[target] = log.groupby(graph)[node].shift(-1)
    if time is not None:
        edges["hours"] = hours.loc[log.index].groupby(log[graph]).shift(-1) - hours
    cases = pd.DataFrame(of_cases, dtype=object).groupby(graph, sort=False)
    differs = cases.nunique().gt(1).stack()
    if differs.any():
        case, column = differs.idxmax()
        warn(f"{path}: {column!r} differs between the events of case {case!r}: the first is read")
    cases = cases.first().reset_index()
    found = graphs_of_tables(edges.dropna(subset=target), log, cases, ids, directed=True)
    return [(f"#{case}", x) for case, x in found.items()]


def _hours(path: AnyPath, name: str, texts: list[str]) -> Any:
    """Times as a series of hours."""
    found = []
    dates = pd.Series([None if text.isdecimal() and len(text) < 8 else text for text in texts])
    for form in FORMATS if dates.notna().all() else ():
        with suppress(ValueError):
            found.append(pd.to_datetime(dates, utc=True, format=form))
    if not found:
        read = [pd.to_datetime(dates, utc=True, format=form, errors="coerce") for form in FORMATS]
        row = int(max(read, key=lambda times: times.count()).isna().argmax())
        raise UnreadableError(
            f"{path}, row {row + 2}: {texts[row]!r} under {name!r} is no time that is known, or "
            "not written as the others: write times as 2026-01-31 13:00"
        )
    if len(found) > 1:
        warn(f"{path}: {texts[0]!r} under {name!r} is read as month/day: write 2026-01-31 if not")
    return (found[0] - found[0].min()) / pd.Timedelta(1, "h")


# -- spans -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SpanFiles:
    """Files of spans, over which those of a trace may be spread.

    Parameters
    ----------
    files : tuple of Path or zipfile.Path
    """

    files: tuple[Any, ...]

    def __str__(self) -> str:
        return ""  # the graphs have the ids of traces

    def read(self, schema: GraphSchema, _: Mapping[str, str] = NO_OPTIONS) -> Graphs:
        """The traces, with their ids.

        Parameters
        ----------
        schema : GraphSchema
            The names of what is read.
        _ : mapping
            Options of tables, which spans do not have.
        """
        spans = (x for path in self.files for x in _spans(path, read_content(path)))
        return _traces(spans, schema)


def are_spans(content: bytes) -> bool:
    """True for the contents of a file of OpenTelemetry."""
    return b'"resourceSpans"' in content


def read_spans(path: AnyPath, content: bytes, schema: GraphSchema) -> Graphs:
    """The traces of a file.

    Parameters
    ----------
    path : Path or zipfile.Path
    content : bytes
        Of the file.
    schema : GraphSchema
        The names of what is read.
    """
    traces = _traces(_spans(path, content), schema)
    return [(f"#{trace}" if len(traces) > 1 else "", x) for trace, x in traces]


def _spans(path: AnyPath, content: bytes) -> Iterator[tuple[str, dict[str, Any]]]:
    """The spans of a file, each after the name of its service.

    A file has documents, which may be in a list.
    """
    if not are_spans(content):
        raise UnreadableError(
            f'{path} is no file of spans: it has no "resourceSpans", as OpenTelemetry exports them '
            "in JSON"
        )
    found = documents(content)
    exported = found[0] if isinstance(found[0], list) else found
    for resource in (x for document in exported for x in document["resourceSpans"]):
        service = _attributes(resource.get("resource", {})).get("service.name", "")
        if "scopeSpans" not in resource:
            raise UnreadableError(
                f'{path}: there are "resourceSpans" without "scopeSpans", which OpenTelemetry has '
                f"had since 2022 (they have {listed([*resource])}): export the spans again"
            )
        for span in (x for scope in resource["scopeSpans"] for x in scope.get("spans", ())):
            problem = _problem(span)
            if problem is not None:
                raise UnreadableError(
                    f"{path}: the span {span.get('spanId')!r} of the trace "
                    f"{span.get('traceId')!r} {problem}, or leave the span out"
                )
            yield service, span


def _problem(span: dict[str, Any]) -> str | None:
    """What is wrong with a span, and what to do; None if nothing is."""
    for name in OF_SPANS:
        if name not in span:
            return f"has no {name}: add it"
        if name in TIMES and not str(span[name]).isdecimal():
            return f"has the {name} {span[name]!r}: correct it"
    start, end = (int(span[name]) for name in TIMES)
    return "ends before it starts: correct it" if end < start else None


def _traces(exported: Iterable[tuple[str, dict]], schema: GraphSchema) -> list[tuple[str, Any]]:
    """The traces of spans, each of which is after the name of its service, and their ids."""
    rows = []
    others = dict[str, None]()
    named = names_in_schema(schema, "node")
    for service, span in exported:
        attributes = _attributes(span)
        others |= dict.fromkeys(x for x in attributes if x not in named)
        kind = span.get("kind", 0)
        status = span.get("status", {}).get("code", 0)
        row = {
            "traceId": span["traceId"],
            "spanId": span["spanId"],
            "parentSpanId": span.get("parentSpanId") or None,
            "label": f"{service} {span.get('name', '')}".strip(),
            "kind": str(KINDS_OF_SPANS.get(kind, kind)),
            "status": str(STATUSES.get(status, status)),
            "ms": (int(span["endTimeUnixNano"]) - int(span["startTimeUnixNano"])) / 1e6,
        }
        rows.append({x: value for x, value in attributes.items() if x in named} | row)
    if not rows:
        return []
    spans = pd.DataFrame(rows)
    calls = spans.loc[spans["parentSpanId"].notna(), ["traceId", "spanId", "parentSpanId"]]
    nodes = spans.drop(columns="parentSpanId")
    known = pd.MultiIndex.from_frame(spans[["traceId", "spanId"]])
    is_known = pd.MultiIndex.from_frame(calls[["traceId", "parentSpanId"]]).isin(known)
    if not is_known.all():
        warn(
            f"{(~is_known).sum()} of {len(spans)} spans have a parent that is not in their file, "
            "and begin a tree of their own: if a trace is in several files, give --spans"
        )
    if others:
        warn(
            f"attributes of spans are not read: {listed([*others])}; name those that matter, such "
            "as --node-category NAME"
        )
    ids = {"graph": "traceId", "source": "parentSpanId", "target": "spanId", "node": "spanId"}
    graphs = graphs_of_tables(calls[is_known], nodes, None, ids, directed=True)
    return [(str(trace), x) for trace, x in graphs.items()]


def _attributes(record: dict[str, Any]) -> dict[str, Any]:
    """The attributes of a span or a resource, each of which has its value under its type."""
    return {x["key"]: next(iter(x["value"].values()), None) for x in record.get("attributes", ())}

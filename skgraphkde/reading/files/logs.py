"""Event logs (CSV, XES) and spans of OpenTelemetry (JSON) -> one networkx graph a case, or a trace.

The events of a case are its nodes, in the order of their times, and an edge leads from each to the
next one, with the hours between them. The spans of a trace are its nodes, and an edge leads from
each span to those that it called.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
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
    documents,
    read_content,
)
from skgraphkde.reading.files.tables import FIRST_ROW, NO_OPTIONS, Cells, take_ids, typed_columns
from skgraphkde.reading.logs import (
    LOG_COLUMNS,
    find_columns,
    find_truth,
    graphs_of_log,
    without_targets,
)
from skgraphkde.reading.problems import UnreadableError
from skgraphkde.reading.tables import graphs_of_tables
from skgraphkde.reading.times import times_of_events

# What OpenTelemetry's numbers mean.
KINDS_OF_SPANS = dict(
    enumerate(("unspecified", "internal", "server", "client", "producer", "consumer"))
)
STATUSES = dict(enumerate(("unset", "ok", "error")))
# What each span has.
TIMES = ("startTimeUnixNano", "endTimeUnixNano")
OF_SPANS = ("traceId", "spanId", *TIMES)
# What files of spans have: those of OpenTelemetry, of Tempo, of Jaeger, and of Zipkin.
MARKS = (
    (b'"resourceSpans"',),
    (b'"batches"', b'"scopeSpans"'),
    (b'"processes"', b'"spanID"'),
    (b'"localEndpoint"', b'"traceId"'),
)


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
        As for :func:`~skgraphkde.reading.files.batches.iter_graphs`.
    """
    columns = find_columns(cells, options)
    given = {what for what in LOG_COLUMNS if what in options}
    lacking = [x for x in LOG_COLUMNS if x not in columns and x in {"case", "activity", *given}]
    is_xes = columns.get("case") == LOG_COLUMNS["case"][0]
    if not lacking and (given or is_xes or "timestamp" in columns):
        if not (given or is_xes):
            taken = ", ".join(f"{what} {name!r}" for what, name in columns.items())
            warn(f"{path} is read as an event log: {taken}; --case, --activity, ... name others")
        return columns | find_truth(cells, options, columns)
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
        As for :func:`~skgraphkde.reading.files.batches.iter_graphs`.
    """
    rows = []
    count = Counter[str]()
    empty = list[str]()
    kinds: dict[str, set[str]] = {}  # the types that the values of each name have
    for k, trace in enumerate(fromstring(read_content(path)).iterfind("{*}trace")):
        of_case = _values_of(trace, kinds, "case:")
        name = of_case.get("case:concept:name", f"#{k}")
        events = trace.findall("{*}event")
        count[name] += 1
        if not events:
            empty.append(name)
        for event in events:
            rows.append(of_case | _values_of(event, kinds))
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
    texts = [name for name, found in kinds.items() if found == {"string"}]
    return cases_of_cells(path, cells, columns, schema, ".", texts)


def _values_of(element: Any, kinds: dict[str, set[str]], prefix: str = "") -> dict[str, str]:
    """The values of a trace or an event of XES, by name; their types are added to `kinds`."""
    found = {}
    for x in element.iterfind("*[@value]"):
        name = prefix + x.attrib["key"]
        found[name] = x.attrib["value"]
        kinds.setdefault(name, set()).add(x.tag.rpartition("}")[2])
    return found


class Cases(list):
    """The cases of an event log, which may go on in another file."""


def cases_of_cells(
    path: AnyPath,
    cells: Cells,
    columns: Mapping[str, str],
    schema: GraphSchema,
    decimal: str | None = None,
    texts: Collection[str] = (),
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
    texts : collection of str, default=()
        Columns that are text, whatever their cells look like.
    """
    rest = without_targets(str(path), cells, columns, schema)
    ids = {
        columns["case"]: take_ids(path, rest, columns["case"]),
        columns["activity"]: take_ids(path, rest, columns["activity"]),
    }
    times = starts = None
    if "timestamp" in columns:
        ends = pd.Series(take_ids(path, rest, columns["timestamp"]))
        began = pd.Series(rest.pop(columns["start"])) if "start" in columns else None
        names = columns["timestamp"], columns.get("start")
        times, starts = times_of_events(str(path), names, ends, began, FIRST_ROW)
    resource = columns.get("resource")
    own = {}
    for name in [name for name in rest if name == resource or name in texts]:
        own[name] = [text or None for text in rest.pop(name)]  # a category, also of digits
    named = {*names_in_schema(schema, "graph"), columns.get("truth")}
    whole = {x: rest.pop(x) for x in [*rest] if x.startswith("case:") or x in named}
    whole = typed_columns(path, whole, schema, "graph", decimal)
    of_cases = {name: own.pop(name) for name in [*own] if name.startswith("case:") or name in named}
    own |= typed_columns(path, rest, schema, "node", decimal)
    events = pd.DataFrame(ids | own, dtype=object)
    cases = pd.DataFrame(of_cases | whole, dtype=object, index=events.index)
    found = graphs_of_log(str(path), events, cases, columns, times, starts, schema)
    return Cases((f"#{case}", x) for case, x in found.items())


# -- spans -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SpanFiles:
    """Files of spans, over which those of a trace may be spread.

    Parameters
    ----------
    files : tuple of Path or zipfile.Path
    prefix : str
        Of the names of traces, where those of several piles may be alike.
    """

    files: tuple[Any, ...]
    prefix: str = ""  # of the names of traces

    def __str__(self) -> str:
        return self.prefix  # the graphs have the ids of traces

    def read(self, schema: GraphSchema, _: Mapping[str, str] = NO_OPTIONS) -> Graphs:
        """The traces, with their ids.

        Parameters
        ----------
        schema : GraphSchema
            The names of what is read.
        _ : mapping
            Options of tables, which spans do not have.
        """
        spans = []
        errors = []
        for path in self.files:
            try:
                spans += list(_spans(path, read_content(path)))
            except UnreadableError as error:
                errors.append(error)
            except Exception as error:  # parsers raise many kinds of errors for broken files
                text = f"{path} cannot be read as spans ({error}): export it again"
                errors.append(UnreadableError(text))
        if errors and not spans:
            raise errors[0]
        return [*_traces(spans, schema), *(("", error) for error in errors)]


def are_spans(content: bytes) -> bool:
    """True for the contents of a file of OpenTelemetry, Tempo, Jaeger or Zipkin."""
    return any(all(mark in content for mark in marks) for marks in MARKS)


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
            "in JSON, and is not of Tempo, Jaeger or Zipkin"
        )
    for document in documents(content):
        for service, span in _spans_of(path, document):
            problem = _problem(span)
            if problem is not None:
                raise UnreadableError(
                    f"{path}: the span {span.get('spanId')!r} of the trace "
                    f"{span.get('traceId')!r} {problem}, or leave the span out"
                )
            yield service, span


def _spans_of(path: AnyPath, document: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """The spans of a document in the words of OpenTelemetry, each after the name of its service."""
    if isinstance(document, list):
        for part in document:
            is_zipkin = isinstance(part, dict) and "traceId" in part and "id" in part
            yield from [_span_of_zipkin(part)] if is_zipkin else _spans_of(path, part)
    elif "data" in document or "processes" in document:
        traces = document.get("data", [document])
        for trace in traces if isinstance(traces, list) else [traces]:
            for span in trace["spans"]:
                yield _span_of_jaeger(span, trace["processes"])
    else:
        for resource in document.get("resourceSpans", document.get("batches")):
            yield from _spans_of_resource(path, resource)


def _spans_of_resource(path: AnyPath, resource: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """The spans of one resource of OpenTelemetry."""
    service = _attributes(resource.get("resource", {})).get("service.name", "")
    if "scopeSpans" not in resource:
        raise UnreadableError(
            f'{path}: there are "resourceSpans" without "scopeSpans", which OpenTelemetry has '
            f"had since 2022 (they have {listed([*resource])}): export the spans again"
        )
    for scope in resource["scopeSpans"]:
        for span in scope.get("spans", ()):
            yield service, span


def _span_of_zipkin(span: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """A span of Zipkin, whose times are microseconds."""
    tags = dict(span.get("tags") or {})
    has_failed = tags.pop("error", None) is not None
    start = 1000 * int(span.get("timestamp", 0))
    end = start + 1000 * int(span["duration"]) if "duration" in span else None  # it is not known
    found = {
        "traceId": span["traceId"],
        "spanId": span["id"],
        "parentSpanId": span.get("parentId"),
        "name": span.get("name", ""),
        "kind": str(span.get("kind", "internal")),
        "startTimeUnixNano": start,
        "endTimeUnixNano": end,
        "status": {"code": "error" if has_failed else "unset"},
        "attributes": [{"key": key, "value": {"stringValue": x}} for key, x in tags.items()],
    }
    return (span.get("localEndpoint") or {}).get("serviceName", ""), found


def _span_of_jaeger(span: dict[str, Any], processes: dict) -> tuple[str, dict[str, Any]]:
    """A span of Jaeger, whose times are microseconds; the first that it is a child of calls it."""
    tags = {tag["key"]: tag.get("value") for tag in span.get("tags") or ()}
    references = sorted(span.get("references") or (), key=lambda x: x["refType"])  # CHILD_OF first
    parents = [x["spanID"] for x in references]
    start = 1000 * int(span["startTime"])
    found = {
        "traceId": span["traceID"],
        "spanId": span["spanID"],
        "parentSpanId": (parents or [span.get("parentSpanID")])[0],
        "name": span.get("operationName", ""),
        "kind": str(tags.pop("span.kind", "internal")),
        "startTimeUnixNano": start,
        "endTimeUnixNano": start + 1000 * int(span["duration"]),
        "status": {"code": "error" if tags.pop("error", False) in (True, "true") else "unset"},
        "attributes": [{"key": key, "value": {"value": x}} for key, x in tags.items()],
    }
    return processes[span["processID"]].get("serviceName", ""), found


def _problem(span: dict[str, Any]) -> str | None:
    """What is wrong with a span, and what to do; None if nothing is."""
    for name in OF_SPANS:
        if name not in span:
            return f"has no {name}: add it"
        is_open = name == TIMES[1] and span[name] is None
        if name in TIMES and not is_open and not str(span[name]).isdecimal():
            return f"has the {name} {span[name]!r}: correct it"
    ms = _milliseconds(span)
    return "ends before it starts: correct it" if ms is not None and ms < 0 else None


def _milliseconds(span: dict[str, Any]) -> float | None:
    """How long a span took; None if that is not known."""
    start, end = (span[name] for name in TIMES)
    return None if end is None else (int(end) - int(start)) / 1e6


def _traces(exported: Iterable[tuple[str, dict]], schema: GraphSchema) -> list[tuple[str, Any]]:
    """The traces of spans, each of which is after the name of its service, and their ids."""
    rows = []
    others = dict[str, None]()
    named = names_in_schema(schema, "node")
    for service, span in exported:
        attributes = _attributes(span)
        others |= dict.fromkeys(x for x in attributes if x not in named)
        kind = span.get("kind", 0)
        status = (span.get("status") or {}).get("code", 0)
        row = {
            "traceId": span["traceId"],
            "spanId": span["spanId"],
            "parentSpanId": span.get("parentSpanId") or None,
            "label": f"{service} {span.get('name', '')}".strip(),
            "kind": _name_of_enum(KINDS_OF_SPANS, kind),
            "status": _name_of_enum(STATUSES, status),
            "ms": _milliseconds(span),
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


def _name_of_enum(names: Mapping[int, str], value: Any) -> str:
    """What a number of OpenTelemetry means, or its name: "server" for 2 and "SPAN_KIND_SERVER"."""
    text = str(names.get(value, value))
    return re.sub("^(SPAN_KIND|STATUS_CODE)_", "", text).lower()


def _attributes(record: dict[str, Any]) -> dict[str, Any]:
    """The attributes of a span or a resource, each of which has its value under its type."""
    found = {}
    for x in record.get("attributes", ()):
        kind, value = next(iter(x["value"].items()), ("", None))
        # JSON writes integers of 64 bits as texts.
        is_whole = kind == "intValue" and value is not None
        found[x["key"]] = int(str(value)) if is_whole else value
    return found

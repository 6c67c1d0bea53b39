"""Event logs and spans, against graphs built by hand."""

import json

import networkx as nx
import pandas as pd
import pytest

from skgraphkde.core.graphs import GraphSchema
from skgraphkde.reading import read_graphs, read_log
from skgraphkde.reading.files import find_files, iter_graphs, read_batch
from skgraphkde.reading.files.logs import SpanFiles
from tests.conftest import refused, warned, with_data
from tests.reading.common import exported, span

# Case, activity, time, who, cost and channel, in no order.
EVENTS = [
    ("7", "pay", "2026-01-05 12:30", "12", "5", "web"),
    ("7", "order", "2026-01-05 09:00", "Ann", "2", "web"),
    ("9", "order", "2026-01-06 08:00", "", "1", "shop"),
    ("7", "pay", "2026-01-06 12:30", "Bob", "4", "web"),
]
NAMES = {"case": "order no", "activity": "what", "timestamp": "when", "resource": "who"}


def expected(cost="cost", who="who", channel="channel"):
    """The graphs of `EVENTS`."""
    seven, nine = nx.DiGraph(name="7"), nx.DiGraph(name="9")
    seven.graph[channel], nine.graph[channel] = "web", "shop"
    seven.add_node("order", label="order", **{who: "Ann", cost: 2})
    seven.add_node("pay", label="pay", **{who: "12", cost: 5})
    seven.add_node("pay (2)", label="pay", **{who: "Bob", cost: 4})
    seven.add_edge("order", "pay", hours=3.5)
    seven.add_edge("pay", "pay (2)", hours=24.0)
    nine.add_node("order", label="order", **{cost: 1})
    return [seven, nine]


def check_same(found, expected):
    for (name, graph), other in zip(found, expected, strict=True):
        assert name.endswith(f"#{other.graph['name']}")
        assert nx.utils.graphs_equal(graph, other)


def write_log(path, times=str, header=None):
    header = header or [*NAMES.values(), "cost", "channel"]
    rows = [header, *([case, what, times(when), *x] for case, what, when, *x in EVENTS)]
    path.write_text("\n".join(";".join(row) for row in rows))
    return path


TIMES = {
    "iso": lambda x: x.replace(" ", "T") + ":00+01:00",
    "days first": lambda x: f"{x[8:10]}.01.2026 {x[11:]}",
    "months first": lambda x: (
        f"01/{x[8:10]}/2026 {int(x[11:13]) - 12 * (x[11:13] > '12')}:{x[14:]} "
        + ("PM" if x[11:13] >= "12" else "AM")
    ),
}


@pytest.mark.filterwarnings("ignore:.* is read as month and day")
@pytest.mark.parametrize("times", TIMES)
def test_a_csv_whose_columns_are_named(tmp_path, times):
    path = write_log(tmp_path / "log.csv", TIMES[times])
    schema = GraphSchema.everything(graph_categories="channel")
    check_same(iter_graphs([path], schema, options=NAMES), expected())


def test_usual_names_of_columns_are_taken(tmp_path):
    header = ["case_id", "what", "time", "resource", "cost", "case:channel"]
    path = write_log(tmp_path / "log.csv", header=header)
    found = iter_graphs([path], "all", options={"activity": "what"})  # which says that it is a log
    check_same(found, expected(who="resource", channel="case:channel"))
    header[:4] = ["Case ID", "Activity", "Complete Timestamp", "Resource"]
    found = iter_graphs([write_log(path, header=header)], "all")
    names = expected(who="Resource", channel="case:channel")
    warned("read as an event log: case 'Case ID', activity 'Act", check_same, found, names)


def test_usual_names_without_a_time_are_no_log(tmp_path):
    write_log(tmp_path / "log.csv", header=["case", "activity", "a", "b", "c", "d"])
    refused("an event log --case and --activity", read_batch, find_files([tmp_path]))


EVENT = (
    '<event><string key="concept:name" value="{}"/><date key="time:timestamp" '
    'value="{}:00.000+01:00"/><int key="cost" value="{}"/>{}</event>'
)
TRACE = '<trace><string key="concept:name" value="{}"/>{}</trace>'
CHANNEL = '<string key="channel" value="{}"/><list key="more"/>'
WHO = '<string key="org:resource" value="{}"/>'


def test_xes(tmp_path):
    traces = {"7": CHANNEL.format("web"), "9": CHANNEL.format("shop")}
    for case, what, when, who, cost, _ in EVENTS:
        of_who = WHO.format(who) if who else ""
        traces[case] += EVENT.format(what, when.replace(" ", "T"), cost, of_who)
    text = "".join(TRACE.format(*trace) for trace in traces.items())
    log = f'<log xmlns="http://www.xes-standard.org/"><extension name="Time"/>{text}</log>'
    (tmp_path / "log.xes").write_text(log)
    found = iter_graphs(find_files([tmp_path]), "all")
    check_same(found, expected(who="org:resource", channel="case:channel"))
    (tmp_path / "log.xes").write_text("<log/>")
    message = r"log.xes cannot be read as an event log \(its traces, or"
    refused(message, read_batch, find_files([tmp_path]))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "an event log --case and --activity"),
        ({"case": "order no"}, "log.csv has no column 'concept:name': it has .*--activity in the"),
        (NAMES | {"resource": "whom"}, "has no column 'whom': it has order no, .*--resource in"),
        (NAMES | {"timestamp": "channel"}, "'web' under 'channel' is no time that is known"),
        (NAMES | {"timestamp": "who"}, r"^[^ ]*log.csv, row 4: 'who' is empty: fill or remove it$"),
    ],
)
def test_what_is_wrong_with_a_log_is_said(tmp_path, options, message):
    path = write_log(tmp_path / "log.csv")
    refused(message, read_batch, [path], options=options)


def test_times_that_may_be_read_in_two_ways(tmp_path):
    path = write_log(tmp_path / "log.csv", lambda x: f"01/{x[8:10]}/2026")
    warned("'01/05/2026' under 'when' is read as month and day", read_batch, [path], options=NAMES)


# -- spans -----------------------------------------------------------------------------------------


URL = [{"key": "url", "value": {"stringValue": "/cart"}}]
WEB = exported("web", span("A", "", "1", kind=2, attributes=URL), span("B", "", "1", kind=2))
CART = exported("cart", span("A", "1", "2", status={"code": 2}), span("A", "2", "3"))


@pytest.mark.parametrize("how", ["a list", "lines", "many files"])
@pytest.mark.filterwarnings("ignore:attributes of spans are not read. url; name those")
def test_spans_are_traces(tmp_path, how):
    texts = {
        "a list": [json.dumps([WEB, CART], indent=1)],
        "lines": [f"{json.dumps(WEB)}\n{json.dumps(CART)}\n"],
        "many files": [json.dumps(WEB), json.dumps(CART)],
    }
    for k, text in enumerate(texts[how]):
        (tmp_path / f"{k}.json").write_text(text)
    files = find_files([tmp_path])
    found = dict(iter_graphs([SpanFiles(tuple(files))] if len(files) > 1 else files))
    assert [x.rpartition("#")[2] for x in found] == ["A", "B"]
    whole, alone = found.values()
    assert list(whole.edges) == [("1", "2"), ("2", "3")]
    root = {"label": "web call 1", "kind": "server", "status": "unset", "ms": 2.5}
    assert dict(whole.nodes["1"]) == root
    call = {"label": "cart call 2", "kind": "unspecified", "status": "error", "ms": 2.5}
    assert dict(whole.nodes["2"]) == call
    assert list(alone.nodes(data=True)) == [("1", root)]


def test_what_is_not_read_of_spans_is_said(tmp_path):
    path = tmp_path / "a.json"
    path.write_text(json.dumps(WEB))
    warned("attributes of spans are not read: url; name those", read_batch, [path])
    named = read_batch([path], GraphSchema(node_categories="url", missing="indicate"))
    assert named.label_names == (None, "/cart")
    path.write_text(json.dumps(CART))
    batch = warned(r"1 of 2 spans have a parent that is not.*give --spans", read_batch, [path])
    assert (batch.n_graphs, batch.n_nodes, batch.adjacency.nnz) == (1, 2, 1)
    path.write_text('[{"traceId": "A", "spanId": "1"}]')
    refused(r"of spans, write what OpenTelemetry exports .*--spans", read_batch, [path])
    refused(
        r'a\.json is no file of spans: it has no "resourceSpans"', read_batch, [SpanFiles((path,))]
    )


RUNNING = span("A", "", "1")
del RUNNING["endTimeUnixNano"]
OLD = json.dumps(exported("web", span("A", "", "1")))
OLD = OLD.replace("scopeSpans", "instrumentationLibrarySpans")


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (
            exported("web", RUNNING),
            r"a\.json: the span '1' of the trace 'A' has no endTimeUnixNano: add it, or leave",
        ),
        *(
            (
                exported("web", span("A", "", "1", startTimeUnixNano=time)),
                rf"span '1' of the trace 'A' has the startTimeUnixNano {time!r}: correct it",
            )
            for time in (None, "x")
        ),
        (
            exported("web", span("A", "", "1", endTimeUnixNano="0")),
            "'1' of the trace 'A' ends befo",
        ),
        ({"resourceSpans": []}, "no graph can be read"),
        (json.loads(OLD), 'without "scopeSpans".*instrumentationLib'),
    ],
)
def test_spans_that_cannot_be_read_are_named(tmp_path, document, message):
    (tmp_path / "a.json").write_text(json.dumps(document))
    refused(message, read_batch, find_files([tmp_path]))


# -- what graphs hold ------------------------------------------------------------------------------


def test_nested_values_are_flattened_or_left_out():
    graphs = []
    for k in range(3):
        of_graph = {"stats": {"n": k, "deep": {"gini": 0.5}}, "tags": ["a", "b"], "way": [1.0] * k}
        nodes = {"set": lambda v: {"a", v}, "by id": lambda v: {7: v}, "vector": lambda v: [v, 1.0]}
        edges = {"ecmp": {"cost": 2.5}}
        graphs.append(with_data(nx.path_graph(3), nodes, edges, **of_graph))
    schema = read_graphs(graphs, schema="all").schema
    assert schema.graph_numbers == (("stats.deep.gini", 1), ("stats.n", 1))
    assert schema.edge_numbers == (("ecmp.cost", 1),)
    assert schema.node_numbers == (("vector", 2),)
    assert schema.node_categories == ("set",)
    assert sorted(map(str, schema.ignored)) == [
        f"{part} attribute {name!r} (lists or dicts: give a number or a category)"
        for part, name in (("graph", "tags"), ("graph", "way"), ("node", "by id"))
    ]
    named = read_graphs(graphs, schema=GraphSchema(graph_numbers="stats.n"))
    assert named.graph_attributes.tolist() == [[0.0], [1.0], [2.0]]


def test_a_bad_time_is_named_with_its_row(tmp_path):
    rows = ["2026-01-01 10:00", "soon", "2026-01-02 10:00"]
    text = "\n".join(["case,activity,time", *(f"1,A,{time}" for time in rows)])
    names = {"case": "case", "activity": "activity", "timestamp": "time"}
    for time in ("soon", "2025"):
        (tmp_path / "a.csv").write_text(text.replace("soon", time))
        refused(
            rf"a\.csv, row 3: '{time}' under 'time' is no time",
            read_batch,
            [tmp_path / "a.csv"],
            options=names,
        )


def test_traces_without_events_or_with_the_same_name_are_named(tmp_path):
    events = [EVENT.format("A", f"2026-01-0{day}T08:00", 1, "") for day in (1, 2, 3)]
    traces = zip(["c1", "c2", "c3", "c3"], ["", *events], strict=True)
    text = "".join(TRACE.format(*trace) for trace in traces)
    (tmp_path / "a.xes").write_text(f"<log>{text}</log>")
    empty = pytest.warns(UserWarning, match=r"a\.xes: traces without events are left out: c1")
    with empty, pytest.warns(UserWarning, match=r"as one case: c3; give"):
        found = dict(iter_graphs([tmp_path / "a.xes"]))
    assert [len(graph) for graph in found.values()] == [1, 2]


# -- how long steps take ---------------------------------------------------------------------------


def steps_with_times():
    """Events of two cases, with when each began and ended."""
    rows = []
    for case, hours in (("p", [(0, 2), (1, 4), (4, 4.5)]), ("q", [(0, 1), (2, 3), (3, 9)])):
        for step, (start, end) in zip("abb", hours, strict=True):
            first = pd.Timestamp("2026-01-05")
            times = [first + pd.Timedelta(hours=x) for x in (start, end)]
            rows.append((case, step, *times))
    return pd.DataFrame(rows, columns=["case", "activity", "start_timestamp", "timestamp"])


HOURS = [[2.0, 3.0, 0.5], [1.0, 1.0, 6.0]]


def hours_of(graphs):
    return [[hours for _, hours in graph.nodes(data="hours")] for graph in graphs]


def test_a_step_with_a_start_has_its_hours(tmp_path):
    log = steps_with_times()
    assert hours_of(read_log(log)) == HOURS
    other = log.rename(columns={"start_timestamp": "began"})
    assert hours_of(read_log(other, start="began")) == HOURS
    path = tmp_path / "log.csv"
    other.to_csv(path, index=False)
    found = list(iter_graphs([path], options={"start": "began"}))
    assert hours_of([graph for _, graph in found]) == HOURS
    other.loc[1, "began"] = pd.NaT
    assert hours_of(read_log(other, start="began"))[0] == [2.0, None, 0.5]
    other.to_csv(path, index=False)
    found = list(iter_graphs([path], options={"start": "began"}))
    assert hours_of([graph for _, graph in found])[0] == [2.0, None, 0.5]


def rows_of_lifecycles(log):
    """A row for each start, and one for each end."""
    ids = log[["case", "activity"]]
    starts = ids.assign(timestamp=log["start_timestamp"], transition="START")
    ends = ids.assign(timestamp=log["timestamp"], transition="complete")
    rows = pd.concat([starts, ends]).sample(frac=1, random_state=0)
    return rows.rename(columns={"transition": "lifecycle:transition"})


def test_a_start_and_its_end_are_one_step(tmp_path):
    rows = rows_of_lifecycles(steps_with_times())
    message = "6 starts of steps are read with their ends, .* 0 other events stay alone"
    graphs = warned(message, read_log, rows)
    in_order = sorted(graphs, key=lambda graph: graph.graph["name"])
    assert hours_of(in_order) == HOURS
    expected = sorted(read_log(steps_with_times()), key=lambda graph: graph.graph["name"])
    for graph, other in zip(in_order, expected, strict=True):
        assert dict(graph.edges.items()) == dict(other.edges.items())
    rows.to_csv(tmp_path / "log.csv", index=False)
    with pytest.warns(UserWarning, match=message), pytest.warns(UserWarning, match="is read as"):
        found = [graph for _, graph in iter_graphs([tmp_path / "log.csv"])]
    assert hours_of(sorted(found, key=lambda graph: graph.graph["name"])) == HOURS


def test_starts_without_an_end_stay_alone():
    rows = rows_of_lifecycles(steps_with_times()).sort_values("timestamp")
    is_end_of_q = (rows["case"] == "q") & (rows["lifecycle:transition"] == "complete")
    graphs = warned("3 starts of steps .* 3 other events", read_log, rows[~is_end_of_q])
    (of_q,) = [graph for graph in graphs if graph.graph["name"] == "q"]
    assert hours_of([of_q]) == [[None, None, None]]
    only_ends = rows[rows["lifecycle:transition"] == "complete"]
    assert "hours" not in next(iter(read_log(only_ends)[0].nodes.data()))[1]


def test_lifecycles_in_a_mess():
    times = ["09:00", "10:00", "10:00", "11:00"]
    rows = pd.DataFrame(
        {
            "case": "p",
            "activity": "a",
            "timestamp": [f"2026-01-05 {x}" for x in times],
            "lifecycle:transition": [" Start", "complete", "start ", "complete"],
            "concept:instance": [None] * 4,
        }
    )
    (graph,) = warned("2 starts of steps", read_log, rows)
    assert hours_of([graph]) == [[1.0, 1.0]]


def test_starts_are_written_as_times_are(tmp_path):
    log = pd.DataFrame(
        {
            "case": ["p", "p"],
            "activity": ["a", "b"],
            "start_timestamp": ["02/03/2026 10:00", "12/03/2026 10:00"],
            "timestamp": ["02/03/2026 12:00", "13/03/2026 10:00"],
        }
    )
    assert hours_of(read_log(log)) == [[2.0, 24.0]]
    zones = {"start_timestamp": "2026-03-02T10:00Z", "timestamp": "2026-03-02T11:00"}
    refused("time zone", read_log, log.assign(**zones))
    only_starts = log.drop(columns="timestamp").iloc[::-1]
    only_starts["start_timestamp"] = ["2026-03-12", "2026-03-02"]
    assert [x for _, x in read_log(only_starts)[0].nodes(data="label")] == ["a", "b"]
    effort = log.assign(hours=[0.5, 0.25])
    data = dict(read_log(effort)[0].nodes(data=True))["a"]
    assert (data["hours"], data["hours of the step"]) == (0.5, 2.0)


def test_times_since_1970_and_activities_that_look_like_repeats():
    log = pd.DataFrame(
        {
            "case": ["to"] * 3,
            "activity": ["A", "A", "A (2)"],
            "timestamp": [1767225600, 1767229200, 1767232800],
        }
    )
    (graph,) = read_log(log)
    assert len(graph) == 3
    assert [hours for *_, hours in graph.edges(data="hours")] == [1.0, 1.0]


def test_lists_in_a_column_of_cases_are_named():
    log = pd.DataFrame({"case": ["a", "a"], "activity": ["x", "y"], "case:tags": [["t"], ["t"]]})
    refused("of the columns of cases, 'case:tags', one has lists", read_log, log)

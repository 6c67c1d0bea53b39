"""``skgraphkde watch``: the log is what the library gives, goes on, and survives a kill."""

import importlib
import json
import re

import networkx as nx
import numpy as np
import pytest

import skgraphkde
from skgraphkde import GraphKDEDetector, LeaveOneOut
from skgraphkde.monitoring import DriftMonitor
from tests.cli.conftest import column, run, table

watch_module = importlib.import_module("skgraphkde.cli.watch")


def cycles(n_graphs, n_nodes):
    return [nx.cycle_graph(n_nodes + i % 7) for i in range(n_graphs)]


DAYS = {"day1": cycles(9, 12), "day2": cycles(14, 12), "day3": cycles(21, 45)}


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    folder = tmp_path_factory.mktemp("days")
    apart = LeaveOneOut(copies="apart")  # days repeat graphs as often
    GraphKDEDetector(calibration=apart).fit(cycles(42, 12)).save(folder / "model.skg")
    for day, graphs in DAYS.items():
        (folder / day).mkdir()
        for i, graph in enumerate(graphs):
            nx.write_graphml(graph, folder / day / f"{i:02d}.graphml")
    return folder


@pytest.fixture
def here(shared, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("model.skg", *DAYS):
        (tmp_path / name).symlink_to(shared / name)
    return tmp_path


WATCH = "watch model.skg {} -o log.csv --window 20"


def watch(days, exit_code=0):
    return run(WATCH.format(days), exit_code)


def test_the_log_goes_on_as_the_library_does(here):
    assert "watched         9 graphs; 9 in log.csv" in watch("day1").stdout
    watch("day2")
    result = watch("day3", exit_code=4)
    rows = table((here / "log.csv").read_text())
    monitor = DriftMonitor(skgraphkde.load("model.skg"), window=20, random_state=0)
    expected = monitor.update([graph for graphs in DAYS.values() for graph in graphs])
    assert [row["graph"] for row in rows] == [
        f"{day}/{i:02d}.graphml" for day, graphs in DAYS.items() for i in range(len(graphs))
    ]
    for name in ("score", "p_value", "statistic", "mmd_p_value"):
        np.testing.assert_allclose(column(rows, name), expected[name], rtol=1e-6)
    assert [row["alarm"] for row in rows] == expected["alarm"].tolist()
    alarm = monitor.alarms_[0]
    at, since = (rows[i]["graph"] for i in (alarm.at, alarm.since))
    assert f"ALARM           {alarm.test}: at {at}, row {alarm.at + 1}\n" in result.stdout
    assert f"  since about   {since}, row {alarm.since + 1}\n" in result.stdout


def test_graphs_that_the_log_has_are_left_out(here):
    watch("day1 day2")
    before = (here / "log.csv").read_bytes()
    result = watch("day1 day2")
    assert "watched         0 graphs; 23 in log.csv" in result.stdout
    assert "left out        23 files that the log has" in result.stdout
    assert (here / "log.csv").read_bytes() == before
    (here / "many.json").write_text(
        json.dumps([nx.node_link_data(graph, edges="edges") for graph in cycles(3, 12)])
    )
    assert "watched         3 graphs; 26 in log.csv" in watch("day1 many.json").stdout
    assert "watched         0 graphs; 26 in log.csv" in watch("many.json").stdout


@pytest.mark.parametrize(
    ("days", "n_lost"),
    [
        (["day1"], 1),
        (["day1"], 10**6),
        (["day1", "day2"], 40),
        pytest.param(["day1"], 40, marks=pytest.mark.slow),
        pytest.param(["day1", "day2"], 1, marks=pytest.mark.slow),
        pytest.param(["day1", "day2"], 10**6, marks=pytest.mark.slow),
    ],
)
def test_a_killed_call_is_completed(here, days, n_lost):
    """The state is there, and some bytes of the rows that go with it are not, or all."""
    for day in days:
        watch(day)
    whole = (here / "log.csv").read_bytes()
    (here / "log.csv").write_bytes(whole[: max(len(whole) - n_lost, 0)])
    watch(" ".join(days))
    assert (here / "log.csv").read_bytes() == whole
    (here / "log.csv").unlink()
    watch("day3", exit_code=4)
    n_rows = sum(len(DAYS[day]) for day in [*days, "day3"])
    assert len(table((here / "log.csv").read_text())) == n_rows


def test_a_call_that_fails_writes_nothing(here):
    watch("day1")
    before = [(here / name).read_bytes() for name in ("log.csv", "log.csv.state")]
    (here / "bad.graphml").write_text("no graph")
    assert "bad.graphml" in watch("day2 bad.graphml", exit_code=1).stderr
    assert [(here / name).read_bytes() for name in ("log.csv", "log.csv.state")] == before
    result = run(f"{WATCH.format('day2 bad.graphml')} --skip-errors", exit_code=3)
    assert "watched         14 graphs; 23 in log.csv" in result.stdout
    assert "Skipped: bad.graphml" in result.stderr


def test_an_alarm_that_nobody_was_told_of(here, monkeypatch):
    """The state has it, and the call ended before it could report it."""

    def fail(line):
        raise OSError("stdout is closed")

    watch("day1 day2")
    with monkeypatch.context() as patch:
        patch.setattr(watch_module, "echo", fail)
        watch("day3", exit_code=1)
    log = (here / "log.csv").read_bytes()
    result = watch("day3", exit_code=4)
    assert "watched         0 graphs" in result.stdout
    assert "ALARM" in result.stdout
    assert "ALARM" not in watch("day3").stdout
    assert (here / "log.csv").read_bytes() == log


def test_an_alarm_and_files_that_were_skipped(here):
    (here / "bad.graphml").write_text("no graph")
    assert "Skipped" in watch("day1 day2 day3 bad.graphml --skip-errors", exit_code=4).stderr


def test_each_graph_is_watched_once(here):
    (here / "=x.graphml").write_bytes((here / "day1" / "00.graphml").read_bytes())
    paths = ["day1", "day2/../day1", str(here / "day1"), "day1/03.graphml", "=x.graphml"]
    result = watch(" ".join(paths))
    assert "watched         10 graphs; 10 in log.csv" in result.stdout
    for path in (*paths, str(here / "=x.graphml")):
        assert "watched         0 graphs" in watch(path).stdout
    assert table((here / "log.csv").read_text())[0]["graph"] == "day1/00.graphml"


def test_a_log_among_the_graphs(here):
    (here / "own").mkdir()
    nx.write_graphml(nx.cycle_graph(14), here / "own" / "a.graphml")
    for n_new in (1, 0):
        result = run("watch model.skg own -o own/log.csv")
        assert f"watched         {n_new} graphs; 1 in own/log.csv" in result.stdout


def test_an_option_that_contradicts_the_log(here):
    watch("day1")
    message = "log.csv was begun with --window 20: leave the option out"
    assert message in run("watch model.skg day2 -o log.csv --window 0", 2).stderr
    message = "log.csv was begun with --false-alarm-rate 0.001"
    assert message in run("watch model.skg day2 -o log.csv --false-alarm-rate 0.01", 2).stderr
    run("watch model.skg day2 -o log.csv")
    run("watch model.skg day2 -o other.csv --window 0")
    assert json.loads((here / "other.csv.state").read_text())["monitor"]["window"] is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda log, state: state.unlink(), "log.csv was not written by watch, or log.csv.state"),
        (lambda log, state: log.write_text("graph\nx\n"), "log.csv has changed since watch wrote"),
        (lambda log, state: state.write_text("{"), "log.csv.state is damaged: begin another log"),
        (lambda log, state: state.write_text("[]"), "log.csv.state is damaged: begin another log"),
        (
            lambda log, state: state.write_text(state.read_text().replace('"scores": [', '"x": [')),
            "log.csv cannot be continued: this state .* cannot be used: 'scores'",
        ),
    ],
)
def test_logs_that_cannot_be_continued(here, change, message):
    watch("day1")
    watch("day2")
    change(here / "log.csv", here / "log.csv.state")
    result = watch("day3", exit_code=1)
    assert re.search(message, result.stderr)
    assert "--output" in result.stderr


def test_the_log_of_another_model(here):
    watch("day1")
    GraphKDEDetector().fit(cycles(40, 13)).save(here / "model.skg.new")
    result = run("watch model.skg.new day2 -o log.csv", exit_code=1)
    assert result.stderr == (
        "Error: log.csv cannot be continued: this state of a DriftMonitor cannot be used: it "
        "belongs to another detector, or to this one before it was updated or fitted again. Watch "
        "with the model file that began it, or begin another log with --output\n"
    )


def test_names_are_text(here):
    """Formulas and control characters are escaped, and the graphs are known again."""
    (here / "odd").mkdir()
    names = ["=1+1.graphml", "a\nb.graphml", '\x1b[2J,".graphml']
    for name in names:
        nx.write_graphml(nx.cycle_graph(40), here / name)
    text = " ".join(f"'{name}'" for name in names)
    result = watch(text)
    assert result.stdout.replace("\n", "").isprintable()
    assert [row["graph"] for row in table((here / "log.csv").read_text())] == [
        "'=1+1.graphml",
        "a\\nb.graphml",
        '\\x1b[2J,".graphml',
    ]
    assert "watched         0 graphs; 3 in log.csv" in watch(text).stdout

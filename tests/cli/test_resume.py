"""A run of `score` that ends half-way, however it ends, is continued to the same rows."""

import importlib
import json
import os
import shlex
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import skgraphkde
from skgraphkde import GraphKDEDetector
from skgraphkde.cli.table import Table
from skgraphkde.explanation import results
from skgraphkde.graphs.files import walk
from tests.cli.conftest import NORMAL, READ, column, run, table

score_module = importlib.import_module("skgraphkde.cli.score")
COLUMNS = score_module.COLUMNS
SCORE = "score model.skg new more"
ALL = "--alpha 0.5 --reasons"


@pytest.fixture
def many(here, monkeypatch):
    """More files, scored a few at a time."""
    (here / "more").mkdir()
    for i, graph in enumerate(NORMAL[:6]):
        nx.write_graphml(graph, here / "more" / f"{i}.graphml")
    graphs = []
    for graph in NORMAL[6:10]:
        graphs.append(nx.node_link_data(graph, edges="edges"))
        for data in graphs[-1]["nodes"]:
            data |= {"px": float(data["px"]), "py": float(data["py"])}
    (here / "more" / "list.json").write_text(json.dumps(graphs))
    monkeypatch.setattr(walk, "CHUNK_GRAPHS", 3)
    return here


def frame(path):
    reader = {".csv": pd.read_csv, ".jsonl": partial(pd.read_json, lines=True)}
    return reader.get(path.suffix, pd.read_parquet)(path)


def check_same(path, expected):
    """The same rows, up to rounding: which graphs are scored together depends on the run."""
    pd.testing.assert_frame_equal(frame(path), frame(expected), rtol=1e-9)


@pytest.fixture
def scored(monkeypatch):
    """Numbers of graphs that were scored, one for each call."""
    sizes = []
    scores = GraphKDEDetector.score_samples

    def counting(detector, graphs):
        sizes.append(len(graphs))
        return scores(detector, graphs)

    monkeypatch.setattr(GraphKDEDetector, "score_samples", counting)
    return sizes


@pytest.mark.parametrize("form", ["csv", pytest.param("jsonl", marks=pytest.mark.slow)])
def test_rows_from_any_byte_on(tmp_path, form, monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda file: None)  # which takes long, so often
    names = ["a", "=b,\"c'\n", "é#0", "d" * 9]
    rows = [{"graph": x, "score": i - 1.5, "decision": 1e-300} for i, x in enumerate(names)]
    whole = Table(str(tmp_path / "all"), COLUMNS, form)
    whole.append(rows)
    content = (tmp_path / "all").read_bytes()
    lines = content.splitlines(keepends=True)
    for cut in range(len(content) + 1):
        (tmp_path / "cut").write_bytes(content[:cut])
        some = Table(str(tmp_path / "cut"), COLUMNS, form)
        known = [row["graph"] for row in some.resume("selected")]
        assert len(known) == max(content[:cut].count(b"\n") - (form == "csv"), 0)
        assert known == [some.cell(name) for name in names[: len(known)]]
        some.append([])  # as if the others were skipped
        assert (tmp_path / "cut").read_bytes() == b"".join(lines[: len(known) + (form == "csv")])
        some.append(rows[len(known) :])
        assert (tmp_path / "cut").read_bytes() == content


@pytest.mark.parametrize(
    ("ending", "words"),
    [
        ("csv", ALL),
        ("jsonl", ""),
        pytest.param("csv", "", marks=pytest.mark.slow),
        pytest.param("jsonl", ALL, marks=pytest.mark.slow),
    ],
)
def test_scores_from_any_row_on(many, ending, words):
    run(f"{SCORE} {words} -o all.{ending}")
    content = (many / f"all.{ending}").read_bytes()
    lines = content.splitlines(keepends=True)
    assert len(lines) == 7 + 6 + 4 + (ending == "csv")
    for cut in np.linspace(0, len(content), 4, dtype=int):
        (many / f"cut.{ending}").write_bytes(content[:cut])
        run(f"{SCORE} {words} -o cut.{ending} --resume")
        check_same(many / f"cut.{ending}", many / f"all.{ending}")


def test_what_is_there_is_not_computed_again(many, scored, monkeypatch):
    read, read_file = [], walk.read_file
    monkeypatch.setattr(walk, "read_file", lambda *x: read.append(x) or read_file(*x))
    run(f"{SCORE} -o all.csv")
    lines = (many / "all.csv").read_text().splitlines(keepends=True)
    scored.clear()
    read.clear()
    (many / "cut.csv").write_text("".join(lines[:9]))  # eight of seventeen
    run(f"{SCORE} -o cut.csv --resume")
    assert sum(scored) == 1 + 9  # the last row once more, for comparison
    assert len(read) == 1 + 6  # of fourteen: not the eight that have rows
    scored.clear()
    run(f"{SCORE} -o cut.csv --resume")
    assert sum(scored) == 1
    run(f"{SCORE} -o none.csv --resume")  # nothing to go on after
    check_same(many / "none.csv", many / "all.csv")


DEADLY = """
import os, signal
from skgraphkde import GraphKDEDetector
from skgraphkde.graphs.files import walk

scores, calls = GraphKDEDetector.score_samples, []

def deadly(detector, graphs):
    calls.append(len(graphs))
    if len(calls) == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return scores(detector, graphs)

GraphKDEDetector.score_samples = deadly
walk.CHUNK_GRAPHS = 2
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_a_killed_process(here, monkeypatch):
    """Another process may compute with other threads, and so with other rounding."""
    (here / "deadly.py").write_text(DEADLY)
    expected = run("score model.skg new").stdout
    environment = os.environ | {"PYTHONPATH": str(Path(skgraphkde.__file__).parents[1])}
    words = ["score", "model.skg", "new", "--detector", "deadly", "-o", "rows.csv"]
    done = subprocess.run(
        [sys.executable, "-m", "skgraphkde", *words], env=environment, check=False
    )
    assert done.returncode == -signal.SIGKILL
    of_the_dead = (here / "rows.csv").read_text()
    assert of_the_dead.count("\n") == 1 + 4
    run("score model.skg new -o rows.csv --resume")
    resumed = (here / "rows.csv").read_text()
    assert resumed.startswith(of_the_dead)
    rows, expected = table(resumed), table(expected)
    for name in ("graph", "verdict", "p_value"):
        assert [row[name] for row in rows] == [row[name] for row in expected]
    for name in ("score", "decision"):
        np.testing.assert_allclose(column(rows, name), column(expected, name), rtol=1e-9)


def interrupted_after(function, n_calls):
    calls = iter(range(n_calls))

    def interrupting(*arguments):
        if next(calls, None) is None:
            raise KeyboardInterrupt
        return function(*arguments)

    return interrupting


def test_interrupts_and_errors_say_how_to_go_on(many, monkeypatch):
    run(f"{SCORE} -o all.csv")
    broken = many / "more" / "4.graphml"
    good = broken.read_text()
    broken.write_text("<")
    result = run(f"{SCORE} -o rows.csv", exit_code=1)
    assert result.stderr.startswith("Error: more/4.graphml cannot be read as GraphML")
    assert result.stderr.endswith(
        "; --skip-errors leaves out what cannot be used"
        "; rows.csv has 9 rows, and the same command with --resume goes on after them\n"
    )
    broken.write_text(good)
    run(f"{SCORE} -o rows.csv --resume")
    check_same(many / "rows.csv", many / "all.csv")
    whole = (many / "rows.csv").read_bytes()

    def interrupt_after(n_calls):
        monkeypatch.setattr(score_module, "_judge", interrupted_after(judge, n_calls))

    judge = score_module._judge
    interrupt_after(0)
    assert run(f"{SCORE} -o none.csv", exit_code=130).stderr == "Interrupted\n"
    assert not (many / "none.csv").exists()
    run(f"{SCORE} -o rows.csv --force", exit_code=130)
    assert (many / "rows.csv").read_bytes() == whole
    interrupt_after(1)
    assert run(f"{SCORE} -o rows.csv --force", exit_code=130).stderr == (
        "Interrupted; rows.csv has 3 rows, and the same command with --resume in place of --force "
        "goes on after them\n"
    )
    interrupt_after(1)  # the last row is computed once more
    assert run(f"{SCORE} -o rows.csv --resume", exit_code=130).stderr == (
        "Interrupted; rows.csv has 3 rows, and the same command with --resume goes on after them\n"
    )


def test_what_was_skipped_is_tried_again(many):
    for name in ("new/02", "more/4"):
        (many / f"{name}.json").write_text("{")
    expected = run(f"{SCORE} --skip-errors -o all.csv", exit_code=3).stderr
    content = (many / "all.csv").read_bytes()
    for cut in (0, 100, len(content) - 5):
        (many / "cut.csv").write_bytes(content[:cut])
        result = run(f"{SCORE} -o cut.csv --resume --skip-errors", exit_code=3)
        check_same(many / "cut.csv", many / "all.csv")
        assert result.stderr == expected
    content = (many / "cut.csv").read_bytes()
    (many / "more" / "4.json").write_text((many / "more" / "list.json").read_text())
    (many / "new" / "02.json").unlink()
    run(f"{SCORE} -o cut.csv --resume")
    added = (many / "cut.csv").read_bytes().removeprefix(content).decode()
    assert [row.partition(",")[0] for row in added.split()] == [
        f"more/4.json#{i}" for i in range(4)
    ]


def lists(folder, **graphs):
    """Files of several graphs, each of which begins with a node of its own."""
    for name, n_graphs in graphs.items():
        documents = json.loads((folder / "more" / "list.json").read_text()) * 2
        (folder / "lists" / f"{name}.json").write_text(json.dumps(documents[:n_graphs]))


def test_each_graph_of_a_file_needs_a_row(many, scored):
    (many / "lists").mkdir()
    lists(many, a=2, m=3, z=8)
    run("score model.skg lists -o all.csv")
    lines = (many / "all.csv").read_bytes().splitlines(keepends=True)
    # A graph of m was skipped, the run was killed in z, and a is new.
    (many / "rows.csv").write_bytes(b"".join([lines[0], *lines[4:8], *lines[1:3]]))
    run("score model.skg lists -o rows.csv --resume")
    assert set(frame(many / "rows.csv")["graph"]) == set(frame(many / "all.csv")["graph"])
    lists(many, a=3)
    scored.clear()
    run("score model.skg lists -o rows.csv --resume")
    assert (many / "rows.csv").read_text().count("lists/a.json#2,") == 1
    run("score model.skg lists -o rows.csv --resume")
    assert sum(scored) == (1 + 1) + 1  # the last row, the new graph; the last row


def test_names_that_would_look_alike_have_a_row_each(here):
    odd = ["a\nb", "a\\nb", "a\\\\nb", "=x", "'=x", "''=x", "a\n\\", "\\"]
    for name in odd:
        (here / f"{name}.graphml").write_text((here / "new" / "00.graphml").read_text())
    words = " ".join(shlex.quote(f"{name}.graphml") for name in odd)
    for ending in ("csv", "jsonl"):
        run(f"score model.skg {words} -o rows.{ending}")
        content = (here / f"rows.{ending}").read_bytes()
        lines = content.splitlines(keepends=True)
        assert len({line.split(b"score")[0].split(b",")[0] for line in lines}) == len(lines)
        assert (b'"=x.graphml"' in content) == (ending == "jsonl")  # only a CSV has formulas
        (here / f"rows.{ending}").write_bytes(b"".join(lines[:-3]))
        run(f"score model.skg {words} -o rows.{ending} --resume")
        rows = frame(here / f"rows.{ending}")
        assert rows["graph"].nunique() == len(rows) == len(odd)
    run(f"watch model.skg {words} -o log.csv --window 0")
    assert len(table((here / "log.csv").read_text())) == len(odd)
    assert "0 graphs" in run(f"watch model.skg {words} -o log.csv").stdout


def test_the_output_is_no_graph(here):
    (here / "graphs").mkdir()
    (here / "graphs" / "a.csv").write_text("source,target\na,b\nb,c\n")
    nx.write_graphml(NORMAL[0], here / "graphs" / "b.graphml")
    run("score model.skg graphs/b.graphml -o graphs/rows.csv")
    rows = (here / "graphs" / "rows.csv").read_text()
    (here / "graphs" / "a.csv").unlink()
    run("score model.skg graphs -o graphs/rows.csv --resume")
    run("score model.skg graphs -o graphs/rows.csv --force")
    assert (here / "graphs" / "rows.csv").read_text() == rows
    (here / "graphs" / "c.csv").write_text("source,target\na,b\nb,c\n")
    for command in ("score", "explain"):
        words = f"{command} model.skg graphs/c.csv -o graphs/../graphs/c.csv --force"
        assert "graphs/c.csv is a graph and the output: give another" in run(words, 2).stderr


def test_new_and_repeated_files(many):
    run("score model.skg new -o rows.csv")
    run(f"{SCORE} -o rows.csv --resume")
    run(f"{SCORE} -o all.csv")
    check_same(many / "rows.csv", many / "all.csv")
    assert run("score model.skg new new/01.graphml new more").stdout == run(SCORE).stdout


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("x", "rows.csv was not written by this command with these options: choose another -o, "),
        ("graph,node\n", "rows.csv was not written by this"),
        ("graph,score,decision,verdict,p_value\na,b\n", "rows.csv was not written by this"),
        ("graph,score,decision,verdict,p_value\na,1,1,normal,1\n", "is that of a, which is not"),
        (
            "graph,score,decision,verdict,p_value\nnew/00.graphml,1,1,normal,1\n",
            "another model: there new/00.graphml has the score, decision and p-value 1, 1, 1, and",
        ),
    ],
)
def test_other_files_are_not_continued(here, content, message):
    (here / "rows.csv").write_text(content)
    result = run("score model.skg new -o rows.csv --resume", exit_code=1)
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert (here / "rows.csv").read_text() == content


@pytest.mark.parametrize("change", ["--contamination 0.4", "--calibration train"])
def test_rows_of_another_model_are_not_continued(here, change):
    """Also if the scores are the same, and the verdicts or the p-values are not."""
    run(f"fit normal -o other.skg {change} {' '.join(READ)}")
    run("score model.skg new/00.graphml -o rows.csv")
    before = (here / "rows.csv").read_bytes()
    result = run("score other.skg new -o rows.csv --resume", exit_code=1)
    assert "rows.csv was written with another model" in result.stderr
    assert (here / "rows.csv").read_bytes() == before


# -- selected and reason ---------------------------------------------------------------------------


@pytest.fixture
def odd(here):
    """Two graphs that are anomalies, one before and one after the others."""
    for name, n_leaves in (("new0", 40), ("newer", 60)):
        star = nx.star_graph(n_leaves)
        for data in star.nodes.values():
            data |= {"element": "C", "px": 0.5, "py": -1.0}
        nx.set_edge_attributes(star, 1.0, "order")
        nx.write_graphml(star, here / f"{name}.graphml")
    return here


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_all_columns(odd, ending):
    paths = ["new0.graphml", *sorted(map(str, Path("new").iterdir())), "newer.graphml"]
    expected = results(
        skgraphkde.load("model.skg"),
        [nx.read_graphml(path) for path in paths],
        names=paths,
        alpha=0.3,
    )
    run(f"score model.skg {' '.join(paths)} --alpha 0.3 --reasons -o rows.{ending}")
    found = frame(odd / f"rows.{ending}")
    assert list(found) == [*COLUMNS, "selected", "reason"]
    assert found["graph"].tolist() == paths
    for name in ("score", "decision", "p_value"):
        np.testing.assert_allclose(found[name], expected[name], rtol=1e-9)
    assert found["selected"].dtype == bool
    assert found["selected"].tolist() == expected["selected"].tolist()
    assert 0 < found["selected"].sum() < len(paths)
    flagged = expected["verdict"] == -1
    assert (found["verdict"] == "anomaly").tolist() == flagged.tolist()
    assert found["reason"][flagged].tolist() == expected["reason"][flagged].tolist()
    assert found["reason"][~flagged].isna().all()
    assert 0 < flagged.sum() < len(paths)


@pytest.mark.parametrize(
    "ending", ["csv", pytest.param("jsonl", marks=pytest.mark.slow), "parquet"]
)
def test_what_depends_on_all_rows_waits_for_them(odd, monkeypatch, ending):
    monkeypatch.setattr(walk, "CHUNK_GRAPHS", 4)
    few = f"score model.skg new0.graphml new {ALL} -o rows.{ending}"
    more = f"score model.skg new0.graphml new newer.graphml {ALL} -o rows.{ending}"
    run(more)
    rows = odd / f"rows.{ending}"
    lines = odd / f"rows.{ending}{'.rows.jsonl' if ending == 'parquet' else ''}"
    rows.rename(odd / f"all.{ending}")
    run(few)
    before = rows.read_bytes()
    for method, n_calls in (("append", 0), ("append", 1), ("fill", 0)):
        with monkeypatch.context() as patch:
            patch.setattr(Table, method, interrupted_after(getattr(Table, method), n_calls))
            run(f"{more} --resume", exit_code=130)
        if (method, n_calls) == ("append", 0):
            assert rows.read_bytes() == before
        else:
            assert not any(x in lines.read_text().lower() for x in ("true", "false"))
            assert lines.read_text().count("\n") == 9 + (ending == "csv")
    run(f"{more} --resume")
    check_same(rows, odd / f"all.{ending}")
    run(f"{more} --resume".replace("0.5", "0.000001"))  # another bound
    assert not frame(rows)["selected"].any()
    run(f"{more} --resume")
    check_same(rows, odd / f"all.{ending}")


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_other_columns_are_not_continued(here, ending):
    run(f"score model.skg new/00.graphml --reasons -o rows.{ending}")
    content = (here / f"rows.{ending}").read_bytes()
    for words in ("", "--alpha 0.5", ALL):
        result = run(f"score model.skg new {words} -o rows.{ending} --resume", exit_code=1)
        assert "the options of the run that wrote it" in result.stderr
    assert (here / f"rows.{ending}").read_bytes() == content


def test_columns_that_a_run_cannot_have(here, own):
    run("fit normal -o train.skg --calibration train")
    result = run("score train.skg new --alpha 0.1 -o rows.csv", exit_code=1)
    assert "has no p-values, which --alpha needs" in result.stderr
    run(f"fit normal -o own.skg --detector {own}:EdgeCount")
    result = run(f"score own.skg new --detector {own}:EdgeCount --reasons", exit_code=1)
    assert result.stderr == (
        "Error: EdgeCount has no reasons, only GraphKDEDetector: leave out --reasons\n"
    )
    run(f"score own.skg new --detector {own}:EdgeCount --alpha 0.1 -o rows.csv")
    (here / "b.json").write_text("{")
    run(f"score model.skg b.json {ALL} --skip-errors -o none.csv", exit_code=3)
    assert (here / "none.csv").read_text() == ",".join([*COLUMNS, "selected", "reason"]) + "\n"


# -- what is there is not replaced -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("fit normal -o", "old.skg"),
        ("score model.skg new -o", "old.csv"),
        ("explain model.skg new/00.graphml -o", "old.csv"),
        ("explain model.skg new/00.graphml --picture", "old.png"),
    ],
)
def test_nothing_is_replaced_without_force(here, command, name):
    (here / name).write_text("kept")
    cure = f"{name} exists: give --force to replace it, "
    cure += "--resume to go on after its rows, " * command.startswith("score")
    assert f"{cure}or another path\n" in run(f"{command} {name}", exit_code=2).stderr
    assert (here / name).read_text() == "kept"
    run(f"{command} {name} --force")
    assert (here / name).read_bytes() != b"kept"
    (here / name).unlink()
    run(f"{command} {name}")


# -- formats ---------------------------------------------------------------------------------------


def test_a_format_may_be_named(here):
    lines = run("score model.skg new --format jsonl").stdout
    assert [list(json.loads(line)) for line in lines.splitlines()] == [list(COLUMNS)] * 7
    run("score model.skg new -o rows.txt --format jsonl")
    assert (here / "rows.txt").read_text() == lines


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_no_p_values_where_the_library_gives_none(here, ending):
    run("fit normal -o train.skg --calibration train")
    run(f"score train.skg new -o rows.{ending}")
    assert frame(here / f"rows.{ending}")["p_value"].isna().all()


def test_parquet(many):
    run(f"{SCORE} -o rows.parquet")
    broken = many / "more" / "list.json"
    good = broken.read_text()
    broken.write_text("{")
    run(f"{SCORE} -o cut.parquet", exit_code=1)
    lines = many / "cut.parquet.rows.jsonl"
    assert not (many / "cut.parquet").exists()
    lines.write_bytes(lines.read_bytes()[:-20])
    message = run(f"{SCORE} -o cut.parquet", exit_code=2).stderr
    assert "give --resume to go on after them, or --force to begin again" in message
    broken.write_text(good)
    run(f"{SCORE} -o cut.parquet --resume")
    check_same(many / "cut.parquet", many / "rows.parquet")
    assert not lines.exists()
    run("score model.skg new -o day.parquet")
    run(f"{SCORE} -o day.parquet --resume")  # a finished file gets more rows
    check_same(many / "day.parquet", many / "rows.parquet")


def test_parquet_without_graphs(here):
    (here / "b.json").write_text("{")
    run("score model.skg b.json -o none.parquet --skip-errors", exit_code=3)
    assert frame(here / "none.parquet").shape == (0, 5)


def test_parquet_needs_pyarrow(here, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    result = run("score model.skg new -o rows.parquet", exit_code=1)
    assert result.stderr == (
        "Error: Parquet needs pyarrow: pip install pyarrow, or write .csv or .jsonl\n"
    )

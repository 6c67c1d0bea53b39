"""`report` and `find`: the page of the library, from files."""

import json
import re
import time
from pathlib import Path

import click
import networkx as nx
import numpy as np
import pytest

import skgraphkde
from skgraphkde.cli.reading import GraphFiles
from skgraphkde.cli.verdicts import Verdicts, read_verdicts
from skgraphkde.explanation import explain
from skgraphkde.page.page import Page
from skgraphkde.page.rendering import _inert
from tests.cli.conftest import NEW, column, run, table, write_cases
from tests.conftest import with_data
from tests.core.scoring.common import cases
from tests.page.conftest import Parsed


def page(folder):
    return Parsed((folder / "page.html").read_text(encoding="utf-8"))


def test_it_says_what_score_says(here):
    result = run("report model.skg new -o page.html --alpha 0.3")
    detector = skgraphkde.load("model.skg")
    n = int((detector.predict(NEW) == -1).sum())
    assert result.stdout == f"{n} of 7 graphs stand out: page.html\n"
    parsed = page(here)
    order = np.argsort(detector.score_samples(NEW), kind="stable")
    assert parsed.names == [f"{i:02d}.graphml" for i in order]
    assert not detector.select(NEW, 0.3).any()
    said = "None is odd enough to be sure that at most 30% of such graphs turn out usual."
    assert said in (here / "page.html").read_text(encoding="utf-8")


def test_find():
    Path("worlds").mkdir()
    graphs = {f"world{i}": nx.connected_watts_strogatz_graph(14, 4, 0.1, seed=i) for i in range(40)}
    for name, graph in (graphs | {"star": nx.star_graph(14)}).items():
        nx.write_graphml(with_data(graph, {"size": 1.5}), f"worlds/{name}.graphml")
    result = run("find worlds -o page.html")
    first, *odd = result.stdout.splitlines()
    assert re.fullmatch(r"\d+ of 41 graphs stands? out: page.html", first)
    assert re.fullmatch(r"  .*star.graphml: .*; (usually|always) .*", odd[0])
    said = (
        "Read: undirected graphs\nNot read: node attribute 'size'. Whatever is odd there is not "
        "found: --schema all reads it\n"
    )
    # A log has a line for each stage, and no bars.
    assert result.stderr == f"Reading\nFitting 41 graphs\n{said}Judging\nDrawing\n"
    assert run("find worlds -o page.html --force --quiet").stderr == said
    text = Path("page.html").read_text()
    assert "about 0 to 3 of 41 usual graphs would stand out" in text
    assert ">star.graphml</button>" in text  # without the folder, which all have
    assert text.count("<article id") - text.count("graphs alike</h3>") == 41
    assert "Not read" not in run("find worlds -o page.html --force --schema all").stderr


class Dropped:
    """An object in whose end Python drops an interrupt, as in a callback of an import."""

    def __del__(self):
        raise KeyboardInterrupt


@pytest.mark.slow
@pytest.mark.usefixtures("hears_interrupts")
@pytest.mark.parametrize("is_dropped", [False, True])
def test_an_interrupted_find_leaves_nothing(tmp_path, monkeypatch, is_dropped):
    Path("few.smi").write_text("CCO a\nCCC b\nCCN c\n")

    def interrupted(*_):
        if not is_dropped:
            raise KeyboardInterrupt
        Dropped()
        time.sleep(5)

    monkeypatch.setattr(Page, "html", interrupted)
    result = run("find few.smi -o page.html", exit_code=130)
    assert result.stderr.endswith("Interrupted\n")
    assert [path.name for path in tmp_path.iterdir()] == ["few.smi"]


@pytest.fixture
def orders(tmp_path):
    """Tables of the cases of 60 orders, of which three are paid before they are posted."""
    write_cases(tmp_path, cases(57, 3, "category"))
    return tmp_path


TABLES = "edges.csv --nodes nodes.csv --graph-column case --directed --node-category step"


def test_find_again_with_verdicts(orders):
    run(f"find {TABLES} -o page.html")
    first = (orders / "page.html").read_text()
    assert "3 cases alike" in first
    assert 'Pay <span class="arrow">-&gt;</span> Post' in first
    assert 'data-given="anomaly"' not in first
    ranks = "".join(f"c{i:02d};;{i + 1}\r\n" for i in range(57))
    (orders / "verdicts.csv").write_text(
        f"\ufeffgraph;verdict;rank\r\nc57;anomaly;58\r\nc03;Normal;4\r\nc58;;59\r\n{ranks}",
        encoding="utf-8",
    )
    result = run(f"find {TABLES} --verdicts verdicts.csv -o page.html")  # which it replaces
    again = (orders / "page.html").read_text()
    assert again.count('data-given="anomaly"') == again.count('data-given="normal"') == 1
    assert "Learned from 1 confirmed anomaly and 1 case judged normal." in again
    assert re.search(r"Odder by your verdicts: .*c58 \(from place 57 to \d\)", again)
    [counts] = re.findall(r"<h1>(\d+ of 58 cases stands? out; 1 more was confirmed before)<", again)
    assert result.stdout.startswith(f"{counts}: page.html")
    assert "c57: " not in result.stdout
    assert "page.html exists: give" in run(f"find {TABLES} -o page.html", exit_code=2).stderr


def test_find_writes_a_table_and_a_model(orders):
    (orders / "verdicts.csv").write_text("graph,verdict\nc57,anomaly\n")
    run(f"find {TABLES} -o scores.csv --save found.skg")
    detector = skgraphkde.load("found.skg")
    rows = table(Path("scores.csv").read_text(encoding="utf-8"))
    columns = ["graph", "score", "decision", "verdict", "p_value", "group", "row"]
    assert list(rows[0]) == [*columns, "reason", "codes"]
    group = [row for row in rows if row["group"]]
    assert len({row["row"] for row in group}) == 1
    verdicts = {row["verdict"] for row in group}
    assert verdicts <= {"anomaly", f"alike (row {group[0]['row']})"}
    alone = [row for row in rows if not row["group"]]
    assert sorted(int(row["row"]) for row in [*alone, group[0]]) == [*range(1, len(alone) + 2)]
    assert {row["verdict"] for row in alone} <= {"anomaly", "normal"}
    strong = explain(detector).query("strength >= 1")
    for i, row in enumerate(rows):  # reasons of all graphs would take far longer
        own = strong[strong["graph"] == i]
        codes = own[["kind", "what"]].to_numpy().tolist()
        assert json.loads(row["codes"]) == (codes if row["verdict"] != "normal" else [])
        if row["verdict"] != "normal" and len(own):  # before what all of its group share
            assert row["reason"].startswith(own["reason"].iloc[0])
    assert [row["graph"] for row in rows] == [f"c{i:02d}" for i in range(60)]
    np.testing.assert_allclose(column(rows, "score"), detector.training_scores_)
    assert len({row["group"] for row in rows[57:]} - {""}) == 1
    twice = f"find {TABLES} -o other.csv --save found.skg"
    assert "found.skg exists: give --force" in run(twice, exit_code=2).stderr
    run(f"find {TABLES} -o scores.csv --save found.skg --verdicts verdicts.csv --force")
    assert skgraphkde.load("found.skg").verdicts_.tolist() == [*[0] * 57, -1, 0, 0]
    rows = table(Path("scores.csv").read_text(encoding="utf-8"))
    assert column(rows, "score").argmin() == 57
    run(f"fit {TABLES} --verdicts verdicts.csv --contamination auto -o own.skg")
    own, found = (skgraphkde.load(name) for name in ("own.skg", "found.skg"))
    np.testing.assert_array_equal(own.training_scores_, found.training_scores_)


def test_verdicts_on_graphs_that_are_not_there(orders):
    (orders / "verdicts.csv").write_text("graph,verdict\nc57,anomaly\nc99,normal\n")
    for command, out in (("find", "page.html"), ("fit", "own.skg")):
        message = run(f"{command} {TABLES} --verdicts verdicts.csv -o {out}", exit_code=1).stderr
        assert "verdicts.csv names c99, not among the graphs that were read" in message
    run(f"find {TABLES} --verdicts verdicts.csv -o page.html --skip-errors", exit_code=3)
    assert 'data-given="anomaly"' in (orders / "page.html").read_text()


# -- tables of verdicts ----------------------------------------------------------------------------

FILES = GraphFiles(["edges.csv"], {}, {}, spans=False, skip_errors=False, quiet=True)


@pytest.mark.parametrize(
    ("names", "marked", "expected"),
    [
        (["n\xa0b", "nb", "n b"], {"n\\xa0b": -1}, [-1, 0, 0]),
        (["a\tb", "a\nb", " a "], {"a\\tb": -1, "a\\nb": 1, "a": 1}, [-1, 1, 1]),
        (["x" * 1500, "y"], {"x" * 1000 + "...": -1}, [-1, 0]),
        (["x" * 1500, "y"], {"x" * 1500: -1}, [-1, 0]),
        (["2024/1", "2024//1"], {"2024//1": -1}, [0, -1]),
        (["2024/1", "2024//1"], {"2024//1": -1, "2024/1": 1}, [1, -1]),
        (["new/a.gml", "b"], {"./new/a.gml": -1}, [-1, 0]),
    ],
)
def test_verdicts_find_their_graphs(names, marked, expected):
    words = {-1: "anomaly", 0: "", 1: "normal"}
    assert Verdicts("v.csv", marked, {}).of(names, FILES) == [words[x] for x in expected]


@pytest.mark.parametrize(
    ("names", "marked", "message"),
    [
        (["n\xa0b", "n\\xa0b"], {"n\\xa0b": -1}, r"which may be 'n\\\\xa0b', 'n\\xa0b': rename"),
        (["x" * 1500, "x" * 1501], {"x" * 1000 + "...": -1}, "names x+..., which may be 'x"),
        (["2024/1", "2"], {"2024/1": -1, "2024//1": 1}, "2024/1 and 2024//1, which are one graph"),
        (["a.smi#m3", "b"], {"m3": -1}, r"names m3 \(did you mean 'a.smi#m3'\?\), not among"),
    ],
)
def test_verdicts_that_may_be_on_another_graph(names, marked, message):
    with pytest.raises(click.ClickException, match=message):
        Verdicts("v.csv", marked, {}).of(names, FILES)


def test_ranks_that_are_no_small_numbers_are_ignored(tmp_path):
    path = tmp_path / "v.csv"
    path.write_text(f"graph,verdict,rank\na,anomaly,{'9' * 5000}\nb,,-2\nc,,1.5\nd,normal,4\n")
    assert read_verdicts(str(path)) == (str(path), {"a": -1, "d": 1}, {"d": 4})


def test_cells_that_spreadsheets_would_run(tmp_path):
    path = tmp_path / "v.csv"
    names = ["=cmd|' /C calc'!A0", "-5", "-1,234.5", "+a", "'@b", "'c", "''-d", "-2e-7", "'-5"]
    cells = [_inert(name) for name in names]
    assert cells == [f"'{names[0]}", "-5", "-1,234.5", "'+a", "''@b", "'c", "'''-d", "-2e-7", "'-5"]
    rows = "".join(f'"{cell}",anomaly\n' for cell in cells)
    path.write_text(f"graph,verdict\n{rows}")
    assert list(read_verdicts(str(path)).verdicts) == names


def test_find_with_verdicts_replaces_only_pages(orders):
    (orders / "verdicts.csv").write_text("graph,verdict\nc57,anomaly\n")
    (orders / "notes.html").write_text("<p>my notes")
    command = f"find {TABLES} --verdicts verdicts.csv -o notes.html"
    assert "notes.html exists: give --force" in run(command, exit_code=2).stderr
    assert (orders / "notes.html").read_text() == "<p>my notes"
    run(f"{command} --force")
    run(command)  # it is a page now
    assert 'data-given="anomaly"' in (orders / "notes.html").read_text()


@pytest.mark.parametrize(("out", "kept"), [("a.csv", "a.csv"), ("b.csv --save a.skg", "a.skg")])
def test_the_second_of_two_commands_at_once_fails(here, monkeypatch, out, kept):
    def judge(*_):  # while the other command writes
        (here / kept).write_text("of another command")
        return []

    monkeypatch.setattr("skgraphkde.cli.pages.groups_of", judge)
    assert f"{kept} exists: give --force" in run(f"find new -o {out}", exit_code=2).stderr
    assert (here / kept).read_text() == "of another command"


def test_nodes_have_the_names_of_the_files_and_what_was_skipped_is_said(here):
    odd = NEW[0].copy()
    odd.nodes["n1"]["element"] = "never seen"
    nx.write_graphml(odd, "odd.graphml")
    Path("bad.gml").write_text("graph [")
    run("report model.skg odd.graphml bad.gml -o page.html --skip-errors", 3)
    cells = page(here).texts["td"]
    assert cells[cells.index("never seen") - 1] == "n1"
    assert "bad.gml cannot be read as GML" in page(here).texts["li"][0]


def test_an_empty_cell_is_evidence_in_find_unless_the_user_says_otherwise(orders):
    nodes = (orders / "nodes.csv").read_text()
    (orders / "nodes.csv").write_text(nodes.replace("Receive", "", 1))
    assert "missing values as evidence" in run(f"find {TABLES} -o page.html").stderr
    run(f"find {TABLES} -o other.html --missing error", exit_code=1)


def test_missing_values_are_evidence_also_where_errors_are_skipped(orders):
    nodes = (orders / "nodes.csv").read_text()
    (orders / "nodes.csv").write_text(nodes.replace("Receive", "", 1))
    said = run(f"find {TABLES} -o page.html --skip-errors").stderr
    assert "missing values as evidence" in said
    assert "Skipped" not in said

"""``skgraphkde report``: the page of the library, from files."""

import networkx as nx
import numpy as np
import pytest

import skgraphkde
from tests.cli.conftest import NEW, run
from tests.reporting.conftest import Parsed, draw_little


@pytest.fixture(autouse=True)
def few_pictures(monkeypatch):
    draw_little(monkeypatch)


def test_it_says_what_score_says(here):
    result = run("report model.skg new -o page.html --alpha 0.3")
    detector = skgraphkde.load("model.skg")
    n = int((detector.predict(NEW) == -1).sum())
    assert result.stdout == f"{n} of 7 graphs are anomalies: page.html\n"
    parsed = Parsed((here / "page.html").read_text(encoding="utf-8"))
    order = np.argsort(detector.score_samples(NEW), kind="stable")
    assert parsed.names == [f"new/{i:02d}.graphml" for i in order]
    assert sum(row[3] == "yes" for row in parsed.rows) == detector.select(NEW, 0.3).sum()
    assert parsed.texts["strong"][0].endswith("false-discovery rate of 30%")


def test_nodes_have_the_names_of_the_files(here):
    odd = NEW[0].copy()
    odd.nodes["n1"]["element"] = "never seen"
    nx.write_graphml(odd, "odd.graphml")
    run("report model.skg odd.graphml -o page.html")
    cells = Parsed((here / "page.html").read_text(encoding="utf-8")).texts["td"]
    assert "n1 (never seen)" in cells


def test_it_goes_to_stdout(here):
    result = run("report model.skg new/00.graphml -o -")
    assert result.stdout.startswith("<!DOCTYPE html>")
    assert result.stdout.endswith("</html>\n")
    assert "of 1 graphs are anomalies: -" in result.stderr


def test_bad_files_are_skipped_if_one_says_so(here):
    (here / "bad.gml").write_text("graph [")
    (here / "page.html").write_text("old")
    assert "page.html exists" in run("report model.skg new -o page.html", exit_code=2).stderr
    result = run("report model.skg new/00.graphml bad.gml -o page.html --force", exit_code=1)
    assert "bad.gml" in result.stderr
    assert (here / "page.html").read_text() == "old"
    result = run("report model.skg new/00.graphml bad.gml -o page.html --force --skip-errors", 3)
    assert "Skipped: bad.gml" in result.stderr
    parsed = Parsed((here / "page.html").read_text(encoding="utf-8"))
    assert len(parsed.rows) == 1
    assert parsed.texts["summary"][0] == "1 file or graph was left out."
    assert "bad.gml cannot be read as GML" in parsed.texts["li"][0]
    result = run("report model.skg bad.gml -o page.html --force --skip-errors", 1)
    assert "no graph could be read" in result.stderr


def test_an_own_detector(here, own):
    run(f"fit normal -o own.skg --detector {own}:EdgeCount")
    run(f"report own.skg new -o page.html --detector {own}:EdgeCount")
    assert len(Parsed((here / "page.html").read_text(encoding="utf-8")).rows) == 7

"""Names in files reach terminals and spreadsheets as nothing but text."""

import json
import os
import shlex
import sys
from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from click.testing import CliRunner

from skgraphkde import GraphKDEDetector
from skgraphkde.cli import main
from tests.cli.conftest import run, table

FORGED = "a)\nnew/b.graphml: normal, decision 9.9\n\x1b[2J\x1b]0;title\x07"


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "cycles.skg"
    graphs = [nx.cycle_graph(n) for n in range(5, 20)]
    for graph in graphs:
        nx.set_node_attributes(graph, "C", "label")
    GraphKDEDetector().fit(graphs).save(path)
    return path


@pytest.fixture
def here(model, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "new").mkdir()
    write(tmp_path / "new" / "a.json", "pqr")
    write(tmp_path / "new" / "z.json", "pqr")
    (tmp_path / "model.skg").symlink_to(model)
    return tmp_path


def write(path, nodes, label="C"):
    """A path of these nodes."""
    content = {
        "nodes": [{"id": node, "label": label} for node in nodes],
        "edges": [{"source": u, "target": v} for u, v in pairwise(nodes)],
    }
    with open(path, "w") as file:
        json.dump(content, file)


def printed(result):
    """The lines that a command printed, each printable."""
    lines = (result.stdout + result.stderr).split("\n")
    assert all(line.isprintable() for line in lines), lines
    return lines


# -- one bad name does not end a run ---------------------------------------------------------------


@pytest.mark.skipif(sys.platform != "linux", reason="names that only some file systems have")
@pytest.mark.parametrize("command", ["score", "explain"])
def test_odd_names_do_not_end_a_run(here, command):
    write(here / "new" / "ids.json", ["\ud800", "b\0", FORGED, True, 1.5, [1, "=x"]])
    write(b"new/\xff\n.json", "ab")
    write(here / "new" / "$\\frac$.json", "ab", label="$\\frac$")
    picture = "--picture p.png" if command == "explain" else ""
    result = run(f"{command} model.skg new -o rows.csv {picture}")
    printed(result)
    rows = table((here / "rows.csv").read_text())
    names = ["$\\\\frac$", "a", "ids", "z", "\\udcff\\n"]
    assert list(dict.fromkeys(row["graph"] for row in rows)) == [f"new/{x}.json" for x in names]
    if command == "explain":
        nodes = [row["node"] for row in rows if row["graph"] == "new/ids.json"]
        assert nodes[:2] == ["\\ud800", "b\\x00"]
        assert nodes[3:] == ["True", "1.5", "(1, '=x')"]


def test_what_cannot_be_read_is_skipped(here, monkeypatch):
    (here / "new" / "x.nodes.csv").write_text("id\n1\n")
    os.symlink("nowhere", here / "new" / "b.json")
    score = GraphKDEDetector.score_samples

    def fail(detector, graphs):
        if graphs.n_nodes_per_graph.max() > 3 or len(graphs) > 1:
            raise RuntimeError("not enough memory: you tried to allocate 9 bytes")
        return score(detector, graphs)

    write(here / "new" / "large.json", "abcd")
    monkeypatch.setattr(GraphKDEDetector, "score_samples", fail)
    result = run("score model.skg new --skip-errors -o rows.csv", exit_code=3)
    skipped = sorted(result.stderr.splitlines())
    assert [line.split(" ")[1] for line in skipped] == [
        "new/b.json",
        "new/large.json:",
        "new/x.nodes.csv",
    ]
    assert "RuntimeError('not enough memory" in skipped[1]
    rows = table((here / "rows.csv").read_text())
    assert [row["graph"] for row in rows] == ["new/a.json", "new/z.json"]


def test_a_terminal_that_lacks_letters(here):
    write(here / "new" / "Å.json", "ab")
    words = shlex.split("explain model.skg new -o -")
    for encoding in ("ascii", "utf-8"):
        result = CliRunner(charset=encoding).invoke(main, words)
        assert result.exit_code == 0
        letter = {"ascii": "\\xc5", "utf-8": "Å"}[encoding]
        assert f"new/{letter}.json,a," in result.stdout_bytes.decode(encoding)


# -- lines -----------------------------------------------------------------------------------------


def test_names_make_no_lines(here):
    write(here / "new" / "ids.json", [FORGED, FORGED[::-1], "x" * 10**5], label=f"C{FORGED}")
    lines = printed(run("explain model.skg new"))
    assert sum(line.startswith("new/") for line in lines) == 3
    assert max(map(len, lines)) < 1000
    reason = next(line for line in lines if line.startswith("  because never seen: label=Ca)"))
    assert "\\nnew/b.graphml: normal" in reason
    (warning,) = [line for line in lines if line.startswith("Warning: ")]
    assert warning.startswith("Warning: node labels that fit did not see: Ca)\\nnew/b.graphml")


def test_errors_are_one_line(here):
    (here / "new" / "b.json").write_text(json.dumps({"nodes": [{"id": FORGED}] * 2, "edges": []}))
    write(here / "new" / f"x{FORGED.replace('/', '|')}.csv", "ab")
    result = run("score model.skg new --skip-errors", exit_code=3)
    assert sum(line.startswith("Skipped: new/") for line in printed(result)) == 2
    assert "rewrite" in result.stderr or "write what networkx" in result.stderr
    long = CliRunner().invoke(main, ["score", "model.skg", "x" * 10**5]).stderr
    assert len(long) < 1100
    for words in ("score model.skg new", shlex.join(["score", "model.skg", FORGED])):
        lines = printed(run(words, exit_code=1))
        assert [line for line in lines[:-1] if not line.startswith(("graph,", "Error: "))] == []
    lines = printed(run(shlex.join(["score", "model.skg", "new", f"--{FORGED}"]), exit_code=2))
    assert not any(line.startswith("new/") for line in lines)


def test_names_of_attributes_make_no_lines(here):
    for path in ("new/a.json", "new/z.json"):
        content = json.loads((here / path).read_text())
        content["nodes"][0][FORGED] = 1
        (here / path).write_text(json.dumps(content))
    for command in ("fit new -o own.skg", "info own.skg"):
        lines = printed(run(command))
        assert any(line.startswith("left out        node attribute 'a)\\n") for line in lines)


# -- cells -----------------------------------------------------------------------------------------

FORMULAS = ["=1+1", "+1+1", "-1+cmd|' /C calc'!A0", "@SUM(1)", "\t=1", "\r=1", "\uff1d1+1", "-"]
TEXTS = ["-1", "+2.5e-3", "a=1", "'=1", ""]


def test_cells_are_no_formulas(here):
    write(here / "new" / "ids.json", [*FORMULAS, *TEXTS, -7])
    write("=HYPERLINK(1).json", "ab")
    result = run(shlex.join(["explain", "model.skg", "new/ids.json", "=HYPERLINK(1).json", "-o-"]))
    rows = table(result.stdout)
    cells = [row["node"] for row in rows if row["graph"] == "new/ids.json"]
    escaped = {"\t=1": "\\t=1", "\r=1": "\\r=1"}
    assert cells[: len(FORMULAS)] == [escaped.get(x, f"'{x}") for x in FORMULAS]
    assert cells[len(FORMULAS) :] == [*TEXTS[:3], "''=1", "", "-7"]
    assert rows[-1]["graph"] == "'=HYPERLINK(1).json"
    contributions = np.array([float(row["contribution"]) for row in rows])  # also below 0
    assert np.isfinite(contributions).all()

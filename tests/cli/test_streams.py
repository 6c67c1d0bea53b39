"""Paths from standard input, files that `fit` skips, and the progress bar."""

import io
import json
import sys
import types

import networkx as nx
import pytest
from click.testing import CliRunner

from skgraphkde.cli import main
from skgraphkde.cli.runtime import GraphFiles
from tests.cli.conftest import READ, run


def piped(content, *words):
    return CliRunner().invoke(main, words, input=content)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\0"])
def test_paths_on_standard_input(here, end):
    (here / "a b.graphml").write_bytes((here / "new" / "04.graphml").read_bytes())
    names = ["new/03.graphml", "a b.graphml", "new/01.graphml"]
    expected = run("score model.skg new/00.graphml new/03.graphml 'a b.graphml' new/01.graphml new")
    content = end.join([*names, ""]).encode()
    result = piped(content, "score", "model.skg", "new/00.graphml", "-", "new")
    assert (result.exit_code, result.stdout) == (0, expected.stdout)
    result = piped(b"normal", "fit", "-", "-o", "own.skg", *READ)
    assert result.exit_code == 0
    assert (here / "own.skg").read_bytes() == (here / "model.skg").read_bytes()


def test_a_list_without_paths(here):
    """As ``find`` writes it on a quiet day."""
    for command in ("score", "explain", "report", "update", "watch"):
        suffix = {"update": "skg", "report": "html"}.get(command, "csv")
        result = piped(b"\n", command, "model.skg", "-", "-o", f"none.{suffix}")
        assert result.exit_code == 0, result.output
        assert result.stderr == "Nothing to do: standard input lists no files\n"
    assert not list(here.glob("none*"))
    assert piped(b"", "score", "model.skg", "new/00.graphml", "-").stdout.count("\n") == 2
    result = piped(b"\n", "fit", "-", "-o", "own.skg")
    assert result.exit_code == 2
    assert '"-" reads paths from standard input, which has none' in result.stderr


def test_fit_skips(here):
    (here / "some").mkdir()
    (here / "some" / "cut.graphml").write_text("<")
    plain = nx.node_link_data(nx.path_graph(3), edges="edges")
    (here / "some" / "bare.json").write_text(json.dumps(plain))  # without what READ names
    words = ["some", "normal", *READ]
    result = piped(b"", "fit", *words, "-o", "own.skg")
    assert result.exit_code == 1
    assert result.stderr.endswith("; --skip-errors leaves out what cannot be used\n")
    assert not (here / "own.skg").exists()
    result = piped(b"", "fit", *words, "-o", "own.skg", "--skip-errors")
    assert result.exit_code == 3
    skipped = sorted(result.stderr.splitlines())
    assert [line.split()[1] for line in skipped] == ["some/bare.json", "some/cut.graphml"]
    assert (here / "own.skg").read_bytes() == (here / "model.skg").read_bytes()
    result = piped(b"", "fit", "some/cut.graphml", "-o", "none.skg", "--skip-errors")
    assert result.exit_code == 1
    assert result.stderr.endswith("Error: none of the files can be read as graphs\n")


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize(("ending", "place"), [("json", 0), ("csv", 2), ("graphml", 0)])
def test_the_value_that_makes_a_number_a_category(here, ending, place):
    (here / "some").mkdir()
    for i in range(12):
        values = [1.5 + i, 2.5 + i, 3.25 + i]
        if i == 7:
            values[place] = "oops"
        path, graph = here / "some" / f"{i:02d}.{ending}", nx.cycle_graph(3)
        for (u, v), value in zip(graph.edges, values, strict=True):
            graph.edges[u, v]["flow"] = str(value) if ending == "graphml" and i == 7 else value
        if ending == "csv":
            rows = [f"{u},{v},{graph.edges[u, v]['flow']}" for u, v in graph.edges]
            path.write_text("\n".join(["source,target,flow", *rows]))
        elif ending == "json":
            path.write_text(json.dumps(nx.node_link_data(graph, edges="edges")))
        else:
            nx.write_graphml(graph, path)
    words = ["fit", "some", "-o", "own.skg", "--skip-errors"]
    result = piped(b"", *words, "--schema", "all")
    found = "some/07." + ending
    assert found in result.stderr
    assert "oops" in result.stderr
    if result.exit_code == 0:
        assert "is read as a category" in result.stderr
    result = piped(b"", *words, "--force", "--edge-number", "flow")
    assert result.exit_code == 3
    assert found in result.stderr


def test_what_only_some_graphs_have_is_not_skipped(here):
    (here / "some").mkdir()
    for i, value in enumerate("ab"):
        graph = nx.cycle_graph(5 + i)
        if value == "b":
            nx.set_node_attributes(graph, "C", "label")
        nx.write_graphml(graph, here / "some" / f"{value}.graphml")
    result = run("fit some -o own.skg --skip-errors", exit_code=1)
    assert "some/a.graphml has no node attribute 'label', and some/b.graphml has" in result.stderr


def test_an_interrupt_while_modules_are_imported(here, monkeypatch):
    class Interrupting(types.ModuleType):
        def __getattr__(self, name):
            raise KeyboardInterrupt

    monkeypatch.setitem(sys.modules, "skgraphkde.cli.runtime", Interrupting("shell"))
    assert run("update model.skg new -o own.skg", exit_code=130).stderr == "Interrupted\n"


@pytest.mark.parametrize(
    ("words", "is_cure"),
    [
        ("empty", False),
        ("nowhere", False),
        ("bad/cut.graphml", False),
        ("bad", False),
        ("nowhere new", True),
        ("bad new", True),
        ("some.json", False),
    ],
)
def test_leaving_out_is_no_cure_where_nothing_would_be_left(here, words, is_cure):
    (here / "empty").mkdir()
    (here / "bad").mkdir()
    (here / "bad" / "cut.graphml").write_text("<")
    graphs = [nx.node_link_data(nx.path_graph(n), edges="edges") for n in (3, 4)]
    (here / "some.json").write_text(json.dumps(graphs))  # without what the model reads
    stderr = run(f"score model.skg {words}", exit_code=1).stderr
    assert ("--skip-errors leaves out" in stderr) == is_cure


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_the_bar_counts_files(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    for quiet in (False, True):
        files = GraphFiles([], [], {}, skip_errors=False, quiet=quiet)
        assert list(files.progress(["a", "b", "c"])) == ["a", "b", "c"]
        assert sys.stderr.getvalue().count("3/3") == 1

"""Paths from standard input, files that `fit` skips, and the progress bar."""

import io
import json

import networkx as nx
import pytest
from click.testing import CliRunner

from skgraphkde.cli import main, shell
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
    result = piped(b"\n", "explain", "model.skg", "-")
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


def test_what_only_some_graphs_have_is_not_skipped(here):
    (here / "some").mkdir()
    for i, value in enumerate("ab"):
        graph = nx.cycle_graph(5 + i)
        if value == "b":
            nx.set_node_attributes(graph, "C", "label")
        nx.write_graphml(graph, here / "some" / f"{value}.graphml")
    result = run("fit some -o own.skg --skip-errors", exit_code=1)
    assert "some/a.graphml has no node attribute 'label', and some/b.graphml has" in result.stderr


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("fit normal --calibration split", "raise --set calibration__fraction or --contamination"),
        ("fit normal --calibration split", "or use --calibration loo"),
        ("fit normal/00.graphml normal/01.graphml", "or raise --contamination"),
        ("fit normal normal", "use --set calibration__copies=apart; --set calibration__copies=to"),
        ("fit lacking.json", "to every node or to none, or fit with --missing indicate"),
        ("score model.skg directed.graphml", "fit on directed graphs, or with --undirected"),
    ],
)
def test_messages_name_options(here, words, message):
    content = {"nodes": [{"id": 0, "x": 1.0}, {"id": 1}], "edges": []}
    if words.startswith("score"):
        nx.write_graphml(nx.DiGraph(nx.read_graphml("new/02.graphml")), "directed.graphml")
        graph = nx.read_graphml("directed.graphml")
        graph.remove_edge(*next(iter(graph.edges)))
        nx.write_graphml(graph, "directed.graphml")
    (here / "lacking.json").write_text(json.dumps(content))
    output = ["-o", "own.skg"] if words.startswith("fit") else []
    assert message in piped(b"", *words.split(), *output).stderr


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_the_bar_says_what_is_done(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(shell.sys, "stderr", terminal)
    progress = shell.Progress(3, quiet=False)
    assert list(progress.reading(["a", "b"])) == ["a", "b"]
    progress.says("computing")
    progress.passes(1)
    progress.close()
    shown = terminal.getvalue()
    assert 0 < shown.index("reading: ") < shown.index("computing: ")
    assert "3/3" in shown
    assert list(shell.with_progress(["a"], quiet=True)) == ["a"]
    assert terminal.getvalue() == shown

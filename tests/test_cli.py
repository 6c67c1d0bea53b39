"""Commands give what the library gives, and say in one line what is wrong with the input."""

import csv
import io
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from click.testing import CliRunner

import skgraphkde
from skgraphkde import GraphKDEDetector, graph_files, persistence, read_graphs
from skgraphkde.cli import main
from skgraphkde.inspection import nearest_references, node_contributions
from tests.conftest import random_graphs


def with_names(graphs):
    """With node ids and attributes that are text and numbers, as in files."""
    graphs = [nx.relabel_nodes(graph, lambda node: f"n{node}") for graph in graphs]
    for graph in graphs:
        for i, data in enumerate(graph.nodes.values()):
            data |= {"element": data.pop("label"), "px": i / 2, "py": -i}
        nx.set_edge_attributes(graph, {edge: 1 + i for i, edge in enumerate(graph.edges)}, "order")
    return graphs


NORMAL, NEW = with_names(random_graphs(20, seed=1)), with_names(random_graphs(7, seed=2))
READ = ["--node-label", "element", "--node-attributes", "px", "--node-attributes", "py"]
READ += ["--edge-weight", "order"]


def read(graphs):
    """What READ reads, by the library."""
    for graph in (graphs := [graph.copy() for graph in graphs]):
        for data in graph.nodes.values():
            data["x"] = [data["px"], data["py"]]
    return read_graphs(graphs, node_label="element", edge_weight="order")


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    for name, graphs in (("normal", NORMAL), ("new", NEW)):
        (folder / name).mkdir()
        for i, graph in enumerate(graphs):
            nx.write_graphml(graph, folder / name / f"{i:02d}.graphml")
    fitted = GraphKDEDetector(random_state=0).fit(read(NORMAL))
    names = {"node_label": "element", "node_attributes": ["px", "py"], "edge_weight": "order"}
    persistence.save(fitted, folder / "model.skg", names)
    return folder


@pytest.fixture
def here(shared, tmp_path, monkeypatch):
    """A folder of the test's own, that sees the shared files under short names."""
    monkeypatch.chdir(tmp_path)
    for name in ("normal", "new", "model.skg"):
        (tmp_path / name).symlink_to(shared / name)
    return tmp_path


def run(command, exit_code=0):
    result = CliRunner().invoke(main, shlex.split(command))
    assert result.exit_code == exit_code, result.output
    return result


def table(text):
    return list(csv.DictReader(io.StringIO(text)))


def column(rows, name):
    return np.array([float(row[name]) for row in rows])


# -- fit -------------------------------------------------------------------------------------------


def test_fit_saves_what_the_library_fits(here):
    result = run(f"fit normal -o own.skg {shlex.join(READ)}")
    assert (here / "own.skg").read_bytes() == (here / "model.skg").read_bytes()
    n_nodes = sum(map(len, NORMAL))
    assert re.search(rf"read +20 graphs, {n_nodes} nodes\n", result.stdout)
    assert re.search(r"saved +own.skg, after [\d.]+ seconds\n", result.stdout)
    assert result.stderr == ""


def test_parameters_of_the_detector(here):
    run(
        "fit normal -o own.skg --paper --contamination 0.25 --threshold loo --random-state 7 "
        "--set max_iter=1 --set hidden_dim=8 --set mmd_gammas='[1, 10]' --set perturbation=features"
    )
    parameters = skgraphkde.load("own.skg").get_params()
    expected = GraphKDEDetector(**skgraphkde.PAPER).get_params() | {
        "contamination": 0.25,
        "threshold": "loo",
        "random_state": 7,
        "max_iter": 1,
        "hidden_dim": 8,
        "mmd_gammas": [1, 10],
        "perturbation": "features",
    }
    assert parameters == expected


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--set n_layer=1", "'n_layer=1' is not NAME=VALUE with one of .*n_layers"),
        ("--set n_layers", "'n_layers' is not NAME=VALUE"),
        ("--threshold none", "'none' is not one of 'loo', 'split', 'train'"),
        ("-o nowhere/a.skg", "there is no folder nowhere"),
        ("-o normal", "normal is a folder or a device"),
        ("-o -", "that is no text for stdout"),
    ],
)
def test_words_that_are_no_command(here, words, message):
    assert re.search(message, run(f"fit normal -o a.skg {words}", exit_code=2).stderr)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("normal nowhere", "Error: nowhere is not there: give"),
        (
            "nowhere --set n_layers=-1",
            "Error: The 'n_layers' parameter of GraphKDEDetector must be",
        ),
        ("normal --node-label atom", "00.graphml has no node attribute 'atom': .* 'element', 'px'"),
        ("normal/00.graphml", "Error: one training graph has no neighbors"),
    ],
)
def test_input_that_cannot_be_fitted(here, words, message):
    result = run(f"fit {words} -o a.skg", exit_code=1)
    assert re.search(message, result.stderr)
    assert result.stderr.count("\n") == 1
    assert not (here / "a.skg").exists()


# -- score -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1000, 2])
def test_scores_are_those_of_the_library(here, monkeypatch, size):
    monkeypatch.setattr(graph_files, "CHUNK_GRAPHS", size)
    assert run("score model.skg new -o scores.csv").output == ""
    rows = table((here / "scores.csv").read_text())
    assert list(rows[0]) == ["graph", "score", "decision", "verdict", "p_value"]
    assert [row["graph"] for row in rows] == [f"new/{i:02d}.graphml" for i in range(7)]
    detector, graphs = skgraphkde.load("model.skg"), read(NEW)
    np.testing.assert_allclose(column(rows, "score"), detector.score_samples(graphs), rtol=1e-9)
    decisions = detector.decision_function(graphs)
    np.testing.assert_allclose(column(rows, "decision"), decisions, rtol=1e-9)
    np.testing.assert_array_equal(column(rows, "p_value"), detector.p_values(graphs))
    verdicts = {1: "normal", -1: "anomaly"}
    assert [row["verdict"] for row in rows] == [verdicts[v] for v in detector.predict(graphs)]


def test_scores_on_stdout(here):
    rows = table(run("score model.skg new/03.graphml new/01.graphml").stdout)
    assert [row["graph"] for row in rows] == ["new/03.graphml", "new/01.graphml"]
    assert {row["verdict"] for row in table(run("score model.skg normal").stdout)} == {"normal"}


def test_no_p_values_where_the_library_gives_none(here):
    run("fit normal -o train.skg --threshold train")
    assert {row["p_value"] for row in table(run("score train.skg new").stdout)} == {""}


def test_a_broken_file_ends_the_scoring(here):
    (here / "old.csv").write_text("kept")
    (here / "b.json").write_text("{")
    result = run("score model.skg new b.json -o old.csv", exit_code=1)
    assert re.fullmatch(r"Error: b\.json cannot be read as node-link JSON \(.*\n", result.stderr)
    assert (here / "old.csv").read_text() == "kept"
    assert not list(here.glob(".*"))  # nothing half written is left


def test_broken_files_are_skipped_where_the_user_says_so(here):
    (here / "b.json").write_text("{")
    plain = nx.node_link_data(nx.path_graph(3), edges="edges")
    for data in plain["nodes"]:
        data |= {"element": "C", "px": 0, "py": [1, 2]}  # three numbers, not two
    for data in plain["edges"]:
        data["order"] = 1
    (here / "c.json").write_text(json.dumps(plain))
    result = run("score model.skg b.json c.json new --skip-errors", exit_code=3)
    assert table(result.stdout) == table(run("score model.skg new").stdout)
    lines = result.stderr.splitlines()
    assert len(lines) == 2
    assert lines[0].startswith("Skipped: b.json cannot be read")
    assert lines[1] == "Skipped: c.json: fit saw 2 node attributes; these graphs have 3"
    alone = run("score model.skg c.json", exit_code=1)
    assert alone.stderr == "Error: c.json: fit saw 2 node attributes; these graphs have 3\n"


def test_warnings_are_one_line(here):
    graph = NEW[0].copy()
    graph.nodes["n0"]["element"] = "Xe"
    nx.write_graphml(graph, "xe.graphml")
    warning = run("score model.skg xe.graphml").stderr
    assert warning == "Warning: node labels that fit did not see count as no label: Xe\n"


def test_a_model_saved_by_the_library_reads_default_names(here):
    GraphKDEDetector().fit([nx.cycle_graph(n) for n in range(5, 25)]).save("cycles.skg")
    nx.write_gml(nx.star_graph(9), "star.gml")
    [row] = table(run("score cycles.skg star.gml").stdout)
    assert row["verdict"] == "anomaly"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "Error: a.skg: No such file or directory\n"),
        (b"x", "Error: a.skg is not a detector that skgraphkde .* can read: .*\n"),
    ],
)
def test_models_that_are_none(here, content, message):
    if content:
        (here / "a.skg").write_bytes(content)
    for command in ("score a.skg new", "explain a.skg new", "info a.skg"):
        assert re.fullmatch(message, run(command, exit_code=1).stderr)


def test_forged_notes(here):
    persistence.save(skgraphkde.load("model.skg"), "a.skg", {"node_label": [5]})
    result = run("score a.skg new", exit_code=1)
    assert result.stderr.startswith("Error: the notes in the model's file are no names")


# -- explain ---------------------------------------------------------------------------------------


def test_reasons_are_those_of_the_library(here):
    result = run("explain model.skg new -o reasons.csv -k 3")
    rows = table((here / "reasons.csv").read_text())
    assert list(rows[0]) == ["graph", "node", "contribution", "rank"]
    expected = [(f"new/{i:02d}.graphml", n) for i, graph in enumerate(NEW) for n in graph]
    assert [(row["graph"], row["node"]) for row in rows] == expected
    detector, graphs = skgraphkde.load("model.skg"), read(NEW)
    shares = node_contributions(detector, graphs, k=3)
    np.testing.assert_allclose(column(rows, "contribution"), np.concatenate(shares), rtol=1e-9)
    for i in range(len(NEW)):
        of_graph = [row for row in rows if row["graph"] == f"new/{i:02d}.graphml"]
        by_rank = sorted(of_graph, key=lambda row: int(row["rank"]))
        assert column(by_rank, "rank").tolist() == list(range(1, len(NEW[i]) + 1))
        assert np.all(np.diff(column(by_rank, "contribution")) <= 0)
    distances, places = nearest_references(detector, graphs, k=3)
    line = ", ".join(f"{i} ({d:.3g})" for i, d in zip(places[0], distances[0], strict=True))
    name, nearest, nodes = result.stdout.splitlines()[:3]
    first = next(row["node"] for row in rows if row["rank"] == "1")
    assert name.startswith("new/00.graphml: ")
    assert nearest == f"  nearest references: {line}"
    assert nodes.startswith(f"  largest contributions: {first} (")
    assert len(result.stdout.splitlines()) == 3 * len(NEW)


def test_reasons_on_stdout(here):
    result = run("explain model.skg new/00.graphml -o -")
    assert len(table(result.stdout)) == len(NEW[0])
    assert "nearest references" in result.stderr
    assert "nearest references" in run("explain model.skg new/00.graphml").stdout


def test_explain_skips(here):
    (here / "b.json").write_text("{")
    result = run("explain model.skg b.json new --skip-errors", exit_code=3)
    assert result.stdout == run("explain model.skg new").stdout
    run("explain model.skg b.json --skip-errors -o none.csv", exit_code=3)
    assert (here / "none.csv").read_text() == "graph,node,contribution,rank\n"


@pytest.mark.parametrize("n_graphs", [1, 7])
def test_picture(here, n_graphs):
    matplotlib_image = pytest.importorskip("matplotlib.image")
    files = " ".join(f"new/{i:02d}.graphml" for i in range(n_graphs))
    run(f"explain model.skg {files} --picture picture.png")
    picture = matplotlib_image.imread("picture.png")
    assert np.ptp(picture[..., :3], axis=2).max() > 0.3  # there is color in it


def test_pictures_of_the_oddest(here, monkeypatch):
    pytest.importorskip("matplotlib")
    drawn = []
    monkeypatch.setattr("skgraphkde.cli._draw", lambda oddest, path: drawn.extend(oddest))
    run("explain model.skg new --picture picture.svg")
    decisions = skgraphkde.load("model.skg").decision_function(read(NEW))
    expected = [f"new/{i:02d}.graphml" for i in np.argsort(decisions)[:6]]
    assert [graph.name for graph, _ in drawn] == expected
    message = run("explain model.skg new --picture picture.txt", exit_code=2).stderr
    assert "picture.txt has no suffix of an image" in message


# -- info, and all of them -------------------------------------------------------------------------


def test_info(here):
    run("fit normal -o own.skg --set n_layers=1 --contamination 0.2 " + shlex.join(READ))
    detector = skgraphkde.load("own.skg")
    bandwidths = ", ".join(f"{h:.4g}" for h in detector.bandwidths_)
    size = (here / "own.skg").stat().st_size
    values = {
        "file": f"own.skg, {size} bytes, skgraphkde {skgraphkde.__version__}",
        "parameters": "contamination=0.2, n_layers=1, random_state=0",
        "reads": "node_label='element', node_attributes=('px', 'py'), edge_weight='order'",
        "references": f"20 graphs, {sum(map(len, NORMAL))} nodes",
        "node features": f"label, attribute, degree, random_walk "
        f"({detector.n_features_in_} columns)",
        "threshold": f"{detector.offset_:.6g} (loo, contamination 0.2)",
        "bandwidths": bandwidths,
    }
    expected = "".join(f"{name:16}{value}\n" for name, value in values.items())
    assert run("info own.skg").stdout == expected


@pytest.mark.parametrize("name", main.commands)
def test_examples_are_commands(here, name):
    command = main.commands[name]
    examples = re.findall(rf"skgraphkde {name} (.*)", command.epilog)
    assert examples
    for example in examples:
        if "--picture" in example:
            pytest.importorskip("matplotlib")
        words = shlex.split(example.partition(" | ")[0])
        command.make_context(name, words)  # raises a UsageError otherwise
    help_text = run(f"{name} --help").stdout
    assert f"Examples:\n    skgraphkde {name}" in help_text


def test_exit_codes_of_the_process(here):
    def call(*words):
        command = [sys.executable, "-m", "skgraphkde", *words]
        here_too = os.environ | {"PYTHONPATH": str(Path(skgraphkde.__file__).parents[1])}
        return subprocess.run(command, capture_output=True, text=True, check=False, env=here_too)

    result = call("score", "model.skg", "nowhere")
    assert (result.returncode, result.stderr.count("\n")) == (1, 1)
    assert result.stderr.startswith("Error: nowhere is not there")
    version = call("--version")
    assert (version.returncode, version.stdout.split()[-1]) == (0, skgraphkde.__version__)

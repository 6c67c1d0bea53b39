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
import pandas as pd
import pytest
from matplotlib.image import imread

import skgraphkde
from skgraphkde import (
    Density,
    GraphKDEDetector,
    GraphSchema,
    Novelty,
    Propagation,
    Twins,
    paper_settings,
)
from skgraphkde.cli import main
from skgraphkde.cli.main import COMMANDS
from skgraphkde.graphs.files import walk
from skgraphkde.inspection import (
    explain,
    nearest_references,
    node_contributions,
    novel_nodes,
    view_surprises,
)
from tests.cli.conftest import NEW, NORMAL, READ, SCHEMA, column, read, run, table

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
        "fit normal -o own.skg --paper --contamination 0.25 --calibration loo --random-state 7 "
        "--set training__max_iter=1 --set encoder__hidden_dim=8 "
        "--set views__distance__gammas='[1, 10]' --set training__twins=features"
    )
    expected = GraphKDEDetector(
        **paper_settings(contamination=0.25, calibration="loo"), random_state=7
    )
    expected.training.max_iter, expected.training.twins = 1, "features"
    expected.encoder.hidden_dim, expected.views.distance.gammas = 8, [1, 10]
    assert texts(skgraphkde.load("own.skg")) == texts(expected)


def texts(detector):
    """All parameters, nested ones by their names, as text: specifications have no equality."""
    return {name: repr(value) for name, value in detector.get_params().items()}


def test_nested_parameters_of_strings(here):
    run(
        "fit normal -o own.skg --set encoder__n_layers=1 --calibration split "
        "--set calibration__fraction=0.5 --set training=contrastive --set training__max_iter=1 "
        "--set training__twins__edges__max_ratio=2 --set views=density --set views__distance=sum "
        "--set features=given"
    )
    expected = GraphKDEDetector(
        random_state=0, features="given", calibration="split", training="contrastive"
    ).set_params(
        encoder=Propagation(n_layers=1),
        calibration__fraction=0.5,
        training__max_iter=1,
        training__twins=Twins().set_params(edges__max_ratio=2),
        views=Density("sum"),
    )
    loaded = skgraphkde.load("own.skg")
    assert texts(loaded) == texts(expected)
    assert len(loaded.model_.references) == 10


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--set n_layer=1", r"Invalid parameter 'n_layer' for .*\['calibration', .*'encoder'"),
        ("--set encoder__n_layer=1", "Invalid parameter 'n_layer' for .*Propagation.*'n_layers'"),
        ("--set encodr__n_layers=1", "Invalid parameter 'encodr' for .*Did you mean 'encoder'"),
        ("--set training__max_iter=1", "training__max_iter cannot be set: training=None has no"),
        ("--set references__ratio=1", "references=None has no parameters, set references"),
        ("--set n_layers", "'n_layers' is not NAME=VALUE"),
        ("--set =1", "'=1' is not NAME=VALUE"),
        ("--calibration none", "'none' is not one of 'loo', 'split', 'train'"),
        ("-o nowhere/a.skg", "the folder nowhere does not exist"),
        ("-o normal", "normal is a folder or a device"),
        ("-o -", "this output cannot go to stdout"),
        ("--node-category temp --node-number temp", "'temp' is named twice"),
        ("--edge-weight flow --edge-category flow", "'flow' is named twice"),
        ("--missing drop", "'drop' is not one of"),
        ("--contamination few", "'few' is neither a number nor 'auto'"),
        ("--contamination 0.6", "0.6 is not above 0 and at most 0.5, nor 'auto'"),
        ("--detector", "Option '--detector' requires an argument.$"),
    ],
)
def test_words_that_are_no_fit(here, words, message):
    result = run(f"fit normal -o a.skg {words}", exit_code=2)
    assert re.search(message, result.stderr)
    assert not (here / "a.skg").exists()


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("scroe model.skg", "No such command 'scroe'. Did you mean 'score'?\n"),
        ("xyz model.skg", "No such command 'xyz'.\n"),
        ("score model.skg", "Missing argument 'GRAPHS...'.\n"),
        ("score model.skg new --resume", "give it with -o FILE"),
        ("score model.skg new --alpha 0.1", "give -o FILE"),
        ("score model.skg new -o a.csv --resume --force", "give it without --force"),
        (
            "score model.skg new -o a.json",
            "the ending of a.json names no format: use one of .csv, .jsonl, .ndjson, .parquet",
        ),
        ("score model.skg new --format parquet", "a Parquet file is not text for stdout: give -o"),
        ("score model.skg new --format json", "'json' is not one of 'csv', 'jsonl', 'parquet'"),
        ("report model.skg new", "Missing option '-o' / '--output'.\n"),
        ("report model.skg new -o page.html --alpha 0", "0.0 is not in the range 0<x<=1"),
        ("report model.skg new -o nowhere/page.html", "the folder nowhere does not exist"),
        ("report model.skg new -o page.pdf", "page.pdf does not have the suffix .html"),
        ("find normal -o page.txt", "page.txt does not have the suffix .html"),
        ("watch model.skg new -o -", "give the path of a file"),
        ("watch model.skg new -o log.csv --window -1", "-1 is not in the range x>=0"),
        ("learn model.skg none.csv -o a.skg", "File 'none.csv' does not exist"),
        ("explain model.skg new --picture picture.txt", "does not have the suffix .png or .svg"),
    ],
)
def test_words_that_are_no_command(here, command, message):
    before = sorted(here.iterdir())
    assert message in run(command, exit_code=2).stderr
    assert sorted(here.iterdir()) == before


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("fit normal nowhere", "Error: nowhere does not exist: give"),
        (
            "fit nowhere --set encoder__n_layers=-1",
            "Error: The 'n_layers' parameter of Propagation must be",
        ),
        ("fit normal --node-category atom", "none of the 20 graphs .* 'atom'.* 'element'"),
        ("fit normal/00.graphml", "Error: fit needs at least 2 distinct graphs, got 1"),
        (
            "watch model.skg new --false-alarm-rate 2",
            "'false_alarm_rate' parameter of DriftMonitor must be",
        ),
    ],
)
def test_input_that_cannot_be_used(here, words, message):
    result = run(f"{words} -o output", exit_code=1)
    assert re.search(message, result.stderr)
    assert result.stderr.count("\n") == 1
    assert not (here / "output").exists()


# -- score -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1000, 2])
def test_scores_are_those_of_the_library(here, monkeypatch, size):
    monkeypatch.setattr(walk, "CHUNK_GRAPHS", size)
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


def test_a_broken_file_ends_the_scoring(here):
    (here / "old.csv").write_text("kept")
    (here / "b.json").write_text("{")
    result = run("score model.skg new b.json -o old.csv --force", exit_code=1)
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
    rows, expected = table(result.stdout), table(run("score model.skg new").stdout)
    for name in ("graph", "verdict", "p_value"):
        assert [row[name] for row in rows] == [row[name] for row in expected]
    for name in ("score", "decision"):  # graphs near a broken one are scored alone: rounding
        np.testing.assert_allclose(column(rows, name), column(expected, name), rtol=1e-9)
    lines = result.stderr.splitlines()
    assert len(lines) == 2
    assert lines[0].startswith("Skipped: b.json cannot be read")
    assert lines[1] == (
        "Skipped: c.json: fit saw the node numbers 'px' (1), 'py' (1); these graphs have "
        "'px' (1), 'py' (2)"
    )
    alone = run("score model.skg c.json", exit_code=1)
    assert alone.stderr == lines[1].replace("Skipped", "Error") + "\n"


def test_warnings_are_one_line_and_said_once(here, monkeypatch):
    for name, element in (("a", "Xe"), ("b", "Kr"), ("c", "Xe")):
        graph = NEW[0].copy()
        graph.nodes["n0"]["element"] = element
        nx.write_graphml(graph, f"{name}.graphml")
    (here / "d.json").write_text("{")
    monkeypatch.setattr(walk, "CHUNK_GRAPHS", 1)
    start = "Warning: node labels that fit did not see:"
    warning = f"{start} Xe of 'element'\n{start} Kr of 'element'\n"
    assert run("score model.skg a.graphml b.graphml c.graphml").stderr == warning
    assert warning in run("score model.skg a.graphml b.graphml d.json", exit_code=1).stderr


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


# -- explain ---------------------------------------------------------------------------------------


def test_explanations_are_those_of_the_library(here):
    lines = run("explain model.skg new -o reasons.csv -k 3").stdout.splitlines()
    frame = pd.read_csv("reasons.csv")
    assert list(frame) == ["graph", "node", "contribution", "rank", "view", "new_from"]
    detector, graphs = skgraphkde.load("model.skg"), read(NEW)
    sizes, model = graphs.n_nodes_per_graph, detector.model_
    names = [f"new/{i:02d}.graphml" for i in range(7)]
    assert frame["graph"].tolist() == np.repeat(names, sizes).tolist()
    assert frame["node"].tolist() == [node for graph in NEW for node in graph]
    surprises = view_surprises(detector, graphs)
    views = (
        surprises.to_numpy()[:, :2].argmax(axis=1).tolist()
    )  # the distance that is most surprised
    assert frame["view"].tolist() == np.repeat(views, sizes).tolist()
    shares = [
        node_contributions(detector, graphs[i], k=3, view=view)[0] for i, view in enumerate(views)
    ]
    np.testing.assert_allclose(frame["contribution"], np.concatenate(shares), rtol=1e-9)
    by_graph = frame.groupby("graph")["contribution"]
    assert (frame["rank"] == by_graph.rank(ascending=False, method="first")).all()
    new_from = novel_nodes(detector, graphs)
    radii = np.concatenate(new_from)
    np.testing.assert_array_equal(frame["new_from"], np.where(radii <= 5, radii, np.nan))

    table_of = explain(detector, graphs, 3, n_reasons=3)
    strong = table_of[table_of["strength"] >= 1]
    reasons = [f"  because {x.reason} (strength {x.strength:.3g})" for x in strong.itertuples()]
    assert [line for line in lines if line.startswith("  because ")] == reasons
    lines = [line for line in lines if line not in reasons]
    n_lines = 5 + len(model.views)
    assert len(lines) == n_lines * len(NEW)
    first = frame[frame["graph"] == "new/00.graphml"]
    verdict = {1: "normal", -1: "anomaly"}[detector.predict(graphs)[0]]
    known, view = model.references.n_nodes_per_graph, f"(view {views[0]})"
    distances, places = nearest_references(detector, graphs, k=3, view=views[0])
    nearest = [
        f"'normal/{i:02d}.graphml' ({d:.3g})" for i, d in zip(places[0], distances[0], strict=True)
    ]
    largest = first.sort_values("rank").iloc[0]
    new = first.dropna().sort_values("new_from", kind="stable")
    usual = model.first(Novelty).known_shares.mean()
    novel = [f"{len(new)} of {sizes[0]} nodes (a known graph: {usual:.0%})"]
    novel += [f"{x.node} (from radius {x.new_from:.0f})" for x in new[:5].itertuples()]
    starts = [
        f"new/00.graphml: {verdict}, decision {detector.decision_function(graphs)[0]:.4g}",
        *(f"  surprise {x:.3g}: {view}" for view, x in surprises.iloc[0].items()),
        f"  {sizes[0]} nodes (references: {known.min()} to {known.max()}), ",
        f"  nearest references {view}: {', '.join(nearest)}",
        f"  largest contributions {view}: {largest['node']} ({largest['contribution']:.3g})",
        f"  in new neighborhoods: {', '.join(novel)}",
    ]
    for line, start in zip(lines[:n_lines], starts, strict=True):
        assert line.startswith(start)


def test_reasons_of_one_view(here):
    run("fit normal -o one.skg --set views=density " + shlex.join(READ))
    result = run("explain one.skg new -o reasons.csv")
    assert {row["new_from"] for row in table((here / "reasons.csv").read_text())} == {""}
    lines = [line for line in result.stdout.splitlines() if not line.startswith("  because ")]
    assert len(lines) == 4 * len(NEW)
    decisions = skgraphkde.load("one.skg").decision_function(read(NEW))
    assert [line.rpartition(" ")[2] for line in lines[::4]] == [f"{x:.4g}" for x in decisions]


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
    assert (here / "none.csv").read_text() == "graph,node,contribution,rank,view,new_from\n"


@pytest.mark.parametrize("n_graphs", [1, pytest.param(7, marks=pytest.mark.slow)])
def test_picture(here, n_graphs):
    files = " ".join(f"new/{i:02d}.graphml" for i in range(n_graphs))
    run(f"explain model.skg {files} --picture picture.png")
    picture = imread("picture.png")
    assert np.ptp(picture[..., :3], axis=2).max() > 0.3  # there is color in it


def test_pictures_of_the_oddest(here, monkeypatch):
    drawn = []
    monkeypatch.setattr(
        sys.modules["skgraphkde.cli.explain"], "_draw", lambda oddest, *_: drawn.extend(oddest)
    )
    run("explain model.skg new --picture picture.svg")
    decisions = skgraphkde.load("model.skg").decision_function(read(NEW))
    expected = [f"new/{i:02d}.graphml" for i in np.argsort(decisions)[:6]]
    assert [graph.name for graph, _ in drawn] == expected


# -- info, and all of them -------------------------------------------------------------------------


def test_info(here):
    run("fit normal -o own.skg --set encoder__n_layers=1 --contamination 0.2 " + shlex.join(READ))
    detector = skgraphkde.load("own.skg")
    first, second = (", ".join(f"{h:.4g}" for h in of_one) for of_one in detector.model_.bandwidths)
    size = (here / "own.skg").stat().st_size
    values = [
        ("file", f"own.skg, {size} bytes, skgraphkde {skgraphkde.__version__}"),
        ("detector", "GraphKDEDetector"),
        (
            "parameters",
            f"contamination=0.2, encoder=Propagation(n_layers=1), random_state=0, schema={SCHEMA}",
        ),
        (
            "reads",
            "undirected graphs; node categories 'element'; node numbers 'px', 'py'; "
            "edge weight 'order'",
        ),
        ("references", f"20 graphs, {sum(map(len, NORMAL))} nodes"),
        (
            "node features",
            f"label, attribute, degree, random_walk "
            f"({detector.model_.features.n_features_out_} columns)",
        ),
        ("view 0", "nodes and their surroundings (MMD with gamma 10, biased)"),
        ("  bandwidths", first),
        ("view 1", "nodes and their surroundings (MMD with gamma 1, unbiased)"),
        ("  bandwidths", second),
        ("view 2", "novelty of neighborhoods of radius 5"),
        ("view 3", "Tanimoto similarity to the most similar graph"),
        ("view 4", "neighborhoods that differ from the nearest graphs"),
        ("view 5", "statistics of the graph"),
        ("view 6", "numbers together"),
        ("threshold", f"{detector.offset_:.6g} (calibration 'loo', contamination 0.2)"),
    ]
    expected = "".join(f"{name:16}{value}\n" for name, value in values)
    assert run("info own.skg").stdout == expected


@pytest.mark.parametrize("name", COMMANDS)
def test_examples_are_commands(here, name, monkeypatch):
    command = main.get_command(None, name)
    assert " ".join(command.help.partition("\n\n")[0].split()) == COMMANDS[name]
    (here / "model.skg").unlink()  # which `fit` would not replace
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"new\n")))
    for name_of_table in ("nodes.csv", "verdicts.csv"):
        (here / name_of_table).touch()
    (here / "mine.py").write_text(
        "import skgraphkde\n@skgraphkde.register\n"
        "class SizeDetector(skgraphkde.BaseGraphDetector): pass\n"
    )
    examples = re.findall(rf"skgraphkde {name} (.*)", command.epilog)
    assert examples
    for example in examples:
        words = shlex.split(re.split(r" \|+ ", example)[0])
        command.make_context(name, words)  # raises a UsageError otherwise
    help_text = run(f"{name} --help").stdout
    assert f"Examples:\n    skgraphkde {name}" in help_text


def call(*words):
    """A command in a process of its own."""
    command = [sys.executable, "-m", "skgraphkde", *words]
    here_too = os.environ | {"PYTHONPATH": str(Path(skgraphkde.__file__).parents[1])}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=here_too)


def test_exit_codes_of_the_process():
    version = call("--version")
    assert (version.returncode, version.stdout.split()[-1]) == (0, skgraphkde.__version__)
    assert call("--versions").returncode == 2


@pytest.mark.slow
def test_an_error_of_the_process(here):
    result = call("score", "model.skg", "nowhere")
    assert (result.returncode, result.stderr.count("\n")) == (1, 1)
    assert result.stderr.startswith("Error: nowhere does not exist")


# -- what is read ----------------------------------------------------------------------------------


def directed_plants(n_graphs, seed):
    rng = np.random.RandomState(seed)
    graphs = []
    for _ in range(n_graphs):
        graph = nx.gnp_random_graph(8, 0.25, seed=int(rng.randint(10**6)), directed=True)
        graph.add_edge(0, 1)
        for data in graph.nodes.values():
            data.update(kind="pv"[rng.randint(2)], temp=float(rng.normal(60, 5)))
        for data in graph.edges.values():
            data.update(pipe="sl"[rng.randint(2)], flow=float(rng.rand()))
        graphs.append(graph)
    return graphs


OPTIONS = "--node-category kind --node-number temp --edge-category pipe --edge-number flow"


def test_models_of_python_score_files_and_the_other_way_round(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    graphs, new = directed_plants(15, 0), directed_plants(4, 1)
    for folder, some in (("normal", graphs), ("new", new)):
        (tmp_path / folder).mkdir()
        for i, graph in enumerate(some):
            nx.write_graphml(graph, tmp_path / folder / f"{i:02d}.graphml")
    schema = GraphSchema(
        node_categories="kind", node_numbers="temp", edge_categories="pipe", edge_numbers="flow"
    )
    detector = GraphKDEDetector(schema=schema, random_state=0).fit(graphs)
    detector.save("python.skg")
    fitted = run(f"fit normal -o shell.skg {OPTIONS}").stdout
    assert "directed graphs; node categories 'kind'; node numbers 'temp'; edge cat" in fitted
    expected = detector.score_samples(new)
    for model in ("python.skg", "shell.skg"):
        rows = list(csv.DictReader(io.StringIO(run(f"score {model} new").stdout)))
        np.testing.assert_allclose([float(row["score"]) for row in rows], expected, rtol=1e-9)
        np.testing.assert_allclose(skgraphkde.load(model).score_samples(new), expected, rtol=1e-9)
    next(iter(new[0].nodes.values()))["temp"] = 1e4
    nx.write_graphml(new[0], "odd.graphml")
    assert "  because temp 10,000 of node " in run("explain shell.skg odd.graphml").stdout


def test_what_is_not_read_is_said(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for i, graph in enumerate(directed_plants(6, 0)):
        nx.write_graphml(graph, f"{i}.graphml")
    printed = run("fit . -o model.skg --undirected").stdout
    assert "reads           undirected graphs\n" in printed
    assert "left out        node attribute 'kind', node attribute 'temp', edge attr" in printed
    assert "--schema all, or name them: --node-category NAME, --node-number NAME, --edge" in printed
    printed = run("fit . -o all.skg --schema all").stdout
    assert "node numbers 'temp'" in printed
    assert "to read these" not in printed


def test_help_imports_nothing_slow():
    program = (
        "import sys\nfrom skgraphkde.cli import main\n"
        "main(['--help'], standalone_mode=False)\n"
        "assert not {'torch', 'sklearn', 'pandas', 'numba', 'networkx'} & set(sys.modules)"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    for name, text in COMMANDS.items():
        assert re.search(rf"{name} +{text[:20]}", result.stdout)

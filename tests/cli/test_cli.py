"""`fit` and `info`, and what all commands do with options, models, files and errors."""

import errno
import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import click
import networkx as nx
import numpy as np
import pytest

import skgraphkde
from skgraphkde import LGKDE, GraphKDEDetector, GraphSchema
from skgraphkde.cli import main
from skgraphkde.cli.main import COMMANDS
from tests.cli.conftest import NEW, NORMAL, READ, SCHEMA, column, run, table
from tests.reading.common import measured_graphs


@pytest.mark.slow
def test_a_console_that_lacks_letters(here):
    """That of Windows: what it lacks is written as a number, and nothing fails."""
    Path("odd Ω.graphml").write_bytes(next(Path("new").glob("*.graphml")).read_bytes())
    environment = os.environ | {"PYTHONIOENCODING": "cp1252", "PYTHONUTF8": "0"}
    command = [sys.executable, "-m", "skgraphkde", "score", "model.skg", "odd Ω.graphml"]
    told = subprocess.run(command, capture_output=True, env=environment)
    assert told.returncode == 0, told.stderr
    assert b"odd \\u03a9.graphml," in told.stdout


# -- fit and info ----------------------------------------------------------------------------------


def test_parameters_of_the_detector(here):
    run(
        "fit normal -o own.skg --lgkde --contamination 0.25 --set calibration=loo --random-state 7 "
        "--set max_references=None --set max_iter=1 --set hidden_dim=8 "
        "--set gammas='[1, 10]' --call 'nodes=steps, graphs=cases'"
    )
    expected = LGKDE(
        contamination=0.25,
        calibration="loo",
        max_references=None,
        max_iter=1,
        hidden_dim=8,
        gammas=[1, 10],
        schema=GraphSchema(call={"nodes": "steps", "graphs": "cases"}),
        random_state=7,
    )
    # Specifications have no equality.
    assert repr(skgraphkde.load("own.skg").get_params()) == repr(expected.get_params())


def test_info(here):
    run("fit normal -o own.skg --set verbose=0 --contamination 0.2 " + shlex.join(READ))
    detector = skgraphkde.load("own.skg")
    density, model = detector.model_.views[0], detector.model_
    lines = [
        f"file            own.skg, {(here / 'own.skg').stat().st_size} bytes",
        "detector        GraphKDEDetector(contamination=0.2, "
        f"random_state=0, schema={' '.join(repr(SCHEMA).split())})",
        "fitted by       "
        + ", ".join(f"{package} {version}" for package, version in detector.versions_.items()),
        f"training        20 graphs, sha256 {detector.info()['checksum']}",
        "reads           undirected graphs; node categories 'element'; node numbers 'px', 'py'; "
        "edge weight 'order'",
        f"references      20 graphs, {sum(map(len, NORMAL))} nodes",
        "node features   label, attribute, degree, random_walk "
        f"({model.features.n_features_out_} columns)",
        f"view 0          {density.name}, weight {model.view_weights[0]:.1f}",
        f"  bandwidths    {', '.join(f'{h:.4g}' for h in density.bandwidths_)}",
        f"threshold       {detector.offset_:.6g} (calibration 'loo', contamination 0.2)",
    ]
    said = run("info own.skg").stdout.splitlines()
    assert [*said[:9], said[-1]] == lines
    assert len([line for line in said if line.startswith("view ")]) == len(model.views)
    many = run(f"""fit normal -o b.skg --set "views={["density"] + 10 * ["statistics"]}" """)
    assert "\nview 10         statistics" in many.stdout


@pytest.fixture
def plants():
    """Files of directed graphs, whose nodes and edges have categories and numbers."""
    plants = {
        "normal": measured_graphs(nx.DiGraph, 0, 15),
        "new": measured_graphs(nx.DiGraph, 1, 4),
    }
    for folder, some in plants.items():
        os.mkdir(folder)
        for i, graph in enumerate(some):
            nx.write_graphml(graph, f"{folder}/{i:02d}.graphml")
    return plants


def test_models_of_python_score_files_and_the_other_way_round(plants):
    schema = GraphSchema(
        node_categories="atom", node_numbers="temp", edge_categories="label", edge_numbers="flow"
    )
    detector = GraphKDEDetector(schema=schema, random_state=0).fit(plants["normal"])
    detector.save("python.skg")
    options = "--node-category atom --node-number temp --edge-category label --edge-number flow"
    fitted = run(f"fit normal -o shell.skg {options}")
    assert f"read            15 graphs, {sum(map(len, plants['normal']))} nodes\n" in fitted.stdout
    assert "directed graphs; node categories 'atom'; node numbers 'temp'; edge cat" in fitted.stdout
    assert fitted.stdout.endswith("saved           shell.skg\n")
    assert fitted.stderr == "Reading\nFitting 15 graphs\n"
    expected = detector.score_samples(plants["new"])
    rows = table(run("score python.skg new").stdout)
    assert list(rows[0]) == ["graph", "score", "decision", "verdict", "p_value"]
    np.testing.assert_allclose(column(rows, "score"), expected, rtol=1e-9)
    scores = skgraphkde.load("shell.skg").score_samples(plants["new"])
    np.testing.assert_allclose(scores, expected, rtol=1e-9)


def test_what_is_not_read_is_said(plants):
    printed = run("fit normal -o model.skg --undirected").stdout
    assert "undirected graphs; node categories 'node_type'; edge categories 'label'\n" in printed
    assert "left out        node attribute 'atom', node attribute 'temp', edge attr" in printed
    assert "--schema all, or name them, such as --node-category NAME" in printed
    printed = run("fit normal -o all.skg --schema all --edge-category flow").stdout
    assert "node numbers 'temp'; edge categories 'flow', 'label'; edge numbers 'w'\n" in printed
    assert "to read these" not in printed


# -- options ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("fit normal -o a.skg --set n_layer=1", "Invalid parameter 'n_layer' for .*'encoder'"),
        ("fit normal -o a.skg --set encoder__n_layers=1", "encoder='auto' has no parameters"),
        ("fit normal -o a.skg --set n_layers", "'n_layers' is not NAME=VALUE"),
        ("fit normal -o a.skg --calibration none", "'none' is not one of 'loo', 'split', 'train'"),
        ("fit normal -o nowhere/a.skg", "the folder nowhere does not exist, or"),
        ("fit normal -o normal --force", "normal is a folder or a device"),
        ("fit normal -o model.skg", "model.skg exists: give --force to replace it"),
        *[
            (f"{command} -o new/00.graphml --force", "new/00.graphml is a graph and the output")
            for command in ("fit new", "fit new/../new/00.graphml", "update model.skg new")
        ],
        ("find new -o a.html --save new/00.graphml --force", "new/00.graphml is a graph and the"),
        ("find new -o a.html --save ./a.html", "a.html is another file of this command"),
        ("learn model.skg v.csv new -o ./v.csv --force", "v.csv is another file of this command"),
        ("report model.skg new -o link.html --force", "link.html is another file of this command"),
        ("score model.skg new -o link.csv --force", "link.csv is another file of this command"),
        ("report model.skg new -o loop.html", "loop.html is a symbolic link to itself: give"),
        ("fit normal -o far.skg", "the folder .*nowhere does not exist"),
        ("fit normal -o a.skg --node-category t --node-number t", "'t' is named twice"),
        ("fit normal -o a.skg --missing drop", "'drop' is not one of"),
        *[
            (f"fit normal -o a.skg --call {words}", "nodes")
            for words in ("steps", "node=steps", "nodes=steps,nodes=acts")
        ],
        ("fit normal", "Missing option '-o' / '--output'"),
        ("scroe model.skg", "No such command 'scroe'"),
        ("score model.skg", "Missing argument 'GRAPHS...'"),
        ("score model.skg new --outptu a.csv", "Did you mean '?--output"),  # as click says it
        ("score model.skg new --delimiter x", "No such option:? '?--delimiter'?.?\n"),
        ("score model.skg new -o a.txt", "a.txt does not have the suffix .csv or .jsonl or"),
        ("report model.skg new -o page.html --alpha 0", "0.0 is not in the range 0<x<=1"),
        ("report model.skg new -o page.pdf", "page.pdf does not have the suffix .html"),
        ("find normal -o page.txt", "page.txt does not have the suffix .html"),
        ("learn model.skg none.csv -o a.skg", "File 'none.csv' does not exist"),
        ("score model.skg -", '"-" reads paths from standard input, which has none'),
    ],
)
def test_wrong_usage(here, command, message):
    (here / "v.csv").write_text("graph,verdict\nnew/00.graphml,normal\n")
    links = {"link.html": "model.skg", "link.csv": "model.skg", "loop.html": "loop.html"}
    for link, target in {**links, "far.skg": "nowhere/far.skg"}.items():
        (here / link).symlink_to(target)
    before = sorted(here.iterdir())
    assert re.search(message, run(command, exit_code=2, listed="\n").stderr)
    assert sorted(here.iterdir()) == before


def test_a_folder_that_cannot_be_written_to_is_noticed_first(here, monkeypatch):
    monkeypatch.setattr("os.access", lambda path, mode: mode != os.W_OK)
    assert "cannot be written to" in run("fit normal -o a.skg", exit_code=2).stderr


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("fit normal nowhere -o a.skg", "Error: nowhere does not exist: give.*; --skip-errors"),
        ("fit nowhere -o a.skg", "Error: nowhere does not exist: give[^;]*$"),
        ("fit normal -o a.skg --set max_references=-1", "'max_references' parameter of Gra"),
        ("fit normal -o a.skg --contamination few", "'contamination' parameter of GraphKDED"),
        (
            "fit normal -o a.skg --node-category atom",
            "no graph has the node attribute 'atom'.* 'element'",
        ),
        (
            "fit normal/00.graphml -o a.skg",
            "Error: normal/00.graphml is one graph, and others are needed to compare it with",
        ),
        ("info a.skg", "Error: a.skg does not exist: "),
        ("info broken.json", "Error: broken.json is not a file that skgraphkde"),
        ("score broken.json new", "Error: broken.json is not a file that skgraphkde"),
        ("score model.skg new broken.json", r"broken.json cannot be read as node-link JSON \("),
        ("score model.skg new broken.json -o old.csv --force", "broken.json cannot be read"),
        (
            "learn model.skg long.csv -o a.skg",
            "Error: long.csv, line 2: a cell has more than 131072",
        ),
    ],
)
def test_input_that_cannot_be_used(here, command, message):
    (here / "old.csv").write_text("kept")
    (here / "broken.json").write_text("{")
    (here / "long.csv").write_text(f"graph,verdict\nnew/00.graphml,{'x' * 140_000}\n")
    before = sorted(here.iterdir())
    *stages, error = run(command, exit_code=1).stderr.splitlines()
    assert re.search(message, error)
    assert all(re.fullmatch(r"Reading|Fitting (1 graph|\d+ graphs)", stage) for stage in stages)
    assert sorted(here.iterdir()) == before  # also nothing half written
    assert (here / "old.csv").read_text() == "kept"


@pytest.mark.parametrize("output", ["", "-o a.csv"])
def test_a_full_disk_is_an_error_that_names_the_file(here, monkeypatch, output):
    def fail(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(*((click, "echo") if not output else (os, "replace")), fail)
    *_, error = run(f"score model.skg new {output}", exit_code=1).stderr.splitlines()
    expected = "No space left on device (make it possible to write there, or give another path)"
    assert error == f"Error: [Errno 28] {expected}: '{output[3:] or 'standard output'}'"
    assert not (here / "a.csv").exists()


def test_names_make_no_lines(here):
    nx.write_graphml(nx.path_graph(3), "a\nb.graphml")  # without what the model reads
    result = run("score model.skg new 'a\nb.graphml' --skip-errors -q", exit_code=3)
    (line,) = result.stderr.splitlines()
    assert line.startswith("Skipped: a b.graphml")


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_paths_on_standard_input(here, end):
    (here / "a b.graphml").write_bytes((here / "new" / "04.graphml").read_bytes())
    listed = end.join(["a b.graphml", "new/01.graphml", ""])
    expected = run("score model.skg new 'a b.graphml'").stdout  # each file once
    assert run("score model.skg new -", listed=listed).stdout == expected


# -- help ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", COMMANDS)
def test_examples_are_commands(here, name):
    command = main.get_command(None, name)
    assert f"Examples:\n    skgraphkde {name}" in run(f"{name} --help").stdout
    assert " ".join(command.help.partition("\n\n")[0].split()) == COMMANDS[name][1]
    for file in ("nodes.csv", "verdicts.csv", "scans.csv"):
        (here / file).touch()
    (here / "mine.py").write_text(
        "import skgraphkde\nclass SizeDetector(skgraphkde.BaseGraphDetector): pass\n"
    )
    for example in re.findall(rf"skgraphkde {name} (.*)", command.epilog):
        words = shlex.split(re.split(r" \|+ ", example)[0])
        if words[-1] != "-":
            command.make_context(name, words)  # raises a UsageError otherwise


def test_help_imports_nothing_slow():
    program = (
        "import sys\nfrom skgraphkde.cli import main\n"
        "main(['--help'], standalone_mode=False)\n"
        "assert not {'torch', 'sklearn', 'pandas', 'numba', 'networkx'} & set(sys.modules)"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    for name, (_, text) in COMMANDS.items():
        assert re.search(rf"{name} +{text[:20]}", result.stdout)


def test_exit_codes_of_the_process():
    command = [sys.executable, "-m", "skgraphkde"]
    version = subprocess.run([*command, "--version"], capture_output=True, text=True)
    assert (version.returncode, version.stdout.split()[-1]) == (0, skgraphkde.__version__)
    assert subprocess.run([*command, "--versions"], capture_output=True).returncode == 2


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="only Linux tells masks")
def test_threads_of_blas_leave_interrupts_to_the_main_one():
    program = (
        "from pathlib import Path\nfrom skgraphkde.cli import main\n"
        "try: main(['info', 'none.skg'])\n"
        "except SystemExit:\n"
        "    print(*(x.read_text() for x in Path('/proc/self/task').glob('*/status')))"
    )
    environment = os.environ | {"OMP_NUM_THREADS": "2"}
    told = subprocess.check_output([sys.executable, "-c", program], env=environment, text=True)
    masks = [int(mask, 16) for mask in re.findall(r"SigBlk:\t(\w+)", told)]
    assert [bool(mask & 1 << signal.SIGINT - 1) for mask in masks].count(False) == 1


# -- detectors of one's own ------------------------------------------------------------------------


def test_fit_score_and_info_of_an_own_detector(here, own):
    result = run(f"fit normal -o own.skg --detector {own}:EdgeCount --set power=2")
    assert f"read            20 graphs, {sum(map(len, NORMAL))} nodes\n" in result.stdout
    assert "references" not in result.stdout
    detector = skgraphkde.load("own.skg", [f"{own}.EdgeCount"])
    assert type(detector).__name__ == "EdgeCount"
    assert (detector.power, detector.random_state) == (2, 0)
    with pytest.warns(UserWarning, match="not read"):
        expected = sys.modules[own].EdgeCount(power=2, random_state=0).fit(NORMAL)
    assert detector.offset_ == expected.offset_
    rows = table(run(f"score own.skg new --detector {own}:EdgeCount").stdout)
    np.testing.assert_array_equal(column(rows, "score"), expected.score_samples(NEW))
    np.testing.assert_array_equal(column(rows, "p_value"), expected.p_values(NEW))
    printed = run(f"info own.skg --detector {own}:EdgeCount").stdout
    assert "detector        EdgeCount(power=2, random_state=0)\nfitted by       " in printed


def test_a_model_alone_imports_nothing(here, own):
    run(f"fit normal -o own.skg --detector {own}:EdgeCount")
    del sys.modules[own]
    for command in ("score own.skg new", "info own.skg"):
        assert f"contains {own}.EdgeCount" in run(command, exit_code=1).stderr
    assert own not in sys.modules
    assert run(f"info own.skg --detector {own}").exit_code == 0  # a module alone
    error = run(f"score own.skg new --reasons --detector {own}:EdgeCount", exit_code=1).stderr
    assert "EdgeCount has no reasons, only GraphKDEDetector" in error


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("nowhere_at_all:EdgeCount", "cannot import 'nowhere_at_all:EdgeCount': No module named"),
        (".{own}:EdgeCount", "cannot import '.{own}:EdgeCount'"),
        ("{own}:Nobody", "cannot import '{own}:Nobody': module .* has no attribute 'Nobody'"),
        ("{own}:Other", "'{own}:Other' is not module:Class of a BaseGraphDetector"),
        ("{own}:np", "'{own}:np' is not module:Class of a BaseGraphDetector"),
        ("{own}:EdgeCount --lgkde", "two detectors: give one"),
        ("{own}:EdgeCount --set n_layers=1", "Invalid parameter 'n_layers' for .*EdgeCount"),
    ],
)
def test_detectors_that_are_none(here, own, words, message):
    result = run(f"fit normal -o a.skg --detector {words.format(own=own)}", exit_code=2)
    assert re.search(message.format(own=own), result.stderr)

"""The defaults do all they can where torch is not installed, and do not import it where it is."""

import json
import subprocess
import sys

import networkx as nx
import numpy as np
import pytest

import skgraphkde
from skgraphkde import LGKDE, GraphKDEDetector

NORMAL = [nx.cycle_graph(n) for n in range(6, 26)]
NEW = [nx.star_graph(9), nx.cycle_graph(11)]

# As if these packages were not there: nobody finds them.
ABSENT = """
import sys
from importlib.machinery import PathFinder

class Others(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name.partition(".")[0] not in ("torch", "dgl"):
            return super().find_spec(name, path, target)

sys.meta_path[sys.meta_path.index(PathFinder)] = Others
"""

PYTHON = """
import json, sys
import networkx as nx
from skgraphkde import GraphKDEDetector, load, report
from skgraphkde.explanation import explain

normal, new = [[nx.Graph(edges) for edges in some] for some in json.load(sys.stdin)]
detector = GraphKDEDetector(random_state=0).fit(normal)
answers = [detector.score_samples(new), detector.predict(new), detector.p_values(new)]
loaded = sorted({"torch", "dgl"} & set(sys.modules))
detector.save("model.skg")  # skops imports torch where it is installed
answers.append(load("model.skg").score_samples(new))
explain(detector, new)
report(detector, new)
answers.append(detector.partial_fit(normal[:3]).score_samples(new))
answers.append(load("trained.skg").score_samples(new))
print(json.dumps([[x.tolist() for x in answers], loaded]))
"""

WITHOUT = """
import inspect
import skgraphkde
import skgraphkde.learned

def import_name():
    from skgraphkde import LGKDE

def import_names():
    from skgraphkde.learned import LGKDE, TorchMMD

for what in (
    import_name,
    import_names,
    lambda: load("gcn.skg"),
):
    try:
        what()
    except ImportError as error:
        print(error)
for name in ("LGKDE", "learned.TorchMMD"):
    try:
        eval(f"skgraphkde.{name}")
    except AttributeError as error:
        print(error)
for module in (skgraphkde, skgraphkde.learned):
    everything = {}
    exec(f"from {module.__name__} import *", everything)
    members = {name for name, _ in inspect.getmembers(module)}
    assert {*module.__all__} <= members & everything.keys()
    assert not hasattr(module, "GCN") and "GCN" not in dir(module)
try:
    from skgraphkde import Nothing
except ImportError as error:
    assert "cannot import name 'Nothing'" in str(error)
help(skgraphkde)
print("END OF HELP")
"""

SHELL = """
import shlex
from click.testing import CliRunner
from skgraphkde.cli import main

for command in sys.argv[1:]:
    result = CliRunner().invoke(main, shlex.split(command))
    print(json.dumps([result.exit_code, result.output]))
"""

COMMANDS = {
    "fit normal -o own.skg": 0,
    "score own.skg new --reasons": 0,
    "report own.skg new -o page.html": 0,
    "update own.skg new -o updated.skg": 0,
    "info updated.skg": 0,
    "fit normal -o other.skg --lgkde": 1,
}
INSTALL = "needs torch, which is not installed: pip install '.[gcn]' in a clone of skgraphkde"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Fitted detectors and graphs in files."""
    folder = tmp_path_factory.mktemp("files")
    LGKDE(hidden_dim=8, max_iter=1, random_state=0).fit(NORMAL).save(folder / "gcn.skg")
    GraphKDEDetector(views="density").fit(NORMAL).save(folder / "trained.skg")
    for name, graphs in (("normal", NORMAL), ("new", NEW)):
        (folder / name).mkdir()
        for i, graph in enumerate(graphs):
            nx.write_graphml(graph, folder / name / f"{i}.graphml")
    return folder


@pytest.fixture(scope="module")
def expected(folder):
    """The answers of this process, which has imported torch."""
    detector = GraphKDEDetector(random_state=0).fit(NORMAL)
    answers = [detector.score_samples(NEW), detector.predict(NEW), detector.p_values(NEW)]
    answers += [answers[0], detector.partial_fit(NORMAL[:3]).score_samples(NEW)]
    return [*answers, skgraphkde.load(folder / "trained.skg").score_samples(NEW)]


@pytest.mark.slow
@pytest.mark.parametrize("absent", [True, False], ids=["absent", "installed"])
def test_the_library_and_the_shell(absent, folder, expected):
    """A fresh process gives the same answers without torch, and says where it is needed."""
    graphs = [[list(graph.edges) for graph in some] for some in (NORMAL, NEW)]
    program = ABSENT + PYTHON + WITHOUT + SHELL if absent else PYTHON
    done = subprocess.run(
        [sys.executable, "-c", program, *COMMANDS],
        input=json.dumps(graphs),
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
    )
    assert done.returncode == 0, done.stderr
    first, *lines = done.stdout.splitlines()
    answers, loaded = json.loads(first)
    for ours, theirs in zip(expected, answers, strict=True):
        np.testing.assert_allclose(theirs, ours, rtol=1e-9)
    assert loaded == []
    if absent:
        assert [INSTALL in error for error in lines[:5]] == [True] * 5, lines[:5]
        end = lines.index("END OF HELP")
        page = "\n".join(lines[5:end])
        assert skgraphkde.__doc__.split("\n")[0] in page
        assert " class GraphKDEDetector(" in page
        for command, line in zip(COMMANDS, lines[end + 1 :], strict=True):
            exit_code, output = json.loads(line)
            assert exit_code == COMMANDS[command], (command, output)
        assert INSTALL in output
        assert output.count("\n") == 1

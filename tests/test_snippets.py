"""Code and commands on the pages of README and the docs run, and do what the pages say."""

import doctest
import json
import re
import shlex
import sys
import types
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from click.testing import CliRunner

from skgraphkde import GraphKDEDetector
from skgraphkde.cli import main
from skgraphkde.reading.files.sources import FORMATS
from tests.conftest import with_data
from tests.reading.common import exported, span

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = ["README.md", "docs/index.rst", "docs/quickstart.rst", "docs/service.rst", "docs/shell.rst"]
PAGES += [f"docs/user_guide/{x.name}" for x in ROOT.glob("docs/user_guide/*.rst")]
PAGES += [f"docs/recipes/{x.name}" for x in ROOT.glob("docs/recipes/*.md")]
# Indented by three spaces or more after a directive or "::", or between fences.
RST = re.compile(r"(?:\.\. code-block:: (\w+)|::)\n\n((?:(?: {3,}.*)?\n)+)")
MARKDOWN = re.compile(r"^```(\w*)\n(.*?)^```|\n\n((?: {4}[^\n]*\n)+)", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\s*(?:\$ (?:.*\| )?)?(skgraphkde .*)$", re.MULTILINE)


STEPS = ((1, "create"), (2, "check"), (3, "pay"))


def snippets(page):
    """The Python code and the lines of commands on a page, in their order."""
    text = (ROOT / page).read_text(encoding="utf-8")
    code, commands = [], []
    for match in (MARKDOWN if page.endswith(".md") else RST).finditer(text):
        *_, block = filter(None, match.groups())
        if "python" in match.groups() or "pycon" in match.groups():
            lines = block.splitlines()
            indent = min(len(line) - len(line.lstrip()) for line in lines if line.strip())
            code.append("\n".join(line[indent:] for line in lines) + "\n")
        else:
            commands += [x.partition("   # ")[0].strip() for x in COMMAND.findall(block)]
    return code, commands


def worlds(n, seed):
    """Graphs with all the data that pages name."""
    nodes = {"element": lambda v: "CNO"[v % 3], "kind": lambda v: "ab"[v % 2]}
    edges = {"bond": "single", "order": lambda edge: 1.0 + sum(edge) % 2}
    graphs = [nx.connected_watts_strogatz_graph(12, 4, 0.1, seed=seed + i) for i in range(n)]
    return [with_data(graph, nodes, edges) for graph in graphs]


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with the files that pages name."""
    monkeypatch.chdir(tmp_path)
    for k, folder in enumerate(
        ("graphs", "normal", "new", "day17", "my_graphs", "before", "after")
    ):
        Path(folder).mkdir()
        for i, graph in enumerate(worlds(24, 100 * k)):
            nx.write_graphml(graph, f"{folder}/{i}.graphml")
    for name, nodes, n in (("edges", "nodes", 30), ("new", "new_nodes", 5)):
        edges = [(f"c{i}", *e) for i, x in enumerate(worlds(n, 7)) for e in x.edges]
        rows = [
            (f"c{i}", v, d["kind"]) for i, x in enumerate(worlds(n, 7)) for v, d in x.nodes.items()
        ]
        for file, columns, table in ((name, "source,target", edges), (nodes, "node,step", rows)):
            lines = [",".join(map(str, row)) for row in table]
            Path(f"{file}.csv").write_text("\n".join([f"case,{columns}", *lines]))
    Path("cases.csv").write_text(
        "\n".join(["case,amount", *(f"c{i},{100 + i}" for i in range(30))])
    )
    log = [f"{i},{step},2026-01-{day:02},u{i % 4}" for i in range(24) for day, step in STEPS]
    Path("log.csv").write_text("\n".join(["case,activity,time,resource", *log]))
    events = [f'<event><string key="concept:name" value="{step}"/></event>' for _, step in STEPS]
    names = [f'<string key="concept:name" value="case {i}"/>' for i in range(24)]
    cases = [f"<trace>{name}{''.join(events[: 2 + len(name) % 2])}</trace>" for name in names]
    Path("log.xes").write_text(f"<log>{''.join(cases)}</log>")
    Path("traces").mkdir()
    for i in range(24):
        spans = [span(f"t{i}", str(k - 1) * (k > 0), str(k)) for k in range(3 + i % 3)]
        Path(f"traces/{i}.json").write_text(json.dumps(exported("web", *spans)))
    payments = [
        f"P{k % 9},P{(k * k + 1) % 9},2026-01-{k % 28 + 1:02},{k % 7}.5" for k in range(200)
    ]
    Path("payments.csv").write_text("\n".join(["payer,payee,time,amount", *payments]))
    Path("scans").mkdir()
    regions = ["Insula", "Cuneus", "Rectus", "Lingual", "Putamen"]
    usual = np.random.default_rng(0).random((5, 5))
    for i in range(12):
        rows = usual + usual.T + i / 100
        lines = [",".join([x, *map(str, row)]) for x, row in zip(regions, rows, strict=True)]
        Path(f"scans/{i}.csv").write_text("\n".join([",".join(["", *regions]), *lines]))
    sites = [f"{i},{'AB'[i % 2]}" for i in range(12)]
    Path("subjects.csv").write_text("\n".join(["graph,site", *sites]))
    patients = [f"{i},{'ny'[i % 3 > 0]},{'BC'[i % 2]}" for i in range(12)]
    Path("scans.csv").write_text("\n".join(["graph,patient,site", *patients]))
    alkanes = [f"{'C' * n}{end} {end}{n}" for n in range(3, 15) for end in ("O", "N")]
    marked = ["graph,verdict", *(f"new/{i}.graphml,anomaly" for i in range(3)), "new/9.graphml,"]
    Path("verdicts.csv").write_text("\n".join(marked))
    for name in ("library", "new"):
        Path(f"{name}.smi").write_text("\n".join(alkanes))
    return tmp_path


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "page", [page for page in PAGES if snippets(page)[0] and "recipes" not in page]
)
def test_code(page, here):
    """Pages with examples of results say what these are."""
    import pandas as pd

    given, odd = worlds(60, 0), [nx.star_graph(11 + i) for i in range(8)]
    names = {
        "graphs": given + odd,
        "y": [1] * 60 + [-1] * 8,
        "normal": given,
        "normal_graphs": given,
        "known_anomalies": odd,
    }
    names |= {"molecules": given, "graphs_of_today": given + odd, "day17": given[:9]}
    names["verdicts"] = names["y"]
    names |= {name: pd.read_csv(f"{name}.csv") for name in ("edges", "nodes", "cases")}
    names["detector"] = GraphKDEDetector().fit(given)
    runner = doctest.DocTestRunner()
    for k, code in enumerate(snippets(page)[0]):
        code = code.replace('Client("scheduler:8786")', "Client(processes=False)")
        if ">>>" not in code:
            exec(code, names)
            continue
        test = doctest.DocTestParser().get_doctest(code, names, f"{page}, {k}", page, 0)
        assert not runner.run(test, clear_globs=False).failed
        names |= test.globs


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("page", [page for page in PAGES if snippets(page)[1]])
def test_commands(page, here):
    """One after the other, as the files that the first write serve the others."""
    assert CliRunner().invoke(main, ["fit", "normal", "-o", "model.skg"]).exit_code == 0
    for command in snippets(page)[1]:
        _, *arguments = shlex.split(command)
        if "-o" in arguments and not {"--force"} & set(arguments):
            arguments.append("--force")
        listed = "\n".join(map(str, Path("new").glob("*.graphml"))) if "-" in arguments else None
        if page.endswith("molecules.md") or "library.smi" in arguments:
            pytest.importorskip("rdkit")
        marked = Path("verdicts.csv").read_text()
        if "--verdicts" in arguments:  # of the graphs of this command
            Path("verdicts.csv").write_text("graph,verdict\ngraphs/3.graphml,anomaly\n")
        result = CliRunner().invoke(main, arguments, input=listed)
        assert result.exit_code == 0, f"{command}\n{result.output}"
        Path("verdicts.csv").write_text(marked)


# -- pages of doctests, and the first example of README --------------------------------------------

DOCTESTS = [
    pytest.param("docs/extending.md", marks=pytest.mark.slow),
    "docs/lgkde.md",
    "docs/schema.md",
]
DOCTESTS += [x for x in PAGES if "recipes" in x and "index" not in x]


@pytest.mark.filterwarnings("ignore:node categories that fit did not see")
@pytest.mark.filterwarnings("ignore::DeprecationWarning:torch")  # PyTorch Geometric's imports
@pytest.mark.parametrize("page", DOCTESTS)
def test_page(page, monkeypatch):
    """As if the page were a module, so that its classes can be pickled."""
    module = types.ModuleType(Path(page).stem)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    text = (ROOT / page).read_text(encoding="utf-8")
    test = doctest.DocTestParser().get_doctest(text, module.__dict__, page, page, 0)
    test.globs = module.__dict__  # doctest has made a copy
    result = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, clear_globs=False)
    assert result.attempted > 10
    assert not result.failed


def test_first_example():
    code = re.search(r"```python\n(.*?)```", README, re.DOTALL)[1]
    namespace = {}
    claims = 0
    for line in code.splitlines():
        expression, _, claim = line.partition("  # ")
        if not claim:
            exec(line, namespace)
            continue
        actual = eval(expression, namespace)
        np.testing.assert_allclose(actual, eval(claim, {"array": np.array}), atol=0.11)
        claims += 1
    assert claims == 2


def test_links_lead_somewhere_from_anywhere():
    """They are absolute, as a package index needs them; ours name files that exist."""
    addresses = re.findall(r"\]\(([^)\s]+)\)", README) + re.findall(
        r"^\[.+\]: (\S+)$", README, re.M
    )
    assert len(addresses) >= 20
    for address in addresses:
        _, is_ours, path = address.partition("/skgraphkde/skgraphkde/")
        assert address.startswith("https://"), address
        if is_ours:
            path = path.removeprefix("blob/").removeprefix("main/")
            assert (ROOT / path).exists(), address
    for name in set(re.findall(r"\]\[([^\]]+)\]", README)):
        assert f"\n[{name}]: " in README, name


@pytest.mark.parametrize("title", sorted({form.title for form in FORMATS.values()}))
def test_the_page_of_the_shell_lists_each_format(title):
    """Or at least the last word of its title: "event log", "matrices of MATLAB"."""
    word = title.split()[-1] if title != "a set of the TU collection" else "TU collection"
    assert word in ROOT.joinpath("docs", "shell.rst").read_text(encoding="utf-8")

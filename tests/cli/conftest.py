"""Graph files, a model fitted to them, and a short way to run a command."""

import csv
import io
import shlex
import sys

import networkx as nx
import numpy as np
import pytest
from click.testing import CliRunner

from skgraphkde import GraphKDEDetector, GraphSchema, read_graphs
from skgraphkde.cli import main
from tests.conftest import random_graphs, with_data
from tests.page.conftest import draw_little


def with_names(graphs):
    """With node ids and attributes that are text and numbers, as in files."""
    graphs = [nx.relabel_nodes(graph, lambda node: f"n{node}") for graph in graphs]
    for graph in graphs:
        for i, data in enumerate(graph.nodes.values()):
            data |= {"element": data.pop("label"), "px": i / 2, "py": -i}
        with_data(graph, None, {"order": list(range(1, graph.size() + 1))})
    return graphs


NORMAL, NEW = with_names(random_graphs(20, seed=1)), with_names(random_graphs(7, seed=2))
READ = ["--node-category", "element", "--node-number", "px", "--node-number", "py"]
READ += ["--edge-weight", "order"]
SCHEMA = GraphSchema(node_categories=("element",), node_numbers=("px", "py"), edge_weight="order")


def read(graphs):
    """Graphs, read by the library as READ reads them."""
    return read_graphs(graphs, schema=SCHEMA)


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    for name, graphs in (("normal", NORMAL), ("new", NEW)):
        (folder / name).mkdir()
        for i, graph in enumerate(graphs):
            nx.write_graphml(graph, folder / name / f"{i:02d}.graphml")
    named = read(NORMAL).replace(names=[f"normal/{i:02d}.graphml" for i in range(len(NORMAL))])
    fitted = GraphKDEDetector(schema=SCHEMA, random_state=0).fit(named)
    fitted.save(folder / "model.skg")
    return folder


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    draw_little(monkeypatch)


@pytest.fixture
def here(shared, tmp_path):
    """A folder of the test's own, that sees the shared files under short names."""
    for name in ("normal", "new", "model.skg"):
        (tmp_path / name).symlink_to(shared / name)
    return tmp_path


def run(command, exit_code=0, listed=None):
    result = CliRunner().invoke(main, shlex.split(command), input=listed)
    assert result.exit_code == exit_code, result.output
    return result


def table(text):
    return list(csv.DictReader(io.StringIO(text)))


def column(rows, name):
    return np.array([float(row[name]) for row in rows])


def write_cases(folder, graphs):
    """Tables of the edges and the nodes of cases, which are named c00, c01 and so on."""
    edges, nodes = ["case,source,target"], ["case,node,step"]
    for i, graph in enumerate(graphs):
        edges += [f"c{i:02d},{u},{v}" for u, v in graph.edges]
        nodes += [f"c{i:02d},{node},{step}" for node, step in graph.nodes(data="step")]
    (folder / "edges.csv").write_text("\n".join(edges))
    (folder / "nodes.csv").write_text("\n".join(nodes))


MODULE = """
import numpy as np
from skgraphkde import BaseGraphDetector

class EdgeCount(BaseGraphDetector):
    def __init__(self, power=1.0, calibration="loo", contamination=0.1, random_state=None):
        super().__init__(
            calibration=calibration, contamination=contamination, random_state=random_state
        )
        self.power = power

    def _fit_batch(self, graphs, rng):
        self.median_ = float(np.median(graphs.n_edges_per_graph))
        return self._score_batch(graphs)

    def _score_batch(self, graphs):
        return -abs(graphs.n_edges_per_graph - self.median_) ** self.power

class Other:
    pass
"""


@pytest.fixture
def own(here):
    """The name of a module in the current folder, which each test imports anew."""
    name = f"own_{here.name}"
    (here / f"{name}.py").write_text(MODULE)
    yield name
    sys.modules.pop(name, None)

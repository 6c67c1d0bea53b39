"""Graph files, a model fitted to them, and a short way to run a command."""

import csv
import io
import shlex

import networkx as nx
import numpy as np
import pytest
from click.testing import CliRunner

from skgraphkde import GraphKDEDetector, read_graphs
from skgraphkde.cli import main
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
    names = {"node_label": "element", "node_attributes": ("px", "py"), "edge_weight": "order"}
    fitted.save(folder / "model.skg", names)
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

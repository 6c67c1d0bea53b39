"""A table with a row for each file of graphs, and what groups say of it."""

import json

import networkx as nx
import numpy as np
import pytest

from skgraphkde import GraphSchema
from skgraphkde.explanation.of_groups import say_data_of_group
from skgraphkde.reading.files import find_files, read_batch
from skgraphkde.reading.files.beside import Beside, GraphTable

ALL = GraphSchema.everything(missing="indicate")


@pytest.fixture
def folder(tmp_path):
    files = tmp_path / "graphs"
    files.mkdir()
    for i in range(4):
        nx.write_graphml(nx.cycle_graph(4 + i), files / f"sub.{i}.graphml")
    (files / "more.json").write_text(
        json.dumps([nx.node_link_data(nx.path_graph(n), edges="edges") for n in (2, 3)])
    )
    return files


def read(folder, table, schema=None, column="graph"):
    path = folder.parent / "table.csv"
    path.write_text(table)
    beside = Beside(GraphTable(path, column))
    return read_batch(find_files([folder]), schema, beside=beside), beside


ROWS = "graph,site,age\nsub.0.graphml,A,31\nsub.1,A,40\nsub.2,B,35\nsub.3,B,33\n"


def test_each_file_gets_the_data_of_its_row(folder):
    batch, beside = read(folder, f"{ROWS}0,C,50\nmore.json#1,C,51\n", ALL)
    data = {
        name.rpartition("/")[2]: x
        for name, x in zip(batch.names, batch.records("graph"), strict=True)
    }
    assert [data[f"sub.{i}.graphml"]["site"] for i in range(4)] == ["A", "A", "B", "B"]
    assert [data[f"more.json#{i}"]["age"] for i in range(2)] == [50, 51]
    assert beside.unread(batch) == [{}] * 6


def test_what_a_schema_does_not_name_is_kept_for_people(folder):
    batch, beside = read(folder, f"{ROWS}0,C,50\n1,C,51\n")
    assert batch.graph_labels is None
    sites = [x["site"] for x in beside.unread(batch)]
    assert sorted(sites) == ["A", "A", "B", "B", "C", "C"]


def test_rows_that_fit_nothing_are_said(folder):
    with pytest.warns(UserWarning, match="1 rows of .*table.csv are those of no graph: nobody"):
        read(folder, f"{ROWS}0,C,50\n1,C,51\nnobody,D,3\n")


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("graph,site\nx,A\ny,B\n", "no row of .* is that of a graph: it has 'x', 'y', and graphs"),
        (f"{ROWS}sub.1,B,3\n", "two rows of 'sub.1': keep one"),
        ("id,site\nsub.1,A\n", "no column 'graph' with the names of the graphs: it has 'id', 'si"),
    ],
)
def test_a_table_that_cannot_be_used_is_refused(folder, table, message):
    with pytest.raises(ValueError, match=message):
        read(folder, table)


def test_a_group_says_the_data_that_it_shares_if_chance_does_not(folder):
    rng = np.random.default_rng(0)
    data = [{"site": "AB"[k], "sex": "mf"[int(rng.integers(2))]} for k in rng.integers(2, size=60)]
    for i in range(8):
        data[i] = {"site": "C", "sex": "f"}
    members = np.arange(8)
    assert say_data_of_group(members, data, "scans") == {"site=C": "no other scan"}
    data[20]["site"] = "C"
    assert say_data_of_group(members, data, "scans") == {"site=C": "1 of 52 other scans"}
    assert say_data_of_group(np.array([30, 31]), data, "scans") == {}
    assert say_data_of_group(members, [{} for _ in data], "scans") == {}

"""`compare`: two folders, or a list and a column, as the library compares them."""

import json
import re

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from skgraphkde.comparing import compare
from tests.cli.conftest import run
from tests.conftest import with_data


def releases(n_graphs, seed):
    """Small networks before and after a release, which rewires them; of two sites."""
    rng = np.random.RandomState(seed)
    piles = []
    for rewired in (0.1, 0.6):
        graphs = [
            nx.connected_watts_strogatz_graph(14, 4, rewired, seed=rng) for _ in range(n_graphs)
        ]
        piles.append([with_data(x, {"load": lambda _: rng.gamma(3)}) for x in graphs])
    return piles


@pytest.fixture
def piles(tmp_path):
    found = releases(12, 0)
    lines = ["graph,release,site"]
    for name, graphs in zip(("before", "after"), found, strict=True):
        for folder in (name, "all"):
            (tmp_path / folder).mkdir(exist_ok=True)
        for i, graph in enumerate(graphs):
            nx.write_graphml(graph, tmp_path / name / f"{i:02d}.graphml")
            nx.write_graphml(graph, tmp_path / "all" / f"{name}{i:02d}.graphml")
            lines.append(f"{name}{i:02d},{name},{'AB'[i % 2]}")
    (tmp_path / "cases.csv").write_text("\n".join(lines))
    return found


def test_two_folders_are_compared_as_by_the_library(piles):
    result = run("compare before after --schema all -o found.csv -q")
    found = compare(*piles, schema="all", random_state=0, names=("before", "after"))
    table = pd.read_csv("found.csv")
    assert table["p_value"][0] == found.p_value == 0.001
    n_views = len(found.views)
    assert table["what"][1 : n_views + 1].tolist() == found.views["view"].tolist()
    assert table["finding"][n_views + 1 :].tolist() == found.findings["finding"].tolist()
    lines = result.stdout.splitlines()
    assert lines[0] == "before (12) and after (12 graphs) differ: p = 0.001: found.csv"
    assert lines[1].startswith(f"  {found.findings['finding'][0]}; p = ")


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_other_tables_say_the_same(piles, ending):
    run("compare before after -o found.csv")
    run(f"compare before after -o found.{ending}")
    read = {"jsonl": lambda x: pd.read_json(x, lines=True), "parquet": pd.read_parquet}[ending]
    found, expected = read(f"found.{ending}"), pd.read_csv("found.csv")
    # pandas 2 tells None from NaN.
    found, expected = (x.astype(object).where(x.notna(), None) for x in (found, expected))
    pd.testing.assert_frame_equal(found, expected, check_dtype=False)


def test_a_column_says_to_which_pile_a_graph_belongs(piles):
    run("compare before after --schema all -o folders.csv")
    run("compare all --graphs cases.csv --column release --schema all -o column.csv")
    table = pd.read_csv("column.csv")
    assert table["p_value"][0] == 0.001
    assert not table["what"].str.contains("release").any()  # which was not read
    assert table["what"].str.contains("site").any()  # which was
    one = run("compare all --graphs cases.csv --column release=after --within site -o one.csv")
    assert one.stdout.startswith("release=after (12) and other release (12 graphs) differ: p = 0.0")
    same = run("compare all --graphs cases.csv --column site -o sites.csv")
    assert same.stdout.startswith(
        "site=A (12) and site=B (12 graphs) are not shown to differ: p = "
    )


def test_graphs_without_a_value_are_left_out(piles, tmp_path):
    text = (tmp_path / "cases.csv").read_text()
    (tmp_path / "cases.csv").write_text(text.replace("before00,before", "before00,"))
    result = run("compare all --graphs cases.csv --column release -o found.csv")
    assert "1 graphs without 'release' are left out" in result.stderr
    assert "release=before (11 graphs)" in result.stdout


def test_a_page_runs_no_script_and_shows_typical_graphs(piles, tmp_path):
    for path in [*(tmp_path / "after").iterdir()]:
        path.rename(path.with_name(f"<script>alert({path.stem})<&script>.graphml"))
    run("compare before after -o page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<h1>before and after differ: p = 0.0" in page
    assert "<script" not in page
    assert page.count("data:image/svg+xml;base64,") == 1 + 2 * 3
    assert len(re.findall(r">after/&lt;script&gt;\S*: 1\d nodes, \d+ edges<", page)) == 3
    run("compare before after -o page.html", exit_code=2)  # it exists
    run("compare before after -o page.html --match size --force")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("compare before -o x.csv", "1 path makes no two piles: give two, or one list and --col"),
        ("compare before after all -o x.csv", "3 paths make no two piles"),
        ("compare before ./before/ -o x.csv", "are one, or one is in the other"),
        ("compare . before -o x.csv", "are one, or one is in the other"),
        ("compare all --column site -o x.csv", "no graph has 'site': graphs, nodes and edges have"),
        (
            "compare all --graphs cases.csv --column relase -o x.csv",
            "no graph has 'relase': graphs, nodes and edges have 'release'",
        ),
        (
            "compare all --graphs cases.csv --column graph=x -o x.csv",
            "no graph has 'graph'",
        ),
        (
            "compare all --graphs cases.csv --column site=C -o x.csv",
            "'C' makes no two piles by 'site', which has 'A' (12), 'B' (12)",
        ),
        ("compare before after --within place -o x.csv", "no graph has 'place'"),
        (
            "compare all --graphs cases.csv --column release --within release -o x.csv",
            "'release' says to which pile a graph belongs",
        ),
        ("compare before after -o x.txt", "does not have the suffix"),
        ("compare before none -o x.csv", "none does not exist"),
    ],
)
def test_what_makes_no_two_piles_is_an_error(piles, words, message):
    is_of_data = "--column" in words or "--within" in words or "none" in words
    if "--within release" in words:
        is_of_data = False
    output = run(words, exit_code=1 if is_of_data else 2).output
    assert message in " ".join(output.split())


def test_a_column_of_three_values_names_them(piles, tmp_path):
    text = (tmp_path / "cases.csv").read_text()
    (tmp_path / "cases.csv").write_text(text.replace("before00,before,A", "before00,before,C"))
    output = run("compare all --graphs cases.csv --column site -o x.csv", exit_code=1).output
    assert "'site' has 3 values, and two make two piles: 'B' (12), 'A' (11), 'C' (1)" in output
    assert "--column site=VALUE" in output


def test_two_tables_of_edges_are_two_piles(piles, tmp_path):
    for name, graphs in zip(("before", "after"), piles, strict=True):
        lines = ["case,source,target"]
        for i, graph in enumerate(graphs):
            lines += [f"{i},{u},{v}" for u, v in graph.edges]
        (tmp_path / f"{name}.csv").write_text("\n".join(lines))
    run("compare before.csv after.csv --graph-column case -o tables.csv")
    run("compare before after -o folders.csv")
    tables, folders = pd.read_csv("tables.csv"), pd.read_csv("folders.csv")
    assert tables["p_value"].tolist() == folders["p_value"].tolist()
    (tmp_path / "nodes.csv").write_text("case,node")
    output = run(
        "compare before.csv after.csv --graph-column case --nodes nodes.csv -o x.csv", exit_code=2
    ).output
    assert "put each table of edges and what describes it into a folder" in " ".join(output.split())


def test_a_folder_whose_name_begins_like_the_other(piles, tmp_path):
    expected = run("compare before after --schema all -o x.csv").stdout.splitlines()[1:]
    (tmp_path / "after").rename(tmp_path / "before#b")
    for second in ("before#b", "before/../before#b"):
        found = run(f"compare before '{second}' --schema all -o x.csv --force").stdout.splitlines()
        assert found[0].startswith("before (12) and before#b (12 graphs) differ")
        assert len(found[1:]) == len(expected)
    turned = run("compare 'before#b' before --schema all -o x.csv --force").stdout
    assert turned.startswith("before#b (12) and before (12 graphs) differ")


def test_the_page_says_among_which_graphs_these_were_exchanged(piles, tmp_path):
    words = "compare all --graphs cases.csv --column release --within site -o page.html"
    result = run(words)
    assert "Read: " in result.stderr
    assert "Whatever is different there is not found: --schema all reads it" in result.stderr
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "The graphs were exchanged within each site only." in page


def write_arms(folder, **of_graph):
    """Ten small networks with data of their own."""
    folder.mkdir()
    for i in range(10):
        graph = nx.connected_watts_strogatz_graph(10 + i % 3, 4, 0.3, seed=i)
        graph.graph |= {name: values[i] for name, values in of_graph.items()}
        content = nx.node_link_data(graph, edges="edges")
        (folder / f"{i}.json").write_text(json.dumps(content))


def test_values_of_a_column_are_those_that_are_written(tmp_path):
    arms = ["drug", "none"] * 5
    write_arms(tmp_path / "w", arm=arms, batch=["1_0", "10"] * 5, dose=[1.0, 2.5] * 5)
    for words, first in [
        ("arm", "arm=drug (5) and arm=none (5 graphs)"),
        ("batch", "batch=1_0 (5) and batch=10 (5 graphs)"),
        ("arm=none", "arm=none (5) and other arm (5 graphs)"),
        ("dose=1.0", "dose=1.0 (5) and other dose (5 graphs)"),
    ]:
        assert run(f"compare w --column {words} -o x.csv --force").stdout.startswith(first)
    assert "has no value after =" in run("compare w --column arm= -o x.csv --force", 2).output
    assert "has no name before =" in run("compare w --column =x -o x.csv --force", 2).output


def test_graphs_are_exchanged_within_numbers_too(tmp_path):
    arms = ["a", "b"] * 5
    site = [0.5, 0.5, 1.5, 1.5, 2.0] * 2
    write_arms(tmp_path / "w", arm=arms, site=site, place=[f"s{x}" for x in site])
    tables = []
    for within in ("site", "place"):
        run(f"compare w --column arm --within {within} -o x.csv --force")
        tables.append(pd.read_csv("x.csv")["p_value"].tolist())
    assert tables[0] == tables[1]


def test_a_folder_of_its_own_is_a_pile_with_a_name(piles, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path / "after")
    found = run("compare . ../before -o ../x.csv").stdout
    assert found.startswith("after (12) and before (12 graphs) differ")
